"""Every figure about a classifier of several classes, from its noisy histogram alone."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from equipoise.evaluation.figure import Curve, Figure
from equipoise.evaluation.histogram import NoisyCounts
from equipoise.evaluation.shares import Cells, Share, shares

Array = NDArray[np.float64]


class SeveralClasses:
    """Figures of a classifier of several classes; each is computed when it is first asked for.

    Parameters
    ----------
    counts : NoisyCounts
        Groups x C true classes x outputs: bins of the predicted class's score, one predicted class after the other.
    groups : sequence of int, optional
        The groups whose rows the figures are about; all by default.

    Examples
    --------
    >>> table = np.array([[[3080, 211, 95], [205, 3110, 60], [120, 90, 3029]]])
    >>> figures = SeveralClasses(NoisyCounts((), table, "laplace", 4.0, 10_000))
    >>> print(figures.accuracy)
    0.9219 [0.9162, 0.9273] (sampling 0.0027, noise 0.0008)
    >>> figures.recall.value.round(3)
    array([0.91 , 0.921, 0.935])
    """

    def __init__(self, counts: NoisyCounts, groups: Sequence[int] | None = None) -> None:
        self.counts = counts
        self.groups = list(range(len(counts.counts))) if groups is None else list(groups)
        self.classes = counts.counts.shape[1]
        shape = (counts.counts.shape[0], self.classes, self.classes, counts.bins)
        # Cells by group, true class, predicted class and bin.
        self._group, self._true, self._predicted, self._bin = (
            each.reshape(counts.counts.shape) for each in np.indices(shape)
        )
        self._all = np.isin(self._group, self.groups)
        self.middles = 0.5 * (np.array([0.0, *counts.edges]) + np.array([*counts.edges, 1.0]))

    def _shares(self, asked: list[tuple[Cells, Cells]]) -> list[Figure]:
        return shares(self.counts, [Share(part & whole & self._all, whole & self._all) for part, whole in asked])

    @cached_property
    def accuracy(self) -> Figure:
        """The share of rows whose predicted class is the true one."""
        return self._shares([(self._true == self._predicted, self._all)])[0]

    @cached_property
    def recall(self) -> Curve:
        """For every class, the share of its rows that is predicted as such; the places are the classes' numbers."""
        return self._by_class(self._predicted, self._true)

    @cached_property
    def precision(self) -> Curve:
        """For every class, the share of what is predicted as such that is."""
        return self._by_class(self._true, self._predicted)

    def _by_class(self, part: NDArray[np.intp], whole: NDArray[np.intp]) -> Curve:
        asked = [(part == label, whole == label) for label in range(self.classes)]
        return Curve.of(tuple(float(label) for label in range(self.classes)), self._shares(asked))

    @cached_property
    def balanced_accuracy(self) -> Figure:
        """The mean of the classes' recalls.

        Given the sizes of classes their recalls are independent but for the share of all noise that rebalancing takes
        off. Coverage is measured, not proved.
        """
        recall = self.recall
        value, low, high = (float(each) for each in mean_of_shares(recall.value, recall.low, recall.high))
        parts = ([getattr(figure, part) for figure in recall.figures] for part in ("sampling", "noise"))
        spread = (float(np.sqrt(np.sum(np.square(part)))) / self.classes for part in parts)
        return Figure(value, low, high, *spread)

    @cached_property
    def confusion(self) -> tuple[tuple[Figure, ...], ...]:
        """The confusion matrix, true class by predicted one, as shares of all rows."""
        labels = range(self.classes)
        asked = [
            ((self._true == true) & (self._predicted == predicted), self._all)
            for true in labels
            for predicted in labels
        ]
        found = self._shares(asked)
        return tuple(tuple(found[true * self.classes : (true + 1) * self.classes]) for true in labels)

    @cached_property
    def calibration(self) -> Curve:
        """For every bin of the predicted class's score, the share of rows of which it is the true class."""
        correct = self._true == self._predicted
        asked = [(correct, self._bin == place) for place in range(self.counts.bins)]
        return Curve.of(tuple(self.middles.tolist()), self._shares(asked))


def mean_of_shares(value: Array, low: Array, high: Array) -> tuple[Array, Array, Array]:
    """Return the mean, along the first axis, of independent shares, and the ends of its interval.

    Distances of ends from values add up as deviations do: in squares, separately on either side (Zou and Donner,
    Statistics in Medicine 27, 2008). Where noise drowns a share its ends are those of what is possible, and no
    multiple of a deviation: such distances are added as they are.

    Examples
    --------
    >>> mean, low, high = mean_of_shares(np.array([0.5, 0.7]), np.array([0.4, 0.6]), np.array([0.6, 0.8]))
    >>> float(mean), float(low.round(3)), float(high.round(3))
    (0.6, 0.529, 0.671)
    """
    mean, drowned = np.mean(value, axis=0), high - low > 0.5
    below, above = (
        (np.sqrt(np.sum(np.where(drowned, 0.0, each**2), axis=0)) + np.sum(np.where(drowned, each, 0.0), axis=0))
        / len(value)
        for each in (value - low, high - value)
    )
    return np.asarray(mean), np.asarray(mean - below), np.asarray(mean + above)
