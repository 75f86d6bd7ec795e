"""rho of zero-concentrated differential privacy: divergences of all orders at once (N5, part c)."""

from typing import ClassVar

from equipoise.ledger.currencies.base import Filter, spent_on_order
from equipoise.ledger.rates import ConcentratedRate, Rate


class Concentrated(Filter):
    """Sums of rho. Of all orders the best for the ledger's delta is taken, which is allowed: all of them hold.

    Examples
    --------
    >>> from equipoise.vocabulary.facts import Budget
    >>> round(float(Concentrated().limit(Budget(3.0, 1e-6)).amount), 4)
    0.1757
    """

    id: ClassVar[str] = "zcdp"

    def rate(self) -> Rate:
        """Return rho."""
        return ConcentratedRate()

    def most(self, epsilon: float, delta: float) -> float:
        """Return the largest rho of which some order keeps epsilon at delta."""
        return max((epsilon - spent_on_order(order, delta)) / order for order in ORDERS) * (1 - 1e-12)

    def least(self, amount: float, delta: float) -> float:
        """Return the smallest epsilon of any order."""
        return max(min(order * amount + spent_on_order(order, delta) for order in ORDERS), 0.0)


# Neighbouring orders differ by 1 %: the best of them is within a hundred-thousandth of the best of all.
ORDERS = tuple(1 + 0.01 * 1.01**step for step in range(2400))
