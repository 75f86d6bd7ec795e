"""Descent on gradients that somebody else provides: steps, momentum, ridge, the ball and the mean."""

import numpy as np
import pytest
from numpy.typing import NDArray

from equipoise.solve.descents.gradient import descend
from equipoise.vocabulary import penalties

Array = NDArray[np.float64]

SHAPE = (2, 3)


def wild(seed: int):
    """Return a smooth field that is no gradient, and the points at which it was asked."""
    generator = np.random.default_rng(seed)
    mixing, offset = generator.normal(size=(6, 6)), generator.normal(size=6)
    asked: list[Array] = []

    def field(weights: Array) -> Array:
        asked.append(weights.copy())
        return np.tanh(mixing @ weights.ravel() + offset).reshape(SHAPE)

    return field, asked


def naive(field, alpha: float, steps: int, step: float, momentum: float, radius: float) -> list[Array]:
    """Return every iterate, one coordinate at a time."""
    weights, speed = np.zeros(SHAPE), np.zeros(SHAPE)
    iterates = []
    for _ in range(steps):
        slope = field(weights)
        following = np.empty(SHAPE)
        for place in np.ndindex(SHAPE):
            speed[place] = momentum * speed[place] + slope[place] + alpha * weights[place]
            following[place] = weights[place] - step * speed[place]
        norm = float(np.sqrt(np.square(following).sum()))
        weights = following if norm <= radius else following / norm * radius
        iterates.append(weights)
    return iterates


@pytest.mark.parametrize("radius", ["inf", "0.7", "3"])
@pytest.mark.parametrize("average", ["last", "uniform"])
@pytest.mark.parametrize("momentum", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("alpha", [1e-9, 0.4])
def test_a_descent_is_the_naive_loop(alpha, momentum, average, radius):
    for seed, steps in ((0, 1), (1, 2), (2, 40)):
        field, asked = wild(seed)
        found = descend(
            field,
            penalties.named("l2", alpha),
            SHAPE,
            steps=steps,
            step=0.3,
            momentum=momentum,
            average=average == "uniform",
            radius=float(radius),
        )
        iterates = naive(wild(seed)[0], alpha, steps, 0.3, momentum, float(radius))
        expected = iterates[-1] if average == "last" else np.mean(iterates, axis=0)
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)
        # The field is asked once a step, at zero first and then where the last step ended.
        assert len(asked) == steps
        np.testing.assert_array_equal(asked[0], np.zeros(SHAPE))
        for point, end in zip(asked[1:], iterates, strict=False):
            np.testing.assert_allclose(point, end, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("average", ["last", "uniform"])
@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_no_iterate_leaves_the_ball_however_hard_it_is_pushed(momentum, average):
    generator = np.random.default_rng(0)
    asked = []

    def field(weights: Array) -> Array:
        asked.append(float(np.linalg.norm(weights)))
        return generator.normal(size=SHAPE) * 10.0 ** generator.uniform(-3, 120)

    found = descend(
        field,
        penalties.named("l2", 0.1),
        SHAPE,
        steps=200,
        step=0.5,
        momentum=momentum,
        average=average == "uniform",
        radius=2.5,
    )
    assert max(asked) <= 2.5 * (1 + 1e-15)
    assert np.linalg.norm(found) <= 2.5 * (1 + 1e-15)
    assert np.isfinite(found).all()


def test_a_point_inside_the_ball_is_not_touched_and_one_outside_keeps_its_direction():
    ridge = penalties.named("l2", 1e-30)
    target = np.array([[3.0, 0.0, 4.0], [0.0, 0.0, 0.0]])
    for radius, expected in ((5.0, target), (50.0, target), (2.5, target / 2)):
        found = descend(
            lambda weights: weights - target,
            ridge,
            SHAPE,
            steps=1,
            step=1.0,
            momentum=0.0,
            average=False,
            radius=radius,
        )
        np.testing.assert_allclose(found, expected, rtol=1e-15)


def test_the_mean_is_over_the_points_after_every_step_and_not_the_start():
    # Steps of 1 along a constant slope: 1, 2, 3, 4, whose mean is 2.5.
    found = descend(
        lambda weights: -np.ones(SHAPE),
        penalties.named("l2", 1e-30),
        SHAPE,
        steps=4,
        step=1.0,
        momentum=0.0,
        average=True,
        radius=1e9,
    )
    np.testing.assert_allclose(found, np.full(SHAPE, 2.5))


def test_momentum_adds_up_as_a_geometric_series():
    # Speeds 1, 1.5, 1.75 at half momentum.
    found = descend(
        lambda weights: -np.ones(SHAPE),
        penalties.named("l2", 1e-30),
        SHAPE,
        steps=3,
        step=1.0,
        momentum=0.5,
        average=False,
        radius=1e9,
    )
    np.testing.assert_allclose(found, np.full(SHAPE, 4.25))


@pytest.mark.parametrize("momentum", [0.0, 0.9])
@pytest.mark.parametrize("alpha", [0.01, 1.0])
def test_the_ridge_moves_the_end_to_the_minimiser_of_both(alpha, momentum):
    curvatures = np.array([[1.0, 0.5, 0.2], [0.9, 0.7, 0.3]])
    best = np.array([[1.0, -2.0, 3.0], [0.5, 4.0, -1.0]])
    found = descend(
        lambda weights: curvatures * (weights - best),
        penalties.named("l2", alpha),
        SHAPE,
        steps=2000,
        step=(1 + momentum) / (1 + alpha),
        momentum=momentum,
        average=False,
        radius=1e9,
    )
    np.testing.assert_allclose(found, curvatures * best / (curvatures + alpha), rtol=1e-10)


def test_what_the_field_keeps_is_never_overwritten():
    """A caller may hold on to the weights that it was asked about."""
    held: list[tuple[Array, Array]] = []

    def field(weights: Array) -> Array:
        held.append((weights, weights.copy()))
        return np.full(SHAPE, -5.0)

    descend(field, penalties.named("l2", 0.1), SHAPE, steps=9, step=1.0, momentum=0.9, average=True, radius=1.0)
    for kept, copied in held:
        np.testing.assert_array_equal(kept, copied)
