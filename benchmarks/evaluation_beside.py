"""A paid evaluation beside what it is about, on Adult, whose rows are public: the table of docs/evaluation.md.

``python benchmarks/evaluation_beside.py FOLDER [RELEASE EVALUATION]``: the folder with adult.parquet, and a release and
its evaluation, as the loop of that page writes them; without, they are made by its command. For every threshold the
evaluation's intervals, the exact rates of the same model on the official test rows, and how much of class 1 a model
without privacy, trained on all training rows, finds at the same rate of false positives. Of private rows the last two
cannot be shown.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

import equipoise as eq
from equipoise.data.encoded import encoded_table
from equipoise.data.frames import FrameTable
from equipoise.evaluation.figure import Figure

SCHEMA = Path(__file__).parents[1] / "docs" / "schema" / "adult.toml"


def between(figure: Figure) -> str:
    return f"{figure.value:.3f} ({figure.low:.3f} to {figure.high:.3f})"


def scores_of(fitted: object, rows: object) -> NDArray[np.float64]:
    return np.asarray(fitted.predict_proba(rows))[:, 1]


def made(folder: Path, place: Path) -> tuple[Path, Path]:
    """Train and evaluate by the page's command, without its ledger; return where both are."""
    table = pq.read_table(folder / "adult.parquet")
    rows = table.filter(pc.equal(table["split"], "train")).drop_columns(["split"])
    pq.write_table(rows, place / "adult.parquet")
    budget = ["--epsilon", "0.5", "--holdout", "0.2", "--holdout-by", "sex"]
    goals = place / "logistic", place / "logistic-evaluation"
    into = ["--out", goals[0], "--evaluation", goals[1]]
    program = Path(sys.executable).with_name("equipoise")
    subprocess.run([program, "train", place / "adult.parquet", "--schema", SCHEMA, *budget, *into], check=True)  # noqa: S603
    return goals


def main(folder: Path, release: Path, evaluation: Path) -> None:
    table = pq.read_table(folder / "adult.parquet")
    raw = {part: table.filter(pc.equal(table["split"], part)).drop_columns(["split"]) for part in ("train", "test")}
    encoded = {
        part: encoded_table(eq.Schema.from_toml(SCHEMA), FrameTable(rows), len(rows)) for part, rows in raw.items()
    }
    without = LogisticRegression(C=100.0, max_iter=2000)
    without.fit(encoded["train"].features.read(), encoded["train"].target.read())
    rich = np.asarray(encoded["test"].target.read()) == ">50K"
    own = scores_of(eq.load(release), raw["test"].to_pandas())
    best = scores_of(without, encoded["test"].features.read())
    found = eq.Evaluation.load(evaluation).figures()
    print("| figure | paid evaluation | the same model, exactly | without privacy |\n|---|---|---|---|")
    exact = [np.mean((scores > 0.5) == rich) for scores in (own, best)]
    print(f"| accuracy | {between(found.accuracy)} | {exact[0]:.3f} | {exact[1]:.3f} |")
    areas = [roc_auc_score(rich, scores) for scores in (own, best)]
    print(f"| AUC | {between(found.auc)} | {areas[0]:.3f} | {areas[1]:.3f} |")
    print(f"| AUC of scores in {found.bins} bins | {between(found.binned_auc)} | | |")
    for threshold, false, true in zip(found.recall.places, *(curve.figures for curve in found.roc), strict=True):
        wrongly, rightly = np.mean(own[~rich] > threshold), np.mean(own[rich] > threshold)
        at_the_same = np.mean(best[rich] > np.quantile(best[~rich], 1.0 - wrongly))
        name = f"{threshold:.4f}: false positives, recall"
        paid = f"{between(false)}, {between(true)}"
        print(f"| {name} | {paid} | {wrongly:.3f}, {rightly:.3f} | the same, {at_the_same:.3f} |")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        files, *ready = map(Path, sys.argv[1:4])
        main(files, *(ready or made(files, Path(scratch))))
