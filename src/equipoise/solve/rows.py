"""What solvers and descents ask of rows; `data` answers, and `release` introduces the two to each other."""

from collections.abc import Iterator
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class RowBlocks(Protocol):
    """Rows in their domain, in blocks of a public size."""

    n_samples: int
    dimension: int

    def blocks(self) -> Iterator[tuple[Any, slice]]:
        """Yield each block, dense or sparse, with its slice of the table; its user may overwrite a dense one."""

    def views(self) -> Iterator[tuple[Any, slice]]:
        """Yield each block with its slice of the table, for products alone."""

    def picked(self, chosen: NDArray[np.intp], /) -> Iterator[tuple[Any, NDArray[np.intp]]]:
        """Yield chosen rows, given by their places in rising order, block by block."""

    def gram(self, block: Any, curvatures: Array, /) -> Array:
        """Return ``sum_i c_i x_i x_i'`` over the rows of a block, which it may overwrite."""

    def arrays(self) -> Any:
        """Return all rows at once, as `DenseArrays` or `SparseArrays`."""

    def predictions(self, weights: Array, /) -> Array:
        """Return every row times the weights, a vector or a matrix with one column an output."""


@runtime_checkable
class DenseArrays(Protocol):
    """Rows ``factor (row of the matrix)``, the constant `intercept` appended if it is above 0."""

    @property
    def matrix(self) -> NDArray[Any]:
        """The table."""

    @property
    def factors(self) -> Array:
        """What clips each row."""

    @property
    def intercept(self) -> float:
        """The constant column's entry."""

    def dealt(self, order: NDArray[np.int64], /) -> Self:
        """Return a copy of the rows in another order."""


@runtime_checkable
class SparseArrays(Protocol):
    """Clipped rows in CSR form, each with its constant entry, if any, in the last column."""

    @property
    def data(self) -> Array:
        """The stored values."""

    @property
    def indices(self) -> NDArray[Any]:
        """Their columns."""

    @property
    def indptr(self) -> NDArray[np.int64]:
        """Where each row begins."""

    @property
    def intercept(self) -> float:
        """The constant column's entry."""

    def dealt(self, order: NDArray[np.int64], /) -> Self:
        """Return a copy of the rows in another order."""
