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
from equipoise.evaluation.means import estimated_chances, mean_of
from equipoise.evaluation.ranking import above, on_its_side, pairs
from equipoise.evaluation.shares import Cells, Share, rebalanced, shares

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
    Accuracy, balanced accuracy and the confusion matrix are at the edge nearest to a half. Log loss and Brier score
    take the middle of a bin for the scores in it. They and the area are figures of binned scores: how far those of the
    scores themselves may lie from them, by the estimated shares of rows in bins, is in `bins`, and not in intervals.

    Examples
    --------
    >>> counts = NoisyCounts((0.5,), np.array([[[6120, 711], [905, 2270]]]), "laplace", 4.0, 10_000)
    >>> figures = TwoClasses(counts)
    >>> print(figures.accuracy)
    0.8387 [0.8312, 0.846] (sampling 0.0037, noise 0.00056)
    >>> figures.recall.value.round(3), round(figures.auc.low, 3)
    (array([0.715]), 0.796)
    """

    def __init__(self, counts: NoisyCounts, groups: Sequence[int] | None = None) -> None:
        self.counts = counts
        self.groups = list(range(len(counts.counts))) if groups is None else list(groups)
        self.bins = counts.counts.shape[2]
        self.middles = 0.5 * (np.array([0.0, *counts.edges]) + np.array([*counts.edges, 1.0]))
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

        A pair within a bin may be won or lost: the exact area lies within half of the chance of such a pair.
        """
        found = pairs(self.counts, [above(self.bins)], self.groups)[0]
        hidden = 0.5 * float(np.sum(np.prod(estimated_chances(self._rows), axis=0)))
        return replace(found, guessing=0.5, bins=hidden, binned=self.bins)

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
        """For every bin of scores, the share of class 1 in it; the places are the middles of the bins."""
        positive, each = self._cells(np.array([0, 1]), self._every), np.eye(self.bins)
        asked = [(positive, self._cells(np.ones(2), each[place])) for place in range(self.bins)]
        return Curve.of(tuple(self.middles.tolist()), self._shares(asked))

    @cached_property
    def calibration_error(self) -> Figure:
        """The mean over rows of the distance between a bin's score and its share of class 1."""
        return calibration_error(self.counts, self.middles, self.groups)

    @cached_property
    def calibration_in_the_large(self) -> Figure:
        """The share of class 1 less the mean of bins' middles, which stand for scores: above 0 those are too low."""
        return mean_of(self.counts, np.stack([-self.middles, 1.0 - self.middles]), self._all)

    @property
    def _rows(self) -> Array:
        """Rebalanced counts by class and bin, groups added up."""
        return np.asarray(np.sum(rebalanced(self.counts)[self.groups], axis=0))

    def _loss(self, losses: Callable[[Array], Array], guessing: float, least: float = 0.0) -> Figure:
        """Return the mean of losses of the true class's score, that of a bin's middle, and what its ends hide.

        Ends are no nearer to a score of 0 than `least` of the way to an outermost middle: some losses have no bound.
        """
        ends = np.array([0.0, *self.counts.edges, 1.0])
        ends[0], ends[-1] = least * self.middles[0], 1.0 - least * (1.0 - self.middles[-1])
        below, middle, above_it = (losses(np.stack([1.0 - each, each])) for each in (ends[:-1], self.middles, ends[1:]))
        chances = estimated_chances(self._rows.reshape(1, -1)).reshape(2, -1)
        sides = (np.maximum(below, above_it) - middle, middle - np.minimum(below, above_it))
        hidden = max(float(np.sum(chances * side)) for side in sides)
        return replace(mean_of(self.counts, middle, self._all), guessing=guessing, bins=hidden, binned=self.bins)

    @cached_property
    def brier(self) -> Figure:
        """The mean squared distance between score and class, a bin's middle standing for its scores."""
        return self._loss(lambda scores: (1.0 - scores) ** 2, 0.25)

    @cached_property
    def log_loss(self) -> Figure:
        """The mean of ``-log`` of the score of the true class, a bin's middle standing for its scores.

        A score is taken to be at least `LEAST_SCORE`: one of 0, which large weights give, would cost without end. For
        what bins hide, scores are taken to be no farther out than the middles of the outermost bins.
        """
        return self._loss(lambda scores: -np.log(np.maximum(scores, LEAST_SCORE)), math.log(2.0), least=1.0)
