"""Public random directions: rows are reduced to a few numbers each, by a map that no row had a say in (P1)."""

import math

import numpy as np
from numpy.typing import NDArray

from equipoise.data.rows import Rows, RowSource, row_source
from equipoise.data.sizes import sizes
from equipoise.vocabulary.facts import Domain

Array = NDArray[np.float64]


def directions(n_features: int, count: int, public_seed: int) -> Array:
    """Return orthogonal columns of equal length, uniformly oriented, that keep the mean squared length of a row.

    Examples
    --------
    >>> found = directions(8, 2, public_seed=0)
    >>> found.shape, bool(np.allclose(found.T @ found, 4 * np.eye(2)))
    ((8, 2), True)
    """
    # The legacy generator's stream is frozen: whoever predicts with another NumPy finds the same directions.
    legacy = np.random.RandomState(np.random.MT19937(np.random.SeedSequence(public_seed)))
    columns, _ = np.linalg.qr(legacy.normal(size=(n_features, count)))
    return columns * math.sqrt(n_features / count)


def shortening(products: Array, domain: Domain) -> Array:
    """Return the factor by which each row's products with the columns are clipped.

    Examples
    --------
    >>> shortening(np.array([[3.0, 4.0], [0.3, 0.4]]), Domain(row_norm=1.0))
    array([0.2, 1. ])
    """
    found = sizes(products, domain)
    return np.minimum(1.0, domain.row_norm / np.where(found > 0, found, 1.0))


def projected_rows(matrix: object, domain: Domain, intercept: float, columns: Array) -> RowSource:
    """Return rows that were filled and clipped, reduced to their products with the columns, and clipped again."""
    reduced = row_source(matrix, domain, intercept=0.0).predictions(columns)
    return Rows(reduced, domain, intercept)
