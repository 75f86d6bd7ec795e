"""What the program tells a script by its exit code (docs/command-line.md)."""

from equipoise.certify.folder import CHECK_FAILED, DONE, NOT_CHECKABLE, REFUSED, WITHDRAWN
from equipoise.errors import (
    EquipoiseError,
    LedgerError,
    NotCheckable,
    PrivateFailure,
    ReleaseNotWritten,
    ReleaseRefused,
    UnknownMember,
)

__all__ = ["CHECK_FAILED", "DONE", "NOT_CHECKABLE", "REFUSED", "WITHDRAWN", "code_of"]

# Those of a check are shared with equipoise-verify: 0 done; 1 a claim, a file or a history does not hold; 2 what was
# asked for cannot be done, and nothing was read or spent; 5 withdrawn; 6 not checkable by this version. Those of what a
# release is held against, 7 to 11, are in `equipoise.artifact.parts`.
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
    if isinstance(error, NotCheckable | UnknownMember):
        return NOT_CHECKABLE
    if isinstance(error, ReleaseRefused):
        return error.code
    return BUDGET_REFUSED if isinstance(error, LedgerError) else REFUSED
