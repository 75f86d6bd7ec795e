"""What the program tells a script by its exit code (docs/command-line.md)."""

from equipoise.errors import EquipoiseError, LedgerError, PrivateFailure, ReleaseNotWritten

DONE = 0
CHECK_FAILED = 1  # verify found a claim, a file or a history that does not hold
REFUSED = 2  # what was asked for cannot be done; nothing was read or spent
BUDGET_REFUSED = 3  # the ledger did not admit the spend, or could not be reached; nothing was read
FAILED_AFTER_SPENDING = 4  # something failed after rows were read: the budget is spent
UNFORESEEN = 70  # a fault of the program
INTERRUPTED = 130


def code_of(error: EquipoiseError) -> int:
    """Return the exit code of an error.

    Examples
    --------
    >>> code_of(PrivateFailure())
    4
    """
    if isinstance(error, PrivateFailure | ReleaseNotWritten):
        return FAILED_AFTER_SPENDING
    return BUDGET_REFUSED if isinstance(error, LedgerError) else REFUSED
