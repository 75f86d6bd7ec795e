"""The door of a selection over the simplex: plan -> admit -> count -> test -> toss coins -> seal."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equipoise.errors import InvalidParameter, PlanMismatch, PrivateFailure
from equipoise.learn.tables import Unread
from equipoise.proof.mechanisms.propose_test_release import NoisyStatistic
from equipoise.proof.noise import NoiseSource
from equipoise.proof.simplex import SimplexCertificate
from equipoise.vocabulary.constants import BLOCK_ROWS

# Coins come in words of so many, and so many words at a time.
WORD_BITS, WORDS = 32, 2**16

# An entry above this counts as a one, any other as a zero, also where it is missing: a public rule, row by row.
HALF = 0.5


@dataclass(frozen=True, slots=True)
class Selected:
    """What leaves: the place of a column, the first one after a refusal, and the certificate that says which."""

    column: int
    certificate: SimplexCertificate


def select(certificate: SimplexCertificate, table: Unread, source: NoiseSource, ledger: str | None = None) -> Selected:
    """Carry out a planned selection on rows: record the spend, then read, count, test and choose.

    Parameters
    ----------
    certificate : SimplexCertificate
        The plan.
    table : Unread
        The rows as given; no value has been fetched yet.
    source : NoiseSource
        Where noise and coins come from; a seeded one must have been planned as such.
    ledger : str, optional
        The URL or name of the ledger that must admit the spend first.
    """
    request = certificate.request
    if table.shape != (request.n_samples, request.n_features):
        raise PlanMismatch(
            f"the {request.n_samples} rows and {request.n_features} columns that were planned",
            f"{table.shape[0]} rows and {table.shape[1]} columns",
            "plan again for this table, or pass the planned one: n is public and part of the claim",
        )
    if source.seeded is not request.seeded:
        raise InvalidParameter(
            "the noise source that was planned", "another one", "plan and fit with the same random_state"
        )
    if ledger is not None:
        # The database toolkit is loaded only where a ledger is bound.
        from equipoise.proof.ledger import Ledger

        Ledger(ledger).admit(certificate)
    # Rows are read from here on.
    try:
        with np.errstate(all="ignore"):
            column = _chosen(certificate, ones_of(table.read()), source)
    except Exception:  # the cause may depend on rows, so it goes no further
        column = -1
    if column == -1:
        raise PrivateFailure
    passed = column is not None
    return Selected(column or 0, certificate.with_outcome(passed))


def _chosen(certificate: SimplexCertificate, ones: NDArray[np.int64], source: NoiseSource) -> int | None:
    """Return the column that coins leave the fewest ones, None where the test refuses (G5)."""
    argument = certificate.argument
    # The fewest ones of any column when any row is left out: one replaced row moves it by at most 1.
    fewest = float((ones - (ones > 0)).min())
    test = NoisyStatistic(1.0, argument.test)
    if not test.passes(test.drawn(fewest, source), argument.ones):
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
