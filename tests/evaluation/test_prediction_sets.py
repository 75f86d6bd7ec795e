"""Prediction sets from noisy counts hold what they promise (N4-sets)."""

import math

import numpy as np
import pytest

from equipoise.errors import InvalidParameter
from equipoise.evaluation import prediction_sets as module
from equipoise.evaluation.histogram import NoisyCounts
from equipoise.evaluation.prediction_sets import conformal_level, levels_of_classes, prediction_sets

# One class and levels that are bins: rows fall evenly into them, so that coverage is the share of levels that are in.
N, BINS, EPSILON, COVERAGE = 50, 200, 0.05, 0.9


@pytest.fixture
def fewer_simulated_maxima(monkeypatch):
    # The proof needs no number of them; the chance of bad noise is chosen beforehand here, as 199 tell no small ones.
    monkeypatch.setattr(module, "_SIMULATED", 199)
    monkeypatch.setattr(module, "_CHANCES", (0.02,))


def covered(worlds: int, n: int = N, bins: int = BINS, epsilon: float = EPSILON) -> float:
    coins = np.random.default_rng(3)
    kept = 1.0 - math.exp(-0.5 * epsilon)
    total = 0.0
    for world in range(worlds):
        rows = coins.multinomial(n, np.full(bins, 1.0 / bins))
        noisy = rows + coins.geometric(kept, bins) - coins.geometric(kept, bins)
        counts = NoisyCounts(tuple(range(1, bins)), noisy.reshape(1, 1, bins), "laplace", 2.0 / epsilon, n)
        total += (conformal_level(counts, np.arange(bins).reshape(1, -1), COVERAGE, seed=world) + 1) / bins
    return total / worlds


@pytest.mark.usefixtures("fewer_simulated_maxima")
def test_sets_cover_where_noise_is_larger_than_the_counts():
    assert covered(100) >= COVERAGE


@pytest.mark.usefixtures("fewer_simulated_maxima")
def test_a_quantile_for_one_level_in_place_of_the_largest_would_not_do(monkeypatch):
    def of_one_level(counts, cells, coins):
        noise = np.stack([module._summed(counts, int(each), coins) for each in cells], axis=1)
        total, share = np.sum(noise, axis=1, keepdims=True), np.cumsum(cells) / np.sum(cells)
        return (np.cumsum(noise, axis=1) - share * total)[:, int(COVERAGE * len(cells))]

    monkeypatch.setattr(module, "_largest", of_one_level)
    assert covered(100) < COVERAGE - 0.02


def test_sets_are_hardly_larger_than_asked_for_where_rows_are_many():
    # With the constants as they ship. A world's coverage has a deviation of about 0.003 from rows and 0.002 from noise:
    # the mean of six is below the promise by four of its own with a chance below 1e-4.
    found = covered(6, n=10_000, bins=100, epsilon=0.5)
    assert COVERAGE - 4 * 0.0015 <= found <= 0.93


def test_too_few_rows_for_the_coverage_leave_everything_in():
    counts = NoisyCounts((0.5,), np.array([[[4, 0], [0, 4]]]), "laplace", 0.01, 8)
    assert prediction_sets(counts, 0.9).members.all()
    assert not prediction_sets(counts, 0.5).members.all()


def test_levels_follow_the_chance_that_a_score_leaves_to_a_class():
    three = NoisyCounts((0.6,), np.zeros((1, 3, 6), dtype=np.int64), "laplace", 1.0, 9)
    levels = levels_of_classes(three)
    # Chances: 0.8 and 0.3 if predicted, and 0.35 and 0.1 for each of the two others.
    assert levels[0].tolist() == [2, 0, 1, 3, 1, 3]
    assert levels[1].tolist() == [1, 3, 2, 0, 1, 3]


def test_groups_add_their_noise_and_gaussian_noise_is_known_too():
    table = np.array([[[2560, 105], [102, 2233]], [[2560, 105], [102, 2233]]])
    for law in ("laplace", "gaussian"):
        counts = NoisyCounts((0.5,), table, law, 4.0, 10_000)
        assert prediction_sets(counts, 0.9).level == 0
        assert prediction_sets(counts, 0.97).level == 1


@pytest.mark.parametrize("coverage", [0.0, 1.0, -1.0, math.nan])
def test_a_coverage_that_is_none_is_refused(coverage):
    with pytest.raises(InvalidParameter, match="between 0 and 1"):
        prediction_sets(NoisyCounts((0.5,), np.zeros((1, 2, 2), dtype=np.int64), "laplace", 1.0, 9), coverage)
