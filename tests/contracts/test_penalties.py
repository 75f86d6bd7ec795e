"""The contract of every penalty: its derivatives are derivatives, and nothing exceeds a constant it states.

A penalty is a pair: its names and constants in the vocabulary, its arithmetic on weights in `solve`.
"""

import dataclasses
import math

import mpmath
import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays as drawn_arrays
from scipy.optimize import minimize_scalar

from equipoise.errors import InvalidParameter, UnknownName
from equipoise.planning.penalties import known
from equipoise.solve import penalties as partners
from equipoise.solve.column_ridge import ColumnRidge
from equipoise.solve.penalties import PenaltyArrays, arrays_of
from equipoise.solve.penalties.bridge import TINY
from equipoise.vocabulary import penalties
from equipoise.vocabulary.penalties.bridge import REGION, Bridge
from equipoise.vocabulary.penalties.elastic_net import ElasticNet
from equipoise.vocabulary.penalties.l2 import L2
from hunting import hunted

# Every member, with parameters at their ends and in between; a bare name stands for the default.
NAMES = sorted(
    {
        *penalties.members(),
        *(f"elastic-net:{ratio}" for ratio in (0.0, 0.99)),
        *(f"bridge:{power}" for power in (1.01, 2.0)),
    }
)
every_penalty = pytest.mark.parametrize("name", NAMES)
# Examples of a hunt in the fast lane and in the slow one.
FEW, MANY = 30, 100

UNIT_ROUNDOFF = 2.0**-53
# A hundred roundings of a dot product of at most four terms.
ROUNDING = 1 + 1e-14

DIMENSION = 4
strengths = st.floats(1e-6, 1e4)
steps = st.floats(1e-3, 1e3)
entries = st.floats(-1e3, 1e3)
vectors = drawn_arrays(np.float64, DIMENSION, elements=entries)


def penalty_named(name: str, alpha: float) -> penalties.Penalty:
    return penalties.named(name, 0.0 if name == "none" else alpha)


def size_of(*weights: np.ndarray) -> float:
    return max(1.0, *(float(np.linalg.norm(vector)) for vector in weights))


def smooth_value(arrays: PenaltyArrays, weights: np.ndarray) -> float:
    # The smooth part is a quadratic around 0 for every member; the test of `add_curvature` would say if not.
    return float(arrays.gradient(weights) @ weights) / 2


def kinked_value(arrays: PenaltyArrays, weight: float) -> float:
    weights = np.array([weight])
    return arrays.value(weights) - smooth_value(arrays, weights)


@every_penalty
@hunted(FEW, MANY, alpha=strengths, weights=vectors, direction=vectors)
def test_gradient_lies_between_the_differences_on_both_sides(name, alpha, weights, direction):
    # Convexity squeezes the directional slope between backward and forward differences; the rest is rounding. With a
    # kinked part, whose slope along the step the differences must contain as well, what is left is the smooth part.
    penalty = penalty_named(name, alpha)
    arrays = arrays_of(penalty)
    norm = float(np.linalg.norm(direction))
    if norm < 1e-3:
        direction, norm = np.eye(DIMENSION)[0], 1.0
    step = 2.0**-13 * size_of(weights) / norm * direction
    length = float(np.linalg.norm(step))
    points = (weights, weights + step, weights - step)
    value = (lambda point: smooth_value(arrays, point)) if penalty.kinked else arrays.value
    here, ahead, behind = map(value, points)
    slope = float(arrays.gradient(weights) @ step)
    # A value is a sum of terms of at most this size, computed in a handful of roundings.
    noise = 32 * UNIT_ROUNDOFF * known(penalty).largest(size_of(weights) + length, DIMENSION)
    assert here - behind - noise <= slope <= ahead - here + noise
    assert ahead - 2 * here + behind <= penalty.smoothness() * length**2 + 2 * noise


@every_penalty
@hunted(FEW, MANY, alpha=strengths, weights=vectors)
def test_add_curvature_adds_the_differences_of_gradients(name, alpha, weights):
    penalty = penalty_named(name, alpha)
    arrays = arrays_of(penalty)
    base = np.arange(float(DIMENSION**2)).reshape(DIMENSION, DIMENSION)
    hessian = base.copy()
    arrays.add_curvature(hessian)
    step = 2.0**-10 * size_of(weights)
    columns = [
        (arrays.gradient(weights + step * axis) - arrays.gradient(weights - step * axis)) / (2 * step)
        for axis in np.eye(DIMENSION)
    ]
    smoothness = penalty.smoothness()
    noise = 16 * UNIT_ROUNDOFF * (smoothness * (size_of(weights) + step) / step + base.max() + smoothness)
    added = hessian - base
    assert np.abs(added - np.array(columns).T).max() <= noise
    assert abs(np.linalg.eigvalsh(added).max() - smoothness) <= noise


@every_penalty
@hunted(FEW, MANY, alpha=strengths, first=vectors, second=vectors, share=st.floats(0.0, 1.0))
def test_strong_convexity_holds_between_any_two_points_of_a_ball(name, alpha, first, second, share):
    penalty = penalty_named(name, alpha)
    arrays = arrays_of(penalty)
    radius = float(max(np.linalg.norm(first), np.linalg.norm(second))) * ROUNDING
    middle = share * first + (1 - share) * second
    gap = share * (1 - share) * float(np.sum((first - second) ** 2)) * penalty.strong_convexity(radius) / 2
    chord = share * arrays.value(first) + (1 - share) * arrays.value(second)
    noise = 64 * UNIT_ROUNDOFF * known(penalty).largest(size_of(first, second), DIMENSION)
    assert arrays.value(middle) <= chord - gap + noise


@every_penalty
@pytest.mark.parametrize("alpha", [1e-3, 0.5, 7.0])
@pytest.mark.parametrize("radius", [0.1, 1.0, 30.0])
def test_strong_convexity_is_attained_at_the_end_of_the_ball(name, alpha, radius):
    # Smaller would cost noise: at R e1 the penalty curves no more than stated. Larger would be no bound.
    penalty = penalty_named(name, alpha)
    arrays = arrays_of(penalty)
    step = 1e-3 * radius
    here, near, far = (arrays.value(np.array([size, 0.0])) for size in (radius - step, radius - 2 * step, radius))
    curvature = (near + far - 2 * here) / step**2
    noise = 64 * UNIT_ROUNDOFF * arrays.value(np.array([radius, 0.0])) / step**2
    assert abs(curvature - penalty.strong_convexity(radius)) <= 2e-3 * penalty.strong_convexity(radius) + noise


@every_penalty
@hunted(FEW, MANY, radius=st.floats(0.0, 1e3), more=st.floats(0.0, 10.0))
def test_strong_convexity_never_grows_with_the_ball(name, radius, more):
    penalty = penalty_named(name, 0.5)
    larger, everywhere = radius * (1 + more), penalty.strong_convexity(math.inf)
    assert everywhere <= penalty.strong_convexity(larger) <= penalty.strong_convexity(radius)


@every_penalty
@hunted(FEW, MANY, alpha=strengths, weights=vectors, other=vectors, step=steps)
def test_a_proximal_step_ends_at_a_subgradient_of_the_whole(name, alpha, weights, other, step):
    # What A4 rests on: (w - v)/step is a subgradient of the kinked part at v = prox(w), gradient(v) is that of the
    # smooth part, and the whole penalty lies above the parabola that they and its strong convexity draw.
    penalty = penalty_named(name, alpha)
    arrays = arrays_of(penalty)
    end = arrays.prox(weights, step)
    apart = other - end
    radius = float(max(np.linalg.norm(end), np.linalg.norm(other))) * ROUNDING
    linear = (weights - end) / step + arrays.gradient(end)
    below = arrays.value(end) + float(linear @ apart) + penalty.strong_convexity(radius) / 2 * float(apart @ apart)
    length = float(np.linalg.norm(apart))
    # 16 roundings of w in the equation that the prox solves (docs/proofs/A4.md), and those of the values.
    noise = 20 * UNIT_ROUNDOFF * float(np.linalg.norm(weights)) / step * length
    noise += (
        64 * UNIT_ROUNDOFF * (known(penalty).largest(size_of(end, other), DIMENSION) + np.linalg.norm(linear) * length)
    )
    assert below <= arrays.value(other) + noise


@every_penalty
@hunted(FEW, MANY, alpha=strengths, weight=entries, step=steps)
def test_prox_is_the_minimiser(name, alpha, weight, step):
    penalty = penalty_named(name, alpha)
    arrays = arrays_of(penalty)
    (end,) = arrays.prox(np.array([weight]), step).tolist()

    def cost(point: float) -> float:
        return (point - weight) ** 2 / (2 * step) + kinked_value(arrays, point)

    low, high = min(weight, 0.0), max(weight, 0.0)
    assert low <= end <= high
    searched = (
        float(minimize_scalar(cost, bounds=(low, high), method="bounded", options={"xatol": 1e-9}).x) if weight else 0.0
    )
    # A search by values resolves half the digits; the cost itself all of them, unless a square is below normal numbers.
    noise = 1e-13 * (cost(0.0) + arrays.value(np.array([weight]))) + np.finfo(float).tiny
    assert cost(end) <= min(cost(searched), cost(0.0), cost(weight)) + noise
    assert (end - searched) ** 2 / (2 * step) <= max(0.0, cost(searched) - cost(end)) + noise


@every_penalty
@hunted(FEW, MANY, alpha=strengths, first=vectors, second=vectors, step=steps)
def test_prox_brings_points_no_further_apart(name, alpha, first, second, step):
    penalty = penalty_named(name, alpha)
    arrays = arrays_of(penalty)
    ends = arrays.prox(first, step) - arrays.prox(second, step)
    # Roundings of w are amplified by 1/(p - 1) at most, the condition number of the bridge's equation.
    noise = 64 * UNIT_ROUNDOFF / getattr(penalty, "power", 2.0) * size_of(first, second)
    noise /= getattr(penalty, "power", 2.0) - 1
    assert np.linalg.norm(ends) <= np.linalg.norm(first - second) + noise


@every_penalty
@hunted(FEW, MANY, alpha=strengths, weights=vectors, step=steps)
def test_prox_is_odd_and_keeps_its_argument(name, alpha, weights, step):
    penalty = penalty_named(name, alpha)
    arrays = arrays_of(penalty)
    before = weights.copy()
    assert np.array_equal(arrays.prox(weights, step), -arrays.prox(-weights, step))
    assert np.array_equal(weights, before)


@hunted(
    FEW,
    MANY,
    alpha=st.floats(1e-12, 1e6),
    power=st.floats(1.0, 2.0, exclude_min=True) | st.floats(-52, 0).map(lambda digits: 1 + 2.0**digits),
    weight=st.floats(1e-12, 1e12),
    step=st.floats(1e-6, 1e6),
)
def test_the_bridges_prox_solves_its_equation_to_the_rounding_that_its_proof_counts(alpha, power, weight, step):
    (end,) = arrays_of(Bridge(alpha, power)).prox(np.array([weight]), step).tolist()
    with mpmath.workdps(60):

        def excess(root: float) -> mpmath.mpf:
            return (
                mpmath.mpf(root)
                + mpmath.mpf(step) * alpha * power * mpmath.mpf(root) ** (mpmath.mpf(power) - 1)
                - weight
            )

        if end > TINY:
            assert abs(excess(end)) <= 16 * mpmath.mpf(UNIT_ROUNDOFF) * weight
        else:  # the root is as tiny as that, if it is a double at all
            assert excess(TINY) >= -16 * mpmath.mpf(UNIT_ROUNDOFF) * weight


def test_the_elastic_nets_prox_puts_weights_at_exactly_zero():
    ends = arrays_of(ElasticNet(2.0, 0.5)).prox(np.array([1.0, -1.0, 0.5, -0.25, 3.0, -4.0]), 1.0)
    assert ends.tolist() == [0.0, 0.0, 0.0, 0.0, 2.0, -3.0]
    assert not np.signbit(ends[:5]).any()


@every_penalty
@hunted(FEW, MANY, alpha=strengths, weights=vectors, extra=st.floats(0.0, 10.0))
def test_no_weights_exceed_the_slope_bound_or_the_largest_value(name, alpha, weights, extra):
    penalty = penalty_named(name, alpha)
    arrays = arrays_of(penalty)
    # A norm that does not underflow: the penalties themselves do not square.
    radius = math.hypot(*weights.tolist()) * (1 + extra)
    assert math.hypot(*arrays.gradient(weights).tolist()) <= known(penalty).slope_bound(radius) * ROUNDING
    assert arrays.value(weights) <= known(penalty).largest(radius, DIMENSION) * ROUNDING


@every_penalty
@pytest.mark.parametrize("alpha", [1e-3, 0.5, 7.0])
@pytest.mark.parametrize("radius", [0.1, 1.0, 30.0])
def test_slope_bound_and_largest_are_reached_on_the_sphere(name, alpha, radius):
    # A loose bound would cost noise; the supremum is attained at some point of the sphere, tried over many of them.
    penalty = penalty_named(name, alpha)
    arrays = arrays_of(penalty)
    points = np.random.default_rng(0).normal(size=(500, DIMENSION))
    points = np.vstack([points, np.eye(DIMENSION), np.ones(DIMENSION)])
    points *= radius / np.linalg.norm(points, axis=1, keepdims=True)
    step = 1e-6 * radius
    slopes = [
        math.hypot(
            *(
                (arrays.value(point + axis) - arrays.value(point - axis)) / (2 * step)
                for axis in step * np.eye(DIMENSION)
            )
        )
        for point in points
    ]
    bound = known(penalty).slope_bound(radius)
    assert max(slopes) <= bound * (1 + 1e-6)
    assert max(slopes) >= 0.999 * bound or math.isinf(bound)
    assert max(arrays.value(point) for point in points) >= 0.999 * known(penalty).largest(radius, DIMENSION)


@every_penalty
def test_an_infinite_slope_bound_means_a_slope_that_grows_with_the_dimension(name):
    penalty = penalty_named(name, 1.0)
    arrays = arrays_of(penalty)
    slopes = []
    for dimension in (1, 10**6):
        point = np.full(dimension, 1 / math.sqrt(dimension))
        slopes.append((arrays.value(1.001 * point) - arrays.value(0.999 * point)) / 0.002)
    assert math.isinf(known(penalty).slope_bound(1.0)) == (slopes[1] > 1.05 * slopes[0])


@every_penalty
@hunted(FEW, MANY, alpha=strengths, weights=vectors)
def test_the_minimum_is_zero_at_the_origin(name, alpha, weights):
    # Lemma R (docs/proofs/A2.md) bounds every minimiser's norm by the penalty's minimum lying at 0.
    penalty = penalty_named(name, alpha)
    arrays = arrays_of(penalty)
    origin = np.zeros(DIMENSION)
    assert arrays.value(origin) == 0
    assert not arrays.gradient(origin).any()
    assert not arrays.prox(origin, 1.0).any()
    assert arrays.value(weights) >= 0


@every_penalty
@hunted(FEW, MANY, alpha=strengths, slope=st.floats(1e-3, 1e3), row_norm=st.floats(1e-2, 1e2))
def test_no_minimiser_lies_outside_the_stated_radius(name, alpha, slope, row_norm):
    # Linear losses -slope <x, w> in one dimension pull as hard as any: pull(reach) = slope reach, here up to
    # 1e12, where the iteration starts. Weights that reach further are not tried.
    penalty = penalty_named(name, alpha)
    arrays = arrays_of(penalty)
    radius = penalty.minimiser_radius(lambda reach: slope * min(reach, 1e12), row_norm)
    assert math.isinf(radius) == (name == "none")
    furthest = min(20 * radius, 1e12 / row_norm)
    # The radius is among the points: a convex cost whose minimum lies within is higher at every point beyond.
    points = np.union1d(np.linspace(0.0, furthest, 401), [min(radius, furthest)])
    costs = [arrays.value(np.array([point])) - slope * row_norm * point for point in points]
    assert name == "none" or points[int(np.argmin(costs))] <= radius * ROUNDING


@pytest.mark.parametrize("power", [1.2, 1.5, 2.0])
def test_the_bridges_radius_is_that_of_a_minimiser_and_a_thousandth(power):
    # alpha |w|^p - c w has its minimum where alpha p w^(p - 1) = c, and there alpha p w^p = c w = pull.
    penalty = Bridge(0.5, power)
    minimiser = (2.0 / (0.5 * power)) ** (1 / (power - 1))
    # A bounded pull stands in for one that grows with the reach, where the iteration starts from infinity.
    radius = penalty.minimiser_radius(lambda reach: 2.0 * min(reach, 1e12), 1.0)
    assert radius == pytest.approx(REGION * minimiser, rel=1e-6)


@pytest.mark.parametrize("alpha", [1e-100, 1.0, 1e100])
@pytest.mark.parametrize("power", [math.nextafter(1.0, 2.0), 1.5, 2.0])
def test_the_bridges_constants_stay_numbers_at_the_ends_of_their_range(alpha, power):
    penalty = Bridge(alpha, power)
    radius = penalty.minimiser_radius(lambda reach: 0.2 * min(reach, 1.0), 1.0)
    assert 0 < radius < math.inf
    assert 0 < penalty.strong_convexity(radius) < math.inf


def test_elastic_net_attains_the_bound_that_ignores_its_kinked_part(witness):
    # F1 and A1: losses rho z w with z = +-1 in one dimension; the minimiser is soft(-rho mean(z), l1)/mu. One
    # replaced row moves it by exactly 2 rho/(n mu) as long as it stays on one side of 0.
    penalty, n_samples, rho = ElasticNet(0.3, 0.4), 10, 5.0
    mu = penalty.strong_convexity(math.inf)
    means = np.array([-1.0, -0.8])
    first, second = arrays_of(penalty).prox(-rho * means / mu, 1 / mu)
    witness("F1", 2 * rho / (n_samples * mu), first - second, "straight loss, 10 rows, one side of 0")
    assert first - second == pytest.approx(2 * rho / (n_samples * mu), rel=1e-14)


@every_penalty
@pytest.mark.parametrize("alpha", [0.0, -1.0, math.inf, math.nan, "0.1", None, True])
def test_a_strength_without_meaning_is_refused_with_a_remedy(name, alpha):
    if name == "none" and alpha == 0 and alpha is not None:
        assert penalties.named(name, alpha).alpha == 0
        return
    with pytest.raises(InvalidParameter, match="to do: pass"):
        penalties.named(name, alpha)


@pytest.mark.parametrize("alpha", [1e-300, 0.5])
def test_no_penalty_ignores_no_strength(alpha):
    with pytest.raises(InvalidParameter, match=r"pass alpha=0\.0 with penalty none"):
        penalties.named("none", alpha)


@pytest.mark.parametrize("parameter", ["1.0", "2.0", "-0.1", "nan", "inf"])
def test_an_elastic_net_without_a_ridge_is_refused_with_a_remedy(parameter):
    with pytest.raises(InvalidParameter, match="to do: pass an l1_ratio"):
        penalties.named(f"elastic-net:{parameter}", 0.5)


@pytest.mark.parametrize("parameter", ["1.0", "2.1", "0.5", "nan", "-inf"])
def test_a_bridge_outside_its_powers_is_refused_with_a_remedy(parameter):
    with pytest.raises(InvalidParameter, match="to do: pass a power"):
        penalties.named(f"bridge:{parameter}", 0.5)


@pytest.mark.parametrize("parameter", [True, "0.5", None])
def test_a_parameter_that_is_no_number_is_refused(parameter):
    with pytest.raises(InvalidParameter, match="to do: pass"):
        ElasticNet(0.5, parameter)
    with pytest.raises(InvalidParameter, match="to do: pass"):
        Bridge(0.5, parameter)


@every_penalty
@hunted(FEW, MANY, alpha=strengths)
def test_a_name_leads_back_to_its_penalty(name, alpha):
    penalty = penalty_named(name, alpha)
    again = penalties.named(penalty.name, penalty.alpha)
    assert again == penalty
    assert dataclasses.asdict(again) == dataclasses.asdict(penalty)


def test_numpy_scalars_become_plain_numbers():
    assert repr(ElasticNet(np.float64(0.5), np.float64(0.25))) == "ElasticNet(alpha=0.5, l1_ratio=0.25)"
    assert repr(Bridge(np.float32(0.5), np.float64(1.25))) == "Bridge(alpha=0.5, power=1.25)"


@every_penalty
def test_gradient_leaves_its_argument_alone(name):
    weights = np.array([1.0, -2.0, 3.0])
    arrays_of(penalty_named(name, 0.5)).gradient(weights)[:] = 0
    assert weights.tolist() == [1.0, -2.0, 3.0]


def test_every_penalty_has_a_partner_of_its_own_that_works_on_weights():
    assert set(partners.members()) == set(penalties.members().values())


def test_a_penalty_without_a_partner_is_told_which_file_to_write():
    class Lonely(L2):
        """A penalty that nobody wrote the arrays of."""

    with pytest.raises(UnknownName, match=r"of Lonely.*of = Lonely.*write src/equipoise/solve/penalties/\w+\.py"):
        arrays_of(Lonely(1.0))


@hunted(
    FEW,
    MANY,
    alpha=strengths,
    weights=vectors,
    added=drawn_arrays(np.float64, DIMENSION, elements=st.floats(0.0, 1e3)),
)
def test_a_column_ridge_is_a_ridge_on_stretched_columns(alpha, weights, added):
    penalty = ColumnRidge(L2(alpha), added)
    rows = np.sqrt(alpha + added)
    hessian = np.zeros((DIMENSION, DIMENSION))
    penalty.add_curvature(hessian)
    assert penalty.value(weights) == pytest.approx(float(np.square(rows * weights).sum()) / 2, rel=1e-12)
    np.testing.assert_allclose(penalty.gradient(weights), rows**2 * weights, rtol=1e-12)
    np.testing.assert_allclose(hessian, np.diag(rows**2), rtol=1e-12)
    np.testing.assert_array_equal(penalty.prox(weights, 1.0), weights)
