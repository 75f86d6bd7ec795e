"""page.json: what the page was drawn with, what the ledger said and an attack reached; nothing else there tells it.

With it, and the model, certificate and schema beside it, the page can be drawn again and compared. Where nothing that
draws charts was installed it says that there is no page. This file ships with equipoise-verify, too; that is why it
imports relatively.
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

# What decides how a page looks: the program, and what bundles the scripts that draw its charts. Without the second no
# page is drawn.
RENDERER = ("equipoise", "vl-convert-python")

# What an attack may have been run on, and how many digits of a rate it tells.
SIMULATED, ATTACK_DIGITS = "simulated", 5
MOST_MODELS = 10_000

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


class Attack(Record):
    """What a membership attack reached, measured: never on private rows.

    Attributes
    ----------
    rows : str
        What it was run on: "simulated", drawn from the public domain alone.
    shadows, targets : int
        How many models the attacker trained, and how many were attacked.
    confidence : float
        That of each interval.
    points : tuple of (false, true, low, high)
        Rates of false positives, the measured rates of true ones, and the ends of their intervals.
    """

    rows: str
    shadows: int
    targets: int
    confidence: float
    points: tuple[tuple[float, float, float, float], ...]

    def is_written(self) -> bool:
        """Return whether it is what an attack can have found, in the few digits that a page shows.

        Examples
        --------
        >>> found = Attack("simulated", 64, 16, 0.95, ((0.01, 0.02, 0.015, 0.025),))
        >>> found.is_written(), Attack("private", 64, 16, 0.95, found.points).is_written()
        (True, False)
        """
        rates = [false for false, *_ in self.points]
        return (
            self.rows == SIMULATED
            and all(0 < models <= MOST_MODELS for models in (self.shadows, self.targets))
            and all(0 <= rate <= 1 and round(rate, ATTACK_DIGITS) == rate for point in self.points for rate in point)
            and all(low <= true <= high for _, true, low, high in self.points)
            and 0 < len(rates) <= 8
            and all(one < other for one, other in zip([0.0, *rates], [*rates, 1.0], strict=True))
            and 0 < self.confidence < 1
            and round(self.confidence, ATTACK_DIGITS) == self.confidence
        )


class PageFacts(Record):
    """What drew a page, by version, what the ledger said, if there was one, and what an attack reached, if one was run.

    A page without an attack says nothing of it, as before there were any.
    """

    renderer: tuple[tuple[str, str], ...]
    ledger: LedgerSaid | None = None
    attack: Attack | None = None

    @property
    def drawn(self) -> bool:
        """Whether there is a page: the program alone draws none.

        Examples
        --------
        >>> PageFacts((("equipoise", "0.2.0"),)).drawn
        False
        """
        return len(self.renderer) > 1


def entry_number(place: str) -> int:
    """Return the number of a ledger's entry that is named by its place; 0 where none is.

    Examples
    --------
    >>> entry_number("2:31337"), entry_number("")
    (2, 0)
    """
    number = place.partition(":")[0][:16]
    return int(number) if number.isdecimal() and number.isascii() else 0


def renderer() -> tuple[tuple[str, str], ...]:
    """Return what draws pages here, by version: the program alone, where the extra `report` is not installed."""
    ours, drawn_with = RENDERER
    try:
        return (ours, version(ours)), (drawn_with, version(drawn_with))
    except PackageNotFoundError:
        return ((ours, version(ours)),)


def draws() -> bool:
    """Return whether pages are drawn here; where they are not, a release has none and page.json says so."""
    return PageFacts(renderer()).drawn


def require_drawing(asked: str) -> None:
    """Refuse what nobody has without a page, where none is drawn."""
    if not draws():
        raise MissingExtra.of(asked, "vl_convert")


def written(facts: PageFacts) -> str:
    """Return the text of page.json.

    Examples
    --------
    >>> read(written(PageFacts((("equipoise", "0.2.0"),)))).renderer
    (('equipoise', '0.2.0'),)
    """
    record = {"format_version": FORMAT_VERSION, **to_plain(facts)}
    if facts.attack is None:
        del record["attack"]
    return json.dumps(record, indent=1, allow_nan=False) + "\n"


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
    if facts.attack is not None and not facts.attack.is_written():
        wrong.append("attack")
    if wrong or text != written(facts):
        found = f"{wrong[0]!r} in another form" if wrong else "another form"
        raise ReleaseUnreadable("page.json as it is written", found, AGAIN)
    return facts
