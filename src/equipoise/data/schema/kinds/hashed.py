"""Categories too many to list: a public hash deals them to buckets."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from equipoise.data.schema.columns import settle
from equipoise.data.schema.kinds.base import Column
from equipoise.data.schema.text import Faults, place

if TYPE_CHECKING:
    from equipoise.data.readings import Reading

MOST_BUCKETS = 100_000


@dataclass(frozen=True, slots=True)
class HashedColumn(Column):
    """A column of texts: one encoded column a bucket, and one for missing values.

    The bucket of a text is the whole number in the first eight bytes, the highest first, of the SHA-256 of its UTF-8,
    modulo the number of buckets. It is fixed for ever, and says nothing that the text does not.

    Parameters
    ----------
    name : str
        The column's name in the data.
    buckets : int
        How many buckets there are.

    Examples
    --------
    >>> HashedColumn("town", 8).bucket("Graz")
    4
    >>> HashedColumn("town", 2).encoded_names()
    ('town bucket 0', 'town bucket 1', 'town missing')
    """

    kind: ClassVar[str] = "hashed"
    keys: ClassVar[tuple[str, ...]] = ("buckets",)
    asked: ClassVar[str] = "columns of texts or whole numbers"
    remedy: ClassVar[str] = "declare another kind"
    spread: ClassVar[bool] = True

    name: str
    buckets: int = 64

    def __post_init__(self) -> None:
        """Refuse facts that cannot be so."""
        faults = Faults()
        path = place("columns", faults.name(self.name))
        buckets = faults.count(f"{path}.buckets", self.buckets)
        if not faults.found and (buckets is None or not 2 <= buckets <= MOST_BUCKETS):
            faults.add(f"{path}.buckets", f"a whole number from 2 to {MOST_BUCKETS}", self.buckets)
        settle(self, buckets=buckets)
        faults.refuse()

    def lines(self) -> Iterator[str]:
        """Yield the lines of the column's TOML table."""
        yield 'kind = "hashed"'
        yield f"buckets = {self.buckets}"

    def encoded_names(self) -> tuple[str, ...]:
        """Return one name a bucket, and one for missing values."""
        return (*(f"{self.name} bucket {place}" for place in range(self.buckets)), f"{self.name} missing")

    @property
    def width(self) -> int:
        """How many buckets there are, and one for missing values."""
        return self.buckets + 1

    def bucket(self, text: str) -> int:
        """Return the bucket of a text."""
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
        return int.from_bytes(digest[:8], "big") % self.buckets

    def reading(self, missing: tuple[str, ...]) -> Reading:
        """Return what reads buckets."""
        import numpy as np

        from equipoise.data.readings import Ruled

        return Ruled(self.bucket, np.dtype(np.intp), missing, self.buckets)
