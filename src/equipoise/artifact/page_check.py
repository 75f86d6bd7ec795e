"""Drawing the page of a released folder again, and comparing: nothing may be on it that the release does not call for.

The same program draws the same page, with whichever library its charts are drawn by; that one must be known here.
Numbers of charts may differ in their last digits from machine to machine, and so are compared to a millionth;
everything else letter by letter.
"""

import bisect
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from importlib.metadata import version
from typing import TYPE_CHECKING

from equipoise.artifact import page_file, page_rule
from equipoise.artifact.page import Shown, page_of
from equipoise.artifact.parts import Part
from equipoise.artifact.reading import OldRelease, release_in
from equipoise.certify.certificate import Certificate
from equipoise.certify.folder import CERTIFICATE, CHECK_FAILED, NOT_CHECKABLE, PAGE, REPORT, text_of
from equipoise.errors import EquipoiseError, MissingExtra, NotCheckable, ReleaseRefused
from equipoise.report.page import DRAWING, beginning, library_of
from equipoise.report.runtime import runtime
from equipoise.vocabulary.facts import Budget

if TYPE_CHECKING:
    from equipoise.artifact.attack import Membership

# The data of a chart, as `equipoise.report.page` writes it: there is no "<" in it.
_DATA = re.compile(r'(<script type="application/json" id="[^"<>]*">)([^<]*)(</script>)')
# A text or a number of JSON. A text that does not end takes the rest, so that what a stranger wrote is read in one go.
_TOKEN = re.compile(r'("(?:[^"\\]|\\.)*+"?|-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:e[+-]?[0-9]++)?)', re.DOTALL)

# How far numbers of charts may be apart: no picture shows it.
NEAR = 1e-6

# So many letters around the first that differs are shown.
BEFORE, AFTER = 12, 24

COMPARED = "the page: drawn again from the other files, it is the same"
NO_PAGE = f"the page: there is none, as {PAGE} says"

# It takes up to minutes; until then, a forger's numbers look like anybody's.
ATTACK = (
    "what an attack reached on simulated rows, which the page shows as its maker measured it: verify --attack runs it "
    "again"
)
ATTACKED = "the attack: run again on simulated rows, it reached the numbers that the page shows"

# Draws the page of an evaluation from its files: evaluations are a room above this one, and know how.
EvaluationPage = Callable[[Mapping[str, bytes]], str]


def compared(
    contents: Mapping[str, bytes],
    evaluation_page: EvaluationPage | None = None,
    attack: "Membership | None" = None,
) -> Part:
    """Return what comes of drawing the page of a folder again, from its files as they were read once.

    Parameters
    ----------
    contents : mapping of str to bytes
        The files.
    evaluation_page : callable, optional
        What draws it if the folder is that of an evaluation.
    attack : callable, optional
        The laboratory's attack: that which the page shows, if any, is then run again, too.
    """
    found, made_by = "", ""
    try:
        found = text_of(contents, REPORT) if REPORT in contents else ""
        certificate = Certificate.from_json(text_of(contents, CERTIFICATE))
        made_by = dict(certificate.release.software if certificate.release else ()).get("equipoise", "")
        if PAGE not in contents:
            return _without_facts(found, made_by)
        facts = page_file.read(text_of(contents, PAGE))
        ours, drawn_with = page_file.RENDERER
        drawn_by = dict(facts.renderer)
        if drawn_by.keys() != ({ours, drawn_with} if REPORT in contents else {ours}) or drawn_by[ours] != made_by:
            said = f"drawn by {_named(drawn_by)}, and the certificate names Equipoise {made_by:.40}"
            return Part(CHECK_FAILED, (f"{PAGE}: {said}",))
        here = version(ours)
        if made_by != here and facts.drawn:
            return _not_compared(found, made_by, f"drawn by Equipoise {made_by:.40}, and here is {here}")
        if faults := tuple(_faults_of(facts, certificate, evaluation_page is not None)):
            return Part(CHECK_FAILED, tuple(f"{PAGE}: {fault}" for fault in faults))
        if not facts.drawn:
            return Part(CHECK_FAILED, confirmed=(NO_PAGE,))
        page_file.require_drawing("a page, to compare it")
        again = drawn_again(contents, facts) if evaluation_page is None else evaluation_page(contents)
        expected = _with_library(again, found, drawn_by[drawn_with])
        if expected is None:
            return _unknown_library(drawn_by[drawn_with])
        fault = difference(found, expected)
    except MissingExtra as error:
        return _not_compared(found, made_by, f"since {error.found}: {error.remedy}")
    except NotCheckable as error:
        return _not_compared(found, made_by, f"since the certificate has {error.found}")
    except EquipoiseError as error:
        return Part(CHECK_FAILED, (f"{REPORT}: it cannot be drawn again ({error.found:.200})",))
    if fault is not None:
        return Part(CHECK_FAILED, (f"{REPORT}: {fault}",))
    if facts.attack is None:
        return Part(CHECK_FAILED, confirmed=(COMPARED,))
    if attack is None:
        return Part(CHECK_FAILED, (), (COMPARED,), (ATTACK,))
    return _attacked(facts.attack, certificate, attack)


def require_page(contents: Mapping[str, bytes], evaluation_page: EvaluationPage | None = None) -> Part:
    """Refuse a folder whose page is not its own, as `equipoise verify` does; return what was compared."""
    page = compared(contents, evaluation_page)
    if page.faults:
        remedy = "ask whoever made it; equipoise verify says more"
        raise ReleaseRefused(page.code, "a page that is the folder's own", f"{'; '.join(page.faults):.300}", remedy)
    return page


def _faults_of(facts: page_file.PageFacts, certificate: Certificate, evaluation: bool) -> Iterator[str]:
    """Yield what page.json cannot say, as the certificate beside it shows."""
    if evaluation and (facts.ledger is not None or facts.attack is not None):
        yield "a ledger's state or an attack, which no page of an evaluation shows"
    if facts.ledger is not None:
        paid = (certificate.release.entry if certificate.release else None) or ""
        head, least = page_file.entry_number(facts.ledger.head), page_file.entry_number(paid)
        if not least:
            yield "the state of a ledger, and the certificate names no entry that paid"
        elif head < least:
            yield f"the ledger as of entry {head}, before entry {least}, which paid"
        elif head == least and facts.ledger.head != paid:
            yield f"another entry {head} than the one that paid"
    if facts.attack is not None and not facts.drawn:
        yield "an attack, and no page that shows it"
    elif facts.attack is not None:
        # What attacks is loaded only where an attack is shown.
        from equipoise.artifact.attack import is_of_this_version

        if not is_of_this_version(facts.attack):
            yield "an attack of another extent than this version runs"


def _attacked(shown: page_file.Attack, certificate: Certificate, attack: "Membership") -> Part:
    """Return what comes of running the attack on simulated rows again: the same plan gives the same numbers."""
    from equipoise.artifact.attack import AttackedPlan

    try:
        reached = AttackedPlan(certificate).reached(attack)
    except EquipoiseError as error:
        return Part(CHECK_FAILED, (f"{PAGE}: an attack, and none can be run: {error.found:.200}",))
    if reached == shown:
        return Part(CHECK_FAILED, confirmed=(COMPARED, ATTACKED))
    rates = [" and ".join(f"{100 * true:g} %" for _, true, *_ in one.points) for one in (reached, shown)]
    return Part(CHECK_FAILED, (f"{PAGE}: the attack, run again, found {rates[0]}, and the page says {rates[1]}",))


def _with_library(expected: str, found: str, drawn_with: str) -> str | None:
    """Return a page with the library of another one, if that is the one of the version that is named, else None."""
    if drawn_with == dict(page_file.renderer())[page_file.RENDERER[1]]:
        return expected
    scripts = page_rule.scripts_in(found)
    if len(scripts) != 2 or not page_rule.is_library(scripts[0], drawn_with):
        return None
    own = library_of(runtime())
    start, other = beginning(own, DRAWING), beginning(scripts[0], DRAWING)
    # Where a page has its library: it begins with the digest, and brings the script.
    return expected.replace(start, other, 1).replace(f"<script>{own}</script>", f"<script>{scripts[0]}</script>", 1)


def drawn_again(contents: Mapping[str, bytes], facts: page_file.PageFacts) -> str:
    """Return the page that the other files of a folder call for."""
    found, said, balance = release_in(dict(contents)), facts.ledger, None
    if isinstance(found, OldRelease):
        raise NotCheckable("a page of this version", "one of version 0.1.0", page_file.AGAIN)
    if said is not None:
        # The database toolkit is loaded only where a ledger was bound.
        from equipoise.ledger.statements import Balance

        left = Decimal(said.epsilon_left), Decimal(said.delta_left)
        balance = Balance(Budget(said.epsilon, said.delta), *left)
    saved, selected = found.saved, None
    if saved.estimator is not None or saved.selected:
        # What a selector selects is its own rule; a model's page needs no estimator, which takes a second to load.
        from equipoise.artifact.folder import opened, support_of

        selected = support_of(opened(found))
    shown = Shown(saved.coefficients, saved.intercepts, saved.features, saved.classes, selected, found.schema)
    return page_of(found.certificate, shown, balance, "" if said is None else said.at, facts.attack)


def difference(found: str, expected: str) -> str | None:
    """Return in what a page is not the expected one, or None.

    Examples
    --------
    >>> chart = '<p>1</p><script type="application/json" id="curve-data">{"delta": %s}</script>'
    >>> difference(chart % "0.1", chart % "0.10000000000000002") is None
    True
    >>> difference(chart % "0.1" + "<script>", chart % "0.1")
    'not the page that the other files call for: it has ...
    """
    if found == expected:
        return None
    said = "not the page that the other files call for"
    text, called_for = _DATA.sub(r"\1\3", found), _DATA.sub(r"\1\3", expected)
    if text != called_for:
        ends = range(min(len(text), len(called_for)) + 1)
        letter = bisect.bisect_left(ends, True, key=lambda end: text[:end] != called_for[:end])
        around = slice(max(0, letter - BEFORE - 1), letter + AFTER)
        return f"{said}: it has {text[around]!a} where {called_for[around]!a} belongs"
    pairs = zip(_DATA.findall(found), _DATA.findall(expected), strict=True)
    other = [opening.split('"')[3] for (opening, data, _), (_, data_of, _) in pairs if not _alike(data, data_of)]
    return f"{said}: the data of {', '.join(other)} differs" if other else None


def _alike(data: str, expected: str) -> bool:
    """Return whether two texts of JSON differ in nothing but the last digits of numbers that are not whole."""
    # A double takes 3 to 24 letters: what is longer still is not looked at.
    if len(data) > 8 * len(expected):
        return False
    parts, parts_of = _TOKEN.split(data), _TOKEN.split(expected)
    if parts[::2] != parts_of[::2]:
        return False
    pairs = zip(parts[1::2], parts_of[1::2], strict=True)
    return all(one == other or _near(one, other) for one, other in pairs)


def _near(*tokens: str) -> bool:
    """Return whether two tokens are numbers that are not whole, each as a double is written, and nearly the same."""
    if any(token.startswith('"') or repr(float(token)) != token for token in tokens):
        return False
    return math.isclose(*map(float, tokens), rel_tol=NEAR)


def _without_facts(found: str, made_by: str) -> Part:
    if made_by == (here := version(page_file.RENDERER[0])):
        return Part(CHECK_FAILED, (f"{PAGE}: missing; Equipoise {here}, which the certificate names, writes one",))
    return _not_compared(found, made_by, f"drawn by Equipoise {made_by:.40}, before there was {PAGE}")


def _not_compared(found: str, drawn_by: str, why: str) -> Part:
    """Return that what a page says was not compared, unless it breaks the rule that every page keeps to."""
    broken = page_rule.kept(found, drawn_by)
    return broken if broken.faults else replace(broken, unchecked=(f"what the page says: not compared, {why}",))


def _unknown_library(drawn_with: str) -> Part:
    found = f"charts drawn by vl-convert-python {drawn_with:.40}, whose script is not known here, and can show anything"
    return Part(NOT_CHECKABLE, (f"{REPORT}: {found}: install that version, and check again",))


def _named(renderer: Mapping[str, str]) -> str:
    return " with ".join(f"{name:.40} {number:.40}" for name, number in renderer.items())
