"""Sums of epsilons and of deltas, as the decimals that people wrote."""

from decimal import Decimal
from typing import ClassVar

from equipoise.certify.claims import Claim
from equipoise.ledger.currencies.base import Amount, Currency, Worth
from equipoise.vocabulary.facts import Budget


class Basic(Currency):
    """Basic composition.

    Examples
    --------
    >>> Basic().price_of_budget(Budget(0.1))
    Amount(amount=Decimal('0.1'), delta=Decimal('0.0'))
    """

    id: ClassVar[str] = "basic"
    proof: ClassVar[str] = "N5"

    def limit(self, budget: Budget) -> Amount:
        """Return the budget itself."""
        return self.price_of_budget(budget)

    def price(self, claim: Claim) -> Amount:
        """Return the claim's own budget."""
        return self.price_of_budget(claim.budget)

    def price_of_budget(self, budget: Budget) -> Amount:
        """Return epsilon and delta in the shortest digits that read back to the same double."""
        return Amount(Decimal(repr(budget.epsilon)), Decimal(repr(budget.delta)))

    def worth(self, spent: Amount, budget: Budget) -> Worth:
        """Return the sums as they are."""
        return Worth(float(spent.amount), float(spent.delta))
