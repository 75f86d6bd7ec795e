"""Intervals hold: coverage over simulated worlds, in every cell of a grid of rows, budgets and prevalences.

The promise is at least 94.3 % of nominal 95 % in every cell over 10,000 worlds, and at most 98 % on average over cells
with 30 expected events or more. With fewer worlds a cell's share has a binomial error: a cell fails if a true coverage
of 94.3 % would show so low a share with a chance below one in a million.
"""

import numpy as np
import pytest
from scipy.stats import binom

from equipoise.evaluation.means import MeansTest, _apart
from equipoise.evaluation.ranking import PairsTest, above, on_its_side
from equipoise.evaluation.shares import SharesTest
from noisy_worlds import BINS, EDGES, Cell, grid

LEAST, MOST, FALSE_ALARM = 0.943, 0.98, 1e-6
GRID = grid((200, 2000, 10_000, 1_000_000), (0.05, 0.5, 5.0), (0.01, 0.1, 0.5))
CORNERS = grid((200, 1_000_000), (0.05, 5.0), (0.01, 0.5))

BIN = np.arange(BINS)
POSITIVE = np.repeat([[False], [True]], BINS, axis=1)
HIGH = np.repeat([BIN >= BINS // 2], 2, axis=0)
SHARES = {
    "accuracy": (POSITIVE == HIGH, np.ones_like(HIGH)),
    "recall": (POSITIVE & HIGH, POSITIVE),
    "precision": (POSITIVE & HIGH, HIGH),
    "a bin's share": (POSITIVE & (BIN == 12), np.repeat([BIN == 12], 2, axis=0)),
}
PAIRS = {"area": above(BINS), "balanced accuracy": on_its_side(BINS, BINS // 2)}
MIDDLES = 0.5 * (np.array([0.0, *EDGES]) + np.array([*EDGES, 1.0]))
MEANS = {
    "Brier score": np.concatenate([MIDDLES**2, (1.0 - MIDDLES) ** 2]),
    "log loss": -np.log(np.concatenate([1.0 - MIDDLES, MIDDLES])),
}
NAMES = [*SHARES, *PAIRS, *MEANS]


def covered(cell: Cell, name: str, worlds: int, seed: int, noise: float = 1.0) -> float:
    """The share of worlds whose tests accept the truth, if they are told this multiple of the noise's scale."""
    template, chances = cell.template, cell.chances
    told = type(template)(EDGES, template.counts, template.law, noise * template.scale, template.n_samples)
    noisy = cell.worlds(np.random.default_rng(seed), worlds)
    rows = noisy - (noisy.sum(axis=(1, 2)) - cell.n)[:, None, None] / noisy[0].size
    if name in SHARES:
        part, whole = SHARES[name]
        cells = np.tile([float(np.sum(each)) for each in (part, whole & ~part, ~whole)], (worlds, 1))
        tests = SharesTest(told, rows[:, part].sum(axis=1), rows[:, whole].sum(axis=1), cells)
        truth, error = chances[part].sum() / chances[whole].sum(), tests.error
    elif name in PAIRS:
        tests = PairsTest(told, rows[:, 1], rows[:, 0], PAIRS[name])
        laws = chances / chances.sum(axis=1, keepdims=True)
        truth, error = laws[1] @ PAIRS[name] @ laws[0], tests.error
    else:
        values = MEANS[name]
        tests = MeansTest(told, rows.reshape(worlds, -1), lambda guess: _apart(values, np.ones_like(values), guess))
        truth, error = np.sum(values * chances.ravel()), np.full(worlds, 0.05)
    large, small = tests(np.arange(worlds), np.full(worlds, truth))
    return float(np.mean(np.minimum(large, small) > 0.5 * error))


def fewest(worlds: int) -> float:
    return float(binom.ppf(FALSE_ALARM, worlds, LEAST)) / worlds


@pytest.mark.parametrize("name", NAMES)
def test_intervals_hold_in_the_corners_of_the_grid(name):
    found = [covered(cell, name, 100, seed) for seed, cell in enumerate(CORNERS)]
    assert min(found) >= fewest(100)


def test_noise_that_is_twice_what_the_interval_was_told_is_noticed():
    assert covered(Cell(2000, 0.05, 0.5), "accuracy", 300, 1, noise=0.5) < fewest(300)


@pytest.mark.statistics
@pytest.mark.parametrize("name", NAMES)
def test_intervals_hold_in_every_cell_and_are_not_much_too_wide(name):
    found = [covered(cell, name, 1000, seed) for seed, cell in enumerate(GRID)]
    assert min(found) >= fewest(1000)
    assert np.mean([share for share, cell in zip(found, GRID, strict=True) if cell.events >= 30]) <= MOST
