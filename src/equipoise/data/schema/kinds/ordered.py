"""Levels in order: one number, equally spaced or at public positions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

from equipoise.data.schema.columns import settle
from equipoise.data.schema.kinds.base import PlacedColumn
from equipoise.data.schema.kinds.category import chosen_levels
from equipoise.data.schema.text import Faults, place, written, written_list, written_number

if TYPE_CHECKING:
    from equipoise.data.readings import Reading


@dataclass(frozen=True, slots=True)
class OrderedColumn(PlacedColumn):
    """A column of levels in order: one number from -1 for the first to 1 for the last.

    Parameters
    ----------
    name : str
        The column's name in the data.
    levels : tuple of str
        Two levels or more, the lowest first, compared by their text; empty is a blank.
    positions : tuple of float, optional
        A number for each level, rising; equally spaced if left out.
    unknown : str, optional
        The level that any other value counts as; half-way between the first and the last if left out.
    fill : str, optional
        The level that a missing value counts as; what any other value counts as if left out.
    indicator : bool
        Whether one more column says where the value was missing.

    Examples
    --------
    >>> OrderedColumn("school", ("none", "primary", "secondary")).shares()
    (-1.0, 0.0, 1.0)
    >>> OrderedColumn("school", ("none", "primary", "secondary"), positions=(0, 4, 12)).shares()
    (-1.0, -0.3333333333333333, 1.0)
    """

    kind: ClassVar[str] = "ordered"
    keys: ClassVar[tuple[str, ...]] = ("levels", "positions", "unknown", "fill", "indicator")
    asked: ClassVar[str] = "columns that can hold a level"
    remedy: ClassVar[str] = "declare the levels as the column has them, or another kind"

    name: str
    levels: tuple[str, ...] = ()
    positions: tuple[float, ...] = ()
    unknown: str | None = None
    fill: str | None = None
    indicator: bool = False

    def __post_init__(self) -> None:
        """Refuse facts that cannot be so."""
        faults = Faults()
        path = place("columns", faults.name(self.name))
        levels = faults.texts(f"{path}.levels", self.levels)
        if len(levels) == 1:
            faults.add(f"{path}.levels", "two levels or more, the lowest first", list(levels))
        given = self.positions if isinstance(self.positions, list | tuple) else (None,)
        positions = [faults.number(f"{path}.positions", entry) for entry in given]
        known = [entry for entry in positions if entry is not None]
        if levels and positions and (len(known) != len(levels) or any(low >= high for low, high in pairwise(known))):
            faults.add(f"{path}.positions", "a number for each level, rising", self.positions)
        chosen = chosen_levels(faults, path, levels, {"unknown": self.unknown, "fill": self.fill})
        indicator = faults.flag(f"{path}.indicator", self.indicator)
        settle(self, levels=levels, positions=tuple(known), indicator=indicator, **chosen)
        faults.refuse()

    def lines(self) -> Iterator[str]:
        """Yield the lines of the column's TOML table."""
        yield 'kind = "ordered"'
        yield f"levels = {written_list(map(written, self.levels))}"
        if self.positions:
            yield f"positions = {written_list(map(written_number, self.positions))}"
        yield from self.rule_lines()

    def blanks(self) -> dict[str, object]:
        """Return the levels."""
        return {"levels": self.levels}

    def texts(self) -> tuple[str, ...]:
        """Return the levels."""
        return self.levels

    def known(self) -> tuple[str, ...]:
        """Return the levels."""
        return self.levels

    def shares(self) -> tuple[float, ...]:
        """Return the number of every level: exact, and then rounded once."""
        places = [Fraction(entry) for entry in self.positions or range(len(self.levels))]
        return tuple(float(2 * (entry - places[0]) / (places[-1] - places[0]) - 1) for entry in places)

    def numbers(self) -> tuple[float, ...]:
        """Return the numbers of the levels, of any other value, and of a missing one."""
        shares = dict(zip(self.levels, self.shares(), strict=True))
        unknown = 0.0 if self.unknown is None else shares[self.unknown]
        return (*shares.values(), unknown, unknown if self.fill is None else shares[self.fill])

    def reading(self, missing: tuple[str, ...]) -> Reading:
        """Return what reads positions among the levels; others and missing ones come behind them."""
        from equipoise.data.readings import Positions

        positions = {level: position for position, level in enumerate(self.levels)}
        return Positions(positions, missing, at_missing=len(positions) + 1, at_unknown=len(positions))
