"""The ledger: budgets and spends, committed before any row is read. A crash may waste budget, never overspend it.

`chain` is the history, `records` what its entries say, `walk` goes through it, `currencies` are what it counts in,
`store` the databases and their locks, `book` the ledger itself and `statements` what it answers. docs/ledger.md says
what is guaranteed and what is not.
"""

from equipoise.ledger.book import Ledger
from equipoise.ledger.chain import Entry
from equipoise.ledger.statements import Balance, Head, Paid

__all__ = ["Balance", "Entry", "Head", "Ledger", "Paid"]
