"""What every currency answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from typing import ClassVar

from equipoise.certify.claims import Claim
from equipoise.vocabulary.facts import Budget

EXACT_DIGITS = 1000


@dataclass(frozen=True)
class Amount:
    """A pair that adds up, in some currency, exactly.

    Examples
    --------
    >>> total = Amount(Decimal("0.1"), Decimal(0)) + Amount(Decimal("0.2"), Decimal("1e-9"))
    >>> str(total.amount), total.within(Amount(Decimal("0.3"), Decimal("1e-9")))
    ('0.3', True)
    """

    amount: Decimal
    delta: Decimal

    def __add__(self, other: Amount) -> Amount:
        """Return the sum."""
        with localcontext(Context(prec=EXACT_DIGITS)):
            return Amount(self.amount + other.amount, self.delta + other.delta)

    def __sub__(self, other: Amount) -> Amount:
        """Return the difference."""
        with localcontext(Context(prec=EXACT_DIGITS)):
            return Amount(self.amount - other.amount, self.delta - other.delta)

    def within(self, limit: Amount) -> bool:
        """Return whether neither part exceeds a limit."""
        return self.amount <= limit.amount and self.delta <= limit.delta


@dataclass(frozen=True)
class Worth:
    """What an amount is as (epsilon, delta). Unlike a budget it may be nothing."""

    epsilon: float
    delta: float


class Currency(ABC):
    """A filter (N5): releases whose prices add up to at most the limit are together within the budget."""

    id: ClassVar[str]
    proof: ClassVar[str]

    @property
    def name(self) -> str:
        """How it is written down."""
        return self.id

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
    def worth(self, spent: Amount, budget: Budget) -> Worth:
        """Return what an amount is as (epsilon, delta), at the budget's delta."""
