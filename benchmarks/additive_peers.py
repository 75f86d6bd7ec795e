"""DP-EBM on the splits of benchmarks/additive.py, in the peers' own environment: it imports nothing of equipoise.

interpret-core's DP-EBMs hide whether a row was added or removed, which is weaker than the replacement that equipoise
hides: with as much noise, their epsilon for a replaced row is up to twice as large. They have no mode with delta = 0.
Bounds of columns, their kinds and those of a target are given as public facts. Every setting is stored; the page takes
the one with the best mean score on the test rows, which no honest analyst could know.
"""

import argparse
import itertools
import json
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from interpret.privacy import DPExplainableBoostingClassifier, DPExplainableBoostingRegressor
from sklearn.metrics import r2_score, roc_auc_score
from stored import Named, Record, Store, measure_or_keep

EPSILONS = (0.1, 0.3, 1.0, 3.0)

Setting = tuple[int, int, float]

# Bins of a column, how often each column is visited, and how far it goes then: the default, and less or more of each.
SETTINGS: tuple[Setting, ...] = ((32, 300, 0.01), (8, 100, 0.01), (8, 100, 0.03))
# Two bins are kept for values that are missing or unknown, so that 4, the fewest of use, are two halves of a column.
# Few rows want few bins and short steps, many rows the opposite: both were looked for where the best was at an end.
FEW_ROWS = 10_000
FEW: tuple[Setting, ...] = tuple(
    (bins, rounds, step)
    for bins in (4, 6, 8)
    for rounds, step in ((100, 0.01), (100, 0.03), (100, 0.1), (30, 0.03), (30, 0.1), (10, 0.1), (10, 0.3))
)
MANY: tuple[Setting, ...] = tuple((bins, 100, step) for bins in (8, 12, 16, 32) for step in (0.1, 0.3))


def settings_for(rows: int) -> tuple[Setting, ...]:
    """Return what a table of so many rows is tuned over, the test rows in view."""
    return tuple(dict.fromkeys((*SETTINGS, *(FEW if rows < FEW_ROWS else MANY))))


def tables_of(frame: pd.DataFrame, facts: dict[str, Any]) -> pd.DataFrame:
    """Return the columns, numbers clipped into their bounds and filled by the midpoint, levels as texts."""
    found = {}
    for name, (low, high) in facts["numbers"].items():
        found[name] = frame[name].astype(float).fillna((low + high) / 2).clip(low, high)
    for name in facts["levels"]:
        found[name] = frame[name].astype(object).where(frame[name].notna(), "missing").astype(str)
    return pd.DataFrame(found)


def scores(model: Any, rows: pd.DataFrame, truth: pd.Series, facts: dict[str, Any]) -> tuple[float, float]:
    """Return accuracy and AUC, or R2 twice."""
    if facts["classes"] is None:
        found = float(r2_score(truth, model.predict(rows)))
        return found, found
    second = (truth == facts["classes"][1]).to_numpy()
    chance = model.predict_proba(rows)[:, 1]
    return float(np.mean((chance > 0.5) == second)), float(roc_auc_score(second, chance))


def fitted(train: pd.DataFrame, facts: dict[str, Any], cell: tuple[float, Setting], seed: int) -> Any:
    """Return a model of one split."""
    epsilon, (bins, rounds, step) = cell
    settings = {
        "epsilon": epsilon,
        "delta": 1 / len(train) ** 2,
        "feature_types": ["continuous"] * len(facts["numbers"]) + ["nominal"] * len(facts["levels"]),
        "privacy_bounds": {place: tuple(ends) for place, ends in enumerate(facts["numbers"].values())},
        "max_bins": bins,
        "max_rounds": rounds,
        "learning_rate": step,
        "n_jobs": 1,
        "random_state": seed,
    }
    rows, target = tables_of(train, facts), train[facts["target"]]
    if facts["classes"] is not None:
        return DPExplainableBoostingClassifier(**settings).fit(rows, target == facts["classes"][1])
    low, high = facts["bounds"]
    model = DPExplainableBoostingRegressor(**settings, privacy_target_min=low, privacy_target_max=high)
    return model.fit(rows, target.clip(low, high))


def tasks(folder: Path, most: int) -> Iterator[tuple[Named, Named, Callable[[], Record]]]:
    """Yield what is to be measured of one table: a record for every epsilon and setting, the scores of all splits."""
    facts = json.loads((folder / "facts.json").read_text())
    runs = min(most, facts["runs"])
    splits: list[tuple[pd.DataFrame, pd.DataFrame]] = []

    def measured(cell: tuple[float, Setting]) -> Record:
        if not splits:
            parts = ((folder / f"{part}-{seed}.parquet" for part in ("train", "test")) for seed in range(runs))
            splits.extend((pd.read_parquet(train), pd.read_parquet(test)) for train, test in parts)
        found = []
        for seed, (train, test) in enumerate(splits):
            model = fitted(train, facts, cell, seed)
            found.append(scores(model, tables_of(test, facts), test[facts["target"]], facts))
        return {"scores": found, "mean": float(np.mean([first for first, _ in found])), "runs": runs}

    for epsilon, setting in itertools.product(EPSILONS, settings_for(facts["rows"])):
        bins, rounds, step = setting
        name = {"table": folder.name, "epsilon": epsilon, "setting": f"{bins} bins, {rounds} rounds of {step:g}"}
        key = {"rows": facts["rows"], "runs": runs, "version": version("interpret-core")}
        yield name, key, partial(measured, (epsilon, setting))


def main() -> None:
    """Measure what is not stored, a table after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("splits", type=Path)
    parser.add_argument("--tables", nargs="+")
    parser.add_argument("--runs", type=int, default=40)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    store = Store("additive-peers")
    for name in asked.tables or sorted(folder.name for folder in asked.splits.iterdir()):
        measure_or_keep(store, list(tasks(asked.splits / name, asked.runs)), False, partial(print, flush=True))


if __name__ == "__main__":
    main()
