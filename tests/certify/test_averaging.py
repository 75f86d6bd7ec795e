"""M1: the curve of a random sensitivity is the mean of curves, and its noise meets the budget with nothing to spare."""

import math
from dataclasses import replace

import numpy as np
import pytest
import scipy.stats

from equipoise.certify import theorems
from equipoise.certify.claims import Noise
from equipoise.certify.claims.descents import StochasticDescent
from equipoise.certify.curves import GaussianCurve, SumCurve
from equipoise.errors import BudgetImpossible
from equipoise.planning.kinds.sgd import averaged_calibration, averaged_curve
from equipoise.planning.laws import known
from equipoise.vocabulary import losses, penalties
from equipoise.vocabulary.constants import setting
from equipoise.vocabulary.facts import Budget, Chance, Domain, Problem, Recipe

BUDGET = Budget(1.0, 1e-5)


def analytic_delta(epsilon: float, mean: float) -> float:
    """Return the delta of Gaussian noise whose shift is so many deviations, by its formula."""
    normal = scipy.stats.norm
    if mean == 0:
        return 0.0
    return normal.cdf(mean / 2 - epsilon / mean) - math.exp(epsilon) * normal.cdf(-mean / 2 - epsilon / mean)


def binomial(trials: int, chance: float, push: float) -> tuple[Chance, ...]:
    weights = scipy.stats.binom.pmf(np.arange(trials + 1), trials, chance)
    return tuple(Chance(float(weight), push * hits) for hits, weight in enumerate(weights))


def test_the_curve_is_the_mean_over_the_coins():
    law = binomial(12, 0.3, 0.2)
    curve = averaged_curve(law, Noise("gaussian", 0.9, 3))
    for epsilon in (0.0, 0.3, 1.0, 4.0):
        mean = sum(entry.probability * analytic_delta(epsilon, entry.value / 0.9) for entry in law)
        assert curve.delta(epsilon) == pytest.approx(mean, rel=1e-6)
        assert curve.delta(epsilon) >= mean * (1 - 1e-9)


def test_the_curve_never_exceeds_one_and_grows_with_the_sensitivity():
    certain = SumCurve(((0.7, GaussianCurve(1e3), 0.0), (0.7, GaussianCurve(1e3), 0.0)))
    assert certain.delta(0.1) == 1.0
    small, large = (averaged_curve(binomial(9, 0.5, push), Noise("gaussian", 1.0, 2)) for push in (0.1, 0.2))
    assert small.delta(1.0) < large.delta(1.0)


def test_coins_that_never_meet_a_row_cost_nothing_but_what_the_law_leaves_out():
    curve = averaged_curve((Chance(1.0, 0.0),), Noise("gaussian", 1.0, 3))
    assert curve.delta(1.0) <= 1e-39


def drawn(n_samples: int, steps: int, length: float):
    """Return the law of distances of drawing single rows, for slopes of at most 1 and no ridge."""
    problem = Problem(losses.named("logistic"), penalties.named("none", 0.0), Domain(1.0, classes=(0, 1)))
    recipe = Recipe(passes=steps / n_samples, step=length, order="replacement")
    situation = setting(problem, recipe, n_samples, 3)
    situation = replace(situation, constants=replace(situation.constants, lipschitz=1.0, gradient_diameter=2.0))
    return theorems.members()["B5"]().bound(situation).law


def test_a_claim_about_a_random_descent_has_the_curve_that_it_was_planned_with():
    problem = Problem(losses.named("hinge"), penalties.named("none", 0.0), Domain(1.0, classes=(0, 1)))
    recipe = Recipe(passes=2, step=0.1, order="replacement")
    bound = theorems.answer("C1.random", setting(problem, recipe, 100, 3))
    noise = Noise("gaussian", averaged_calibration(bound.law, 3, BUDGET).scale, 3)
    claim = StochasticDescent(
        budget=BUDGET,
        n_samples=100,
        problem=problem,
        n_features=3,
        noise=noise,
        sensitivity=bound.sensitivity,
        theorem="C1.random",
        recipe=recipe,
    )
    assert claim.check() == ()
    for epsilon in (0.0, 0.3, 1.0, 4.0):
        assert claim.curve().delta(epsilon) == averaged_curve(bound.law, noise).delta(epsilon)
    # Without delta nothing is averaged: the largest distance counts.
    pure = replace(claim, budget=Budget(1.0))
    assert pure.curve().delta(1.0) == GaussianCurve(bound.sensitivity / noise.scale).delta(1.0) > BUDGET.delta


def test_the_reference_value_of_drawing_with_replacement():
    # M1: n = 1000, T = 5000, step .05, slopes up to 1, at (1, 1e-5): 3.26 by the mean; 1.87 for permutations.
    found = averaged_calibration(drawn(1000, 5000, 0.05), 3, BUDGET)
    assert found.law == "gaussian"
    assert found.scale == pytest.approx(3.26, abs=0.005)
    assert known("gaussian").scale_for(5 * 0.05 * 2, 3, BUDGET) == pytest.approx(1.87, abs=0.01)


def test_the_best_quantile_would_cost_twice_as_much():
    # docs/proofs/M1.md: "sensitivity at most D but for theta" gives 6.63 in the same example. Its theta is 1e-6 here.
    largest = scipy.stats.binom.isf(1e-6, 5000, 1e-3)
    by_quantile = known("gaussian").scale_for(largest * 0.05 * 2, 3, Budget(1.0, 1e-5 - 1e-6))
    assert by_quantile > 1.9 * averaged_calibration(drawn(1000, 5000, 0.05), 3, BUDGET).scale


@pytest.mark.parametrize("budget", [BUDGET, Budget(0.1, 1e-8), Budget(8.0, 0.01)])
def test_the_noise_meets_the_budget_and_hardly_less_would(budget):
    law = binomial(40, 0.1, 0.5)
    scale = averaged_calibration(law, 4, budget).scale
    assert averaged_curve(law, Noise("gaussian", scale, 4)).delta(budget.epsilon) <= budget.delta
    assert averaged_curve(law, Noise("gaussian", scale * 0.999, 4)).delta(budget.epsilon) > budget.delta
    assert scale < known("gaussian").scale_for(40 * 0.5, 4, budget)


def test_a_law_of_one_value_needs_the_noise_of_that_value():
    scale = averaged_calibration((Chance(1.0, 0.7),), 2, BUDGET).scale
    assert scale == pytest.approx(known("gaussian").scale_for(0.7, 2, BUDGET), rel=2e-4)


def test_an_impossible_budget_is_refused_with_the_remedy():
    with pytest.raises(BudgetImpossible, match="permutation"):
        averaged_calibration(binomial(5, 0.5, 1.0), 2, Budget(1.0, 0.0))
