"""Every figure about a classifier of two classes, from its noisy histogram alone."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from equipoise.evaluation.calibration import calibration_error
from equipoise.evaluation.figure import Curve, Figure
from equipoise.evaluation.histogram import NoisyCounts
from equipoise.evaluation.means import between, mean_between
from equipoise.evaluation.ranking import above, at_least, on_its_side, pairs, strictly_above
from equipoise.evaluation.shares import Cells, Share, shares

Array = NDArray[np.float64]

LEAST_SCORE = 2.0**-52


class TwoClasses:
    """Figures of a classifier of two classes; each is computed when it is first asked for.

    Parameters
    ----------
    counts : NoisyCounts
        Groups x 2 true classes x bins of the score of class 1.
    groups : sequence of int, optional
        The groups whose rows the figures are about; all by default. Noise of every group that is counted adds up.

    Notes
    -----
    Class 1 is predicted from a threshold on, and thresholds are the public edges of bins: curves exist there only.
    Accuracy, balanced accuracy and the confusion matrix are at the edge nearest to a half. The value of the area, of
    log loss, Brier score and calibration is that of scores at the middles of their bins; intervals hold the figure of
    the scores themselves, wherever in their bins they lie, and say in `bins` how much longer that makes them. Log loss
    alone is not quite that: no row counts as more than the middle of an outermost bin costs.

    Examples
    --------
    >>> counts = NoisyCounts((0.5,), np.array([[[6120, 711], [905, 2270]]]), "laplace", 4.0, 10_000)
    >>> figures = TwoClasses(counts)
    >>> print(figures.accuracy)
    0.8387 [0.8312, 0.846] (sampling 0.0037, noise 0.00056)
    >>> figures.recall.value.round(3), round(figures.auc.low, 3)
    (array([0.715]), 0.625)
    >>> print(figures.binned_auc)
    0.8056 [0.7965, 0.8143] (sampling 0.0044, noise 0.00078)
    """

    def __init__(self, counts: NoisyCounts, groups: Sequence[int] | None = None) -> None:
        self.counts = counts
        self.groups = list(range(len(counts.counts))) if groups is None else list(groups)
        self.bins = counts.counts.shape[2]
        self.ends = np.array([0.0, *counts.edges, 1.0])
        self.middles = 0.5 * (self.ends[:-1] + self.ends[1:])
        self.cut = 1 + int(np.argmin(np.abs(np.array(counts.edges) - 0.5)))

    def _cells(self, classes: Array, bins: Array) -> Cells:
        """Return the mask of the cells of these classes and bins, in the groups that are asked for."""
        mask = np.zeros(self.counts.counts.shape, dtype=bool)
        mask[self.groups] = classes.astype(bool)[:, None] & bins.astype(bool)[None, :]
        return mask

    def _shares(self, asked: list[tuple[Cells, Cells]]) -> list[Figure]:
        return shares(self.counts, [Share(part & whole, whole) for part, whole in asked])

    def _high(self, cut: int) -> Array:
        return np.asarray(np.arange(self.bins) >= cut, dtype=float)

    @property
    def _every(self) -> Array:
        return np.ones(self.bins)

    @property
    def _all(self) -> Cells:
        return self._cells(np.ones(2), self._every)

    @cached_property
    def accuracy(self) -> Figure:
        """The share of rows on their class' side of the threshold."""
        high = self._high(self.cut)
        correct = self._cells(np.array([0, 1]), high) | self._cells(np.array([1, 0]), 1 - high)
        return self._shares([(correct, self._all)])[0]

    @cached_property
    def balanced_accuracy(self) -> Figure:
        """The mean of the two classes' recalls: the area under the ROC curve of the thresholded score."""
        return pairs(self.counts, [on_its_side(self.bins, self.cut)], self.groups)[0]

    @cached_property
    def accuracies(self) -> Curve:
        """At every threshold, the share of rows on their class' side of it."""
        sides = [self._high(cut) for cut in range(1, self.bins)]
        correct = [self._cells(np.array([0, 1]), high) | self._cells(np.array([1, 0]), 1 - high) for high in sides]
        return Curve.of(self.counts.edges, self._shares([(each, self._all) for each in correct]))

    @cached_property
    def balanced_accuracies(self) -> Curve:
        """At every threshold, the mean of the two classes' recalls."""
        kernels = [on_its_side(self.bins, cut) for cut in range(1, self.bins)]
        return Curve.of(self.counts.edges, pairs(self.counts, kernels, self.groups))

    @property
    def at_thresholds(self) -> dict[str, Curve]:
        """By name every figure that exists at every threshold."""
        return {
            "recall": self.recall,
            "false positives": self.false_positive_rate,
            "precision": self.precision,
            "accuracy": self.accuracies,
            "balanced accuracy": self.balanced_accuracies,
        }

    @cached_property
    def recall(self) -> Curve:
        """At every threshold, the share of class 1 that is predicted as such: the true positive rate."""
        return self._rates(np.array([0, 1]))

    @cached_property
    def false_positive_rate(self) -> Curve:
        """At every threshold, the share of class 0 that is predicted as class 1."""
        return self._rates(np.array([1, 0]))

    def _rates(self, label: Array) -> Curve:
        whole = self._cells(label, self._every)
        cuts = range(1, self.bins)
        asked = [(self._cells(np.ones(2), self._high(cut)), whole) for cut in cuts]
        return Curve.of(self.counts.edges, self._shares(asked))

    @cached_property
    def precision(self) -> Curve:
        """At every threshold, the share of class 1 in what is predicted as such: with `recall`, their curve."""
        positive = self._cells(np.array([0, 1]), self._every)
        asked = [(positive, self._cells(np.ones(2), self._high(cut))) for cut in range(1, self.bins)]
        return Curve.of(self.counts.edges, self._shares(asked))

    @cached_property
    def decided(self) -> tuple[Figure, Figure, Figure]:
        """Recall, false positive rate and precision at the threshold of accuracy: one point of each curve."""
        said, positive = self._cells(np.ones(2), self._high(self.cut)), self._cells(np.array([0, 1]), self._every)
        negative = self._cells(np.array([1, 0]), self._every)
        recall, false_positive_rate, precision = self._shares([(said, positive), (said, negative), (positive, said)])
        return recall, false_positive_rate, precision

    @property
    def roc(self) -> tuple[Curve, Curve]:
        """False and true positive rates at every threshold."""
        return self.false_positive_rate, self.recall

    @cached_property
    def auc(self) -> Figure:
        """The area under the ROC curve: the chance that a row of class 1 scores above one of class 0, ties half.

        Of two rows in one bin either may score higher: the interval reaches from the area if class 0 always does to
        the area if class 1 always does.
        """
        kernels = [kernel(self.bins) for kernel in (strictly_above, above, at_least)]
        return replace(between(*pairs(self.counts, kernels, self.groups)), guessing=0.5)

    @cached_property
    def binned_auc(self) -> Figure:
        """The area if scores were rounded to their bins, where two of one bin are a tie: another number than `auc`."""
        return replace(pairs(self.counts, [above(self.bins)], self.groups)[0], guessing=0.5)

    @cached_property
    def prevalence(self) -> Figure:
        """The share of class 1."""
        return self._shares([(self._cells(np.array([0, 1]), self._every), self._all)])[0]

    @cached_property
    def confusion(self) -> tuple[tuple[Figure, Figure], tuple[Figure, Figure]]:
        """The confusion matrix, true class by predicted one, as shares of all rows."""
        high, whole = self._high(self.cut), self._all
        labels = np.array([1, 0]), np.array([0, 1])
        found = self._shares([(self._cells(label, bins), whole) for label in labels for bins in (1 - high, high)])
        return (found[0], found[1]), (found[2], found[3])

    @cached_property
    def calibration(self) -> Curve:
        """For every bin of scores, the share of class 1 in it; the places are the middles of the bins.

        Intervals are those of the shares. Scores lie anywhere between the `ends` of their bin.
        """
        positive, each = self._cells(np.array([0, 1]), self._every), np.eye(self.bins)
        asked = [(positive, self._cells(np.ones(2), each[place])) for place in range(self.bins)]
        return Curve.of(tuple(self.middles.tolist()), self._shares(asked), tuple(self.ends.tolist()))

    @cached_property
    def calibration_error(self) -> Figure:
        """The mean over rows of the distance between the mean score of a bin's rows and their share of class 1."""
        return calibration_error(self.counts, self.ends, self.groups)

    @cached_property
    def calibration_in_the_large(self) -> Figure:
        """The share of class 1 less the mean score: above 0 scores are too low."""
        scores = (self.ends[1:], self.middles, self.ends[:-1])
        lowest, middle, highest = (np.stack([-each, 1.0 - each]) for each in scores)
        return mean_between(self.counts, (lowest, middle, highest), self._all)

    def _loss(self, losses: Callable[[Array], Array], guessing: float) -> Figure:
        """Return the mean of losses of the true class's score, which lies between the ends of its bin."""
        ends = self.ends
        below, middle, above_it = (losses(np.stack([1.0 - each, each])) for each in (ends[:-1], self.middles, ends[1:]))
        sides = np.minimum(below, above_it), middle, np.maximum(below, above_it)
        return replace(mean_between(self.counts, sides, self._all), guessing=guessing)

    @cached_property
    def brier(self) -> Figure:
        """The mean squared distance between score and class."""
        return self._loss(lambda scores: (1.0 - scores) ** 2, 0.25)

    @cached_property
    def log_loss(self) -> Figure:
        """The mean of ``-log`` of the score of the true class, which counts as no less than `least_scores`.

        What a row costs has no bound, and counts have bins: a row in the outermost bin on the wrong side costs what the
        middle of that bin does, at most. So the mean is no larger than without, and on the right side, where a row
        costs between 0 and what the edge does, nothing is cut off.
        """
        least = np.array(self.least_scores)[:, None]
        found = self._loss(lambda scores: 0.0 - np.log(np.maximum(scores, least)), math.log(2.0))
        return replace(found, capped=True)

    @property
    def least_scores(self) -> tuple[float, float]:
        """What the score of the true class counts as at least in `log_loss`, of rows of either class."""
        first, second = max(1.0 - self.middles[-1], LEAST_SCORE), max(self.middles[0], LEAST_SCORE)
        return float(first), float(second)
