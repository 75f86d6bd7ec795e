"""Sets of labels, or intervals, that hold the truth with a stated chance: split conformal from noisy counts (N4-sets).

Cells are put in a public order of levels, from the labels that the model finds likely to those it does not. Noisy
cumulative counts are joined by straight lines and looked at in ``k`` points a level. With ``n`` rows and the noise
``W(t)`` of the cumulative count up to a point ``t`` the mark is

    m = (n + 1) coverage + E,    E: the integral over x from 0 to n of the largest P(W(t) > x) of any point,

and sets reach up to the lowest point from which on every noisy cumulative count is at least ``m``. Where it lies within
a level, a coin lets labels on that level in, with the share of the level below the point as its chance. A new row's
true label is in its set with probability at least ``(m - E) / (n + 1) = coverage``. Looked at from above, it is the
noise of one point alone that can end the search too early, and what it takes off in the mean is counted, not its worst
case.
"""

import math
from dataclasses import dataclass, replace

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

# Levels of classes are cut into so many parts that all together have so many: finer than noise, and soon computed.
_PARTS = 256

# Sets have coins of their own, whatever else a public seed drives.
_SET_COINS = 9


@dataclass(frozen=True)
class PredictionSets:
    """Which labels belong to each output of a model.

    A label at the boundary is let in by a coin. Otherwise all labels of a level, which may be a wide bin of scores,
    would be in together: sets would be larger, and hold the truth more often than was asked for.

    Parameters
    ----------
    coverage : float
        The chance that was asked for; a new row's true label is in its set with at least it.
    chances : array, classes x outputs
        The chance that a class belongs to the set of an output: 1, 0, or that of the coin. A set may be empty. Where
        rows were counted by the share of their true class, an output is the bin of the class's own share, so that each
        class of a row has its own. Sets of all classes whose chance is not 0 need no coin, and hold the truth at least
        as often.
    public_seed : int
        Drives the coins, one for each place of a row: the same call gives the same sets.
    """

    coverage: float
    chances: Array
    public_seed: int = 0

    def of(self, outputs: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which classes are in the set of each row (rows x classes).

        The coin of a row follows from the public seed and its place among these rows alone. Rows that are asked about
        one at a time all have the first place: give every one a seed of its own, or they share one coin.

        Parameters
        ----------
        outputs : array, rows, or rows x classes
            The output that each row lies in, or each class of it.

        Examples
        --------
        >>> sets = PredictionSets(0.9, np.array([[1.0, 0.5], [0.0, 1.0]]))
        >>> sets.of(np.array([0, 1, 1, 1])).astype(int)
        array([[1, 0],
               [0, 1],
               [1, 1],
               [0, 1]])
        """
        coins = np.random.default_rng([self.public_seed, _SET_COINS]).random((len(outputs), 1))
        each = outputs[:, None] if outputs.ndim == 1 else outputs
        return np.asarray(coins < self.chances[np.arange(len(self.chances)), each])


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


def parts_of(levels: Levels) -> int:
    """Return into how many parts each of these levels of classes is cut: fewer where there are many levels."""
    return -(-_PARTS // (int(np.max(levels)) + 1))


def conformal_level(counts: NoisyCounts, levels: Levels, coverage: float, parts: int) -> float:
    """Return up to where sets of this coverage reach: how many levels are in, the last of them perhaps in part.

    Examples
    --------
    >>> counts = NoisyCounts((0.5,), np.array([[[5120, 211], [205, 4464]]]), "laplace", 4.0, 10_000)
    >>> [conformal_level(counts, levels_of_classes(counts), coverage, 8) for coverage in (0.9, 0.97)]
    [1.0, 1.375]
    """
    placed = np.broadcast_to(levels, counts.counts.shape).ravel()
    rows = np.bincount(placed, rebalanced(counts).ravel()).astype(float)
    return reached(rows, mark(counts, cells_of(counts, levels), coverage, parts), parts)


def cells_of(counts: NoisyCounts, levels: Levels) -> NDArray[np.intp]:
    """Return how many cells each level has, all groups together, that rows can lie in."""
    placed = np.broadcast_to(levels, counts.counts.shape).ravel()
    return np.bincount(placed, counts.possible.ravel()).astype(np.intp)


def mark(counts: NoisyCounts, cells: NDArray[np.intp], coverage: float, parts: int) -> float:
    """Return ``m``, from public facts alone: how many cells (`cells`) each level has, their noise, and its parts.

    It is infinite where rows are too few for the coverage.
    """
    coverage = require_share("a coverage", coverage, "ask for 0.9, say")
    needed = (counts.n_samples + 1) * coverage + lost(counts, cells, parts)
    return needed if needed <= counts.n_samples else math.inf


def require_share(name: str, value: object, remedy: str) -> float:
    """Return a number between 0 and 1; refuse whatever else was passed."""
    if isinstance(value, int | float | np.integer | np.floating) and 0.0 < value < 1.0:
        return float(value)
    raise InvalidParameter(f"{name} between 0 and 1", f"{value!r:.80}", remedy)


def reached(rows: Array, needed: float, parts: int) -> float:
    """Return the lowest point from which on so many noisy rows lie up to every point (`rows`: of each level).

    Points are the levels, each cut into so many parts, over which its noisy rows are spread evenly. Up to the highest
    point lie all rows, whatever their noise.

    Examples
    --------
    >>> [reached(np.array([5.0, 4.0, -2.0, 3.0, 0.0]), 8.0, parts) for parts in (1, 2)]
    [4.0, 3.5]
    """
    upto = np.cumsum(np.repeat(rows / parts, parts))[:-1]
    short = np.flatnonzero(upto < needed)
    return (int(short[-1]) + 2 if len(short) else 1) / parts


def lost(counts: NoisyCounts, cells: NDArray[np.intp], parts: int) -> float:
    """Return ``E``, rounded up: how many ranks noise takes off in the mean, for the worst of all points.

    The noise of a point is what rebalancing leaves: that of the cells up to it, a share of that of the cells on its
    level, less their share of all noise.

    Examples
    --------
    >>> counts = NoisyCounts((0.5,), np.zeros((1, 2, 2), dtype=np.int64), "laplace", 4.0, 10_000)
    >>> [round(lost(counts, np.array([2, 2]), parts) / math.sqrt(variance("laplace", 4.0)), 2) for parts in (1, 8)]
    [0.56, 0.56]
    """
    weights, each = _points(cells, parts)
    deviations = np.sqrt(np.sum(each * weights**2, axis=1) * variance(counts.law, counts.scale))
    if not len(deviations):
        return 0.0
    # Noise in whole numbers that is nearly none still is 1 now and then.
    most = min(float(counts.n_samples), max(_DEVIATIONS * float(np.max(deviations)), 1.0))
    numbers = np.linspace(0.0, most, _NUMBERS)
    noise = CellNoise(counts.law, counts.scale, np.repeat(weights, _NUMBERS, axis=0), np.repeat(each, _NUMBERS, axis=0))
    large, _ = tails([], noise, np.tile(numbers, len(weights)))
    # The law is symmetric: noise is above 0, or any number that is not less, at most half of the time.
    worst = np.minimum(np.max(large.reshape(len(weights), -1), axis=0), 0.5)
    # A tail falls: it holds for every number up to the next that was looked at, and the last up to the number of rows.
    return float(np.sum(worst * np.diff([*numbers, float(counts.n_samples)])))


def _points(cells: NDArray[np.intp], parts: int) -> tuple[Array, Array]:
    """Return the noise of every point between the lowest and the highest: weights, and how many cells have each.

    Kinds of cells are those below the point's level, on it, and above it; points with the same noise are one.
    """
    cells = cells[cells > 0]
    on, share = (each.ravel().astype(float) for each in np.meshgrid(cells, np.arange(parts) / parts, indexing="ij"))
    below = np.repeat(np.cumsum(cells) - cells, parts)
    above = np.sum(cells) - below - on
    # The law is symmetric: seen from above, a point has the same noise but for its sign.
    turned = (below > above) | ((below == above) & (share > 0.5))
    below, above = np.where(turned, above, below), np.where(turned, below, above)
    share = np.where(turned, 1.0 - share, share)
    kept = np.unique(np.stack([below, on, above, share], axis=1), axis=0)
    # Nothing is left of the noise of no cell, or of all of them alike.
    kept = kept[(kept[:, 0] > 0) | ((kept[:, 2] > 0) & (kept[:, 3] > 0))]
    each, share = kept[:, :3], kept[:, 3:]
    weights = np.concatenate([np.ones_like(share), share, np.zeros_like(share)], axis=1)
    return weights - np.sum(weights * each, axis=1, keepdims=True) / np.sum(cells), each


def sets_of_shares(counts: NoisyCounts, classes: int, coverage: float, public_seed: int = 0) -> PredictionSets:
    """Return sets of classes from counts by the share of the true class: those whose own share is large enough.

    Examples
    --------
    >>> counts = NoisyCounts((0.1, 0.5), np.array([[[480, 5120, 4400]]]), "laplace", 16.0, 10_000)
    >>> sets_of_shares(counts, 2, 0.9).chances.round(2)
    array([[0.  , 0.91, 1.  ],
           [0.  , 0.91, 1.  ]])
    """
    found = _sets(counts, np.arange(counts.bins)[None, ::-1], coverage, public_seed)
    return replace(found, chances=np.repeat(found.chances, classes, axis=0))


def prediction_sets(counts: NoisyCounts, coverage: float, public_seed: int = 0) -> PredictionSets:
    """Return sets of classes that hold the true one with at least this chance, over rows, noise and coins.

    The model must not have been chosen with these rows.

    Examples
    --------
    >>> counts = NoisyCounts((0.5,), np.array([[[5120, 211], [205, 4464]]]), "laplace", 4.0, 10_000)
    >>> prediction_sets(counts, 0.97).chances.round(2)
    array([[1.  , 0.29],
           [0.29, 1.  ]])
    """
    return _sets(counts, levels_of_classes(counts), coverage, public_seed)


def _sets(counts: NoisyCounts, levels: Levels, coverage: float, public_seed: int) -> PredictionSets:
    if not isinstance(public_seed, int | np.integer) or public_seed < 0:
        raise InvalidParameter("public_seed, a whole number >= 0", f"{public_seed!r:.40}", "pass public_seed=0")
    upto = conformal_level(counts, levels, coverage, parts_of(levels))
    return PredictionSets(coverage, np.clip(upto - levels, 0.0, 1.0), int(public_seed))
