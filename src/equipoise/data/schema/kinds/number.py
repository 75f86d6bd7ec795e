"""Numbers inside public bounds, with or without their units."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from equipoise.data.schema.columns import Bounds, settle, written_bounds
from equipoise.data.schema.kinds.base import Column
from equipoise.data.schema.text import Faults, number_of, place, written, written_number

if TYPE_CHECKING:
    from equipoise.data.arrow_values import Kind
    from equipoise.data.readings import Reading
    from equipoise.data.writings import Writing

# Upper bounds of shares, of which nothing is known but that they may lie anywhere.
SHARES = (1.0, 100.0)


@dataclass(frozen=True, slots=True)
class NumberColumn(Column):
    """A column of numbers: clipped into the bounds and scaled to [-1, 1].

    Parameters
    ----------
    name : str
        The column's name in the data.
    bounds : (low, high), optional
        The public range; None is a blank.
    fill : float, optional
        What a missing value becomes; the midpoint of the bounds if left out.
    indicator : bool
        Whether one more column says where the value was missing.
    unit : str, optional
        The unit of the bounds, which may stand behind or before a number; one without a unit is in this one.
    units : mapping of str to float, optional
        Other units that may stand there, and how many of `unit` each is.
    root : bool, optional
        Whether the root of the place between the bounds counts for half, beside the place itself: amounts crowd near
        their lower bound, and roots spread them. Left out it does not, but that an additive model may decide it.

    Examples
    --------
    >>> NumberColumn("age", (17, 90)).bounds
    (17.0, 90.0)
    >>> weight = NumberColumn("weight", (0, 300), unit="kg", units={"g": 0.001})
    >>> [weight.number_with_unit(text) for text in ("72 kg", "72000g", "72", "72 lb")]
    [72.0, 72.0, nan, nan]
    """

    kind: ClassVar[str] = "number"
    keys: ClassVar[tuple[str, ...]] = ("bounds", "fill", "indicator", "unit", "units", "root")
    asked: ClassVar[str] = "columns of numbers"
    remedy: ClassVar[str] = (
        'write them as numbers, declare unit = "..." if they are numbers with units, or kind = "category" with their '
        "levels"
    )

    name: str
    bounds: Bounds | None = None
    fill: float | None = None
    indicator: bool = False
    unit: str | None = None
    units: Mapping[str, float] | tuple[tuple[str, float], ...] = ()
    root: bool | None = None

    def __post_init__(self) -> None:
        """Refuse facts that cannot be so."""
        faults = Faults()
        path = place("columns", faults.name(self.name))
        bounds = faults.bounds(f"{path}.bounds", self.bounds)
        fill = None if self.fill is None else faults.number(f"{path}.fill", self.fill)
        if bounds is not None and fill is not None and not bounds[0] <= fill <= bounds[1]:
            faults.add(f"{path}.fill", "a number inside the bounds", self.fill)
        settle(self, bounds=bounds, fill=fill, indicator=faults.flag(f"{path}.indicator", self.indicator))
        settle(self, root=None if self.root is None else faults.flag(f"{path}.root", self.root))
        settle(self, **_checked_units(faults, path, self.unit, self.units))
        faults.refuse()

    def with_bounds(self, bounds: Bounds) -> NumberColumn:
        """Return the column with these bounds; a declared fill outside of them moves to the nearer one."""
        fill = None if self.fill is None else min(max(self.fill, bounds[0]), bounds[1])
        return replace(self, bounds=bounds, fill=fill)

    def lines(self) -> Iterator[str]:
        """Yield the lines of the column's TOML table."""
        yield f"kind = {written(self.kind)}"
        yield f"bounds = {written_bounds(self.bounds)}"
        if self.fill is not None:
            yield f"fill = {written_number(self.fill)}"
        if self.indicator:
            yield "indicator = true"
        if self.unit is not None:
            yield f"unit = {written(self.unit)}"
        if self.units:
            factors = (f"{place(unit)} = {written_number(factor)}" for unit, factor in dict(self.units).items())
            yield f"units = {{{', '.join(factors)}}}"
        if self.root is not None:
            yield f"root = {'true' if self.root else 'false'}"

    def blanks(self) -> dict[str, object]:
        """Return the bounds, which a part of the budget may pay for."""
        return {"bounds": self.bounds}

    def encoded_names(self) -> tuple[str, ...]:
        """Return the name, and one for where it was missing."""
        return (self.name, f"{self.name} missing") if self.indicator else (self.name,)

    @property
    def squared_length(self) -> float:
        """One for the number, one for what says that it is missing."""
        return 1.0 + self.indicator

    def fits(self, found: Kind) -> bool:
        """Return whether the type is of numbers, of truth values, which are 0 and 1, or of text that may hold units."""
        return found in ("number", "truth", "unknown") or (found == "text" and self.unit is not None)

    def number_with_unit(self, text: str, number_of: Callable[[str], float] = number_of) -> float:
        """Return the number in a text that has a unit behind or before it, NaN for any other text."""
        factors = dict(self.units) | ({} if self.unit is None else {self.unit: 1.0})
        # "kg" is looked for before "g".
        for unit in sorted(factors, key=len, reverse=True):
            for number in (text.removesuffix(unit), text.removeprefix(unit)):
                found = math.nan if number == text else number_of(number) * factors[unit]
                if math.isfinite(found):
                    return found
        return math.nan

    def reading(self, missing: tuple[str, ...]) -> Reading:
        """Return what reads numbers."""
        from equipoise.data.readings import Numbers

        return Numbers(missing, self.bounds, None if self.unit is None else self.number_with_unit)

    def writing(self) -> Writing:
        """Return what scales numbers."""
        from equipoise.data.writings import Scaled

        return Scaled(self.bounds, self.fill, self.indicator, bool(self.root))


def by_root(column: NumberColumn) -> NumberColumn:
    """Return a column whose root counts if its bounds say that it is an amount, unless the schema says whether it does.

    An amount has the lower bound 0, and crowds near it: most incomes, counts and sizes are far below the largest that
    there can be. Between 0 and 1, or 0 and 100, lie shares as well, which may be anywhere: those stay.

    Examples
    --------
    >>> [by_root(NumberColumn("x", bounds)).root for bounds in ((0, 4500), (17, 90), (0, 100))]
    [True, None, None]
    """
    amount = (
        column.root is None and column.bounds is not None and column.bounds[0] == 0 and column.bounds[1] not in SHARES
    )
    return replace(column, root=True) if amount else column


def _belongs_to_a_number(text: str) -> bool:
    """Return whether a text beside a number could be a part of it.

    Examples
    --------
    >>> [text for text in ("kg", "0kg", "-", "E", "%") if _belongs_to_a_number(text)]
    ['0kg', '-', 'E']
    """
    beside = (f"1{text}", f"{text}1", f"1{text}1")
    return any(letter.isdigit() for letter in text) or any(math.isfinite(number_of(joined)) for joined in beside)


def _checked_units(faults: Faults, path: str, unit: object, units: object) -> dict[str, object]:
    """Return the unit and the factors of others; refuse a text that could be a part of the number beside it."""
    if not isinstance(units, Mapping | tuple):
        faults.add(f"{path}.units", "a table of units, such as {g = 0.001}", units)
        units = ()
    texts = [] if unit is None else [(f"{path}.unit", unit)]
    texts += [(f"{path}.units", other) for other in dict(units)]
    for where, text in texts:
        known = faults.label(where, text)
        if known is None or not isinstance(text, str) or _belongs_to_a_number(text):
            faults.add(where, 'the text of a unit, such as "kg"', text)
    factors = {}
    for other, factor in dict(units).items():
        number = faults.scale(f"{path}.units.{place(str(other))}", factor)
        if number is None or number <= 0 or (other == unit and number != 1.0):
            faults.add(f"{path}.units", "how many of the column's unit each unit is, 1 for that one itself", factor)
        factors[other] = number
    if factors and unit is None:
        faults.add(f"{path}.unit", "the unit of the bounds, where there are other units", unit)
    return {"unit": unit, "units": tuple(factors.items())}
