"""C3 by Renyi divergences: never below the exact curve, near it where it can be, and at its reference values."""

import math

import numpy as np
import pytest
import scipy.integrate
import scipy.stats

from equipoise.certify.sampled import RenyiSampledCurve, SampledGaussianCurve
from equipoise.certify.sampled import divergence_of_a_step as one_step
from equipoise.planning.sampling import ORDERS, best_order, divergence, renyi_multiplier, smallest_multiplier


def profile(log_ratio: float, mu: float) -> float:
    """Return the delta of Gaussian noise with a shift of mu deviations."""
    normal = scipy.stats.norm
    rest = math.exp(log_ratio + normal.logcdf(-mu / 2 - log_ratio / mu))
    return max(0.0, normal.cdf(mu / 2 - log_ratio / mu) - rest)


def integrated(multiplier: float, share: float, order: float) -> float:
    """Return one step's divergence of an order by quadrature of its definition through hockey sticks (C3)."""
    mu = 1 / multiplier

    def integrand(exponent: float) -> float:
        lifted = math.log1p(share * math.expm1(exponent))
        weight = math.exp(exponent + (order - 2) * lifted) + math.exp(exponent - (order + 1) * lifted)
        return weight * profile(exponent, mu)

    area, _ = scipy.integrate.quad(integrand, 0, mu**2 * (order + 1) + 12 * mu, limit=400, epsabs=1e-14)
    return math.log1p(order * (order - 1) * share**2 * area) / (order - 1)


@pytest.mark.parametrize("order", [1.5, 2.0, 8.0])
@pytest.mark.parametrize("multiplier", [0.7, 2.0, 10.0])
def test_with_all_rows_a_step_has_the_divergence_of_gaussians(multiplier, order):
    exact = order / (2 * multiplier**2)
    assert exact <= one_step(multiplier, 1.0, order) <= exact * 1.02


@pytest.mark.parametrize("order", [1.5, 4.0, 9.0])
@pytest.mark.parametrize("share", [0.5, 0.01, 1e-4])
@pytest.mark.parametrize("multiplier", [1.0, 4.0])
def test_a_step_is_the_integral_rounded_up(multiplier, share, order):
    exact = integrated(multiplier, share, order)
    assert exact * (1 - 1e-6) <= one_step(multiplier, share, order) <= exact * 1.05


def test_the_divergence_of_order_two_is_that_of_the_mixtures():
    # Both mixtures (1 - q) N(0) + q N(+-1/2) of a replaced row, by quadrature, are within the bound.
    share, multiplier = 0.2, 1.5
    mu = 1 / multiplier
    grid = np.linspace(-12, 12, 200_001)
    base, one, other = (scipy.stats.norm.pdf(grid, shift) for shift in (0.0, mu / 2, -mu / 2))
    first, second = (1 - share) * base + share * one, (1 - share) * base + share * other
    divergence = math.log(np.trapezoid(first**2 / second, grid))
    assert divergence <= one_step(multiplier, share, 2.0)


def least_delta(multiplier: float, share: float, steps: int, epsilon: float) -> float:
    """Return the delta of the order that the planner takes."""
    order, _ = best_order(multiplier, share, steps, epsilon)
    return RenyiSampledCurve(multiplier, share, steps, order).delta(epsilon)


@pytest.mark.parametrize(("share", "steps", "multiplier"), [(0.01, 1000, 1.5), (0.3, 20, 3.0), (1.0, 10, 6.0)])
def test_the_curve_is_above_the_exact_one(share, steps, multiplier):
    exact = SampledGaussianCurve(multiplier, share, steps)
    for epsilon in (0.2, 0.5, 1.0, 2.0):
        assert least_delta(multiplier, share, steps, epsilon) >= exact.delta(epsilon)
        # Whatever the order, it is a bound.
        for order in ORDERS[::7]:
            assert RenyiSampledCurve(multiplier, share, steps, order).delta(epsilon) >= exact.delta(epsilon)
    assert least_delta(multiplier, share, steps, 3.0) < least_delta(multiplier, share, steps, 0.5)
    assert 0 < least_delta(multiplier, share, steps, 0.0) <= 1


@pytest.mark.parametrize("epsilon", [0.2, 2.0])
def test_the_planner_takes_the_order_with_the_least_delta(epsilon):
    order, logarithm = best_order(1.5, 0.01, 1000, epsilon)
    deltas = {each: RenyiSampledCurve(1.5, 0.01, 1000, each).delta(epsilon) for each in ORDERS}
    assert deltas[order] == min(deltas.values())
    # The check's own margin is a billionth.
    assert deltas[order] == pytest.approx(math.exp(min(0.0, logarithm)) * (1 + 1e-9), rel=1e-11)


@pytest.mark.parametrize("order", [ORDERS[0], 2.0, 9.0, 33.0])
@pytest.mark.parametrize(("multiplier", "share"), [(0.7, 0.5), (1.0, 1e-4), (5.0, 1e-3), (40.0, 1.0)])
def test_the_planner_and_the_check_have_one_divergence(multiplier, share, order):
    # renyi_multiplier leaves a billionth of delta between the two, whose exponent has the divergence of all steps.
    assert divergence(multiplier, share, order) == pytest.approx(one_step(multiplier, share, order), rel=1e-11)


def test_the_reference_values():
    # C3: n = 1000, n^2 steps, (1, 1e-6): 4.95 by divergences where the composition of profiles has 4.627.
    divergences = renyi_multiplier(1.0, 1e-6, 1e-3, 10**6)
    assert 4.94 < divergences < 4.98
    assert smallest_multiplier(1.0, 1e-6, 1e-3, 10**6) == pytest.approx(4.627, abs=3e-3)
    # The paper's noise 5.257 has epsilon .929 by divergences.
    noise = math.sqrt(2 * math.log(1e6))
    assert least_delta(noise, 1e-3, 10**6, 0.935) <= 1e-6 < least_delta(noise, 1e-3, 10**6, 0.92)


@pytest.mark.parametrize(("epsilon", "delta", "share", "steps"), [(1.0, 1e-6, 0.01, 5000), (0.1, 1e-9, 1e-4, 10**9)])
def test_the_multiplier_meets_the_budget_and_hardly_less_would(epsilon, delta, share, steps):
    found = renyi_multiplier(epsilon, delta, share, steps)
    assert least_delta(found, share, steps, epsilon) <= delta
    assert least_delta(found * 0.998, share, steps, epsilon) > delta


@pytest.mark.parametrize("order", [12.0, 20.0])
@pytest.mark.parametrize(("multiplier", "share"), [(1.0, 1e-4), (2.0, 0.1), (4.0, 0.01)])
def test_large_orders_are_never_understated(multiplier, share, order):
    assert one_step(multiplier, share, order) >= integrated(multiplier, share, order) * (1 - 1e-6)


@pytest.mark.parametrize("found", [one_step, divergence])
def test_so_little_noise_that_an_order_overflows_says_nothing_rather_than_something_false(found):
    assert found(0.01, 0.5, 4097.0) == math.inf or found(0.01, 0.5, 4097.0) > 1e3
    assert min(RenyiSampledCurve(0.01, 0.5, 10, order).delta(1.0) for order in ORDERS) == pytest.approx(1.0, abs=1e-6)
