"""Prediction sets from noisy counts hold what they promise (N4-sets)."""

import math

import numpy as np
import pytest

from equipoise.errors import InvalidParameter
from equipoise.evaluation import prediction_sets as module
from equipoise.evaluation.histogram import NoisyCounts
from equipoise.evaluation.prediction_sets import levels_of_classes, prediction_sets, sets_of_shares

# One class and levels that are bins: rows fall evenly into them, so that coverage is the share of levels that are in.
N, BINS, EPSILON, COVERAGE = 600, 200, 0.05, 0.7


def covered(worlds: int, n: int = N, bins: int = BINS, epsilon: float = EPSILON, coverage: float = COVERAGE) -> float:
    coins = np.random.default_rng(3)
    kept = 1.0 - math.exp(-0.5 * epsilon)
    total = 0.0
    public = NoisyCounts((), np.zeros((1, 1, bins), dtype=np.int64), "laplace", 2.0 / epsilon, n)
    needed = module.mark(public, np.ones(bins, dtype=np.intp), coverage)
    for _ in range(worlds):
        rows = coins.multinomial(n, np.full(bins, 1.0 / bins))
        noisy = rows + coins.geometric(kept, bins) - coins.geometric(kept, bins)
        total += (module.reached(noisy - (noisy.sum() - n) / bins, needed) + 1) / bins
    return total / worlds


# The share of levels that are in has a deviation of at most a half; over so many worlds its mean one of 0.025, and
# both rules are further from what is asserted than four of those.
WORLDS = 400


def test_sets_cover_where_noise_is_larger_than_the_counts():
    assert covered(WORLDS) >= COVERAGE


def test_the_first_level_that_reaches_the_mark_would_not_do(monkeypatch):
    def from_below(rows, needed):
        enough = np.cumsum(rows) >= needed - 1e-6
        return int(np.argmax(enough)) if np.any(enough) else len(rows) - 1

    monkeypatch.setattr(module, "reached", from_below)
    assert covered(WORLDS) < COVERAGE - 0.02


def test_a_mark_that_does_not_count_the_noise_would_not_do(monkeypatch):
    # Two levels: where the lower one lacks a single row, noise gives it that row half the time.
    counts = NoisyCounts((0.5,), np.zeros((1, 1, 2), dtype=np.int64), "laplace", 20.0, 999)

    def share_of_both():
        coins, kept = np.random.default_rng(5), 1.0 - math.exp(-0.05)
        noisy = np.array([899, 100]) + coins.geometric(kept, (1000, 2)) - coins.geometric(kept, (1000, 2))
        needed = module.mark(counts, np.array([1, 1]), 0.9)
        rows = noisy - (noisy.sum(axis=1, keepdims=True) - 999) / 2
        return np.mean([module.reached(each, needed) for each in rows])

    honest = share_of_both()
    monkeypatch.setattr(module, "lost", lambda counts, cells: 0.0)
    assert honest > 0.6 > 0.55 > share_of_both()


@pytest.mark.parametrize(("law", "scale"), [("laplace", 3.0), ("gaussian", 3.0)])
def test_what_noise_takes_off_is_that_of_the_worst_level(law, scale):
    # By simulation: the sum over x of P(W >= x) is the mean of the whole part of W above 0.
    cells = np.array([1, 2, 3, 4])
    counts = NoisyCounts((0.5,), np.zeros((1, 1, 10), dtype=np.int64), law, scale, 1000)
    coins = np.random.default_rng(6)
    if law == "laplace":
        noise = coins.geometric(1 - math.exp(-1 / scale), (2, 10, 20_000))
        noise = noise[0] - noise[1]
    else:
        noise = np.rint(coins.normal(0.0, scale, (10, 20_000)))
    upto, share = np.cumsum(noise, axis=0)[[0, 2, 5]], np.array([0.1, 0.3, 0.6])
    levels = upto - share[:, None] * noise.sum(axis=0)
    simulated = np.max(np.mean(np.floor(np.maximum(levels, 0.0)), axis=1))
    assert 0.97 * simulated <= module.lost(counts, cells) <= 1.25 * simulated


def test_sets_are_hardly_larger_than_asked_for_where_rows_are_many():
    # A world's coverage has a deviation of about 0.003 from rows and 0.002 from noise:
    # the mean of six is below the promise by four of its own with a chance below 1e-4.
    found = covered(6, n=10_000, bins=100, epsilon=0.5, coverage=0.9)
    assert 0.9 - 4 * 0.0015 <= found <= 0.92


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


def test_sets_of_shares_hold_the_classes_whose_own_share_is_large_enough():
    counts = NoisyCounts((0.2, 0.4, 0.6), np.array([[[50, 100, 350, 500]]]), "laplace", 0.01, 1000)
    # Of 1,000 rows 850 lie above the second edge, 950 above the first: a coverage of 0.9 needs those.
    assert sets_of_shares(counts, 3, 0.9).members.tolist() == [[False, True, True, True]] * 3
    assert sets_of_shares(counts, 3, 0.8).members.tolist() == [[False, False, True, True]] * 3


def test_sets_of_shares_are_hardly_larger_than_asked_for():
    # Shares of the true class are even numbers, and so are their bins; noise as `evaluate` has it at epsilon 1.
    coins, n, scale = np.random.default_rng(4), 5000, 18.0
    edges, found = tuple(np.linspace(0.0, 1.0, 142)[1:-1].tolist()), []
    for _ in range(40):
        true = np.histogram(coins.random(n), (0.0, *edges, 1.0))[0]
        kept = 1.0 - math.exp(-1.0 / scale)
        noisy = true + coins.geometric(kept, 141) - coins.geometric(kept, 141)
        sets = sets_of_shares(NoisyCounts(edges, noisy[None, None], "laplace", scale, n), 3, 0.9)
        found.append(sets.members[0].mean())
    # A world's coverage has a deviation of 0.03 from noise; the mean of forty, of 0.005.
    assert 0.9 - 0.005 <= np.mean(found) <= 0.94


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
