"""The contract of every penalty: its derivatives are derivatives, and nothing exceeds a constant it states."""

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from equipoise.errors import InvalidParameter
from equipoise.vocabulary import penalties

every_penalty = pytest.mark.parametrize("name", sorted(penalties.members()))
# How long a loaded machine takes to draw examples is no fact about the code.
hunted = settings(derandomize=True, deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])

UNIT_ROUNDOFF = 2.0**-53
# A hundred roundings of a dot product of at most four terms.
ROUNDING = 1 + 1e-14

DIMENSION = 4
strengths = st.floats(1e-6, 1e4)
entries = st.floats(-1e3, 1e3)
vectors = arrays(np.float64, DIMENSION, elements=entries)


def size_of(*weights: np.ndarray) -> float:
    return max(1.0, *(float(np.linalg.norm(vector)) for vector in weights))


@every_penalty
@hunted
@given(alpha=strengths, weights=vectors, direction=vectors)
def test_gradient_lies_between_the_differences_on_both_sides(name, alpha, weights, direction):
    # Convexity squeezes the directional slope between backward and forward differences; the rest is rounding.
    penalty = penalties.named(name, alpha)
    norm = float(np.linalg.norm(direction))
    if norm < 1e-3:
        direction, norm = np.eye(DIMENSION)[0], 1.0
    step = 2.0**-13 * size_of(weights) / norm * direction
    length = float(np.linalg.norm(step))
    here, ahead, behind = (penalty.value(point) for point in (weights, weights + step, weights - step))
    slope = float(penalty.gradient(weights) @ step)
    # A value is a sum of squares of at most (||w|| + length)^2 in size, computed in a handful of roundings.
    noise = 32 * UNIT_ROUNDOFF * penalty.largest(size_of(weights) + length)
    assert here - behind - noise <= slope <= ahead - here + noise
    assert ahead - 2 * here + behind <= penalty.smoothness() * length**2 + 2 * noise


@every_penalty
@hunted
@given(alpha=strengths, weights=vectors)
def test_add_curvature_adds_the_differences_of_gradients(name, alpha, weights):
    penalty = penalties.named(name, alpha)
    base = np.arange(float(DIMENSION**2)).reshape(DIMENSION, DIMENSION)
    hessian = base.copy()
    penalty.add_curvature(hessian)
    step = 2.0**-10 * size_of(weights)
    columns = [
        (penalty.gradient(weights + step * axis) - penalty.gradient(weights - step * axis)) / (2 * step)
        for axis in np.eye(DIMENSION)
    ]
    noise = 16 * UNIT_ROUNDOFF * (penalty.slope_bound(size_of(weights) + step) / step + base.max() + alpha)
    assert np.abs(hessian - base - np.array(columns).T).max() <= noise


@every_penalty
@hunted
@given(alpha=strengths, first=vectors, second=vectors, share=st.floats(0.0, 1.0))
def test_strong_convexity_holds_between_any_two_points(name, alpha, first, second, share):
    penalty = penalties.named(name, alpha)
    middle = share * first + (1 - share) * second
    gap = share * (1 - share) * float(np.sum((first - second) ** 2)) * penalty.strong_convexity(math.inf) / 2
    chord = share * penalty.value(first) + (1 - share) * penalty.value(second)
    noise = 64 * UNIT_ROUNDOFF * penalty.largest(size_of(first, second))
    assert penalty.value(middle) <= chord - gap + noise


@every_penalty
@hunted
@given(alpha=strengths, first=vectors, second=vectors)
def test_gradients_are_strongly_monotone_and_smooth(name, alpha, first, second):
    penalty = penalties.named(name, alpha)
    apart = first - second
    squared = float(apart @ apart)
    product = float((penalty.gradient(first) - penalty.gradient(second)) @ apart)
    noise = 16 * UNIT_ROUNDOFF * penalty.slope_bound(size_of(first, second)) * math.sqrt(squared)
    assert penalty.strong_convexity(math.inf) * squared - noise <= product <= penalty.smoothness() * squared + noise


@every_penalty
@hunted
@given(alpha=strengths, weights=vectors, extra=st.floats(0.0, 10.0))
def test_no_weights_exceed_the_slope_bound_or_the_largest_value(name, alpha, weights, extra):
    penalty = penalties.named(name, alpha)
    radius = float(np.linalg.norm(weights)) * (1 + extra)
    assert float(np.linalg.norm(penalty.gradient(weights))) <= penalty.slope_bound(radius) * ROUNDING
    assert penalty.value(weights) <= penalty.largest(radius) * ROUNDING


@every_penalty
@pytest.mark.parametrize("alpha", [1e-3, 0.5, 7.0])
@pytest.mark.parametrize("radius", [0.1, 1.0, 30.0])
def test_slope_bound_and_largest_are_reached_on_the_sphere(name, alpha, radius):
    # A loose bound would cost noise; the supremum is attained at some point of the sphere, tried over many of them.
    penalty = penalties.named(name, alpha)
    points = np.random.default_rng(0).normal(size=(2000, DIMENSION))
    points = np.vstack([points, np.eye(DIMENSION), np.ones(DIMENSION)])
    points *= radius / np.linalg.norm(points, axis=1, keepdims=True)
    slopes = [float(np.linalg.norm(penalty.gradient(point))) for point in points]
    assert max(slopes) >= 0.999 * penalty.slope_bound(radius)
    assert max(penalty.value(point) for point in points) >= 0.999 * penalty.largest(radius)


@every_penalty
@hunted
@given(alpha=strengths, weights=vectors)
def test_the_minimum_is_zero_at_the_origin(name, alpha, weights):
    # Lemma R (docs/proofs/A2.md) bounds every minimiser's norm by the penalty's minimum lying at 0.
    penalty = penalties.named(name, alpha)
    origin = np.zeros(DIMENSION)
    assert penalty.value(origin) == 0
    assert not penalty.gradient(origin).any()
    assert penalty.value(weights) >= 0


@every_penalty
@pytest.mark.parametrize("alpha", [0.0, -1.0, math.inf, math.nan, "0.1", None, True])
def test_a_strength_without_meaning_is_refused_with_a_remedy(name, alpha):
    with pytest.raises(InvalidParameter, match="to do: pass"):
        penalties.named(name, alpha)


@every_penalty
def test_gradient_leaves_its_argument_alone(name):
    weights = np.array([1.0, -2.0, 3.0])
    penalties.named(name, 0.5).gradient(weights)[:] = 0
    assert weights.tolist() == [1.0, -2.0, 3.0]
