"""Charts of studies from plain records, and what every page needs to draw its charts."""

from collections.abc import Sequence
from typing import Any

from equipoise.errors import MissingExtra


def altair() -> Any:
    """Return the Altair module, or say how to install it."""
    try:
        import altair
        import vl_convert  # noqa: F401 - saves static images and inlines the interactive ones
    except ImportError as error:
        raise MissingExtra.of("a chart", error) from None
    return altair


def privacy_utility(records: Sequence[dict[str, object]]) -> Any:
    """Return the privacy-utility chart: private score over epsilon with its spread, the plain score as a dashed line.

    Parameters
    ----------
    records : sequence of dict
        With the keys dataset, score, epsilon, private, low, high, plain, kind, theorem, noise.
    """
    alt = altair()
    values = sorted({float(str(record["epsilon"])) for record in records})
    axis = alt.Axis(grid=False, values=values, format="~g")
    scale = alt.Scale(type="log", domain=[values[0], values[-1]], nice=False)
    epsilon = alt.X("epsilon:Q", title="epsilon (smaller is more private)", scale=scale, axis=axis)
    base = alt.Chart().encode(x=epsilon)
    band = base.mark_area(opacity=0.18).encode(
        y=alt.Y("shown_low:Q", title=None).scale(zero=False), y2="shown_high:Q", color=alt.value("#2a78b8")
    )
    line = base.mark_line(point={"size": 45, "filled": True}, strokeWidth=2.2).encode(
        y=alt.Y("shown:Q", title="test score").scale(zero=False),
        color=alt.value("#2a78b8"),
        tooltip=[
            alt.Tooltip("dataset:N"),
            alt.Tooltip("epsilon:Q", format="~g"),
            alt.Tooltip("private:Q", format=".3f", title="private score"),
            alt.Tooltip("plain:Q", format=".3f", title="non-private score"),
            alt.Tooltip("kind:N"),
            alt.Tooltip("theorem:N"),
            alt.Tooltip("noise:Q", format=".4g", title="noise there"),
        ],
    )
    plain = base.mark_line(strokeDash=[6, 4], strokeWidth=1.6).encode(y="plain:Q", color=alt.value("#c2571a"))
    # Invisible points make the axis reach to the top of the band.
    top = base.mark_point(opacity=0).encode(y="shown_high:Q")
    shown = [_shown(record) for record in records]
    order = list(dict.fromkeys(str(record["panel"]) for record in shown))
    panels = alt.layer(band, line, plain, top, data=alt.Data(values=shown))
    return (
        panels.properties(width=270, height=220)
        .facet(facet=alt.Facet("panel:N", title=None, sort=order, header=alt.Header(labelFontSize=14)), columns=3)
        .resolve_scale(y="independent")
        .configure_view(stroke=None)
        .configure(background="transparent", font="system-ui, sans-serif")
    )


def _shown(record: dict[str, object]) -> dict[str, object]:
    # A noisy regression can score far below zero; the picture stops at -1 and the table tells the rest.
    floor = {
        f"shown{suffix}": max(-1.0, float(str(record[key])))
        for suffix, key in (("", "private"), ("_low", "low"), ("_high", "high"))
    }
    return {**record, **floor, "panel": f"{record['dataset']} ({record['score']})"}


def save_image(chart: Any, path: str) -> None:
    """Save a chart as SVG or PNG, on white."""
    chart.configure(background="white", font="sans-serif").save(path, scale_factor=2)


def specification(chart: Any) -> str:
    """Return the chart's Vega-Lite specification as JSON text."""
    text: str = chart.to_json(indent=None)
    return text
