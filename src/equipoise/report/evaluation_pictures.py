"""Pictures of one evaluation: its page and the model card draw the same ones, from the same plain values."""

from collections.abc import Sequence

from equipoise.report import evaluation_charts
from equipoise.report.evaluation_record import Bars, Point, Shown
from equipoise.report.page import escape, number
from equipoise.report.vega import Record

# Names of groups on an axis; the table has them in full.
LONGEST_LABEL = 20

# More letters than these do not fit beside each other on a phone, without a break in a word; a share has some six.
LETTERS_OF_A_PHONE = 30
LETTERS_OF_A_SHARE = 6

# The darkest shade of a cell, on which letters are still read with ease, by day and by night.
DEEPEST = 0.45

MATRIX_STYLE = """
.matrix td { text-align: center; } .matrix small { display: block; }
.matrix td:first-child { text-align: left; font-weight: 600; min-width: 5rem; }
@media (max-width: 30rem) { .matrix.lines td { text-align: left; padding: .1rem .3rem; }
  .matrix.lines small { display: inline; margin-left: .4rem; } }
"""


def roc_picture(roc: Sequence[tuple[Point, Point]]) -> str:
    """Return true positives over false ones at every threshold that can be told; "" where none can."""
    points = list[Record]()
    for false, true in (pair for pair in roc if not (pair[0].figure.verdict or pair[1].figure.verdict)):
        shown = {"threshold": false.place}
        for name, one in (("false", false.figure), ("true", true.figure)):
            shown |= {name: one.value, f"{name}_low": one.low, f"{name}_high": one.high}
        points.append(dict(shown))
    return evaluation_charts.roc(points) if points else ""


def calibration_titles(task: str, target: str, labels: Sequence[str]) -> tuple[str, str]:
    """Return what the axes of a picture of calibration say."""
    if task == "regression":
        return f"prediction{f' of {target}' if target else ''}", "true less predicted, mean"
    if task == "two classes":
        return f"score for {labels[1]}", f"share that is {labels[1]}"
    return "score", "share that is right"


def calibration_picture(points: Sequence[Point], task: str, titles: tuple[str, str]) -> str:
    """Return shares over scores, or mean residuals over predictions, with intervals."""
    rows: list[Record] = [
        {"place": one.place, **dict(zip(("start", "stop"), one.ends or (), strict=False)), **_interval(one.figure)}
        for one in points
    ]
    drawing = evaluation_charts.residuals if task == "regression" else evaluation_charts.calibration
    return drawing(rows, titles)


def scores_of(point: Point) -> str:
    """Return for a table what a point of a picture of calibration is about: a bin, by its ends."""
    return " to ".join(map(number, point.ends or (point.place,)))


def group_picture(groups: Sequence[str], bars: Bars) -> str:
    """Return a bar a group with its interval."""
    rows: list[Record] = [
        {"label": label, "name": group, **_interval(one)}
        for label, group, one in zip(labels_of(groups), groups, bars.figures, strict=True)
    ]
    return evaluation_charts.by_group(rows, bars.title, bars.figures[0].share, bars.least)


def _interval(shown: Shown) -> Record:
    return {"value": shown.value, "low": shown.low, "high": shown.high, "told": not shown.verdict}


def confusion_matrix(labels: Sequence[str], matrix: Sequence[Sequence[Shown]]) -> str:
    """Return the confusion matrix as a table of HTML, shaded by its shares."""
    said = "".join(f'<th scope="col">said {escape(label)}</th>' for label in labels)
    body = "".join(
        f'<tr><td data-name="in truth">{escape(label)}</td>'
        + "".join(_shaded(name, shown) for name, shown in zip(labels, row, strict=True))
        + "</tr>"
        for label, row in zip(labels, matrix, strict=True)
    )
    # On a phone a wide matrix shows every cell on a line of its own.
    widths = [max(LETTERS_OF_A_SHARE, *map(len, label.split())) for label in labels]
    kind = "matrix lines" if sum(widths) + max(widths) > LETTERS_OF_A_PHONE else "matrix"
    return (
        f'<div class="wide" tabindex="0"><table class="{kind}"><caption>Shares of all rows; below each its interval'
        f'</caption><thead><tr><th scope="col">in truth</th>{said}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def _shaded(said: str, shown: Shown) -> str:
    share = 0 if shown.verdict else round(min(max(shown.value, 0.0), 1.0) * 100)
    colour = f"background: color-mix(in srgb, var(--first) {round(share * DEEPEST)}%, transparent)"
    name = f'data-name="said {escape(said)}"'
    return f'<td {name} style="{colour}">{escape(shown.text)}<small>{escape(shown.interval)}</small></td>'


def labels_of(names: Sequence[str]) -> list[str]:
    """Return a short label for each group, different for all of them: equal labels would share one place."""
    labels: list[str] = []
    for name in names:
        line = " ".join(name.split()) or "(no name)"
        label = first = line if len(line) <= LONGEST_LABEL else f"{line[: LONGEST_LABEL - 1]}…"
        again = 2
        while label in labels:
            label, again = f"{first} ({again})", again + 1
        labels.append(label)
    return labels
