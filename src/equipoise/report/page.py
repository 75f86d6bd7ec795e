"""A self-contained HTML page: no outside request, light and dark, phone and desktop."""

import html
from collections.abc import Sequence

STYLE = """
:root { color-scheme: light dark; --ink: #1c2430; --paper: #fbfaf7; --line: #d9d5cb; --soft: #5b6472; --mark: #fff3d6;
--edge: #c98a00; } @media (prefers-color-scheme: dark) {
  :root { --ink: #e8e6e1; --paper: #15181d; --line: #363c46; --soft: #a3abb8; --mark: #3a2f12; --edge: #d9a520; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1080px; padding: 2rem 1.2rem 4rem; font: 16px/1.55 system-ui, sans-serif; color:
var(--ink);
  background: var(--paper); }
h1 { font-size: 1.7rem; margin: 0 0 .3rem; } h2 { font-size: 1.15rem; margin: 2.2rem 0 .6rem; }
p { max-width: 46rem; } .soft { color: var(--soft); }
.notice { background: var(--mark); border-left: 4px solid var(--edge); padding: .7rem 1rem; max-width: 46rem; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .92rem; }
th, td { padding: .32rem .7rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
th:first-child, td:first-child { text-align: left; } th { color: var(--soft); font-weight: 600; }
pre { overflow-x: auto; padding: 1rem; border: 1px solid var(--line); font-size: .82rem; line-height: 1.45; }
"""

THEME = """
const dark = matchMedia('(prefers-color-scheme: dark)').matches;
const ink = dark ? '#e8e6e1' : '#1c2430', line = dark ? '#363c46' : '#d9d5cb';
const axis = {labelColor: ink, titleColor: ink, domainColor: line, tickColor: line, gridColor: line};
vegaEmbed('#chart', SPECIFICATION, {actions: false, renderer: 'svg',
  config: {axis: axis, header: {labelColor: ink}, background: 'transparent'}}).catch(error => console.error(error));
"""


def table(header: Sequence[str], rows: Sequence[Sequence[str]], note: str = "") -> str:
    """Return an HTML table of text cells, and a note below it.

    Examples
    --------
    >>> "<td>1 &lt; 2</td>" in table(["claim"], [["1 < 2"]])
    True
    """
    head = "".join(f"<th>{html.escape(name)}</th>" for name in header)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    below = f'<p class="soft">{html.escape(note)}</p>' if note else ""
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>{below}'


def study_page(
    title: str, lead: str, notice: str, chart: str, runtime: str, cells: str, examples: Sequence[tuple[str, str]]
) -> str:
    """Return the page of a study: notice, interactive chart, table, and example arguments in full."""
    arguments = "".join(
        f"<details><summary>{html.escape(name)}</summary><pre>{html.escape(text)}</pre></details>"
        for name, text in examples
    )
    # A specification is data inside a script element: nothing in it may end that element.
    script = THEME.replace("SPECIFICATION", chart.replace("</", "<\\/"))
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(title)}</title><link rel="icon" href="data:,"><style>{STYLE}</style></head><body>
<h1>{html.escape(title)}</h1><p class="soft">{html.escape(lead)}</p><p class="notice">{html.escape(notice)}</p>
<h2>Score over epsilon</h2><div class="wide" id="chart"></div>
<p class="soft">Solid: private model, mean over splits; band: from the 10 % to the 90 % quantile. Dashed: scikit-learn
without privacy, hardly regularised. Scores below -1 are drawn at -1.</p>
<h2>The numbers</h2>{cells}
<h2>The argument, before any row is read</h2>{arguments}
<script>{runtime}</script><script type="module">{script}</script></body></html>
"""
