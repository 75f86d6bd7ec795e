"""A toy: numbers of which only the sign counts."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from equipoise.data.schema.kinds.base import Column


@dataclass(frozen=True, slots=True)
class ToySignColumn(Column):
    """A column of numbers: -1 below zero, 1 above, and 0 where there is none."""

    kind: ClassVar[str] = "toy-sign"
    keys: ClassVar[tuple[str, ...]] = ()
    asked: ClassVar[str] = "columns of numbers"
    remedy: ClassVar[str] = "write them as numbers"

    name: str

    def lines(self) -> Iterator[str]:
        """Yield the lines of the column's TOML table."""
        yield 'kind = "toy-sign"'

    def encoded_names(self) -> tuple[str, ...]:
        """Return one name."""
        return (f"{self.name} sign",)

    def reading(self, missing: tuple[str, ...]) -> Any:
        """Return what reads numbers."""
        from equipoise.data.readings import Numbers

        return Numbers(missing)

    def writing(self) -> Any:
        """Return what writes signs."""
        import numpy as np

        def write(read: Any, entries: Any, squares: Any) -> None:
            entries[0] = np.nan_to_num(np.sign(read))
            squares += entries[0] ** 2

        return write
