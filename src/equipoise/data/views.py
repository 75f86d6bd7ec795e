"""Parts of a table that are clipped in the products they take part in, so that no row is copied (docs/proofs/P1.md)."""

import functools
import math
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.data.view_heights import rows_of_a_product

Array = NDArray[np.float64]


class Repaired(NamedTuple):
    """Rows of a block that hold what no factor can clip: their places in it, and what stands for them."""

    places: NDArray[np.intp]
    rows: Array


class ClippedView:
    """A block of the table as it is, which is clipped and given its constant column in the products it takes part in.

    Every row has its product by the same arithmetic, whatever the other rows hold (P1): the block is multiplied as it
    is, and a repaired row's product is put in afterwards.

    Examples
    --------
    >>> view = ClippedView(np.array([[3.0, 4.0]]), np.array([0.2]), intercept=0.5)
    >>> (view @ np.array([1.0, 0.0, 2.0])).tolist(), (np.array([10.0]) @ view).tolist()
    ([1.6], [6.0, 8.0, 5.0])
    """

    # NumPy leaves products with this class to it.
    __array_ufunc__ = None

    def __init__(self, table: NDArray[Any], factors: Array, intercept: float, repaired: Repaired | None = None) -> None:
        self._table = table
        self._factors = factors
        self._intercept = intercept
        self._repaired = repaired

    def __matmul__(self, weights: Array) -> Array:
        """Return every row times the weights."""
        count = self._table.shape[1]
        product = self._multiplied(weights[:count])
        product *= self._factors if product.ndim == 1 else self._factors[:, None]
        if self._repaired is not None:
            product[self._repaired.places] = _one_by_one(self._repaired.rows, weights[:count])
        if self._intercept > 0:
            product += self._intercept * weights[count]
        return product

    def __rmatmul__(self, slopes: Array) -> Array:
        """Return the rows added up with these slopes, one set of slopes an output."""
        scaled, table = slopes * self._factors, self._table
        if self._repaired is not None:
            # Nothing times NaN is NaN: in a sum over rows the repaired ones must stand in their places.
            table = np.array(table, dtype=np.float64)
            table[self._repaired.places] = self._repaired.rows
            scaled[..., self._repaired.places] = slopes[..., self._repaired.places]
        count = table.shape[1]
        sums = np.empty((*slopes.shape[:-1], count + (self._intercept > 0)))
        self._add_up(scaled, table, sums[..., :count])
        if self._intercept > 0:
            sums[..., count] = self._intercept * slopes.sum(axis=-1)
        return sums

    def _multiplied(self, weights: Array) -> Array:
        """Return the rows of the table times the weights."""
        product, matrix = np.empty((len(self._table), *weights.shape[1:])), np.ascontiguousarray(weights)
        for part in self._parts(math.prod(weights.shape[1:])):
            np.matmul(self._table[part], matrix, out=product[part])
        return product

    def _add_up(self, slopes: Array, table: NDArray[Any], sums: Array) -> None:
        """Fill `sums` with the rows of a table added up with these slopes."""
        first, *others = self._parts(math.prod(slopes.shape[:-1]))
        np.matmul(slopes[..., first], table[first], out=sums)
        for part in others:
            sums += slopes[..., part] @ table[part]

    def _parts(self, outputs: int) -> list[slice]:
        """Return the rows that are multiplied at a time, by the view's shape alone."""
        height = rows_of_a_product(self._table.shape[1], outputs)
        # No row at all is one part.
        return [slice(start, start + height) for start in range(0, max(1, len(self._table)), height)]


class CompiledView(ClippedView):
    """A view of a large table, whose products with several outputs are compiled loops where they can be loaded."""

    def _multiplied(self, weights: Array) -> Array:
        loops = compiled_products() if weights.ndim == 2 else None
        if loops is None:
            return super()._multiplied(weights)
        product = np.empty((len(self._table), weights.shape[1] + weights.shape[1] % 2))
        loops.multiply(self._table, _in_pairs(weights.T), product)
        return product[:, : weights.shape[1]]

    def _add_up(self, slopes: Array, table: NDArray[Any], sums: Array) -> None:
        loops = compiled_products() if slopes.ndim == 2 else None
        if loops is None:
            super()._add_up(slopes, table, sums)
            return
        pairs = _in_pairs(slopes)
        found = np.zeros((len(pairs), table.shape[1]))
        loops.add_up(table, pairs, found)
        sums[:] = found[: len(slopes)]


def _in_pairs(outputs: Array) -> Array:
    """Return the outputs' numbers one output after the other, and zeros for a last one where their number is odd."""
    pairs = np.zeros((len(outputs) + len(outputs) % 2, outputs.shape[1]))
    pairs[: len(outputs)] = outputs
    return pairs


@functools.cache
def compiled_products() -> ModuleType | None:
    """Return the compiled loops, for tables that may be written to and others; None where they cannot be had.

    They are compiled here, once, and kept on disk. A full disk or a damaged cache is no reason to lose a fit whose
    spend is recorded: whatever goes wrong, BLAS does the same work. That depends on the machine, never on a row.
    """
    try:
        from equipoise.data import compiled_products as loops

        written, fixed = np.zeros((1, 1)), np.zeros((1, 1))
        fixed.flags.writeable = False
        for table in (written, fixed):
            loops.multiply(table, np.zeros((2, 1)), np.zeros((1, 2)))
            loops.add_up(table, np.zeros((2, 1)), np.zeros((2, 1)))
    except Exception:  # what a compiler and a disk may raise is on no list
        return None
    return loops


def _one_by_one(rows: Array, weights: Array) -> Array:
    """Return a few rows times the weights, each added up column by column.

    How a matrix product rounds may depend on how many rows it has, and here that number depends on values.
    """
    if weights.ndim == 1:
        product: Array = np.add.accumulate(rows * weights, axis=1)[:, -1]
        return product
    return np.stack([_one_by_one(rows, column) for column in weights.T], axis=1)
