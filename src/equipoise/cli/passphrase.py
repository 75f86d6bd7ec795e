"""Asking for the passphrase of a key: from the environment or a terminal, never echoed and never repeated."""

import getpass
import os
import warnings
from pathlib import Path

from equipoise.errors import KeyRefused

VARIABLE = "EQUIPOISE_KEY_PASSPHRASE"


def passphrase_of(path: Path, new: bool = False) -> str:
    """Return the passphrase of a key file; a new one is typed twice."""
    if given := os.environ.get(VARIABLE):
        return given
    asked = f"the passphrase of {path.name}"
    try:
        # Where the terminal's echo cannot be turned off, nothing is typed.
        with warnings.catch_warnings(action="error", category=getpass.GetPassWarning):
            typed = getpass.getpass(f"Passphrase of {path.name}: ")
            again = getpass.getpass("Once more: ") if new else typed
    except (getpass.GetPassWarning, EOFError, OSError):
        raise KeyRefused(asked, "no terminal to type it at", f"set {VARIABLE} for this one command") from None
    if typed != again:
        raise KeyRefused(asked, "two that differ", "type it again; nothing was written")
    return typed
