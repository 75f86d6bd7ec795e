"""A selection over the simplex: count, test, toss coins."""

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equipoise.certify.claims import Claim
from equipoise.certify.claims.simplex import Simplex
from equipoise.noise import NoiseSource
from equipoise.release.carriers.base import Carrier
from equipoise.release.job import Carried, Job
from equipoise.vocabulary.constants import BLOCK_ROWS

# Coins come in words of so many, and so many words at a time.
WORD_BITS, WORDS = 32, 2**16

# An entry above this counts as a one, any other as a zero, also where it is missing: a public rule, row by row.
HALF = 0.5


class SimplexCarrier(Carrier[Simplex]):
    """What leaves is the place of a column, the first one after a refusal, and whether the test passed."""

    claim: ClassVar[type[Claim]] = Simplex

    def carry_out(self, claim: Simplex, job: Job) -> Carried:
        """Count the ones, test whether there are enough, and let coins choose."""
        column = _chosen(claim, ones_of(job.table.read()), job.source)
        return Carried(replace(claim, released=column is not None), np.array([[float(column or 0)]]), job)


def _chosen(claim: Simplex, ones: NDArray[np.int64], source: NoiseSource) -> int | None:
    """Return the column that coins leave the fewest ones, None where the test refuses (G5)."""
    # The fewest ones of any column when any row is left out: one replaced row moves it by at most 1.
    fewest = float((ones - (ones > 0)).min())
    drawn = float(source.add("laplace", np.array([fewest]), claim.noisy().scale)[0])
    if not drawn > claim.threshold():
        return None
    return int(np.argmin([kept_of(int(count), source) for count in ones]))


def kept_of(ones: int, source: NoiseSource) -> int:
    """Return how many of so many fair coins fall heads: a binomial variable, exactly."""
    kept = 0
    while ones > 0:
        here = min(ones, WORDS * WORD_BITS)
        words = np.empty(-(-here // WORD_BITS), dtype=np.int64)
        source.integers(2**WORD_BITS, words)
        # Bits of the last word beyond the number of coins are not tossed.
        words[-1] >>= len(words) * WORD_BITS - here
        kept += int(np.bitwise_count(words).sum())
        ones -= here
    return kept


def ones_of(matrix: Any) -> NDArray[np.int64]:
    """Return how many ones every column has.

    Examples
    --------
    >>> ones_of(np.array([[1.0, 0.0], [0.9, np.nan], [0.2, 7.0]]))
    array([2, 1])
    """
    if sparse.issparse(matrix):
        table = sparse.csr_array(matrix, copy=True)
        table.sum_duplicates()
        columns = table.indices[table.data > HALF]
        return np.bincount(columns, minlength=matrix.shape[1]).astype(np.int64)
    counts = np.zeros(matrix.shape[1], dtype=np.int64)
    for start in range(0, matrix.shape[0], BLOCK_ROWS):
        counts += (np.asarray(matrix[start : start + BLOCK_ROWS]) > HALF).sum(axis=0)
    return counts
