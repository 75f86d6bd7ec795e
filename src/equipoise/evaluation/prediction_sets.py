"""Sets of labels, or intervals, that hold the truth with a stated chance: split conformal from noisy counts (N4-sets).

Cells are put in a public order of levels, from the labels that the model finds likely to those it does not. With ``n``
rows and the noise ``W_l`` of the cumulative count up to level ``l`` the mark is

    m = ceil((n + 1) coverage + E),    E: the sum over x = 1, ..., n of the largest P(W_l >= x) of any level,

and sets reach up to the lowest level from which on every noisy cumulative count is at least ``m``. A new row's true
label is in its set with probability at least ``(m - E) / (n + 1) >= coverage``. Looked at from above, it is the noise
of one level alone that can end the search too early, and what it takes off in the mean is counted, not its worst case.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from equipoise.errors import InvalidParameter
from equipoise.evaluation.histogram import NoisyCounts
from equipoise.evaluation.noise_law import variance
from equipoise.evaluation.shares import rebalanced
from equipoise.evaluation.tails import CellNoise, tails

Array = NDArray[np.float64]
Levels = NDArray[np.intp]

# Tails of noise are computed at so many numbers of rows, up to so many deviations, and hold up to the next.
_NUMBERS, _DEVIATIONS = 32, 6.0


@dataclass(frozen=True)
class PredictionSets:
    """Which labels belong to each output of a model.

    Parameters
    ----------
    coverage : float
        The chance that was asked for; a new row's true label is in its set with at least it.
    members : array of bool, classes x outputs
        Whether a class belongs to the set of an output. A set may be empty. Where rows were counted by the share of
        their true class, an output is the bin of the class's own share, so that each class of a row has its own.
    level : int
        The highest level that is in.
    """

    coverage: float
    members: NDArray[np.bool_]
    level: int


def levels_of_classes(counts: NoisyCounts) -> Levels:
    """Return the level of every cell (classes x outputs): the order of the chance that a score leaves to a class.

    The predicted class, or class 1 of two, has the middle of its bin; the others share the rest evenly, for the
    histogram tells no more of them. Equal chances are one level.

    Examples
    --------
    >>> levels_of_classes(NoisyCounts((0.5,), np.zeros((1, 2, 2), dtype=np.int64), "laplace", 1.0, 9))
    array([[0, 1],
           [1, 0]])
    """
    classes, outputs = counts.counts.shape[1:]
    middles = 0.5 * (np.array([0.0, *counts.edges]) + np.array([*counts.edges, 1.0]))
    if classes == 2 and outputs == counts.bins:
        chances = np.stack([1.0 - middles, middles])
    else:
        own = np.repeat(np.eye(classes, dtype=bool), counts.bins, axis=1)
        chances = np.where(own, np.tile(middles, classes), np.tile(1.0 - middles, classes) / (classes - 1))
    return np.unique(-chances.round(12), return_inverse=True)[1].reshape(classes, outputs)


def conformal_level(counts: NoisyCounts, levels: Levels, coverage: float) -> int:
    """Return the highest level that belongs to sets of this coverage.

    Examples
    --------
    >>> counts = NoisyCounts((0.5,), np.array([[[5120, 211], [205, 4464]]]), "laplace", 4.0, 10_000)
    >>> [conformal_level(counts, levels_of_classes(counts), coverage) for coverage in (0.9, 0.97)]
    [0, 1]
    """
    placed = np.broadcast_to(levels, counts.counts.shape).ravel()
    rows = np.bincount(placed, rebalanced(counts).ravel()).astype(float)
    return reached(rows, mark(counts, cells_of(counts, levels), coverage))


def cells_of(counts: NoisyCounts, levels: Levels) -> NDArray[np.intp]:
    """Return how many cells each level has, all groups together, that rows can lie in."""
    placed = np.broadcast_to(levels, counts.counts.shape).ravel()
    return np.bincount(placed, counts.possible.ravel()).astype(np.intp)


def mark(counts: NoisyCounts, cells: NDArray[np.intp], coverage: float) -> float:
    """Return ``m``, from public facts alone: how many cells (`cells`) each level has, and their noise.

    It is infinite where rows are too few for the coverage.
    """
    coverage = require_share("a coverage", coverage, "ask for 0.9, say")
    needed = math.ceil((counts.n_samples + 1) * coverage + lost(counts, cells))
    return needed if needed <= counts.n_samples else math.inf


def require_share(name: str, value: object, remedy: str) -> float:
    """Return a number between 0 and 1; refuse whatever else was passed."""
    if isinstance(value, int | float | np.integer | np.floating) and 0.0 < value < 1.0:
        return float(value)
    raise InvalidParameter(f"{name} between 0 and 1", f"{value!r:.80}", remedy)


def reached(rows: Array, needed: float) -> int:
    """Return the lowest level from which on so many noisy rows lie up to every level (`rows`: of each level).

    Up to the highest level lie all rows, whatever their noise.

    Examples
    --------
    >>> reached(np.array([5.0, 4.0, -2.0, 3.0, 0.0]), 8.0)
    3
    """
    short = np.flatnonzero(np.cumsum(rows)[:-1] < needed - 1e-6)
    return int(short[-1]) + 1 if len(short) else 0


def lost(counts: NoisyCounts, cells: NDArray[np.intp]) -> float:
    """Return ``E``, rounded up: how many ranks noise takes off in the mean, for the worst of all levels.

    The noise of a level is what rebalancing leaves: that of the cells up to it, less their share of all noise.

    Examples
    --------
    >>> counts = NoisyCounts((0.5,), np.zeros((1, 2, 2), dtype=np.int64), "laplace", 4.0, 10_000)
    >>> round(lost(counts, np.array([2, 2])) / math.sqrt(variance("laplace", 4.0)), 2)
    0.48
    """
    upto, every = np.cumsum(cells)[:-1], int(np.sum(cells))
    # The law is symmetric: the cells up to a level and those above it have the same noise but for its sign.
    inside = np.setdiff1d(np.minimum(upto, every - upto), [0]).astype(float)
    if not len(inside):
        return 0.0
    outside = every - inside
    share = inside / every
    deviations = np.sqrt(inside * outside / every * variance(counts.law, counts.scale))
    most = min(counts.n_samples, math.ceil(_DEVIATIONS * np.max(deviations)))
    numbers = np.unique(np.rint(np.linspace(1, max(most, 1), _NUMBERS)))
    weights = np.repeat(np.stack([1.0 - share, -share], axis=1), len(numbers), axis=0)
    each = np.repeat(np.stack([inside, outside], axis=1), len(numbers), axis=0)
    large, _ = tails([], CellNoise(counts.law, counts.scale, weights, each), np.tile(numbers, len(inside)))
    worst = np.max(large.reshape(len(inside), -1), axis=0)
    # A tail falls: it holds for every number up to the next that was looked at, and the last up to the number of rows.
    return float(np.sum(worst * np.diff([*numbers, counts.n_samples + 1.0])))


def sets_of_shares(counts: NoisyCounts, classes: int, coverage: float) -> PredictionSets:
    """Return sets of classes from counts by the share of the true class: those whose own share is large enough.

    Examples
    --------
    >>> counts = NoisyCounts((0.1, 0.5), np.array([[[480, 5120, 4400]]]), "laplace", 16.0, 10_000)
    >>> sets_of_shares(counts, 3, 0.9).members
    array([[False,  True,  True],
           [False,  True,  True],
           [False,  True,  True]])
    """
    levels = np.arange(counts.bins)[::-1]
    level = conformal_level(counts, levels[None, :], coverage)
    return PredictionSets(coverage, np.tile(levels <= level, (classes, 1)), level)


def prediction_sets(counts: NoisyCounts, coverage: float) -> PredictionSets:
    """Return sets of classes that hold the true one with at least this chance, over rows and noise.

    The model must not have been chosen with these rows.

    Examples
    --------
    >>> counts = NoisyCounts((0.5,), np.array([[[5120, 211], [205, 4464]]]), "laplace", 4.0, 10_000)
    >>> prediction_sets(counts, 0.9).members
    array([[ True, False],
           [False,  True]])
    """
    levels = levels_of_classes(counts)
    level = conformal_level(counts, levels, coverage)
    return PredictionSets(coverage, levels <= level, level)
