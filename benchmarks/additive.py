"""Curves against lines: additive models and linear ones on the same schema, rows and budget.

One command prints the table of docs/additive.md::

    python benchmarks/additive.py --data FOLDER [--runs 5] [--epsilons .1 .3 1 3] [--tables Adult ...]

Each run is another random 80/20 split (Adult has its official one) and another seed of the noise. Rows are encoded by a
schema of public facts: code books, physical ranges. Both models are as they come; scores are accuracy and AUC for two
classes, R2 for numbers.
"""

import argparse
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as parquet
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import r2_score, roc_auc_score

import equipoise as eq
from equipoise.data.schema import CategoryColumn, Column, NumberColumn, Schema, Target, YesNoColumn
from equipoise.demonstration import BREAST_CANCER_RANGES

ADULT = {
    "age": (17, 90),
    "fnlwgt": (0, 1_500_000),
    "education_num": (1, 16),
    "capital_gain": (0, 100_000),
    "capital_loss": (0, 4500),
    "hours_per_week": (1, 99),
}
COVERTYPE = {
    "elevation": (1800, 3900),
    "aspect": (0, 360),
    "slope": (0, 66),
    "horizontal_distance_to_hydrology": (0, 1400),
    "vertical_distance_to_hydrology": (-180, 610),
    "horizontal_distance_to_roadways": (0, 7200),
    "hillshade_9am": (0, 255),
    "hillshade_noon": (0, 255),
    "hillshade_3pm": (0, 255),
    "horizontal_distance_to_fire_points": (0, 7200),
}
WARFARIN = {"age": (10, 100), "height_cm": (120, 210), "weight_kg": (30, 240)}
DIABETES = {
    "age": (18, 80),
    "bmi": (15, 45),
    "bp": (60, 140),
    "s1": (90, 310),
    "s2": (40, 250),
    "s3": (20, 100),
    "s4": (1, 10),
    "s5": (3, 6.2),
    "s6": (55, 130),
}


@dataclass(frozen=True)
class Table:
    """A public table, with the schema of its public facts; `train` marks an official split, if there is one."""

    frame: pd.DataFrame
    schema: Schema
    train: Any = None

    def split(self, seed: int, most: int) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return rows to train on, at most so many, and rows to score."""
        order = np.random.default_rng(seed).permutation(len(self.frame))
        train = order < 0.8 * len(order) if self.train is None else self.train
        rows = self.frame[train]
        return rows.iloc[np.random.default_rng(seed).permutation(len(rows))[:most]], self.frame[~train]


def schema_of(columns: tuple[Column, ...], target: Target) -> Schema:
    """Return a schema whose number of rows is still blank."""
    return Schema(None, columns, target, vouched_by="a benchmark", vouched_on="2026-11-18")


def numbers(bounds: dict[str, Any]) -> tuple[Column, ...]:
    """Return columns of numbers."""
    return tuple(NumberColumn(name, ends) for name, ends in bounds.items())


def categories(frame: pd.DataFrame, names: list[str]) -> tuple[Column, ...]:
    """Return columns of categories whose code books are the levels that stand in the published table."""
    return tuple(CategoryColumn(name, tuple(sorted(frame[name].dropna().unique())), other=True) for name in names)


def adult(folder: Path) -> Table:
    """Return Adult with its official split."""
    frame = parquet.read_table(folder / "adult.parquet").to_pandas()
    train = (frame.pop("split") == "train").to_numpy()
    others = [name for name in frame.columns if name not in (*ADULT, "income")]
    frame[others] = frame[others].astype(str)
    frame["income"] = frame["income"].astype(str)
    columns = (*numbers(ADULT), *categories(frame, others))
    return Table(frame, schema_of(columns, Target("income", classes=("<=50K", ">50K"))), train)


def covertype(folder: Path) -> Table:
    """Return Covertype's classes 1 and 2; areas and soils, a column a level in the file, are categories."""
    frame = parquet.read_table(folder / "covertype.parquet").to_pandas()
    frame = frame[frame["cover_type"].isin([1, 2])]
    kept = frame[[*COVERTYPE, "cover_type"]].copy()
    for name in ("wilderness_area", "soil_type"):
        levels = [column for column in frame.columns if column.startswith(name)]
        kept[name] = np.array(levels, dtype=object)[frame[levels].to_numpy().argmax(axis=1)]
    columns = (*numbers(COVERTYPE), *categories(kept, ["wilderness_area", "soil_type"]))
    return Table(kept.reset_index(drop=True), schema_of(columns, Target("cover_type", classes=(1, 2))))


def warfarin(folder: Path) -> Table:
    """Return roots of weekly doses of warfarin from clinical and genetic facts."""
    frame = parquet.read_table(folder / "iwpc_warfarin.parquet").to_pandas()
    frame = frame[frame["therapeutic_dose_of_warfarin"].notna()].reset_index(drop=True)
    genes, answers = ["race", "vkorc1_m1639_consensus", "cyp2c9_consensus"], ["amiodarone_cordarone", "current_smoker"]
    kept = frame[[*WARFARIN, *genes, *answers]].copy()
    kept["age"] = frame["age"].astype(str).str[:2].replace("na", "nan").astype(float)
    kept[genes + answers] = kept[genes + answers].astype(object)
    kept["root_dose"] = np.sqrt(frame["therapeutic_dose_of_warfarin"])
    columns = (*numbers(WARFARIN), *categories(kept, genes), *map(YesNoColumn, answers))
    return Table(kept, schema_of(columns, Target("root_dose", bounds=(1.5, 9.5))))


def diabetes(folder: Path) -> Table:
    """Return the progression of diabetes."""
    frame = parquet.read_table(folder / "diabetes.parquet").to_pandas()
    frame["sex"] = frame["sex"].astype(int)
    columns = (*numbers(DIABETES), YesNoColumn("sex", yes=("2",), no=("1",)))
    return Table(frame, schema_of(columns, Target("progression", bounds=(0, 400))))


def breast_cancer(folder: Path) -> Table:
    """Return breast cancer, malignant or benign."""
    frame = load_breast_cancer(as_frame=True).frame
    bounds = dict(zip(frame.columns[:-1], ((0.0, float(high)) for high in BREAST_CANCER_RANGES), strict=True))
    return Table(frame, schema_of(numbers(bounds), Target("target", classes=(0, 1))))


TABLES: dict[str, Callable[[Path], Table]] = {
    "Adult": adult,
    "Covertype 1-vs-2": covertype,
    "warfarin": warfarin,
    "diabetes": diabetes,
    "breast cancer": breast_cancer,
}


def scores(model: Any, test: pd.DataFrame, schema: Schema) -> tuple[float, float]:
    """Return accuracy and AUC, or R2 twice."""
    truth = test[schema.target.name]
    if schema.target.classes is None:
        found = r2_score(truth, model.predict(test))
        return found, found
    second = truth == schema.target.classes[1]
    decision = model.decision_function(test)
    return float(np.mean((decision > 0) == second)), float(roc_auc_score(second, decision))


def measured(table: Table, kind: Any, budget: tuple[float, float], seed: int, most: int) -> tuple[float, float, Any]:
    """Return the scores of one fit, and the model."""
    train, test = table.split(seed, most)
    schema = replace(table.schema, n_samples=len(train))
    epsilon, share = budget
    model = kind(epsilon=epsilon, delta=share / len(train) ** 2, domain=schema, random_state=seed, public_seed=seed)
    return *scores(model.fit(train), test, schema), model


def cells(table: Table, runs: int, epsilons: list[float], most: int) -> Iterator[list[str]]:
    """Yield a line for each budget: scores of lines and curves, and how they differ."""
    task = "regressor" if table.schema.target.classes is None else "classifier"
    kinds = (eq.Ridge, eq.AdditiveRegressor) if task == "regressor" else (eq.LogisticRegression, eq.AdditiveClassifier)
    for share in (0.0, 1.0):
        for epsilon in epsilons:
            found = [[measured(table, kind, (epsilon, share), seed, most) for seed in range(runs)] for kind in kinds]
            line, curve = (np.mean([entry[:2] for entry in entries], axis=0) for entries in found)
            finest = max(getattr(column, "cells", 0) for column in found[1][-1][2].schema_.columns)
            yield [
                f"{epsilon:g}, {'1/n^2' if share else '0'}",
                *(f"{value:.4f}" for value in (*line, *curve)),
                *(f"{value:+.4f}" for value in curve - line),
                f"{finest}",
                " ".join(sorted({entry[2].certificate_.kind for entry in found[1]})),
            ]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--most", type=int, default=50_000, help="at most so many rows to train on")
    parser.add_argument("--epsilons", type=float, nargs="+", default=[0.1, 0.3, 1.0, 3.0])
    parser.add_argument("--tables", nargs="+", default=list(TABLES))
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| table | epsilon, delta | line | AUC | curve | AUC | gain | AUC | cells | kind |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name in asked.tables:
        for line in cells(TABLES[name](asked.data), asked.runs, asked.epsilons, asked.most):
            print(f"| {name} | {' | '.join(line)} |", flush=True)


if __name__ == "__main__":
    main()
