"""Privacy curves are decreasing functions into [0, 1] that never fall below the true delta."""

import itertools
import math

import mpmath
import numpy as np
import pytest
from hypothesis import strategies as st

from equipoise.certify.curves import (
    ERROR,
    LATTICE_DELTA,
    Curve,
    GaussianCurve,
    LargestCurve,
    PointCurve,
    PureCurve,
    SumCurve,
    add_up,
    log_normal,
)
from equipoise.errors import InvalidParameter
from equipoise.planning.laws.gaussian import cautious, largest_mu
from equipoise.vocabulary.facts import Budget
from hunting import hunted

# 400 bits: the two terms of the Gaussian curve agree to at most some 60 digits on the grids below.
exact = mpmath.MPContext()
exact.prec = 400

EPSILONS = (0.0, *np.geomspace(1e-8, 1e4, 97).tolist())
LEVELS = (1e-12, 1e-6, 1e-3, 0.1, 0.5, 1.0, 2.0, 10.0, 40.0, 700.0, 1e4)
MUS = (*np.geomspace(1e-9, 1e4, 53).tolist(), 0.5, 1.0, 2.0)

CURVES: list[Curve] = [*map(PureCurve, LEVELS), *map(GaussianCurve, MUS)]
every_curve = pytest.mark.parametrize("curve", CURVES, ids=str)


def normal_tail(point):
    """Return Phi(point) in extended precision."""
    return exact.erfc(-point / exact.sqrt(2)) / 2


def true_delta(curve: Curve, epsilon: float):
    """Return the definition of the curve in extended precision (D3; randomised response for a pure level)."""
    budget = exact.mpf(epsilon)
    if isinstance(curve, PureCurve):
        level = exact.exp(exact.mpf(curve.level))
        return max(exact.mpf(0), (level - exact.exp(budget)) / (level + 1))
    mu = exact.mpf(curve.mu)
    return normal_tail(mu / 2 - budget / mu) - exact.exp(budget) * normal_tail(-mu / 2 - budget / mu)


def near(curve: Curve) -> list[float]:
    """Return the epsilons where the curve bends: around its level, or around a few standard deviations of its loss."""
    if isinstance(curve, PureCurve):
        return [curve.level * factor for factor in (0.5, 0.999, 1 - 1e-12, 1.0, 1 + 1e-12, 2.0)]
    return [max(0.0, curve.mu**2 / 2 + deviations * curve.mu) for deviations in (-3.0, -1.0, 0.0, 1.0, 3.0, 8.0, 30.0)]


@every_curve
def test_curve_never_falls_below_the_true_delta(curve):
    for epsilon in (*EPSILONS, *near(curve)):
        assert curve.delta(epsilon) >= true_delta(curve, epsilon), epsilon


@every_curve
def test_curve_stays_within_zero_and_one(curve):
    for epsilon in (*EPSILONS, *near(curve)):
        assert 0 <= curve.delta(epsilon) <= 1, epsilon


@every_curve
def test_curve_never_rises_with_epsilon(curve):
    # Neighbouring points of the grid differ by a third, so a rise is not the last digit of an evaluation.
    values = [curve.delta(epsilon) for epsilon in EPSILONS]
    rises = [(low, high) for low, high in itertools.pairwise(values) if high > low]
    assert not rises


@pytest.mark.parametrize("curve", list(map(PureCurve, LEVELS)), ids=str)
def test_pure_curve_is_tight_and_zero_from_its_level_on(curve, witness):
    assert curve.delta(curve.level) == 0.0
    assert curve.delta(math.nextafter(curve.level, math.inf)) == 0.0
    assert curve.delta(math.nextafter(curve.level, 0.0)) > 0.0
    for epsilon in (*EPSILONS, *near(curve)):
        # The curve's own margin is 1e-12, relative.
        assert curve.delta(epsilon) <= true_delta(curve, epsilon) * (1 + exact.mpf(2e-12)), epsilon
    for epsilon in np.linspace(0.0, curve.level, 9).tolist() if 0.5 <= curve.level <= 2 else ():
        attained = true_delta(curve, epsilon)
        witness("D1", curve.delta(epsilon), attained, f"pure at {curve.level}: delta", over=("epsilon", epsilon))


@pytest.mark.parametrize("level", [0.1, 1.0, 5.0])
def test_pure_curve_covers_the_one_dimensional_laplace_law(level):
    # L9, d = 1: the Laplace mechanism's own curve is 1 - e^((epsilon - level) / 2), below randomised response.
    for epsilon in np.linspace(0.0, level, 40).tolist():
        assert PureCurve(level).delta(epsilon) >= -math.expm1((epsilon - level) / 2)


@pytest.mark.parametrize("mu", [1e-3, 0.1, 0.27, 1.0, 5.0, 12.0])
def test_gaussian_curve_wastes_no_more_than_its_rounding(mu, witness):
    # Below epsilon 100 and above e^-700 the stated error 5e-16 (10 + |logs| + 2 epsilon) is at most 1e-12 of each term.
    curve = GaussianCurve(mu)
    for epsilon in (epsilon for epsilon in (*EPSILONS, *near(curve)) if epsilon <= 100):
        truth = true_delta(curve, epsilon)
        larger = normal_tail(exact.mpf(mu) / 2 - exact.mpf(epsilon) / exact.mpf(mu))
        assert curve.delta(epsilon) <= truth + exact.mpf(2e-12) * larger + 2 * exact.mpf(LATTICE_DELTA), epsilon
    for epsilon in np.linspace(0.0, min(12.0, 6 * mu), 13).tolist() if 0.2 < mu <= 5 else ():
        attained = true_delta(curve, epsilon)
        witness("D3", curve.delta(epsilon), attained, f"mu = {mu:g}: delta", over=("epsilon", epsilon))


def test_gaussian_curve_grows_with_mu():
    for epsilon in (0.0, 0.1, 1.0, 10.0):
        values = [GaussianCurve(mu).delta(epsilon) for mu in np.geomspace(1e-3, 20.0, 60).tolist()]
        assert all(low <= high for low, high in itertools.pairwise(values))


def test_gaussian_curve_never_claims_pure_privacy():
    # docs/proofs/D3.md: the lattice costs 2^-500, so no epsilon makes the claim vanish.
    assert GaussianCurve(0.01).delta(1e6) >= LATTICE_DELTA > 0


def test_the_normal_distribution_function_is_right_to_a_few_last_digits():
    for place in (*np.linspace(-40.0, 40.0, 321).tolist(), -1e6, -1e3, -5.0, -1.0, np.nextafter(-5.0, 0), 1e3):
        truth = exact.log(normal_tail(exact.mpf(place)))
        assert abs(log_normal(place) - truth) <= 2.0**-52 * (2 + abs(truth)), place


@hunted(100, 3000, mu=st.floats(1e-6, 1e3), deviations=st.floats(-4.0, 36.0))
def test_no_gaussian_curve_is_found_below_the_truth(mu, deviations):
    epsilon = max(0.0, mu**2 / 2 + deviations * mu)
    assert GaussianCurve(mu).delta(epsilon) >= true_delta(GaussianCurve(mu), epsilon)


def test_more_releases_cost_more_of_the_lattice():
    for releases in (1, 2, 1000):
        assert GaussianCurve(1e-3, releases).delta(1e6) == releases * LATTICE_DELTA


@pytest.mark.parametrize("wrong", [-1e-9, -math.inf, math.nan])
@pytest.mark.parametrize("curve", [PureCurve(1.0), GaussianCurve(1.0), PointCurve(Budget(1.0, 0.1))], ids=str)
def test_nothing_is_asked_below_zero(curve, wrong):
    with pytest.raises(InvalidParameter, match="epsilon >= 0"):
        curve.delta(wrong)


# --- curves made of others ------------------------------------------------------------------------------------------


def test_a_price_is_paid_before_the_curve_and_below_it_nothing_is_claimed():
    curve = SumCurve(((1.0, GaussianCurve(0.5), 0.25),))
    for epsilon in (0.25, 0.3, 1.0, 7.0):
        assert curve.delta(epsilon) >= true_delta(GaussianCurve(0.5), epsilon - 0.25)
        assert curve.delta(epsilon) == pytest.approx(GaussianCurve(0.5).delta(epsilon - 0.25), rel=1e-12)
    assert curve.delta(math.nextafter(0.25, 0.0)) == curve.delta(0.0) == 1.0
    # Of a pure level nothing is left over for rounding.
    assert SumCurve(((1.0, PureCurve(0.75), 0.25),)).delta(1.0) > 0
    assert SumCurve(((1.0, PureCurve(math.nextafter(0.75, 0.0)), 0.25),)).delta(1.0) == 0


def test_a_sum_weighs_its_parts_and_adds_a_delta_on_top():
    parts = ((0.5, GaussianCurve(0.5), 0.0), (0.3, PureCurve(2.0), 0.1), (0.7, GaussianCurve(3.0), 0.0))
    for epsilon in (0.1, 0.5, 1.0, 4.0):
        plain = math.fsum(factor * curve.delta(epsilon - price) for factor, curve, price in parts) + 1e-3
        assert SumCurve(parts, 1e-3).delta(epsilon) == pytest.approx(min(1.0, plain), rel=1e-12)
        assert SumCurve(parts, 1e-3).delta(epsilon) >= min(1.0, plain) * (1 - 1e-15)
    assert SumCurve(parts, 0.9).delta(0.1) == 1.0


def test_the_largest_curve_counts_and_no_less_than_the_floor():
    parts = (PureCurve(1.0), GaussianCurve(0.5))
    for epsilon in (0.0, 0.5, 1.0, 2.0):
        assert LargestCurve(parts).delta(epsilon) == max(part.delta(epsilon) for part in parts)
    assert LargestCurve((PureCurve(1.0),), 1e-6).delta(1.0) == 1e-6
    assert LargestCurve((PureCurve(1.0),)).delta(1.0) == 0


def test_of_a_budget_alone_one_point_is_known():
    curve = PointCurve(Budget(1.0, 1e-6))
    assert [curve.delta(epsilon) for epsilon in (0.0, math.nextafter(1.0, 0.0), 1.0, 9.0)] == [1.0, 1.0, 1e-6, 1e-6]


def test_shares_add_up_in_exact_arithmetic():
    tenth = Budget(0.1, 1e-7)
    # In doubles ten tenths add up to less than 1, and the double 0.1 is above a tenth.
    assert sum([0.1] * 10) < 1
    assert not add_up((tenth,) * 10, Budget(1.0, 1e-6))
    assert add_up((tenth,) * 10, Budget(math.nextafter(1.0, 2.0), 2e-6))
    assert not add_up((tenth,) * 10, Budget(2.0, 9e-7))
    assert add_up((Budget(0.5, 1e-7), Budget(0.5)), Budget(1.0, 1e-7))
    assert not add_up((Budget(0.5, 1e-7), Budget(math.nextafter(0.5, 1.0))), Budget(1.0, 1e-7))


# --- calibration ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("delta", [1e-140, 1e-15, 1e-6, 0.01, 0.9, 1 - 1e-9])
@pytest.mark.parametrize("epsilon", [1e-12, 1e-3, 0.1, 1.0, 30.0, 1e3, 1e6])
def test_largest_mu_is_the_private_end_of_the_bisection(epsilon, delta):
    mu = largest_mu(epsilon, delta)
    assert mu > 0
    assert GaussianCurve(mu).delta(epsilon) <= delta
    assert true_delta(GaussianCurve(mu), epsilon) <= delta
    # A planner takes twice the margin of the check, and hardly more.
    assert cautious(mu * (1 + 1e-6)).delta(epsilon) > delta
    assert cautious(mu).error == 2 * ERROR


def test_largest_mu_is_zero_for_a_delta_that_the_lattice_eats_up():
    assert largest_mu(1.0, LATTICE_DELTA / 2) == 0.0


def test_largest_mu_grows_with_the_budget():
    for delta in (1e-12, 1e-6, 0.1):
        values = [largest_mu(epsilon, delta) for epsilon in np.geomspace(1e-4, 1e3, 40).tolist()]
        assert all(low < high for low, high in itertools.pairwise(values))
    for epsilon in (1e-3, 1.0, 10.0):
        values = [largest_mu(epsilon, delta) for delta in np.geomspace(1e-15, 0.5, 40).tolist()]
        assert all(low < high for low, high in itertools.pairwise(values))
