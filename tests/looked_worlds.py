"""Worlds of two spends on the same rows: a small one says where scores are, and bins of the other follow from it."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import norm

from equipoise.certify.claims import Noise
from equipoise.evaluation.calibration import CalibrationErrors, joined
from equipoise.evaluation.histogram import NoisyCounts
from equipoise.evaluation.looked import edges_after
from equipoise.evaluation.ranking import PairsTest, above
from equipoise.evaluation.shares import Share, SharesTest, rebalanced
from equipoise.planning.evaluation import bins, edges_of_margins, noise_on_counts
from equipoise.vocabulary.facts import Budget

Array = NDArray[np.float64]

# Where margins can lie, and the laws of their populations: (middle of class 0, of class 1, deviation of both).
REACH = 6.0
# Of how many columns rows are: the rule spaces edges by it.
COLUMNS = 10
LAWS = {
    "as everywhere": (-0.75, 1.125, 1.25),
    "two units beside": (1.25, 3.125, 1.25),
    "below the decision": (-3.25, -1.375, 1.25),
    "a quarter as wide": (-0.1875, 0.28125, 0.3125),
    "nearly told apart": (-1.5, 1.625, 1.25),
    "hardly told apart": (-0.375, 0.375, 1.25),
}
# Two normal margins that a decision at 0 tells apart with such an accuracy, whatever the share of class 1.
ACCURATE = {
    accuracy: (-1.1 * norm.ppf(accuracy), 1.1 * norm.ppf(accuracy), 1.1)
    for accuracy in (0.75, 0.8, 0.85, 0.9, 0.925, 0.95, 0.965, 0.975, 0.98, 0.99, 0.995)
}


@dataclass(frozen=True)
class Spends:
    """So many rows, with this share of class 1, looked at for `first` and counted for `second` in epsilon."""

    n: int
    share: float
    first: float
    second: float
    law: str | float = "as everywhere"

    @property
    def margins(self) -> tuple[float, float, float]:
        """The middles of both classes' margins, and their deviation: a law by its name, or by its accuracy."""
        return LAWS[self.law] if isinstance(self.law, str) else ACCURATE[self.law]

    def chances(self, edges: tuple[float, ...] | Array) -> Array:
        """Chances of both classes and the bins between edges of margins."""
        *middles, deviation = self.margins
        laws = [np.diff(np.r_[0.0, norm.cdf((np.array(edges) - middle) / deviation), 1.0]) for middle in middles]
        return np.stack([(1.0 - self.share) * laws[0], self.share * laws[1]])

    def rows(self, coins: np.random.Generator) -> tuple[Array, NDArray[np.intp]]:
        """Margins and classes of one world's rows."""
        *middles, deviation = self.margins
        classes = (coins.random(self.n) < self.share).astype(np.intp)
        return coins.normal(np.array(middles)[classes], deviation), classes

    @property
    def area(self) -> float:
        """The area under the ROC curve of margins that are not binned."""
        low, high, deviation = self.margins
        return float(norm.cdf((high - low) / (deviation * math.sqrt(2.0))))


def noisy(margins: Array, classes: NDArray[np.intp], edges, noise: Noise, coins: np.random.Generator) -> NoisyCounts:
    """Counts by class and bin, with Laplace noise."""
    places = classes * (len(edges) + 1) + np.searchsorted(np.array(edges), margins)
    counts = np.bincount(places, minlength=2 * (len(edges) + 1))
    kept = 1.0 - math.exp(-1.0 / noise.scale)
    counts = counts + coins.geometric(kept, counts.shape) - coins.geometric(kept, counts.shape)
    shares = tuple(expit(np.array(edges)).tolist())
    return NoisyCounts(shares, counts.reshape(1, 2, -1), "laplace", noise.scale, len(margins))


def counted(spends: Spends, coins: np.random.Generator, other_rows: bool = False) -> tuple[NoisyCounts, Array]:
    """What the second spend releases in one world, and the chances of its bins in the population.

    With `other_rows` the first spend looks at rows of its own.
    """
    noises = [noise_on_counts(Budget(epsilon)) for epsilon in (spends.first, spends.second)]
    margins, classes = spends.rows(coins)
    edges = edges_of_margins(0.0, REACH, COLUMNS, bins(spends.n, 2, noises[0]))
    looked = noisy(*(spends.rows(coins) if other_rows else (margins, classes)), edges, noises[0], coins)
    edges = edges_after(looked, (-REACH, REACH), spends.n, noises[1])
    return noisy(margins, classes, edges, noises[1], coins), spends.chances(edges)


def holds(counts: NoisyCounts, chances: Array) -> dict[str, bool]:
    """Whether the interval of each figure holds that of the population, in the same bins."""
    rows, count = rebalanced(counts), counts.bins
    middles = 0.5 * (np.array([0.0, *counts.edges]) + np.array([*counts.edges, 1.0]))
    high = np.arange(count) > np.argmin(np.abs(np.array(counts.edges) - 0.5))
    high = np.broadcast_to(high, (2, count))
    second = np.broadcast_to(np.array([[False], [True]]), (2, count))
    every = np.ones((2, count), dtype=bool)
    top = np.broadcast_to(np.arange(count) >= count - 2, (2, count))
    asked = {
        "accuracy": (high == second, every),
        "recall": (high, second),
        "precision": (second, high),
        "a top precision": (second, top),
    }
    found = {}
    for name, (part, whole) in asked.items():
        tests = SharesTest.of(counts, [Share((part & whole)[None], whole[None])])
        found[name] = _accepted(tests, chances[part & whole].sum() / chances[whole].sum(), tests.error)
    laws = chances / chances.sum(axis=1, keepdims=True)
    area = PairsTest(counts, rows[:, 1], rows[:, 0], above(count))
    found["area"] = _accepted(area, float(laws[1] @ above(count) @ laws[0]), area.error)
    place = np.eye(count)[joined(count, counts.n_samples)]
    truth = np.sum(np.abs((chances[1] - middles * chances.sum(axis=0)) @ place))
    errors, truths = CalibrationErrors(counts, rows, middles, np.array(1.0)), np.array([truth])
    found["calibration error"] = bool(~errors.too_small(truths)[0] & ~errors.too_large(truths)[0])
    return found


def _accepted(tests, truth: float, error: Array) -> bool:
    large, small = tests(np.array([0]), np.array([truth]))
    return bool(min(large[0], small[0]) > 0.5 * error[0])
