"""Sets of labels, or intervals, that hold the truth with a stated chance: split conformal from noisy counts (N4-sets).

Cells are put in a public order of levels, from the labels that the model finds likely to those it does not. With ``n``
rows and a chance ``g`` that noise is worse than allowed for,

    k = ceil((n + 1) coverage / (1 - g)),    Q: a (1 - g) quantile of the largest noise in any cumulative count,

the level is the lowest whose noisy cumulative count reaches ``k + Q``; without one, everything is in every set. A new
row's true label is in its set with probability at least ``(1 - g) k / (n + 1) >= coverage``.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from equipoise.errors import InvalidParameter
from equipoise.evaluation.histogram import NoisyCounts
from equipoise.evaluation.shares import rebalanced

Array = NDArray[np.float64]
Levels = NDArray[np.intp]

# The chance that noise is worse than allowed for is the best of these, chosen from public facts.
_CHANCES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.04)
_SIMULATED = 4999


@dataclass(frozen=True)
class PredictionSets:
    """Which labels belong to each output of a model.

    Parameters
    ----------
    coverage : float
        The chance that was asked for; a new row's true label is in its set with at least it.
    members : array of bool, classes x outputs
        Whether a class (or, of a regression, a residual) belongs to the set of an output. A set may be empty.
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


def conformal_level(counts: NoisyCounts, levels: Levels, coverage: float, seed: int = 0) -> int:
    """Return the highest level that belongs to sets of this coverage.

    The largest cumulative noise is simulated, with coins of a public seed that has nothing to do with the noise's own.
    Of `s` simulated maxima the ``ceil((1 - g) (s + 1))``-th smallest is at least the true maximum with probability
    ``1 - g``, because all ``s + 1`` are alike: simulation needs no further allowance. ``g`` is chosen with other coins.

    Examples
    --------
    >>> counts = NoisyCounts((0.5,), np.array([[[5120, 211], [205, 4464]]]), "laplace", 4.0, 10_000)
    >>> [conformal_level(counts, levels_of_classes(counts), coverage) for coverage in (0.9, 0.97)]
    [0, 1]
    """
    groups, number = len(counts.counts), int(np.max(levels)) + 1
    placed = np.broadcast_to(levels, counts.counts.shape).ravel()
    cells = groups * np.bincount(levels.ravel(), minlength=number)
    rows = np.bincount(placed, rebalanced(counts).ravel(), number).astype(float)
    return reached(rows, mark(counts, cells, coverage, seed))


def mark(counts: NoisyCounts, cells: NDArray[np.intp], coverage: float, seed: int = 0) -> float:
    """Return ``k + Q``, from public facts alone: how many cells (`cells`) each level has, and their noise.

    It is infinite where rows are too few for the coverage.
    """
    if not 0.0 < coverage < 1.0:
        raise InvalidParameter("a coverage between 0 and 1", f"{coverage}", "ask for 0.9, say")
    chances = [chance for chance in _CHANCES if _needed(counts, coverage, chance) <= counts.n_samples]
    if not chances:
        return math.inf
    trial, final = (np.sort(_largest(counts, cells, np.random.default_rng([seed, part]))) for part in (0, 1))
    best = min(chances, key=lambda chance: _needed(counts, coverage, chance) + _quantile(trial, chance))
    return _needed(counts, coverage, best) + _quantile(final, best)


def reached(rows: Array, needed: float) -> int:
    """Return the lowest level up to which so many noisy rows lie, or the highest of all (`rows`: of each level)."""
    enough = np.cumsum(rows) >= needed - 1e-6
    return int(np.argmax(enough)) if np.any(enough) else len(rows) - 1


def _needed(counts: NoisyCounts, coverage: float, chance: float) -> int:
    return math.ceil((counts.n_samples + 1) * coverage / (1.0 - chance))


def _quantile(maxima: Array, chance: float) -> float:
    return float(maxima[math.ceil((1.0 - chance) * (len(maxima) + 1)) - 1])


def _largest(counts: NoisyCounts, cells: NDArray[np.intp], coins: np.random.Generator) -> Array:
    """Return simulated largest cumulative noises of rebalanced counts, over all levels."""
    noise = np.stack([_summed(counts, int(each), coins) for each in cells], axis=1)
    total, share = np.sum(noise, axis=1, keepdims=True), np.cumsum(cells) / np.sum(cells)
    return np.asarray(np.max(np.cumsum(noise, axis=1) - share * total, axis=1))


def _summed(counts: NoisyCounts, cells: int, coins: np.random.Generator) -> Array:
    """Return simulated sums of the noise of so many cells: a negative binomial number is a sum of geometric ones."""
    if counts.law == "laplace":
        kept = 1.0 - math.exp(-1.0 / counts.scale)
        sums = [coins.negative_binomial(cells, kept, _SIMULATED) for _ in range(2)]
        return np.asarray(sums[0] - sums[1], dtype=float)
    return np.asarray(np.sum(np.rint(coins.normal(0.0, counts.scale, (_SIMULATED, cells))), axis=1))


def prediction_sets(counts: NoisyCounts, coverage: float, seed: int = 0) -> PredictionSets:
    """Return sets of classes that hold the true one with at least this chance, over rows, noise and simulation.

    The model must not have been chosen with these rows.

    Examples
    --------
    >>> counts = NoisyCounts((0.5,), np.array([[[5120, 211], [205, 4464]]]), "laplace", 4.0, 10_000)
    >>> prediction_sets(counts, 0.9).members
    array([[ True, False],
           [False,  True]])
    """
    levels = levels_of_classes(counts)
    level = conformal_level(counts, levels, coverage, seed)
    return PredictionSets(coverage, levels <= level, level)
