"""Budgets in fractions: recorded epsilons and deltas are doubles, whose sums are exact here."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from .balls import EXCEEDS, HOLDS, Finding

Budget = dict[str, Any]


def within_budget(claim: str, shares: list[Budget], whole: Budget) -> Finding:
    """Return whether shares add up to no more than a budget.

    Examples
    --------
    >>> within_budget("shares", [{"epsilon": 0.1}, {"epsilon": 0.2}], {"epsilon": 0.3}).verdict
    'exceeds'
    """
    return _compared(claim, [sum(part, Fraction(0)) for part in _columns(shares)], whole)


def largest_within_budget(claim: str, shares: list[Budget], whole: Budget) -> Finding:
    """Return whether the largest of shares, of epsilon and of delta, is no more than a budget."""
    return _compared(claim, [max(part) for part in _columns(shares)], whole)


def _columns(shares: list[Budget]) -> Iterable[list[Fraction]]:
    return ([Fraction(share.get(name, 0.0)) for share in shares] for name in ("epsilon", "delta"))


def _compared(claim: str, spent: list[Fraction], whole: Budget) -> Finding:
    limits = Fraction(whole["epsilon"]), Fraction(whole.get("delta", 0.0))
    rooms = [(limit - part) / max(limit, part) for limit, part in zip(limits, spent, strict=True) if limit != part]
    room = min(rooms) if len(rooms) == 2 else min([*rooms, Fraction(0)])
    return Finding(claim, HOLDS if room >= 0 else EXCEEDS, float(room))
