"""A self-contained HTML page: no outside request, light and dark, phone and desktop, screen and paper."""

import base64
import hashlib
import html
import json
import math
from collections.abc import Mapping, Sequence

from equipoise.wording import percent

STYLE = """
:root { color-scheme: light dark; --ink: #1c2430; --paper: #fbfaf7; --line: #d9d5cb; --soft: #5b6472; --mark: #fff3d6;
  --edge: #c98a00; --first: #1f6fb2; --second: #b4500f; --muted: #8f95a1; --noise: #e6e4de; --card: #f3f1eb; }
@media screen and (prefers-color-scheme: dark) {
  :root { --ink: #e8e6e1; --paper: #15181d; --line: #363c46; --soft: #a3abb8; --mark: #3a2f12; --edge: #d9a520;
    --first: #6cb2ec; --second: #f0a060; --muted: #6f7785; --noise: #2a2f38; --card: #1d2128; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1080px; padding: 2rem 1.2rem 4rem; font: 16px/1.55 system-ui, sans-serif;
  color: var(--ink); background: var(--paper); overflow-wrap: break-word; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 .3rem; } h2 { font-size: 1.2rem; margin: 2.4rem 0 .6rem; }
h3 { font-size: 1rem; margin: 1.4rem 0 .3rem; } p, li { max-width: 46rem; } .soft { color: var(--soft); }
.notice { background: var(--mark); border-left: 4px solid var(--edge); padding: .7rem 1rem; max-width: 46rem; }
.wide { overflow-x: auto; margin: .6rem 0; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .92rem; }
caption { text-align: left; color: var(--soft); padding: .3rem 0; }
th, td { padding: .32rem .7rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap;
  vertical-align: top; }
th:first-child, td:first-child, .text { text-align: left; }
th { color: var(--soft); font-weight: 600; white-space: normal; min-width: 6rem; vertical-align: bottom; }
td.text { white-space: normal; min-width: 15rem; max-width: 34rem; overflow-wrap: anywhere; }
td:first-child { min-width: 9.5rem; max-width: 24rem; white-space: normal; overflow-wrap: anywhere; }
pre { overflow-x: auto; padding: 1rem; border: 1px solid var(--line); font-size: .82rem; line-height: 1.45; }
details { margin: .6rem 0; } summary { cursor: pointer; color: var(--soft); }
figure { margin: 1rem 0; min-width: 0; } figcaption { color: var(--soft); font-size: .92rem; max-width: 46rem; }
.chart.vega-embed { display: block; width: 100%; }
body #vg-tooltip-element { background: var(--card); color: var(--ink); border-color: var(--line); max-width: 20rem;
  overflow-wrap: anywhere; }
body #vg-tooltip-element td { white-space: normal; } body #vg-tooltip-element table tr td.key { color: var(--soft); }
@media (max-width: 30rem) {
  body { padding: 1.2rem .8rem 3rem; } pre { white-space: pre-wrap; overflow-wrap: anywhere; padding: .6rem; }
  th, td, td.text, td:first-child { min-width: 0; max-width: none; padding: .3rem .35rem; white-space: normal;
    overflow-wrap: anywhere; }
  .lines thead { display: none; }
  .lines, .lines caption, .lines tbody, .lines tr, .lines td { display: block; text-align: left; }
  .lines tr { border-bottom: 1px solid var(--line); padding: .3rem 0; } .lines td { border: 0; padding: .1rem 0; }
  .lines td::before { content: attr(data-name) ": "; color: var(--soft); } }
@media print { body { padding: 0; max-width: none; } figure, .notice, tr { break-inside: avoid; }
  .wide, pre { overflow: visible; } pre { white-space: pre-wrap; } }
"""

# A table of more columns is shown as lines there.
MOST_COLUMNS_OF_A_PHONE = 3

# Colours are the style sheet's own variables, so that a chart follows light, dark and paper without being drawn again.
THEME = {
    "background": "transparent",
    "font": "system-ui, sans-serif",
    "axis": {
        "labelColor": "var(--ink)",
        "titleColor": "var(--ink)",
        "titleFontWeight": "normal",
        "domainColor": "var(--line)",
        "tickColor": "var(--line)",
        "gridColor": "var(--line)",
        "labelFontSize": 12,
        "titleFontSize": 12,
    },
    "header": {"labelColor": "var(--ink)"},
    "legend": {"labelColor": "var(--ink)", "titleColor": "var(--ink)", "labelFontSize": 12, "labelLimit": 320},
    "view": {"stroke": None},
    "range": {"category": ["var(--first)", "var(--second)", "var(--muted)"]},
    "style": {
        "first": {"color": "var(--first)"},
        "second": {"color": "var(--second)"},
        "muted": {"color": "var(--muted)"},
        "noise": {"color": "var(--noise)"},
        "soft": {"color": "var(--soft)"},
    },
}

# Expressions are interpreted, never compiled, so that the page can forbid what it does not need.
DRAWING = """
const read = name => JSON.parse(document.getElementById(name).textContent);
for (const place of document.querySelectorAll('[data-chart]'))
  vegaEmbed(place, read(place.dataset.chart), {actions: false, renderer: 'svg', ast: true, config: read('theme')})
    .catch(error => console.error(error));
"""


def escape(text: str) -> str:
    """Return text that means itself anywhere in a page, in UTF-8, whatever it holds.

    Examples
    --------
    >>> escape('</script><img src="x">')
    '&lt;/script&gt;&lt;img src=&quot;x&quot;&gt;'
    """
    return html.escape(_encodable(text))


def number(value: float) -> str:
    """Return a number as the page writes it.

    Examples
    --------
    >>> number(0.123456), number(1e-06), number(40000.0), number(float("inf"))
    ('0.1235', '1e-06', '40,000', 'none')
    """
    if not math.isfinite(value):
        return "none"
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e9 else f"{value:.4g}"


def _encodable(text: str) -> str:
    # Half a surrogate pair, which a name from a JSON file may hold, has no place in UTF-8.
    return text.encode("utf-8", "replace").decode("utf-8")


def table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    note: str = "",
    *,
    caption: str = "",
    texts: Sequence[str] = (),
) -> str:
    """Return an HTML table of text cells, and a note below it; the columns named in `texts` hold sentences.

    Examples
    --------
    >>> "<td>1 &lt; 2</td>" in table(["claim"], [["1 < 2"]])
    True
    """
    # On a phone, a table with sentences or many columns shows every cell on a line of its own, after its column's name.
    stacked = bool(texts) or len(header) > MOST_COLUMNS_OF_A_PHONE
    kinds = [' class="text"' if name in texts else "" for name in header]
    named = [f' data-name="{escape(name)}"' if stacked else "" for name in header]
    head = "".join(f'<th scope="col"{kind}>{escape(name)}</th>' for name, kind in zip(header, kinds, strict=True))
    body = "".join(
        "<tr>"
        + "".join(f"<td{kind}{name}>{escape(cell)}</td>" for cell, kind, name in zip(row, kinds, named, strict=True))
        + "</tr>"
        for row in rows
    )
    above = f"<caption>{escape(caption)}</caption>" if caption else ""
    below = f'<p class="soft">{escape(note)}</p>' if note else ""
    lines = ' class="lines"' if stacked else ""
    cells = f"<table{lines}>{above}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="wide" tabindex="0">{cells}</div>{below}'


def paragraph(text: str, kind: str = "") -> str:
    """Return text as a paragraph of HTML, of a kind that the style sheet knows."""
    return f"<p{f' class={chr(34)}{kind}{chr(34)}' if kind else ''}>{escape(text)}</p>"


# Above this epsilon a promise hides next to nothing, as plans say too (`planning.notes`).
MOST_EPSILON = 10.0


def hardly_private(epsilon: float, guess: float, unit: str) -> str:
    """Return a line for the top of a page whose promise hides next to nothing; none for another.

    Examples
    --------
    >>> hardly_private(10.0, 0.99996, "row"), hardly_private(100.0, 1.0, "row")[18:39]
    ('', 'Next to no protection')
    """
    if epsilon <= MOST_EPSILON:
        return ""
    return paragraph(
        f"Next to no protection: at epsilon = {number(epsilon)} what an attacker gains is nearly everything. Who knows "
        f"two candidates for a {unit} may tell which of them was in the table in {percent(guess)} of cases.",
        "notice",
    )


def folded(summary: str, content: str, *, opened: bool = False) -> str:
    """Return HTML content under a line that opens and closes it."""
    return f"<details{' open' if opened else ''}><summary>{escape(summary)}</summary>{content}</details>"


def figure(name: str, description: str, caption: str) -> str:
    """Return the place where the chart of this name is drawn, with its description for those who do not see it."""
    place = f'<div class="chart" role="img" id="{escape(name)}" data-chart="{escape(name)}-data"'
    return (
        f'<figure>{place} aria-label="{escape(description)}"></div><figcaption>{escape(caption)}</figcaption></figure>'
    )


def document(title: str, body: str, charts: Mapping[str, str], runtime: str, style: str = "") -> str:
    """Return a whole page around a body of HTML.

    Parameters
    ----------
    title, body : str
        The title as text, the body as HTML.
    charts : mapping of str to str
        For the name of each `figure` its Vega-Lite specification as JSON.
    runtime : str
        The JavaScript that draws them.
    style : str
        What the page adds to the common style sheet.
    """
    blocks = {"theme": json.dumps(THEME), **{f"{name}-data": text for name, text in charts.items()}}
    data = "".join(
        f'<script type="application/json" id="{escape(name)}">{_inert(text)}</script>' for name, text in blocks.items()
    )
    library = library_of(runtime)
    # A landmark to jump to. The element `main` is none that checkers of 0.2.0 let a page have (`artifact.page_rule`).
    return f"""{beginning(library, DRAWING)}
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<title>{escape(title)}</title><link rel="icon" href="data:,"><style>{STYLE}{style}</style></head><body>
<div role="main">
{body}
</div>
{data}<script>{library}</script><script type="module">{DRAWING}</script></body></html>
"""


def library_of(runtime: str) -> str:
    """Return the JavaScript that draws charts as it stands in a page, where nothing in it may end its element."""
    return runtime.replace("\r\n", "\n").replace("</script", "<\\/script")


def beginning(library: str, drawing: str) -> str:
    """Return how a page begins: only these two scripts may run, and nothing may be fetched.

    So it is even if a text should slip through unescaped.
    """
    policy = (
        f"default-src 'none'; script-src {_hash(library)} {_hash(drawing)}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{policy}">"""


def _inert(data: str) -> str:
    # Nothing in a piece of JSON may end the element that holds it.
    return _encodable(data).replace("<", "\\u003c")


def _hash(script: str) -> str:
    digest = hashlib.sha256(script.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"
