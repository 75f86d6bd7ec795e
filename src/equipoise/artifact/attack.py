"""A membership attack on what a certificate plans, run on simulated rows: what a page may show beside the bound.

Nothing here sees a row of anybody: the rows are drawn from the certificate's public domain, by a fixed seed. There is
no way to hand in a finding of one's own, so that no measurement on private rows can enter a folder. What measures is
the laboratory's, and whoever may load that hands it in.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from equipoise.artifact.page_file import ATTACK_DIGITS, SIMULATED, Attack
from equipoise.artifact.simulated import Simulated
from equipoise.certify.certificate import Certificate
from equipoise.certify.gains import RATES
from equipoise.vocabulary.facts import Domain, Problem

Array = NDArray[np.float64]

# So many models the attacker trains, so many are attacked, and what each interval holds with.
SHADOWS, TARGETS, CONFIDENCE = 64, 16, 0.95

LEAVE_OUT = "leave the attack out: the certified bound on the page needs none"


class Membership(Protocol):
    """The attack of `equipoise.lab.membership`, which the laboratory has and this room does not load."""

    def __call__(self, train: Callable[..., Any], X: Any, y: Any, *, shadows: int, targets: int) -> Any:  # noqa: N803
        """Return a finding: the curve of its likelihood-ratio attack has intervals at `RATES`."""


class AttackedPlan:
    """A training that was planned, to be attacked on simulated rows.

    Parameters
    ----------
    certificate : Certificate
        A plan or a release; what cannot be simulated is refused.

    Examples
    --------
    >>> import equipoise as eq
    >>> domain = eq.Domain(row_norm=1.0, classes=(0, 1))
    >>> plan = eq.LogisticRegression(epsilon=1.0, domain=domain, alpha=0.1, mechanism="output").plan(50, 2)
    >>> found = AttackedPlan(plan).reached(eq.lab.membership)
    >>> [rate for rate, *_ in found.points], found.rows, all(low <= true <= high for _, true, low, high in found.points)
    ([0.001, 0.01, 0.1], 'simulated', True)
    """

    def __init__(self, certificate: Certificate) -> None:
        # Rows are those of two releases: each model is trained on half of them.
        self._simulated = Simulated(certificate, LEAVE_OUT, times=2)

    def table(self) -> tuple[Array, NDArray[Any]]:
        """Return rows of the largest length that is allowed, in random directions, and targets drawn evenly."""
        stream, domain = np.random.default_rng(0), self._simulated.problem.domain
        rows, columns = 2 * self._simulated.claim.n_samples, self._simulated.claim.n_features
        directions = stream.normal(size=(rows, columns))
        lengths = np.linalg.norm(directions, axis=1, keepdims=True)
        return domain.row_norm * directions / lengths, _targets(stream, domain, rows)

    def train(self, table: Array, target: NDArray[Any], seed: int) -> "SimulatedModel":
        """Carry out the plan on half of the simulated rows."""
        return SimulatedModel(self._simulated.problem, self._simulated.weights(table, target, seed))

    def reached(self, membership: Membership) -> Attack:
        """Return what the likelihood-ratio attack reaches on the simulated rows.

        The attacker trains models of his own in the same way, knows every row, and sees the released weights
        (docs/attacks.md). The attack is chosen beforehand, since the best of several would flatter it.
        """
        found = membership(self.train, *self.table(), shadows=SHADOWS, targets=TARGETS)
        return Attack(SIMULATED, SHADOWS, TARGETS, CONFIDENCE, _points(found.likelihood_ratio.tpr_at_rates))


def is_of_this_version(attack: Attack) -> bool:
    """Return whether an attack has the extent of those that this version runs: models, confidence, and rates.

    Examples
    --------
    >>> points = tuple((rate, rate, 0.0, 1.0) for rate in (0.001, 0.01, 0.1))
    >>> [is_of_this_version(Attack("simulated", models, 16, 0.95, points)) for models in (64, 2)]
    [True, False]
    """
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


def _points(estimates: Sequence[Any]) -> tuple[tuple[float, float, float, float], ...]:
    """Return rates as page.json has them: few digits, intervals rounded outwards."""

    def rounded(one: float, towards: Callable[[float], int]) -> float:
        units = 10.0**ATTACK_DIGITS
        return min(max(towards(one * units) / units, 0.0), 1.0)

    return tuple(
        (rate, rounded(one.value, round), rounded(one.low, math.floor), rounded(one.high, math.ceil))
        for rate, one in zip(RATES, estimates, strict=True)
    )


def _targets(stream: np.random.Generator, domain: Domain, rows: int) -> NDArray[Any]:
    if isinstance(domain.classes, tuple):
        return np.array(domain.classes)[stream.integers(len(domain.classes), size=rows)]
    low, high = domain.labels or (0.0, 0.0)
    return stream.uniform(low, high, size=rows)
