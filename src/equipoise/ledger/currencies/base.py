"""What a ledger counts in: a pair that adds up over releases, and a limit on its sum that is a filter (N5)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar

from equipoise.certify.claims import Claim
from equipoise.vocabulary.facts import Budget


@dataclass(frozen=True, slots=True)
class Amount:
    """A cost, a sum of costs or a limit in a currency, as exact decimals; both parts add up.

    Examples
    --------
    >>> Amount(Decimal("0.1"), Decimal("1e-6"))
    Amount(amount=Decimal('0.1'), delta=Decimal('0.000001'))
    """

    amount: Decimal
    delta: Decimal


class Currency(ABC):
    """What every claim costs in it, and how much may be spent in all."""

    id: ClassVar[str]
    proof: ClassVar[str]

    @property
    def name(self) -> str:
        """How a ledger writes it: the id, with the order where it has one."""
        return self.id

    @abstractmethod
    def limit(self, budget: Budget) -> Amount:
        """Return what may be spent in all, so that all releases together keep within the budget; rounded down."""

    @abstractmethod
    def price(self, claim: Claim) -> Amount:
        """Return what a release costs, rounded up; refuse one that has no safe price."""

    @abstractmethod
    def price_of_budget(self, budget: Budget) -> Amount:
        """Return what a release costs of which nothing is known but that it keeps within this budget."""

    @abstractmethod
    def worth(self, spent: Amount, budget: Budget) -> Budget:
        """Return what a spent amount is as (epsilon, delta), at the delta of the ledger's budget."""
