"""The ledger: budgets and spends, committed before any row is read. A crash may waste budget, never overspend it.

`chain` is the history, `records` what its entries say, `walk` goes through it, `currencies` are what it counts in,
`store` the databases and their locks, `book` the ledger itself, `statements` what it answers and `grounds` what spends
rest on. docs/ledger.md says what is guaranteed and what is not.
"""

from typing import TYPE_CHECKING, Any

from equipoise.errors import UNSPENT, MissingExtra
from equipoise.ledger.chain import Entry
from equipoise.ledger.statements import Balance, Head, Paid

if TYPE_CHECKING:
    from equipoise.ledger.book import Ledger

__all__ = ["Balance", "Entry", "Head", "Ledger", "Paid"]


def __getattr__(name: str) -> Any:
    # The database toolkit is loaded only where a ledger is opened: a page is drawn again without one.
    if name == "Ledger":
        try:
            from equipoise.ledger.book import Ledger
        except ImportError as error:
            raise MissingExtra.of("a ledger", error, UNSPENT) from None
        return Ledger
    raise AttributeError(f"module 'equipoise.ledger' has no attribute {name!r}; public names: {', '.join(__all__)}")
