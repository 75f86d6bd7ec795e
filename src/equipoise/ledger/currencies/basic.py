"""Sums of epsilons and of deltas: basic composition, for any release (N5, part a)."""

import math
from decimal import Decimal
from typing import ClassVar

from equipoise.certify.claims import Claim
from equipoise.ledger.currencies.base import Amount, Currency, Worth
from equipoise.vocabulary.facts import Budget


class Basic(Currency):
    """Amounts are epsilons, as the decimals that people wrote: ten spends of 0.1 are 1.

    Examples
    --------
    >>> Basic().limit(Budget(3.0, 1e-6))
    Amount(amount=Decimal('3.0'), delta=Decimal('0.000001'))
    """

    id: ClassVar[str] = "basic"

    def limit(self, budget: Budget) -> Amount:
        """Return the budget itself."""
        return Amount(Decimal(repr(budget.epsilon)), Decimal(repr(budget.delta)))

    def price(self, claim: Claim) -> Amount:
        """Return the claim's budget."""
        return self.limit(claim.budget)

    def price_of_budget(self, budget: Budget) -> Amount:
        """Return the budget itself."""
        return self.limit(budget)

    def worth(self, spent: Amount, budget: Budget) -> Worth:
        """Return what was spent, to the next double above."""
        return Worth(_above(spent.amount), _above(spent.delta))


def _above(value: Decimal) -> float:
    nearest = float(value)
    return (
        nearest if Decimal.from_float(nearest) >= value or nearest == 0 == value else math.nextafter(nearest, math.inf)
    )
