"""What every page keeps to, whichever version drew it: no script but known ones, and nothing that asks for the network.

A page that cannot be drawn again here is still opened by people: what it says is not compared then, what it can do is.
"""

import hashlib
import re
from collections.abc import Iterator

from equipoise.artifact.parts import Part
from equipoise.certify.folder import CHECK_FAILED, NOT_CHECKABLE, REPORT
from equipoise.report.page import beginning

# The SHA-256 of the library that draws charts, as it stands in a page, by version of vl-convert-python.
LIBRARIES = {
    "1.7.0": "b632ae0b65aa27fc22d8045458c2c0fe06694dc252b134fa415b52ef8a7a7220",
    "1.8.0": "b66996bb5822b536e6808945330c26223bf890967feb4a7e681b432d3563ea8a",
    "1.9.0": "373b1f84072b31010f15ceb787be6b415c53936411aae267c8c2b2b6ccde46e7",
    "1.9.0.post1": "373b1f84072b31010f15ceb787be6b415c53936411aae267c8c2b2b6ccde46e7",
}

# The SHA-256 of every script that a version of Equipoise calls that library with; nothing is ever taken off this list.
DRAWINGS = {"6d98c009a02172379d602080e125ca09d2e92c22af047daaf32e0d1707f26ea7": "0.2.0"}

LIBRARY, CALL = "<script>", '<script type="module">'
ICON = '<link rel="icon" href="data:,">'

# Everything in a page that begins with "<", as `equipoise.report.page` writes it; a text's own is always escaped. So
# a browser and this expression cannot differ in what is an element.
_ELEMENT = re.compile(
    r"<script(?: type=\"module\")?>(?P<script>.*?)</script>"
    r"|<script type=\"application/json\" id=\"[^\"<>]*\">[^<]*</script>"
    r"|<style>[^<]*</style>"
    r"|</[a-z][a-z0-9]*>"
    r"|<(?P<tag>[a-z][a-z0-9]*)(?P<attributes>(?: [a-z-]+(?:=\"[^\"<>]*\")?)*)>",
    re.DOTALL,
)
_TAG = re.compile(
    "head|meta|title|link|body|h[123]|p|d[ltd]|div|section|span|small|strong|i|ul|li|pre|table|caption|thead|tbody|t[rhd]|"
    "figure|figcaption|details|summary"
)
_HARMLESS = re.compile("aria-label|class|content|data-chart|data-name|id|name|open|role|scope|style|tabindex")
_ATTRIBUTE = re.compile(r' ([a-z-]+)(?:="[^"]*")?')


def kept(page: str, drawn_by: str) -> Part:
    """Return whether a page keeps to the rule; `drawn_by` is the version of Equipoise that it says drew it."""
    if faults := tuple(dict.fromkeys(_faults(page))):
        return Part(CHECK_FAILED, tuple(f"{REPORT}: {fault}" for fault in faults[:5]))
    library, drawing = map(_digest, scripts_in(page))
    if library in LIBRARIES.values() and drawing in DRAWINGS:
        return Part(CHECK_FAILED)
    found = f"a script that this version does not know, which can show anything: check it with Equipoise {drawn_by:.40}"
    return Part(NOT_CHECKABLE, (f"{REPORT}: {found}",))


def scripts_in(page: str) -> tuple[str, ...]:
    """Return the scripts of a page that run: the library that draws charts, and the call of it; none if not both."""
    if (page.count(LIBRARY), page.count(CALL)) != (1, 1):
        return ()
    return tuple(found["script"] for found in _ELEMENT.finditer(page) if found["script"] is not None)


def is_library(text: str, version: str) -> bool:
    """Return whether a text is what a version of vl-convert-python bundles, as far as that is known here."""
    return _digest(text) == LIBRARIES.get(version)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _faults(page: str) -> Iterator[str]:
    """Yield what no page has, and what this one lacks."""
    scripts = scripts_in(page)
    if len(scripts) != 2:
        yield "other scripts than the two that a page has"
        return
    start = beginning(*scripts)
    if not page.startswith(start):
        yield "it does not begin with the rule by which a browser runs these two scripts alone and fetches nothing"
    rest = page.removeprefix(start).replace(ICON, "", 1)
    for found in _ELEMENT.finditer(rest):
        tag = found["tag"]
        if tag is not None and _TAG.fullmatch(tag) is None:
            yield f"an element <{tag:.40}>, which no page has"
        for name in _ATTRIBUTE.findall(found["attributes"] or ""):
            if _HARMLESS.fullmatch(name) is None:
                yield f"an attribute {name!r:.40} of <{tag:.40}>, which no page has"
    if "<" in _ELEMENT.sub("", rest):
        yield "an element that is not written as a page writes it"
