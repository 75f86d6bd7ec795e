"""Losses on which neighbours drift apart as far as a constant times the bound: maximum of coordinates plus drift.

All rows but one share the loss ``max(0, x_1, ..., x_D)``; its subgradient is the unit vector of the first largest
coordinate if that is positive, else 0. From the origin nothing moves. The swapped row's loss is linear, and nearly all
of its slope lies along an axis of its own (the drift). A small rest raises every coordinate of a block above 0: from
then on each step meets a coordinate that no step met before, goes down it, and leaves the distance with one more
orthogonal piece. With a block of as many coordinates as steps the distance grows with the root of the steps.

`ONE_SIDED` is the paper's sketch: one dataset stays at the origin. In `TWO_SIDED` either dataset raises a block of its
own and drifts the other way, so that common steps differ by the root of 2, and hits by 2: nearer to the bound.

Step length and Lipschitz constant are 1: distances scale with both. Nothing is projected (the radius is infinite).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numba
import numpy as np
from numpy.typing import NDArray

from equipoise.certify.theorems.corner_descent import Growth

Array = NDArray[np.float64]

# The share of the swapped row's slope that raises the block; the rest is drift.
TRIGGER = 1e-3


@dataclass(frozen=True)
class Instance:
    """A pair of neighbours: which way each one's swapped row drifts, and which block it raises (0: none)."""

    name: str
    drifts: tuple[int, int]
    blocks: tuple[int, int]

    def slopes(self, coordinates: int) -> Array:
        """Return the swapped rows' slopes, (2, 1 + blocks x coordinates), each of norm 1 or 0.

        Examples
        --------
        >>> ONE_SIDED.slopes(4).shape, TWO_SIDED.slopes(4).shape
        ((2, 5), (2, 9))
        >>> np.linalg.norm(TWO_SIDED.slopes(4), axis=1).tolist()
        [1.0, 1.0]
        """
        found = np.zeros((2, 1 + max(self.blocks) * coordinates))
        for side, (drift, block) in enumerate(zip(self.drifts, self.blocks, strict=True)):
            if block:
                found[side, 0] = drift * math.sqrt(1 - TRIGGER**2)
                first = 1 + (block - 1) * coordinates
                found[side, first : first + coordinates] = -TRIGGER / math.sqrt(coordinates)
        return found


ONE_SIDED = Instance("one-sided", (0, -1), (0, 1))
TWO_SIDED = Instance("two-sided", (1, -1), (1, 2))


def full_batch(n_samples: int, n_steps: int) -> Array:
    """Return the swapped row's share of every step of full-batch descent."""
    return np.full(n_steps, 1 / n_samples)


def permutation(n_samples: int, n_steps: int, position: int = 0) -> Array:
    """Return the swapped row's share of every step over one fixed order: 1 at its place, else 0.

    Examples
    --------
    >>> permutation(3, 7, 1).tolist()
    [0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0]
    """
    return np.where(np.arange(n_steps) % n_samples == position, 1.0, 0.0)


def replacement(n_samples: int, n_steps: int, draws: np.random.Generator) -> Array:
    """Return the swapped row's share of every step when each step draws its row anew."""
    return np.where(draws.random(n_steps) < 1 / n_samples, 1.0, 0.0)


@dataclass(frozen=True)
class Walk:
    """Distances of two neighbours after some numbers of steps: of the last iterates, and of the averages so far."""

    steps: tuple[int, ...]
    last: Array
    average: Array


def simulate(instance: Instance, shares: Array, steps: Sequence[int]) -> Walk:
    """Return how far apart two neighbours are when the swapped row has these shares of the steps.

    The average is over the iterates after each step.

    Examples
    --------
    >>> walk = simulate(ONE_SIDED, permutation(100, 100), (1, 50, 100))
    >>> walk.last.round(2).tolist()
    [1.0, 7.07, 10.0]
    """
    last, average = _walk(instance.slopes(len(shares)), shares, np.asarray(steps, np.int64))
    return Walk(tuple(steps), last, average)


@numba.njit(cache=True)
def _walk(slopes: Array, shares: Array, steps: NDArray[np.int64]) -> tuple[Array, Array]:
    size = slopes.shape[1]
    places, total = np.zeros((2, size)), np.zeros(size)
    last, average = np.zeros(len(steps)), np.zeros(len(steps))
    noted = 0
    for step in range(len(shares)):
        share = shares[step]
        for side in range(2):
            place = places[side]
            largest, where = 0.0, -1
            if share < 1:
                for coordinate in range(1, size):
                    if place[coordinate] > largest:
                        largest, where = place[coordinate], coordinate
            if share > 0:
                for coordinate in range(size):
                    place[coordinate] -= share * slopes[side, coordinate]
            if where >= 0:
                place[where] -= 1 - share
        for coordinate in range(size):
            total[coordinate] += places[0, coordinate] - places[1, coordinate]
        if noted < len(steps) and steps[noted] == step + 1:
            last[noted] = np.sqrt(np.sum((places[0] - places[1]) ** 2))
            average[noted] = np.sqrt(np.sum(total**2)) / (step + 1)
            noted += 1
    return last, average


def orthogonal_rows(n_samples: int, passes: int) -> Array:
    """Return the distance after each pass for absolute losses of orthogonal rows, the swapped row coming first.

    Every common row has a coordinate of its own and the loss ``abs(x_i)``; the swapped row pushes all of them up on one
    dataset and down on the other, so that every common step takes the two sides apart by 2, as much as C1 allows. After
    one pass C1 is attained but for a share that falls with the root of n; the next pass brings the sides together.

    Examples
    --------
    >>> (orthogonal_rows(10_000, 1) / (2 * np.sqrt(10_000))).round(3).tolist()
    [0.99]
    """
    push = np.full(n_samples - 1, 1 / math.sqrt(n_samples - 1))
    place = np.zeros(n_samples - 1)
    found = np.empty(passes)
    for turn in range(passes):
        place = place + push
        place = place - np.sign(place)
        # The other side is the mirror image.
        found[turn] = 2 * np.linalg.norm(place)
    return found


def recursion(shares: Array) -> Array:
    """Return C1's bound on the distance after every step, for the swapped row's share of each.

    One row's subgradients differ by 2 at most, and so do two rows': slopes up to 1 in any direction.

    Examples
    --------
    >>> [f"{recursion(shares)[-1]:.1f}" for shares in (permutation(100, 10_000), full_batch(100, 10_000))]
    ['348.5', '349.6']
    """
    found = np.zeros(len(shares))
    distance = 0.0
    laws = {share: _growth(share) for share in np.unique(shares).tolist()}
    for step, share in enumerate(shares.tolist()):
        distance = laws[share].hit(distance) if share else laws[share].common(distance, 1)
        found[step] = distance
    return found


def _growth(share: float) -> Growth:
    return Growth(shrinkage=1.0, square=4.0, push=2.0, pull=2.0, batch=round(1 / share) if share else 1)


def averaged(distances: Array) -> Array:
    """Return B2's bound on the distance of the averages so far: the average of the bounds."""
    return np.cumsum(distances) / np.arange(1, len(distances) + 1)
