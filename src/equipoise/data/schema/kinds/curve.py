"""Numbers inside public bounds whose effect may bend: a line, and departures from it that are the finer the smaller."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import lru_cache
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
    """A column of numbers of which a model learns a curve: its line, and hats by which it departs from that.

    With ``s`` the share of the way between the bounds the first entry is that of a number column, ``z = 2 s - 1``. The
    others are hats: 0 at the ends of a stretch between the bounds, rising along lines to their height in its middle.
    The first hat stands over all that lies between the bounds, the next two over a half each, then four over quarters,
    and so on until there are as many stretches as half the cells; heights are 1, then sqrt(1/2), 1/2, and so on. So a
    linear model of them is any curve that is straight within every cell, up to a constant, and a ridge on its weights
    is one on its slopes. Since

        z^2 + h_1^2 + h_2^2 + ... = 1 - (4/c) u (1 - u),    u the share of the way through one of c cells,

    a row is no longer than that of a line at its bounds, however many cells there are, and of every level one hat alone
    is other than 0. With `root`, ``z`` is that of the root, and ``s = (1 + z)/2``. A missing number counts as its
    fill, as in a number column.

    Parameters
    ----------
    name, bounds, fill, indicator, unit, units, root
        As in `NumberColumn`.
    cells : int
        How many cells there are: 2, 4, 8 and so on.

    Examples
    --------
    >>> age = CurveColumn("age", (0, 100), cells=4)
    >>> age.encoded_names()
    ('age', 'age bent at 1/2', 'age bent at 1/4', 'age bent at 3/4')
    >>> from equipoise.data.encoder import Encoder
    >>> from equipoise.data.schema import Schema, Target
    >>> import numpy as np
    >>> encoder = Encoder(Schema(None, (age,), Target("ill", classes=(0, 1)), row_norm=1.0))
    >>> encoder.encode({"age": np.array([0.0, 75.0, np.nan])}, 3).round(3) + 0.0
    array([[-1.   ,  0.   ,  0.   ,  0.   ],
           [ 0.5  ,  0.5  ,  0.   ,  0.707],
           [ 0.   ,  1.   ,  0.   ,  0.   ]])
    """

    kind: ClassVar[str] = "curve"
    keys: ClassVar[tuple[str, ...]] = (*NumberColumn.keys, "cells")

    cells: int = 16

    def __post_init__(self) -> None:
        """Refuse facts that cannot be so."""
        faults = Faults()
        path = place("columns", faults.name(self.name))
        cells = faults.count(f"{path}.cells", self.cells)
        if cells is None or not are_halves(cells):
            faults.add(f"{path}.cells", f"a power of two from 2 to {MOST_CELLS}", self.cells)
        settle(self, cells=cells)
        faults.attempt(lambda: NumberColumn.__post_init__(self))
        faults.refuse()

    def lines(self) -> Iterator[str]:
        """Yield the lines of the column's TOML table."""
        yield from NumberColumn.lines(self)
        yield f"cells = {self.cells}"

    def encoded_names(self) -> tuple[str, ...]:
        """Return the name, one for each hat by where its top is between the bounds, and one for where it was missing.

        With `root` that is a share of the way of the root.
        """
        name, *missing = NumberColumn.encoded_names(self)
        tops = (f"{name} bent at {2 * step + 1}/{2 * stretches}" for stretches, step in hats(self.cells))
        return (name, *tops, *missing)

    @property
    def entries(self) -> int:
        """One for the line, one for a hat of each level, and one for what says that the number is missing."""
        return self.cells.bit_length() + self.indicator

    @property
    def summed_length(self) -> float:
        """What line and hats add up to is largest at a knot; and there is what says that the number is missing."""
        return max(math.fsum(map(abs, entries)) for entries in entries_at_knots(self.cells)) + self.indicator

    def writing(self) -> Writing:
        """Return what writes the line and the hats of numbers."""
        from equipoise.data.writings import Curved

        return Curved(self.bounds, self.fill, self.indicator, bool(self.root))


def are_halves(cells: int) -> bool:
    """Return whether bounds can be halved again and again into so many cells.

    Examples
    --------
    >>> [cells for cells in range(20) if are_halves(cells)]
    [2, 4, 8, 16]
    """
    return 2 <= cells <= MOST_CELLS and cells & (cells - 1) == 0


def hats(cells: int) -> Iterator[tuple[int, int]]:
    """Yield for each hat into how many stretches its level cuts the bounds, and over which of them it stands.

    Examples
    --------
    >>> list(hats(8))
    [(1, 0), (2, 0), (2, 1), (4, 0), (4, 1), (4, 2), (4, 3)]
    """
    for level in range(cells.bit_length() - 1):
        for step in range(2**level):
            yield 2**level, step


@lru_cache(maxsize=16)
def entries_at_knots(cells: int) -> tuple[tuple[float, ...], ...]:
    """Return line and hats at each knot, from the lower bound to the upper; between two knots they are straight.

    Examples
    --------
    >>> entries_at_knots(2)
    ((-1.0, 0.0), (0.0, 1.0), (1.0, 0.0))
    """
    found = []
    for knot in range(cells + 1):
        share = knot / cells
        heights = (
            math.sqrt(1 / stretches) * max(1.0 - abs(2.0 * (share * stretches - step) - 1.0), 0.0)
            for stretches, step in hats(cells)
        )
        found.append((2.0 * share - 1.0, *heights))
    return tuple(found)


def curved(column: NumberColumn, cells: int) -> CurveColumn:
    """Return a column of numbers as a curve, every other fact as it was.

    Examples
    --------
    >>> curved(NumberColumn("age", (0, 100), fill=40), 8)
    CurveColumn(name='age', bounds=(0.0, 100.0), fill=40.0, indicator=False, unit=None, units=(), root=None, \
cells=8)
    """
    return CurveColumn(**{field.name: getattr(column, field.name) for field in fields(column)}, cells=cells)


def line_of(column: NumberColumn, indicator: bool) -> NumberColumn:
    """Return a column of numbers as a line, every other fact as it was.

    Examples
    --------
    >>> line_of(CurveColumn("age", (0, 100), fill=40, cells=8), indicator=False)
    NumberColumn(name='age', bounds=(0.0, 100.0), fill=40.0, indicator=False, unit=None, units=(), root=None)
    """
    facts = {field.name: getattr(column, field.name) for field in fields(NumberColumn)}
    return NumberColumn(**{**facts, "indicator": indicator})
