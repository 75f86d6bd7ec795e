"""Sums of products of columns, for methods that release them instead of weights."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from equipoise.solve.places import Sums, folded
from equipoise.solve.rows import RowBlocks

Array = NDArray[np.float64]


def products(rows: RowBlocks, targets: Array) -> tuple[Array, Array]:
    """Return ``sum x x'`` and ``sum y x`` in one pass over the rows."""

    def block_sums() -> Iterator[Sums]:
        for block, where in rows.blocks():
            # A product may overwrite the block.
            moments = targets[where] @ block
            yield rows.gram(block, np.ones(block.shape[0])), moments

    squares, moments = folded(block_sums())
    return squares, moments


def symmetric(upper: Array, dimension: int) -> Array:
    """Return the symmetric matrix with this upper triangle, row by row.

    Examples
    --------
    >>> symmetric(np.array([1.0, 2.0, 3.0]), 2).tolist()
    [[1.0, 2.0], [2.0, 3.0]]
    """
    matrix = np.zeros((dimension, dimension))
    matrix[np.triu_indices(dimension)] = upper
    return matrix + np.triu(matrix, 1).T
