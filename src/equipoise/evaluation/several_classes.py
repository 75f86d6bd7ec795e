"""Every figure about a classifier of several classes, from its noisy histogram alone."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.errors import InvalidParameter
from equipoise.evaluation.calibration import error_of
from equipoise.evaluation.figure import LEVEL, Curve, Figure
from equipoise.evaluation.histogram import NoisyCounts
from equipoise.evaluation.means import mean_between
from equipoise.evaluation.noise_law import variance
from equipoise.evaluation.shares import Cells, Share, SharesTest, lost, rebalanced, shares
from equipoise.evaluation.two_classes import LEAST_SCORE
from equipoise.planning.evaluation import SHARE_OF_ROWS
from equipoise.vocabulary.facts import Label

Array = NDArray[np.float64]


class AgainstTheRest(NamedTuple):
    """One class against all others, at thresholds on its share: recall, false positive rate and precision.

    Where no edge of a bin is a threshold from a half on, curves are empty and the `verdict` says what it would take.
    """

    recall: Curve
    false_positive_rate: Curve
    precision: Curve
    verdict: str = ""


class SeveralClasses:
    """Figures of a classifier of several classes; each is computed when it is first asked for.

    Parameters
    ----------
    counts : NoisyCounts
        Groups x C true classes x outputs: bins of the predicted class's score, one predicted class after the other.
    groups : sequence of int, optional
        The groups whose rows the figures are about; all by default.
    true_shares : NoisyCounts, optional
        The same rows by the share that the model gives their true class, all groups together. Log loss and Brier score
        need them.

    Notes
    -----
    Figures of shares count what bins hide: rows may lie anywhere in theirs. The predicted class has a share of at least
    one over the number of classes.

    Examples
    --------
    >>> table = np.array([[[3080, 211, 95], [205, 3110, 60], [120, 90, 3029]]])
    >>> own = NoisyCounts((0.1, 0.4, 0.8), np.array([[[310, 1020, 4120, 4570]]]), "laplace", 32.0, 10_000)
    >>> figures = SeveralClasses(NoisyCounts((), table, "laplace", 4.0, 10_000), true_shares=own)
    >>> print(figures.accuracy)
    0.9219 [0.9162, 0.9273] (sampling 0.0027, noise 0.0008)
    >>> figures.recall.value.round(3)
    array([0.91 , 0.921, 0.935])
    >>> print(figures.log_loss)
    0.478 [0.2363, 0.829] (sampling 0.0053, noise 0.0086, bins 0.28; no row counts as more than 3)
    """

    def __init__(
        self, counts: NoisyCounts, groups: Sequence[int] | None = None, true_shares: NoisyCounts | None = None
    ) -> None:
        self.counts, self.true_shares = counts, true_shares
        self.groups = list(range(len(counts.counts))) if groups is None else list(groups)
        self.classes = counts.counts.shape[1]
        shape = (counts.counts.shape[0], self.classes, self.classes, counts.bins)
        # Cells by group, true class, predicted class and bin.
        self._group, self._true, self._predicted, self._bin = (
            each.reshape(counts.counts.shape) for each in np.indices(shape)
        )
        self._all = np.isin(self._group, self.groups)
        ends = np.clip([0.0, *counts.edges, 1.0], 1.0 / self.classes, 1.0)
        self.ends, self.middles = ends, 0.5 * (ends[:-1] + ends[1:])

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
        recall, own = self.recall, [self._all & (self._true == label) for label in range(self.classes)]
        tests = SharesTest.of(self.counts, [Share(whole & (self._predicted == self._true), whole) for whole in own])
        sampling, noise = (np.array([getattr(each, part) for each in recall.figures]) for part in ("sampling", "noise"))
        found = mean_of_shares(tests.ratios(recall.low, recall.high), recall.low, recall.high, noise)
        value, low, high, *spread = (*found, *(np.linalg.norm(part) / self.classes for part in (sampling, noise)))
        drowned = [
            lost(self.counts, *each) for each in zip(tests.whole, tests.cells[:, 0] + tests.cells[:, 1], strict=True)
        ]
        return Figure(float(value), float(low), float(high), *map(float, spread), reckoned=() if any(drowned) else None)

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
        """For every bin of the predicted class's score, the share of rows of which it is the true class.

        Intervals are those of the shares. Scores lie anywhere between the `ends` of their bin.
        """
        correct = self._true == self._predicted
        asked = [(correct, self._bin == place) for place in range(self.counts.bins)]
        return Curve.of(tuple(self.middles.tolist()), self._shares(asked), tuple(self.ends.tolist()))

    @cached_property
    def calibration_error(self) -> Figure:
        """The mean over rows of the distance between the predicted class's score and how often it is the true one.

        Bins are joined as for two classes. A score lies anywhere in its bin, which is counted.
        """
        rows, masks = rebalanced(self.counts), [self._true != self._predicted, self._true == self._predicted]
        summed, cells = (
            np.array(
                [np.bincount(self._bin[mask & self._all], each[mask & self._all], self.counts.bins) for mask in masks]
            )
            for each in (rows, np.ones_like(rows))
        )
        return error_of(self.counts, summed, self.ends, cells)

    @cached_property
    def calibration_in_the_large(self) -> Figure:
        """The accuracy less the mean score of the predicted class: below 0 scores promise too much."""
        correct = np.asarray(self._true == self._predicted, dtype=float)
        scores = (self.ends[1:], self.middles, self.ends[:-1])
        lowest, middle, highest = (correct - each[self._bin] for each in scores)
        return mean_between(self.counts, (lowest, middle, highest), self._all)

    @cached_property
    def log_loss(self) -> Figure | None:
        """The mean of ``-log`` of the true class's share; None where rows were not counted by it.

        A share counts as no less than `least_share`: what a row costs has no bound.
        """
        if self.true_shares is None:
            return None
        least = self.least_share
        ends = np.array([least, *self.true_shares.edges, 1.0])
        scores = (ends[1:], 0.5 * (ends[:-1] + ends[1:]), ends[:-1])
        lowest, middle, highest = (0.0 - np.log(np.maximum(each, least)) for each in scores)
        everywhere = np.ones(self.true_shares.counts.shape, dtype=bool)
        found = mean_between(self.true_shares, (lowest, middle, highest), everywhere)
        return replace(found, guessing=math.log(self.classes), capped=True)

    @property
    def least_share(self) -> float:
        """What the share of the true class counts as at least in `log_loss`: half of the lowest edge."""
        return LEAST_SCORE if self.true_shares is None else max(0.5 * self.true_shares.edges[0], LEAST_SCORE)

    @cached_property
    def brier(self) -> Figure | None:
        """The mean over rows of the squared distances of all shares from the truth; None as for `log_loss`.

        It is the mean of ``1 - 2 (the true class's share)``, from counts by that, and of the sum of squares of a row's
        shares, which nobody counted. Given the largest of C shares, t, that sum is least if the others are equal and
        largest if as many as possible are as large: ``t^2 + (1 - t)^2/(C - 1)`` and ``k t^2 + (1 - k t)^2``, k the
        whole part of 1/t. Both grow with t. Each mean errs with half of the chance, for both see the same rows.
        """
        if self.true_shares is None:
            return None
        error, largest = 0.5 * (1.0 - LEVEL), (self.ends[:-1], self.middles, self.ends[1:])
        bounds = [sums_of_squares(each, self.classes) for each in largest]
        lowest, middle, highest = (each[self._bin] for each in (bounds[0][0], np.mean(bounds[1], axis=0), bounds[2][1]))
        every = mean_between(self.counts, (lowest, middle, highest), self._all, error)
        ends = np.array([0.0, *self.true_shares.edges, 1.0])
        twice = (1.0 - 2.0 * ends[1:], 1.0 - ends[:-1] - ends[1:], 1.0 - 2.0 * ends[:-1])
        own = mean_between(self.true_shares, twice, np.ones(self.true_shares.counts.shape, dtype=bool), error)
        return replace(_sum(own, every), guessing=1.0 - 1.0 / self.classes)

    def against_the_rest(self, label: Label) -> AgainstTheRest:
        """Return figures of one class, as it was declared, against all others, at the edges of bins from a half on.

        A class whose share is above a half is the predicted one, so that its share is in the counts; below a half it is
        not known of rows that are predicted as another class, and curves end there.
        """
        number = number_of(label, self.counts.labels or tuple(range(self.classes)), f"against_the_rest({label!r:.80})")
        edges = [place for place, edge in enumerate(self.counts.edges) if edge >= 0.5]
        said = [(self._predicted == number) & (self._bin > place) for place in edges]
        own = self._true == number
        places = tuple(self.counts.edges[place] for place in edges)
        asked = [[(each, own) for each in said], [(each, ~own) for each in said], [(own, each) for each in said]]
        curves = [Curve.of(places, self._shares(pairs) if pairs else []) for pairs in asked]
        return AgainstTheRest(curves[0], curves[1], curves[2], "" if edges else self._too_few_bins())

    def _too_few_bins(self) -> str:
        """Return what it takes to have two bins, one of whose ends is above a half (`planning.evaluation.bins`)."""
        deviations = variance(self.counts.law, self.counts.scale)
        rows = 1.5 * self.classes * self.counts.counts.shape[0] * deviations / SHARE_OF_ROWS
        times = max(rows / self.counts.n_samples, 1.1)
        return (
            f"cannot be told from one bin of scores; it takes about {times:.1f} times the rows, or "
            f"{math.sqrt(times):.1f} times the epsilon, or an evaluation of this class alone, with positive=..."
        )


def number_of(named: Label, labels: Sequence[Label], asked: str) -> int:
    """Return the number of one of several classes. Labels are compared as people read them: a command line has texts.

    Examples
    --------
    >>> number_of("2", (1, 2, 3), "positive='2'")
    1
    """
    found = [place for place, label in enumerate(labels) if str(label) == str(named)]
    if len(found) != 1:
        words = ", ".join(map(repr, labels[:20]))
        what = "several" if found else "no class of that name"
        raise InvalidParameter(f"{asked}, one of several classes", what, f"choose from {words}")
    return found[0]


def sums_of_squares(largest: Array, classes: int) -> tuple[Array, Array]:
    """Return the least and the greatest sum of squares of so many shares, of which the largest is known.

    Examples
    --------
    >>> sums_of_squares(np.array([0.4, 0.7]), 3)
    (array([0.34 , 0.535]), array([0.36, 0.58]))
    """
    others = 1.0 - largest
    full = np.floor(1.0 / largest)
    return largest**2 + others**2 / (classes - 1), full * largest**2 + (1.0 - full * largest) ** 2


def _sum(first: Figure, second: Figure) -> Figure:
    """Return the sum of two figures, whatever they have to do with each other, if it cannot be below 0."""
    sides = ("value", "low", "high", "least", "greatest", "bins")
    value, low, high, least, greatest, bins = (getattr(first, side) + getattr(second, side) for side in sides)
    sampling, noise = (float(np.hypot(getattr(first, each), getattr(second, each))) for each in ("sampling", "noise"))
    return Figure(max(value, 0.0), max(low, 0.0), high, sampling, noise, max(least, 0.0), greatest, bins)


def mean_of_shares(ratio: Array, low: Array, high: Array, noise: Array) -> tuple[Array, Array, Array]:
    """Return the mean, along the first axis, of independent shares, and the ends of its interval.

    Distances of ends from ratios of counts add up as deviations do: in squares, separately on either side (Zou and
    Donner, Statistics in Medicine 27, 2008). Noise may push a ratio beyond 0 or 1, where no end can follow it. What it
    is beyond is kept, or the mean of many shares near 1 would be too small; and no distance is shorter than what the
    `noise` on a ratio, a deviation, reaches. Where noise drowns a share its ends are those of what is possible, and no
    multiple of a deviation: such distances are added as they are.

    Examples
    --------
    >>> ends = np.array([0.4, 0.6]), np.array([0.6, 0.8])
    >>> mean, low, high = mean_of_shares(np.array([0.5, 0.7]), *ends, np.array([0.02, 0.02]))
    >>> float(mean), float(low.round(3)), float(high.round(3))
    (0.6, 0.529, 0.671)
    """
    drowned = high - low > 0.5
    value = np.where(drowned, np.clip(ratio, low, high), ratio)
    reach = np.where(drowned, 0.0, NormalDist().inv_cdf(0.5 + 0.5 * LEVEL) * noise)
    mean = np.mean(value, axis=0)
    below, above = (
        (np.sqrt(np.sum(np.where(drowned, 0.0, each**2), axis=0)) + np.sum(np.where(drowned, each, 0.0), axis=0))
        / len(value)
        for each in (np.maximum(value - low, reach), np.maximum(high - value, reach))
    )
    ends = np.clip(mean - below, 0.0, 1.0), np.clip(mean + above, 0.0, 1.0)
    return np.clip(mean, 0.0, 1.0), *ends
