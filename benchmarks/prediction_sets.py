"""Prediction sets on real tables, over 1,000 splits of rows that the model never saw, beside split-conformal sets.

One model a table, released at epsilon 1. Its held-out rows are dealt 1,000 times into rows that are counted with noise
and rows whose sets are looked at. Printed: how often sets hold the truth (wanted are 0.90 to 0.93), how often they are
empty (a miss), how large they are, and the same of split-conformal sets of the same rows without noise. Where MAPIE is
installed it computes those, in every split, and those computed here must agree; the first line says who did.
``python benchmarks/prediction_sets.py FOLDER [SPLITS [TABLE ...]]``, some minutes; tables by their function's name.
"""

import importlib.metadata
import importlib.util
import math
import sys
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from prepared import Split, adult, covertype, covertype_seven, mnist_3_vs_5, mnist_ten
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

import equipoise as eq
from equipoise.data.rows import class_positions
from equipoise.evaluation.evaluated import Evaluated, evaluated
from equipoise.evaluation.histogram import NoisyCounts
from equipoise.evaluation.prediction_sets import cells_of, levels_of_classes, mark, parts_of, reached
from equipoise.evaluation.regression import Regression
from equipoise.evaluation.shares import rebalanced
from equipoise.noise import SeededSource
from equipoise.planning.evaluation import further_noise, noise_on_counts
from equipoise.release.carriers.evaluation import binned, outputs_of, share_bins
from equipoise_studies.private_regression.preparation import patients

Array = NDArray[np.float64]

COVERAGE, EPSILONS, SPLITS, MOST_ROWS = 0.9, (1.0, 5.0), 1000, 10_000


@dataclass(frozen=True)
class HeldOut:
    """Rows that a model never saw, as its cells see them and as they are."""

    name: str
    epsilon: float
    template: NoisyCounts
    # The row of the histogram and the output that each row lies in; levels of cells. Of several classes it is the
    # histogram of the true class's share, which has one row.
    rows: NDArray[np.int64]
    outputs: NDArray[np.int64]
    levels: NDArray[np.intp]
    # Non-conformity scores of true labels, and of all labels (rows x classes); of numbers the absolute residual.
    scores: Array
    of_labels: Array | None
    # Of classes: the output of every row for each of its labels.
    outputs_of_labels: NDArray[np.int64] | None
    # What MAPIE is given: a score a row, and the truth.
    shown: Array
    truth: Array


def released(split: Split) -> Evaluated:
    """Train on a table's training rows."""
    family = eq.Ridge if split.domain.labels else eq.LogisticRegression
    return evaluated(family(epsilon=1.0, domain=split.domain, random_state=0).fit(split.X, split.y))


def held_out(split: Split, found: Evaluated, epsilon: float) -> HeldOut:
    """See a table's test rows with the released model."""
    name, numbers = split.name, split.domain.labels is not None
    n = min(len(split.y_test) // 2, MOST_ROWS)
    noise = noise_on_counts(eq.Budget(epsilon), found.further)
    cells, margins = found.cells(n, noise), found.scores(split.X_test)
    counts = np.zeros(cells.shape, dtype=np.int64)
    template = NoisyCounts(cells.edges, counts, noise.law, noise.scale, n, cells.predictions, cells.range)
    truth = split.y_test.astype(float)
    if numbers:
        predicted = margins[:, 0]
        rows, outputs = binned(cells.predictions, predicted), binned(cells.edges, truth - predicted)
        levels = np.broadcast_to(Regression(template).levels, cells.shape[1:])
        scores, shown = np.abs(truth - predicted), predicted[:, None]
        return HeldOut(name, epsilon, template, rows, outputs, levels, scores, None, None, shown, truth)
    second = expit(margins[:, 0])
    shares = np.stack([1.0 - second, second], axis=1) if len(found.labels) == 2 else softmax(margins, axis=1)
    rows = class_positions(split.y_test, found.labels).astype(np.int64)
    scores, true = 1.0 - shares[np.arange(len(rows)), rows], rows.astype(float)
    if (louder := further_noise(noise, cells)) is None:
        outputs, levels = outputs_of(cells, margins), levels_of_classes(template)
        of_labels = np.repeat(outputs[:, None], 2, axis=1)
        return HeldOut(name, epsilon, template, rows, outputs, levels, scores, 1.0 - shares, of_labels, shares, true)
    template = NoisyCounts(
        cells.true_shares, np.zeros((1, 1, louder.dimension), dtype=np.int64), noise.law, louder.scale, n
    )
    of_labels, levels = share_bins(cells, margins), np.arange(louder.dimension)[::-1][None, :]
    outputs, alone = of_labels[np.arange(len(rows)), rows], np.zeros_like(rows)
    return HeldOut(name, epsilon, template, alone, outputs, levels, scores, 1.0 - shares, of_labels, shares, true)


def measured(table: HeldOut, splits: int) -> str:
    """Return a line of the table of docs/evaluation.md."""
    n, shape = table.template.n_samples, table.template.counts.shape
    places = table.rows * shape[2] + table.outputs
    # Public facts alone decide the mark, so that it is the same for every split.
    parts = 1 if table.of_labels is None else parts_of(table.levels)
    needed = mark(table.template, cells_of(table.template, table.levels), COVERAGE, parts)
    own = table.levels[table.rows, table.outputs]
    found = []
    for world in range(splits):
        order = np.random.default_rng([1, world]).permutation(len(own))
        counted, new = order[:n], order[n:]
        true = np.bincount(places[counted], minlength=table.levels.size).reshape(shape)
        noisy = SeededSource(world).add_whole(table.template.law, true.ravel(), table.template.scale).reshape(shape)
        counts = replace(table.template, counts=noisy)
        upto = reached(np.bincount(table.levels.ravel(), rebalanced(counts).ravel()), needed, parts)
        # A label on a level is in where the coin of its row is below what the level has of these.
        inside = upto - np.random.default_rng([2, world]).random(len(new))
        quantile = np.sort(table.scores[counted])[int(np.ceil((n + 1) * COVERAGE)) - 1]
        sizes, plain = sizes_of(table, inside, quantile, new)
        plainly = by_mapie(table, counted, new, (float(np.mean(table.scores[new] <= quantile)), float(np.mean(plain))))
        found.append((np.mean(own[new] < inside), np.mean(sizes == 0), np.mean(sizes), *plainly))
    covered, empty, size, plainly, plain_size = np.mean(found, axis=0)
    return (
        f"| {table.name} | {n:,} | {table.epsilon:g} | {covered:.4f} | {empty:.4f} | {size:.4f} | {plainly:.4f} "
        f"| {plain_size:.4f} | {size / plain_size:.3f} |"
    )


def sizes_of(table: HeldOut, inside: Array, quantile: float, new: NDArray[np.int64]) -> tuple[Array, Array]:
    """Return how large sets of new rows are, with noise and without; of numbers the width of the interval."""
    if table.of_labels is not None and table.outputs_of_labels is not None:
        labels = np.arange(table.of_labels.shape[1]) if len(table.levels) > 1 else 0
        members = table.levels[labels, table.outputs_of_labels[new]] < inside[:, None]
        return members.sum(axis=1), np.sum(table.of_labels[new] <= quantile, axis=1)
    low, high = Regression(table.template).upto(math.ceil(inside[0]) - 1)
    return np.full(len(new), high - low), np.full(len(new), 2.0 * quantile)


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


def by_mapie(
    table: HeldOut, counted: NDArray[np.int64], new: NDArray[np.int64], expected: tuple[float, float]
) -> tuple[float, float]:
    """Return how often MAPIE's sets hold the truth, and their mean size; what was computed here, if it is missing."""
    try:
        from mapie.classification import SplitConformalClassifier
        from mapie.regression import SplitConformalRegressor
    except ImportError:
        return expected
    truth = table.truth[new]
    if table.of_labels is not None:
        shown = ShownClasses(table.shown.shape[1])
        asked = SplitConformalClassifier(shown, confidence_level=COVERAGE, conformity_score="lac", prefit=True)
        asked.conformalize(table.shown[counted], table.truth[counted].astype(int))
        sets = asked.predict_set(table.shown[new])[1][:, :, 0]
        found = float(np.mean(sets[np.arange(len(new)), truth.astype(int)])), float(np.mean(np.sum(sets, axis=1)))
    else:
        asked = SplitConformalRegressor(ShownNumbers(), confidence_level=COVERAGE, prefit=True)
        asked.conformalize(table.shown[counted], table.truth[counted])
        low, high = asked.predict_interval(table.shown[new])[1][:, :, 0].T
        found = float(np.mean((low <= truth) & (truth <= high))), float(np.mean(high - low))
    if not np.allclose(found, expected, rtol=2e-3):
        raise SystemExit(f"{table.name}: MAPIE's sets hold in, and have a size of, {found}; here it is {expected}")
    return found


def warfarin(folder: Path) -> Split:
    """Return the warfarin table: roots of weekly doses from clinical and genetic facts, half of it to train."""
    rows = patients(folder).rows
    order = np.random.default_rng(0).permutation(len(rows))
    X, y = rows.features[order], rows.target[order]
    half = len(y) // 2
    # Features and targets are scaled by the study's public ranges: rows into the unit ball, targets into [-1, 1].
    return Split("warfarin", X[:half], y[:half], X[half:], y[half:], eq.Domain(1.0, labels=(-1.0, 1.0)))


if __name__ == "__main__":
    folder, splits = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else SPLITS
    mapie = importlib.util.find_spec("mapie")
    print(f"without noise: by {'MAPIE ' + importlib.metadata.version('mapie') if mapie else 'this file alone'}")
    # What MAPIE says of models whose scores were computed beforehand.
    warnings.filterwarnings("ignore", "Estimator does not appear fitted")
    print("| table | counted rows | epsilon | held | empty | size | held without noise | size without noise | ratio |")
    print("|---|---|---|---|---|---|---|---|---|")
    tables = (adult, mnist_3_vs_5, covertype, warfarin, covertype_seven, mnist_ten)
    for read in [each for each in tables if each.__name__ in sys.argv[3:] or len(sys.argv) < 4]:
        split = read(folder)
        model = released(split)
        for epsilon in EPSILONS:
            print(measured(held_out(split, model, epsilon), splits), flush=True)
