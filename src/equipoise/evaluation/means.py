"""Means of bounded things over all rows: log loss, Brier score, errors of regressions; and ratios of such means (N4).

Each cell stands for one public value. A hypothesis about the mean is tested by the sum of ``value - hypothesis`` over
the rebalanced counts. Its noise is known. Its sampling law is that of n rows from estimated chances of cells, tilted
so that the hypothesis is true: a share of the rows is moved to the extreme cell on the hypothesis' side. For values 0
and 1 this is the exact binomial law; otherwise chances are estimated, and coverage is measured, not proved.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from equipoise.evaluation.figure import LEVEL, Figure
from equipoise.evaluation.histogram import NoisyCounts
from equipoise.evaluation.inversion import Places, intervals
from equipoise.evaluation.noise_law import variance
from equipoise.evaluation.shares import rebalanced
from equipoise.evaluation.tails import CellNoise, Rows, tails

Array = NDArray[np.float64]


def estimated_chances(rows: Array) -> Array:
    """Return chances in proportion to counts (along the last axis), those below zero taken as zero."""
    kept = np.maximum(rows, 0.0)
    total = np.sum(kept, axis=-1, keepdims=True)
    return np.asarray(np.where(total > 0.0, kept / np.where(total > 0.0, total, 1.0), 1.0 / rows.shape[-1]))


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
    """Tests of a figure under which `deviations` have mean zero over all rows; ``rows`` are rebalanced counts."""

    def __init__(self, counts: NoisyCounts, rows: Array, deviations: Deviations) -> None:
        self.possible = np.flatnonzero(counts.possible)
        self.counts, self.rows, self.deviations = counts, rows[:, self.possible], deviations
        self.chances = estimated_chances(self.rows)

    def __call__(self, which: Places, hypotheses: Array) -> tuple[Array, Array]:
        """Return how likely so large, and so small, a sum of deviations is, if the hypotheses are true."""
        values = self.deviations(which, hypotheses)[:, self.possible]
        weights = values - np.mean(values, axis=1, keepdims=True)
        noise = CellNoise(self.counts.law, self.counts.scale, weights, np.ones_like(weights))
        rows = Rows(np.full(len(which), float(self.counts.n_samples)), values, tilted(values, self.chances[which]))
        return tails([rows], noise, np.sum(values * self.rows[which], axis=1))


def mean_of(counts: NoisyCounts, values: Array, within: NDArray[np.bool_]) -> Figure:
    """Return the mean of a value that each cell stands for over the rows in these cells.

    Where other cells have rows too the number of rows is not public: the mean is a ratio, tested as one.

    Examples
    --------
    >>> counts = NoisyCounts((0.5,), np.array([[[6120, 711], [905, 2270]]]), "laplace", 4.0, 10_000)
    >>> print(mean_of(counts, np.array([[0.0, 1.0], [1.0, 0.0]]), np.ones((1, 2, 2), dtype=bool)))
    0.1613 [0.154, 0.1688] (sampling 0.0037, noise 0.00056)
    """
    flat, inside = np.broadcast_to(values, counts.counts.shape).ravel().astype(float), within.ravel().astype(float)
    rows = rebalanced(counts).ravel()
    total = max(float(np.sum(rows * inside)), 1.0)
    value = float(np.sum(rows * inside * flat)) / total
    influence = inside * (flat - value) * counts.n_samples / total
    reached = flat[(within & counts.possible).ravel()]
    least, greatest = float(np.min(reached)), float(np.max(reached))
    return figure_of(counts, partial(apart, flat, inside), least, greatest, value, influence)


def apart(values: Array, within: Array, which: Places, hypotheses: Array) -> Array:
    """Return what cells deviate from hypotheses about the mean over the rows within some of them."""
    return np.asarray(within[None, :] * (values[None, :] - hypotheses[:, None]))


def figure_of(
    counts: NoisyCounts, deviations: Deviations, least: float, greatest: float, value: float, influence: Array
) -> Figure:
    """Return a figure from its tests, its estimate, and what a row in each cell adds to n times the estimate."""
    rows = rebalanced(counts).reshape(1, -1)
    tests = MeansTest(counts, rows, deviations)
    found = intervals(tests, 1, np.array([least]), np.array([greatest]), np.array([1.0 - LEVEL]))
    low, high = (float(end[0]) for end in found)
    chances, influence = tests.chances[0], influence[tests.possible]
    spread = float(np.sum(chances * influence**2) - np.sum(chances * influence) ** 2)
    drawn = float(np.sum((influence - np.mean(influence)) ** 2)) * variance(counts.law, counts.scale)
    sampling, noise = np.sqrt(max(spread, 0.0) / counts.n_samples), np.sqrt(drawn) / counts.n_samples
    return Figure(min(max(value, low), high), low, high, float(sampling), float(noise), least, greatest)
