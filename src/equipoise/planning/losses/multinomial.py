"""What planning knows of the multinomial loss."""

import math
from collections.abc import Sequence
from typing import ClassVar

from equipoise.planning.losses.base import KnownLoss
from equipoise.vocabulary.losses import Loss
from equipoise.vocabulary.losses.multinomial import Multinomial


class KnownMultinomial(KnownLoss):
    """The loss of K classes, with one prediction a class."""

    of: ClassVar[type[Loss]] = Multinomial

    def unit(self, label_bound: float) -> float:
        """Return a third of the prediction norm at which a row is 20 times likelier in its class than in all others."""
        ahead = 3 + math.log(self.loss.outputs - 1)
        return ahead * math.sqrt((self.loss.outputs - 1) / self.loss.outputs) / 3

    def typical_slope(self, label_bound: float) -> float:
        """Return ``sqrt(1 - 1/K)``, the length of every slope at prediction 0."""
        return math.sqrt(1 - 1 / self.loss.outputs)

    def curvature_trace(self, prediction: Sequence[float]) -> float:
        """Return ``sum p (1 - p)``.

        Examples
        --------
        >>> round(KnownMultinomial(Multinomial(3)).curvature_trace((0.0, 0.0, 0.0)), 6)
        0.666667
        """
        highest = max(prediction)
        sizes = [math.exp(score - highest) for score in prediction]
        total = math.fsum(sizes)
        return math.fsum(size / total * (1 - size / total) for size in sizes)

    def curvature_on_the_way(self, prediction: float) -> float:
        """Return the mean curvature from prediction 0 to one of this length towards the row's class.

        That is the slope at 0, labels being as likely as the prediction says, over its length: a prediction with which
        a class is ahead of each other by a has ``(p - 1/K) / (1 - 1/K) / a``, p being the chance of the class.

        Examples
        --------
        >>> known = KnownMultinomial(Multinomial(3))
        >>> round(known.curvature_on_the_way(1e-6), 6), round(known.curvature_on_the_way(3 * known.unit(1.0)), 6)
        (0.333333, 0.251509)
        """
        classes = int(self.loss.outputs)
        even = 1 / classes
        ahead = prediction / math.sqrt(1 - even)
        chance = 1 / (1 + (classes - 1) * math.exp(-ahead))
        return (chance - even) / (1 - even) / ahead

    def noise_cost(self, deviation: float, rotation_invariant: bool) -> float:
        """Return ``(1 - 1/K) s^2 / 2`` for noise that no rotation changes: the curvature's trace is ``1 - sum p^2``.

        For any other law the trace is no bound: each of K - 1 coordinates pays the largest curvature, 1/2.
        """
        share = 1 - 1 / self.loss.outputs if rotation_invariant else (self.loss.outputs - 1) / 2
        return float(share * deviation**2 / 2)
