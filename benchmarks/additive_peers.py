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
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from interpret.privacy import DPExplainableBoostingClassifier, DPExplainableBoostingRegressor
from sklearn.metrics import r2_score, roc_auc_score

EPSILONS = (0.1, 0.3, 1.0, 3.0)

# Bins of a column, how often each column is visited, and how far it goes then: the default, and less or more of each.
SETTINGS = ((32, 300, 0.01), (8, 100, 0.01), (8, 100, 0.03))


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


def fits(folder: Path, runs: int) -> Iterator[dict[str, Any]]:
    """Yield the scores of every setting on every split of a table."""
    facts = json.loads((folder / "facts.json").read_text())
    kinds = ["continuous"] * len(facts["numbers"]) + ["nominal"] * len(facts["levels"])
    bounds = {place: tuple(ends) for place, ends in enumerate(facts["numbers"].values())}
    for seed in range(min(runs, len(list(folder.glob("train-*.parquet"))))):
        train, test = (pd.read_parquet(folder / f"{part}-{seed}.parquet") for part in ("train", "test"))
        rows, scored = tables_of(train, facts), tables_of(test, facts)
        for epsilon, (bins, rounds, step) in itertools.product(EPSILONS, SETTINGS):
            settings = {
                "epsilon": epsilon,
                "delta": 1 / len(train) ** 2,
                "feature_types": kinds,
                "privacy_bounds": bounds,
                "max_bins": bins,
                "max_rounds": rounds,
                "learning_rate": step,
                "n_jobs": 1,
                "random_state": seed,
            }
            if facts["classes"] is None:
                low, high = facts["bounds"]
                model = DPExplainableBoostingRegressor(**settings, privacy_target_min=low, privacy_target_max=high)
                model.fit(rows, train[facts["target"]].clip(low, high))
            else:
                model = DPExplainableBoostingClassifier(**settings)
                model.fit(rows, train[facts["target"]] == facts["classes"][1])
            found = scores(model, scored, test[facts["target"]], facts)
            setting = f"{bins} bins, {rounds} rounds of {step:g}"
            run = {"table": folder.name, "seed": seed, "epsilon": epsilon, "setting": setting}
            yield {**run, "scores": found, "version": version("interpret-core")}


def main() -> None:
    """Measure and store, a table after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("splits", type=Path)
    parser.add_argument("stored", type=Path)
    parser.add_argument("--tables", nargs="+")
    parser.add_argument("--runs", type=int, default=10)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    stored = json.loads(asked.stored.read_text()) if asked.stored.exists() else []
    for name in asked.tables or sorted(folder.name for folder in asked.splits.iterdir()):
        known = [entry for entry in stored if (entry["table"], entry["version"]) == (name, version("interpret-core"))]
        runs = min(asked.runs, len(list((asked.splits / name).glob("train-*.parquet"))))
        if len(known) == runs * len(EPSILONS) * len(SETTINGS):
            continue
        stored = [entry for entry in stored if entry["table"] != name]
        for entry in fits(asked.splits / name, asked.runs):
            stored.append(entry)
            asked.stored.write_text(json.dumps(stored))


if __name__ == "__main__":
    main()
