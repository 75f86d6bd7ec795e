"""page.json: what the page was drawn with, and what the ledger said, which nothing else in the folder tells.

With it, and the model, certificate and schema beside it, the page can be drawn again and compared. This file ships with
equipoise-verify, too; that is why it imports relatively.
"""

# ruff: noqa: TID252

import json
import re
from importlib.metadata import PackageNotFoundError, version

from ..certify.record import build, parse, to_plain
from ..errors import CertificateUnreadable, MissingExtra, ReleaseUnreadable
from ..vocabulary.records import Record

FORMAT_VERSION = 1

AGAIN = "ask for the released folder again"

# What decides how a page looks: the program, and what bundles the scripts that draw its charts.
RENDERER = ("equipoise", "vl-convert-python")

# A distribution's name, and a version.
_WORD = r"[A-Za-z0-9][A-Za-z0-9.+!_-]{0,39}"
_AMOUNT = r"[0-9]{1,400}(\.[0-9]{1,400})?(E[+-]?[0-9]{1,3})?"
_FORMS = {
    "epsilon_left": _AMOUNT,
    "delta_left": _AMOUNT,
    "head": r"[0-9]{1,16}:[0-9a-f]{64}",
    "at": r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\+00:00",
}


class LedgerSaid(Record):
    """What a ledger said after the spend: the budget, what is left of it, and where its history ended, and when."""

    epsilon: float
    delta: float
    epsilon_left: str
    delta_left: str
    head: str
    at: str


class PageFacts(Record):
    """What drew a page, by version, and what the ledger said, if there was one."""

    renderer: tuple[tuple[str, str], ...]
    ledger: LedgerSaid | None = None


def renderer() -> tuple[tuple[str, str], ...]:
    """Return what draws pages here, by version."""
    try:
        return tuple((name, version(name)) for name in RENDERER)
    except PackageNotFoundError as error:
        raise MissingExtra("a page", f"{error.name} is not installed", 'pip install "equipoise[report]"') from None


def written(facts: PageFacts) -> str:
    """Return the text of page.json.

    Examples
    --------
    >>> read(written(PageFacts((("equipoise", "0.2.0"),)))).renderer
    (('equipoise', '0.2.0'),)
    """
    return json.dumps({"format_version": FORMAT_VERSION, **to_plain(facts)}, indent=1, allow_nan=False) + "\n"


def read(text: str) -> PageFacts:
    """Return what a page.json says; every field has one way to be written, so that nothing else finds room in it."""
    try:
        record = parse(text)
        if not isinstance(record, dict) or record.pop("format_version", None) != FORMAT_VERSION:
            raise CertificateUnreadable(f"page.json of format {FORMAT_VERSION}", "another, or none", AGAIN)
        facts = build(PageFacts, record, "page.json")
    except CertificateUnreadable as error:
        raise ReleaseUnreadable(error.asked, error.found, AGAIN) from None
    said = facts.ledger
    wrong = [] if said is None else [key for key, form in _FORMS.items() if not re.fullmatch(form, getattr(said, key))]
    # Of a name that stands twice, the second version alone would be looked at.
    named = [word for pair in facts.renderer for word in pair]
    if len(dict(facts.renderer)) < len(facts.renderer) or not all(re.fullmatch(_WORD, word) for word in named):
        wrong.append("renderer")
    if wrong or text != written(facts):
        found = f"{wrong[0]!r} in another form" if wrong else "another form"
        raise ReleaseUnreadable("page.json as it is written", found, AGAIN)
    return facts
