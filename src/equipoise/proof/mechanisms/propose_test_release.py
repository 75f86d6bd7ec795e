"""G4: propose-test-release, for any statistic of bounded sensitivity and any local bound.

A local bound says: if a statistic g of the dataset is at least v, then what is released with noise for v is
(epsilon, delta)-close on this dataset and on all of its neighbours. The statistic is private, so it is met with
Laplace noise first. Two ways follow (docs/proofs/G4.md):

- *a lower bound*: ``v = g + noise - margin`` is released, and exceeds g with a chance of at most delta1. It never
  fails; the deltas add up.
- *a test*: v is proposed before any row is read, and used if ``g + noise > v + margin``. Otherwise nothing is released
  but the refusal; of the deltas the larger one counts.

This is no law of noise on weights, so that the family of mechanisms does not list it.
"""

import math
from dataclasses import dataclass

import numpy as np

from equipoise.proof.curves import Curve
from equipoise.proof.noise import NoiseSource
from equipoise.vocabulary.facts import Budget
from equipoise.vocabulary.numbers import require_number


@dataclass(frozen=True, slots=True)
class NoisyStatistic:
    """A statistic of known sensitivity, with Laplace noise, and how far the noise reaches but for a chance of delta.

    Parameters
    ----------
    sensitivity : float
        How far one replaced row can move the statistic as it is computed.
    budget : Budget
        What the statistic costs: epsilon for its noise; delta is the chance that the noise exceeds the margin.
    error : float
        How far the computed statistic can be from the true one; it is added to the margin.

    Examples
    --------
    >>> noisy = NoisyStatistic(1.0, Budget(0.5, 1e-6))
    >>> noisy.scale, round(noisy.margin, 3)
    (2.0000000000000027, 26.245)
    >>> round(noisy.low(30.0), 3), noisy.low(3.0), noisy.low(30.0, most=1.0)
    (3.755, 0.0, 1.0)
    >>> noisy.passes(30.0, proposed=3.0), noisy.passes(30.0, proposed=4.0)
    (True, False)
    """

    sensitivity: float
    budget: Budget
    error: float = 0.0

    def __post_init__(self) -> None:
        """Refuse a statistic without noise or without a margin."""
        require_number("sensitivity", self.sensitivity, above=0.0, remedy="pass how far one row moves the statistic")
        require_number("error", self.error, above=0.0, inclusive=True, remedy="pass 0.0 where nothing is rounded")
        remedy = "pass a delta > 0: the noise is unbounded, so that no margin holds it for certain"
        require_number("delta of the statistic", self.budget.delta, above=0.0, remedy=remedy)

    @property
    def scale(self) -> float:
        """The scale of the Laplace noise, rounded up."""
        return math.nextafter(self.sensitivity / self.budget.epsilon * (1 + 1e-15), math.inf)

    @property
    def margin(self) -> float:
        """``scale ln(1 / (2 delta))``, which the noise exceeds with a chance of delta, and the error; rounded up."""
        reach = self.scale * max(0.0, -math.log(2 * self.budget.delta) * (1 + 1e-14) + 1e-14)
        return (reach + self.error) * (1 + 1e-15)

    def drawn(self, statistic: float, source: NoiseSource) -> float:
        """Return the statistic with its noise: everything else here is computed from it."""
        return float(source.laplace(np.array([statistic]), self.scale)[0])

    def low(self, noisy: float, most: float = math.inf) -> float:
        """Return the lower bound that is released, between 0 and the most that the statistic can be."""
        return min(max(noisy - self.margin, 0.0), most)

    def passes(self, noisy: float, proposed: float) -> bool:
        """Return whether the proposed value may be used."""
        return noisy > proposed + self.margin


@dataclass(frozen=True, slots=True)
class AfterLowerBound(Curve):
    """The curve of a release for a noisy lower bound: ``delta1 + following(epsilon - epsilon1)`` (G4).

    Examples
    --------
    >>> from equipoise.proof.curves import PureCurve
    >>> AfterLowerBound(PureCurve(0.7), Budget(0.25, 1e-6)).delta(1.0)
    1e-06
    """

    following: Curve
    statistic: Budget

    def delta(self, epsilon: float) -> float:
        """Return the sum of both deltas; below epsilon1 nothing is claimed."""
        following = _left_of(self.following, epsilon, self.statistic.epsilon)
        return min(1.0, (self.statistic.delta + following) * (1 + 1e-15) if following else self.statistic.delta)


@dataclass(frozen=True, slots=True)
class AfterTest(Curve):
    """The curve of a release that a test let through: ``max(delta1, following(epsilon - epsilon1))`` (G4).

    Examples
    --------
    >>> from equipoise.proof.curves import GaussianCurve
    >>> curve = AfterTest(GaussianCurve(0.1), Budget(0.25, 1e-6))
    >>> curve.delta(1.0), curve.delta(0.2)
    (1e-06, 1.0)
    """

    following: Curve
    statistic: Budget

    def delta(self, epsilon: float) -> float:
        """Return the larger delta; below epsilon1 nothing is claimed."""
        return max(self.statistic.delta, _left_of(self.following, epsilon, self.statistic.epsilon))


def _left_of(following: Curve, epsilon: float, spent: float) -> float:
    return 1.0 if epsilon < spent else following.delta(math.nextafter(epsilon - spent, 0.0))
