"""The currencies that a ledger can count in (docs/currencies.md)."""

from equipoise.errors import LedgerRefused
from equipoise.ledger.currencies.base import Amount, Currency, Worth
from equipoise.ledger.currencies.basic import Basic
from equipoise.vocabulary.facts import Budget

__all__ = ["CURRENCIES", "Amount", "Currency", "Worth", "currency_named", "default_for"]

CURRENCIES: dict[str, type[Currency]] = {Basic.id: Basic}


def currency_named(name: str) -> Currency:
    """Return a currency by the name that ledgers write.

    Examples
    --------
    >>> currency_named("basic").name
    'basic'
    """
    if name not in CURRENCIES:
        known = ", ".join(CURRENCIES)
        raise LedgerRefused("a currency that this version knows", f"{name!r:.40}", f"pass one of {known}")
    return CURRENCIES[name]()


def default_for(budget: Budget) -> Currency:
    """Return the currency of a ledger whose owner names none."""
    return Basic()
