"""Ids of releases: those that are drawn here, and those that callers choose."""

from __future__ import annotations

import re
import secrets

from equipoise.errors import InvalidParameter

# One rule for both databases, and what every record, page and shell takes as it stands.
_CHOSEN = re.compile(r"[A-Za-z0-9_.:-]{1,128}")


class DrawnId(str):
    """An id that was drawn at random for one release: no two of them are the same, and none is looked for.

    What it looks like says nothing: a caller's own may have 32 hexadecimal digits, and come twice.
    """

    __slots__ = ()


def drawn_id() -> DrawnId:
    """Return a new id.

    Examples
    --------
    >>> len(drawn_id())
    32
    """
    return DrawnId(secrets.token_hex(16))


def require_release_id(given: object) -> str:
    """Return the id that a caller chose for a release, or refuse what is none.

    Examples
    --------
    >>> require_release_id("2026-11.trial:7")
    '2026-11.trial:7'
    """
    if not isinstance(given, str) or not _CHOSEN.fullmatch(given):
        found = "other letters, none, or more than 128" if isinstance(given, str) else f"a {type(given).__name__}"
        remedy = "use up to 128 of the letters A-Z and a-z, digits and -_.: or pass None, and one is drawn"
        raise InvalidParameter("the id of a release", found, remedy)
    return given
