"""Numbers inside public bounds whose effect may bend: hats at equally spaced knots between the bounds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, ClassVar

from equipoise.data.schema.columns import settle
from equipoise.data.schema.kinds.number import NumberColumn
from equipoise.data.schema.text import Faults, place

if TYPE_CHECKING:
    from equipoise.data.writings import Writing

# Finer cells than this hold too few rows of any table.
MOST_CELLS = 256


@dataclass(frozen=True, slots=True)
class CurveColumn(NumberColumn):
    """A column of numbers of which a model learns a curve, by hats at knots.

    The bounds are cut into equal cells, at whose ends are knots, with an encoded column each: it is 1 where the number
    is at the knot, falls to 0 along a line at the knots beside it, and is 0 beyond. So of all columns at most two are
    other than 0 in one row, however many cells there are, and they add up to 1; a linear model of them is a curve that
    is a straight line within every cell. A missing number counts as its fill, as in a number column.

    Parameters
    ----------
    name, bounds, fill, indicator, unit, units
        As in `NumberColumn`.
    cells : int
        How many cells there are, 2 or more.
    root : None
        A curve bends by itself, and has no use for roots.

    Examples
    --------
    >>> age = CurveColumn("age", (0, 100), cells=4)
    >>> age.encoded_names()
    ('age at 0/4', 'age at 1/4', 'age at 2/4', 'age at 3/4', 'age at 4/4')
    >>> from equipoise.data.encoder import Encoder
    >>> from equipoise.data.schema import Schema, Target
    >>> import numpy as np
    >>> encoder = Encoder(Schema(None, (age,), Target("ill", classes=(0, 1)), row_norm=1.0))
    >>> encoder.encode({"age": np.array([0.0, 80.0, np.nan])}, 3)
    array([[1. , 0. , 0. , 0. , 0. ],
           [0. , 0. , 0. , 0.8, 0.2],
           [0. , 0. , 1. , 0. , 0. ]])
    """

    kind: ClassVar[str] = "curve"
    keys: ClassVar[tuple[str, ...]] = (*NumberColumn.keys, "cells")

    cells: int = 16

    def __post_init__(self) -> None:
        """Refuse facts that cannot be so."""
        faults = Faults()
        path = place("columns", faults.name(self.name))
        cells = faults.count(f"{path}.cells", self.cells)
        if cells is None or not 2 <= cells <= MOST_CELLS:
            faults.add(f"{path}.cells", f"a whole number from 2 to {MOST_CELLS}", self.cells)
        if self.root:
            faults.add(f"{path}.root", "no root of a curve, which bends by itself", self.root)
        settle(self, cells=cells)
        faults.attempt(lambda: NumberColumn.__post_init__(self))
        faults.refuse()

    def lines(self) -> Iterator[str]:
        """Yield the lines of the column's TOML table."""
        yield from NumberColumn.lines(self)
        yield f"cells = {self.cells}"

    def encoded_names(self) -> tuple[str, ...]:
        """Return a name for each knot by its place between the bounds, and one for where it was missing."""
        name, *missing = NumberColumn.encoded_names(self)
        return (*(f"{name} at {knot}/{self.cells}" for knot in range(self.cells + 1)), *missing)

    @property
    def entries(self) -> int:
        """Two for the knots beside the number, and one for what says that it is missing."""
        return 2 + self.indicator

    @property
    def squared_length(self) -> float:
        """The square of a hat, which is highest at a knot, and what says that the number is missing."""
        return 1.0 + self.indicator

    @property
    def summed_length(self) -> float:
        """Two hats add up to 1 between knots, and there is what says that the number is missing."""
        return 1.0 + self.indicator

    def writing(self) -> Writing:
        """Return what writes the hats of numbers."""
        from equipoise.data.writings import Curved

        return Curved(self.bounds, self.fill, self.indicator)


def curved(column: NumberColumn, cells: int) -> CurveColumn:
    """Return a column of numbers as a curve, every other fact as it was but for its root.

    Examples
    --------
    >>> curved(NumberColumn("age", (0, 100), fill=40), 8)
    CurveColumn(name='age', bounds=(0.0, 100.0), fill=40.0, indicator=False, unit=None, units=(), root=None, \
cells=8)
    """
    facts = {field.name: getattr(column, field.name) for field in fields(column)}
    return CurveColumn(**{**facts, "root": None}, cells=cells)


def line_of(column: NumberColumn, indicator: bool) -> NumberColumn:
    """Return a column of numbers as a line, every other fact as it was.

    Examples
    --------
    >>> line_of(CurveColumn("age", (0, 100), fill=40, cells=8), indicator=False)
    NumberColumn(name='age', bounds=(0.0, 100.0), fill=40.0, indicator=False, unit=None, units=(), root=None)
    """
    facts = {field.name: getattr(column, field.name) for field in fields(NumberColumn)}
    return NumberColumn(**{**facts, "indicator": indicator})
