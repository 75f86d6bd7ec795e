"""One dataset, one name: the public normal form under which dataset ids are compared.

``people``, ``People`` and ``people `` read alike, and would be three budgets if they were three ids.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from equipoise.errors import LedgerRefused

# What Unicode lets a font draw as nothing (Default_Ignorable_Code_Point) though Python calls it printable, and the
# blank of Braille.
_INVISIBLE = {
    *(0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0),
    *range(0x180B, 0x1810),
    *range(0xFE00, 0xFE10),
    *range(0xE0100, 0xE01F0),
}


def normal_form(name: str) -> str:
    """Return the id that a name stands for: NFKC, case folded, without what nobody sees, blanks trimmed and single.

    Examples
    --------
    >>> normal_form(" People  of 2026 "), normal_form("people of 2026")
    ('people of 2026', 'people of 2026')
    """
    seen = "".join(letter for letter in name if ord(letter) not in _INVISIBLE)
    # Folding may leave letters that compose, and composing letters that fold.
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", seen).casefold()).casefold()
    return " ".join(unicodedata.normalize("NFKC", folded).split())


def require_new(name: str) -> None:
    """Refuse a name for a new budget that another person could not type from what a screen shows.

    Examples
    --------
    >>> require_new("people")
    """
    hidden = any(ord(letter) in _INVISIBLE or not letter.isprintable() for letter in name)
    if hidden or not normal_form(name):
        found = "a name with control characters or characters that nobody sees" if hidden else "a name of blanks"
        raise LedgerRefused("a dataset's name that people can read", found, "write letters, digits, hyphens and blanks")


def meant_by(written: str, recorded: Iterable[object]) -> tuple[str, ...]:
    """Return the recorded ids that a written one stands for, the one that is spelled the same first.

    A ledger of this version holds at most one; ledgers before it compared spellings.

    Examples
    --------
    >>> meant_by("people ", ["People", "trial"]), meant_by("people", ["People", "people"])
    (('People',), ('people', 'People'))
    """
    normal = normal_form(written)
    # What was overwritten may hold anything, text or not.
    alike = [name for name in recorded if isinstance(name, str) and normal_form(name) == normal]
    return tuple(sorted(alike, key=lambda name: (name != written, name)))
