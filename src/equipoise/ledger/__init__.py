"""The ledger: budgets and spends, committed before any row is read. A crash may waste budget, never overspend it.

`chain` is the history and its arithmetic, `store` the databases and their locks, `book` the ledger itself;
`fixed_budgets` is shown and admits nothing. docs/ledger.md says what is guaranteed and what is not.
"""

from equipoise.ledger.book import Ledger
from equipoise.ledger.chain import Balance, Entry

__all__ = ["Balance", "Entry", "Ledger"]
