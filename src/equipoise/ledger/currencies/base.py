"""What every currency of a ledger says about itself, and amounts of it."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext
from typing import ClassVar

from equipoise.certify.claims import Claim
from equipoise.certify.curves import PointCurve
from equipoise.errors import EquipoiseError, InvalidParameter, LedgerRefused
from equipoise.ledger.prices import cost
from equipoise.ledger.rates import Cost, Rate
from equipoise.vocabulary.facts import Budget
from equipoise.vocabulary.numbers import SMALLEST
from equipoise.vocabulary.records import Record

# Doubles have at most 17 significant digits; a few more leave room for a square.
DIGITS = 25
# Sums of amounts are exact: no amount has digits beyond this place, and none is above 1e16.
LAST_PLACE, EXACT_DIGITS = Decimal("1e-60"), 1000
# What a spend costs at least: sums of anything less grow longer and not larger. postgresql.sql has both bounds.
SMALLEST_COST = Decimal("1e-30")
# The part of delta at which the curve of the currency is taken. The rest, a little more than half, is for the deltas
# beside it, so that the halves of deltas that add up to the whole fit, whatever their last digits are.
SHARE, REST = 0.5 * (1 - 3e-9), Decimal("0.500000001")
# Beyond this epsilon nobody is protected: a filter promises this much, which is more than it was asked for.
LARGEST_EPSILON = 1000.0
# The currency whose amounts are epsilons.
BASIC = "basic"


@dataclass(frozen=True)
class Amount:
    """An amount of a currency and a delta beside it; both add up, in exact arithmetic.

    Examples
    --------
    >>> total = Amount(Decimal("0.1"), Decimal(0)) + Amount(Decimal("0.2"), Decimal("1e-9"))
    >>> str(total.amount), total.within(Amount(Decimal("0.3"), Decimal("1e-9")))
    ('0.3', True)
    """

    amount: Decimal
    delta: Decimal

    def __add__(self, other: Amount) -> Amount:
        """Return the sum, exactly."""
        with localcontext(Context(prec=EXACT_DIGITS)):
            return Amount(self.amount + other.amount, self.delta + other.delta)

    def __sub__(self, other: Amount) -> Amount:
        """Return the difference, exactly."""
        with localcontext(Context(prec=EXACT_DIGITS)):
            return Amount(self.amount - other.amount, self.delta - other.delta)

    def within(self, limit: Amount) -> bool:
        """Return whether neither part exceeds a limit."""
        return self.amount <= limit.amount and self.delta <= limit.delta


NOTHING = Amount(Decimal(0), Decimal(0))


@dataclass(frozen=True)
class Worth:
    """What an amount is as (epsilon, delta). Unlike a budget it may be nothing."""

    epsilon: float
    delta: float


def rounded(value: float, upwards: bool) -> Decimal:
    """Return a number as a decimal of at most `DIGITS` digits that end at `LAST_PLACE`, rounded up or down.

    Examples
    --------
    >>> str(rounded(0.5, True)), rounded(0.1, True) >= Decimal(0.1) >= rounded(0.1, False), rounded(5e-324, True)
    ('0.5', True, Decimal('1E-60'))
    """
    way = ROUND_CEILING if upwards else ROUND_FLOOR
    short = Context(prec=DIGITS, rounding=way).create_decimal(Decimal.from_float(value))
    return short.quantize(LAST_PLACE, way, Context(prec=EXACT_DIGITS)).normalize(Context(prec=EXACT_DIGITS))


def text_of(number: Decimal) -> str:
    """Return a number as it is recorded, digit for digit: a caller's own context would write small letters, as 1e-8.

    Examples
    --------
    >>> with localcontext(Context(capitals=0)):
    ...     str(Decimal("1e-8")), text_of(Decimal("1e-8"))
    ('1e-8', '1E-8')
    """
    return Context(capitals=1).to_sci_string(number)


def shown(number: Decimal, upwards: bool = False) -> str:
    """Return a number for people, in at most `DIGITS` digits, rounded down or up.

    Examples
    --------
    >>> shown(Decimal("0.30")), shown(Decimal("0.3") + Decimal("1e-27")), shown(Decimal("0.3") + Decimal("1e-27"), True)
    ('0.30', '0.3000000000000000000000000', '0.3000000000000000000000001')
    """
    return text_of(Context(prec=DIGITS, rounding=ROUND_CEILING if upwards else ROUND_FLOOR).plus(number))


def require_countable(cost: Amount) -> None:
    """Refuse a cost below `SMALLEST_COST`, or with digits beyond `LAST_PLACE`: it would lengthen every later sum.

    Examples
    --------
    >>> require_countable(Amount(Decimal("0.1"), Decimal("1e-9")))
    """
    last = min(int(part.as_tuple().exponent) for part in (cost.amount, cost.delta))
    if max(cost.amount, cost.delta) < SMALLEST_COST or last < int(LAST_PLACE.as_tuple().exponent):
        found = f"{shown(cost.amount)} and delta {shown(cost.delta)}"
        places = f"digits beyond {text_of(LAST_PLACE)}"
        remedy = f"raise epsilon, and delta where it is not 0: smaller costs and {places} do not count"
        raise LedgerRefused(f"a spend that costs {text_of(SMALLEST_COST)} or more", found, remedy)


def spent_on_order(order: float, delta: float) -> float:
    """Return what knowing one order of the divergence alone costs of epsilon, at a delta, rounded up.

    A divergence D of order a keeps ``epsilon = D - ln(a delta) / (a - 1) + ln(1 - 1/a)`` at delta (N5).

    Examples
    --------
    >>> round(spent_on_order(8.0, 5e-7), 4), round(spent_on_order(100.0, 5e-7), 4)
    (1.6421, 0.09)
    """
    cost = -math.log(order * delta) / (order - 1) + math.log1p(-1 / order)
    return cost + 1e-12 * (1 + abs(math.log(delta)) / (order - 1))


def bisected(holds: Callable[[float], bool], low: float, high: float) -> float:
    """Return the largest number between two at which something holds, which does at the lower one: the end that does.

    Examples
    --------
    >>> round(bisected(lambda number: number * number <= 2, 0.0, 2.0), 6)
    1.414214
    """
    for _ in range(100):
        middle = low + (high - low) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


class Currency(Record, ABC):
    """How a ledger counts what releases cost.

    `limit` is rounded down and `price` up. What is spent may be chosen along the way, from everything that was released
    before: with every spend's price in the sum, failed runs included, the whole keeps the budget (N5).
    """

    id: ClassVar[str]
    proof: ClassVar[str] = "N5"

    @property
    def name(self) -> str:
        """How a ledger writes it down: the id, and a parameter where it has one."""
        return self.id

    @abstractmethod
    def limit(self, budget: Budget) -> Amount:
        """Return what may be spent in all so that everything together keeps the budget."""

    @abstractmethod
    def price(self, claim: Claim) -> Amount:
        """Return what one release costs, or refuse it with a remedy."""

    @abstractmethod
    def price_of_budget(self, budget: Budget) -> Amount:
        """Return what a release costs of which nothing is known but that it keeps a budget: an old spend."""

    def price_of_sum(self, spent: Amount, counted_in: Currency) -> Amount:
        """Return what releases cost of which only the sum in a currency is known, as after a recovery, or refuse it.

        Releases whose epsilons and deltas add up to a sum cost together no more than one release of that sum (N5).
        """
        if counted_in.name == self.name or spent == NOTHING:
            return spent
        if counted_in.id != BASIC:
            sums = f"{text_of(spent.amount)} and delta {text_of(spent.delta)}"
            found = f"{sums} in {counted_in.name}, of spends without certificates"
            remedy = f"leave it in {counted_in.name}: nobody can price such a sum in another currency"
            raise LedgerRefused(f"a price in {self.name}", found, remedy)
        known = counted_in.worth(spent, Budget(1.0))
        return self.price_of_budget(Budget(max(known.epsilon, SMALLEST), known.delta))

    @abstractmethod
    def worth(self, spent: Amount, budget: Budget) -> Worth:
        """Return the smallest epsilon for which a ledger with this budget's delta would have admitted what was spent.

        It is shown, and admits nothing; what a certificate may say of a history is the ledger's budget.
        """


class Filter(Currency):
    """A currency in which costs by a rate add up (N5, parts b to d)."""

    @abstractmethod
    def rate(self) -> Rate:
        """Return what releases cost."""

    @abstractmethod
    def most(self, epsilon: float, delta: float) -> float:
        """Return the largest amount that keeps this epsilon at this delta, rounded down; 0 or less where none does."""

    @abstractmethod
    def least(self, amount: float, delta: float) -> float:
        """Return the smallest epsilon that an amount keeps at this delta, for show."""

    def limit(self, budget: Budget) -> Amount:
        """Return the amount at half of delta, and the other half for what costs delta."""
        if budget.delta == 0:
            remedy = f"create it with a delta above 0, such as 1e-6, or with --currency basic instead of {self.name}"
            raise InvalidParameter("a budget with a delta", f"delta={budget.delta!r}", remedy)
        amount = self.most(min(budget.epsilon, LARGEST_EPSILON), budget.delta * SHARE)
        if not amount > 0:
            raise InvalidParameter(
                f"something to spend in {self.name}",
                f"epsilon={budget.epsilon:g} at delta={budget.delta:g}, of which nothing is left",
                "raise epsilon or delta, choose a larger order, or --currency basic",
            )
        # The caller's own context would round it to whatever the caller's digits are.
        rest = Context(prec=EXACT_DIGITS).multiply(Decimal(repr(budget.delta)), REST)
        return Amount(rounded(amount, False), rest)

    def price(self, claim: Claim) -> Amount:
        """Return the claim's cost, rounded up."""
        try:
            return self._rounded(cost(claim, self.rate()))
        except (ArithmeticError, ValueError, LookupError) as error:
            if isinstance(error, EquipoiseError):
                raise
            raise self._refused(f"a {claim.kind} claim whose numbers mean nothing") from None

    def price_of_budget(self, budget: Budget) -> Amount:
        """Return the cost of randomised response with this epsilon, which tells all with a chance of delta."""
        return self._rounded(self.rate().of(PointCurve(budget), budget))

    def worth(self, spent: Amount, budget: Budget) -> Worth:
        """Return that epsilon, 0 for nothing."""
        epsilon = self.least(float(spent.amount), budget.delta * SHARE) if spent.amount > 0 else 0.0
        return Worth(epsilon, budget.delta)

    def _rounded(self, found: Cost) -> Amount:
        if not (0 <= found.amount < math.inf and 0 <= found.delta < 1):
            raise self._refused("a release without an amount")
        # A sum of a few deltas may have been rounded down by its last digits.
        return Amount(rounded(found.amount, True), rounded(found.delta * (1 + 1e-12), True))

    def _refused(self, found: str) -> LedgerRefused:
        remedy = "lower its epsilon, or spend it from a ledger in basic currency, where epsilons add up"
        return LedgerRefused(f"a price in {self.name}", found, remedy)
