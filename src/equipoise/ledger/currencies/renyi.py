"""The Renyi divergence of one order, which is fixed when the ledger is created (N5, part d)."""

from __future__ import annotations

from bisect import bisect_left
from typing import ClassVar

from equipoise.errors import InvalidParameter
from equipoise.ledger.currencies.base import SHARE, Filter, spent_on_order
from equipoise.ledger.rates import Rate, RenyiRate
from equipoise.vocabulary.facts import Budget

# Smaller ones leave almost nothing of epsilon, and larger ones are sums of epsilons.
SMALLEST_ORDER, LARGEST_ORDER = 1.25, 1_000_000
# What the order may cost of epsilon in a ledger for which none was asked.
ORDERS_SHARE = 1 / 3


class Renyi(Filter):
    """Sums of divergences of one order. It costs a part of epsilon once, and no release more than its own epsilon.

    Examples
    --------
    >>> round(float(Renyi(8).limit(Budget(3.0, 1e-6)).amount), 4)
    1.3579
    """

    id: ClassVar[str] = "renyi"

    order: float

    def __post_init__(self) -> None:
        """Refuse an order that no ledger can be kept in."""
        if not SMALLEST_ORDER <= self.order <= LARGEST_ORDER:
            asked = f"an order between {SMALLEST_ORDER:g} and {LARGEST_ORDER:g}"
            raise InvalidParameter(
                asked, f"renyi:{self.order!r}", "write renyi:8, for example, or leave the currency out"
            )

    @property
    def name(self) -> str:
        """The id with the order."""
        return f"{self.id}:{int(self.order) if self.order == int(self.order) else repr(float(self.order))}"

    def rate(self) -> Rate:
        """Return the divergence of the order."""
        return RenyiRate(self.order)

    def most(self, epsilon: float, delta: float) -> float:
        """Return what the order leaves of epsilon."""
        return (epsilon - spent_on_order(self.order, delta)) * (1 - 1e-12)

    def least(self, amount: float, delta: float) -> float:
        """Return the amount with what the order costs."""
        return max(amount + spent_on_order(self.order, delta), 0.0)

    @classmethod
    def for_budget(cls, budget: Budget) -> Renyi:
        """Return the smallest whole order that costs at most a third of epsilon (docs/currencies.md)."""
        half = budget.delta * SHARE
        orders = range(2, LARGEST_ORDER + 1)

        def bearable(order: int) -> bool:
            return half > 0 and spent_on_order(order, half) <= budget.epsilon * ORDERS_SHARE

        place = bisect_left(orders, True, key=bearable)
        if place == len(orders):
            raise InvalidParameter("an order that leaves something to spend", repr(budget), "raise epsilon or delta")
        return cls(float(orders[place]))
