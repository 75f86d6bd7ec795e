"""Charts of one evaluation, from plain records, as Vega-Lite specifications in JSON.

Names of groups are data in them. Every interval is drawn; where a figure cannot be told the interval is all there is.
"""

from collections.abc import Sequence
from typing import Any

from equipoise.report.vega import Record, layer, quantity, responsive, rule, word

# The height of one group's bar, in pixels.
ROW = 30

LINE = {"type": "line", "style": "first", "strokeWidth": 2.2}
DOT = {"type": "point", "style": "first", "filled": True, "size": 42, "opacity": 1}
BAND = {"type": "rule", "style": "first", "strokeWidth": 6, "opacity": 0.28}
# The bin that a place stands for.
BIN = {"type": "rule", "style": "first", "strokeWidth": 1.6, "opacity": 0.7}
# An interval that leaves the answer open.
OPEN = {"type": "rule", "style": "muted", "strokeWidth": 2, "strokeDash": [2, 3]}
DIAGONAL = {"type": "line", "style": "muted", "strokeDash": [5, 4], "strokeWidth": 1.4}

SHARES: dict[str, Any] = {"scale": {"domain": [0, 1], "nice": False}, "axis": {"format": "~%", "tickCount": 5}}


def roc(points: Sequence[Record]) -> str:
    """Return true positives over false ones, a point a threshold, with the intervals of both as bands.

    Points have the keys threshold, false, false_low, false_high, true, true_low and true_high.
    """
    across = quantity("false", title="false positives", **SHARES)
    up = quantity("true", title="true positives", **SHARES)
    tooltip = [
        quantity("threshold", format=".3f"),
        quantity("false", title="false positives", format=".1%"),
        quantity("true", title="true positives", format=".1%"),
    ]
    ends: list[Record] = [{"false": 0.0, "true": 0.0}, {"false": 1.0, "true": 1.0}]
    curve = [ends[0], *sorted(points, key=lambda one: (one["false"], one["true"])), ends[1]]
    layers = [
        layer(DIAGONAL, {"x": across, "y": up}, ends),
        layer(
            BAND,
            {"x": quantity("false_low", title="false positives", **SHARES), "x2": {"field": "false_high"}, "y": up},
            points,
        ),
        layer(
            BAND,
            {"x": across, "y": quantity("true_low", title="true positives", **SHARES), "y2": {"field": "true_high"}},
            points,
        ),
        layer(LINE, {"x": across, "y": up, "order": quantity("false")}, curve),
        layer(DOT, {"x": across, "y": up, "tooltip": tooltip}, points),
    ]
    return responsive(layers, "True positives over false positives at every threshold, with intervals.", height=320)


def calibration(points: Sequence[Record], titles: tuple[str, str]) -> str:
    """Return shares of rows over bins of scores, with intervals, and the diagonal: on it scores mean what they say."""
    ends: list[Record] = [{"place": 0.0, "value": 0.0}, {"place": 1.0, "value": 1.0}]
    across = quantity("place", title=titles[0], **SHARES)
    diagonal = layer(DIAGONAL, {"x": across, "y": quantity("value")}, ends)
    return _with_intervals(points, across, titles[1], SHARES, ".1%", diagonal)


def residuals(points: Sequence[Record], titles: tuple[str, str]) -> str:
    """Return mean residuals over predictions, with intervals, and the line of 0."""
    across = quantity("place", title=titles[0], scale={"zero": False, "padding": 14}, axis={"tickCount": 6})
    zero = layer(rule("muted"), {"y": quantity("value")}, [{"value": 0.0}])
    return _with_intervals(points, across, titles[1], {"axis": {"tickCount": 6}}, ".4g", zero)


def _with_intervals(
    points: Sequence[Record],
    across: dict[str, Any],
    title: str,
    settings: dict[str, Any],
    form: str,
    under: dict[str, Any],
) -> str:
    up = quantity("value", title=title, **settings)
    told = [point for point in points if point["told"]]
    tooltip = [
        quantity("start", title="bin from", format=".4g"),
        quantity("stop", title="bin to", format=".4g"),
        quantity("value", title="value", format=form),
        quantity("low", title="from", format=form),
        quantity("high", title="to", format=form),
    ]
    low = quantity("low", title=title, **settings)
    interval = {"x": across, "y": low, "y2": {"field": "high"}, "tooltip": tooltip}
    place = {"x": across, "y": up}
    bins = {"x": {**across, "field": "start"}, "x2": {"field": "stop"}, "y": up, "tooltip": tooltip}
    layers = [
        under,
        *_drawn((OPEN, interval), [point for point in points if not point["told"]]),
        *_drawn((BAND, interval), told),
        *_drawn((BIN, bins), told),
        *_drawn((DOT, {**place, "tooltip": tooltip}), told),
    ]
    return responsive(layers, f"{title} over {across['title']}, with intervals.", height=320)


def _drawn(shown: tuple[dict[str, Any], dict[str, Any]], records: Sequence[Record]) -> list[dict[str, Any]]:
    """Return a layer, or none where there is nothing to draw: an axis of nothing has no ends."""
    return [layer(*shown, records)] if records else []


def by_group(rows: Sequence[Record], title: str, share: bool, least: float) -> str:
    """Return a bar a group with its interval; rows have the keys label, name, value, low, high and told."""
    plain = {"axis": {"tickCount": 5, "format": "~%" if share else ",~r"}}
    settings = SHARES if share and least == 0 else plain
    form = ".1%" if share else ".4g"
    axis = {"labelLimit": 150, "grid": False, "ticks": False}
    groups = word("label", title=None, axis=axis, scale={"domain": [row["label"] for row in rows]})
    told = [row for row in rows if row["told"]]
    tooltip = [
        word("name", title="group"),
        quantity("value", title=title, format=form),
        quantity("low", title="from", format=form),
        quantity("high", title="to", format=form),
    ]
    interval = {"y": groups, "x": quantity("low", title=title, **settings), "x2": {"field": "high"}, "tooltip": tooltip}
    bars = {"y": groups, "x": quantity("value", title=title, **settings), "tooltip": tooltip}
    bar = {"type": "bar", "style": "first", "opacity": 0.45, "height": {"band": 0.6}}
    layers = [
        *_drawn((OPEN, interval), [row for row in rows if not row["told"]]),
        *_drawn((bar, bars), told),
        *_drawn(({"type": "rule", "style": "soft", "strokeWidth": 2.4}, interval), told),
    ]
    return responsive(layers, f"{title} by group, with intervals.", height=ROW * len(rows) + 10)
