"""What Sphinx and its theme leave out of a page for those who read by ear, by keys or on a phone.

Levels of headings, and a way in: whatever may be wider than a phone scrolls in a box of its own, which keys reach only
if it can have the focus. A picture leads to itself alone, which a phone can enlarge. A table of many columns has the names of its columns in every cell, so that a phone can show
each cell on a line of its own (`handbook.css`).
"""

import html
import re
from pathlib import Path

MENDED = {
    '<p class="caption" role="heading">': '<p class="caption" role="heading" aria-level="2">',
    "<pre>": '<pre tabindex="0">',
    '<div class="formula">': '<div class="formula" tabindex="0">',
    '<div class="table-wrapper ': '<div tabindex="0" class="table-wrapper ',
}

# One that leads nowhere yet.
PICTURE = r'<img\b[^>]*\bsrc="([^"]*_images/[^"]+)"[^>]*>(?!</a>)'

# A table of more columns is shown as lines on a phone: the last ones would lie beyond its edge.
MOST_COLUMNS_OF_A_PHONE = 3


def mended(page: str) -> str:
    """Return a page of the site with what it lacks; once is enough, and twice is the same.

    Examples
    --------
    >>> mended("<pre>text</pre>")
    '<pre tabindex="0">text</pre>'
    """
    for written, better in MENDED.items():
        page = page.replace(written, better)
    page = re.sub(PICTURE, r'<a class="whole" href="\1">\g<0></a>', page)
    return re.sub(r'<table class="docutils (?!lines).*?</table>', _in_lines, page, flags=re.DOTALL)


def _in_lines(found: re.Match[str]) -> str:
    """Return a table whose cells say which column they belong to, if it has many columns."""
    table = found[0]
    names = [
        html.escape(html.unescape(re.sub(r"<[^>]*>", "", name)).strip())
        for name in re.findall(r"<th\b[^>]*>(.*?)</th>", table, re.DOTALL)
    ]
    if len(names) <= MOST_COLUMNS_OF_A_PHONE or "colspan" in table or "rowspan" in table:
        return table
    return re.sub(
        r"<tr\b.*?</tr>",
        lambda row: _named(row[0], names),
        table.replace("docutils ", "docutils lines ", 1),
        flags=re.S,
    )


def _named(row: str, names: list[str]) -> str:
    """Return a row of a table whose cells have the names of their columns; its head has none."""
    left = iter(names)
    return re.sub(r"<td\b", lambda _: f'<td data-name="{next(left, "")}"', row)


def mend(site: Path) -> None:
    """Mend every page below a folder."""
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        better = mended(text)
        if better != text:
            path.write_text(better, encoding="utf-8")
