"""G4: a private statistic met with Laplace noise, before anything is scaled by it.

A local bound says: if a statistic g of the dataset is at least v, then what is released with noise for v is
(epsilon, delta)-close on this dataset and on all of its neighbours. Two ways follow (docs/proofs/G4.md):

- *a lower bound*: ``v = g + noise - margin`` is released, and exceeds g with a chance of at most delta1. It never
  fails; the deltas add up.
- *a test*: v is proposed before any row is read, and used if ``g + noise > v + margin``. Otherwise nothing is released
  but the refusal; of the deltas the larger one counts.
"""

import math

from ..vocabulary.facts import Budget, Record
from ..vocabulary.numbers import require_number
from .curves import Curve, LargestCurve, SumCurve


class NoisyStatistic(Record):
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
    """

    sensitivity: float
    budget: Budget
    error: float = 0.0

    def __post_init__(self) -> None:
        """Refuse a statistic without noise or without a margin."""
        remedy = "pass a sensitivity and a delta above 0: no margin holds unbounded noise for certain"
        require_number("sensitivity", self.sensitivity, above=0.0, remedy=remedy)
        require_number("error", self.error, above=0.0, inclusive=True, remedy=remedy)
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

    def after_lower_bound(self, following: Curve) -> Curve:
        """Return the curve of a release for a noisy lower bound: ``delta1 + following(epsilon - epsilon1)``."""
        return SumCurve(((1.0, following, self.budget.epsilon),), self.budget.delta)

    def after_test(self, following: Curve) -> Curve:
        """Return the curve of a release that a test let through: ``max(delta1, following(epsilon - epsilon1))``."""
        return LargestCurve((SumCurve(((1.0, following, self.budget.epsilon),)),), self.budget.delta)
