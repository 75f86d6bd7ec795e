"""Columns scaled by public bounds, each value by itself, so that none depends on another row (docs/proofs/P1.md)."""

from dataclasses import replace
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from equipoise.data.unread import Unread
from equipoise.errors import InvalidData, InvalidParameter
from equipoise.vocabulary.constants import BLOCK_ROWS
from equipoise.vocabulary.facts import Domain

Array = NDArray[np.float64]


def require_columns(domain: Domain, n_features: int) -> None:
    """Refuse bounds of more or fewer columns than there are.

    Examples
    --------
    >>> require_columns(Domain(bounds=[(0, 1), (0, 5)]), 3)
    Traceback (most recent call last):
    equipoise.errors.InvalidParameter: asked: bounds of all 3 columns; found: those of 2; to do: write a pair \
(low, high) for every column, in their order: bounds=[(0, 1)] * 3 where all are alike
    """
    pairs = domain.bounds
    if pairs is not None and isinstance(pairs[0], tuple) and len(pairs) != n_features:
        remedy = "write a pair (low, high) for every column, in their order"
        alike = f"bounds=[(0, 1)] * {n_features} where all are alike"
        raise InvalidParameter(f"bounds of all {n_features} columns", f"those of {len(pairs)}", f"{remedy}: {alike}")


def middles_and_halves(domain: Domain, n_features: int) -> tuple[Array, Array]:
    """Return the middle of every column's bounds, and half the way between them.

    Examples
    --------
    >>> [column.tolist() for column in middles_and_halves(Domain(bounds=[(20, 60), (0, 1)]), 2)]
    [[40.0, 0.5], [20.0, 0.5]]
    """
    low, high = np.broadcast_to(np.array(domain.bounds), (n_features, 2)).T
    half = high / 2 - low / 2
    return low + half, half


def bounded(table: Unread, domain: Domain, given: Any) -> Unread:
    """Return a table, unread, whose values a domain's bounds scale to [-1, 1]; itself where there are no bounds.

    ``(x - middle) / half``, clipped into [-1, 1]; what is not finite becomes the domain's fill. Single precision stays
    single precision, every other type becomes double precision. Sparse rows stay sparse where 0 is the middle of every
    column, and are refused, by their type alone, where it is not: their zeros would be other numbers.

    Examples
    --------
    >>> from equipoise.data.tables import feature_table
    >>> rows = np.array([[20.0, 1.0], [50.0, 7.0], [np.nan, 0.5]])
    >>> bounded(feature_table(rows), Domain(bounds=[(20, 60), (0, 1)]), rows).read().tolist()
    [[-1.0, 1.0], [0.5, 1.0], [0.0, 0.0]]
    """
    if domain.bounds is None:
        return table
    n_features = table.shape[1]
    require_columns(domain, n_features)
    middle, half = middles_and_halves(domain, n_features)
    if scipy.sparse.issparse(given):
        if middle.any():
            raise InvalidData(
                "sparse rows with bounds whose middle is 0",
                "bounds with another middle, around which zeros are other numbers",
                "pass X.toarray(), or bounds (-b, b) for every column",
            )
        return replace(table, read=lambda: _sparse(table.read(), half, domain.fill))
    return replace(table, read=lambda: _dense(table.read(), middle, half, domain.fill))


def _dense(matrix: Any, middle: Array, half: Array, fill: float) -> NDArray[Any]:
    kind = np.float32 if getattr(matrix, "dtype", None) == np.float32 else np.float64
    found = np.empty(matrix.shape, dtype=kind)
    with np.errstate(all="ignore"):
        for start in range(0, len(found), BLOCK_ROWS):
            block = matrix[start : start + BLOCK_ROWS].astype(np.float64)
            found[start : start + BLOCK_ROWS] = _scaled(block, middle, half, fill)
    return found


def _sparse(matrix: Any, half: Array, fill: float) -> Any:
    with np.errstate(all="ignore"):
        values = _scaled(matrix.data.astype(np.float64), 0.0, half[matrix.indices], fill)
    return scipy.sparse.csr_array((values, matrix.indices, matrix.indptr), shape=matrix.shape)


def _scaled(values: Array, middle: Array | float, half: Array, fill: float) -> Array:
    return np.clip(np.where(np.isfinite(values), (values - middle) / half, fill), -1.0, 1.0)
