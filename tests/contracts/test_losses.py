"""The contract of every loss: its derivatives are derivatives, and nothing exceeds a constant it states."""

import math

import numpy as np
import pytest
import scipy.optimize
import scipy.special
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from equipoise.vocabulary import losses
from equipoise.vocabulary.losses import Loss

Array = NDArray[np.float64]

every_loss = pytest.mark.parametrize("loss", [losses.named(name) for name in sorted(losses.members())], ids=str)
# How long a loaded machine takes to draw examples is no fact about the code.
hunted = settings(derandomize=True, deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])

UNIT_ROUNDOFF = 2.0**-53
# The bounds carry a relative 1e-9 for rounding (THEOREMS M4); a thousandth of it is far above what one loss rounds.
ROUNDING = 1 + 1e-12

predictions = st.floats(-60.0, 60.0)
reaches = st.floats(0.0, 60.0)
label_bounds = st.floats(1e-3, 1e3)
# Suprema sit at the ends of the domain, where a plain draw of floats rarely lands.
shares = st.sampled_from([-1.0, 1.0]) | st.floats(-1.0, 1.0)

# The share of its gradient diameter that a search must reach: the squared loss's is proved exact, the logistic loss's
# is a table with slack (THEOREMS A2). A loss that is not listed is only required never to exceed its own.
ATTAINED = {"squared": 0.999, "logistic": 0.99}


def target_in_domain(loss: Loss, share: float, label_bound: float) -> float:
    """Return a coded target: a class code or a centred number within the bound."""
    return math.copysign(1.0, share) if loss.task == "classification" else share * label_bound


def bound_in_domain(loss: Loss, label_bound: float) -> float:
    """Return the label bound a domain of the loss's task would carry: 1 for classes (facts.Domain.label_bound)."""
    return 1.0 if loss.task == "classification" else label_bound


def at(function: object, prediction: float, target: float) -> float:
    return float(function(np.array([prediction]), np.array([target]))[0])


@every_loss
@hunted
@given(prediction=predictions, share=shares, label_bound=label_bounds)
def test_slope_lies_between_the_differences_on_both_sides(loss, prediction, share, label_bound):
    # Convexity squeezes the slope between backward and forward differences, so the only tolerance is rounding: two
    # values and the moved prediction, each wrong by a unit or two in the last place.
    target = target_in_domain(loss, share, label_bound)
    step = 2.0**-13 * max(1.0, abs(prediction), abs(target))
    ahead, behind = prediction + step, prediction - step
    here = at(loss.value, prediction, target)
    up = (at(loss.value, ahead, target) - here) / (ahead - prediction)
    down = (here - at(loss.value, behind, target)) / (prediction - behind)
    size = max(abs(at(loss.value, point, target)) for point in (ahead, behind, prediction))
    slope = at(loss.slope, prediction, target)
    # The residual m - y and the margin y m round once; the value's sensitivity to that is its slope.
    noise = 8 * UNIT_ROUNDOFF * (size + abs(slope) * max(abs(prediction), abs(target))) / step
    assert down - noise <= slope <= up + noise
    assert up - down <= 2 * step * loss.curvature_bound() + 2 * noise


@every_loss
@hunted
@given(prediction=st.floats(-30.0, 30.0), share=shares, label_bound=st.floats(1e-3, 30.0))
def test_curvature_is_the_difference_of_slopes(loss, prediction, share, label_bound):
    target = target_in_domain(loss, share, label_bound)
    step = 2.0**-13
    ahead, behind = at(loss.slope, prediction + step, target), at(loss.slope, prediction - step, target)
    # Truncation is at most step^2 / 6 times the fourth derivative, which is at most 1/8 for the logistic loss and 0 for
    # the squared one; rounding is a few units of the slopes over the step.
    truncation = step**2 / 6
    noise = 8 * UNIT_ROUNDOFF * (max(abs(ahead), abs(behind)) + abs(prediction) + abs(target)) / step
    assert abs((ahead - behind) / (2 * step) - at(loss.curvature, prediction, target)) <= truncation + noise


@every_loss
@hunted
@given(first=predictions, second=predictions, weight=st.floats(0.0, 1.0), share=shares, label_bound=label_bounds)
def test_value_is_convex_and_never_negative(loss, first, second, weight, share, label_bound):
    # A negative loss would break lemma R's companion in THEOREMS A2: the norm bound from the loss at 0.
    target = target_in_domain(loss, share, label_bound)
    between = weight * first + (1 - weight) * second
    chord = weight * at(loss.value, first, target) + (1 - weight) * at(loss.value, second, target)
    middle = at(loss.value, between, target)
    spread = max(abs(first), abs(second), abs(target))
    steepest = max(abs(at(loss.slope, point, target)) for point in (first, second))
    assert middle <= chord + 16 * UNIT_ROUNDOFF * (abs(chord) + abs(middle) + steepest * spread)
    assert middle >= 0


@every_loss
@hunted
@given(reach=reaches, position=shares, share=shares, label_bound=label_bounds)
def test_no_point_exceeds_the_slope_bound(loss, reach, position, share, label_bound):
    bound = loss.slope_bound(reach, bound_in_domain(loss, label_bound))
    slope = at(loss.slope, position * reach, target_in_domain(loss, share, label_bound))
    assert abs(slope) <= bound * ROUNDING


@every_loss
@hunted
@given(prediction=st.floats(-1e6, 1e6), share=shares, label_bound=label_bounds)
def test_no_point_exceeds_the_curvature_bound(loss, prediction, share, label_bound):
    curvature = at(loss.curvature, prediction, target_in_domain(loss, share, label_bound))
    assert 0 <= curvature <= loss.curvature_bound() * ROUNDING


@every_loss
@hunted
@given(reach=reaches, position=shares, share=shares, label_bound=label_bounds)
def test_no_point_exceeds_the_pull(loss, reach, position, share, label_bound):
    prediction = position * reach
    outwards = -prediction * at(loss.slope, prediction, target_in_domain(loss, share, label_bound))
    bound = loss.pull(reach, bound_in_domain(loss, label_bound))
    # The product rounds in units of its factors, which are larger than it where the residual cancels.
    assert outwards <= bound * ROUNDING + 4 * UNIT_ROUNDOFF * abs(prediction) * loss.slope_bound(reach, label_bound)


@every_loss
@pytest.mark.parametrize("label_bound", [0.2, 1.0, 50.0])
@pytest.mark.parametrize("reach", [0.05, 0.4, 1.2, 1.3, 5.0, 40.0])
def test_slope_bound_pull_and_curvature_bound_are_reached_and_not_exceeded_on_a_grid(loss, reach, label_bound):
    # The suprema are stated as attained, so a grid comes as near as its mesh: a loose constant costs noise.
    bound = bound_in_domain(loss, label_bound)
    targets = np.array([-bound, bound])[:, None]
    grid = np.linspace(-reach, reach, 20_001)[None, :] + 0 * targets
    labels = targets + 0 * grid
    slopes = loss.slope(grid, labels)
    mesh = 2 * reach / 20_000
    steepest = loss.slope_bound(reach, bound)
    assert steepest / ROUNDING <= np.abs(slopes).max() <= steepest * ROUNDING
    # -m slope(m) changes by at most (slope bound + reach * curvature bound) times the mesh between grid points.
    change = mesh * (steepest + reach * loss.curvature_bound())
    assert loss.pull(reach, bound) - change <= (-grid * slopes).max() <= loss.pull(reach, bound) * ROUNDING
    assert loss.curvature(np.zeros(1), np.zeros(1) + bound)[0] == loss.curvature_bound()


@every_loss
@given(low=reaches, high=reaches, label_bound=label_bounds)
@hunted
def test_slope_bound_and_pull_grow_with_the_reach(loss, low, high, label_bound):
    low, high = sorted((low, high))
    bound = bound_in_domain(loss, label_bound)
    assert loss.slope_bound(low, bound) <= loss.slope_bound(high, bound)
    assert loss.pull(low, bound) <= loss.pull(high, bound) * ROUNDING
    assert loss.pull(high, bound) <= loss.pull(math.inf, bound) * ROUNDING


@every_loss
@pytest.mark.parametrize("prediction", [-1e300, -1e5, -750.0, 0.0, 750.0, 1e5, 1e300])
def test_extreme_predictions_raise_nothing_and_give_no_nan(loss, prediction):
    # Warnings are errors in this suite: an overflow would be one. The squared loss of 1e300 is rightly infinite.
    with np.errstate(over="ignore"):
        for target in (-1.0, 1.0):
            for function in (loss.value, loss.slope, loss.curvature):
                assert not math.isnan(at(function, prediction, target))


def into_ball(vectors: Array, radius: float) -> Array:
    norms = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors * np.minimum(1.0, radius / np.maximum(norms, 1e-300))


def gradient_distance(loss: Loss, weights: Array, rows: Array, labels: Array) -> Array:
    """Return ``||g_z(w) - g_z'(w)||`` for stacks of weights (k, d), row pairs (2, k, d) and label pairs (2, k)."""
    margins = np.einsum("kd,pkd->pk", weights, rows)
    gradients = loss.slope(margins, labels)[..., None] * rows
    return np.linalg.norm(gradients[0] - gradients[1], axis=-1)


def largest_gradient_distance(
    loss: Loss, row_norm: float, radius: float, label_bound: float, dimension: int, seed: int
) -> float:
    """Return the largest distance of two gradients that random draws and local refinement find."""
    generator = np.random.default_rng(seed)
    count = 4000
    weights = into_ball(generator.normal(size=(count, dimension)) * radius, radius)
    rows = into_ball(generator.normal(size=(2, count, dimension)) * row_norm, row_norm)
    signs = generator.choice([-1.0, 1.0], size=(2, count))
    labels = signs if loss.task == "classification" else label_bound * signs * generator.uniform(size=(2, count))
    distances = gradient_distance(loss, weights, rows, labels)
    best = float(distances.max())
    for start in np.argsort(-distances)[:3]:
        fixed = labels[:, start]

        def negative(point: Array, fixed: Array = fixed) -> float:
            moved = point[: 3 * dimension].reshape(3, dimension)
            free = fixed if loss.task == "classification" else np.clip(point[-2:], -label_bound, label_bound)
            pair = into_ball(moved[1:], row_norm)[:, None, :]
            return -float(gradient_distance(loss, into_ball(moved[:1], radius), pair, free[:, None])[0])

        point = np.concatenate([weights[start], rows[:, start].ravel(), fixed])
        found = scipy.optimize.minimize(negative, point, method="Powell", options={"maxfev": 2000})
        best = max(best, -float(found.fun))
    return best


@every_loss
@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize(("row_norm", "label_bound"), [(1.0, 1.0), (2.5, 0.3)])
@pytest.mark.parametrize("reach", [0.3, 1.0, 3.0, 10.0, 40.0])
def test_search_stays_below_the_gradient_diameter_and_reaches_it(loss, reach, row_norm, label_bound, dimension):
    bound = bound_in_domain(loss, label_bound)
    radius = reach / row_norm
    claimed = loss.gradient_diameter(row_norm, radius, bound)
    found = largest_gradient_distance(loss, row_norm, radius, bound, dimension, seed=dimension)
    assert found <= claimed * ROUNDING
    assert found >= ATTAINED.get(loss.id, 0.0) * claimed
    # In one dimension there are fewer pairs, never more.
    assert largest_gradient_distance(loss, row_norm, radius, bound, 1, seed=1) <= claimed * ROUNDING


@every_loss
@given(row_norm=st.floats(1e-2, 1e2), low=st.floats(0.0, 1e3), high=st.floats(0.0, 1e3), label_bound=label_bounds)
@hunted
def test_gradient_diameter_grows_with_the_radius(loss, row_norm, low, high, label_bound):
    low, high = sorted((low, high))
    bound = bound_in_domain(loss, label_bound)
    assert loss.gradient_diameter(row_norm, low, bound) <= loss.gradient_diameter(row_norm, high, bound) * ROUNDING


@every_loss
@given(
    row_norm=st.floats(1e-2, 1e2),
    radius=st.floats(1e-3, 1e3),
    label_bound=label_bounds,
    power=st.integers(-6, 6),
)
@hunted
def test_gradient_diameter_scales_with_the_rows(loss, row_norm, radius, label_bound, power):
    # Rows c times longer and weights c times shorter predict the same, so gradients are c times longer; a power of two
    # keeps B R exact, so that a tabulated diameter is read at the same entry.
    factor = 2.0**power
    bound = bound_in_domain(loss, label_bound)
    scaled = loss.gradient_diameter(factor * row_norm, radius / factor, bound)
    assert scaled == pytest.approx(factor * loss.gradient_diameter(row_norm, radius, bound), rel=1e-14)


@every_loss
@given(row_norm=st.floats(1e-2, 1e2), radius=st.floats(0.0, 1e3), label_bound=label_bounds)
@hunted
def test_gradient_diameter_is_at_least_that_of_two_opposite_rows_at_zero_weights(loss, row_norm, radius, label_bound):
    bound = bound_in_domain(loss, label_bound)
    diameter = loss.gradient_diameter(row_norm, radius, bound)
    assert diameter >= 2 * row_norm * loss.slope_bound(0.0, bound) / ROUNDING


def closed_form_logistic_diameter(reach: float) -> float:
    """Return the conjectured ``2 max_c sqrt(1 - c^2) sigmoid(B R c)`` of THEOREMS A2, for rows of norm 1."""

    def negative(cosine: float) -> float:
        return -2 * math.sqrt(1 - cosine**2) / (1 + math.exp(-reach * cosine))

    return -scipy.optimize.minimize_scalar(negative, bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-10}).fun


@pytest.mark.parametrize(
    ("reach", "catalogued"), [(0.5, 1.029), (1.0, 1.099), (2.0, 1.270), (5.0, 1.617), (10.0, 1.821), (50.0, 1.981)]
)
def test_logistic_diameter_covers_the_catalogue_by_at_most_two_per_cent(reach, catalogued):
    closed_form = closed_form_logistic_diameter(reach)
    assert round(closed_form, 3) == catalogued  # THEOREMS A2, list after Gam_log
    tabulated = losses.named("logistic").gradient_diameter(row_norm=1.0, radius=reach, label_bound=1.0)
    assert closed_form <= tabulated <= 1.02 * closed_form


def test_logistic_diameter_is_trivial_beyond_the_table():
    assert losses.named("logistic").gradient_diameter(row_norm=3.0, radius=1e4, label_bound=1.0) == 6.0


@pytest.mark.parametrize(
    ("radius", "expected"),
    [
        (1.0, 3 * math.sqrt(3)),  # THEOREMS A2: R = B = Y = 1
        (0.0, 4.0),  # THEOREMS A2: 4 B Y at R = 0
    ],
)
def test_squared_diameter_equals_the_catalogue(radius, expected):
    diameter = losses.named("squared").gradient_diameter(row_norm=1.0, radius=radius, label_bound=1.0)
    assert diameter == pytest.approx(expected, rel=1e-15)


def test_squared_diameter_equals_the_catalogues_formula_as_printed():
    for row_norm, radius, label_bound in [(1.0, 0.7, 1.0), (3.0, 2.0, 0.1), (0.2, 9.0, 40.0)]:
        reach = row_norm * radius
        cosine = (-label_bound + math.sqrt(label_bound**2 + 8 * reach**2)) / (4 * reach)
        printed = 4 * row_norm * (label_bound + reach * cosine) * math.sqrt(1 - cosine**2)
        assert losses.named("squared").gradient_diameter(row_norm, radius, label_bound) == pytest.approx(
            printed, rel=1e-13
        )


def test_logistic_pull_is_lamberts_constant_rounded_up():
    # max m sigmoid(-m) = W(1/e) solves w e^w = 1/e.
    largest = float(scipy.special.lambertw(1 / math.e).real)
    assert largest <= losses.named("logistic").pull(math.inf, 1.0) <= largest + 1e-10
