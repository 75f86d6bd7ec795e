"""New rows times weights, for predictions: mapped as rows are for training, and a dense table is gone through once."""

from typing import Any

import numpy as np
from scipy import sparse

from equipoise.data.rows import Array, SparseRows, inspected
from equipoise.data.views import ClippedView
from equipoise.vocabulary.constants import BLOCK_ROWS
from equipoise.vocabulary.facts import Domain


def products(matrix: Any, domain: Domain, weights: Array) -> Array:
    """Return every row, filled and clipped as for training, times the weights.

    Examples
    --------
    >>> products(np.array([[3.0, 4.0], [np.nan, 0.5]]), Domain(1.0, classes=(0, 1)), np.array([[1.0], [2.0]])).tolist()
    [[2.2], [1.0]]
    """
    if sparse.issparse(matrix):
        return SparseRows(matrix, domain, 0.0).predictions(weights)
    result = np.empty((matrix.shape[0], weights.shape[1]))
    for start in range(0, len(result), BLOCK_ROWS):
        block = matrix[start : start + BLOCK_ROWS]
        factors, repaired = inspected(block, domain)
        result[start : start + BLOCK_ROWS] = ClippedView(block, factors, 0.0, repaired) @ weights
    return result
