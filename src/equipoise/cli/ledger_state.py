"""What a ledger says, for the page of a release."""

from equipoise.artifact.folder import Spends
from equipoise.errors import LedgerError


def state_of(reference: str) -> Spends:
    """Return the balance of a dataset, as of its last entry."""
    # The database toolkit is loaded only where a ledger is bound.
    from equipoise.ledger import Ledger

    ledger = Ledger(reference)
    while True:
        # Others may spend between two questions: what is told is of one moment.
        head, balance = ledger.head(), ledger.balance()
        if ledger.head() == head:
            return Spends(balance, head.made, f"{head.number}:{head.digest}")


def recorded(reference: str | None) -> Spends | None:
    """Return the state after a spend, if the ledger still answers: no release is lost for a page's sake."""
    try:
        return None if reference is None else state_of(reference)
    except LedgerError:
        return None
