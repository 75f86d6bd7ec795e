"""The part of docs/utility.md on additive models: its table and its picture, from the stored results and nothing else.

`additive.py` and `additive_peers.py` measure them: lines, curves and DP-EBM on the same rows, splits and budgets.
"""

from math import sqrt
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from stored import RESULTS, Record, Store
from study import table_rows

PICTURE = Path(__file__).parents[1] / "docs" / "additive-scores.svg"
SUITES = ("additive", "additive-peers")
LINE, CURVE, RIVAL = "line", "additive", "DP-EBM, tuned on the test rows"
METHODS = (LINE, CURVE, RIVAL)
DATA = ("Adult", "Covertype 1-vs-2", "breast cancer", "warfarin", "diabetes")
# A score below is drawn there: DP-EBM's R2 of diabetes at epsilon 0.1 is.
LOWEST = -1.0

Point = dict[str, Any]


def records(folder: Path = RESULTS) -> list[Record]:
    """Return what is compared, a record a table, budget and method: its runs, a pair of scores each."""
    found = []
    for record in Store(SUITES[0], folder).records:
        name = record["name"]
        cell = {
            "data": name["table"],
            "epsilon": name["epsilon"],
            "privacy": "approximate" if name["share"] else "pure",
        }
        found += [{**cell, "method": method, "scores": record[method]} for method in (LINE, CURVE)]
    best: dict[tuple[str, float], Record] = {}
    for record in Store(SUITES[1], folder).records:
        cell_of = record["name"]["table"], record["name"]["epsilon"]
        if cell_of not in best or record["mean"] > best[cell_of]["mean"]:
            best[cell_of] = record
    for (data, epsilon), record in best.items():
        found.append(
            {"data": data, "epsilon": epsilon, "privacy": "approximate", "method": RIVAL, "scores": record["scores"]}
        )
    return [record for record in found if record["data"] in DATA]


def drawn(found: list[Record]) -> list[Point]:
    """Return the points of the picture: mean accuracy or R2 with two standard errors on either side."""
    points = []
    for record in found:
        scores = [first for first, _ in record["scores"]]
        mean, error = fmean(scores), stdev(scores) / sqrt(len(scores))
        cell = {part: record[part] for part in ("data", "epsilon", "privacy", "method")}
        ends = {"score": mean, "low": mean - 2 * error, "high": mean + 2 * error}
        points.append({**cell, **{part: round(max(end, LOWEST), 6) for part, end in ends.items()}})
    return points


def table(found: list[Record]) -> str:
    """Return the table of the same cells, with AUC beside accuracy and what is ahead of what."""
    rows = []
    cells = {(record["data"], record["privacy"], record["epsilon"], record["method"]): record for record in found}
    for data in DATA:
        for privacy in ("pure", "approximate"):
            for epsilon in sorted({key[2] for key in cells if key[:2] == (data, privacy)}):
                here = [cells.get((data, privacy, epsilon, method)) for method in METHODS]
                rows.append(
                    [data, f"{epsilon:g}", privacy, *map(_means, here), _apart(here[1], here[0]), _apart(*here[1:])]
                )
    header = ["data", "epsilon", "privacy", "line", "additive", "DP-EBM", "additive less line", "additive less DP-EBM"]
    return table_rows(header, rows)


def _means(record: Record | None) -> str:
    if record is None:
        return ""
    return ", ".join(f"{mean:.4f}" for mean in dict.fromkeys(map(fmean, zip(*record["scores"], strict=True))))


def _apart(record: Record | None, other: Record | None) -> str:
    """Return the mean difference of the first scores over common runs, with its standard error."""
    if record is None or other is None:
        return ""
    apart = [ours[0] - theirs[0] for ours, theirs in zip(record["scores"], other["scores"], strict=False)]
    return f"{fmean(apart):+.4f} ({stdev(apart) / sqrt(len(apart)):.4f})"


def chart(points: list[Point]) -> Any:
    """Return the picture: a panel a table and kind of privacy, with bars of two standard errors."""
    import altair as alt

    colours = alt.Scale(domain=list(METHODS), range=["#4c78a8", "#e45756", "#54a24b"])
    x = alt.X("epsilon:Q", scale=alt.Scale(type="log", domain=[0.09, 3.4], nice=False), title="epsilon")
    x = x.axis(alt.Axis(values=[0.1, 0.3, 1, 3]))
    colour = alt.Color("method:N", sort=list(METHODS), scale=colours, title=None)
    rows = []
    for data in DATA:
        title = "test R2" if data in ("warfarin", "diabetes") else "test accuracy"
        mine = [point for point in points if point["data"] == data]
        # Both panels of a table have one scale, so that they can be compared.
        ends = min(point["low"] for point in mine), max(point["high"] for point in mine)
        scale = alt.Scale(zero=False, domain=[ends[0], ends[1]])
        panels = []
        for privacy in ("pure", "approximate"):
            base = alt.Chart(alt.Data(values=[point for point in mine if point["privacy"] == privacy]))
            lines = base.mark_line(point=True).encode(x, alt.Y("score:Q", scale=scale, title=title), colour)
            bars = base.mark_rule().encode(x, alt.Y("low:Q", scale=scale, title=title), alt.Y2("high:Q"), colour)
            named = f"{data}, {'delta = 0' if privacy == 'pure' else 'delta = 1/n^2'}"
            panels.append((bars + lines).properties(width=330, height=170, title=named))
        rows.append(alt.hconcat(*panels))
    return alt.vconcat(*rows).configure(background="white")
