"""Rows clipped into the domain, block by block: values are mapped by a public rule and never raise (docs/proofs/M3.md).

A dense table of doubles is not copied: what is kept besides it is one factor a row. Other numbers become doubles once
where those take little memory, else block by block in one reusable buffer.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from equipoise.data.entries import entry_equals, numbers_of_entries
from equipoise.data.sizes import larger, sizes_one_by_one
from equipoise.data.sparse_tables import merged
from equipoise.data.unread import NUMERIC_KINDS, Matrix
from equipoise.data.view_heights import COMPILED, KEPT_DOUBLES, rows_of_a_view
from equipoise.data.views import ClippedView, CompiledView, Repaired
from equipoise.vocabulary.constants import BLOCK_ROWS
from equipoise.vocabulary.facts import Domain, Label, Problem

Array = NDArray[np.float64]


def class_codes(target: NDArray[Any], classes: tuple[Label, ...]) -> Array:
    """Return +1 where the target is the second class and -1 elsewhere, so an unknown label counts as the first class.

    Examples
    --------
    >>> class_codes(np.array(["no", "yes", "perhaps"]), ("no", "yes"))
    array([-1.,  1., -1.])
    """
    if len(classes) < 2:
        return np.full(len(target), -1.0)
    positive = classes[1]
    kinds = "fiub" if isinstance(positive, bool | int | float) else "UT"
    if target.dtype.kind in kinds:
        # Truth values as whole numbers: NumPy compares no others with a class that 64 bits do not hold.
        matches = np.asarray((target.view(np.int8) if target.dtype.kind == "b" else target) == positive)
    else:
        matches = np.fromiter((entry_equals(entry, positive) for entry in target), dtype=bool, count=len(target))
    return np.where(matches, 1.0, -1.0)


def class_positions(target: NDArray[Any], classes: tuple[Label, ...]) -> Array:
    """Return the position of each target among the classes; an unknown label counts as the first class.

    Examples
    --------
    >>> class_positions(np.array(["b", "c", "x"]), ("a", "b", "c"))
    array([1., 2., 0.])
    """
    positions = np.zeros(len(target))
    for position, label in enumerate(classes[1:], start=1):
        positions[class_codes(target, (classes[0], label)) > 0] = position
    return positions


def centred_targets(target: NDArray[Any], domain: Domain) -> Array:
    """Return regression targets clipped into the bounds and centred at their midpoint; non-finite become 0.

    Examples
    --------
    >>> centred_targets(np.array([0.0, 500.0, np.nan]), Domain(1.0, labels=(0.0, 400.0)))
    array([-200.,  200.,    0.])
    """
    numeric = target.dtype.kind in NUMERIC_KINDS
    values = np.array(target, dtype=np.float64) if numeric else numbers_of_entries(target, len(target))
    values -= domain.label_centre
    np.nan_to_num(values, copy=False, nan=0.0, posinf=0.0, neginf=0.0)
    return np.clip(values, -domain.label_bound, domain.label_bound)


def coded_targets(target: NDArray[Any], problem: Problem, classes: tuple[Label, ...]) -> Array:
    """Return the targets as the loss wants them: centred numbers, codes of two classes, or positions of more."""
    if problem.loss.task == "regression":
        return centred_targets(target, problem.domain)
    return class_codes(target, classes) if problem.loss.outputs == 1 else class_positions(target, classes)


class DenseArrays(NamedTuple):
    """Rows ``factor (row of the matrix)``, the constant `intercept` appended if it is above 0."""

    matrix: NDArray[Any]
    factors: Array
    intercept: float

    def dealt(self, order: NDArray[np.int64]) -> "DenseArrays":
        """Return a copy of the rows in another order."""
        return DenseArrays(np.take(self.matrix, order, axis=0), self.factors[order], self.intercept)


class SparseArrays(NamedTuple):
    """Clipped rows in CSR form, each with its constant entry, if any, in the last column."""

    data: Array
    indices: NDArray[Any]
    indptr: NDArray[np.int64]
    intercept: float

    def dealt(self, order: NDArray[np.int64]) -> "SparseArrays":
        """Return a copy of the rows in another order; that no entry is stored must not make SciPy ask for a shape."""
        shape = len(self.indptr) - 1, int(self.indices.max(initial=0)) + 1
        rows = scipy.sparse.csr_array((self.data, self.indices, self.indptr), shape=shape)[order]
        return SparseArrays(rows.data, rows.indices, rows.indptr.astype(np.int64), self.intercept)


class RowSource(ABC):
    """Rows in their domain, seen through what an objective needs: blocks of at most `BLOCK_ROWS` rows."""

    n_samples: int
    dimension: int

    @abstractmethod
    def blocks(self) -> Iterator[tuple[Any, slice]]:
        """Yield each block, dense or sparse, with its slice of the table; its user may overwrite a dense one."""

    def views(self) -> Iterator[tuple[Any, slice]]:
        """Yield each block with its slice of the table, for products alone: its rows need never be copied."""
        yield from self.blocks()

    def picked(self, chosen: NDArray[np.intp]) -> Iterator[tuple[Any, NDArray[np.intp]]]:
        """Yield chosen rows, given by their places in rising order, block by block."""
        for block, where in self.blocks():
            first, last = np.searchsorted(chosen, (where.start, where.stop))
            if first < last:
                yield block[chosen[first:last] - where.start], chosen[first:last]

    @abstractmethod
    def gram(self, block: Any, curvatures: Array) -> Array:
        """Return ``sum_i c_i x_i x_i'`` over the rows of a block, which it may overwrite."""

    def arrays(self) -> DenseArrays | SparseArrays:
        """Return all rows at once, as compiled loops over single rows want them: the blocks put together, a copy."""
        blocks = [block.copy() for block, _ in self.blocks()]
        if not scipy.sparse.issparse(blocks[0]):
            return DenseArrays(np.vstack(blocks), np.ones(self.n_samples), 0.0)
        joined = scipy.sparse.vstack(blocks, format="csr")
        return SparseArrays(joined.data, joined.indices, joined.indptr.astype(np.int64), 0.0)

    def predictions(self, weights: Array) -> Array:
        """Return every row times the weights, a vector or a matrix with one column an output."""
        return _predictions(self.views(), weights, self.n_samples)


def _predictions(blocks: Iterable[tuple[Any, slice]], weights: Array, count: int) -> Array:
    result = np.empty((count, *weights.shape[1:]))
    for block, where in blocks:
        result[where] = block @ weights
    return result


def row_source(matrix: Any, domain: Domain, intercept: float) -> RowSource:
    """Return the rows of a table that was read: sparse ones stay sparse, and no numbers are wider than 64 bits."""
    kind = getattr(matrix, "dtype", np.dtype(np.float64))
    if kind.kind == "f" and kind.itemsize > 8:
        # Repaired blocks are of 64 bits: a wider number elsewhere would tell by its type that nothing was repaired.
        matrix = matrix.astype(np.float64)
    return SparseRows(matrix, domain, intercept) if scipy.sparse.issparse(matrix) else Rows(matrix, domain, intercept)


class Rows(RowSource):
    """Dense rows as the objective sees them: filled, clipped, with the constant column appended.

    Examples
    --------
    >>> rows = Rows(np.array([[3.0, 4.0], [np.nan, 0.5]]), Domain(1.0, classes=(0, 1)), intercept=0.5)
    >>> [block.tolist() for block, _ in rows.blocks()]
    [[[0.6000000000000001, 0.8, 0.5], [0.0, 0.5, 0.5]]]
    """

    def __init__(self, matrix: Matrix, domain: Domain, intercept: float) -> None:
        self.n_samples = matrix.shape[0]
        self._n_features: int = matrix.shape[1]
        self.dimension = self._n_features + (1 if intercept > 0 else 0)
        self._matrix, self._intercept = matrix, intercept
        self._factors = np.empty(self.n_samples)
        self._domain = domain
        self._repaired: dict[int, Repaired] = {}
        self._buffer = np.empty((min(BLOCK_ROWS, self.n_samples), self.dimension))
        # Columns that lie apart are put together, which is worth a whole block at a time.
        self._height = rows_of_a_view(self._n_features) if isinstance(matrix, np.ndarray) else BLOCK_ROWS
        # Other numbers become doubles once, or where they are many once a view, for both products of a pass.
        self._converts = isinstance(matrix, np.ndarray) and matrix.dtype != np.float64
        self._doubles: Array | None = None
        # Loops want the entries of a row one after the other, as those that are converted lie.
        large = isinstance(matrix, np.ndarray) and matrix.size >= COMPILED
        flags = getattr(matrix, "flags", None)
        lies = self._converts or (flags is not None and flags.c_contiguous and flags.aligned)
        self._view = CompiledView if large and lies else ClippedView
        for start in range(0, self.n_samples, BLOCK_ROWS):
            factors, repaired = inspected(matrix[start : start + BLOCK_ROWS], domain)
            self._factors[start : start + BLOCK_ROWS] = factors
            if repaired is not None:
                self._repaired[start] = repaired

    def blocks(self) -> Iterator[tuple[Array, slice]]:
        """Yield each block of rows with its slice of the table, in one buffer that the next block overwrites."""
        for start in range(0, self.n_samples, BLOCK_ROWS):
            where = slice(start, min(start + BLOCK_ROWS, self.n_samples))
            yield self._block(where), where

    def _block(self, where: slice) -> Array:
        block = self._buffer[: where.stop - where.start]
        features = block[:, : self._n_features]
        np.multiply(self._matrix[where], self._factors[where, None], out=features)
        if where.start in self._repaired:
            places, repaired = self._repaired[where.start]
            features[places] = repaired
        if self._intercept > 0:
            block[:, -1] = self._intercept
        return block

    def views(self) -> Iterator[tuple[Any, slice]]:
        """Yield views of the table, all of one kind: what one row holds must not move another's product (P1)."""
        yield from self._views(self._view)

    def predictions(self, weights: Array) -> Array:
        """Return every row times the weights, by the arithmetic that new rows meet (`products`), to the last bit."""
        return _predictions(self._views(ClippedView), weights, self.n_samples)

    def _views(self, kind: type[ClippedView]) -> Iterator[tuple[Any, slice]]:
        """Yield views of one kind.

        A view is a part of a block that stays in the cache until its second product, and its rows pass fewer additions
        than a block's (A4). Where many numbers had to be converted, the next view overwrites it.
        """
        kept = self.n_samples * self._n_features <= KEPT_DOUBLES
        if self._converts and self._doubles is None:
            self._doubles = np.empty((self.n_samples if kept else self._height, self._n_features))
            if kept:
                np.copyto(self._doubles, self._matrix[:], casting="unsafe")
        for start in range(0, self.n_samples, self._height):
            where = slice(start, min(start + self._height, self.n_samples))
            table = self._matrix[where]
            if self._doubles is not None and kept:
                table = self._doubles[where]
            elif self._doubles is not None:
                np.copyto(self._doubles[: len(table)], table, casting="unsafe")
                table = self._doubles[: len(table)]
            yield kind(table, self._factors[where], self._intercept, self._repaired_in(where)), where

    def _repaired_in(self, where: slice) -> Repaired | None:
        """Return the repaired rows among those of a view."""
        first = where.start - where.start % BLOCK_ROWS
        if first not in self._repaired:
            return None
        places, rows = self._repaired[first]
        begin, end = np.searchsorted(places, (where.start - first, where.stop - first))
        return Repaired(places[begin:end] - (where.start - first), rows[begin:end])

    def picked(self, chosen: NDArray[np.intp]) -> Iterator[tuple[Any, NDArray[np.intp]]]:
        """Yield chosen rows; only they are read."""
        for start in range(0, len(chosen), BLOCK_ROWS):
            places = chosen[start : start + BLOCK_ROWS]
            block = np.empty((len(places), self.dimension))
            features = block[:, : self._n_features]
            np.multiply(self._matrix[places], self._factors[places, None], out=features)
            for first, (positions, repaired) in self._repaired.items():
                spots = np.searchsorted(places, first + positions)
                found = places[np.minimum(spots, len(places) - 1)] == first + positions
                features[spots[found]] = repaired[found]
            if self._intercept > 0:
                block[:, -1] = self._intercept
            yield block, places

    def arrays(self) -> DenseArrays:
        """Return the table as it is, if its rows lie one after the other in single or double precision.

        Any other table is copied once: columns that lie apart would cost a line of memory an entry. So is one with
        repaired rows. Small integers are held by single precision. The type follows from the table's alone: the loops
        are compiled for each, and may round otherwise.
        """
        matrix, kind = self._matrix, np.dtype(np.float64)
        if isinstance(matrix, np.ndarray):
            # No type of the loops is longer than a double.
            kind = min(np.promote_types(matrix.dtype, np.float32), kind)
            if matrix.flags.c_contiguous and matrix.dtype == kind and not self._repaired:
                return DenseArrays(matrix, self._factors, self._intercept)
        copy = np.empty((self.n_samples, self._n_features), dtype=kind)
        factors = self._factors.copy()
        for start in range(0, self.n_samples, BLOCK_ROWS):
            copy[start : start + BLOCK_ROWS] = self._matrix[start : start + BLOCK_ROWS]
            if start in self._repaired:
                places, repaired = self._repaired[start]
                # A row of about unit length fits into every type, and its factor clips what rounding adds.
                row_norm = self._domain.row_norm
                units = (repaired / row_norm).astype(kind)
                copy[start + places] = units
                lengths = sizes_one_by_one(units.astype(np.float64), self._domain)
                factors[start + places] = row_norm / np.maximum(lengths, 1.0)
        return DenseArrays(copy, factors, self._intercept)

    def gram(self, block: Any, curvatures: Array) -> Array:
        """Return the product of rows scaled by the root of their curvature with their own transpose: half the work."""
        block *= np.sqrt(curvatures)[:, None]
        product: Array = block.T @ block
        return product


def inspected(block: NDArray[Any], domain: Domain) -> tuple[Array, Repaired | None]:
    """Return the clipping factors of one block, and repaired copies of its rows that hold non-finite values."""
    if block.dtype != np.float64 or block.strides[1] != block.itemsize:
        # Numbers of a row that lie one after the other are added up in one way, whatever lies between rows.
        block = block.astype(np.float64, order="C")
    norms, repaired = np.einsum("ij,ij->i", block, block), None
    largest_square = norms.max()  # NaN, if one of them is
    if domain.row_sum is None and largest_square < (1 - 2.0**-50) * domain.row_norm**2:
        # Less than the square, however that is rounded: no root is above the row norm, and the rule below gives ones.
        return np.ones(len(norms)), None
    np.sqrt(norms, out=norms)
    if domain.row_sum is not None:
        norms = larger(norms, np.abs(block).sum(axis=1), domain)
    odd = np.flatnonzero(~np.isfinite(norms))
    if len(odd):
        rows = np.where(np.isfinite(block[odd]), block[odd], domain.fill)
        # Finite values can overflow when squared: the largest entry is divided out first.
        largest = np.abs(rows).max(axis=1, keepdims=True)
        rows /= np.where(largest > 0, largest, 1.0)
        unit_norms = sizes_one_by_one(rows, domain)[:, None]
        shorter = domain.row_norm / np.where(unit_norms > 0, unit_norms, 1.0)
        repaired = Repaired(odd, rows * np.minimum(largest, shorter))
        norms[odd] = np.inf
    np.maximum(norms, domain.row_norm, out=norms)
    return np.divide(domain.row_norm, norms, out=norms), repaired


class SparseRows(RowSource):
    """Sparse rows, never made dense: one clipped copy of the stored values, in blocks, constant column appended.

    Examples
    --------
    >>> rows = SparseRows(scipy.sparse.csr_array([[3.0, 4.0], [0.0, 0.5]]), Domain(1.0, classes=(0, 1)), intercept=0.5)
    >>> [block.toarray().tolist() for block, _ in rows.blocks()]
    [[[0.6000000000000001, 0.8, 0.5], [0.0, 0.5, 0.5]]]
    """

    def __init__(self, matrix: Any, domain: Domain, intercept: float) -> None:
        self.n_samples, n_features = matrix.shape
        self.dimension = n_features + (1 if intercept > 0 else 0)
        self._intercept = intercept
        table = merged(scipy.sparse.csr_array(matrix, dtype=np.float64))
        # Persons may have no rows: one block.
        self._blocks = [
            (_clipped(table[start : start + BLOCK_ROWS], domain, intercept), slice(start, start + BLOCK_ROWS))
            for start in range(0, max(1, self.n_samples), BLOCK_ROWS)
        ]

    def blocks(self) -> Iterator[tuple[Any, slice]]:
        """Yield each block as a CSR array."""
        yield from self._blocks

    def arrays(self) -> SparseArrays:
        """Return the blocks put together, which is a copy."""
        blocks = [block for block, _ in self._blocks]
        counts = np.concatenate([np.diff(block.indptr) for block in blocks])
        indptr = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        data = np.concatenate([block.data for block in blocks])
        return SparseArrays(data, np.concatenate([block.indices for block in blocks]), indptr, self._intercept)

    def gram(self, block: Any, curvatures: Array) -> Array:
        """Return the product, which is small where it is asked for, as are rows of so few columns made dense."""
        dense = block.toarray()
        dense *= curvatures[:, None]
        product: Array = block.T @ dense
        return product


def _clipped(block: Any, domain: Domain, intercept: float) -> Any:
    """Return sparse rows filled and clipped, with the constant column appended."""
    block = block.copy()
    block.data[~np.isfinite(block.data)] = domain.fill
    counts = np.diff(block.indptr)
    # Finite values can overflow when squared: the largest entry of each row is divided out first.
    largest = np.zeros(block.shape[0])
    np.maximum.at(largest, np.repeat(np.arange(len(counts)), counts), np.abs(block.data))
    scaled = block.data / np.repeat(np.where(largest > 0, largest, 1.0), counts)
    squares, sums = np.zeros((2, block.shape[0]))
    np.add.at(squares, np.repeat(np.arange(len(counts)), counts), scaled**2)
    np.add.at(sums, np.repeat(np.arange(len(counts)), counts), np.abs(scaled))
    found = larger(np.sqrt(squares), sums, domain)
    limit = domain.row_norm / np.where(found > 0, found, 1.0)
    block.data = np.where(np.repeat(largest > limit, counts), scaled * np.repeat(limit, counts), block.data)
    if intercept == 0:
        return block
    column = scipy.sparse.csr_array(np.full((block.shape[0], 1), intercept))
    return scipy.sparse.csr_array(scipy.sparse.hstack([block, column], format="csr"))
