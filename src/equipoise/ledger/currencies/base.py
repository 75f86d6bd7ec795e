"""What a ledger counts in: a pair that adds up over releases, and a limit on its sum that is a filter (N5)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from decimal import Decimal, localcontext
from typing import ClassVar

from equipoise.certify.claims import Claim
from equipoise.vocabulary.facts import Budget

# Doubles lie between 1e-341 and 1e309 when written out, so with this many digits no sum of them is ever rounded.
EXACT_DIGITS = 1000


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

    def __add__(self, other: Amount) -> Amount:
        """Return the sum, exactly."""
        with localcontext(prec=EXACT_DIGITS):
            return Amount(self.amount + other.amount, self.delta + other.delta)

    def __sub__(self, other: Amount) -> Amount:
        """Return the difference, exactly."""
        with localcontext(prec=EXACT_DIGITS):
            return Amount(self.amount - other.amount, self.delta - other.delta)

    def within(self, limit: Amount) -> bool:
        """Return whether neither part exceeds a limit."""
        return self.amount <= limit.amount and self.delta <= limit.delta


NOTHING = Amount(Decimal(0), Decimal(0))


@dataclass(frozen=True, slots=True)
class Worth:
    """What an amount is as (epsilon, delta). Unlike a budget it may be nothing."""

    epsilon: float
    delta: float


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
    def worth(self, spent: Amount, budget: Budget) -> Worth:
        """Return what a spent amount is as (epsilon, delta), at the delta of the ledger's budget."""
