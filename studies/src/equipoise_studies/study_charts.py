"""Charts of reproduced papers, from plain records: lines, paths and claims; for the page and as static images."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from equipoise.report.charts import altair
from equipoise.report.page import THEME

Record = Mapping[str, object]

HEIGHT = 250
STATIC_WIDTH = 460
# The height of one claim, in pixels.
ROW = 17
# What the style sheet calls a colour, and that colour on white paper.
PAPER = {
    "--ink": "#1c2430",
    "--line": "#d9d5cb",
    "--soft": "#5b6472",
    "--first": "#1f6fb2",
    "--second": "#b4500f",
    "--muted": "#8f95a1",
    "--edge": "#c98a00",
    "--noise": "#e6e4de",
}
INKS = ("var(--first)", "var(--second)", "var(--muted)", "var(--edge)")
DASHES = ([1, 0], [6, 3], [2, 3])
# What the page says beside a verdict, so that colour is not alone in saying it.
VERDICT_SHAPES = {
    "reproduced": ("circle", "var(--first)"),
    "not reproduced": ("cross", "var(--second)"),
    "paper inconsistent": ("diamond", "var(--edge)"),
    "corrected": ("square", "var(--muted)"),
}


def lines(
    records: Sequence[Record],
    *,
    x: str,
    y: str,
    logarithmic: bool = False,
    rules: Sequence[tuple[float, str]] = (),
    steps: bool = False,
    floor: bool = True,
) -> Any:
    """Return a chart of lines: each record has x, y, `ink` (what the colour means) and `dash` (what the dashes mean).

    Parameters
    ----------
    records : sequence of mapping
        With the keys x, y, ink, dash.
    x, y : str
        The titles of the axes.
    logarithmic : bool
        Whether the x axis is.
    rules : sequence of (float, str)
        Vertical lines at a number, and what each says.
    steps : bool
        Whether lines are drawn as the steps of a histogram, filled below.
    floor : bool
        Whether the y axis starts at 0.

    Examples
    --------
    >>> chart = lines([{"x": 1, "y": 2, "ink": "a", "dash": "b"}], x="epsilon", y="accuracy", rules=[(1.0, "one")])
    >>> sorted(chart.to_dict()["layer"][0]["encoding"])
    ['color', 'strokeDash', 'tooltip', 'x', 'y']
    """
    alt = altair()
    inks = list(dict.fromkeys(str(record["ink"]) for record in records))
    dashes = list(dict.fromkeys(str(record["dash"]) for record in records))
    # Two legends stand side by side, and have to fit a phone.
    columns = 1 if len(dashes) > 1 else 2
    legend = alt.Legend(title=None, orient="top", columns=columns, symbolSize=160, symbolStrokeWidth=2.5)
    ink_scale = alt.Scale(domain=inks, range=list(INKS[: len(inks)]))
    colour = alt.Color("ink:N", scale=ink_scale, legend=legend if len(inks) > 1 else None)
    dash_scale = alt.Scale(domain=dashes, range=[list(each) for each in DASHES[: len(dashes)]])
    dash = alt.StrokeDash("dash:N", scale=dash_scale, legend=legend if len(dashes) > 1 else None)
    scale = alt.Scale(type="log", nice=False) if logarithmic else alt.Scale(zero=False)
    # On a linear axis this format would write 20 as 2e+1.
    form = {"format": "~g"} if logarithmic else {}
    across = alt.X("x:Q", title=x, scale=scale, axis=alt.Axis(grid=False, tickCount=6, labelOverlap=True, **form))
    up = alt.Y("y:Q", title=y, scale=alt.Scale(zero=floor), axis=alt.Axis(tickCount=5))
    tooltip = [
        alt.Tooltip("ink:N", title="line"),
        alt.Tooltip("dash:N", title="kind"),
        alt.Tooltip("x:Q", title=x, format=".4g"),
        alt.Tooltip("y:Q", title=y, format=".4g"),
    ]
    mark: dict[str, Any] = {"strokeWidth": 2}
    if steps:
        mark |= {"interpolate": "step-after"}
    chosen = alt.selection_point(fields=["ink"], bind="legend")
    base = alt.Chart(alt.Data(values=[dict(record) for record in records]))
    drawn = (
        base.mark_line(**mark)
        .encode(x=across, y=up, color=colour, strokeDash=dash, tooltip=tooltip)
        .add_params(chosen)
        .encode(opacity=alt.condition(chosen, alt.value(1), alt.value(0.15)))
        if len(inks) > 1
        else base.mark_line(**mark).encode(x=across, y=up, color=colour, strokeDash=dash, tooltip=tooltip)
    )
    layers = [drawn]
    for value, says in rules:
        one = alt.Chart(alt.Data(values=[{"x": value, "says": says}]))
        place = alt.X("x:Q", scale=scale)
        layers.append(one.mark_rule(strokeDash=[4, 3], strokeWidth=1.4, style="soft").encode(x=place, tooltip="says:N"))
        # Words stand on the side of the line that has more room.
        side = {"align": "right", "dx": -4} if _share(value, records, logarithmic) > 0.5 else {"align": "left", "dx": 4}
        words = one.mark_text(baseline="top", fontSize=11, style="soft", limit=150, **side)
        layers.append(words.encode(x=place, y=alt.value(0), text="says:N"))
    return alt.layer(*layers).properties(width="container", height=HEIGHT)


def _share(value: float, records: Sequence[Record], logarithmic: bool) -> float:
    """Return where a number lies between the smallest (0) and the largest (1) x, on the axis' own scale."""
    across = [float(str(record["x"])) for record in records]
    low, at, high = (math.log(each) if logarithmic else each for each in (min(across), value, max(across)))
    return (at - low) / (high - low) if high > low else 0.0


def paths(records: Sequence[Record], *, x: str, y: str) -> Any:
    """Return a chart of the paths that runs take in two weights: records of run, step, x, y."""
    alt = altair()
    runs = list(dict.fromkeys(str(record["run"]) for record in records))
    base = alt.Chart(alt.Data(values=[dict(record) for record in records]))
    colour = alt.Color("run:N", scale=alt.Scale(domain=runs, range=list(INKS)), legend=None)
    axes = {
        "x": alt.X("x:Q", title=x, scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=6)),
        "y": alt.Y("y:Q", title=y, scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=6)),
    }
    tooltip = ["run:N", "step:Q", alt.Tooltip("x:Q", title=x, format=".3f"), alt.Tooltip("y:Q", title=y, format=".3f")]
    line = base.mark_line(strokeWidth=1.3, opacity=0.8).encode(**axes, color=colour, order="step:Q", tooltip=tooltip)
    last = max(float(str(record["step"])) for record in records)
    ends = base.transform_filter(f"datum.step == {last:g}").mark_point(filled=True, size=55, opacity=1)
    return alt.layer(line, ends.encode(**axes, color=colour, tooltip=tooltip)).properties(
        width="container", height=HEIGHT
    )


def bands(records: Sequence[Record], *, x: str, y: str) -> Any:
    """Return a chart of lines on two logarithmic axes, each with the band of its interval.

    Parameters
    ----------
    records : sequence of mapping
        With the keys x, y, ink (what the colour means), dash (what the dashes mean), and low, high: equal to y where
        the line is computed and not measured. All numbers are positive.
    x, y : str
        The titles of the axes.

    Examples
    --------
    >>> record = {"x": 10, "y": 2.0, "low": 1.5, "high": 2.5, "ink": "measured", "dash": "mean"}
    >>> [layer["mark"]["type"] for layer in bands([record], x="n", y="risk").to_dict()["layer"]]
    ['area', 'line']
    """
    alt = altair()
    inks = list(dict.fromkeys(str(record["ink"]) for record in records))
    dashes = list(dict.fromkeys(str(record["dash"]) for record in records))
    legend = alt.Legend(
        title=None, orient="top", columns=1, symbolType="stroke", symbolOpacity=1, symbolSize=160, symbolStrokeWidth=2.5
    )
    colour = alt.Color("ink:N", scale=alt.Scale(domain=inks, range=list(INKS[: len(inks)])), legend=legend)
    dash_scale = alt.Scale(domain=dashes, range=[list(each) for each in DASHES[: len(dashes)]])
    scale = alt.Scale(type="log", nice=False)
    axis = alt.Axis(grid=False, format="~g", tickCount=6, labelOverlap=True)
    across = alt.X("x:Q", title=x, scale=scale, axis=axis)
    base = alt.Chart(alt.Data(values=[dict(record) for record in records]))
    band = base.mark_area(opacity=0.2).encode(
        x=across,
        y=alt.Y("low:Q", title=y, scale=scale, axis=axis),
        y2="high:Q",
        color=colour,
        detail="dash:N",
    )
    line = base.mark_line(strokeWidth=2).encode(
        x=across,
        y=alt.Y("y:Q", scale=scale),
        color=colour,
        strokeDash=alt.StrokeDash("dash:N", scale=dash_scale, legend=legend if len(dashes) > 1 else None),
        tooltip=[
            alt.Tooltip("ink:N", title="line"),
            alt.Tooltip("dash:N", title="kind"),
            alt.Tooltip("x:Q", title=x, format=".4g"),
            alt.Tooltip("y:Q", title=y, format=".4g"),
            alt.Tooltip("low:Q", format=".4g"),
            alt.Tooltip("high:Q", format=".4g"),
        ],
    )
    return alt.layer(band, line).properties(width="container", height=HEIGHT)


def ratios(records: Sequence[Record]) -> Any:
    """Return the chart of all claims: measured over published, with its interval and its tolerance.

    Parameters
    ----------
    records : sequence of mapping
        With the keys id, where, what, published, measured, low, high, tolerance, verdict; published is not 0.
    """
    alt = altair()
    values = []
    for record in records:
        published = float(str(record["published"]))
        ends = sorted(float(str(record[name])) / published for name in ("low", "high"))
        tolerance = float(str(record["tolerance"]))
        values.append(
            {
                **record,
                "ratio": float(str(record["measured"])) / published,
                "ratio_low": ends[0],
                "ratio_high": ends[1],
                "allowed_low": 1 - tolerance,
                "allowed_high": 1 + tolerance,
            }
        )
    verdicts = [name for name in VERDICT_SHAPES if any(value["verdict"] == name for value in values)]
    shapes = alt.Scale(domain=verdicts, range=[VERDICT_SHAPES[name][0] for name in verdicts])
    inks = alt.Scale(domain=verdicts, range=[VERDICT_SHAPES[name][1] for name in verdicts])
    order = [str(value["id"]) for value in values]
    scale = alt.Scale(domain=[0, 2], clamp=True)
    axis = alt.Axis(grid=False, values=[0, 0.5, 1, 1.5, 2], orient="top")
    row = alt.Y(
        "id:N",
        sort=order,
        title=None,
        axis=alt.Axis(labelLimit=220, labelFontSize=11, ticks=False, domain=False, grid=True),
    )
    base = alt.Chart(alt.Data(values=values)).encode(y=row)
    legend = alt.Legend(title=None, orient="top", columns=1)
    tooltip = [
        alt.Tooltip("what:N", title="claim"),
        alt.Tooltip("where:N"),
        alt.Tooltip("published:Q", format=".4g"),
        alt.Tooltip("measured:Q", format=".4g"),
        alt.Tooltip("low:Q", format=".4g"),
        alt.Tooltip("high:Q", format=".4g"),
        alt.Tooltip("verdict:N"),
    ]
    title = "measured / published"
    allowed = base.mark_bar(height=11, style="noise").encode(
        x=alt.X("allowed_low:Q", scale=scale, axis=axis, title=title), x2="allowed_high:Q"
    )
    interval = base.mark_rule(strokeWidth=1.6).encode(
        x=alt.X("ratio_low:Q", scale=scale), x2="ratio_high:Q", color=alt.Color("verdict:N", scale=inks, legend=legend)
    )
    point = base.mark_point(filled=True, size=60, opacity=1).encode(
        x=alt.X("ratio:Q", scale=scale),
        shape=alt.Shape("verdict:N", scale=shapes, legend=legend),
        color=alt.Color("verdict:N", scale=inks, legend=legend),
        tooltip=tooltip,
    )
    return alt.layer(allowed, interval, point).properties(width="container", height=ROW * len(values))


def static_image(specified: str, title: str = "") -> str:
    """Return a chart, given by its specification as JSON, as SVG text on white.

    Examples
    --------
    >>> chart = paths([{"run": "1", "step": 0, "x": 0.0, "y": 1.0}], x="weight 1", y="weight 2")
    >>> static_image(chart.to_json())[:4]
    '<svg'
    """
    altair()
    import vl_convert

    spec = json.loads(_on_paper(specified))
    spec["width"] = STATIC_WIDTH
    if title:
        spec["title"] = {"text": title, "anchor": "start", "fontSize": 13}
    config = json.loads(_on_paper(json.dumps(THEME))) | {"background": "white", "font": "sans-serif"}
    image: str = vl_convert.vegalite_to_svg(spec, config=config)
    return image


def _on_paper(text: str) -> str:
    for name, colour in PAPER.items():
        text = text.replace(f"var({name})", colour)
    return text
