"""Charts of one release, from plain records, as Vega-Lite specifications in JSON.

Names of columns are data in them: never a field or an expression. They are written out as they are, since a library
that makes such specifications takes longer to load than a release to train.
"""

import math
from collections.abc import Sequence
from typing import Any

from equipoise.report.vega import Record, layer, logarithmic, quantity, responsive, rule, word

# What the axis of a logarithmic scale is marked with: 1, 2 and 5 times powers of ten.
MANTISSAS = (1, 2, 5)

# A label's lines. It is our own expression: names stay data.
LINES = "split(datum.label, '\\n')"

# The height of one weight's bar, and of every further line of its name, in pixels.
ROW, LINE = 21, 13

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


def privacy_curve(points: Sequence[Record], epsilon: float, delta: float) -> str:
    """Return the curve delta(epsilon) with the claim as a point; points have the keys epsilon and delta."""
    shown = [record for record in points if delta == 0 or float(str(record["delta"])) >= delta * FAINTEST]
    vertical = quantity("delta", title="delta", axis={"tickCount": 5})
    if delta != 0:
        low = min([delta, *(float(str(record["delta"])) for record in shown)])
        vertical |= {"axis": {"values": marks(low, 1.0), "format": "~e"}, "scale": logarithmic(low, 1.0)}
    encoding = {
        "x": quantity("epsilon", title="epsilon", axis={"grid": False, "tickCount": 6}),
        "y": vertical,
        "tooltip": [quantity("epsilon", format=".4g"), quantity("delta", format=".4g")],
    }
    line = layer({"type": "line", "style": "first", "strokeWidth": 2.2}, encoding, shown)
    dot = {"type": "point", "style": "second", "filled": True, "size": 90, "opacity": 1}
    claim = layer(dot, encoding, [{"epsilon": epsilon, "delta": delta}])
    return responsive([line, claim], "The privacy curve: delta over epsilon, with the claim as a point.")


def trade_off(
    points: Sequence[tuple[float, float]],
    marked: Sequence[tuple[float, float]],
    measured: Sequence[tuple[float, float, float, float]] = (),
) -> str:
    """Return the largest true positive rate over the false positive rate, both axes logarithmic, and blind guessing.

    What an attack reached is drawn beside it: rates of false and true positives, and the ends of an interval.
    """
    low = min(false for false, _ in points)
    keys = ("false", "true")
    axis = {"values": marks(low, 1.0), "format": "~%"}
    scale = logarithmic(low, 1.0)
    encoding = {
        "x": quantity("false", title="false positives", scale=scale, axis={**axis, "grid": False, "labelFlush": False}),
        "y": quantity("true", title="true positives, at most", scale=scale, axis=axis),
        "tooltip": [quantity("false", format=".3~%"), quantity("true", title="true, at most", format=".3~%")],
    }
    line = {"type": "line", "style": "first", "strokeWidth": 2.2}
    dot = {"type": "point", "style": "second", "filled": True, "size": 70, "opacity": 1}
    blind = {"type": "line", "style": "muted", "strokeDash": [5, 4], "strokeWidth": 1.4}
    layers = [
        layer(blind, encoding, [dict.fromkeys(keys, rate) for rate in (low, 1.0)]),
        layer(line, encoding, [dict(zip(keys, point, strict=True)) for point in points]),
        layer(dot, encoding, [dict(zip(keys, point, strict=True)) for point in marked]),
        *(_measured(measured, low, encoding) if measured else ()),
    ]
    return responsive(layers, "The largest true positive rate over the false positive rate, with blind guessing.")


def _measured(
    points: Sequence[tuple[float, float, float, float]], least: float, encoding: dict[str, Any]
) -> list[dict[str, Any]]:
    """Return diamonds at measured rates, and their intervals; what lies below the picture is drawn at its edge."""
    rows: list[Record] = [
        {
            "false": false,
            "true": max(true, least),
            "low": max(low, least),
            "high": max(high, least),
            "text": f"{100 * true:.3g} %, from {100 * low:.3g} to {100 * high:.3g} %",
        }
        for false, true, low, high in points
    ]
    tooltip = [quantity("false", format=".3~%"), word("text", title="true, measured")]
    places = {"x": encoding["x"], "tooltip": tooltip}
    interval = {**places, "y": {**encoding["y"], "field": "low"}, "y2": {"field": "high"}}
    diamond = {"type": "point", "style": "soft", "shape": "diamond", "filled": True, "size": 90, "opacity": 1}
    return [
        layer({"type": "rule", "style": "soft", "strokeWidth": 2}, interval, rows),
        layer(diamond, {**places, "y": encoding["y"]}, rows),
    ]


def error_bounds(points: Sequence[Record], axis: str, unit: str, claim: float, ceiling: float | None) -> str:
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
    places = [float(str(record["place"])) for record in points]
    levels = [float(str(record["bound"])) for record in points] + ([ceiling] if ceiling else [])
    kinds = list(dict.fromkeys(str(record["kind"]) for record in points))
    left, right, low, high = min(places), max(places), min(levels) / 1.25, max(levels) * 1.25
    horizontal = quantity(
        "place",
        title=axis,
        scale=logarithmic(left, right),
        axis={"values": marks(left, right), "format": "~g", "grid": False, "labelFlush": False},
    )
    vertical = quantity(
        "bound", title=unit, scale=logarithmic(low, high), axis={"values": marks(low, high), "format": "~g"}
    )
    legend = {"title": None, "orient": "top", "direction": "vertical"} if len(kinds) > 1 else None
    encoding = {
        "x": horizontal,
        "y": vertical,
        "color": word("kind", scale={"domain": kinds}, legend=legend),
        "tooltip": [
            quantity("place", title="at", format=".4g"),
            quantity("bound", title="at most", format=".4g"),
            word("kind", title="what"),
        ],
    }
    layers = [
        layer(rule("soft"), {"x": horizontal}, [{"place": claim}]),
        *([layer(rule("muted"), {"y": vertical}, [{"bound": ceiling}])] if ceiling else []),
        layer({"type": "line", "strokeWidth": 2.2}, encoding, points),
        layer({"type": "point", "filled": True, "size": 45, "opacity": 1}, encoding, points),
    ]
    return responsive(layers, f"{unit} over {axis}, with this release marked.")


def beyond_the_picture(band: float, longest: float) -> bool:
    """Return whether a band is so much wider than the largest weight that the picture ends before it does."""
    return band > 2 * longest > 0


def released_weights(rows: Sequence[Record], kinds: Sequence[str]) -> str:
    """Return bars of weights over bands of noise.

    Parameters
    ----------
    rows : sequence of dict
        With the keys label (different for every row, of one line or more), name, output, value, kind, and low and
        high, the ends of the band, which are None where nothing is known.
    kinds : sequence of str
        The kinds of bars; the last of several is drawn muted.
    """
    further = max(str(row["label"]).count("\n") for row in rows)
    vertical = word(
        "label",
        sort=None,
        title=None,
        axis={
            "labelLimit": 180,
            "grid": False,
            "ticks": False,
            "labelExpr": LINES,
            # Vega puts the first line where the bar's middle is.
            "labelOffset": -LINE * further / 2,
        },
        scale={"paddingInner": 0, "paddingOuter": 0.2},
    )
    longest = max(abs(float(str(row["value"]))) for row in rows) or 1.0
    widest = max([longest, *(float(str(row["high"])) for row in rows if row["high"] is not None)])
    # A band that is far wider than every weight ends with the picture, so that the weights can still be seen.
    end = 1.05 * (2 * longest if beyond_the_picture(widest, longest) else widest)
    horizontal: dict[str, Any] = {
        "title": "released weight",
        "axis": {"tickCount": 5},
        "scale": {"domain": [-end, end], "nice": False},
    }
    tooltip = [
        word("name", title="column"),
        word("output", title="for"),
        quantity("value", title="weight", format=".4g"),
        quantity("high", title="twice the noise", format=".4g"),
    ]
    colours = {"domain": list(kinds), "range": ["var(--first)", "var(--muted)"][: len(kinds)]}
    bars = {
        "y": vertical,
        "x": quantity("value", **horizontal),
        "color": word("kind", scale=colours, legend=None),
        "tooltip": tooltip,
    }
    layers = [layer({"type": "bar", "height": {"band": 0.56}}, bars)]
    if any(row["low"] is not None for row in rows):
        band = {"y": vertical, "x": quantity("low", **horizontal), "x2": {"field": "high"}, "tooltip": tooltip}
        layers.insert(0, layer({"type": "bar", "style": "noise", "height": {"band": 1.0}, "clip": True}, band))
    description = "Released weights as bars, over bands of twice the noise's deviation."
    return responsive(layers, description, height=(ROW + LINE * further) * len(rows), data={"values": list(rows)})


# So many lines have a colour of the page's own; more would have the same ones again.
TOLD_APART = 3


def effect_curve(rows: Sequence[Record], title: str, said: str) -> str:
    """Return what a model says along one column, a line an output, over a band of noise where there is one output.

    Parameters
    ----------
    rows : sequence of dict
        With the keys place, value, output, and low and high, the ends of the band, which are None where nothing is
        known.
    title, said : str
        The names of the axes: the column, and what its effect is measured in.
    """
    outputs = list(dict.fromkeys(str(row["output"]) for row in rows))
    longest = max(abs(float(str(row["value"]))) for row in rows) or 1.0
    ends = [abs(float(str(row[end]))) for row in rows for end in ("low", "high") if row[end] is not None]
    widest = max([longest, *ends])
    end = 1.05 * (2 * longest if beyond_the_picture(widest, longest) else widest)
    places = [float(str(row["place"])) for row in rows]
    horizontal = quantity(
        "place",
        title=title,
        scale={"domain": [min(places), max(places)], "nice": False},
        axis={"grid": False, "tickCount": 5},
    )
    vertical = quantity("value", title=said, scale={"domain": [-end, end], "nice": False}, axis={"tickCount": 5})
    legend = {"title": None, "orient": "top"} if len(outputs) > 1 else None
    colours: dict[str, object] = {"domain": outputs}
    if len(outputs) > TOLD_APART:
        # Both ends of the scheme would be lost, one on a light page and one on a dark page.
        colours["scheme"] = {"name": "viridis", "extent": [0.25, 0.85]}
    encoding = {
        "x": horizontal,
        "y": vertical,
        "color": word("output", scale=colours, legend=legend),
        "tooltip": [
            quantity("place", title="at", format=".4g"),
            quantity("value", title="effect", format=".4g"),
            word("output", title="for"),
        ],
    }
    layers = [
        layer(rule("soft"), {"y": vertical}, [{"value": 0.0}]),
        layer({"type": "line", "strokeWidth": 2.2, "clip": True}, encoding, rows),
    ]
    if ends and len(outputs) == 1:
        band = {"x": horizontal, "y": {**vertical, "field": "low"}, "y2": {"field": "high"}}
        layers.insert(0, layer({"type": "area", "style": "noise", "clip": True}, band, rows))
    return responsive(layers, "The effect along one column, over the band of its noise.", height=180)
