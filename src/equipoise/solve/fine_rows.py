"""Rows whose sums are taken in small groups: a solver's last resort leaves less to rounding (N10)."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equipoise.solve.rows import RowBlocks
from equipoise.vocabulary.work import FINE_ROWS

Array = NDArray[np.float64]


class Places(NamedTuple):
    """Where entries of sparse rows are added up: those of one column in `FINE_ROWS` rows share a place.

    A number for every stored entry, and a matrix with a row for every place, whose 1 stands in the column of the place.
    """

    of_entries: NDArray[np.int32]
    columns: Any

    @classmethod
    def of(cls, rows: Any) -> "Places":
        """Return the places of a CSR array's entries.

        Examples
        --------
        >>> Places.of(sparse.csr_array([[1.0, 0.0], [2.0, 3.0]])).of_entries.tolist()
        [0, 0, 1]
        """
        n_samples, columns = rows.shape
        groups = np.repeat(np.arange(n_samples) // FINE_ROWS, np.diff(rows.indptr))
        found, of_entries = np.unique(groups * columns + rows.indices, return_inverse=True)
        ones = np.ones(len(found)), found % columns, np.arange(len(found) + 1)
        return cls(of_entries.astype(np.int32), sparse.csr_array(ones, shape=(len(found), columns)))


class FineBlock:
    """A block of rows that are added up `FINE_ROWS` at a time, and then the groups; sparse ones by known places.

    Examples
    --------
    >>> block = FineBlock(np.ones((100, 2)))
    >>> (block @ np.array([1.0, 2.0]))[:2], np.ones(100) @ block
    (array([3., 3.]), array([100., 100.]))
    """

    # NumPy leaves products with this class to it.
    __array_ufunc__ = None

    def __init__(self, rows: Any, places: Places | None = None) -> None:
        self._rows = rows
        self._places = places

    def __matmul__(self, weights: Array) -> Array:
        """Return every row times the weights."""
        product: Array = self._rows @ weights
        return product

    def __rmatmul__(self, slopes: Array) -> Array:
        """Return the rows added up with these slopes, one set of slopes an output."""
        if sparse.issparse(self._rows):
            of_entries, columns = self._places or Places.of(self._rows)
            shape = self._rows.shape[0], columns.shape[0]
            grouped = sparse.csr_array((self._rows.data, of_entries, self._rows.indptr), shape=shape)
            added: Array = slopes @ grouped @ columns
            return added
        full = len(self._rows) // FINE_ROWS
        whole = full * FINE_ROWS
        # One call for all groups of full size, and one for the rest.
        grouped = slopes[..., :whole].reshape(*slopes.shape[:-1], full, 1, FINE_ROWS)
        sums = grouped @ self._rows[:whole].reshape(full, FINE_ROWS, self._rows.shape[1])
        total: Array = sums.sum(axis=(-3, -2)) + slopes[..., whole:] @ self._rows[whole:]
        return total


class FineRows:
    """The same rows, in blocks that sum finely.

    Where a block's entries stand is the same in every pass, so it is found out once: 4 bytes an entry.
    """

    def __init__(self, rows: RowBlocks) -> None:
        self._rows = rows
        self._places: dict[int, Places] = {}
        self.n_samples, self.dimension = rows.n_samples, rows.dimension

    def views(self) -> Iterator[tuple[FineBlock, slice]]:
        """Yield each block with its slice of the table, for products alone."""
        for block, where in self._rows.blocks():
            if sparse.issparse(block) and where.start not in self._places:
                self._places[where.start] = Places.of(block)
            yield FineBlock(block, self._places.get(where.start)), where

    def __getattr__(self, name: str) -> Any:
        """Return everything else as the rows have it."""
        return getattr(self._rows, name)
