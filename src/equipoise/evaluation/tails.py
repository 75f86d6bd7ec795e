"""How likely a noisy sum is to be as large as it was: sampling convolved with the known noise (N4).

The statistic is ``D = sum over rows of V + sum over cells of w Z``: rows are drawn independently from a law with
finitely many values ``V``, noise ``Z`` is of the known law, and all are independent. Its characteristic function is a
product of closed forms, and Davies' formula (Biometrika 60, 1973) gives the tail of ``D + sigma G`` from it, ``G`` a
standard normal number that exists on paper alone: it makes the sum converge, and

    P(D >= d)  <=  P(D + sigma G >= d - 3 sigma) / P(G >= -3),

so that what is returned is on the side of wider intervals. ``sigma`` is about a hundredth of the deviation of ``D``.
Davies' aliasing error is at most the chance of a distance of eight deviations, and more.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from equipoise.evaluation.noise_law import variance

Array = NDArray[np.float64]

TERMS, FEWER_TERMS = 1280, 128
# The smoothing's own characteristic function is exp(-12.5) at the last term.
_LAST = 5.0
_SHIFT, _KEPT = 3.0, 0.99865
# More than what sums leave out, and than aliases add.
_SLACK = 1e-4
# How far aliases are: in deviations, in values of one row, in scales of one cell's noise.
_DEVIATIONS, _VALUES, _SCALES = 8.0, 5.0, 6.0


@dataclass(frozen=True)
class Rows:
    """Independent rows with values from a list: ``counts`` of each question, ``values`` and ``chances`` x list."""

    counts: Array
    values: Array
    chances: Array


@dataclass(frozen=True)
class CellNoise:
    """Noise of cells in a sum: ``weights`` (questions x kinds) and how many cells have each (``cells``, alike)."""

    law: str
    scale: float
    weights: Array
    cells: Array


def tails(
    rows: Sequence[Rows],
    noise: CellNoise,
    reached: Array,
    compared: Array | float | None = None,
    further: CellNoise | None = None,
) -> tuple[Array, Array]:
    """Return, for each question, upper bounds of ``P(D >= reached)`` and ``P(D <= reached)`` that are nearly attained.

    Whoever only wants to know whether they exceed a number passes it as `compared`: a tenth of the terms, with ten
    times the smoothing, bounds them from both sides and mostly tells. What is then returned is such a bound, on the
    same side of the number. `further` noise is of the same law and of a scale of its own.

    Examples
    --------
    Ten fair coins without noise to speak of, and the chances of eight heads or more, 56 / 1024, or fewer, 1013 / 1024:

    >>> coins = Rows(np.array([10.0]), np.array([[0.0, 1.0]]), np.array([[0.5, 0.5]]))
    >>> nothing = CellNoise("laplace", 0.01, np.array([[1.0]]), np.array([[1.0]]))
    >>> large, small = tails([coins], nothing, np.array([8.0]))
    >>> large.round(3), small.round(3)
    (array([0.055]), array([0.991]))
    """
    noises = [noise] if further is None else [noise, further]
    if compared is None:
        above, below = _Smoothed(rows, noises).chances(TERMS, reached)
        return np.clip(above / _KEPT, 0.0, 1.0), np.clip(below / _KEPT, 0.0, 1.0)
    most, least = _Smoothed(rows, noises).bounds(reached)
    accepted = [each > compared for each in least]
    refused = [each <= compared for each in most]
    large, small = (np.where(yes, low, high) for yes, low, high in zip(accepted, least, most, strict=True))
    unsure = np.flatnonzero(~((accepted[0] | refused[0]) & (accepted[1] | refused[1])))
    if len(unsure):
        some = [Rows(each.counts[unsure], each.values[unsure], each.chances[unsure]) for each in rows]
        same = [CellNoise(each.law, each.scale, each.weights[unsure], each.cells[unsure]) for each in noises]
        large[unsure], small[unsure] = tails(some, same[0], reached[unsure], None, *same[1:])
    return large, small


class _Smoothed:
    """The law of ``D + sigma G``, by sums over so many frequencies."""

    def __init__(self, rows: Sequence[Rows], noises: Sequence[CellNoise]) -> None:
        questions = len(noises[0].weights)
        mean, spread, heaviest, largest = (np.zeros(questions) for _ in range(4))
        for drawn in noises:
            spread += np.sum(drawn.cells * drawn.weights**2, axis=1) * variance(drawn.law, drawn.scale)
            weight = np.max(np.abs(drawn.weights) * (drawn.cells > 0), axis=1)
            heaviest = np.maximum(heaviest, weight * max(drawn.scale, 1.0))
        for each in rows:
            means = np.sum(each.values * each.chances, axis=1)
            mean += each.counts * means
            spread += each.counts * np.sum((each.values - means[:, None]) ** 2 * each.chances, axis=1)
            largest = np.maximum(largest, np.max(np.abs(each.values - means[:, None]), axis=1))
        self._mean = mean
        self._reach = _DEVIATIONS * np.sqrt(spread) + _VALUES * largest + _SCALES * heaviest + 1e-300
        none = np.zeros((questions, 0))
        # One layout of arrays, so that the loops are compiled once.
        self._law = (
            noises[0].law == "gaussian",
            np.concatenate([np.full(each.weights.shape[1], float(each.scale)) for each in noises]),
            np.ascontiguousarray(np.concatenate([each.weights for each in noises], axis=1)),
            np.ascontiguousarray(np.concatenate([each.cells for each in noises], axis=1)),
            np.stack([each.counts for each in rows], axis=1) if rows else none,
            np.ascontiguousarray(np.concatenate([none, *(each.values for each in rows)], axis=1)),
            np.ascontiguousarray(np.concatenate([none, *(each.chances for each in rows)], axis=1)),
            np.cumsum([0, *(each.values.shape[1] for each in rows)]),
            self._reach,
        )

    def chances(self, terms: int, reached: Array, shift: float = _SHIFT) -> tuple[Array, Array]:
        """Return ``P(D + sigma G >= reached - shift sigma)`` and ``P(D + sigma G <= reached + shift sigma)``."""
        from equipoise.evaluation.waves import summed

        smoothing = _LAST * self._reach / (2.0 * math.pi * terms)
        apart, ends = reached - self._mean, 0.5 * self._reach
        distances = [np.clip(apart - side * shift * smoothing, -ends, ends) + self._mean for side in (1.0, -1.0)]
        # Where Python reads the loops, NumPy would warn of what compiled ones pass over.
        with np.errstate(all="ignore"):
            sums = summed(*self._law, smoothing, np.stack(distances, axis=1), terms)
        return 0.5 + sums[:, 0], 0.5 - sums[:, 1]

    def bounds(self, reached: Array) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        """Return upper and lower bounds of what `tails` returns, by a tenth of the terms.

        With s the smoothing of all terms and S that of a tenth, ``P(D + s G >= d - 3 s)`` is at most ``P(D >= d - 6 s)
        + P(G >= 3)``, and ``P(D >= x) <= P(D + S G >= x - 3 S) / P(G >= -3)``. It is at least ``P(D >= d) P(G >= -3)``,
        and ``P(D >= x) >= P(D + S G >= x + 3 S) - P(G >= 3)``.
        """
        above, below = self.chances(FEWER_TERMS, reached, _SHIFT + 2.0 * _SHIFT * FEWER_TERMS / TERMS)

        def most(chance: Array) -> Array:
            return np.clip((chance / _KEPT + (1.0 - _KEPT)) / _KEPT + _SLACK, 0.0, 1.0)

        def least(other: Array) -> Array:
            return np.clip(1.0 - other - (1.0 - _KEPT) - _SLACK, 0.0, 1.0)

        # At the same two places: the chance of more than the upper one, and of less than the lower one.
        return (most(above), most(below)), (least(below), least(above))
