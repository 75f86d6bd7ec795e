"""Currencies that a ledger can be kept in, one file each; members are discovered from this folder.

A currency prices every release before rows are read, and says how much may be spent in all, so that everything together
keeps the ledger's budget, also where each release was chosen after a look at those before it (docs/proofs/N5.md).
"""

from equipoise.errors import InvalidParameter, UnknownName
from equipoise.ledger.currencies.base import Amount, Currency, Worth
from equipoise.ledger.currencies.basic import Basic
from equipoise.ledger.currencies.renyi import Renyi
from equipoise.vocabulary.discovery import discover, make
from equipoise.vocabulary.facts import Budget

__all__ = ["CURRENCIES", "Amount", "Currency", "Worth", "currency_named", "default_for"]

CURRENCIES: dict[str, type[Currency]] = discover(__name__, Currency)


def currency_named(name: str) -> Currency:
    """Return the currency that a text names: "basic", "gaussian", "zcdp", or "renyi:8" with its order.

    Examples
    --------
    >>> currency_named("gaussian").name, currency_named("renyi:8").name
    ('gaussian', 'renyi:8')
    """
    if name == Renyi.id:
        raise UnknownName("a Renyi currency with its one order", repr(name), "write renyi:8, for example")
    return make(CURRENCIES, name, "currency")


def default_for(budget: Budget) -> Currency:
    """Return the currency of a ledger for which none was asked: basic where delta is 0, else Renyi of a public order.

    That order is the smallest whole one that leaves two thirds of epsilon to spend. No release costs more of it than
    its own epsilon, so that whatever adds up to two thirds of epsilon, and half of delta, is admitted as it would be by
    sums; and what adds up to much more is charged little more than by the best order (docs/currencies.md).

    Examples
    --------
    >>> default_for(Budget(3.0)).name, default_for(Budget(3.0, 1e-6)).name, default_for(Budget(0.75, 1e-6)).name
    ('basic', 'renyi:13', 'renyi:41')
    """
    try:
        return Renyi.for_budget(budget)
    except InvalidParameter:
        return Basic()
