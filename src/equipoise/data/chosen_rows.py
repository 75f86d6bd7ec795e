"""Some of a table's rows, as a table of their own."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.data.rows import Array, RowSource


class ChosenRows(RowSource):
    """Rows at given places, in rising order: a copy of them, clipped and with their constant column.

    Examples
    --------
    >>> from equipoise.data.rows import Rows
    >>> from equipoise.vocabulary.facts import Domain
    >>> rows = Rows(np.array([[3.0, 4.0], [0.1, 0.2], [0.0, 0.5]]), Domain(1.0, classes=(0, 1)), intercept=0.5)
    >>> [block.tolist() for block, _ in ChosenRows(rows, np.array([0, 2])).blocks()]
    [[[0.6000000000000001, 0.8, 0.5], [0.0, 0.5, 0.5]]]
    >>> ChosenRows(rows, np.array([2])).arrays().matrix.tolist()
    [[0.0, 0.5, 0.5]]
    """

    def __init__(self, rows: RowSource, places: NDArray[np.intp]) -> None:
        self.n_samples = len(places)
        self.dimension = rows.dimension
        self._rows = rows
        self._blocks: list[tuple[Any, slice]] = []
        first = 0
        for block, where in rows.picked(places):
            self._blocks.append((block, slice(first, first + len(where))))
            first += len(where)

    def blocks(self) -> Iterator[tuple[Any, slice]]:
        """Yield copies of the blocks, which their user may overwrite."""
        for block, where in self._blocks:
            yield block.copy(), where

    def views(self) -> Iterator[tuple[Any, slice]]:
        """Yield the blocks themselves."""
        yield from self._blocks

    def gram(self, block: Any, curvatures: Array) -> Array:
        """Return ``sum_i c_i x_i x_i'``, as the whole table does."""
        return self._rows.gram(block, curvatures)
