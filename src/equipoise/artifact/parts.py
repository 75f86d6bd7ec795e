"""What one part of a check found, and the exit codes that tell the parts apart (docs/command-line.md).

This file ships with equipoise-verify, too; that is why it imports relatively.
"""

# ruff: noqa: TID252

from dataclasses import dataclass

from ..certify.folder import NOT_CHECKABLE

# Those of the folder by itself are in `equipoise.certify.folder`; 3, 4, 70 and 130 are other commands'.
NOT_SIGNED, NOT_TRUSTED, NOT_PAID, OTHER_HISTORY, BEYOND_POLICY = 7, 8, 9, 10, 11

# What a ledger confirms beyond the claim, and with it that notes are as they were.
FILES_SEEN = "certificate.json, its notes included, and model.json are those that the ledger's entry names"
EVALUATION_SEEN = "certificate.json, its notes included, is the one that the ledger's entry names"

WORDS = {
    NOT_CHECKABLE: "not checkable by this version",
    NOT_SIGNED: "not as it was signed",
    NOT_TRUSTED: "signed by a key that is not trusted",
    NOT_PAID: "not paid for",
    OTHER_HISTORY: "paid for in another history",
    BEYOND_POLICY: "beyond the policy",
}


@dataclass(frozen=True, slots=True)
class Part:
    """What one part of a check found.

    Attributes
    ----------
    code : int
        The exit code, where there are faults.
    faults : tuple of str
        What does not hold.
    confirmed : tuple of str
        What holds beyond the folder's own claim.
    unchecked : tuple of str
        What was not looked at.
    summary : str
        What is confirmed, in the few words of a verdict.
    """

    code: int
    faults: tuple[str, ...] = ()
    confirmed: tuple[str, ...] = ()
    unchecked: tuple[str, ...] = ()
    summary: str = ""
