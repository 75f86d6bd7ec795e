"""A training that was planned, carried out on simulated rows in place of the private ones: no spend, and no release.

Nothing here sees a row of anybody, and the noise comes from a seed, for speed.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.certify.certificate import Certificate
from equipoise.certify.claims import Trained
from equipoise.certify.claims.evaluation import HeldOut
from equipoise.certify.record import to_plain
from equipoise.data.tables import feature_table, target_column
from equipoise.errors import InvalidParameter
from equipoise.noise import SeededSource
from equipoise.planning.issue import issue
from equipoise.planning.notes import Notes
from equipoise.planning.request import Request
from equipoise.release import release
from equipoise.vocabulary.facts import Problem

Array = NDArray[np.float64]

# More numbers than these are not simulated at a time.
MOST_NUMBERS = 20_000_000


class Simulated:
    """The training of a plan or a release, to be repeated: the same rule, noise, number of rows and budget.

    Parameters
    ----------
    certificate : Certificate
        A plan or a release. What is trained has its claim.
    otherwise : str
        What to do where it cannot be simulated, in words.
    times : int
        How many times as many rows as the release has are simulated.

    Examples
    --------
    >>> import equipoise as eq
    >>> domain = eq.Domain(row_norm=1.0, classes=(0, 1))
    >>> plan = eq.LogisticRegression(epsilon=1.0, domain=domain, alpha=0.1, mechanism="output").plan(50, 2)
    >>> simulated = Simulated(plan, "leave it")
    >>> simulated.weights(np.eye(50, 2), np.arange(50) % 2, seed=0).shape
    (1, 3)
    """

    def __init__(self, certificate: Certificate, otherwise: str, times: int = 1) -> None:
        whole, asked = certificate.claim, Notes.of(certificate).asked
        claim = whole.of[-1] if isinstance(whole, HeldOut) else whole
        if asked is None or not isinstance(claim, Trained):
            raise _refused(f"a release of kind {whole.kind!r}, of more parts than a training", otherwise)
        if claim.unit != "row":
            raise _refused("a release about persons, who have several rows", otherwise)
        if claim.problem.domain.classes == "observed" or asked.observed_classes:
            raise _refused("classes that were found in the rows", otherwise)
        rows, columns = times * claim.n_samples, claim.n_features
        if rows * columns > MOST_NUMBERS:
            found = f"{rows:,} rows of {columns:,} columns to simulate, and {MOST_NUMBERS:,} numbers at most"
            raise _refused(found, otherwise)
        self._plan = issue(replace(asked, seeded=True, ledger=None))
        if to_plain(self._plan.claim, released=False) != to_plain(claim, released=False):
            raise _refused("another claim than its notes call for", otherwise)
        self.asked: Request = asked
        self.claim: Trained = claim

    @property
    def problem(self) -> Problem:
        """What is minimised, over which domain."""
        return self.claim.problem

    def weights(self, table: Array, target: NDArray[Any], seed: int) -> Array:
        """Carry out the plan on as many rows as it is about: weights, a row an output, the constant column last."""
        given = feature_table(table), target_column(target, len(target))
        return release(self._plan, *given, SeededSource(seed)).weights


def _refused(found: str, otherwise: str) -> InvalidParameter:
    return InvalidParameter("a release whose training can be simulated", found, otherwise)
