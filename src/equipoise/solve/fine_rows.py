"""Rows whose sums are taken in small groups: a solver's last resort leaves less to rounding (N10)."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equipoise.solve.rows import RowBlocks
from equipoise.vocabulary.work import FINE_ROWS

Array = NDArray[np.float64]


class FineBlock:
    """A block of rows that are added up `FINE_ROWS` at a time, and then the groups.

    Examples
    --------
    >>> block = FineBlock(np.ones((100, 2)))
    >>> (block @ np.array([1.0, 2.0]))[:2], np.ones(100) @ block
    (array([3., 3.]), array([100., 100.]))
    """

    # NumPy leaves products with this class to it.
    __array_ufunc__ = None

    def __init__(self, rows: Any) -> None:
        self._rows = rows

    def __matmul__(self, weights: Array) -> Array:
        """Return every row times the weights."""
        product: Array = self._rows @ weights
        return product

    def __rmatmul__(self, slopes: Array) -> Array:
        """Return the rows added up with these slopes, one set of slopes an output."""
        if sparse.issparse(self._rows):
            starts = range(0, self._rows.shape[0], FINE_ROWS)
            groups = (slice(start, start + FINE_ROWS) for start in starts)
            added: Array = np.sum([slopes[..., group] @ self._rows[group] for group in groups], axis=0)
            return added
        full = len(self._rows) // FINE_ROWS
        whole = full * FINE_ROWS
        # One call for all groups of full size, and one for the rest.
        grouped = slopes[..., :whole].reshape(*slopes.shape[:-1], full, 1, FINE_ROWS)
        sums = grouped @ self._rows[:whole].reshape(full, FINE_ROWS, self._rows.shape[1])
        total: Array = sums.sum(axis=(-3, -2)) + slopes[..., whole:] @ self._rows[whole:]
        return total


class FineRows:
    """The same rows, in blocks that sum finely."""

    def __init__(self, rows: RowBlocks) -> None:
        self._rows = rows
        self.n_samples, self.dimension = rows.n_samples, rows.dimension

    def views(self) -> Iterator[tuple[FineBlock, slice]]:
        """Yield each block with its slice of the table, for products alone."""
        for block, where in self._rows.blocks():
            yield FineBlock(block), where

    def __getattr__(self, name: str) -> Any:
        """Return everything else as the rows have it."""
        return getattr(self._rows, name)
