"""What centring by public bounds is worth, and how long rows should be (docs/feature-maps.md).

python benchmarks/bounds.py

First columns in [0, 1] against `Domain(bounds=...)`, then `Domain(bounds=...)` at several row norms, pure, on splits
that everybody can draw again. Scores of all runs are stored in ``benchmarks/results/bounds.json``, a record a line,
and measured again when a plan, the rows or the number of splits has changed. Both tables are printed from them.
"""

import argparse
import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from scores import plan_key
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from stored import Named, Record, Store, measure_or_keep
from study import table_rows

import equipoise as eq
from equipoise import __version__
from equipoise.demonstration import BREAST_CANCER_RANGES

Array = np.ndarray
EPSILONS = (0.3, 1.0, 3.0)
SPLITS = 20
# Of the longest row that bounds allow.
SHARES = (1.0, 0.7, 0.5, 0.35)
MORE_EPSILONS = (0.3, 1.0, 3.0, 10.0)
FEWER_SPLITS = 12
# Round numbers around what the description of the table says of its columns.
DIABETES_BOUNDS = [
    *((18, 90), (1, 2), (15, 45), (60, 140), (90, 320)),
    *((40, 250), (20, 100), (2, 10), (3, 6.5), (55, 130)),
]

Table = tuple[str, Array, Array, list[tuple[float, float]]]


def tables() -> list[Table]:
    """Return names, rows as they come, targets, and the public bounds of the columns."""
    rows, ill = load_breast_cancer(return_X_y=True)
    pixels, digit = load_digits(return_X_y=True)
    chosen = (digit == 3) | (digit == 8)
    people, progression = load_diabetes(return_X_y=True, scaled=False)
    return [
        ("breast cancer (AUC)", rows, ill, [(0, high) for high in BREAST_CANCER_RANGES]),
        ("digits 3-vs-8 (AUC)", pixels[chosen], (digit[chosen] == 8).astype(int), [(0, 16)] * 64),
        ("diabetes (R2)", people, progression, DIABETES_BOUNDS),
    ]


def model_of(domain: eq.Domain, epsilon: float, **seeds: int) -> Any:
    """Return the model for what a domain describes."""
    return (eq.Ridge if domain.labels else eq.LogisticRegression)(epsilon, domain=domain, **seeds)


def scores(rows: Array, target: Array, domain: eq.Domain, epsilon: float, seed: int) -> tuple[float, ...]:
    """Return what a model that was trained on four fifths of the rows does on the rest: accuracy and AUC, or R2."""
    stratify = None if domain.labels else target
    X, X_test, y, y_test = train_test_split(rows, target, test_size=0.2, random_state=seed, stratify=stratify)
    model = model_of(domain, epsilon, random_state=seed, public_seed=seed).fit(X, y)
    score = float(model.score(X_test, y_test))
    return (score,) if domain.labels else (score, float(roc_auc_score(y_test, model.decision_function(X_test))))


def tasks(table: Table) -> Iterator[tuple[Named, Named, Callable[[], Record]]]:
    """Yield what is to be measured of one table: a record a budget, way of scaling and row norm."""
    name, rows, target, bounds = table
    known = {"labels": (0, 400)} if "R2" in name else {"classes": (0, 1)}
    low, high = np.array(bounds, dtype=float).T
    longest = math.sqrt(rows.shape[1])

    def task(what: str, epsilon: float, share: float, splits: int) -> tuple[Named, Named, Callable[[], Record]]:
        scaled = {"bounds": bounds} if what == "bounds" else {}
        domain = eq.Domain(row_norm=share * longest, **scaled, **known)
        values = rows if scaled else (rows - low) / (high - low)
        plan = model_of(domain, epsilon).plan(round(0.8 * len(rows)), rows.shape[1])
        key = {"plan": plan_key(plan), "splits": splits, "version": __version__}
        named = {"table": name, "columns": what, "epsilon": epsilon, "share": share, "splits": splits}
        return named, key, partial(measured, values, domain, epsilon, splits)

    def measured(values: Array, domain: eq.Domain, epsilon: float, splits: int) -> Record:
        found = [scores(values, target, domain, epsilon, seed) for seed in range(splits)]
        last = [each[-1] for each in found]
        return {"scores": found, "mean": float(np.mean(last)), "deviation": float(np.std(last, ddof=1)), "runs": splits}

    for epsilon in EPSILONS:
        for what in ("in [0, 1]", "bounds"):
            yield task(what, epsilon, 1.0, SPLITS)
    for epsilon in MORE_EPSILONS:
        for share in SHARES:
            yield task("bounds", epsilon, share, FEWER_SPLITS)


def page() -> None:
    """Print both tables from what is stored."""
    found = {tuple(record["name"].values()): np.array(record["scores"]) for record in Store("bounds").records}
    lines = []
    for name, epsilon in ((name, epsilon) for name, *_ in tables() for epsilon in EPSILONS):
        plain, scaled = (found[name, what, epsilon, 1.0, SPLITS][:, -1] for what in ("in [0, 1]", "bounds"))
        apart = scaled - plain
        means = [f"{part.mean():.3f}" for part in (plain, scaled)]
        error = apart.std(ddof=1) / math.sqrt(SPLITS)
        lines.append([name, f"{epsilon:g}", *means, f"{apart.mean():+.3f} ± {error:.3f}"])
    print(table_rows(["data", "epsilon", "columns in [0, 1]", "`bounds`", "gained"], lines))
    lines = []
    for name, epsilon in ((name, epsilon) for name, *_ in tables() for epsilon in MORE_EPSILONS):
        means = [found[name, "bounds", epsilon, share, FEWER_SPLITS].mean(axis=0) for share in SHARES]
        shown = [", ".join(f"{mean:.3f}" for mean in pair) for pair in means]
        lines.append([name.rpartition(" (")[0], f"{epsilon:g}", *shown])
    print(table_rows(["data", "epsilon", *(f"{share:g}" for share in SHARES)], lines))


def main() -> None:
    """Measure what is not stored, and print both tables."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    store = Store("bounds")
    measure_or_keep(store, [task for table in tables() for task in tasks(table)], False, partial(print, flush=True))
    page()


if __name__ == "__main__":
    main()
