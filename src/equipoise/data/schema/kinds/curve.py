"""Numbers inside public bounds whose effect may bend: a line, and hats at equally spaced knots between the bounds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, ClassVar

from equipoise.data.schema.columns import settle
from equipoise.data.schema.kinds.number import NumberColumn
from equipoise.data.schema.text import Faults, place, written_number

if TYPE_CHECKING:
    from equipoise.data.writings import Writing

# Finer cells than this hold too few rows of any table.
MOST_CELLS = 256


@dataclass(frozen=True, slots=True)
class CurveColumn(NumberColumn):
    """A column of numbers of which a model learns a curve: the entry of a number column, and hats beside it.

    The bounds are cut into equal cells, at whose ends are knots, with an encoded column each: it is `height` where the
    number is at the knot, falls to 0 along a line at the knots beside it, and is 0 beyond. So of all columns at most
    three are other than 0 in one row, however many cells there are, and a linear model of them is a curve that is a
    straight line within every cell. A missing number counts as its fill, as in a number column.

    Parameters
    ----------
    name, bounds, fill, indicator, unit, units
        As in `NumberColumn`.
    cells : int
        How many cells there are, 2 or more.
    height : float
        The height of the hats, above 0 and at most 1: the lower they are, the closer the curve is kept to a line.

    Examples
    --------
    >>> age = CurveColumn("age", (0, 100), cells=4)
    >>> age.encoded_names()
    ('age', 'age at 0/4', 'age at 1/4', 'age at 2/4', 'age at 3/4', 'age at 4/4')
    >>> from equipoise.data.encoder import Encoder
    >>> from equipoise.data.schema import Schema, Target
    >>> import numpy as np
    >>> encoder = Encoder(Schema(None, (age,), Target("ill", classes=(0, 1)), row_norm=2.0))
    >>> encoder.encode({"age": np.array([0.0, 80.0, np.nan])}, 3) * 2.0
    array([[-1. ,  1. ,  0. ,  0. ,  0. ,  0. ],
           [ 0.6,  0. ,  0. ,  0. ,  0.8,  0.2],
           [ 0. ,  0. ,  0. ,  1. ,  0. ,  0. ]])
    """

    kind: ClassVar[str] = "curve"
    keys: ClassVar[tuple[str, ...]] = (*NumberColumn.keys, "cells", "height")

    cells: int = 16
    height: float = 1.0

    def __post_init__(self) -> None:
        """Refuse facts that cannot be so."""
        faults = Faults()
        path = place("columns", faults.name(self.name))
        cells, height = faults.count(f"{path}.cells", self.cells), faults.number(f"{path}.height", self.height)
        if cells is None or not 2 <= cells <= MOST_CELLS:
            faults.add(f"{path}.cells", f"a whole number from 2 to {MOST_CELLS}", self.cells)
        if height is None or not 0 < height <= 1:
            faults.add(f"{path}.height", "a number above 0 and at most 1", self.height)
        settle(self, cells=cells, height=height)
        faults.attempt(lambda: NumberColumn.__post_init__(self))
        faults.refuse()

    def lines(self) -> Iterator[str]:
        """Yield the lines of the column's TOML table."""
        yield from NumberColumn.lines(self)
        yield f"cells = {self.cells}"
        yield f"height = {written_number(self.height)}"

    def encoded_names(self) -> tuple[str, ...]:
        """Return the name, one for each knot by its place between the bounds, and one for where it was missing."""
        name, *missing = NumberColumn.encoded_names(self)
        return (name, *(f"{name} at {knot}/{self.cells}" for knot in range(self.cells + 1)), *missing)

    @property
    def entries(self) -> int:
        """One, two for the knots beside the number, and one for what says that it is missing."""
        return 3 + self.indicator

    @property
    def squared_length(self) -> float:
        """That of a number, and the square of a hat, which is highest at a knot."""
        return 1.0 + self.height**2 + self.indicator

    @property
    def summed_length(self) -> float:
        """That of a number, and the height: two hats add up to it between knots."""
        return 1.0 + self.height + self.indicator

    def writing(self) -> Writing:
        """Return what scales numbers and writes their hats."""
        from equipoise.data.writings import Curved

        return Curved(self.bounds, self.fill, self.indicator, self.height)


def curved(column: NumberColumn, cells: int) -> CurveColumn:
    """Return a column of numbers as a curve, every other fact as it was.

    Examples
    --------
    >>> curved(NumberColumn("age", (0, 100), fill=40), 8)
    CurveColumn(name='age', bounds=(0.0, 100.0), fill=40.0, indicator=False, unit=None, units=(), cells=8, height=1.0)
    """
    facts = {field.name: getattr(column, field.name) for field in fields(column)}
    return CurveColumn(**facts, cells=cells)
