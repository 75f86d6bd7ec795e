"""Prediction sets from noisy counts hold what they promise (N4-sets)."""

import math
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise, product

import numpy as np
import pytest

from equipoise.errors import InvalidParameter
from equipoise.evaluation import prediction_sets as module
from equipoise.evaluation.histogram import NoisyCounts
from equipoise.evaluation.prediction_sets import PredictionSets, levels_of_classes, prediction_sets, sets_of_shares

# One class and levels that are bins: rows fall evenly into them, so that coverage is the share of levels that are in.
N, BINS, EPSILON, COVERAGE = 600, 200, 0.05, 0.7


def covered(
    worlds: int, n: int = N, bins: int = BINS, epsilon: float = EPSILON, coverage: float = COVERAGE, parts: int = 2
) -> float:
    coins = np.random.default_rng(3)
    kept = 1.0 - math.exp(-0.5 * epsilon)
    total = 0.0
    public = NoisyCounts((), np.zeros((1, 1, bins), dtype=np.int64), "laplace", 2.0 / epsilon, n)
    needed = module.mark(public, np.ones(bins, dtype=np.intp), coverage, parts)
    for _ in range(worlds):
        rows = coins.multinomial(n, np.full(bins, 1.0 / bins))
        noisy = rows + coins.geometric(kept, bins) - coins.geometric(kept, bins)
        total += module.reached(noisy - (noisy.sum() - n) / bins, needed, parts) / bins
    return total / worlds


# The share of levels that are in has a deviation of at most a half; over so many worlds its mean one of 0.025, and
# both rules are further from what is asserted than four of those.
WORLDS = 400


def test_sets_cover_where_noise_is_larger_than_the_counts():
    assert covered(WORLDS) >= COVERAGE


def test_the_first_level_that_reaches_the_mark_would_not_do(monkeypatch):
    def from_below(rows, needed, parts):
        enough = np.cumsum(np.repeat(rows / parts, parts)) >= needed
        return (int(np.argmax(enough)) + 1) / parts if np.any(enough) else float(len(rows))

    monkeypatch.setattr(module, "reached", from_below)
    assert covered(WORLDS) < COVERAGE - 0.02


# Six wide bins, as an evaluation by group has them. In a world coverage has a deviation of 0.0030, from rows and noise;
# the mean of 100, of 0.0003. It is 0.9026 in the long run (20,000 worlds), eight of those from either end: with other
# seeds a false alarm would have a chance below 1e-14.
WIDE = {"worlds": 100, "n": 6_500, "bins": 6, "epsilon": 0.5, "coverage": 0.9}


def test_sets_are_hardly_larger_than_asked_for_where_bins_are_wide():
    assert 0.9 <= covered(**WIDE, parts=43) <= 0.905


def test_whole_bins_hold_the_truth_too_often_and_without_the_boundary_too_rarely(monkeypatch):
    assert covered(**WIDE, parts=1) > 0.95
    honest = module.reached
    monkeypatch.setattr(module, "reached", lambda *asked: math.floor(honest(*asked)))
    assert covered(**WIDE, parts=43) < 0.85


def between(values: list[Fraction], point: Fraction) -> Fraction:
    """Return what straight lines between the values at 0, 1, ... have at a point."""
    low = min(math.floor(point), len(values) - 2)
    return values[low] + (point - low) * (values[low + 1] - values[low])


def taken_off(noises: list[tuple[int, ...]], parts: int, needed: Fraction) -> Fraction:
    """Return the integral of G from 0 to the mark; every noise of the list has the same chance."""
    points = [Fraction(place, parts) for place in range(1, (len(noises[0]) + 1) * parts)]
    drawn = [[between([Fraction(each) for each in (0, *noise, 0)], point) for noise in noises] for point in points]
    ends = sorted({Fraction(0), needed, *(each for one in drawn for each in one if 0 < each < needed)})
    return sum(
        (high - low) * max(Fraction(sum(each > low for each in one), len(noises)) for one in drawn)
        for low, high in pairwise(ends)
    )


def held(levels: tuple[int, ...], noises: list[tuple[int, ...]], parts: int, needed: Fraction) -> Fraction:
    """Return how often the new row's level is in, each of these rows being the new one as often as another."""
    total = Fraction(0)
    for new, own in enumerate(levels):
        others = levels[:new] + levels[new + 1 :]
        for noise in noises:
            upto = [sum(each <= level + 1 for each in others) + more for level, more in enumerate((*noise, 0))]
            reach = module.reached(np.diff([0.0, *map(float, upto)]), float(needed), parts)
            total += min(max(Fraction(reach) - own + 1, Fraction(0)), Fraction(1))
    return total / (len(levels) * len(noises))


def exact_slacks() -> list[tuple[Fraction, Fraction]]:
    """Return, in every small case, by how much coverage exceeds the theorem's bound, and what noise takes off it."""
    found = []
    for (n, levels, parts), size in product([(2, 2, 1), (2, 2, 4), (3, 2, 2), (2, 3, 2)], (0, 1, 2)):
        noises = list(product({-size, size}, repeat=levels - 1))
        for needed in (Fraction(1, 2), Fraction(1), Fraction(3, 2), Fraction(2), Fraction(9, 4), Fraction(3)):
            if needed > n:
                continue
            less = taken_off(noises, parts, needed)
            for rows in combinations_with_replacement(range(1, levels + 1), n + 1):
                found.append((held(rows, noises, parts, needed) - (needed - less) / (n + 1), less / (n + 1)))
    return found


def test_the_bound_holds_exactly_in_every_small_case_and_is_attained():
    slacks = [slack for slack, _ in exact_slacks()]
    assert len(slacks) > 200
    assert min(slacks) == 0


def test_without_what_noise_takes_off_the_bound_would_not_hold():
    assert min(slack - less for slack, less in exact_slacks()) < -0.05


def test_without_the_share_of_the_boundary_the_bound_would_not_hold(monkeypatch):
    honest = module.reached
    monkeypatch.setattr(module, "reached", lambda *asked: math.floor(honest(*asked)))
    assert min(slack for slack, _ in exact_slacks()) < -0.3


def test_coins_let_in_the_share_that_they_should_and_are_the_same_each_time():
    sets = PredictionSets(0.9, np.array([[1.0, 0.3], [0.0, 0.3]]), public_seed=4)
    inside = sets.of(np.repeat([0, 1], 5_000))
    assert inside[:5_000].tolist() == [[True, False]] * 5_000
    # One coin a row, for all of its classes; 0.3 of 5,000 coins has a deviation of 0.0065.
    assert (inside[5_000:, 0] == inside[5_000:, 1]).all()
    assert abs(inside[5_000:, 0].mean() - 0.3) < 4.5 * 0.0065
    # Which rows follow does not matter; which seed does.
    assert (sets.of(np.repeat([0, 1], [5_000, 10])) == inside[:5_010]).all()
    assert (PredictionSets(0.9, sets.chances, public_seed=5).of(np.repeat([0, 1], 5_000)) != inside).any()
    # Where every class has an output of its own, the coin is still the row's.
    assert (sets.of(np.ones((40, 2), dtype=np.int64)) == sets.of(np.ones(40, dtype=np.int64))).all()


@pytest.mark.parametrize("seed", [-1, 0.5, None])
def test_a_seed_that_is_none_is_refused(seed):
    with pytest.raises(InvalidParameter, match="public_seed"):
        prediction_sets(NoisyCounts((0.5,), np.zeros((1, 2, 2), dtype=np.int64), "laplace", 1.0, 9), 0.5, seed)


def test_a_mark_that_does_not_count_the_noise_would_not_do(monkeypatch):
    # Two levels: where the lower one lacks a single row, noise gives it that row half the time.
    counts = NoisyCounts((0.5,), np.zeros((1, 1, 2), dtype=np.int64), "laplace", 20.0, 999)

    def share_of_both():
        coins, kept = np.random.default_rng(5), 1.0 - math.exp(-0.05)
        noisy = np.array([899, 100]) + coins.geometric(kept, (1000, 2)) - coins.geometric(kept, (1000, 2))
        needed = module.mark(counts, np.array([1, 1]), 0.9, 1)
        rows = noisy - (noisy.sum(axis=1, keepdims=True) - 999) / 2
        return np.mean([module.reached(each, needed, 1) - 1 for each in rows])

    honest = share_of_both()
    monkeypatch.setattr(module, "lost", lambda counts, cells, parts: 0.0)
    assert honest > 0.6 > 0.55 > share_of_both()


@pytest.mark.parametrize("parts", [1, 4])
@pytest.mark.parametrize(("law", "scale"), [("laplace", 3.0), ("gaussian", 3.0)])
def test_what_noise_takes_off_is_that_of_the_worst_point(law, scale, parts):
    # By simulation: the integral over x of P(W > x) is the mean of W above 0. A level without cells has no noise.
    cells = np.array([1, 2, 0, 3, 4])
    counts = NoisyCounts((0.5,), np.zeros((1, 1, 10), dtype=np.int64), law, scale, 1000)
    coins = np.random.default_rng(6)
    if law == "laplace":
        noise = coins.geometric(1 - math.exp(-1 / scale), (2, 10, 20_000))
        noise = noise[0] - noise[1]
    else:
        noise = np.rint(coins.normal(0.0, scale, (10, 20_000)))
    upto = np.vstack([np.zeros((1, 20_000)), np.cumsum(noise - noise.mean(axis=0), axis=0)])[[0, 1, 3, 3, 6, 10]]
    points = np.arange(1, 5 * parts) / parts
    low, share = np.floor(points).astype(int), (points % 1)[:, None]
    simulated = np.max(np.mean(np.maximum((1 - share) * upto[low] + share * upto[low + 1], 0.0), axis=1))
    # So many draws tell it within 1 %.
    assert 0.97 * simulated <= module.lost(counts, cells, parts) <= 1.25 * simulated


def test_sets_are_hardly_larger_than_asked_for_where_rows_are_many():
    # A world's coverage has a deviation of about 0.003 from rows and 0.002 from noise:
    # the mean of six is below the promise by four of its own with a chance below 1e-4.
    found = covered(6, n=10_000, bins=100, epsilon=0.5, coverage=0.9, parts=3)
    assert 0.9 - 4 * 0.0015 <= found <= 0.92


def test_sets_of_new_rows_hold_the_truth_as_often_as_asked_for_and_hardly_more(monkeypatch):
    # From scores and labels to counts, sets and coins; scores are even numbers, and true. Five bins, epsilon 0.5.
    n, new, scale, edges = 5_000, 2_000, 4.0, (0.2, 0.4, 0.6, 0.8)
    public = NoisyCounts(edges, np.zeros((1, 2, 5), dtype=np.int64), "laplace", scale, n)
    levels = levels_of_classes(public)
    taken = module.lost(public, module.cells_of(public, levels), module.parts_of(levels))
    monkeypatch.setattr(module, "lost", lambda counts, cells, parts: taken)
    draw, kept, found = np.random.default_rng(8), 1.0 - math.exp(-1.0 / scale), []
    for world in range(100):
        scores = draw.random(n + new)
        labels, outputs = (draw.random(n + new) < scores).astype(int), np.searchsorted(edges, scores)
        true = np.bincount(labels[:n] * 5 + outputs[:n], minlength=10).reshape(1, 2, 5)
        noisy = true + draw.geometric(kept, true.shape) - draw.geometric(kept, true.shape)
        sets = prediction_sets(NoisyCounts(edges, noisy, "laplace", scale, n), 0.9, public_seed=world)
        inside = sets.of(outputs[n:])
        found.append(inside[np.arange(new), labels[n:]].mean())
    # A world's coverage has a deviation of 0.008, from 5,000 rows and 2,000 new ones; the mean of 100, of 0.0008. With
    # other seeds a false alarm would have a chance below 1e-4.
    assert 0.9 - 4 * 0.0008 <= np.mean(found) <= 0.91


def test_too_few_rows_for_the_coverage_leave_everything_in():
    counts = NoisyCounts((0.5,), np.array([[[4, 0], [0, 4]]]), "laplace", 0.01, 8)
    assert (prediction_sets(counts, 0.9).chances == 1).all()
    assert not (prediction_sets(counts, 0.5).chances == 1).all()


def test_levels_follow_the_chance_that_a_score_leaves_to_a_class():
    three = NoisyCounts((0.6,), np.zeros((1, 3, 6), dtype=np.int64), "laplace", 1.0, 9)
    levels = levels_of_classes(three)
    # Chances: 0.8 and 0.3 if predicted, and 0.35 and 0.1 for each of the two others.
    assert levels[0].tolist() == [2, 0, 1, 3, 1, 3]
    assert levels[1].tolist() == [1, 3, 2, 0, 1, 3]


def test_sets_of_shares_hold_the_classes_whose_own_share_is_large_enough():
    counts = NoisyCounts((0.2, 0.4, 0.6), np.array([[[50, 100, 350, 500]]]), "laplace", 0.01, 1000)
    # Of 1,000 rows 850 lie above the second edge, 950 above the first: a coverage of 0.9 needs half of those between
    # them, 0.8 needs 300 of the 350 before; and a part of the 64 of a level may be taken too much.
    for coverage, expected in ((0.9, [0, 0.51, 1, 1]), (0.8, [0, 0, 0.86, 1])):
        chances = sets_of_shares(counts, 3, coverage).chances
        assert (chances == chances[0]).all()
        assert (chances[0] >= np.array(expected) - 0.01).all()
        assert (chances[0] <= np.array(expected) + 0.02).all()


def test_sets_of_shares_are_hardly_larger_than_asked_for(monkeypatch):
    # Shares of the true class are even numbers, and so are their bins; noise as `evaluate` has it at epsilon 1.
    coins, n, scale = np.random.default_rng(4), 5000, 18.0
    edges, found = tuple(np.linspace(0.0, 1.0, 142)[1:-1].tolist()), []
    # What noise takes off follows from public facts: it is the same in every world.
    public = NoisyCounts(edges, np.zeros((1, 1, 141), dtype=np.int64), "laplace", scale, n)
    taken = module.lost(public, np.ones(141, dtype=np.intp), 2)
    monkeypatch.setattr(module, "lost", lambda counts, cells, parts: taken if parts == 2 else math.nan)
    for _ in range(40):
        true = np.histogram(coins.random(n), (0.0, *edges, 1.0))[0]
        kept = 1.0 - math.exp(-1.0 / scale)
        noisy = true + coins.geometric(kept, 141) - coins.geometric(kept, 141)
        sets = sets_of_shares(NoisyCounts(edges, noisy[None, None], "laplace", scale, n), 3, 0.9)
        found.append(sets.chances[0].mean())
    # A world's coverage has a deviation of 0.03 from noise; the mean of forty, of 0.005.
    assert 0.9 - 0.005 <= np.mean(found) <= 0.94


def test_groups_add_their_noise_and_gaussian_noise_is_known_too():
    table = np.array([[[2560, 105], [102, 2233]], [[2560, 105], [102, 2233]]])
    for law in ("laplace", "gaussian"):
        counts = NoisyCounts((0.5,), table, law, 4.0, 10_000)
        few, more = (prediction_sets(counts, coverage).chances for coverage in (0.9, 0.97))
        # 9,586 rows lie on the lower level: for 0.9 nearly all of them are needed, for 0.97 some of the other 414.
        assert 0.93 < few[0, 0] == few[1, 1] < 0.96
        assert few[0, 1] == few[1, 0] == 0
        assert more[0, 0] == more[1, 1] == 1
        assert 0.27 < more[0, 1] == more[1, 0] < 0.33


@pytest.mark.parametrize("coverage", [0.0, 1.0, -1.0, math.nan])
def test_a_coverage_that_is_none_is_refused(coverage):
    with pytest.raises(InvalidParameter, match="between 0 and 1"):
        prediction_sets(NoisyCounts((0.5,), np.zeros((1, 2, 2), dtype=np.int64), "laplace", 1.0, 9), coverage)
