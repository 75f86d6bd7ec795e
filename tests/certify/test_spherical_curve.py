"""The exact curve of the spherical law agrees with formulas apart from ours, and is never below any of them."""

import itertools
import math
from functools import cache

import mpmath
import numpy as np
import pytest
import scipy.stats

from equipoise.certify import laws
from equipoise.certify.curves import GaussianCurve, PureCurve
from equipoise.certify.laws.spherical_laplace import rounding_epsilon
from equipoise.certify.spherical import LARGEST_DIMENSION, LARGEST_GAP, ROUNDING, SphericalCurve, bessel_ratio, rule
from equipoise.errors import InvalidParameter
from equipoise.planning.laws import calibrations, known, quietest
from equipoise.planning.laws.gaussian import largest_mu
from equipoise.planning.laws.spherical_laplace import cautious, largest_ratio
from equipoise.vocabulary.facts import Budget

exact = mpmath.MPContext()
exact.prec = 200  # sixty digits: the smallest delta below is 1e-30

# L9: the scale over the sensitivity, to the printed digits.
TABLE = {
    2: ("0.999159", "9.98996"),
    10: ("0.872812", "8.62426"),
    31: ("0.604743", "5.91904"),
    109: ("0.346928", "3.38190"),
    785: ("0.132605", "1.29076"),
}
DIMENSIONS = (1, 2, 3, 4, 5, 11, 31, 109, 785)
SPHERICAL = known("spherical-laplace")


def promised(curve: SphericalCurve, epsilon: float) -> float:
    """Return by how much, relatively, the curve says that it may exceed the truth."""
    return ROUNDING * (100 + curve.dimension + curve.level - epsilon)


# --- three formulas for the truth -------------------------------------------------------------------------------------


@cache
def cap(dimension: int):
    """Return the antiderivative of (1 - t^2)^((d-3)/2), a polynomial for odd d, as its coefficients by power."""
    half = (dimension - 3) // 2
    return [(2 * k + 1, exact.mpf((-1) ** k * math.comb(half, k)) / (2 * k + 1)) for k in range(half + 1)]


def by_radius(ratio: float, epsilon: float, dimension: int):
    """Return L9 as printed: the integral over the radius of P(L > epsilon) - e^epsilon P'(L > epsilon), for odd d."""
    a, e = exact.mpf(ratio), exact.mpf(epsilon)
    reach = (a - e) * (a + e) / 2
    top = sum(c for _, c in cap(dimension))

    def distribution(cosine):
        cosine = max(exact.mpf(-1), min(exact.mpf(1), cosine))
        return (top + sum(c * cosine**power for power, c in cap(dimension))) / (2 * top)

    def integrand(r):
        density = exact.exp((dimension - 1) * exact.log(r) - r - exact.loggamma(dimension))
        return density * (distribution((reach / r - e) / a) - exact.exp(e) * distribution(-(reach / r + e) / a))

    centre, spread = dimension, math.sqrt(dimension)
    cuts = {centre + k * spread for k in (-12, -8, -5, -3, -1, 0, 1, 3, 5, 8, 12, 20, 30, 45, 70, 110)}
    cuts |= {(ratio - epsilon) / 2, (ratio + epsilon) / 2} | ({float(reach / e)} if epsilon else set())
    last = max(cuts)
    return exact.quad(integrand, [exact.mpf(0), *sorted(cut for cut in cuts if cut > 0), last + 200, last + 2000])


def by_angle(ratio: float, epsilon: float, dimension: int):
    """Return our own formula in extended precision, with the closed form of the denominator."""
    z, e, order = exact.mpf(ratio) / 2, exact.mpf(epsilon), exact.mpf(dimension - 2) / 2
    share = z * exact.besselk(order, z) / ((dimension - 1) * exact.besselk(order + 1, z))
    whole = share * exact.sqrt(exact.pi) * exact.gamma(order + exact.mpf(3) / 2)
    whole *= (2 / z) ** (order + 1) / (z * exact.besselk(order, z))

    def integrand(t):
        weight = exact.sin(t) ** (dimension - 2) * (1 + share * exact.sin(t) ** 2)
        return weight * (exact.exp(z * exact.cos(t)) - exact.exp(e - z * exact.cos(t)))

    # 1 + share sin^2 is (rho + sin^2) / rho with rho = 1 / share, hence the factor in the closed form.
    top = exact.acos(e / exact.mpf(ratio))
    return exact.quad(integrand, exact.linspace(0, top, 4 + dimension // 20)) / whole


def in_one_dimension(ratio: float, epsilon: float):
    return 1 - exact.exp((exact.mpf(epsilon) - exact.mpf(ratio)) / 2)


# Ratios that are calibrated to deltas from 0.3 down to 1e-30, and two that are not calibrated to anything.
def cases(dimension: int) -> list[tuple[float, float]]:
    budgets = [(0.1, 1e-6), (1.0, 0.3), (1.0, 1e-5), (1.0, 1e-12), (4.0, 1e-9), (30.0, 1e-5), (1.0, 1e-30)]
    found = [(largest_ratio(epsilon, delta, dimension), epsilon) for epsilon, delta in budgets]
    return [pair for pair in found if pair[0] > pair[1] * (1 + 1e-9)] + [(0.02, 0.0), (7.0, 0.5)]


# The integral is the same polynomial of higher degree, over a longer range, in more dimensions.
@pytest.mark.parametrize(
    ("dimension", "every"), [(5, 3), *(pytest.param(more, 1, marks=pytest.mark.statistics) for more in (3, 5, 11, 31))]
)
def test_curve_is_the_integral_over_the_radius(dimension, every):
    for ratio, epsilon in cases(dimension)[::every]:
        curve = SphericalCurve(ratio, dimension)
        truth = by_radius(ratio, epsilon, dimension)
        # The level is two doubles up, which a tiny gap feels.
        slack = promised(curve, epsilon) + dimension * 2.0**-50 * ratio / (ratio - epsilon)
        assert truth <= curve.delta(epsilon) <= truth * (1 + 2 * slack), (ratio, epsilon)


@pytest.mark.parametrize(
    "dimension", [2, 3, 10, *(pytest.param(more, marks=pytest.mark.statistics) for more in (4, 109, 784))]
)
def test_curve_is_the_integral_over_the_angle(dimension):
    for ratio, epsilon in cases(dimension):
        curve = SphericalCurve(ratio, dimension)
        truth = by_angle(ratio, epsilon, dimension)
        slack = promised(curve, epsilon) + dimension * 2.0**-50 * ratio / (ratio - epsilon)
        assert truth <= curve.delta(epsilon) <= truth * (1 + 2 * slack), (ratio, epsilon)


@pytest.mark.parametrize("ratio", [1e-9, 0.1, 1.0, 5.0, 40.0, 700.0])
def test_curve_in_one_dimension_is_the_closed_form(ratio):
    curve = SphericalCurve(ratio, 1)
    for share in (0.0, 0.1, 0.5, 0.9, 0.999, 1 - 1e-9):
        truth = in_one_dimension(ratio, share * ratio)
        assert truth <= curve.delta(share * ratio) <= truth * (1 + 1e-6 * (share == 1 - 1e-9) + exact.mpf(1e-10))


@pytest.mark.parametrize("count", [10, pytest.param(60, marks=pytest.mark.statistics)])
def test_random_curves_never_fall_below_the_truth(count):
    # The margin is for the worst of all requests; in these the evaluation uses a twentieth of it at most.
    generator = np.random.default_rng(11)
    for _ in range(count):
        dimension = int(generator.integers(2, 60))
        epsilon = float(10.0 ** generator.uniform(-3, 1.5))
        ratio = epsilon * float(1 + 10.0 ** generator.uniform(-4, 1.5))
        curve = SphericalCurve(ratio, dimension)
        truth = by_angle(curve.level, epsilon, dimension)
        if 1e-30 < truth < 0.99:
            evaluated = curve.delta(epsilon) / (1 + promised(curve, epsilon))
            assert truth <= curve.delta(epsilon)
            assert abs(evaluated / truth - 1) <= promised(curve, epsilon) / 20


def exact_rule(points: int):
    """Yield the nodes and weights of Gauss and Legendre in extended precision."""
    for count in range(points):
        node = exact.cos(exact.pi * (count + exact.mpf(3) / 4) / (points + exact.mpf(1) / 2))
        for _ in range(12):
            before, here = exact.mpf(1), node
            for degree in range(2, points + 1):
                before, here = here, ((2 * degree - 1) * node * here - (degree - 1) * before) / degree
            slope = points * (before - node * here) / (1 - node * node)
            node -= here / slope
        yield node, 2 / ((1 - node * node) * slope**2)


def test_the_rule_is_as_exact_as_the_page_says():
    # docs/proofs/D6.md: nodes to a unit or two, weights to a relative 1e-14.
    for (node, weight), (true_node, true_weight) in zip(rule(), exact_rule(len(rule())), strict=True):
        assert abs(node - true_node) <= 2.0**-52
        assert abs(weight / true_weight - 1) <= 1e-14


def test_bessel_ratio():
    for dimension, argument in itertools.product((2, 3, 4, 9, 110, 785), (1e-6, 0.3, 1.0, 20.0, 1e4)):
        truth = exact.besselk(exact.mpf(dimension) / 2, argument) / exact.besselk(
            exact.mpf(dimension) / 2 - 1, argument
        )
        assert bessel_ratio(dimension, argument) == pytest.approx(float(truth), rel=1e-14)


# --- the table, and draws ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dimension", TABLE)
def test_catalogue_table(dimension):
    for printed, budget in zip(TABLE[dimension], (Budget(1.0, 1e-5), Budget(0.1, 1e-6)), strict=True):
        digits = len(printed.split(".")[1])
        assert f"{SPHERICAL.scale_for(1.0, dimension, budget):.{digits}f}" == printed


def frequency_interval(count: int, total: int, failure: float) -> tuple[float, float]:
    """Return the Clopper-Pearson interval that misses the probability with at most this probability."""
    low = scipy.stats.beta.ppf(failure / 2, count, total - count + 1) if count else 0.0
    high = scipy.stats.beta.isf(failure / 2, count + 1, total - count) if count < total else 1.0
    return float(low), float(high)


@pytest.mark.parametrize("dimension", [1, 2, 3, 10, 109, 785])
def test_divergence_of_draws_is_that_of_the_curve(dimension, witness):
    # The event {loss > epsilon} has the largest P - e^epsilon P'. Draws of the radius and of one coordinate of the
    # direction suffice. Twelve intervals at 1e-7 each: a true curve fails with probability 1e-6 on fresh draws.
    total, failure = 1_000_000, 1e-7
    generator = np.random.default_rng(dimension)
    ratio = 2.0 * math.sqrt((dimension + 1) / 2)
    radius = generator.gamma(dimension, size=(2, total))
    normal = generator.standard_normal((2, total))
    others = 2 * generator.gamma((dimension - 1) / 2, size=(2, total)) if dimension > 1 else 0.0
    along = radius * normal / np.sqrt(normal**2 + others)
    # The distance to the other centre, from the first centre and from the second.
    distance = np.sqrt(radius**2 - 2 * ratio * along + ratio**2)
    losses = np.array([distance[0] - radius[0], radius[1] - distance[1]])
    for epsilon in (0.0, 0.3, 1.0):
        counts = (losses > epsilon).sum(axis=1)
        here, there = (frequency_interval(int(count), total, failure) for count in counts)
        claimed = SphericalCurve(ratio, dimension).delta(epsilon)
        low, high = here[0] - math.exp(epsilon) * there[1], here[1] - math.exp(epsilon) * there[0]
        witness("D6", claimed, low, f"{dimension} weights: delta, at least", over=("epsilon", epsilon))
        assert low <= claimed <= high, (epsilon, low, claimed, high)
        assert high - low < 0.01 * math.exp(epsilon)
        assert claimed > 0.1


# --- shape ------------------------------------------------------------------------------------------------------------

EPSILONS = (0.0, *np.geomspace(1e-6, 1e3, 28).tolist())


@pytest.mark.parametrize("dimension", [*DIMENSIONS, LARGEST_DIMENSION, LARGEST_DIMENSION + 1, 4_000_000])
def test_curve_stays_between_zero_and_the_pure_curve(dimension):
    for ratio in (1e-9, 1e-3, 0.5, 1.0, 3.0, 20.0, 300.0):
        curve = SphericalCurve(ratio, dimension, rounding_epsilon(dimension))
        for epsilon in (*EPSILONS, *(curve.level * share for share in (0.3, 0.9, 0.999, 1 - 1e-12, 1.0, 1.5))):
            assert 0 <= curve.delta(epsilon) <= PureCurve(curve.level).delta(epsilon)
        assert curve.delta(curve.level) == 0.0
        assert curve.delta(math.nextafter(curve.level, 0.0)) > 0.0
        assert ratio + rounding_epsilon(dimension) < curve.level <= (ratio + rounding_epsilon(dimension)) * (1 + 5e-16)


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_curve_falls_with_epsilon_and_grows_with_the_shift(dimension):
    ratios = np.geomspace(1e-3, 100.0, 24).tolist()
    table = np.array([[SphericalCurve(ratio, dimension).delta(epsilon) for epsilon in EPSILONS] for ratio in ratios])
    # Where delta is nearly 1, the margin depends on epsilon more than delta does.
    assert (np.diff(table, axis=1) <= 1e-11 * (table[:, 1:] > 0.99)).all()
    assert (np.diff(table, axis=0) >= -1e-11 * (table[1:] > 0.99)).all()


def test_curve_falls_with_the_dimension_and_tends_to_the_gaussian_one():
    deviations = 4.0
    for epsilon in (0.0, 0.5, 1.0):
        values = [SphericalCurve(2.0, dimension).delta(epsilon) for dimension in range(1, 60)]
        assert all(later < earlier for earlier, later in itertools.pairwise(values))
        # At equal standard deviation.
        near = SphericalCurve(math.sqrt(LARGEST_DIMENSION + 1) / deviations, LARGEST_DIMENSION).delta(epsilon)
        assert near == pytest.approx(GaussianCurve(1 / deviations).delta(epsilon), rel=5e-3)


def test_rounding_is_paid_with_epsilon_and_below_its_price_with_delta():
    price = 0.01
    for dimension, epsilon in itertools.product((1, 2, 10), (0.01, 0.1, 1.0)):
        plain = SphericalCurve(1.5, dimension).delta(epsilon - price)
        assert SphericalCurve(1.5, dimension, price).delta(epsilon) == pytest.approx(math.exp(price) * plain, rel=1e-10)
    at_zero = SphericalCurve(1.5, 10, price).delta(0.0)
    assert at_zero == pytest.approx(math.exp(price) * (SphericalCurve(1.5, 10).delta(0.0) + price), rel=1e-10)


def test_laws_within_a_factor_obey_the_rounding_lemma():
    # docs/proofs/D6.md: P~ <= e^above P and P~' >= e^-below P' pointwise cost e^above, and above + below of epsilon.
    generator = np.random.default_rng(3)

    def divergence(first, second, epsilon):
        return float(np.maximum(first - math.exp(epsilon) * second, 0.0).sum())

    for _ in range(300):
        first, second = generator.dirichlet(np.ones(6), size=2)
        moved = [law * np.exp(generator.uniform(-0.2, 0.2, size=6)) for law in (first, second)]
        moved = [law / law.sum() for law in moved]
        above, below = np.log(moved[0] / first).max(), np.log(second / moved[1]).max()
        for epsilon in (0.0, 0.1, 0.5, 1.0):
            shifted = epsilon - above - below
            bound = divergence(first, second, max(shifted, 0.0)) + max(-shifted, 0.0)
            assert divergence(*moved, epsilon) <= math.exp(above) * bound + 1e-12


def test_curve_refuses_what_is_no_law():
    for wrong in ((0.0, 3), (math.nan, 3), (math.inf, 3), (1.0, 0), (1.0, 3, -1.0)):
        with pytest.raises(InvalidParameter):
            SphericalCurve(*wrong)
    with pytest.raises(InvalidParameter):
        SphericalCurve(1.0, 3).delta(-0.1)


@pytest.mark.parametrize("dimension", [1, 2, 109, LARGEST_DIMENSION])
def test_extreme_arguments_get_an_answer(dimension):
    for ratio in (1e-300, 1e-100, 1e4, 1e8, 1e15):
        curve = SphericalCurve(ratio, dimension)
        for epsilon in (0.0, ratio / 2, ratio * (1 - 1e-9), max(ratio - LARGEST_GAP / 10, 0.0), ratio):
            assert 0 <= curve.delta(epsilon) <= 1


# --- calibration ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("delta", [1e-30, 1e-12, 1e-5, 0.1, 0.9, 1 - 1e-9])
@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 30.0, 1e3])
@pytest.mark.parametrize("dimension", [1, 2, 31, 785])
def test_largest_ratio_is_verified_and_not_wasteful(dimension, epsilon, delta):
    ratio = largest_ratio(epsilon, delta, dimension, rounding_epsilon(dimension))
    assert ratio >= (epsilon - rounding_epsilon(dimension)) * (1 - 1e-14)
    assert SphericalCurve(ratio, dimension, rounding_epsilon(dimension)).delta(epsilon) <= delta
    # A planner takes a fiftieth more than the check's margin.
    assert cautious(ratio * (1 + 1e-6), dimension, 0.0).delta(epsilon) > delta
    assert ROUNDING < cautious(ratio, dimension, 0.0).error <= 1.03 * ROUNDING


def test_largest_ratio_is_none_or_pure_at_the_edges():
    assert largest_ratio(1e-18, 0.5, 1000, rounding_epsilon(1000)) == 0.0
    assert largest_ratio(1.0, 0.0, 10) == pytest.approx(1.0, rel=1e-14)
    assert largest_ratio(1.0, 1.0, 10) == 0.0
    for dimension in (LARGEST_DIMENSION + 1, 4_000_000):
        assert largest_ratio(1.0, 1e-5, dimension) == pytest.approx(1.0, rel=1e-4)


def test_largest_ratio_is_remembered_for_every_sensitivity():
    budget = Budget(0.777, 3e-7)
    SPHERICAL.scale_for(1.0, 12, budget)
    before = largest_ratio.cache_info().misses
    scales = [SPHERICAL.scale_for(sensitivity, 12, budget) / sensitivity for sensitivity in np.geomspace(1e-9, 1e9, 30)]
    assert largest_ratio.cache_info().misses == before
    assert max(scales) <= min(scales) * (1 + 1e-13)


def test_pure_scale_is_what_it_was():
    for sensitivity, dimension, epsilon in itertools.product(
        (1e-9, 0.3, 1e6), (1, 3, 1000, 4_000_000), (1e-3, 1.0, 50.0)
    ):
        level = epsilon - dimension * 2.0**-56
        expected = math.nextafter(sensitivity / level * (1 + 1e-15), math.inf)
        assert SPHERICAL.scale_for(sensitivity, dimension, Budget(epsilon)) == expected
        assert SPHERICAL.law.curve(sensitivity, dimension, expected).delta(epsilon) == 0.0


def test_a_delta_never_costs_noise():
    for dimension, epsilon in itertools.product((1, 2, 16, 300, 25_000), (1e-3, 1.0, 20.0)):
        scales = [
            SPHERICAL.scale_for(1.0, dimension, Budget(epsilon, delta)) for delta in (0.0, 1e-200, 1e-30, 1e-9, 0.2)
        ]
        assert scales == sorted(scales, reverse=True)


# --- the choice -------------------------------------------------------------------------------------------------------


def test_spherical_noise_is_chosen_over_gaussian_up_to_a_hundred_and_nine_weights():
    budget = Budget(1.0, 1e-5)
    # With one weight the law is that of OpenDP's Laplace noise, which is preferred where it is as good.
    assert quietest(1.0, 1, budget).law == "laplace"
    for dimension in range(2, 110):
        assert quietest(1.0, dimension, budget).law == "spherical-laplace"
    share = [SPHERICAL.deviation(SPHERICAL.scale_for(1.0, d, budget), d) * largest_mu(1.0, 1e-5) for d in TABLE]
    assert [round(value, 3) for value in share[:4]] == [0.464, 0.776, 0.917, 0.975]
    assert round(share[4], 4) == 0.9965


def test_the_choice_is_always_the_smallest_deviation_to_a_thousandth():
    for dimension, epsilon, delta in itertools.product((1, 3, 109, 30_000), (0.01, 1.0, 20.0), (0.0, 1e-9, 1e-5, 0.1)):
        budget = Budget(epsilon, delta)
        choices = calibrations(0.7, dimension, budget)
        assert choices[0] == quietest(0.7, dimension, budget)
        # Laws that differ by less than a thousandth count as equal, and names decide.
        assert choices[0].deviation <= min(choice.deviation for choice in choices) * (1 + 1e-3)
        for choice in choices:
            assert laws.named(choice.law).curve(0.7, dimension, choice.scale).delta(epsilon) <= delta


def test_gaussian_noise_is_chosen_beyond_the_largest_dimension():
    assert quietest(1.0, LARGEST_DIMENSION + 1, Budget(1.0, 1e-5)).law == "gaussian"
    assert quietest(1.0, 4_000_000, Budget(1.0, 1e-5)).law == "gaussian"
