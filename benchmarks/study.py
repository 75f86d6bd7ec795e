"""What the benchmarks share: command-line options, requests and tables."""

import argparse
import os
from pathlib import Path

from prepared import Split

import equipoise as eq
from equipoise.planning.request import Request

# What stands behind figures that are older than the program.
OLDER = " †"


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


def request_for(split: Split, budget: eq.Budget, intercept: float, alpha: float | str) -> Request:
    """Return the request of a linear model on a split."""
    loss = "squared" if split.domain.labels is not None else "logistic"
    n_samples, n_features = split.X.shape
    return Request(loss, "l2", alpha, split.domain, intercept, n_samples, n_features, budget, seeded=True)


def table_rows(header: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
