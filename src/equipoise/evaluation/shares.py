"""Shares of rows: accuracy, recall, precision and whatever else is a part of a whole, both counted with noise (N4).

A share is tested by ``D = (1 - share) * part - share * rest``, where part and rest are noisy counts of sets of cells.
Given that the whole has ``P`` rows, and if the share is the true one, ``D`` is a centred binomial number plus known
noise: its law is convolved exactly. If the whole is every row, ``P = n`` is public and nothing is left to choose.
Otherwise ``P`` is known up to noise: it lies in an interval except with a chance of `NUISANCE`, the largest tail over
that interval is taken, and the chance is taken off the error (Berger and Boos, JASA 89, 1994). The largest is looked
for at the ends and in the middle: more rows spread wider, so it is at the upper end but for steps of a binomial law.

That true counts add up to the public ``n`` tells what all noise together was; taking its share off every cell leaves
the statistic's sampling as it is and makes its noise smaller.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from equipoise.evaluation.figure import LEVEL, Figure
from equipoise.evaluation.histogram import NoisyCounts
from equipoise.evaluation.inversion import Places, intervals
from equipoise.evaluation.noise_law import variance
from equipoise.evaluation.tails import CellNoise, Rows, tails

Array = NDArray[np.float64]
Cells = NDArray[np.bool_]

# The chance that the number of rows in a whole is outside its interval.
NUISANCE = 0.002
# So many numbers of rows within the interval are tried, its ends among them.
_TRIED = 3
_HALVINGS = 24


def rebalanced(counts: NoisyCounts) -> Array:
    """Return the counts, less each cell's share of all noise: they add up to the public number of rows.

    In cells that no row can lie in there are none.

    Examples
    --------
    >>> rebalanced(NoisyCounts((0.5,), np.array([[[61, 7], [9, 27]]]), "laplace", 4.0, 100))
    array([[[60.,  6.],
            [ 8., 26.]]])
    """
    within = counts.possible
    surplus = np.sum(counts.counts, where=within) - counts.n_samples
    return np.where(within, counts.counts - surplus / np.sum(within), 0.0)


@dataclass(frozen=True)
class Share:
    """A part of a whole: masks over the cells of a histogram, the part within the whole."""

    part: Cells
    whole: Cells


class SharesTest:
    """Tests of what shares are: one question a share.

    Parameters
    ----------
    counts : NoisyCounts
        Says the noise, the number of cells and of rows; its counts are not looked at.
    part, whole : array
        Rebalanced counts of each share's part and whole.
    cells : array, shares x 3
        How many cells that rows can lie in are in the part, in the rest of the whole, and outside it.
    """

    def __init__(self, counts: NoisyCounts, part: Array, whole: Array, cells: Array) -> None:
        self.counts, self.part, self.whole, self.cells = counts, part, whole, cells
        public = cells[:, 2] == 0
        self.error = 1.0 - LEVEL - np.where(public, 0.0, NUISANCE)
        self.whole = np.where(public, counts.n_samples, whole)
        margin = np.where(public, 0.0, self._margins())
        self.fewest = np.clip(np.floor(self.whole - margin), 0, counts.n_samples)
        self.most = np.clip(np.ceil(self.whole + margin), 0, counts.n_samples)

    @classmethod
    def of(cls, counts: NoisyCounts, asked: Sequence[Share]) -> "SharesTest":
        """Return the tests of these shares of these counts."""
        rows, possible = rebalanced(counts).ravel(), counts.possible.ravel()
        parts = np.array([share.part.ravel() & possible for share in asked])
        wholes = np.array([share.whole.ravel() & possible for share in asked])
        cells = [np.sum(parts, axis=1), np.sum(wholes & ~parts, axis=1), np.sum(possible & ~wholes, axis=1)]
        return cls(counts, parts @ rows, wholes @ rows, np.stack(cells, axis=1).astype(float))

    def _margins(self) -> Array:
        """Return how far noise may have moved the number of rows of each whole, in either direction."""
        cells, same = np.unique(self.cells, axis=0, return_inverse=True)
        of_whole = cells[:, 2] / np.sum(cells, axis=1)
        weights = np.stack([of_whole, of_whole, of_whole - 1.0], axis=1)
        noise = CellNoise(self.counts.law, self.counts.scale, weights, cells)
        deviation = np.sqrt(np.sum(weights**2 * cells, axis=1) * variance(noise.law, noise.scale))
        below, above = np.zeros(len(cells)), 8.0 * deviation + 1.0
        for _ in range(_HALVINGS):
            middle = 0.5 * (below + above)
            rare = tails([], noise, middle, 0.5 * NUISANCE)[0] <= 0.5 * NUISANCE
            below, above = np.where(rare, below, middle), np.where(rare, middle, above)
        return np.asarray(above[same.ravel()])

    def __call__(self, which: Places, hypotheses: Array) -> tuple[Array, Array]:
        """Return how likely so large, and so small, a part of each whole is, if the shares are the hypotheses.

        They are told up to the side of half the error that they are on: where both are above it for one number of rows
        of a whole, no further ones are tried.
        """
        weights = np.stack([1.0 - hypotheses, -hypotheses, np.zeros(len(which))], axis=1)
        cells = self.cells[which]
        # Rebalancing takes the mean weight off every cell, and leaves rows alone.
        weights -= (np.sum(weights * cells, axis=1) / np.sum(cells, axis=1))[:, None]
        noise = CellNoise(self.counts.law, self.counts.scale, weights, cells)
        reached = self.part[which] - hypotheses * self.whole[which]
        values = np.stack([1.0 - hypotheses, -hypotheses], axis=1)
        chances = np.stack([hypotheses, 1.0 - hypotheses], axis=1)
        large, small = np.zeros(len(which)), np.zeros(len(which))
        left = np.arange(len(which))
        for step in range(1 if np.all(self.fewest == self.most) else _TRIED):
            asked = which[left]
            between = np.rint(self.most[asked] + (self.fewest[asked] - self.most[asked]) * step / (_TRIED - 1))
            some = CellNoise(noise.law, noise.scale, weights[left], cells[left])
            rows = Rows(between, values[left], chances[left])
            found = tails([rows], some, reached[left], 0.5 * self.error[asked])
            large[left], small[left] = np.maximum(large[left], found[0]), np.maximum(small[left], found[1])
            # What both sides accept no other number of rows can refuse.
            left = left[np.minimum(large[left], small[left]) <= 0.5 * self.error[asked]]
        return large, small

    def values(self, low: Array, high: Array) -> Array:
        """Return estimates within these intervals."""
        return np.clip(self.ratios(low, high), low, high)

    def ratios(self, low: Array, high: Array) -> Array:
        """Return parts over wholes, beyond 0 and 1 where noise is; middles where a whole is lost in it."""
        seen = self.whole > 0.5
        return np.asarray(np.where(seen, self.part / np.where(seen, self.whole, 1.0), 0.5 * (low + high)))

    def noise(self, value: Array) -> Array:
        """Return the deviation that noise adds to each share's ratio, if these are the shares."""
        weights = np.stack([1.0 - value, -value, np.zeros(len(value))], axis=1)
        weights -= (np.sum(weights * self.cells, axis=1) / np.sum(self.cells, axis=1))[:, None]
        spread = np.sum(weights**2 * self.cells, axis=1) * variance(self.counts.law, self.counts.scale)
        return np.asarray(np.sqrt(spread) / np.maximum(self.whole, 1.0))

    def reckoned(self) -> Array:
        """Return the deviations (shares x sampling and noise) of shares of a half, by public facts and sizes of wholes.

        Sampling has no larger one. Where the number of rows in a whole is noisy it is taken for what is `seen` of it.
        """
        inside, every = self.cells[:, 0] + self.cells[:, 1], np.sum(self.cells, axis=1)
        drawn = variance(self.counts.law, self.counts.scale)
        spread = np.sqrt(inside * (1.0 - inside / every) * drawn)
        whole = seen(self.whole, spread, float(self.counts.n_samples))
        return np.stack(
            [0.5 / np.sqrt(whole), self.noise(np.full(len(whole), 0.5)) * np.maximum(self.whole, 1.0) / whole], axis=1
        )


# Below so many deviations of its noise a number of rows says nothing.
_UNSEEN = 2.0


def seen(rows: Array, deviation: Array, n_samples: float) -> Array:
    """Return how many rows to reckon with where noise of this deviation may have drowned their number.

    One deviation more than their number reads, and two at least: what it would take to tell something of them is rather
    named too small than too large, for whoever follows it sees more.

    Examples
    --------
    >>> seen(np.array([-30.0, 50.0, 2000.0]), np.array([40.0, 40.0, 40.0]), 500.0)
    array([ 80.,  90., 500.])
    """
    return np.asarray(np.clip(np.maximum(rows + deviation, _UNSEEN * deviation), 1.0, n_samples))


def lost(counts: NoisyCounts, rows: float, cells: float) -> bool:
    """Return whether the rows in so many cells are lost in the noise of their number."""
    every = float(np.sum(counts.possible))
    deviation = float(np.sqrt(cells * (1.0 - cells / every) * variance(counts.law, counts.scale)))
    return rows < _UNSEEN * deviation


def shares(counts: NoisyCounts, asked: Sequence[Share]) -> list[Figure]:
    """Return shares of rows with their intervals.

    Examples
    --------
    >>> counts = NoisyCounts((0.5,), np.array([[[6120, 711], [905, 2270]]]), "laplace", 4.0, 10_000)
    >>> correct = np.array([[[True, False], [False, True]]])
    >>> print(shares(counts, [Share(correct, np.ones_like(correct))])[0])
    0.8387 [0.8312, 0.846] (sampling 0.0037, noise 0.00056)
    """
    tests = SharesTest.of(counts, asked)
    questions = len(asked)
    low, high = intervals(tests, questions, np.zeros(questions), np.ones(questions), tests.error)
    value = tests.values(low, high)
    noise = tests.noise(value)
    sampling = np.sqrt(value * (1.0 - value) / np.maximum(tests.whole, 1.0))
    found = zip(value, low, high, sampling, noise, strict=True)
    return [
        Figure(*map(float, each), reckoned=tuple(map(float, facts)))
        for each, facts in zip(found, tests.reckoned(), strict=True)
    ]
