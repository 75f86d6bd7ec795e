"""What the benchmarks share: command-line options, scores of released models, and where figures go."""

import argparse
import os
from pathlib import Path

import numpy as np
from prepared import Split

from equipoise.learn.tables import feature_table, target_column
from equipoise.proof.certificate import Certificate
from equipoise.proof.noise import SeededSource
from equipoise.proof.request import Request
from equipoise.release import release
from equipoise.vocabulary.facts import Budget


def options(description: str) -> argparse.Namespace:
    """Read the options that every benchmark takes."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--data", type=Path, default=os.environ.get("EQUIPOISE_DATA"), help="folder of Parquet files")
    parser.add_argument("--seeds", type=int, default=10, help="released models a cell and split")
    parser.add_argument("--splits", type=int, default=20, help="random splits of the small sets")
    parser.add_argument("--out", type=Path, default=Path("docs"), help="folder for figures")
    chosen = parser.parse_args()
    if chosen.data is None:
        parser.error("say where the Parquet files are: --data FOLDER, or set EQUIPOISE_DATA")
    return chosen


def request_for(split: Split, budget: Budget, intercept: float, alpha: float | str) -> Request:
    """Return the request of a linear model on a split."""
    loss = "squared" if split.domain.labels is not None else "logistic"
    n_samples, n_features = split.X.shape
    return Request(loss, "l2", alpha, split.domain, intercept, n_samples, n_features, budget, seeded=True)


def test_scores(split: Split, request: Request, seeds: range) -> np.ndarray:
    """Return the test accuracy, or R2 for a regression, of one released model a seed."""
    certificate = Certificate.issue(request)
    return np.array([_score(split, request, certificate, seed) for seed in seeds])


def _score(split: Split, request: Request, certificate: Certificate, seed: int) -> float:
    weights = release(
        certificate, feature_table(split.X), target_column(split.y, len(split.y)), SeededSource(seed)
    ).weights
    constant = request.intercept * weights[-1] if request.intercept > 0 else 0.0
    scores = split.X_test @ weights[: request.n_features] + constant
    if split.domain.labels is None:
        return float(np.mean((scores > 0) == split.y_test))
    predicted = np.clip(scores + split.domain.label_centre, *split.domain.labels)
    return 1 - float(np.mean((predicted - split.y_test) ** 2) / np.var(split.y_test))


def table_rows(header: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
