"""What holding rows out costs and buys: the table of docs/evaluation.md, on Adult, whose rows are public.

For several numbers of rows and shares that are held out: how good the models are on the official test rows, and how
wide the intervals of accuracy and AUC are. Beside it the other way to spend as much without a second table: half of
epsilon trains on all rows, and half evaluates on the same rows, which the model knows.
``python benchmarks/holdout.py FOLDER``, with adult.parquet in the folder; a few minutes.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

import equipoise as eq
from equipoise.data.encoded import encoded_table
from equipoise.data.frames import FrameTable

SCHEMA = Path(__file__).parents[1] / "docs" / "schema" / "adult.toml"
DOMAIN = eq.Domain(1.0, classes=("<=50K", ">50K"))
EPSILON, SHARES = 1.0, (0.05, 0.1, 0.2, 0.3, 0.5)
# So many rows, and so many runs.
SIZES = ((1000, 40), (5000, 20), (32_561, 8))

Rows = tuple[NDArray[np.float64], NDArray[np.object_]]


def encoded(folder: Path, part: str) -> Rows:
    """Return the rows of a part of the table as a schema encodes them, and their classes."""
    table = pq.read_table(folder / "adult.parquet")
    table = table.filter(pc.equal(table["split"], part)).drop_columns(["split"])
    found = encoded_table(eq.Schema.from_toml(SCHEMA), FrameTable(table), len(table))
    return found.features.read(), found.target.read()


def asked(epsilon: float, run: int) -> eq.LogisticRegression:
    """Return a model with coins of its own, public ones too."""
    return eq.LogisticRegression(epsilon, domain=DOMAIN, random_state=run, public_seed=run)


def measured(rows: Rows, test: Rows, count: int, share: float, run: int) -> tuple[float, ...]:
    """Return the accuracy on test rows and half the widths of two intervals, for a share of so many rows.

    A share of 0 evaluates nothing; one of 1 stands for half of epsilon each, on all rows.
    """
    chosen = np.random.default_rng(run).choice(len(rows[0]), count, replace=False)
    X, y = rows[0][chosen], rows[1][chosen]
    model = asked(EPSILON / 2 if share == 1 else EPSILON, run)
    if share in (0, 1):
        model.fit(X, y)
    if share == 0:
        return float(np.mean(model.predict(test[0]) == test[1])), np.nan, np.nan
    if share == 1:
        found = eq.evaluate(model, X, y, epsilon=EPSILON / 2, random_state=run)
    else:
        found = eq.train_and_evaluate(model, X, y, holdout=share)
    figures = found.figures()
    widths = [(figure.high - figure.low) / 2 for figure in (figures.accuracy, figures.binned_auc)]
    return float(np.mean(model.predict(test[0]) == test[1])), *widths


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    tables = [encoded(Path(sys.argv[1]), part) for part in ("train", "test")]
    print(
        "| rows | held out | accuracy of the model | accuracy known to within | AUC of binned scores known to within |"
    )
    print("|---|---|---|---|---|")
    for size, runs in SIZES:
        for share in (0, *SHARES, 1):
            found = np.array([measured(*tables, size, share, run) for run in range(runs)])
            mean, error = found[:, 0].mean(), found[:, 0].std(ddof=1) / np.sqrt(runs)
            known = " | ".join("" if share == 0 else f"{100 * width:.1f} %" for width in found[:, 1:].mean(axis=0))
            name = {0: "none", 1: "none: half of epsilon each"}.get(share, f"{100 * share:g} %")
            print(f"| {size:,} | {name} | {100 * mean:.1f} % ± {100 * error:.1f} | {known} |", flush=True)
