"""What a domain bounds of a row: its length, and the sum of its absolute values where that is bounded too (E2d)."""

import numpy as np
from numpy.typing import NDArray

from equipoise.vocabulary.facts import Domain

Array = NDArray[np.float64]


def sizes(rows: Array, domain: Domain) -> Array:
    """Return what a domain keeps at most as large as its row norm: the lengths of rows.

    Where the sum of absolute values is bounded too, it is the larger of the length and that sum, in proportion (E2d).

    Examples
    --------
    >>> sizes(np.array([[3.0, 4.0]]), Domain(row_norm=1.0, row_sum=1.0)).tolist()
    [7.0]
    """
    return larger(np.linalg.norm(rows, axis=1), np.abs(rows).sum(axis=1), domain)


def larger(lengths: Array, sums: Array, domain: Domain) -> Array:
    """Return the larger of lengths and of sums of absolute values, in proportion; lengths where no sum is bounded."""
    return lengths if domain.row_sum is None else np.maximum(lengths, sums * (domain.row_norm / domain.row_sum))


def sizes_one_by_one(rows: Array, domain: Domain) -> Array:
    """Return the sizes of a few rows; numbers are added one after the other, whatever the rows' number."""
    squares, sums = (np.add.accumulate(terms, axis=1)[:, -1] for terms in (rows * rows, np.abs(rows)))
    return larger(np.sqrt(squares), sums, domain)
