"""How a budget was used up over time, as lines of text and as a chart; plain data in."""

from collections.abc import Sequence
from typing import Any

from equipoise.report.charts import altair

# As many lines as a glance takes in, and as many cells as leave room for the date.
MOST_LINES, CELLS = 12, 40

# A longer history is drawn by as many of its spends.
MOST_POINTS = 1000


def thinned(points: Sequence[tuple[str, float]], most: int) -> list[tuple[str, float]]:
    """Return at most so many points, evenly chosen, the last one among them.

    Examples
    --------
    >>> thinned([("a", 0.1), ("b", 0.2), ("c", 0.3)], 2)
    [('a', 0.1), ('c', 0.3)]
    """
    if len(points) <= most:
        return list(points)
    return [points[place * (len(points) - 1) // (most - 1)] for place in range(most)]


def as_lines(points: Sequence[tuple[str, float]]) -> list[str]:
    """Return a bar for every spend, or for some of many: the share of the budget that was spent by then.

    Examples
    --------
    >>> as_lines([("2026-11-17T10:00:00+00:00", 0.25)])
    ['2026-11-17 10:00  ##########..............................   25 %']
    """
    lines = []
    for made, share in thinned(points, MOST_LINES):
        filled = min(CELLS, round(CELLS * share))
        lines.append(f"{made[:16].replace('T', ' ')}  {'#' * filled}{'.' * (CELLS - filled)}  {100 * share:3.0f} %")
    return lines


def chart(title: str, points: Sequence[tuple[str, float]]) -> Any:
    """Return the chart of the share of a budget over time, as steps; Altair draws it."""
    alt = altair()
    values = [{"made": made, "share": share} for made, share in thinned(points, MOST_POINTS)]
    return (
        alt.Chart(alt.Data(values=values))
        .mark_line(interpolate="step-after", point=True)
        .encode(
            x=alt.X("made:T", title="time (UTC)"),
            y=alt.Y("share:Q", title="share of the budget that is spent").scale(domain=[0, 1]).axis(format="%"),
        )
        .properties(width=480, height=240, title=title)
        .configure(font="sans-serif", background="white")
    )
