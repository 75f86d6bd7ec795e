"""The sums of the epsilons and of the deltas: valid for every release, and loose for many."""

from decimal import Decimal
from typing import ClassVar

from equipoise.certify.claims import Claim
from equipoise.ledger.currencies.base import Amount, Currency, Worth
from equipoise.vocabulary.facts import Budget


class Basic(Currency):
    """Basic composition (N5a), in the decimals that people wrote.

    Examples
    --------
    >>> Basic().price_of_budget(Budget(0.1)).amount
    Decimal('0.1')
    """

    id: ClassVar[str] = "basic"
    proof: ClassVar[str] = "N5"

    def limit(self, budget: Budget) -> Amount:
        """Return the budget itself."""
        return self.price_of_budget(budget)

    def price(self, claim: Claim) -> Amount:
        """Return the budget of the claim."""
        return self.price_of_budget(claim.budget)

    def price_of_budget(self, budget: Budget) -> Amount:
        """Return the budget as decimals."""
        return Amount(Decimal(repr(budget.epsilon)), Decimal(repr(budget.delta)))

    def worth(self, spent: Amount, budget: Budget) -> Worth:
        """Return the sums."""
        return Worth(float(spent.amount), float(spent.delta))
