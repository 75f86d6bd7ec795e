"""What the pictures of this gallery have in common: small, on white, saved as SVG or PNG by the name of the file."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import altair as alt

INKS = ["#1f6fb2", "#b4500f", "#6b7280", "#2f855a"]
Records = Sequence[dict[str, Any]]


def lines(
    records: Records, across: str, along: str, by: str, picture: str | Path, *, points: bool = True, log: bool = False
) -> None:
    """Draw a line for each value of `by`, over `across`, on a logarithmic axis if `log`."""
    horizontal = alt.X(f"{across}:Q").axis(grid=False, labelFlush=False)
    if log:
        ticks = sorted({record[across] for record in records})
        horizontal = horizontal.scale(type="log", nice=False).axis(grid=False, values=ticks, format="~g")
    ink = alt.Color(f"{by}:N").scale(range=INKS).sort(None).legend(title=None, orient="top", columns=1, labelLimit=300)
    mark = alt.Chart(alt.Data(values=list(records))).mark_line(strokeWidth=2.2, point=points)
    save(mark.encode(x=horizontal, y=alt.Y(f"{along}:Q").scale(zero=False), color=ink), picture)


def bars(records: Records, name: str, value: str, by: str, picture: str | Path) -> None:
    """Draw a bar for each name, in their order, coloured by `by`."""
    ink = alt.Color(f"{by}:N").scale(range=INKS).sort(None).legend(title=None, orient="top", columns=1, labelLimit=300)
    place = alt.Y(f"{name}:N").sort(None).title(None)
    mark = alt.Chart(alt.Data(values=list(records))).mark_bar()
    save(mark.encode(y=place, x=alt.X(f"{value}:Q"), color=ink, yOffset=_beside(records, name, by)), picture)


def _beside(records: Records, name: str, by: str) -> Any:
    # Several bars of one name stand beside each other.
    return (
        alt.YOffset(f"{by}:N").sort(None) if len(records) > len({record[name] for record in records}) else alt.Undefined
    )


def squares(records: Records, by: str, picture: str | Path) -> None:
    """Draw numbers at rows and columns as squares, red and blue, one panel for each value of `by`."""
    ink = alt.Color("value:Q").scale(scheme="blueorange", domainMid=0).legend(None)
    mark = alt.Chart(alt.Data(values=list(records))).mark_rect()
    panel = mark.encode(x=alt.X("column:O").axis(None), y=alt.Y("row:O").axis(None), color=ink)
    panel, order = panel.properties(width=120, height=120), list(dict.fromkeys(record[by] for record in records))
    save(
        panel.facet(facet=alt.Facet(f"{by}:N", sort=order, title=None), columns=4).resolve_scale(color="independent"),
        picture,
    )


def save(chart: Any, picture: str | Path) -> None:
    """Save a chart, in the same style whichever it is."""
    if not isinstance(chart, alt.FacetChart):
        chart = chart.properties(width=360, height=220)
    chart.configure(background="white", font="sans-serif").configure_view(stroke=None).save(str(picture))
