"""The page of a reproduced paper: what was claimed, what was measured, and the figures; self-contained."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from equipoise.report.charts import specification
from equipoise.report.page import document, escape, figure, folded, table
from equipoise.report.runtime import runtime
from equipoise_studies.study_charts import ratios

STYLE = """
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(19rem, 100%), 1fr)); gap: .4rem 1.6rem; }
.charts h3 { margin: .6rem 0 0; font-weight: 600; } .charts figure { margin: .2rem 0 .8rem; }
.claims td:first-child { min-width: 17rem; } .claims td, .claims th { padding-right: .5rem; padding-left: .5rem; }
.verdict { display: inline-block; padding: .1rem .55rem; border: 1px solid var(--line); border-radius: 1rem;
  margin: 0 .4rem .4rem 0; font-size: .92rem; background: var(--card); }
"""
# Verdicts that follow from the tolerance.
JUDGED = ("reproduced", "not reproduced")
CLAIM_HEADER = ("claim", "published", "measured", "interval", "tolerance", "verdict", "remarks")


@dataclass(frozen=True)
class Figure:
    """A chart with its name (also of its static image), the heading above it, and its description in words."""

    name: str
    heading: str
    description: str
    chart: Any

    @cached_property
    def specification(self) -> str:
        """The chart's Vega-Lite specification, which the page and the static image share."""
        return specification(self.chart)


@dataclass(frozen=True)
class Table:
    """A table of text cells; the columns named in `texts` hold sentences."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""
    note: str = ""
    texts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Section:
    """A part of the page: a title, paragraphs, figures side by side, tables."""

    title: str
    paragraphs: tuple[str, ...] = ()
    figures: tuple[Figure, ...] = ()
    tables: tuple[Table, ...] = ()
    closed: bool = False


@dataclass(frozen=True)
class Contents:
    """Everything that a study's page says."""

    title: str
    lead: str
    notice: str
    claims: Sequence[Mapping[str, Any]]
    sections: Sequence[Section]
    remarks: str = ""


def number(value: float) -> str:
    """Return a number as a table shows it: four digits, no exponent between 0.001 and 100,000.

    Examples
    --------
    >>> number(0.16413), number(378783), number(2.64e-6), number(0.05), number(7.0)
    ('0.1641', '378783', '2.64e-06', '0.05', '7')
    """
    if value and not 1e-3 <= abs(value) < 1e5:
        return str(round(value)) if value == round(value) and abs(value) < 1e9 else f"{value:.3g}"
    return f"{value:.4g}" if abs(value) < 1e3 else f"{value:.0f}"


def _claim_cells(claim: Mapping[str, Any]) -> tuple[str, ...]:
    exact = claim["low"] == claim["high"]
    return (
        f"{claim['what'] or claim['id']} ({claim['where']})",
        number(claim["published"]),
        number(claim["measured"]),
        "" if exact else f"{number(claim['low'])} .. {number(claim['high'])}",
        f"{100 * claim['tolerance']:.3g} %" if claim["tolerance"] else "exact" if claim["verdict"] in JUDGED else "",
        claim["verdict"],
        claim["note"],
    )


def _section(section: Section) -> str:
    places = "".join(
        f"<div><h3>{escape(each.heading)}</h3>{figure(each.name, each.description, each.description)}</div>"
        for each in section.figures
    )
    cells = "".join(
        table(each.header, each.rows, each.note, caption=each.caption, texts=each.texts) for each in section.tables
    )
    words = "".join(f"<p>{escape(text)}</p>" for text in section.paragraphs)
    body = words + (f'<div class="charts">{places}</div>' if places else "") + cells
    if section.closed:
        return folded(section.title, body)
    return f"<h2>{escape(section.title)}</h2>{body}"


def study_page(contents: Contents) -> str:
    """Return the page of a study.

    Examples
    --------
    >>> section = Section("Nothing", ("was found",))
    >>> text = study_page(Contents("A study", "Of a paper.", "No certificate.", [], [section]))
    >>> "<p>was found</p>" in text
    True
    """
    verdicts = [claim["verdict"] for claim in contents.claims]
    counts = "".join(
        f'<span class="verdict">{verdicts.count(name)} {escape(name)}</span>' for name in dict.fromkeys(verdicts)
    )
    charts = {each.name: each.specification for section in contents.sections for each in section.figures}
    overview, cells = "", ""
    drawn = [claim for claim in contents.claims if claim["published"]]
    if drawn:
        charts = {"claims": specification(ratios(drawn))} | charts
        overview = figure(
            "claims",
            "Every claim: measured over published; the table has the numbers.",
            "Measured over published, with the interval of the measurement; the grey bar is the tolerance; what lies "
            "beyond 2 is drawn at the edge. Point at a mark for its numbers.",
        )
        rows = [_claim_cells(claim) for claim in contents.claims]
        listed = table(CLAIM_HEADER, rows, caption="Every claim", texts=("remarks",))
        cells = folded("every claim, with its numbers", f'<div class="claims">{listed}</div>')
    remarks = f'<p class="soft">{escape(contents.remarks)}</p>' if contents.remarks else ""
    body = f"""<h1>{escape(contents.title)}</h1><p class="soft">{escape(contents.lead)}</p>
<p class="notice">{escape(contents.notice)}</p>
<h2>Claims</h2><p>{counts}</p>{overview}{cells}
{"".join(_section(section) for section in contents.sections)}{remarks}"""
    return document(contents.title, body, charts, runtime(), STYLE)
