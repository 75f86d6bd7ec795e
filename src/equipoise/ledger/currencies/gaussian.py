"""mu squared: releases whose curves lie below Gaussian ones (N5, part b)."""

import math
from typing import ClassVar

from equipoise.certify.curves import ERROR, GaussianCurve
from equipoise.ledger.currencies.base import Filter, bisected
from equipoise.ledger.rates import Rate


class Gaussian(Filter):
    """Sums of ``mu^2``, and the exact Gaussian curve of the sum: nothing is lost where noise is Gaussian.

    Examples
    --------
    >>> from equipoise.vocabulary.facts import Budget
    >>> limit = Gaussian().limit(Budget(3.0, 1e-6))
    >>> round(float(limit.amount), 4), limit.delta
    (0.3967, Decimal('5.00000001E-7'))
    """

    id: ClassVar[str] = "gaussian"

    def rate(self) -> Rate:
        """Return ``mu^2``."""
        return Rate()

    def most(self, epsilon: float, delta: float) -> float:
        """Return the largest ``mu^2`` whose curve is at most delta at epsilon."""
        mu = bisected(lambda mu: _curve(mu).delta(epsilon) <= delta, 0.0, 4 * math.sqrt(epsilon) + 10)
        return mu * mu * (1 - 1e-15)

    def least(self, amount: float, delta: float) -> float:
        """Return the epsilon at which that curve is at most delta."""
        mu = math.sqrt(amount)
        return -bisected(lambda place: _curve(mu).delta(-place) <= delta, -(mu * mu / 2 + 40 * mu), 0.0)


def _curve(mu: float) -> GaussianCurve:
    """Return the curve with twice the margin of a check, so that what is limited here holds on every machine."""
    return GaussianCurve(mu, 0, 2 * ERROR)
