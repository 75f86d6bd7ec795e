"""MAPIE's split-conformal sets of the same rows, without noise, in the peers' own environment.

``benchmarks/prediction_sets.py`` calls it, with a file of what a released model says of held-out rows: scores a row
(`shown`), the truth, how many rows are counted in a split, how many splits, the coverage, whether they are classes.
It writes how often sets of the other rows hold the truth and their mean size, a line a split. Rows are dealt by the
rule of ``benchmarks/dealing.py``.
"""

import platform
import sys
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from dealing import dealt
from mapie.classification import SplitConformalClassifier
from mapie.regression import SplitConformalRegressor
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

Array = NDArray[np.float64]


class Shown(BaseEstimator):
    """A model whose scores were computed beforehand: what MAPIE asks."""

    def fit(self, X: Any, y: Any) -> "Shown":
        """Learn nothing."""
        return self

    def __sklearn_is_fitted__(self) -> bool:
        """Say that nothing is left to learn."""
        return True


class ShownClasses(ClassifierMixin, Shown):
    """Of classes, by their shares."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.classes_ = np.arange(number)

    def predict_proba(self, X: Array) -> Array:
        """Return the shares."""
        return X

    def predict(self, X: Array) -> Any:
        """Return the likeliest class."""
        return np.argmax(X, axis=1)


class ShownNumbers(RegressorMixin, Shown):
    """Of numbers."""

    def predict(self, X: Array) -> Array:
        """Return the numbers."""
        return X[:, 0]


def of_classes(found: Any, counted: NDArray[np.int64], new: NDArray[np.int64]) -> tuple[float, float]:
    """Return how often sets of classes hold the truth, and their mean size."""
    shown, truth = found["shown"], found["truth"].astype(int)
    classifier = ShownClasses(shown.shape[1])
    asked = SplitConformalClassifier(classifier, float(found["coverage"]), conformity_score="lac", prefit=True)
    asked.conformalize(shown[counted], truth[counted])
    sets = asked.predict_set(shown[new])[1][:, :, 0]
    return float(np.mean(sets[np.arange(len(new)), truth[new]])), float(np.mean(np.sum(sets, axis=1)))


def of_numbers(found: Any, counted: NDArray[np.int64], new: NDArray[np.int64]) -> tuple[float, float]:
    """Return how often intervals hold the truth, and their mean width."""
    shown, truth = found["shown"], found["truth"]
    asked = SplitConformalRegressor(ShownNumbers(), float(found["coverage"]), prefit=True)
    asked.conformalize(shown[counted], truth[counted])
    low, high = asked.predict_interval(shown[new])[1][:, :, 0].T
    return float(np.mean((low <= truth[new]) & (truth[new] <= high))), float(np.mean(high - low))


def main() -> None:
    """Make the sets of every split of one file."""
    asked, answer = Path(sys.argv[1]), Path(sys.argv[2])
    # What MAPIE says of models whose scores were computed beforehand.
    warnings.filterwarnings("ignore", "Estimator does not appear fitted")
    found = dict(np.load(asked))
    sets = of_classes if found["classes"] else of_numbers
    rows, counted = len(found["truth"]), int(found["counted"])
    made = [sets(found, *dealt(world, rows, counted)) for world in range(int(found["splits"]))]
    packages = [f"{name} {version(name)}" for name in ("mapie", "numpy", "scikit-learn")]
    np.savez(answer, made=np.array(made), versions=np.array([f"Python {platform.python_version()}", *packages]))


if __name__ == "__main__":
    main()
