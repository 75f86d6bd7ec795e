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


# Letters of other alphabets that look like Latin ones, digits that look like letters, and letters that look alike.
_CYRILLIC, _GREEK = "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455", "\u03b1\u03bf\u03c1\u03bd\u03b9"
_LOOK_ALIKE = str.maketrans(f"{_CYRILLIC}{_GREEK}i01", "aeopcyxljsaopvllol")
_SEPARATORS = str.maketrans("", "", "-_. ")


def outline(name: str) -> str:
    """Return what two names have in common that people take for each other: no separators, one letter for look-alikes.

    Examples
    --------
    >>> outline("people-2026"), outline("Pe0ple_2O26"), outline("people 2025")
    ('people2o26', 'people2o26', 'people2o25')
    """
    return normal_form(name).translate(_SEPARATORS).translate(_LOOK_ALIKE)


def require_apart(name: str, recorded: Iterable[object]) -> None:
    """Refuse a name for a new budget that people would take for one that is there.

    Examples
    --------
    >>> require_apart("people 2026", ["people 2025"])
    """
    alike = sorted(found for found in recorded if isinstance(found, str) and outline(found) == outline(name))
    if alike:
        found = f"{alike[0]!r}, which differs in separators, or in letters and digits that look alike"
        remedy = f"spend of {alike[0]!r} if these are the same people, else choose a name that nobody takes for it"
        raise LedgerRefused(f"a new budget for {name!r}", found, remedy)


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


def is_about(named: str | None, dataset: str) -> bool:
    """Return whether a certificate that names a dataset may be recorded under another name: the same one, or if none.

    Examples
    --------
    >>> is_about("people", "People "), is_about(None, "people"), is_about("trial", "people")
    (True, True, False)
    """
    return named is None or normal_form(named) == normal_form(dataset)


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
