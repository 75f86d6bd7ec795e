"""How well scores rank: the area under the ROC curve, and balanced accuracy, which is the area for two bins (N4).

The area is the mean of a kernel over pairs of a row of class 1 and one of class 0: 1 if the first scores higher, a half
if both are in one bin. A hypothesis ``a`` is tested by ``D = sum over i, j of Y1_i Y0_j (k_ij - a)``. To first order
``D`` is a sum over rows and over cells of noise: a row, or a unit of noise, in cell i of class 1 moves it by
``g_i = sum_j Y0_j (k_ij - a)``, and likewise in class 0. These are convolved, rows of each class from its estimated
chances, tilted so that the hypothesis is true, as many as the class may have. The products of two errors that are left
out are, in the mean, made up for: squares of estimated ``g`` are too large, by twice their variance.
Coverage is measured, not proved.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from equipoise.evaluation.figure import LEVEL, Figure
from equipoise.evaluation.histogram import NoisyCounts
from equipoise.evaluation.inversion import Places, intervals
from equipoise.evaluation.means import estimated_chances, tilted
from equipoise.evaluation.noise_law import variance
from equipoise.evaluation.shares import NUISANCE, SharesTest, rebalanced, seen
from equipoise.evaluation.tails import CellNoise, Rows, tails

Array = NDArray[np.float64]

# Bins that hold no rows have as much noise, and count for more than those in the middle: so much more is its variance.
_MARGIN = 4.0


def above(bins: int) -> Array:
    """Return the kernel of the area under the ROC curve: bins of class 1 x bins of class 0."""
    return np.asarray(0.5 * (1.0 + np.sign(np.arange(bins)[:, None] - np.arange(bins)[None, :])))


def strictly_above(bins: int) -> Array:
    """Return the kernel of the area if, of two rows in one bin, that of class 0 scores higher: the least it can be."""
    return np.asarray(np.arange(bins)[:, None] > np.arange(bins)[None, :], dtype=float)


def at_least(bins: int) -> Array:
    """Return the kernel of the area if, of two rows in one bin, that of class 1 scores higher: the most it can be."""
    return np.asarray(np.arange(bins)[:, None] >= np.arange(bins)[None, :], dtype=float)


def on_its_side(bins: int, cut: int) -> Array:
    """Return the kernel of balanced accuracy, if bins from `cut` on are predicted as class 1."""
    high = np.arange(bins) >= cut
    return np.asarray(0.5 * (high[:, None].astype(float) + ~high[None, :]))


class PairsTest:
    """Tests of the mean of a kernel over pairs, one question for each pair of rows of counts.

    Parameters
    ----------
    counts : NoisyCounts
        Says the noise and the numbers of cells and of rows; its counts are not looked at.
    positive, negative : array, questions x bins
        Rebalanced counts of class 1 and class 0.
    kernel : array, questions x bins x bins, or one for all
    """

    def __init__(self, counts: NoisyCounts, positive: Array, negative: Array, kernel: Array) -> None:
        self.counts, self.positive, self.negative = counts, positive, negative
        self.kernel = np.broadcast_to(kernel, (len(positive), *kernel.shape[-2:]))
        self.chances = estimated_chances(positive), estimated_chances(negative)
        bins, others = positive.shape[1], counts.counts.size - positive.shape[1]
        cells = np.tile([float(bins), 0.0, float(others)], (len(positive), 1))
        sizes = [SharesTest(counts, each.sum(axis=1), each.sum(axis=1), cells) for each in (positive, negative)]
        self.most = [np.maximum(each.most, 1.0) for each in sizes]
        self.others = float(counts.counts.size - 2 * bins)
        self.error = np.full(len(positive), 1.0 - LEVEL - NUISANCE)

    def __call__(self, which: Places, hypotheses: Array) -> tuple[Array, Array]:
        """Return how likely so large, and so small, a sum over pairs is, if the means are the hypotheses."""
        kernel = self.kernel[which] - hypotheses[:, None, None]
        positive, negative = self.positive[which], self.negative[which]
        of_positive = np.einsum("qij,qj->qi", kernel, negative)
        of_negative = np.einsum("qij,qi->qj", kernel, positive)
        reached = np.sum(of_positive * positive, axis=1)
        rows = [
            _centred(self.most[0][which], of_positive, self.chances[0][which]),
            _centred(self.most[1][which], of_negative, self.chances[1][which]),
        ]
        weights = np.concatenate([of_positive, of_negative, np.zeros((len(which), 1))], axis=1)
        cells = np.ones_like(weights)
        cells[:, -1] = self.others
        weights -= (np.sum(weights * cells, axis=1) / np.sum(cells, axis=1))[:, None]
        return tails(rows, CellNoise(self.counts.law, self.counts.scale, weights, cells), reached)


def _centred(counts: Array, values: Array, chances: Array) -> Rows:
    """Return rows tilted so that the hypothesis is true, or the nearest to such rows, moved there."""
    chances = tilted(values, chances)
    return Rows(counts, values - np.sum(values * chances, axis=1, keepdims=True), chances)


def pairs(counts: NoisyCounts, kernels: Sequence[Array], groups: Sequence[int]) -> list[Figure]:
    """Return the means of kernels over pairs of a row of class 1 and one of class 0 of these groups.

    Examples
    --------
    >>> counts = NoisyCounts((0.5,), np.array([[[6120, 711], [905, 2270]]]), "laplace", 4.0, 10_000)
    >>> print(pairs(counts, [above(2)], [0])[0])
    0.8056 [0.7965, 0.8143] (sampling 0.0044, noise 0.00078)
    """
    rows = rebalanced(counts)[list(groups)]
    positive, negative = (np.tile(rows[:, label].ravel(), (len(kernels), 1)) for label in (1, 0))
    kernel = np.tile(np.array(kernels), (1, len(groups), len(groups)))
    tests = PairsTest(counts, positive, negative, kernel)
    questions = len(kernels)
    low, high = intervals(tests, questions, np.zeros(questions), np.ones(questions), tests.error)
    totals = np.sum(positive, axis=1), np.sum(negative, axis=1)
    seen = np.minimum(*totals) > 0.5
    whole = np.where(seen, totals[0] * totals[1], 1.0)
    estimate = np.einsum("qi,qij,qj->q", positive, kernel, negative) / whole
    value = np.clip(np.where(seen, estimate, 0.5 * (low + high)), low, high)
    centred = kernel - value[:, None, None]
    sampling, noise = np.zeros(questions), np.zeros(questions)
    for chances, other, total, path in zip(
        tests.chances, tests.chances[::-1], totals, ("ij,qj->qi", "ij,qi->qj"), strict=True
    ):
        influence = np.einsum(f"q{path}", centred, other)
        # Squares of differences, and no difference of squares: that is below 0 where all rows have one influence.
        apart = influence - np.sum(chances * influence, axis=1, keepdims=True)
        sampling += np.sum(chances * apart**2, axis=1) / np.maximum(total, 1.0)
        noise += variance(counts.law, counts.scale) * np.sum(influence**2, axis=1) / np.maximum(total, 1.0) ** 2
    facts = _reckoned(counts, kernel, min(float(totals[0][0]), float(totals[1][0])))
    found = zip(value, low, high, np.sqrt(sampling), np.sqrt(noise), strict=True)
    return [
        Figure(*map(float, each), reckoned=tuple(map(float, fact))) for each, fact in zip(found, facts, strict=True)
    ]


def _reckoned(counts: NoisyCounts, kernel: Array, rare: float) -> Array:
    """Return the deviations (kernels x sampling and noise) for rows that lie evenly in all bins, by public facts.

    All but one: how many rows of the rarer class are `seen`, of which there are as many as of the other at most.
    """
    bins, every = kernel.shape[1], float(counts.counts.size)
    drawn = variance(counts.law, counts.scale)
    deviation = np.sqrt(bins * (1.0 - bins / every) * drawn)
    of_rare = float(seen(np.array(rare), deviation, 0.5 * counts.n_samples))
    others = max(counts.n_samples - of_rare, 1.0)
    moved = np.mean((np.mean(kernel, axis=2) - np.mean(kernel, axis=(1, 2))[:, None]) ** 2, axis=1)
    sampling = moved * (1.0 / of_rare + 1.0 / others)
    noise = moved * bins * drawn * (1.0 / of_rare**2 + 1.0 / others**2)
    return np.asarray(np.sqrt(np.stack([sampling, _MARGIN * noise], axis=1)))
