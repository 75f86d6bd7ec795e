"""From what was read to entries of a row in [-1, 1], for every kind of column that is not spread over its levels."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from equipoise.data.schema.kinds.base import Column

Array = NDArray[np.float64]
Scale = tuple[float, float, float, float]


class Writing(ABC):
    """What writes a column's entries: one line of `entries` for each encoded column, as long as there are rows."""

    @abstractmethod
    def __call__(self, read: NDArray[Any], entries: Array, squares: Array) -> None:
        """Write the entries of what was read, and add their squares."""


@cache
def loops() -> ModuleType:
    """Return the loops over numbers, which are compiled when they are first imported; a call of this costs nothing."""
    from equipoise.data import row_loops

    return row_loops


class Scaled(Writing):
    """Writes numbers clipped into bounds and scaled to [-1, 1], and where they were missing if that is asked for.

    Examples
    --------
    >>> entries, squares = np.empty((2, 3)), np.zeros(3)
    >>> Scaled((20, 60), None, indicator=True)(np.array([60.0, 15.0, np.nan]), entries, squares)
    >>> entries.tolist(), squares.tolist()
    ([[1.0, -1.0, 0.0], [0.0, 0.0, 1.0]], [1.0, 1.0, 1.0])

    With `root` the root of the place between the bounds counts for half:

    >>> Scaled((0, 16), None, False, root=True)(np.array([0.0, 4.0, 16.0]), entries, squares)
    >>> entries[0].tolist()
    [-1.0, -0.25, 1.0]
    """

    def __init__(
        self, bounds: tuple[float, float] | None, fill: float | None, indicator: bool = False, root: bool = False
    ) -> None:
        self._scale = scale(bounds, fill)
        self._indicator = indicator
        self._root = root

    def __call__(self, read: NDArray[Any], entries: Array, squares: Array) -> None:
        """Write one line, and the one of missing numbers."""
        if self._root:
            loops().scale_numbers(read, *self._scale, entries[0], np.zeros(len(squares)))
            # The mean of a share s, in [0, 1], and its root is (s + sqrt(s))/2, and an entry twice that less 1.
            shares = (entries[0] + 1.0) / 2.0
            np.subtract(shares + np.sqrt(shares), 1.0, out=entries[0])
            squares += entries[0] * entries[0]
        else:
            loops().scale_numbers(read, *self._scale, entries[0], squares)
        if self._indicator:
            mark_missing(read, entries[1], squares)


class Curved(Scaled):
    """Writes the line of a curve, for numbers scaled as `Scaled` does, its hats, and where they were missing.

    Examples
    --------
    >>> entries, squares = np.empty((2, 3)), np.zeros(3)
    >>> Curved((0, 4), None, False)(np.array([0.5, 4.0, np.nan]), entries, squares)
    >>> entries.tolist(), squares.tolist()
    ([[-0.75, 1.0, 0.0], [0.25, 0.0, 1.0]], [0.625, 1.0, 1.0])
    """

    def __init__(
        self, bounds: tuple[float, float] | None, fill: float | None, indicator: bool, root: bool = False
    ) -> None:
        super().__init__(bounds, fill, root=root)
        self._marked = indicator

    def __call__(self, read: NDArray[Any], entries: Array, squares: Array) -> None:
        """Write the lines of number and hats, and the one of missing numbers."""
        scaled = np.empty((1, len(squares)))
        super().__call__(read, scaled, np.zeros(len(squares)))
        own = entries[: len(entries) - self._marked]
        own.fill(0.0)
        loops().put_hats(scaled[0], own, squares)
        if self._marked:
            mark_missing(read, entries[-1], squares)


class LookedUp(Writing):
    """Writes the number that a table has for each position; the last one is that of missing values.

    Examples
    --------
    >>> entries, squares = np.empty((1, 3)), np.zeros(3)
    >>> LookedUp((-1.0, 1.0, 0.0), indicator=False)(np.array([1, 0, 2]), entries, squares)
    >>> entries.tolist()
    [[1.0, -1.0, 0.0]]
    """

    def __init__(self, table: Sequence[float], indicator: bool) -> None:
        missing = [0.0] * (len(table) - 1) + [1.0]
        self._tables = [np.array(lines) for lines in ((table, missing) if indicator else (table,))]

    def __call__(self, read: NDArray[Any], entries: Array, squares: Array) -> None:
        """Write one line, and the one of missing values."""
        for line, table in zip(entries, self._tables, strict=True):
            np.take(table, read, out=line)
            squares += line * line


class Multiplied:
    """Writes the products of two columns' entries: a line for each of the first with each of the second.

    Examples
    --------
    >>> from equipoise.data.schema import CategoryColumn, CurveColumn
    >>> sides = CurveColumn("age", (0, 4), cells=2), CategoryColumn("job", ("none", "nurse"), unknown="none")
    >>> entries, squares = np.empty((4, 2)), np.zeros(2)
    >>> Multiplied(sides)({"age": np.array([1.0, np.nan]), "job": np.array([1, 0])}, entries, squares)
    >>> (entries.T + 0.0).tolist(), squares.tolist()
    ([[0.0, -0.5, 0.0, 0.5], [0.0, 0.0, 1.0, 0.0]], [0.5, 1.0])
    """

    def __init__(self, sides: "Sequence[Column]") -> None:
        self._sides = [(side.name, side.width, side.writing()) for side in sides]
        self.width = math.prod(side.width for side in sides)

    def __call__(self, read: Mapping[str, NDArray[Any]], entries: Array, squares: Array) -> None:
        """Write the products, and add their squares."""
        first, second = (self._entries(read[name], width, writing) for name, width, writing in self._sides)
        products = entries.reshape(len(first), len(second), -1)
        for one, lines in zip(first, products, strict=True):
            for other, line in zip(second, lines, strict=True):
                np.multiply(one, other, out=line)
                squares += line * line

    @staticmethod
    def _entries(read: NDArray[Any], width: int, writing: Writing | None) -> Array:
        if writing is None:
            levels: Array = (read == np.arange(width)[:, None]).astype(np.float64)
            return levels
        entries = np.empty((width, len(read)))
        writing(read, entries, np.zeros(len(read)))
        return entries


def mark_missing(read: NDArray[Any], line: Array, squares: Array) -> None:
    """Write 1 where no finite number was read, 0 elsewhere."""
    np.logical_not(np.isfinite(read), out=line)
    squares += line


def scale(bounds: tuple[float, float] | None, fill: float | None) -> Scale:
    """Return the unit in which a column's numbers are scaled, the bounds in it, and the share of missing ones.

    Examples
    --------
    >>> scale((20, 60), None)
    (0.25, 5.0, 15.0, 0.5)
    """
    if bounds is None:
        return math.nan, math.nan, math.nan, math.nan
    # A quarter of the largest numbers cannot overflow in a difference; small ones must not be made smaller.
    unit = 0.25 if max(abs(bounds[0]), abs(bounds[1])) > 1.0 else 1.0
    low, high = unit * bounds[0], unit * bounds[1]
    return unit, low, high, 0.5 if fill is None else (unit * fill - low) / (high - low)
