"""The currencies in which spends add up (N5): what may be spent in all, and what one release costs."""

from equipoise.errors import InvalidParameter
from equipoise.ledger.currencies.base import Amount, Currency, Worth
from equipoise.ledger.currencies.basic import Basic
from equipoise.vocabulary.facts import Budget

CURRENCIES: dict[str, type[Currency]] = {Basic.id: Basic}


def currency_named(name: str) -> Currency:
    """Return the currency of that name.

    Examples
    --------
    >>> currency_named("basic").id
    'basic'
    """
    if not isinstance(name, str) or name not in CURRENCIES:
        raise InvalidParameter("a currency", f"{name!r}", f"choose from {', '.join(CURRENCIES)}")
    return CURRENCIES[name]()


def default_for(budget: Budget) -> Currency:
    """Return the currency of a budget for which none was named."""
    return Basic()


__all__ = ["CURRENCIES", "Amount", "Currency", "Worth", "currency_named", "default_for"]
