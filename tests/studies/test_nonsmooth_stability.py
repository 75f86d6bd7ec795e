"""The study of SGD on losses with kinks: its instances, its arithmetic, and the study from end to end."""

import functools
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from equipoise_studies.claims import VERDICTS
from equipoise_studies.frame import reproduce
from equipoise_studies.nonsmooth_stability import corrected, descent, instances, measure, populations, published
from equipoise_studies.nonsmooth_stability.study import STUDY

LOOKS = (1, 7, 40, 200, 800)
N, T = 40, 800


def shares(rule, seed=0):
    return rule.shares(N, T, np.random.default_rng(seed))


# The instances.


@pytest.mark.parametrize("instance", measure.INSTANCES, ids=lambda instance: instance.name)
@pytest.mark.parametrize("rule", measure.RULES, ids=lambda rule: rule.key)
@pytest.mark.parametrize("seed", [0, 1])
def test_no_simulated_distance_exceeds_the_bound_and_the_sharper_instance_comes_within_a_factor(rule, instance, seed):
    coins = shares(rule, seed)
    walk, bound = instances.simulate(instance, coins, LOOKS), instances.recursion(coins)
    at = np.asarray(LOOKS) - 1
    assert (walk.last <= bound[at] * (1 + 1e-12)).all()
    assert (walk.average <= instances.averaged(bound)[at] * (1 + 1e-12)).all()
    if instance is instances.TWO_SIDED and bound[-1] > 0:
        assert walk.last[-1] >= 0.6 * bound[-1]
        assert walk.average[-1] >= 0.5 * instances.averaged(bound)[-1]


def test_the_losses_are_convex_and_have_slopes_of_at_most_one():
    """Written out once more as a function, the common loss lies above its tangents, and no slope is longer than 1."""
    draws = np.random.default_rng(0)
    size = 6

    def value(place):
        return max(0.0, place[1:].max())

    def slope(place):
        found = np.zeros(size)
        if place[1:].max() > 0:
            found[1 + place[1:].argmax()] = 1.0
        return found

    for _ in range(300):
        here, there = draws.standard_normal((2, size))
        assert value(there) >= value(here) + slope(here) @ (there - here) - 1e-12
    for instance in measure.INSTANCES:
        assert (np.linalg.norm(instance.slopes(50), axis=1) <= 1 + 1e-12).all()


def test_the_walk_is_plain_subgradient_descent():
    coins = instances.replacement(6, 60, np.random.default_rng(3))
    slopes = instances.TWO_SIDED.slopes(60)
    places, total = np.zeros(slopes.shape), np.zeros(slopes.shape[1])
    for share in coins:
        for side in range(2):
            common = np.zeros(slopes.shape[1])
            if places[side, 1:].max() > 0:
                common[1 + places[side, 1:].argmax()] = 1.0
            places[side] -= (1 - share) * common + share * slopes[side]
        total += places[0] - places[1]
    walk = instances.simulate(instances.TWO_SIDED, coins, (60,))
    assert walk.last[0] == pytest.approx(np.linalg.norm(places[0] - places[1]))
    assert walk.average[0] == pytest.approx(np.linalg.norm(total) / 60)


def test_orthogonal_rows_attain_the_recursion_in_one_pass_as_rows_grow():
    ratios = [
        instances.orthogonal_rows(n, 1)[0] / instances.recursion(instances.permutation(n, n))[-1]
        for n in (100, 2500, 10_000)
    ]
    assert ratios == sorted(ratios)
    assert 0.98 < ratios[-1] <= 1
    assert instances.orthogonal_rows(100, 2)[1] < 0.5 * instances.orthogonal_rows(100, 1)[0]


# Bounds: the paper's, the product's, and the catalogue's reference values.


def test_the_recursion_is_the_product_s_theorem_and_hits_the_reference_values():
    assert instances.recursion(instances.permutation(100, 10_000))[-1] == pytest.approx(348.5, abs=0.05)
    assert instances.recursion(instances.full_batch(100, 10_000))[-1] == pytest.approx(349.6, abs=0.05)
    for n_samples, n_steps in ((100, 10_000), (30, 90)):
        found = corrected.theorems(n_samples, n_steps)
        passes = n_steps // n_samples
        worst = max(instances.recursion(instances.permutation(n_samples, n_steps, at))[-1] for at in range(n_samples))
        assert found["C1"] == pytest.approx(worst, rel=1e-6)
        assert found["001-Table1"] == pytest.approx(published.table_permutation(n_samples, n_steps), rel=1e-6)
        assert found["001-Lem3.1"] == pytest.approx(published.lemma(n_steps, passes - 1), rel=1e-6)
        assert found["C1.closed"] == pytest.approx(corrected.closed_form(n_samples, n_steps, passes), rel=1e-6)
        whole = corrected.theorems(n_samples, n_steps, full_batch=True)
        recursion = instances.recursion(instances.full_batch(n_samples, n_steps))[-1]
        assert whole["C1"] == pytest.approx(recursion, rel=1e-6)
        assert whole["001-Table1"] == pytest.approx(published.table_full_batch(n_samples, n_steps), rel=1e-6)
    assert corrected.theorems(100, 10_000, loss="hinge")["C1"] == pytest.approx(259, abs=0.5)


def test_the_closed_form_in_expectation_is_below_its_simple_bound_and_above_the_recursion():
    for n_samples, n_steps in ((100, 10_000), (50, 50), (50, 10)):
        expected = corrected.expected_closed_form(n_samples, n_steps)
        assert expected <= 2 * (math.sqrt(n_steps) + n_steps / n_samples)
        draws = np.random.default_rng(5)
        drawn = [instances.recursion(instances.replacement(n_samples, n_steps, draws))[-1] for _ in range(40)]
        assert np.mean(drawn) <= expected + 4 * np.std(drawn) / math.sqrt(40)


def test_binomial_tails_are_exact_and_reach_where_floats_end():
    for hits, n_steps, n_samples in ((3, 50, 10), (40, 400, 20), (1, 1000, 1000)):
        assert math.exp(corrected.log_tail(hits, n_steps, n_samples)) == pytest.approx(
            binom.sf(hits - 1, n_steps, 1 / n_samples)
        )
    assert corrected.log_tail(405, 10_000, 10_000) == pytest.approx(-2040, abs=1)


def test_the_printed_failure_probability_is_false_for_one_pass_and_right_for_n_passes():
    for n_samples in (200, 1000, 10_000):
        assert corrected.log_violation(n_samples, n_samples, averages=False) > published.log_failure(n_samples)
    for n_samples in (1500, 10_000):
        assert corrected.log_violation(n_samples, n_samples, averages=True) > published.log_failure(n_samples)
    for n_samples in (10, 100, 1000):
        assert corrected.log_union(n_samples, n_samples**2) < published.log_failure(n_samples)
        # What may happen at most is not below what happens at least.
        assert corrected.log_union(n_samples, n_samples) >= corrected.log_violation(
            n_samples, n_samples, averages=False
        )


def test_linear_losses_violate_theorem_3_2_where_the_tail_says_so():
    """Simulated where the event is likely enough to be seen: few rows, the threshold lowered to a likely one."""
    draws = np.random.default_rng(1)
    n_samples, n_steps, hits = 20, 20, 3
    drawn = draws.integers(0, n_samples, (20_000, n_steps)) == 0
    # Slopes 1 and -1: the last iterates are 2 apart a draw; the averages over the start and all later iterates 1.
    last = 2 * drawn.sum(1)
    average = 2 * (drawn * (n_steps - np.arange(n_steps)) / (n_steps + 1)).sum(1)
    chance = math.exp(corrected.log_tail(hits, n_steps, n_samples))
    spread = 4 * math.sqrt(chance / len(drawn))
    assert abs((last >= 2 * hits).mean() - chance) < spread
    assert (average >= hits).mean() > chance / 2 - spread


def test_noise_of_theorem_5_1_is_enough_and_more_than_needed():
    found = measure.noise(1000, 1.0, 1e-6)
    assert found.printed == pytest.approx(5.257, abs=1e-3)
    assert found.calibrated == pytest.approx(4.626, abs=5e-3)
    assert found.reached == pytest.approx(0.861, abs=2e-3)


# Risks.


def test_the_linear_program_finds_the_least_risk_and_the_ball_goes_through_the_minimiser():
    population = populations.few_columns(4, 300)
    draws = np.random.default_rng(0)
    others = draws.standard_normal((2000, 4))
    others *= population.radius * draws.random((2000, 1)) / np.linalg.norm(others, axis=1, keepdims=True)
    assert (population.risk(others) >= population.least - 1e-12).all()
    assert population.chances.sum() == pytest.approx(1)
    assert np.linalg.norm(population.rows, axis=1) == pytest.approx(1)


def test_the_population_with_a_column_each_has_the_risk_that_it_says():
    population = populations.a_column_each(9)
    draws = np.random.default_rng(0)
    inside = draws.standard_normal((500, 9))
    inside *= draws.random((500, 1)) / np.linalg.norm(inside, axis=1, keepdims=True)
    assert (population.risk(inside) >= population.least - 1e-12).all()
    assert population.risk(np.full((1, 9), 1 / 3))[0] == pytest.approx(population.least)
    assert population.chances.sum() == pytest.approx(1)


@pytest.mark.parametrize("noise", [0.0, 0.7])
def test_the_averages_are_those_of_algorithms_1_and_2(noise):
    """The compiled loop against the algorithm in plain NumPy, on the same coins."""
    population = populations.few_columns(3, 50)
    rows = population.draw(12, np.random.default_rng(0))
    looks = np.array([1, 5, 40])
    found = descent._averages(rows, looks, 0.3, 1.5, noise, np.random.default_rng(8))
    draws, weights, seen = np.random.default_rng(8), np.zeros(3), []
    for _ in range(40):
        seen.append(weights)
        row = rows[draws.integers(0, 12)]
        gradient = -row if weights @ row < 1 else np.zeros(3)
        if noise:
            gradient = gradient + noise * draws.standard_normal(3)
        weights = weights - 0.3 * gradient
        weights = weights * min(1.0, 1.5 / max(np.linalg.norm(weights), 1e-300))
    assert found == pytest.approx(np.array([np.mean(seen[:look], axis=0) for look in looks]))


def test_the_step_of_c4_is_the_best_one():
    for noise in (0.0, 500.0):
        best = corrected.best_step(100, 100, 2.0, noise)
        least = corrected.excess_risk(100, 100, best, 2.0, noise)
        assert least == pytest.approx(2.0 / 100 * math.sqrt(1 + noise + 800))
        for factor in (0.8, 1.25):
            assert corrected.excess_risk(100, 100, factor * best, 2.0, noise) > least


# The study.


@pytest.fixture
def small(monkeypatch):
    grid = replace(
        measure.QUICK,
        n_samples=20,
        n_steps=400,
        tosses=3,
        few=(10, 20),
        each=(10, 20),
        noisy=(10, 20),
        few_repetitions=5,
        each_repetitions=5,
        shown=20,
        epsilons=(0.5, 1.0),
    )
    monkeypatch.setattr(measure, "QUICK", grid)
    monkeypatch.setattr(measure, "FULL", grid)
    monkeypatch.setattr(measure, "NOISES", ((50, 1.0, 1e-6),))
    monkeypatch.setattr(measure, "DRAWN", 20)
    # Four places of the study ask for the same two numbers, of a search over 3,000 binomial tails.
    monkeypatch.setattr(corrected, "first_false", functools.cache(corrected.first_false))


def test_the_study_runs_from_end_to_end(small, tmp_path):
    told = []
    claims = reproduce(
        STUDY, data=tmp_path, quick=True, out=tmp_path / "out", report=lambda *progress: told.append(progress)
    )
    records = {record["id"]: record for record in json.loads((tmp_path / "out" / "claims.json").read_text())}
    assert len(records) == len(claims)
    assert {claim.verdict for claim in claims} <= set(VERDICTS)
    for name, record in records.items():
        if name.endswith(".holds"):
            assert record["verdict"] == "reproduced", name
    assert records["theorem-3.2.failure.average"]["measured"] == pytest.approx(-2040, abs=1)
    assert "section-4.rate" not in records
    images = {path.stem for path in (tmp_path / "out").glob("*.svg")}
    assert {"table-1-full-batch", "table-1-replacement", "table-1-permutation", "theorem-3-2"} <= images
    assert {"gap-passes", "gap-rows", "excess-passes", "excess-rows", "noisy-rows", "theorem-5-1"} <= images
    page = (tmp_path / "out" / "index.html").read_text()
    assert "no number can be printed" in page.lower()
    assert all(done <= total for _, done, total in told)


@pytest.mark.statistics
def test_the_whole_study_has_one_claim_more(small, tmp_path):
    quick, whole = (
        {claim.id for claim in reproduce(STUDY, data=tmp_path, quick=quick, out=tmp_path / str(quick))}
        for quick in (True, False)
    )
    assert whole == quick | {"section-4.rate"}
