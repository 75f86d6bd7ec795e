"""What Sphinx and its theme leave out of a page for those who read by ear or type: levels of headings, and a way in.

Whatever may be wider than a phone scrolls in a box of its own, which keys reach only if it can have the focus.
"""

from pathlib import Path

MENDED = {
    '<p class="caption" role="heading">': '<p class="caption" role="heading" aria-level="2">',
    "<pre>": '<pre tabindex="0">',
    '<div class="formula">': '<div class="formula" tabindex="0">',
    '<div class="table-wrapper ': '<div tabindex="0" class="table-wrapper ',
}


def mended(page: str) -> str:
    """Return a page of the site with what it lacks; once is enough, and twice is the same.

    Examples
    --------
    >>> mended("<pre>text</pre>")
    '<pre tabindex="0">text</pre>'
    """
    for written, better in MENDED.items():
        page = page.replace(written, better)
    return page


def mend(site: Path) -> None:
    """Mend every page below a folder."""
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        better = mended(text)
        if better != text:
            path.write_text(better, encoding="utf-8")
