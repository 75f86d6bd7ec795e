"""docs/utility.md: its tables and its picture, from the stored results and nothing else.

A score whose plan is no longer the one that the program makes is marked, so that the page cannot be older than the
program without saying so, and so is a time of a fit. docs/sgd.md has tables of the same results, docs/evaluation.md and
docs/coefficients.md some of others; `tests/test_benchmarks.py` compares all pages with what is written here.
"""

import hashlib
import json
from collections.abc import Iterable
from math import sqrt
from pathlib import Path
from typing import Any

import additive_picture
from evaluation_pages import COEFFICIENT_TABLES, EVALUATION_TABLES
from scores import BESIDE, CURVE_EPSILONS, DESCENTS, MECHANISMS, UNPRIVATE, is_required, planned
from stored import RESULTS, Record, Store, against, regression
from study import OLDER, table_rows
from times import plan_today

from equipoise import __version__

PAGE = Path(__file__).parents[1] / "docs" / "utility.md"
DESCENTS_PAGE = PAGE.with_name("sgd.md")
PICTURE = PAGE.with_suffix(".svg")
SUITES = ("peers", "scores", "classes", "descents", "beside", "times")
# Of which falls are shown: all of our own. Tables of additive models are those of docs/additive.md.
COMPARED = (*SUITES[1:], "additive")
# The deviation of the mean's lower 95 % bound, one-sided.
NORMAL_QUANTILE = 1.645
PLAIN = "plain noisy gradient descent"
TUNED, APART = "noisy gradient descent, clip tuned", "noisy gradient descent, clip tuned on other rows"


def stores(folder: Path = RESULTS) -> dict[str, Store]:
    """Return all suites."""
    return {suite: Store(suite, folder) for suite in SUITES}


def is_older(record: Record) -> bool:
    """Whether the program would plan this cell in another way today, or has another version."""
    plan = planned(record)
    return plan is None or record["key"]["plan"] != plan[1] or record["key"]["version"] != __version__


def is_older_time(record: Record) -> bool:
    """Whether the program would plan the fit that was timed in another way today: steps, clip, batch, noise."""
    return "fit" in record and record["key"]["plan"] != plan_today(record["fit"])


def marked(record: Record, text: str) -> str:
    """Return a figure with the mark of those that are older than the program."""
    return text + OLDER if is_older(record) else text


def error(record: Record) -> float:
    """Return the standard error of a mean."""
    return float(record["deviation"] / sqrt(record["runs"]))


def select(records: Iterable[Record], **named: Any) -> list[Record]:
    """Return the records whose name has these parts."""
    return [record for record in records if all(record["name"].get(part) == value for part, value in named.items())]


def required(found: dict[str, Store]) -> list[Record]:
    """Return the automatic choice at the required budgets."""
    chosen = [record for record in found["scores"].records if is_required(record["name"])]
    return sorted(chosen, key=_order)


# Records are stored in the order in which they were first measured; tables have an order of their own.
DATA = ("Adult", "MNIST 3-vs-5", "Covertype 1-vs-2", "digits 3-vs-5", "breast cancer", "diabetes")


def _order(record: Record) -> tuple[int, float, bool]:
    name = record["name"]
    return DATA.index(name["data"]), name["epsilon"], name["privacy"] != "pure"


def _cell(record: Record) -> list[str]:
    """Return the first columns of a table."""
    name = record["name"]
    return [name["data"], f"{name['epsilon']:g}", name["privacy"]]


def peers_of(found: dict[str, Store], record: Record) -> list[Record]:
    """Return what competes with a cell: the same rows and epsilon, and no weaker privacy."""
    name = record["name"]
    allowed = {"pure", name["privacy"]}
    alike = select(found["peers"].records, data=name["data"], epsilon=name["epsilon"])
    return [peer for peer in alike if peer["name"]["privacy"] in allowed]


def comparison(found: dict[str, Store]) -> str:
    """Return the first table: the automatic choice's lower bound against the best peer."""
    rows, ahead = [], 0
    for record in required(found):
        rivals = [peer for peer in peers_of(found, record) if peer["name"]["method"] not in (TUNED, APART)]
        if not rivals:
            continue
        best = max(rivals, key=lambda peer: peer["mean"])
        lower = record["mean"] - NORMAL_QUANTILE * error(record)
        ahead += lower > best["mean"]
        score = f"**{record['mean']:.4f}**" if lower > best["mean"] else f"{record['mean']:.4f}"
        area = f"{record['auc']:.3f}" if "auc" in record else ""
        verdict = "yes" if lower > best["mean"] else "level" if record["mean"] > best["mean"] else "no"
        rival = f"{best['mean']:.4f} ({best['name']['method']})"
        rows.append([*_cell(record), marked(record, score), f"{lower:.4f}", area, record["taken"], rival, verdict])
    header = ["data", "epsilon", "privacy", "score", "lower 95 %", "AUC", "taken", "best peer", "ahead"]
    return f"{table_rows(header, rows)}\n\nAhead in {ahead} of {len(rows)} cells."


def rival(found: dict[str, Store]) -> str:
    """Return the table of the strongest rival: tuned on the rows that it is scored on, and on others."""
    rows, leads, left, points = [], list[str](), list[str](), list[tuple[float, float]]()
    parts = []
    for record in required(found):
        one, other = (select(peers_of(found, record), method=method) for method in (TUNED, APART))
        if not one or record["name"]["privacy"] == "pure":
            continue
        differences = [
            (record["mean"] - peer["mean"], sqrt(error(record) ** 2 + error(peer) ** 2)) for peer in one + other
        ]
        (there, there_error), (here, here_error) = differences
        verdicts = [_verdict(*difference) for difference in differences]
        for behind, verdict in zip((leads, left), verdicts, strict=True):
            behind += [f"{_cell(record)[0]} at {_cell(record)[1]}"] if verdict == "behind" else []
        if there < 0:
            points.append((-100 * there, -100 * here))
            lead, known = f"{-100 * there:.1f} ({100 * there_error:.1f})", f"{100 * (here - there):.1f}"
            verdict = "a loss" if verdicts[1] == "behind" else "no loss: the rest is within its error"
            parts.append([*_cell(record)[:2], lead, known, f"{-100 * here:.1f} ({100 * here_error:.1f})", verdict])
        rows.append(
            [
                *_cell(record)[:2],
                marked(record, f"{record['mean']:.4f}"),
                f"{one[0]['mean']:.4f}",
                f"{there:+.4f} ({there_error:.4f}), {verdicts[0]}",
                f"{other[0]['mean']:.4f}",
                f"{here:+.4f} ({here_error:.4f}), {verdicts[1]}",
            ]
        )
    header = [
        "data",
        "epsilon",
        "auto",
        "tuned on the test rows",
        "auto less that",
        "tuned on other rows",
        "auto less that",
    ]
    told = (
        f"Behind beyond two standard errors where the rival is tuned on the test rows: {_listed(leads, len(rows))}."
        f" Where it is tuned on other rows: {_listed(left, len(rows))}."
    )
    if points:
        means = [sum(column) / len(points) for column in zip(*points, strict=True)]
        told += (
            f" Over the {len(points)} cells in which the first is ahead at all, its mean lead is {means[0]:.2f} points;"
            f" {means[1]:.2f} are left to the second."
        )
        split = [
            "data",
            "epsilon",
            "lead of the first, points",
            "knowledge of test rows",
            "left to the second",
            "that is",
        ]
        told += f"\n\n{table_rows(split, parts)}"
    return f"{table_rows(header, rows)}\n\n{told}"


def _listed(cells: list[str], all_of_them: int) -> str:
    return f"{len(cells)} of {all_of_them} cells" + (f" ({', '.join(cells)})" if cells else "")


def _verdict(difference: float, error: float) -> str:
    return "ahead" if difference > 2 * error else "behind" if difference < -2 * error else "level"


def regrets(found: dict[str, Store]) -> list[tuple[Record, dict[str, Record], float]]:
    """Return every cell of the automatic choice, the fixed choices beside it, and what hindsight would have won.

    A fixed choice with the plan of the automatic one is the same model, measured with other runs: no regret is in it.
    """
    rows = []
    for record in sorted(select(found["scores"].records, method="auto"), key=_order):
        alike = {part: record["name"][part] for part in ("data", "epsilon", "privacy")}
        others = {
            other["name"]["method"]: other
            for other in select(found["scores"].records, **alike)
            if other["name"]["method"] in MECHANISMS
        }
        apart = [other["mean"] for other in others.values() if other["key"]["plan"] != record["key"]["plan"]]
        rows.append((record, others, max([*apart, record["mean"]]) - record["mean"]))
    return rows


def regret(found: dict[str, Store]) -> str:
    """Return what the automatic choice costs against the best fixed one in hindsight, a line a dataset."""
    rows, every = [], regrets(found)
    for data in dict.fromkeys(record["name"]["data"] for record, _, _ in every):
        here = [entry for entry in every if entry[0]["name"]["data"] == data]
        worst, others, most = max(here, key=lambda entry: entry[2])
        better = {method: other for method, other in others.items() if other["key"]["plan"] != worst["key"]["plan"]}
        best = max(better, key=lambda method: better[method]["mean"], default="")
        mean = sum(entry[2] for entry in here) / len(here)
        where = f"epsilon {_cell(worst)[1]}, {_cell(worst)[2]}: {worst['taken']} taken, {best} better" if most else ""
        rows.append([data, f"{mean:.4f}", f"{most:.4f}", where])
    points = 100 * sum(entry[2] for entry in every) / max(1, len(every))
    table = table_rows(["data", "mean regret", "largest", "where"], rows)
    return f"{table}\n\nMean over {len(every)} cells: {points:.2f} points. Every cell is [below](#every-mechanism)."


def every_mechanism(found: dict[str, Store]) -> str:
    """Return the table of fixed choices against the automatic one."""
    fixed = [name for name in MECHANISMS if name != "auto"]
    rows = []
    for record, others, lost in regrets(found):
        shown = [marked(others[name], f"{others[name]['mean']:.3f}") if name in others else "" for name in fixed]
        rows.append([*_cell(record), marked(record, f"{record['mean']:.3f}"), record["taken"], *shown, f"{lost:.3f}"])
    return table_rows(["data", "epsilon", "privacy", "auto", "taken", *fixed, "regret"], rows)


def classes(found: dict[str, Store]) -> str:
    """Return the table of the problems with many classes."""
    rows = [
        [
            record["name"]["data"],
            record["name"]["method"],
            record["taken"],
            marked(record, f"{record['mean']:.4f}"),
            f"{error(record):.4f}",
            f"{record['runs']}",
            f"{record['seconds']:.0f} s",
        ]
        for record in found["classes"].records
    ]
    return table_rows(["data", "mechanism", "taken", "accuracy", "standard error", "runs", "processor time"], rows)


def descents(found: dict[str, Store]) -> str:
    """Return the table of all descents, each beside what `LogisticRegression` has on the same rows."""
    beside = [(record, _word(record)) for record in found["scores"].records if is_required(record["name"])]
    named = select(found["classes"].records, method="noisy-gradient")
    beside += [(record, "LogisticRegression, noisy gradient") for record in named]
    rows, cells = [], list(dict.fromkeys(tuple(_cell(record)) for record in found["descents"].records))
    for cell in cells:
        here = [(record, word) for record, word in beside if tuple(_cell(record)) == cell]
        here += [(record, _word(record)) for record in found["descents"].records if tuple(_cell(record)) == cell]
        for record, word in here:
            score, spent = marked(record, f"{record['mean']:.4f}"), f"{record['seconds']:.2f} s"
            rows.append([*cell, word, score, f"{error(record):.4f}", f"{record['runs']}", spent])
    header = ["data", "epsilon", "privacy", "estimator", "accuracy, R2", "standard error", "runs", "processor time"]
    return table_rows(header, rows)


def _word(record: Record) -> str:
    """Return the estimator of a record by the name that users call."""
    automatic = "Ridge" if record["facts"]["labels"] else "LogisticRegression"
    return automatic if record["name"]["method"] == "auto" else str(record["name"]["method"])


def one(found: dict[str, Store], suite: str, data: str, epsilon: float, privacy: str, method: str) -> Record:
    """Return the stored record of a cell."""
    (record,) = select(found[suite].records, data=data, epsilon=epsilon, privacy=privacy, method=method)
    return record


def gap(record: Record, other: Record) -> tuple[float, float]:
    """Return the difference of two means in points, and its standard error."""
    return 100 * (record["mean"] - other["mean"]), 100 * sqrt(error(record) ** 2 + error(other) ** 2)


def signed(difference: float, deviation: float) -> str:
    """Return a difference in points with its standard error in brackets."""
    return f"{difference:+.2f} ({deviation:.2f})"


# How far behind "auto" noisy SGD may be, in points.
LEVEL = 0.2


def noisy_beside(found: dict[str, Store]) -> str:
    """Return the table of noisy SGD beside the automatic choice, and which cells miss the goal by how much."""
    rows, missed = [], []
    cells = [(data, epsilon) for data, runs in BESIDE.items() for epsilon in runs]
    for data, epsilon in cells:
        theirs, ours = (one(found, "beside", data, epsilon, "approximate", m) for m in ("auto", "NoisySGDClassifier"))
        difference, deviation = gap(ours, theirs)
        if difference < -LEVEL:
            missed.append(f"{data} at {epsilon:g} by {-difference - LEVEL:.2f}")
        scores = [marked(record, f"{record['mean']:.4f}") for record in (ours, theirs)]
        fits = [f"{record['seconds']:.2f} s" for record in (ours, theirs)]
        runs = f"{ours['runs']}"
        rows.append([data, f"{epsilon:g}", *scores, theirs["taken"], signed(difference, deviation), runs, *fits])
    header = ["data", "epsilon", "noisy SGD", "`LogisticRegression`", "taken", "difference, points", "runs of each"]
    told = f"{len(cells) - len(missed)} of {len(cells)} cells are within {LEVEL:g} points of `LogisticRegression`"
    told += f"; missed: {', '.join(missed)}." if missed else "."
    return f"{table_rows([*header, 'fit', 'its fit'], rows)}\n\n{told}"


# The cells of docs/sgd.md: a family, where, and what it is compared with.
WINS = (
    ("descents", "SGDClassifier, one pass", "Covertype 1-vs-2", 1.0, "pure", "scores", "auto"),
    ("descents", "SGDClassifier, one pass", "Covertype 1-vs-2", 1.0, "approximate", "scores", "auto"),
    ("descents", "PhasedClassifier", "Covertype 1-vs-2", 0.1, "pure", "descents", "SGDClassifier, one pass"),
    ("descents", "PhasedClassifier", "Covertype 1-vs-2", 1.0, "pure", "descents", "SGDClassifier, one pass"),
    ("descents", "PhasedClassifier", "Covertype 1-vs-2", 1.0, "pure", "scores", "auto"),
    ("descents", "PhasedClassifier", "Covertype 7-class", 1.0, "pure", "descents", "auto"),
    ("descents", "PhasedClassifier", "Covertype 7-class", 1.0, "pure", "descents", "SGDClassifier, one pass"),
    ("descents", "NoisySGDClassifier", "Covertype 7-class", 1.0, "approximate", "classes", "noisy-gradient"),
    ("descents", "NoisySGDClassifier", "MNIST 10-class", 1.0, "approximate", "classes", "noisy-gradient"),
    ("descents", "NoisySGDClassifier", "Covertype 1-vs-2", 0.1, "approximate", "scores", "auto"),
)


def wins(found: dict[str, Store]) -> str:
    """Return the table of the cells in which descents are compared, from the stored results."""
    rows = []
    for suite, method, data, epsilon, privacy, there, rival in WINS:
        ours, theirs = (
            one(found, suite, data, epsilon, privacy, method),
            one(found, there, data, epsilon, privacy, rival),
        )
        beside = rival if rival in DESCENTS else "LogisticRegression"
        beside += f', mechanism="{rival}"' if rival in MECHANISMS and rival != "auto" else ""
        shown = [
            f"{marked(record, format(record['mean'], '.4f'))} in {record['seconds']:.2f} s" for record in (ours, theirs)
        ]
        ratio = f"{ours['seconds'] / theirs['seconds']:.2f}"
        where = [data, f"{epsilon:g}", privacy]
        rows.append([f"`{method}`", *where, shown[0], f"`{beside}`", shown[1], signed(*gap(ours, theirs)), ratio])
    header = [
        "estimator",
        "data",
        "epsilon",
        "privacy",
        "accuracy",
        "beside",
        "accuracy",
        "points ahead",
        "its time, over",
    ]
    return table_rows(header, rows)


def times(found: dict[str, Store]) -> str:
    """Return the table of times, with their goals."""
    rows = []
    for record in found["times"].records:
        goal, met = record["goal"], record.get("met")
        if goal is not None:
            met = record["value"] <= goal
        told = f"at most {goal:g}" if goal is not None else record["said"] if met is not None else ""
        beside = [f"{record['steps']} steps" if "steps" in record else record.get("taken", "")]
        if "seconds" in record:
            beside.append(f"{record['seconds']:.2f} s")
        if met is None or goal is not None:
            beside.append(record.get("said", ""))
        verdict = "" if met is None else "met" if met else "**missed**"
        value = f"{record['value']:.2f} {record['unit']}" + (OLDER if is_older_time(record) else "")
        when = found["times"].sessions[record["session"]]["date"]
        beside = [part for part in beside if part]
        rows.append([record["name"]["what"], value, ", ".join(beside), told, verdict, when])
    return table_rows(["what", "measured", "that is", "goal", "", "measured on"], rows)


def changes(found: dict[str, Store]) -> str:
    """Return what is worse than the best of the stored results before it, additive models among them."""
    rows, compared = [], 0
    for suite, store in ((suite, found.get(suite) or Store(suite)) for suite in COMPARED):
        for record in store.records:
            before = against(record)
            compared += before is not None
            if before is not None and (said := regression(record)):
                now, then = (entry.get("mean", entry.get("value")) for entry in (record, before))
                words = ", ".join(str(part) for part in record["name"].values())
                plans = f"{before['taken']}, {record['taken']}" if "taken" in before else ""
                rows.append([suite, words, f"{then:.4g}", f"{now:.4g}", said, plans, before["commit"]])
    if not compared:
        return "No figure was measured twice yet."
    said = f"{compared} figures have one before them, {len(rows)} of them are worse than the best of those beyond the "
    said += "limits."
    if not rows:
        return said
    header = ["table", "what", "before", "now", "worse by", "taken then, now", "measured at"]
    return f"{said}\n\n{table_rows(header, rows)}"


def measured(found: dict[str, Store]) -> str:
    """Return when, where and with what the results were measured, and how many are older than the program."""
    planned_cells = [
        record
        for suite in ("scores", "classes", "descents", "beside")
        for record in found[suite].records
        if "plan" in record["key"]
    ]
    old = sum(is_older(record) for record in planned_cells)
    said = f"All {len(planned_cells)} scores of Equipoise were measured under the plans that the program makes today."
    if old:
        said = f"{old} of {len(planned_cells)} scores of Equipoise, marked{OLDER}, were measured under plans that the"
        said += " program no longer makes."
    fits = [record for record in found["times"].records if "fit" in record]
    late = sum(is_older_time(record) for record in fits)
    said += f" Of {len(fits)} times of fits {late or 'none'} belong{'' if late > 1 else 's'} to such a plan"
    said += f", marked{OLDER} too." if late else "."
    rows = []
    besides = {suite: Store(suite) for suite in additive_picture.SUITES}
    for suite, store in (*((suite, found[suite]) for suite in SUITES), *besides.items()):
        for number, session in enumerate(store.sessions):
            count = sum(record["session"] == number for record in store.records)
            versions = ", ".join(f"{name} {version}" for name, version in session["packages"].items())
            python = f"Python {session['python']}, " if session["python"] else ""
            where = [session["date"], session["commit"], session["machine"], f"{session['load']:g}"]
            rows.append([suite, str(count), *where, python + versions])
    return f"{said}\n\n{table_rows(['table', 'figures', 'date', 'commit', 'machine', 'load', 'versions'], rows)}"


TABLES = {
    "comparison": comparison,
    "rival": rival,
    "regret": regret,
    "classes": classes,
    "times": times,
    "changes": changes,
    "measured": measured,
    "descents": descents,
    "every mechanism": every_mechanism,
    "additive models": lambda _: additive_picture.table(additive_picture.records()),
}


DESCENT_TABLES = {"wins": wins, "noisy beside": noisy_beside}
PAGES = {
    PAGE: TABLES,
    DESCENTS_PAGE: DESCENT_TABLES,
    PAGE.with_name("evaluation.md"): EVALUATION_TABLES,
    PAGE.with_name("coefficients.md"): COEFFICIENT_TABLES,
}


def render(page: str, found: dict[str, Store], tables: dict[str, Any] = TABLES) -> str:
    """Return the page with every table between its marks."""
    for name, table in tables.items():
        start, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        before, after = page.split(start)[0], page.split(end)[1]
        page = f"{before}{start}\n\n{table(found)}\n\n{end}{after}"
    return page


def drawn(found: dict[str, Store]) -> list[dict[str, Any]]:
    """Return the points of the picture."""
    points = []
    for record in found["scores"].records:
        name = record["name"]
        common = {"data": name["data"], "score": max(record["mean"], -1.0)}
        if name["method"] == UNPRIVATE:
            points += [{**common, "privacy": privacy, "method": UNPRIVATE} for privacy in ("pure", "approximate")]
        else:
            points.append({**common, **{part: name[part] for part in ("epsilon", "privacy", "method")}})
    best: dict[tuple[str, float, str], float] = {}
    for peer in found["peers"].records:
        name = peer["name"]
        if name["method"] != APART:
            cell = (name["data"], name["epsilon"], name["privacy"])
            best[cell] = max(best.get(cell, -1.0), peer["mean"])
    for (data, epsilon, privacy), score in best.items():
        points.append({"data": data, "epsilon": epsilon, "privacy": privacy, "method": "best peer", "score": score})
    return points


def drawing_mark(points: list[dict[str, Any]]) -> str:
    """Return the line of the picture that says what it was drawn from."""
    return f"<!-- drawn from {hashlib.sha256(json.dumps(points).encode()).hexdigest()[:12]} -->"


def picture(points: list[dict[str, Any]], path: Path) -> None:
    """Draw the score of every mechanism over epsilon, a panel a dataset and kind of privacy."""
    import altair as alt

    order = [*MECHANISMS, "best peer"]
    lowest, highest = 0.9 * CURVE_EPSILONS[0], 1.1 * CURVE_EPSILONS[-1]
    x = alt.X("epsilon:Q", scale=alt.Scale(type="log", domain=[lowest, highest], nice=False), title="epsilon")
    y = alt.Y("score:Q", scale=alt.Scale(zero=False), title="test score")
    colour = alt.Color("method:N", sort=order, scale=alt.Scale(domain=order, scheme="category10"), title=None)
    width = alt.condition(alt.datum.method == "auto", alt.value(4), alt.value(1.5))
    rows = []
    for data in (data for data in DATA if any(point["data"] == data for point in points)):
        panels = []
        for privacy in ("pure", "approximate"):
            here = [point for point in points if (point["data"], point["privacy"]) == (data, privacy)]
            parts = {
                kind: alt.Chart(alt.Data(values=[point for point in here if (point["method"] in kinds)]))
                for kind, kinds in (("lines", MECHANISMS), ("dots", ("best peer",)), ("rule", (UNPRIVATE,)))
            }
            lines = parts["lines"].mark_line(point=True).encode(x, y, colour, strokeWidth=width)
            dots = parts["dots"].mark_point(shape="diamond", size=90, filled=True).encode(x, y, colour)
            rule = parts["rule"].mark_rule(strokeDash=[4, 4]).encode(y=y)
            title = f"{data}, {'delta = 0' if privacy == 'pure' else 'delta = 1/n^2'}"
            panels.append((lines + dots + rule).properties(width=330, height=190, title=title))
        rows.append(alt.hconcat(*panels))
    save(alt.vconcat(*rows).configure(background="white"), points, path)


def save(chart: Any, points: list[dict[str, Any]], path: Path) -> None:
    """Write a picture, with the line that says what it was drawn from."""
    chart.save(path)
    with path.open("a") as file:
        file.write(f"\n{drawing_mark(points)}\n")


def is_drawn(points: list[dict[str, Any]], path: Path) -> bool:
    """Whether a picture shows these points."""
    return path.exists() and drawing_mark(points) in path.read_text()


def write_page() -> None:
    """Write the tables into the pages, and draw each picture if what it shows has changed."""
    found = stores()
    for page, tables in PAGES.items():
        page.write_text(render(page.read_text(), found, tables))
    points = drawn(found)
    if not is_drawn(points, PICTURE):
        picture(points, PICTURE)
    points = additive_picture.drawn(additive_picture.records())
    if not is_drawn(points, additive_picture.PICTURE):
        save(additive_picture.chart(points), points, additive_picture.PICTURE)
