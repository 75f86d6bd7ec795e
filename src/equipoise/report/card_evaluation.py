"""How well a released model predicts, on its card: the figures of a paid evaluation, and its pictures."""

from collections.abc import Mapping, Sequence
from typing import Any

from equipoise.report.evaluation_pictures import (
    calibration_picture,
    calibration_titles,
    confusion_matrix,
    group_picture,
    roc_picture,
    scores_of,
)
from equipoise.report.evaluation_record import Bars, Point, Shown, against_the_rest
from equipoise.report.page import number
from equipoise.report.section import Picture, Section
from equipoise.report.still import still

NOT_EVALUATED = (
    "Not on this card: a score on private rows has to be paid for; equipoise evaluate does it, in a folder of its own."
)

# So many figures, groups and points of curves are on a card; its own page has them all.
MOST_FIGURES, MOST_GROUPS, MOST_OF_A_GROUP, MOST_POINTS = 6, 8, 2, 9

# Of a picture, what the axes enclose.
WIDTH, HEIGHT = 260, 190

TITLE = "How well it predicts"


def evaluated(evaluation: Mapping[str, Any] | None, signer: str) -> Sequence[Section]:
    """Return what a card says of an evaluation; `signer` is what it says of who signed that."""
    if evaluation is None:
        return (Section(TITLE, (NOT_EVALUATED,)),)
    apart = "That the rows had no part in the training is the word of whoever made it."
    if evaluation["held_out"]:
        apart = (
            "They were held out from the training by their places, as the certificate says, and both cost this once."
        )
    words = (
        f"On {evaluation['rows']:,} further rows, for ({evaluation['epsilon']:.6g}, {evaluation['delta']:.6g})-"
        f"differential privacy of those rows, all figures together ({evaluation['grade']}). Intervals of 95 % count "
        f"the sampling of rows and the noise. {apart}"
    )
    known = "residuals" if evaluation["task"] == "regression" else "scores"
    words += f" They also count that {known} are known by their bins only."
    if counted := against_the_rest(evaluation["labels"]):
        words += f" {counted}"
    withdrawn = tuple(f"Since then found false: {line}" for line in evaluation["withdrawn"])
    seeded = ("Seeded: for experiments, not for release.",) if evaluation["seeded"] else ()
    named = (
        f"Evaluation {evaluation['id']}, made {evaluation['made']}, certificate {evaluation['certificate']}. {signer} "
        "What paid for it was not looked at here: equipoise verify tells."
    )
    rows = (
        ("figure", "value, and its interval of 95 %"),
        *((f"{one['name']}: {one['meaning']}", _told(one)) for one in evaluation["figures"][:MOST_FIGURES]),
    )
    pictures = (*_confusion(evaluation), *_roc(evaluation), *_calibration(evaluation))
    return [Section(TITLE, (words, *withdrawn, *seeded, named), rows=rows, pictures=pictures), *_groups(evaluation)]


def _shown(figure: Mapping[str, Any]) -> Shown:
    fields = ("value", "low", "high", "sampling", "noise", "verdict", "share", "note", "bins", "hidden")
    return Shown(**{name: figure[name] for name in fields})


def _told(figure: Mapping[str, Any]) -> str:
    """Return a figure and its interval; where it cannot be told, what it would take."""
    shown = _shown(figure)
    return f"{shown.verdict or shown.text} ({shown.interval})" + (f"; {shown.note}" if shown.note else "")


def _between(shown: Shown) -> str:
    """Return a figure of a curve and its interval; the interval alone where that leaves the answer open."""
    return shown.interval if shown.verdict else f"{shown.text} ({shown.interval})"


def _some(rows: Sequence[tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    """Return so many lines of a long table as a card has room for, evenly spread, the first and the last among them."""
    most = min(len(rows), MOST_POINTS)
    places = dict.fromkeys(round(step * (len(rows) - 1) / max(most - 1, 1)) for step in range(most))
    return tuple(rows[place] for place in places)


def _confusion(evaluation: Mapping[str, Any]) -> Sequence[Picture]:
    labels, matrix = evaluation["labels"], [[_shown(one) for one in row] for row in evaluation["confusion"]]
    if not matrix:
        return ()
    rows = (
        ("in truth", *(f"said {label}" for label in labels)),
        *((label, *(_between(one) for one in row)) for label, row in zip(labels, matrix, strict=True)),
    )
    words = "Shares of all rows. On the diagonal it was right."
    return (Picture("What it mistakes for what", words, lambda: confusion_matrix(labels, matrix), rows),)


def _roc(evaluation: Mapping[str, Any]) -> Sequence[Picture]:
    found = evaluation["roc"]
    pairs = [tuple(Point(one["threshold"], _shown(one[name])) for name in ("false", "true")) for one in found]
    chart = roc_picture([(false, true) for false, true in pairs])
    if not chart:
        return ()
    lines = [(number(false.place), _between(false.figure), _between(true.figure)) for false, true in pairs]
    rows = (("threshold", "false positives", "true positives"), *_some(lines))
    words = "A dot is a threshold of the score; bands are intervals of 95 %. Dashed: guessing."
    return (Picture("At every threshold (ROC)", words, lambda: still(chart, WIDTH, HEIGHT), rows),)


def _calibration(evaluation: Mapping[str, Any]) -> Sequence[Picture]:
    task, found = evaluation["task"], evaluation["calibration"]
    points = [Point(one["place"], _shown(one["figure"]), tuple(one["ends"])) for one in found]
    titles = calibration_titles(task, evaluation["target"] or "", evaluation["labels"])
    if not points:
        return ()
    words, title = "On the dashed line scores mean what they say.", "Do its scores mean what they say?"
    words += " A bar across is a bin: the mean score of its rows lies somewhere on it."
    if task == "regression":
        words, title = "On the dashed line it is neither too low nor too high in the mean.", "Is it right in the mean?"
    if any(point.figure.verdict for point in points):
        words += " Dotted: too few rows to tell."
    rows = (titles, *_some([(scores_of(point), _between(point.figure)) for point in points]))
    chart = calibration_picture(points, task, titles)
    return (Picture(title, words, lambda: still(chart, WIDTH, HEIGHT), rows),)


def _groups(evaluation: Mapping[str, Any]) -> Sequence[Section]:
    groups = evaluation["groups"]
    if not groups:
        return ()
    titles, shown = tuple(groups[0]["figures"])[:MOST_OF_A_GROUP], groups[:MOST_GROUPS]
    more = f", and {len(groups) - MOST_GROUPS} more groups" if len(groups) > MOST_GROUPS else ""
    apart = f"The groups of {evaluation['by']}, each with its interval of 95 %; its own page has more{more}."
    rows = (("group", *titles), *((one["name"], *(_told(one["figures"][title]) for title in titles)) for one in shown))
    return (Section("Group by group", (apart,), rows=rows, pictures=tuple(_bars(shown, title) for title in titles)),)


def _bars(groups: Sequence[Mapping[str, Any]], title: str) -> Picture:
    bars = Bars(title, "", tuple(_shown(one["figures"][title]) for one in groups))
    chart = group_picture([one["name"] for one in groups], bars)
    return Picture(title, "The line is the interval; dotted: it cannot be told.", lambda: still(chart, WIDTH), ())
