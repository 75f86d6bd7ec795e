"""Means of bounded things over all rows: log loss, Brier score, errors of regressions; and ratios of such means (N4).

Each cell stands for one public value. A hypothesis about the mean is tested by the sum of ``value - hypothesis`` over
the rebalanced counts. Its noise is known. Its sampling law is that of n rows from the chances of cells nearest to the
counts, tilted so that the hypothesis is true: a share of the rows is moved to the extreme cell on the hypothesis' side.
For values 0 and 1 this is the exact binomial law; otherwise chances are estimated, and coverage is measured, not
proved.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from equipoise.evaluation.figure import LEVEL, Figure
from equipoise.evaluation.histogram import NoisyCounts
from equipoise.evaluation.inversion import Places, intervals
from equipoise.evaluation.noise_law import variance
from equipoise.evaluation.shares import lost, rebalanced
from equipoise.evaluation.tails import CellNoise, Rows, tails

Array = NDArray[np.float64]


def estimated_chances(rows: Array) -> Array:
    """Return chances in proportion to counts (along the last axis), those below zero taken as zero."""
    kept = np.maximum(rows, 0.0)
    total = np.sum(kept, axis=-1, keepdims=True)
    return np.asarray(np.where(total > 0.0, kept / np.where(total > 0.0, total, 1.0), 1.0 / rows.shape[-1]))


def nearest_chances(rows: Array, cells: Array) -> Array:
    """Return the chances nearest to counts with noise (questions x kinds) that add up to the number of rows.

    Least squares in deviations of the noise, whose variance is in proportion to `cells`: every count less the same
    multiple of its cells, and none where nothing is left. Counts below zero so take rows off those above it: if they
    were merely taken as zero, what noise adds to the empty cells would stay, and rows that are few and worth much would
    seem to be many that are worth less.

    Examples
    --------
    >>> nearest_chances(np.array([[97.0, 4.0, 1.0, -2.0]]), np.ones(4)).round(3)
    array([[0.963, 0.033, 0.003, 0.   ]])
    """
    share = rows / cells
    order = np.argsort(-share, axis=1)
    sums, sizes = (np.cumsum(np.take_along_axis(each, order, 1), axis=1) for each in np.broadcast_arrays(rows, cells))
    total = sums[:, -1:]
    taken = (sums - total) / sizes
    last = np.sum(np.take_along_axis(share, order, 1) > taken, axis=1) - 1
    left = np.maximum(rows - cells * np.take_along_axis(taken, last[:, None], 1), 0.0)
    return np.asarray(left / np.sum(left, axis=1, keepdims=True))


def tilted(values: Array, chances: Array) -> Array:
    """Return chances (questions x cells) under which values have mean zero: a share is moved to the extreme cell.

    Where no cell has a value on the other side of zero every row is moved: no nearer law exists.

    Examples
    --------
    >>> tilted(np.array([[-0.2, 0.8]]), np.array([[1.0, 0.0]]))
    array([[0.8, 0.2]])
    """
    mean = np.sum(values * chances, axis=1)
    every = np.arange(len(values))
    extreme = np.where(mean < 0.0, np.argmax(values, axis=1), np.argmin(values, axis=1))
    pull = values[every, extreme]
    apart = pull - mean
    moved = np.clip(-mean / np.where(apart == 0.0, 1.0, apart), 0.0, 1.0)
    result = (1.0 - moved)[:, None] * chances
    result[every, extreme] += moved
    return np.asarray(result)


# For the questions `which` and a hypothesis each: values of cells (questions x cells) of mean zero if it is true.
Deviations = Callable[[Places, Array], Array]


class MeansTest:
    """Tests of a figure under which `deviations` have mean zero over all rows.

    Parameters
    ----------
    counts : NoisyCounts
        Says the noise and the number of rows; its counts are not looked at.
    rows : array, questions x kinds
        Rebalanced counts of the kinds of cells.
    deviations : Deviations
        What a row of each kind deviates.
    cells : array
        How many cells that rows can lie in each kind has.
    compared : float, optional
        What chances are compared with: they are then told up to the side of it that they are on.
    """

    def __init__(
        self, counts: NoisyCounts, rows: Array, deviations: Deviations, cells: Array, compared: float | None = None
    ) -> None:
        self.compared = compared
        self.kept = np.flatnonzero(cells)
        self.counts, self.rows, self.deviations = counts, rows[:, self.kept], deviations
        self.cells = cells[self.kept].astype(float)
        self.chances = nearest_chances(self.rows, self.cells)

    def __call__(self, which: Places, hypotheses: Array) -> tuple[Array, Array]:
        """Return how likely so large, and so small, a sum of deviations is, if the hypotheses are true."""
        values = self.deviations(which, hypotheses)[:, self.kept]
        weights = values - (values @ self.cells / np.sum(self.cells))[:, None]
        noise = CellNoise(self.counts.law, self.counts.scale, weights, np.tile(self.cells, (len(which), 1)))
        rows = Rows(np.full(len(which), float(self.counts.n_samples)), values, tilted(values, self.chances[which]))
        return tails([rows], noise, np.sum(values * self.rows[which], axis=1), self.compared)


@dataclass(frozen=True)
class Kinds:
    """Cells by the value that they stand for: those of one value are one kind, for only their sum matters.

    Parameters
    ----------
    place : array
        The kind of each cell.
    values, within : array
        The value of each kind, and 1 if the mean is over its rows, 0 if not.
    cells : array
        How many cells that rows can lie in each kind has.
    """

    place: NDArray[np.intp]
    values: Array
    within: Array
    cells: Array

    @classmethod
    def of(cls, counts: NoisyCounts, values: Array, within: NDArray[np.bool_]) -> "Kinds":
        """Return the kinds of the cells of a histogram, whose values are broadcast to its shape."""
        both = np.stack([np.where(within, values, 0.0).ravel(), within.ravel().astype(float)])
        found, place = np.unique(both, axis=1, return_inverse=True)
        cells = np.bincount(place.ravel(), counts.possible.ravel()).astype(float)
        return cls(place.ravel(), found[0], found[1], cells)

    def summed(self, rows: Array) -> Array:
        """Return rows (questions x cells) by kind."""
        return np.array([np.bincount(self.place, each, len(self.cells)) for each in rows])

    def apart(self, which: Places, hypotheses: Array) -> Array:
        """Return what rows of each kind deviate from hypotheses about the mean."""
        return np.asarray(self.within * (self.values - hypotheses[:, None]))


def mean_of(counts: NoisyCounts, values: Array, within: NDArray[np.bool_], error: float = 1.0 - LEVEL) -> Figure:
    """Return the mean of a value that each cell stands for over the rows in these cells.

    Where other cells have rows too the number of rows is not public: the mean is a ratio, tested as one.

    Examples
    --------
    >>> counts = NoisyCounts((0.5,), np.array([[[6120, 711], [905, 2270]]]), "laplace", 4.0, 10_000)
    >>> print(mean_of(counts, np.array([[0.0, 1.0], [1.0, 0.0]]), np.ones((1, 2, 2), dtype=bool)))
    0.1613 [0.154, 0.1688] (sampling 0.0037, noise 0.00056)
    """
    kinds = Kinds.of(counts, values, within)
    rows = kinds.summed(rebalanced(counts).reshape(1, -1))
    total = max(float(np.sum(rows * kinds.within)), 1.0)
    value = float(np.sum(rows * kinds.within * kinds.values)) / total
    influence = kinds.within * (kinds.values - value) * counts.n_samples / total
    reached = kinds.values[(kinds.within * kinds.cells) > 0.0]
    ends = float(np.min(reached)), float(np.max(reached))
    found = figure_of(MeansTest(counts, rows, kinds.apart, kinds.cells), ends, value, influence, error)
    drowned = lost(counts, total, float(np.sum(kinds.within * kinds.cells)))
    return replace(found, reckoned=()) if drowned else found


def mean_between(
    counts: NoisyCounts,
    ends: tuple[Array, Array, Array],
    within: NDArray[np.bool_],
    error: float = 1.0 - LEVEL,
) -> Figure:
    """Return the mean of a value of rows: in each cell it is at least the first, about the second, at most the third.

    Examples
    --------
    >>> counts = NoisyCounts((0.3, 0.6), np.array([[[5120, 2870, 2015]]]), "laplace", 4.0, 10_000)
    >>> ends = np.array([0.0, 0.3, 0.6]), np.array([0.15, 0.45, 0.8]), np.array([0.3, 0.6, 1.0])
    >>> print(mean_between(counts, ends, np.ones((1, 1, 3), dtype=bool)))
    0.3669 [0.2022, 0.5324] (sampling 0.0025, noise 0.00026, bins 0.16)
    """
    lowest, middle, highest = (mean_of(counts, values, within, error) for values in ends)
    return between(lowest, middle, highest)


def between(lowest: Figure, middle: Figure, highest: Figure) -> Figure:
    """Return a figure whose interval reaches from the low end of the first to the high end of the last."""
    low, high = lowest.low, max(lowest.low, highest.high)
    value = min(max(middle.value, low), high)
    ends = min(lowest.least, middle.least), max(middle.greatest, highest.greatest)
    bins = max(0.5 * (high - low - (middle.high - middle.low)), 0.0)
    return Figure(value, low, high, middle.sampling, middle.noise, *ends, bins, reckoned=middle.reckoned)


def figure_of(
    tests: MeansTest, ends: tuple[float, float], value: float, influence: Array, error: float = 1.0 - LEVEL
) -> Figure:
    """Return a figure from its tests, what it can be, its estimate, and what rows of each kind add to n times that."""
    counts, (least, greatest), tests.compared = tests.counts, ends, 0.5 * error
    found = intervals(tests, 1, np.array([least]), np.array([greatest]), np.array([error]))
    low, high = (float(end[0]) for end in found)
    chances, influence = tests.chances[0], influence[tests.kept]
    spread = float(np.sum(chances * influence**2) - np.sum(chances * influence) ** 2)
    centred = influence - np.sum(tests.cells * influence) / np.sum(tests.cells)
    drawn = float(np.sum(tests.cells * centred**2)) * variance(counts.law, counts.scale)
    sampling, noise = np.sqrt(max(spread, 0.0) / counts.n_samples), np.sqrt(drawn) / counts.n_samples
    return Figure(min(max(value, low), high), low, high, float(sampling), float(noise), least, greatest)
