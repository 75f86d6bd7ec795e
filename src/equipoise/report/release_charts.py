"""Charts of one release, from plain records. Names of columns are data in them: never a field or an expression."""

import math
from collections.abc import Sequence
from typing import Any

from equipoise.report.charts import altair

Record = dict[str, object]

# What the axis of a logarithmic scale is marked with: 1, 2 and 5 times powers of ten.
MANTISSAS = (1, 2, 5)

# The height of one weight's bar, in pixels.
ROW = 21

# A picture of tiny deltas ends this factor below the claimed one.
FAINTEST = 1e-4


def marks(low: float, high: float, most: int = 7) -> list[float]:
    """Return round numbers between two positive ends for a logarithmic axis, powers of ten alone where that is plenty.

    Examples
    --------
    >>> marks(0.1, 10.0)
    [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0]
    >>> marks(0.001, 100.0)
    [0.001, 0.01, 0.1, 1.0, 10.0, 100.0]
    """
    exponents = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1)
    slack = 1 + 1e-9
    for mantissas in (MANTISSAS, MANTISSAS[:1]):
        found = [float(f"{mantissa}e{exponent}") for exponent in exponents for mantissa in mantissas]
        inside = [value for value in found if low / slack <= value <= high * slack]
        if len(inside) <= most:
            return inside
    return inside[:: -math.ceil(len(inside) / most)][::-1]


def privacy_curve(points: Sequence[Record], epsilon: float, delta: float) -> Any:
    """Return the curve delta(epsilon) with the claim as a point; points have the keys epsilon and delta."""
    alt = altair()
    shown = [record for record in points if delta == 0 or float(str(record["delta"])) >= delta * FAINTEST]
    if delta == 0:
        vertical = alt.Y("delta:Q", title="delta", axis=alt.Axis(tickCount=5))
    else:
        low = min([delta, *(float(str(record["delta"])) for record in shown)])
        axis = alt.Axis(values=marks(low, 1.0), format="~e")
        scale = alt.Scale(type="log", domain=[low, 1.0], nice=False)
        vertical = alt.Y("delta:Q", title="delta", axis=axis, scale=scale)
    horizontal = alt.X("epsilon:Q", title="epsilon", axis=alt.Axis(grid=False, tickCount=6))
    tooltip = [alt.Tooltip("epsilon:Q", format=".4g"), alt.Tooltip("delta:Q", format=".4g")]
    line = (
        alt.Chart(alt.Data(values=shown))
        .mark_line(style="first", strokeWidth=2.2)
        .encode(x=horizontal, y=vertical, tooltip=tooltip)
    )
    claim = (
        alt.Chart(alt.Data(values=[{"epsilon": epsilon, "delta": delta}]))
        .mark_point(style="second", filled=True, size=90, opacity=1)
        .encode(x=horizontal, y=vertical, tooltip=tooltip)
    )
    return _responsive(alt.layer(line, claim), "The privacy curve: delta over epsilon, with the claim as a point.")


def error_bounds(points: Sequence[Record], axis: str, unit: str, claim: float, ceiling: float | None) -> Any:
    """Return bounds over a public parameter, both axes logarithmic.

    Parameters
    ----------
    points : sequence of dict
        With the keys place (on the horizontal axis), bound and kind (which line it belongs to).
    axis, unit : str
        The titles of the axes.
    claim : float
        The place that is marked.
    ceiling : float, optional
        A level above which a bound says nothing.
    """
    alt = altair()
    places = [float(str(record["place"])) for record in points]
    levels = [float(str(record["bound"])) for record in points] + ([ceiling] if ceiling else [])
    kinds = list(dict.fromkeys(str(record["kind"]) for record in points))
    left, right, low, high = min(places), max(places), min(levels) / 1.25, max(levels) * 1.25
    horizontal = alt.X(
        "place:Q",
        title=axis,
        scale=alt.Scale(type="log", domain=[left, right], nice=False),
        axis=alt.Axis(values=marks(left, right), format="~g", grid=False, labelFlush=False),
    )
    vertical = alt.Y(
        "bound:Q",
        title=unit,
        scale=alt.Scale(type="log", domain=[low, high], nice=False),
        axis=alt.Axis(values=marks(low, high), format="~g"),
    )
    legend = alt.Legend(title=None, orient="top", direction="vertical") if len(kinds) > 1 else None
    base = alt.Chart(alt.Data(values=list(points))).encode(
        x=horizontal,
        y=vertical,
        color=alt.Color("kind:N", scale=alt.Scale(domain=kinds), legend=legend),
        tooltip=[
            alt.Tooltip("place:Q", title="at", format=".4g"),
            alt.Tooltip("bound:Q", title="at most", format=".4g"),
            alt.Tooltip("kind:N", title="what"),
        ],
    )
    layers = [
        _rule(alt, {"place": claim}, "soft").encode(x=horizontal),
        *([_rule(alt, {"bound": ceiling}, "muted").encode(y=vertical)] if ceiling else []),
        base.mark_line(strokeWidth=2.2),
        base.mark_point(filled=True, size=45, opacity=1),
    ]
    return _responsive(alt.layer(*layers), f"{unit} over {axis}, with this release marked.")


def beyond_the_picture(band: float, longest: float) -> bool:
    """Return whether a band is so much wider than the largest weight that the picture ends before it does."""
    return band > 2 * longest > 0


def released_weights(rows: Sequence[Record], kinds: Sequence[str]) -> Any:
    """Return bars of weights over bands of noise.

    Parameters
    ----------
    rows : sequence of dict
        With the keys label (different for every row), name, output, value, kind, and low and high, the ends of the
        band, which are None where nothing is known.
    kinds : sequence of str
        The kinds of bars; the last of several is drawn muted.
    """
    alt = altair()
    vertical = alt.Y(
        "label:N",
        sort=None,
        title=None,
        axis=alt.Axis(labelLimit=170, grid=False, ticks=False),
        scale=alt.Scale(paddingInner=0, paddingOuter=0.2),
    )
    longest = max(abs(float(str(row["value"]))) for row in rows) or 1.0
    widest = max([longest, *(float(str(row["high"])) for row in rows if row["high"] is not None)])
    # A band that is far wider than every weight ends with the picture, so that the weights can still be seen.
    end = 1.05 * (2 * longest if beyond_the_picture(widest, longest) else widest)
    horizontal: dict[str, Any] = {
        "title": "released weight",
        "axis": alt.Axis(tickCount=5),
        "scale": alt.Scale(domain=[-end, end], nice=False),
    }
    base = alt.Chart(alt.Data(values=list(rows)))
    tooltip = [
        alt.Tooltip("name:N", title="column"),
        alt.Tooltip("output:N", title="for"),
        alt.Tooltip("value:Q", title="weight", format=".4g"),
        alt.Tooltip("high:Q", title="twice the noise", format=".4g"),
    ]
    colours = alt.Scale(domain=list(kinds), range=["var(--first)", "var(--muted)"][: len(kinds)])
    layers = [
        base.mark_bar(height=alt.RelativeBandSize(0.56)).encode(
            y=vertical,
            x=alt.X("value:Q", **horizontal),
            color=alt.Color("kind:N", scale=colours, legend=None),
            tooltip=tooltip,
        )
    ]
    if any(row["low"] is not None for row in rows):
        band = base.mark_bar(style="noise", height=alt.RelativeBandSize(1.0), clip=True).encode(
            y=vertical, x=alt.X("low:Q", **horizontal), x2="high:Q", tooltip=tooltip
        )
        layers.insert(0, band)
    chart = _responsive(alt.layer(*layers), "Released weights as bars, over bands of twice the noise's deviation.")
    return chart.properties(height=ROW * len(rows))


def _rule(alt: Any, record: Record, style: str) -> Any:
    return alt.Chart(alt.Data(values=[record])).mark_rule(style=style, strokeDash=[5, 4], strokeWidth=1.4)


def _responsive(chart: Any, description: str) -> Any:
    # The width is that of the place on the page, whatever the screen.
    return chart.properties(
        width="container", height=260, description=description, autosize={"type": "fit-x", "contains": "padding"}
    )
