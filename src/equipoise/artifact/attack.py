"""A membership attack on what a certificate plans, run on simulated rows: what a page may show beside the bound.

Nothing here sees a row of anybody: the rows are drawn from the certificate's public domain, by a fixed seed. There is
no way to hand in a finding of one's own, so that no measurement on private rows can enter a folder.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equipoise.artifact.page_file import ATTACK_DIGITS, SIMULATED, Attack
from equipoise.certify.certificate import Certificate
from equipoise.certify.claims import Trained
from equipoise.certify.claims.evaluation import HeldOut
from equipoise.certify.record import to_plain
from equipoise.data.tables import feature_table, target_column
from equipoise.errors import InvalidParameter
from equipoise.noise import SeededSource
from equipoise.planning.issue import issue
from equipoise.planning.notes import Notes
from equipoise.release import release
from equipoise.vocabulary.facts import Domain, Problem

if TYPE_CHECKING:
    from equipoise.lab.attack_finding import AttackCurve

Array = NDArray[np.float64]

# So many models the attacker trains, so many are attacked, and what each interval holds with.
SHADOWS, TARGETS, CONFIDENCE = 64, 16, 0.95

# Twice as many rows as the release has are simulated; more numbers than these are not.
MOST_NUMBERS = 20_000_000

LEAVE_OUT = "leave the attack out: the certified bound on the page needs none"


class Simulated:
    """A training that was planned, to be carried out on simulated rows in place of the private ones.

    Parameters
    ----------
    certificate : Certificate
        A plan or a release. What is trained has its claim: the same rule, noise, number of rows and budget. Only the
        noise comes from a seed, for speed.

    Examples
    --------
    >>> import equipoise as eq
    >>> domain = eq.Domain(row_norm=1.0, classes=(0, 1))
    >>> plan = eq.LogisticRegression(epsilon=1.0, domain=domain, alpha=0.1, mechanism="output").plan(50, 2)
    >>> found = Simulated(plan).attacked()
    >>> [rate for rate, *_ in found.points], found.rows, all(low <= true <= high for _, true, low, high in found.points)
    ([0.001, 0.01, 0.1], 'simulated', True)
    """

    def __init__(self, certificate: Certificate) -> None:
        whole, asked = certificate.claim, Notes.of(certificate).asked
        claim = whole.of[-1] if isinstance(whole, HeldOut) else whole
        if asked is None or not isinstance(claim, Trained):
            raise _refused(f"a release of kind {whole.kind!r}, of more parts than a training")
        if claim.unit != "row":
            raise _refused("a release about persons, who have several rows")
        if claim.problem.domain.classes == "observed" or asked.observed_classes:
            raise _refused("classes that were found in the rows")
        rows, columns = 2 * claim.n_samples, claim.n_features
        if rows * columns > MOST_NUMBERS:
            raise _refused(f"{rows:,} rows of {columns:,} columns to simulate, and {MOST_NUMBERS:,} numbers at most")
        self._plan = issue(replace(asked, seeded=True, ledger=None))
        if to_plain(self._plan.claim, released=False) != to_plain(claim, released=False):
            raise _refused("another claim than its notes call for")
        self.problem: Problem = claim.problem
        self.rows, self.columns = rows, columns

    def table(self) -> tuple[Array, NDArray[Any]]:
        """Return rows of the largest length that is allowed, in random directions, and targets drawn evenly.

        Rows are those of two releases: each model is trained on half of them.
        """
        stream, domain = np.random.default_rng(0), self.problem.domain
        directions = stream.normal(size=(self.rows, self.columns))
        lengths = np.linalg.norm(directions, axis=1, keepdims=True)
        return domain.row_norm * directions / lengths, _targets(stream, domain, self.rows)

    def train(self, table: Array, target: NDArray[Any], seed: int) -> "SimulatedModel":
        """Carry out the plan on half of the simulated rows."""
        given = feature_table(table), target_column(target, len(target))
        return SimulatedModel(self.problem, release(self._plan, *given, SeededSource(seed)).weights)

    def attacked(self) -> Attack:
        """Return what the likelihood-ratio attack reaches on the simulated rows.

        The attacker trains models of his own in the same way, knows every row, and sees the released weights (the
        attack of `equipoise.lab.membership`, docs/attacks.md). It is chosen beforehand, since the best of several would
        flatter it.
        """
        # The laboratory is loaded only where something is measured.
        from equipoise.lab.membership_attack import membership

        found = membership(self.train, *self.table(), shadows=SHADOWS, targets=TARGETS)
        return Attack(SIMULATED, SHADOWS, TARGETS, CONFIDENCE, _points(found.likelihood_ratio))


def is_of_this_version(attack: Attack) -> bool:
    """Return whether an attack has the extent of those that this version runs: models, confidence, and rates.

    Examples
    --------
    >>> points = tuple((rate, rate, 0.0, 1.0) for rate in (0.001, 0.01, 0.1))
    >>> [is_of_this_version(Attack("simulated", models, 16, 0.95, points)) for models in (64, 2)]
    [True, False]
    """
    from equipoise.lab.attack_finding import RATES

    extent = attack.shadows, attack.targets, attack.confidence, tuple(false for false, *_ in attack.points)
    return extent == (SHADOWS, TARGETS, CONFIDENCE, RATES)


class SimulatedModel:
    """What an attack asks of a linear model: scores of classes, or predicted numbers."""

    def __init__(self, problem: Problem, weights: Array) -> None:
        constants = problem.intercept * weights[:, -1] if problem.intercept > 0 else np.zeros(len(weights))
        width = weights.shape[1] - (problem.intercept > 0)
        self._weights, self._constants = weights[:, :width].T, constants + problem.domain.label_centre
        if isinstance(problem.domain.classes, tuple):
            self.classes_ = np.array(problem.domain.classes)

    def decision_function(self, table: Array) -> Array:
        """Return the scores, a column a class where there are more than two."""
        scores = table @ self._weights + self._constants
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, table: Array) -> Array:
        """Return the predicted numbers of a regression."""
        return self.decision_function(table)


def _points(curve: "AttackCurve") -> tuple[tuple[float, float, float, float], ...]:
    """Return rates as page.json has them: few digits, intervals rounded outwards."""
    from equipoise.lab.attack_finding import RATES

    def rounded(one: float, towards: Callable[[float], int]) -> float:
        units = 10.0**ATTACK_DIGITS
        return min(max(towards(one * units) / units, 0.0), 1.0)

    return tuple(
        (rate, rounded(one.value, round), rounded(one.low, math.floor), rounded(one.high, math.ceil))
        for rate, one in zip(RATES, curve.tpr_at_rates, strict=True)
    )


def _targets(stream: np.random.Generator, domain: Domain, rows: int) -> NDArray[Any]:
    if isinstance(domain.classes, tuple):
        return np.array(domain.classes)[stream.integers(len(domain.classes), size=rows)]
    low, high = domain.labels or (0.0, 0.0)
    return stream.uniform(low, high, size=rows)


def _refused(found: str) -> InvalidParameter:
    return InvalidParameter("a release whose training can be simulated, to attack it", found, LEAVE_OUT)
