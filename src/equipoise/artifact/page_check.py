"""Drawing the page of a released folder again, and comparing: nothing may be on it that the release does not call for.

The same program draws the same page. Numbers of its charts may differ in their last digits from machine to machine, and
so are compared to a millionth; everything else, every script among it, letter by letter.
"""

import bisect
import math
import re
from collections.abc import Callable, Mapping
from decimal import Decimal

from equipoise.artifact import page_file
from equipoise.artifact.page import Shown, page_of
from equipoise.artifact.parts import Part
from equipoise.artifact.reading import OldRelease, ReadRelease, release_in
from equipoise.certify.certificate import Certificate
from equipoise.certify.folder import CERTIFICATE, CHECK_FAILED, PAGE, REPORT, text_of
from equipoise.errors import EquipoiseError, MissingExtra, NotCheckable
from equipoise.vocabulary.facts import Budget

# The data of a chart, as `equipoise.report.page` writes it: there is no "<" in it.
_DATA = re.compile(r'(<script type="application/json" id="[^"<>]*">)([^<]*)(</script>)')
# A text or a number of JSON. A text that does not end takes the rest, so that what a stranger wrote is read in one go.
_TOKEN = re.compile(r'("(?:[^"\\]|\\.)*+"?|-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:e[+-]?[0-9]++)?)', re.DOTALL)

# How far numbers of charts may be apart: no picture shows it.
NEAR = 1e-6

COMPARED = "the page: drawn again from the other files, it is the same"

# Draws the page of an evaluation from its files: evaluations are a room above this one, and know how.
EvaluationPage = Callable[[Mapping[str, bytes]], str]


def compared(contents: Mapping[str, bytes], evaluation_page: EvaluationPage | None = None) -> Part:
    """Return what comes of drawing the page of a folder again, from its files as they were read once.

    `evaluation_page` draws it if the folder is that of an evaluation.
    """
    try:
        certificate = Certificate.from_json(text_of(contents, CERTIFICATE))
        found = text_of(contents, REPORT)
        made_by = dict(certificate.release.software if certificate.release else ()).get("equipoise")
        here = dict(page_file.renderer())
        if PAGE not in contents:
            return _without_facts(made_by, here["equipoise"])
        facts = page_file.read(text_of(contents, PAGE))
        if dict(facts.renderer) != here:
            return _not_compared(f"drawn by {_named(dict(facts.renderer))}, and here is {_named(here)}")
        again = drawn_again(contents, facts) if evaluation_page is None else evaluation_page(contents)
        fault = difference(found, again)
    except MissingExtra as error:
        return _not_compared(f"since {error.found}: {error.remedy}")
    except NotCheckable as error:
        return _not_compared(f"since the certificate has {error.found}")
    except EquipoiseError as error:
        return Part(CHECK_FAILED, (f"{REPORT}: it cannot be drawn again ({error.found:.200})",))
    return Part(CHECK_FAILED, () if fault is None else (f"{REPORT}: {fault}",), () if fault else (COMPARED,))


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
    shown = Shown(saved.coefficients, saved.intercepts, saved.features, saved.classes, selected, _target(found))
    return page_of(found.certificate, shown) if said is None else page_of(found.certificate, shown, balance, said.at)


def _target(found: ReadRelease) -> str:
    return "" if found.schema is None else found.schema.target.name


def difference(found: str, expected: str) -> str | None:
    """Return in what a page is not the expected one, or None.

    Examples
    --------
    >>> chart = '<p>1</p><script type="application/json" id="curve-data">{"delta": %s}</script>'
    >>> difference(chart % "0.1", chart % "0.10000000000000002") is None
    True
    >>> difference(chart % "0.1" + "<script>", chart % "0.1")
    'not the page that the other files call for: it departs at letter 80'
    """
    if found == expected:
        return None
    said = "not the page that the other files call for"
    if _DATA.sub(r"\1\3", found) != _DATA.sub(r"\1\3", expected):
        ends = range(min(len(found), len(expected)) + 1)
        letter = bisect.bisect_left(ends, True, key=lambda end: found[:end] != expected[:end])
        return f"{said}: it departs at letter {letter}"
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


def _without_facts(made_by: str | None, here: str) -> Part:
    if made_by == here:
        return Part(CHECK_FAILED, (f"{PAGE}: missing; Equipoise {here}, which the certificate names, writes one",))
    return _not_compared(f"drawn by Equipoise {made_by}, before there was {PAGE}")


def _not_compared(why: str) -> Part:
    return Part(CHECK_FAILED, unchecked=(f"what the page says: not compared, {why}",))


def _named(renderer: Mapping[str, str]) -> str:
    return " with ".join(f"{name:.40} {number:.40}" for name, number in renderer.items())
