"""What every currency answers."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar

from equipoise.certify.claims import Claim
from equipoise.vocabulary.facts import Budget


@dataclass(frozen=True, slots=True)
class Amount:
    """A pair that adds up, in some currency.

    Examples
    --------
    >>> Amount(Decimal("0.5"), Decimal("1e-7"))
    Amount(amount=Decimal('0.5'), delta=Decimal('1E-7'))
    """

    amount: Decimal
    delta: Decimal


class Currency(ABC):
    """A filter (N5): releases whose prices add up to at most the limit are together within the budget."""

    id: ClassVar[str]
    proof: ClassVar[str]

    @abstractmethod
    def limit(self, budget: Budget) -> Amount:
        """Return what may be spent in all so that the total is the budget, rounded down."""

    @abstractmethod
    def price(self, claim: Claim) -> Amount:
        """Return what one release costs, rounded up."""

    @abstractmethod
    def price_of_budget(self, budget: Budget) -> Amount:
        """Return what a release costs of which nothing but its budget is known."""

    @abstractmethod
    def worth(self, spent: Amount, budget: Budget) -> Budget:
        """Return what an amount is as (epsilon, delta), at the budget's delta."""
