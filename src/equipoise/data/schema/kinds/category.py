"""Levels from a public list."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from equipoise.data.schema.columns import settle
from equipoise.data.schema.kinds.base import Column
from equipoise.data.schema.text import Faults, place, text_of, written, written_list

if TYPE_CHECKING:
    from equipoise.data.readings import Reading


@dataclass(frozen=True, slots=True)
class CategoryColumn(Column):
    """A column of levels: one encoded column a level.

    Parameters
    ----------
    name : str
        The column's name in the data.
    levels : tuple of str
        The public set of levels, compared by their text; empty is a blank.
    unknown : str, optional
        The level that any other value counts as; None is a blank.
    fill : str, optional
        The level that a missing value counts as; what any other value counts as if left out.
    other : bool
        Whether any other value has a level of its own, which no text names; there is no `unknown` then.

    Examples
    --------
    >>> CategoryColumn("rooms", (1, 2, 3), unknown=3).levels
    ('1', '2', '3')
    >>> CategoryColumn("rooms", (1, 2), other=True).encoded_names()
    ('rooms=1', 'rooms=2', 'rooms other')
    """

    kind: ClassVar[str] = "category"
    keys: ClassVar[tuple[str, ...]] = ("levels", "unknown", "fill", "other")
    asked: ClassVar[str] = "columns that can hold a level"
    remedy: ClassVar[str] = "declare the levels as the column has them, or another kind"
    spread: ClassVar[bool] = True

    name: str
    levels: tuple[str, ...] = ()
    unknown: str | None = None
    fill: str | None = None
    other: bool = False

    def __post_init__(self) -> None:
        """Refuse facts that cannot be so."""
        faults = Faults()
        path = place("columns", faults.name(self.name))
        levels = faults.texts(f"{path}.levels", self.levels)
        chosen = chosen_levels(faults, path, levels, {"unknown": self.unknown, "fill": self.fill})
        other = faults.flag(f"{path}.other", self.other)
        if other and chosen["unknown"] is not None:
            faults.add(f"{path}.unknown", "no such line where other = true, which says what others are", self.unknown)
        settle(self, levels=levels, other=other, **chosen)
        faults.refuse()

    def lines(self) -> Iterator[str]:
        """Yield the lines of the column's TOML table."""
        yield 'kind = "category"'
        yield f"levels = {written_list(map(written, self.levels))}"
        if self.other:
            yield "other = true"
        else:
            yield f"unknown = {written(self.unknown or '')}"
        if self.fill is not None:
            yield f"fill = {written(self.fill)}"

    def blanks(self) -> dict[str, object]:
        """Return the levels, and what others count as."""
        return {"levels": self.levels, "unknown": self.other or self.unknown}

    def encoded_names(self) -> tuple[str, ...]:
        """Return one name a level."""
        names = tuple(f"{self.name}={level}" for level in self.levels)
        return (*names, f"{self.name} other") if self.other else names

    @property
    def width(self) -> int:
        """How many levels there are."""
        return len(self.levels) + self.other

    def texts(self) -> tuple[str, ...]:
        """Return the levels."""
        return self.levels

    def groups(self) -> tuple[str, ...]:
        """Return the levels, and one more for all others where these are a level of their own."""
        return (*self.levels, f"{self.name} other") if self.other else self.levels

    def reading(self, missing: tuple[str, ...]) -> Reading:
        """Return what reads positions among the levels."""
        from equipoise.data.readings import Positions

        positions = {level: position for position, level in enumerate(self.levels)}
        unknown = len(self.levels) if self.unknown is None else positions[self.unknown]
        fill = unknown if self.fill is None else positions[self.fill]
        return Positions(positions, missing, at_missing=fill, at_unknown=unknown)


def chosen_levels(
    faults: Faults, path: str, levels: tuple[str, ...], chosen: dict[str, str | None]
) -> dict[str, str | None]:
    """Return by their keys the texts of levels that other values count as; an empty `unknown` is a blank.

    Examples
    --------
    >>> chosen_levels(Faults(), "columns.rooms", ("1", "2"), {"unknown": 2, "fill": None})
    {'unknown': '2', 'fill': None}
    """
    found: dict[str, str | None] = {}
    for key, value in chosen.items():
        label = None if value is None or (key == "unknown" and value == "") else faults.label(f"{path}.{key}", value)
        found[key] = None if label is None else text_of(label)
        if levels and label is not None and found[key] not in levels:
            faults.add(f"{path}.{key}", "one of the levels", value)
    return found
