"""The area under the ROC curve of each of several classes against the rest, on held-out rows of real tables.

One model a table, released at epsilon 1. Each class is evaluated for epsilon 0.5 at once, and for 0.05 and 0.45 with
bins that follow from the first; beside both stands the exact area of the same rows, and the share of the class.
``python benchmarks/against_the_rest.py FOLDER``, minutes; one draw of the noise each.
"""

import sys
from pathlib import Path

from prepared import covertype_seven, mnist_ten
from scipy.special import expit
from sklearn.metrics import roc_auc_score

import equipoise as eq
from equipoise.evaluation.evaluated import evaluated
from equipoise.evaluation.figure import Figure

MOST_ROWS = 10_000


def told(figure: Figure) -> str:
    """Return an interval in three digits."""
    return f"{figure.value:.3f} ({figure.low:.3f} to {figure.high:.3f})"


def main() -> None:
    """Print a line a class."""
    for table in (covertype_seven, mnist_ten):
        split = table(Path(sys.argv[1]))
        model = eq.LogisticRegression(epsilon=1.0, domain=split.domain, random_state=0).fit(split.X, split.y)
        rows, truth = split.X_test[:MOST_ROWS], split.y_test[:MOST_ROWS]
        for place, label in enumerate(model.classes_.tolist()):
            own = truth == label
            exact = roc_auc_score(own, expit(evaluated(model, positive=label).scores(rows)[:, 0]))
            asked = {"positive": label, "random_state": place}
            at_once = eq.evaluate(model, rows, truth, epsilon=0.5, **asked)
            look = eq.evaluate(model, rows, truth, epsilon=0.05, **asked)
            after = eq.evaluate(model, rows, truth, epsilon=0.45, bins_from=look, **asked)
            areas = " | ".join(told(each.figures().binned_auc) for each in (at_once, after))
            print(f"| {split.name} | {label} | {own.mean():.3f} | {exact:.3f} | {areas} |", flush=True)


if __name__ == "__main__":
    main()
