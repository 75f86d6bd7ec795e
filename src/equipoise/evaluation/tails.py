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

TERMS = 1280
# The smoothing's own characteristic function is exp(-12.5) at the last term.
_LAST = 5.0
_SHIFT, _KEPT = 3.0, 0.99865
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
    rows: Sequence[Rows], noise: CellNoise, reached: Array, further: CellNoise | None = None
) -> tuple[Array, Array]:
    """Return, for each question, upper bounds of ``P(D >= reached)`` and ``P(D <= reached)`` that are nearly attained.

    `further` noise is of the same law and of a scale of its own.

    Examples
    --------
    Ten fair coins without noise to speak of, and the chances of eight heads or more, 56 / 1024, or fewer, 1013 / 1024:

    >>> coins = Rows(np.array([10.0]), np.array([[0.0, 1.0]]), np.array([[0.5, 0.5]]))
    >>> nothing = CellNoise("laplace", 0.01, np.array([[1.0]]), np.array([[1.0]]))
    >>> large, small = tails([coins], nothing, np.array([8.0]))
    >>> large.round(3), small.round(3)
    (array([0.055]), array([0.991]))
    """
    from equipoise.evaluation.waves import summed

    mean = np.zeros(len(reached))
    spread, heaviest, largest = (np.zeros(len(reached)) for _ in range(3))
    noises = [noise] if further is None else [noise, further]
    for drawn in noises:
        spread += np.sum(drawn.cells * drawn.weights**2, axis=1) * variance(drawn.law, drawn.scale)
        weight = np.max(np.abs(drawn.weights) * (drawn.cells > 0), axis=1)
        heaviest = np.maximum(heaviest, weight * max(drawn.scale, 1.0))
    for each in rows:
        means = np.sum(each.values * each.chances, axis=1)
        mean += each.counts * means
        spread += each.counts * np.sum((each.values - means[:, None]) ** 2 * each.chances, axis=1)
        largest = np.maximum(largest, np.max(np.abs(each.values - means[:, None]), axis=1))
    reach = _DEVIATIONS * np.sqrt(spread) + _VALUES * largest + _SCALES * heaviest + 1e-300
    smoothing = _LAST * reach / (2.0 * math.pi * TERMS)

    shift = _SHIFT * smoothing
    apart = reached - mean
    distances = [np.clip(apart - side * shift, -0.5 * reach, 0.5 * reach) + mean for side in (1.0, -1.0)]
    # Where Python reads the loops, NumPy would warn of what compiled ones pass over.
    with np.errstate(all="ignore"):
        sums = summed(
            noise.law == "gaussian",
            np.concatenate([np.full(each.weights.shape[1], float(each.scale)) for each in noises]),
            np.concatenate([each.weights for each in noises], axis=1),
            np.concatenate([each.cells for each in noises], axis=1),
            np.stack([each.counts for each in rows], axis=1) if rows else np.zeros((len(reached), 0)),
            np.concatenate([each.values for each in rows], axis=1) if rows else np.zeros((len(reached), 0)),
            np.concatenate([each.chances for each in rows], axis=1) if rows else np.zeros((len(reached), 0)),
            np.cumsum([0, *(each.values.shape[1] for each in rows)]),
            reach,
            smoothing,
            np.stack(distances, axis=1),
            TERMS,
        )
    large, small = (np.clip((0.5 + side * sums[:, place]) / _KEPT, 0.0, 1.0) for place, side in enumerate((1.0, -1.0)))
    return large, small
