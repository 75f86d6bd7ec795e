"""Bins where scores are: edges that follow from the noisy counts of an earlier look, which were paid for (N4).

Public facts say where scores can be. Counts that were released say where they are, and edges may depend on whatever
was released before (hypothesis 2 of N4): from there on they are as public as the counts.

Noise costs the area under the ROC curve ``deviation^2 sum g^2``, where g is a cell's share of the other class below it
less the area, over the rows of its class; a bin hides the pairs within it. Edges are those for which the interval and
what bins hide are shortest together, if scores lie as the look says. That is a guess, and only edges rest on it.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from equipoise.planning.evaluation import FEWEST, MOST

Array = NDArray[np.float64]

# Edges are chosen among so many places.
_PLACES = 161
# Counts below so many deviations of their noise are taken for nothing.
_SEEN = 1.5
# How far the rarer class lies from the other, in deviations of that: the shifts that are weighed, and their weights
# before anything is seen, those of a normal law of this middle and width (areas of 0.76, and 0.56 to 0.9).
_SHIFTS, _MIDDLE, _WIDTH = np.linspace(-3.0, 3.0, 61), 1.0, 0.8
# Deviations on either side of a normal number with a chance of 95 %.
_SIDES = 1.96
# The interval of accuracy may be so many times as wide as without noise, where six bins or more allow it.
_WIDER = 1.3
# Rounds in which the price of noise is found: it follows from how much there is.
_ROUNDS = 6


@dataclass(frozen=True, eq=False)
class Seen:
    """Where a look saw margins: the chances of the places between `grid`, of either class, and rows of the rarer one.

    `common` is which class has more rows; chances are its, and then the rarer one's.
    """

    grid: Array
    chances: tuple[Array, Array]
    common: int
    rare: float


def seen(rows: Array, margins: Array, reach: tuple[float, float], deviation: float) -> Seen:
    """Return where margins lie, by noisy counts of both classes in bins between edges.

    The commoner class is told by its own counts: between edges, and beyond them, margins are taken as normal. Of the
    rarer one noise leaves little, so that its law is the other's, tilted: ``exp(shift margin/deviation)`` times as
    likely, a mean over shifts, each by how well it tells the counts of the rarer class.

    Examples
    --------
    >>> rows = np.array([[300.0, 6000.0, 3000.0, 200.0], [-40.0, 100.0, 600.0, 300.0]])
    >>> found = seen(rows, np.array([-2.0, 0.0, 2.0]), (-6.0, 6.0), 50.0)
    >>> middles = 0.5 * (found.grid[1:] + found.grid[:-1])
    >>> found.common, round(found.rare), [round(float(middles @ law), 1) for law in found.chances]
    (0, 1052, [-0.3, 1.4])
    """
    from scipy.special import ndtr, ndtri

    common = int(np.argmax(np.sum(rows, axis=1)))
    counted = np.where(rows[common] > _SEEN * deviation, rows[common], 0.0)
    total = max(float(np.sum(counted)), 1.0)
    least = min(deviation / total, 0.25)
    normal = ndtri(np.clip(np.cumsum(counted)[:-1] / total, least, 1.0 - least))
    # Where cumulated shares do not grow there is nothing between two edges: the first of them is kept.
    apart = np.r_[True, np.diff(normal) > 1e-9]
    normal, known = normal[apart], margins[apart]
    if len(known) == 1:
        # All rows lie on one side of one edge, or nothing was seen: a width of a third of the way to either end.
        width = max(known[0] - reach[0], reach[1] - known[0], 1e-9) / 3.0
        normal, known = np.r_[normal, normal + 1.0], np.r_[known, known + width]
    below, above = (np.diff(known[part]) / np.diff(normal[part]) for part in (slice(0, 2), slice(-2, None)))
    normal = np.r_[normal[0] - 9.0, normal, normal[-1] + 9.0]
    known = np.r_[known[0] - 9.0 * below, known, known[-1] + 9.0 * above]
    low, high = np.clip(np.interp([-4.5, 4.5], normal, known), *reach)
    # Decisions change at 0, which is an edge wherever margins lie: there is a place on either side of it.
    beyond = max((high - low) / _PLACES, 1e-9)
    outer = min(low, 0.0) - beyond, max(high, 0.0) + beyond
    grid = np.unique(np.r_[np.linspace(low, high, _PLACES), 0.0, outer])
    upto = ndtr(np.interp(grid, known, normal))
    upto[0], upto[-1] = 0.0, 1.0
    law, middles = np.diff(upto), 0.5 * (grid[1:] + grid[:-1])
    mean = float(law @ middles)
    spread = max(math.sqrt(max(float(law @ (middles - mean) ** 2), 0.0)), 1e-12)
    tilts = np.outer((1.0 - 2.0 * common) * _SHIFTS, (middles - mean) / spread) + np.log(np.maximum(law, 1e-300))
    tilted = np.exp(tilts - np.max(tilts, axis=1, keepdims=True))
    tilted /= np.sum(tilted, axis=1, keepdims=True)
    bins = np.searchsorted(margins, middles)[:, None] == np.arange(len(margins) + 1)
    shares, found = tilted @ bins, rows[1 - common]
    fitted = np.maximum(shares @ found / np.sum(shares**2, axis=1), 1.0)
    misses = np.sum((found - fitted[:, None] * shares) ** 2, axis=1) / deviation**2
    fits = -0.5 * (misses + ((_SHIFTS - _MIDDLE) / _WIDTH) ** 2)
    weights = np.exp(fits - np.max(fits))
    weights /= np.sum(weights)
    return Seen(grid, (law, weights @ tilted), common, float(weights @ fitted))


def most_for_accuracy(wrong: float, n_samples: int, deviation: float) -> int:
    """Return how many bins leave accuracy's interval at most 1.3 times as wide as without noise; six at least.

    Accuracy is ``(right - wrong)/2`` over all cells, up to a public constant: of so many bins its noise has the
    variance ``bins deviation^2 / 2`` rows, whatever it is. Sampling has ``n accuracy (1 - accuracy)``, which is little
    where a model is hardly ever wrong.

    Parameters
    ----------
    wrong : float
        About which share of the rows the model gets wrong.
    n_samples : int
        How many rows are counted.
    deviation : float
        That of the noise on a count.

    Examples
    --------
    >>> [most_for_accuracy(wrong, 10_000, 6.3) for wrong in (0.2, 0.05, 0.03, 0.01, -0.01)]
    [50, 17, 10, 6, 6]
    """
    share = min(max(wrong, 0.0), 0.5)
    sampling = n_samples * share * (1.0 - share)
    return round(min(max(2.0 * (_WIDER**2 - 1.0) * sampling / deviation**2, FEWEST), MOST))


def edges_where(found: Seen, n_samples: int, deviation: float, most: int) -> tuple[float, ...]:
    """Return the inner edges of at most so many bins of margins, and of six at least; one of them is 0.

    Of all such edges they have the smallest ``2 * 1.96 sqrt(1 + noise) + hidden``: the length of the area's interval
    and what bins hide of it on one side, both in deviations that sampling has.

    Parameters
    ----------
    found : Seen
        Where margins lie.
    n_samples : int
        How many rows are counted.
    deviation : float
        That of the noise on a count.
    most : int
        How many bins there are at most.

    Examples
    --------
    >>> rows = np.array([[300.0, 6000.0, 3000.0, 200.0], [-40.0, 100.0, 600.0, 300.0]])
    >>> found = seen(rows, np.array([-2.0, 0.0, 2.0]), (-6.0, 6.0), 50.0)
    >>> [round(edge, 1) for edge in edges_where(found, 10_000, 6.3, 10)]
    [-0.7, -0.3, 0.0, 0.4, 0.7, 1.0, 1.3, 1.8, 2.4]
    """
    rare = min(max(found.rare, 1.0), 0.5 * n_samples)
    law, other = found.chances
    upto, others = (np.r_[0.0, np.cumsum(each)] for each in (law, other))
    halves, others_above = 0.5 * (upto[1:] + upto[:-1]), 1.0 - 0.5 * (others[1:] + others[:-1])
    area = float(other @ halves)
    spread, spread_of_others = float(other @ (halves - area) ** 2), float(law @ (others_above - area) ** 2)
    sampling = spread / rare + spread_of_others / (n_samples - rare)
    # Where classes are told apart sampling is next to nothing, and so is what can be hidden.
    sampling = max(sampling, 1e-6 / rare)
    # A bin from place i to place j: half the pairs in it are won, whichever are.
    won = np.r_[0.0, np.cumsum(other * halves)]
    middle, middle_of_others = (0.5 * (each[:, None] + each[None, :]) for each in (upto, others))
    within = (won[None, :] - won[:, None]) - (others[None, :] - others[:, None]) * middle
    hidden = np.abs(within) / math.sqrt(sampling)
    noise = ((middle - area) / rare) ** 2 + ((1.0 - middle_of_others - area) / (n_samples - rare)) ** 2
    noise *= deviation**2 / sampling
    places = np.arange(len(found.grid))
    zero = int(np.argmin(np.abs(found.grid)))
    crossing = (places[:, None] < zero) & (places[None, :] > zero)
    hidden = np.where((places[None, :] <= places[:, None]) | crossing, np.inf, hidden)
    total, path = 1.0, [0]
    for _ in range(_ROUNDS):
        # The slope of 2 * 1.96 sqrt(1 + noise).
        path = _cheapest(hidden + _SIDES / math.sqrt(1.0 + total) * noise, most)
        total = float(np.sum(noise[path[:-1], path[1:]]))
    return tuple(float(edge) for edge in found.grid[path[1:-1]])


def _cheapest(costs: Array, most: int) -> list[int]:
    """Return the way from the first place to the last with the least cost, in at most so many steps, at least six."""
    best = np.full(len(costs), np.inf)
    best[0] = 0.0
    before, ends = [], []
    for _ in range(most):
        reached = best[:, None] + costs
        before.append(np.argmin(reached, axis=0))
        best = np.min(reached, axis=0)
        ends.append(best[-1])
    fewest = min(FEWEST, most, len(costs) - 1)
    steps = fewest + int(np.argmin(ends[fewest - 1 :]))
    path = [len(costs) - 1]
    for step in range(steps - 1, -1, -1):
        path.append(int(before[step][path[-1]]))
    return path[::-1]
