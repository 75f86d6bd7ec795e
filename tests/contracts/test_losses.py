"""The contract of every loss: its derivatives are derivatives, and nothing exceeds a constant it states.

A loss is a pair: its names, constants and scalar arithmetic in the vocabulary, its arithmetic on arrays in `solve`. The
constants are hunted on arrays, which the scalars and the compiled slope must agree with.
"""

import contextlib
import dataclasses
import importlib
import inspect
import math
import pkgutil

import numba
import numpy as np
import pytest
import scipy.optimize
import scipy.special
from hypothesis import strategies as st
from numpy.typing import NDArray

from equipoise.errors import InvalidParameter, UnknownName
from equipoise.solve import losses as partners
from equipoise.solve.compiled_slope import CompiledSlope, compiled_slope, slope
from equipoise.solve.losses import KinkedArrays, LossArrays, arrays_of
from equipoise.vocabulary import losses
from equipoise.vocabulary.losses import KinkedLoss, Loss
from hunting import hunted

Array = NDArray[np.float64]

# A loss with a parameter is tested at its default and at others: below, between and above the domain's sizes.
PARAMETERS = {
    "clipped-logistic": (0.1, 0.3, 0.9, 5.0),
    "clipped-squared": (0.2, 1.4, 10.0),
    "huber": (0.1, 0.7, 5.0),
    "smooth-absolute": (0.05, 0.7, 5.0),
    "smooth-hinge": (0.1, 0.4, 3.0),
}
# One that is not listed is tested at those of these that it takes.
ANY_PARAMETERS = (0.1, 0.7, 1.4, 5.0)


def taken(name: str, values: tuple[object, ...]) -> list[Loss]:
    """Return a loss with each of these parameters that it takes."""
    found = []
    for value in values:
        with contextlib.suppress(InvalidParameter):
            found.append(losses.members()[name](value))
    return found


# This is the contract of one prediction a row.
DEFAULTS = [loss for loss in map(losses.named, sorted(losses.members())) if loss.outputs == 1]
WITH_PARAMETER = [loss.id for loss in DEFAULTS if dataclasses.fields(loss)]
LOSSES = [*DEFAULTS, *(each for name in WITH_PARAMETER for each in taken(name, PARAMETERS.get(name, ANY_PARAMETERS)))]
every_loss = pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)


def pairs(*chosen: Loss) -> pytest.MarkDecorator:
    """Run a test over losses and their partners; a loss without one fails a test of its own."""
    complete = [loss for loss in chosen if type(loss) in partners.members()]
    both = [(loss, arrays_of(loss)) for loss in complete]
    return pytest.mark.parametrize(("loss", "arrays"), both, ids=[loss.name for loss in complete])


every_pair = pairs(*LOSSES)
every_smooth_pair = pairs(*(loss for loss in LOSSES if not isinstance(loss, KinkedLoss)))
every_kinked_pair = pairs(*(loss for loss in LOSSES if isinstance(loss, KinkedLoss)))
# Examples of a hunt in the fast lane and in the slow one.
FEW, MANY = 25, 150

UNIT_ROUNDOFF = 2.0**-53
# The bounds carry a relative 1e-9 for rounding (M4); a thousandth of it is far above what one loss rounds.
ROUNDING = 1 + 1e-12

predictions = st.floats(-60.0, 60.0)
# Public numbers are 1e-100 at least (M4): below the normal numbers a product of two of them may vanish.
reaches = st.floats(0.0, 60.0, allow_subnormal=False)
label_bounds = st.floats(1e-3, 1e3)
# Suprema sit at the ends of the domain, where a plain draw of floats rarely lands.
shares = st.sampled_from([-1.0, 1.0]) | st.floats(-1.0, 1.0)

# The share of its gradient diameter that a search must reach: the logistic loss's is a table with slack, the others are
# proved exact (docs/proofs/A2.md). A loss that is not listed is only required never to exceed its own.
ATTAINED = {
    "absolute": 0.999,
    "clipped-squared": 0.999,
    "hinge": 0.999,
    "huber": 0.999,
    "logistic": 0.99,
    "smooth-absolute": 0.999,
    "smooth-hinge": 0.999,
    "squared": 0.999,
}
# Every pull is stated as exact; a grid of this fineness must reach this share of it.
PULL_ATTAINED = 0.999
# By which multiple of the width rounding off the corner changes a kinked loss (largest, in size), and the largest gap
# of a rounded-off slope as a multiple of the width (docs/proofs/A2.md); both are attained. Of one that is not listed,
# slopes of other places within the width are all that is known: each changes by at most the jump at the corner.
ROUNDED_OFF = {"absolute": (-1 / 2, 1 / 4), "hinge": (1 / 4, 1 / 8)}


def rounded_off(loss: Loss, arrays: KinkedArrays) -> tuple[float, float, float]:
    """Return the least and the largest change of the value, and the largest gap of a slope, as multiples of a width."""
    if loss.id in ROUNDED_OFF:
        most, gap_share = ROUNDED_OFF[loss.id]
        return min(0.0, most), max(0.0, most), gap_share
    low, high = (float(end[0]) for end in arrays.slope_range(np.ones(1)))
    return low - high, high - low, high - low


def target_in_domain(loss: Loss, share: float, label_bound: float) -> float:
    """Return a coded target: a class code or a centred number within the bound."""
    return math.copysign(1.0, share) if loss.task == "classification" else share * label_bound


def bound_in_domain(loss: Loss, label_bound: float) -> float:
    """Return the label bound a domain of the loss's task would carry: 1 for classes (facts.Domain.label_bound)."""
    return 1.0 if loss.task == "classification" else label_bound


def at(function: object, prediction: float, target: float) -> float:
    return float(function(np.array([prediction]), np.array([target]))[0])


@every_pair
@hunted(FEW, MANY, prediction=predictions, share=shares, label_bound=label_bounds)
def test_slope_lies_between_the_differences_on_both_sides(loss, arrays, prediction, share, label_bound):
    # Convexity squeezes the slope between backward and forward differences, so the only tolerance is rounding: two
    # values and the moved prediction, each wrong by a unit or two in the last place.
    target = target_in_domain(loss, share, label_bound)
    step = 2.0**-13 * max(1.0, abs(prediction), abs(target))
    ahead, behind = prediction + step, prediction - step
    here = at(arrays.value, prediction, target)
    up = (at(arrays.value, ahead, target) - here) / (ahead - prediction)
    down = (here - at(arrays.value, behind, target)) / (prediction - behind)
    points = (ahead, behind, prediction)
    size = max(abs(at(arrays.value, point, target)) for point in points)
    steepest = max(abs(at(arrays.slope, point, target)) for point in points)
    slope = at(arrays.slope, prediction, target)
    # The residual m - y and the margin y m round once; the value's sensitivity to that is its slope.
    noise = 8 * UNIT_ROUNDOFF * (size + steepest * max(abs(prediction), abs(target))) / step
    assert down - noise <= slope <= up + noise
    assert up - down <= 2 * step * loss.curvature_bound() + 2 * noise


@every_smooth_pair
@hunted(
    FEW, MANY, prediction=st.floats(-30.0, 30.0) | st.floats(-3.0, 3.0), share=shares, label_bound=st.floats(1e-3, 30.0)
)
def test_curvature_is_the_difference_of_slopes(loss, arrays, prediction, share, label_bound):
    target = target_in_domain(loss, share, label_bound)
    step = 2.0**-13
    ahead, behind = at(arrays.slope, prediction + step, target), at(arrays.slope, prediction - step, target)
    curvatures = [at(arrays.curvature, prediction + move, target) for move in (-step, 0.0, step)]
    bend = loss.curvature_bound()
    # Truncation is at most step^2 / 6 times the fourth derivative, which is at most 1/8 for the logistic loss, 0 for
    # the piecewise quadratic ones and 2 for the logarithm of a hyperbolic cosine; rounding is a few units of the
    # slopes, and of the predictions they follow, over the step.
    truncation = step**2 / 3
    noise = 8 * UNIT_ROUNDOFF * (max(abs(ahead), abs(behind)) + max(1.0, bend) * (abs(prediction) + abs(target))) / step
    difference = (ahead - behind) / (2 * step)
    if max(curvatures) - min(curvatures) > step:
        # The curvature jumps between the points: the difference is a mean of both sides.
        assert min(curvatures) - noise <= difference <= max(curvatures) + noise
    else:
        assert abs(difference - curvatures[1]) <= truncation + noise


@every_pair
@hunted(
    FEW, MANY, first=predictions, second=predictions, weight=st.floats(0.0, 1.0), share=shares, label_bound=label_bounds
)
def test_value_is_convex_and_never_negative(loss, arrays, first, second, weight, share, label_bound):
    # A negative loss would break lemma R's companion in A2: the norm bound from the loss at 0.
    target = target_in_domain(loss, share, label_bound)
    between = weight * first + (1 - weight) * second
    chord = weight * at(arrays.value, first, target) + (1 - weight) * at(arrays.value, second, target)
    middle = at(arrays.value, between, target)
    spread = max(abs(first), abs(second), abs(target))
    steepest = max(abs(at(arrays.slope, point, target)) for point in (first, second, between))
    assert middle <= chord + 16 * UNIT_ROUNDOFF * (abs(chord) + abs(middle) + steepest * spread)
    assert middle >= 0


@every_pair
@hunted(FEW, MANY, reach=reaches, position=shares, share=shares, label_bound=label_bounds)
def test_no_point_exceeds_the_slope_bound(loss, arrays, reach, position, share, label_bound):
    bound = loss.slope_bound(reach, bound_in_domain(loss, label_bound))
    slope = at(arrays.slope, position * reach, target_in_domain(loss, share, label_bound))
    assert abs(slope) <= bound * ROUNDING


@every_pair
@hunted(FEW, MANY, prediction=st.floats(-1e6, 1e6), share=shares, label_bound=label_bounds)
def test_no_point_exceeds_the_curvature_bound(loss, arrays, prediction, share, label_bound):
    curvature = at(arrays.curvature, prediction, target_in_domain(loss, share, label_bound))
    assert 0 <= curvature <= loss.curvature_bound() * ROUNDING


@every_pair
@hunted(
    FEW,
    MANY,
    reach=reaches,
    position=shares,
    share=shares,
    label_bound=label_bounds,
)
def test_no_point_exceeds_the_pull(loss, arrays, reach, position, share, label_bound):
    prediction = position * reach
    outwards = -prediction * at(arrays.slope, prediction, target_in_domain(loss, share, label_bound))
    bound = loss.pull(reach, bound_in_domain(loss, label_bound))
    # The product rounds in units of its factors, which are larger than it where the residual cancels.
    assert outwards <= bound * ROUNDING + 4 * UNIT_ROUNDOFF * abs(prediction) * loss.slope_bound(reach, label_bound)


@every_pair
@pytest.mark.parametrize("label_bound", [0.2, 1.0, 50.0])
@pytest.mark.parametrize("reach", [0.05, 0.4, 1.2, 1.3, 5.0, 40.0])
def test_slope_bound_and_pull_are_reached_and_not_exceeded_on_a_grid(loss, arrays, reach, label_bound):
    # The suprema are stated as attained, so a grid comes as near as its mesh: a loose constant costs noise.
    bound = bound_in_domain(loss, label_bound)
    targets = np.array([-bound, bound])[:, None]
    grid = np.linspace(-reach, reach, 20_001)
    slopes = arrays.slope(grid + 0 * targets, targets + 0 * grid)
    steepest = loss.slope_bound(reach, bound)
    assert steepest / ROUNDING <= np.abs(slopes).max() <= steepest * ROUNDING
    # A second grid around the best point of the first, because a peak may be narrow against the reach.
    mesh, best = reach / 10_000, grid[np.argmax((-grid * slopes).max(axis=0))]
    finer = np.clip(np.linspace(best - mesh, best + mesh, 20_001), -reach, reach)
    found = (-finer * arrays.slope(finer + 0 * targets, targets + 0 * finer)).max()
    assert PULL_ATTAINED * loss.pull(reach, bound) <= found <= loss.pull(reach, bound) * ROUNDING


@every_smooth_pair
@pytest.mark.parametrize("label_bound", [0.2, 1.0, 50.0])
def test_curvature_bound_is_attained_at_zero_at_the_target_or_at_the_corner(loss, arrays, label_bound):
    target = bound_in_domain(loss, label_bound)
    places = [0.0, target, getattr(loss, "corner", 0.0) + 1e-12]
    # A loss that is not listed may be curved most anywhere, and a grid comes as near as its mesh.
    listed = loss.id in ATTAINED or loss.id in PARAMETERS
    around = [] if listed else [centre + move for centre in (0.0, target) for move in np.linspace(-10.0, 10.0, 20_001)]
    curvatures = arrays.curvature(np.array(places + around), np.full(len(places) + len(around), target))
    assert curvatures.max() == pytest.approx(loss.curvature_bound(), rel=1e-9 if listed else 1e-3)
    assert curvatures.max() <= loss.curvature_bound() * ROUNDING


@every_loss
@hunted(FEW, MANY, low=reaches, high=reaches, label_bound=label_bounds)
def test_slope_bound_and_pull_grow_with_the_reach(loss, low, high, label_bound):
    low, high = sorted((low, high))
    bound = bound_in_domain(loss, label_bound)
    assert loss.slope_bound(low, bound) <= loss.slope_bound(high, bound)
    assert loss.pull(low, bound) <= loss.pull(high, bound) * ROUNDING
    assert loss.pull(high, bound) <= loss.pull(math.inf, bound) * ROUNDING


@every_pair
@pytest.mark.parametrize("prediction", [-1e300, -1e5, -750.0, 0.0, 750.0, 1e5, 1e300])
def test_extreme_predictions_raise_nothing_and_give_no_nan(loss, arrays, prediction):
    # Warnings are errors in this suite: an overflow would be one. The squared loss of 1e300 is rightly infinite.
    with np.errstate(over="ignore"):
        for target in (-1.0, 1.0):
            for function in (arrays.value, arrays.slope, arrays.curvature):
                assert not math.isnan(at(function, prediction, target))
            assert not math.isnan(loss.value(prediction, target))
            assert not math.isnan(loss.slope(prediction, target))


def into_ball(vectors: Array, radius: float) -> Array:
    norms = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors * np.minimum(1.0, radius / np.maximum(norms, 1e-300))


def gradient_distance(arrays: LossArrays, weights: Array, rows: Array, labels: Array) -> Array:
    """Return ``||g_z(w) - g_z'(w)||`` for stacks of weights (k, d), row pairs (2, k, d) and label pairs (2, k)."""
    margins = np.einsum("kd,pkd->pk", weights, rows)
    gradients = arrays.slope(margins, labels)[..., None] * rows
    return np.linalg.norm(gradients[0] - gradients[1], axis=-1)


def largest_gradient_distance(
    loss: Loss, arrays: LossArrays, row_norm: float, radius: float, label_bound: float, dimension: int, seed: int
) -> float:
    """Return the largest distance of two gradients that random draws and local refinement find."""
    generator = np.random.default_rng(seed)
    count = 4000
    weights = into_ball(generator.normal(size=(count, dimension)) * radius, radius)
    rows = into_ball(generator.normal(size=(2, count, dimension)) * row_norm, row_norm)
    # Half of the pairs are mirror images in the weights with one label, where the proofs of A2 look for the widest.
    half = count // 2
    along = weights / np.maximum(np.linalg.norm(weights, axis=1, keepdims=True), 1e-300)
    rows[1, :half] = (2 * np.sum(along * rows[0], axis=1, keepdims=True) * along - rows[0])[:half]
    signs = generator.choice([-1.0, 1.0], size=(2, count))
    signs[1, :half] = signs[0, :half]
    sizes = np.where(generator.uniform(size=count) < 0.5, 1.0, generator.uniform(size=count))
    labels = signs if loss.task == "classification" else label_bound * signs * sizes
    distances = gradient_distance(arrays, weights, rows, labels)
    best = float(distances.max())
    for start in np.argsort(-distances)[:3]:
        fixed = labels[:, start]

        def negative(point: Array, fixed: Array = fixed) -> float:
            moved = point[: 3 * dimension].reshape(3, dimension)
            free = fixed if loss.task == "classification" else np.clip(point[-2:], -label_bound, label_bound)
            pair = into_ball(moved[1:], row_norm)[:, None, :]
            return -float(gradient_distance(arrays, into_ball(moved[:1], radius), pair, free[:, None])[0])

        point = np.concatenate([weights[start], rows[:, start].ravel(), fixed])
        found = scipy.optimize.minimize(negative, point, method="Powell", options={"maxfev": 2000})
        best = max(best, -float(found.fun))
    return best


# A short and a longer reach in the plane, and longer rows in space; the others repeat the search with other numbers.
FIRST_SEARCHES = [(0.3, 1.0, 1.0, 2), (3.0, 1.0, 1.0, 2), (10.0, 2.5, 0.3, 3)]
SEARCHES = [
    (reach, row_norm, label_bound, dimension)
    for reach in (0.3, 1.0, 3.0, 10.0, 40.0)
    for row_norm, label_bound in ((1.0, 1.0), (2.5, 0.3))
    for dimension in (2, 3)
]


@every_pair
@pytest.mark.parametrize(
    ("reach", "row_norm", "label_bound", "dimension"),
    [
        pytest.param(*search, marks=() if search in FIRST_SEARCHES else pytest.mark.statistics, id=str(search))
        for search in SEARCHES
    ],
)
def test_search_stays_below_the_gradient_diameter_and_reaches_it(loss, arrays, reach, row_norm, label_bound, dimension):
    bound = bound_in_domain(loss, label_bound)
    radius = reach / row_norm
    claimed = loss.gradient_diameter(row_norm, radius, bound)
    found = largest_gradient_distance(loss, arrays, row_norm, radius, bound, dimension, seed=dimension)
    assert found <= claimed * ROUNDING
    assert found >= ATTAINED.get(loss.id, 0.0) * claimed
    # In one dimension there are fewer pairs, never more.
    assert largest_gradient_distance(loss, arrays, row_norm, radius, bound, 1, seed=1) <= claimed * ROUNDING


@every_loss
@hunted(
    FEW,
    MANY,
    row_norm=st.floats(1e-2, 1e2),
    low=st.floats(0.0, 1e3),
    high=st.floats(0.0, 1e3),
    label_bound=label_bounds,
)
def test_gradient_diameter_grows_with_the_radius(loss, row_norm, low, high, label_bound):
    low, high = sorted((low, high))
    bound = bound_in_domain(loss, label_bound)
    assert loss.gradient_diameter(row_norm, low, bound) <= loss.gradient_diameter(row_norm, high, bound) * ROUNDING


@every_loss
@hunted(
    FEW,
    MANY,
    row_norm=st.floats(1e-2, 1e2),
    radius=st.floats(1e-3, 1e3),
    label_bound=label_bounds,
    power=st.integers(-6, 6),
)
def test_gradient_diameter_scales_with_the_rows(loss, row_norm, radius, label_bound, power):
    # Rows c times longer and weights c times shorter predict the same, so gradients are c times longer; a power of two
    # keeps B R exact, so that a tabulated diameter is read at the same entry.
    factor = 2.0**power
    bound = bound_in_domain(loss, label_bound)
    scaled = loss.gradient_diameter(factor * row_norm, radius / factor, bound)
    assert scaled == pytest.approx(factor * loss.gradient_diameter(row_norm, radius, bound), rel=1e-14)


@every_loss
@hunted(FEW, MANY, row_norm=st.floats(1e-2, 1e2), radius=st.floats(0.0, 1e3), label_bound=label_bounds)
def test_gradient_diameter_is_at_least_that_of_two_opposite_rows_at_zero_weights(loss, row_norm, radius, label_bound):
    bound = bound_in_domain(loss, label_bound)
    diameter = loss.gradient_diameter(row_norm, radius, bound)
    assert diameter >= 2 * row_norm * loss.slope_bound(0.0, bound) / ROUNDING


def closed_form_logistic_diameter(reach: float) -> float:
    """Return the conjectured ``2 max_c sqrt(1 - c^2) sigmoid(B R c)`` of A2, for rows of norm 1."""

    def negative(cosine: float) -> float:
        return -2 * math.sqrt(1 - cosine**2) / (1 + math.exp(-reach * cosine))

    return -scipy.optimize.minimize_scalar(negative, bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-10}).fun


@pytest.mark.parametrize(
    ("reach", "catalogued"), [(0.5, 1.029), (1.0, 1.099), (2.0, 1.270), (5.0, 1.617), (10.0, 1.821), (50.0, 1.981)]
)
def test_logistic_diameter_covers_the_catalogue_by_at_most_two_per_cent(reach, catalogued):
    closed_form = closed_form_logistic_diameter(reach)
    assert round(closed_form, 3) == catalogued  # A2, list after Gam_log
    tabulated = losses.named("logistic").gradient_diameter(row_norm=1.0, radius=reach, label_bound=1.0)
    assert closed_form <= tabulated <= 1.02 * closed_form


def test_logistic_diameter_is_trivial_beyond_the_table():
    assert losses.named("logistic").gradient_diameter(row_norm=3.0, radius=1e4, label_bound=1.0) == 6.0


@pytest.mark.parametrize(
    ("radius", "expected"),
    [
        (1.0, 3 * math.sqrt(3)),  # A2: R = B = Y = 1
        (0.0, 4.0),  # A2: 4 B Y at R = 0
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


def test_no_loss_escapes_its_part_of_the_contract():
    # A loss that misses a method is abstract and would not be discovered: its tests would vanish without a sound.
    modules = (f"{losses.__name__}.{entry.name}" for entry in pkgutil.iter_modules(losses.__path__))
    classes = (entry for module in modules for _, entry in inspect.getmembers(importlib.import_module(module)))
    named = {entry for entry in classes if inspect.isclass(entry) and issubclass(entry, Loss) and "id" in vars(entry)}
    assert named == set(losses.members().values())
    # What is listed here exists, and of everything with a parameter several are tried.
    assert set(PARAMETERS) <= set(WITH_PARAMETER)
    assert {loss.id for loss in LOSSES if isinstance(loss, KinkedLoss)} >= set(ROUNDED_OFF)
    assert {loss.id for loss in LOSSES} >= set(ATTAINED)
    assert all(len({loss.name for loss in LOSSES if loss.id == name}) >= 3 for name in WITH_PARAMETER)


def test_every_loss_has_a_partner_of_its_own_that_works_on_arrays():
    assert set(partners.members()) == set(losses.members().values())
    for loss in LOSSES:
        assert isinstance(arrays_of(loss), KinkedArrays) == isinstance(loss, KinkedLoss)


def test_a_loss_without_a_partner_is_told_which_file_to_write():
    class Lonely(type(losses.named("hinge"))):
        """A loss that nobody wrote the arrays of."""

    with pytest.raises(
        UnknownName, match=r"arithmetic of Lonely.*of = Lonely.*write src/equipoise/solve/losses/\w+\.py"
    ):
        arrays_of(Lonely())


@numba.njit
def slopes_in_a_loop(compiled: CompiledSlope, predictions: Array, target: float, parameter: float) -> Array:
    """Return the slopes that a compiled loop sees."""
    found = np.empty(len(predictions))
    for place in range(len(predictions)):
        found[place] = slope(compiled, predictions[place], target, parameter)
    return found


@every_pair
def test_scalars_arrays_and_compiled_slopes_agree(loss, arrays):
    places = [
        0.0,
        1e-300,
        1e-9,
        0.3,
        *(1.0 + loss.parameter * np.array([-1.0, -0.5, 0.0, 0.5, 1.0])),
        30.0,
        720.0,
        1e99,
    ]
    grid = np.array([sign * place for place in [*places, *np.linspace(0.0, 7.0, 141)] for sign in (1.0, -1.0)])
    for target in (-1.0, 1.0) if loss.task == "classification" else (-1.0, -0.3, 0.0, 1.0, 55.0):
        targets = np.full_like(grid, target)
        slopes = [loss.slope(prediction, target) for prediction in grid.tolist()]
        # Compiled, the same operations in the same order: to the last digit.
        np.testing.assert_array_equal(slopes_in_a_loop(compiled_slope(loss), grid, target, loss.parameter), slopes)
        # Arrays may round an exponential in another place; slopes below the normal numbers may be 0.
        np.testing.assert_allclose(arrays.slope(grid, targets), slopes, rtol=4e-16, atol=np.finfo(float).tiny)
        values = [loss.value(prediction, target) for prediction in grid.tolist()]
        np.testing.assert_allclose(arrays.value(grid, targets), values, rtol=4e-16, atol=np.finfo(float).tiny)


LIMIT = 1.0


def test_a_changed_formula_is_another_type_to_the_cache_of_compiled_loops(monkeypatch):
    # The cache on disk knows a loop by the types of its arguments; a formula must not answer for another one.
    def scaled(factor: float) -> CompiledSlope:
        return CompiledSlope(lambda prediction, target, parameter: factor * min(prediction, LIMIT))

    def name(compiled: CompiledSlope) -> str:
        return compiled.type.name.rpartition("(")[2]

    turned = CompiledSlope(lambda prediction, target, parameter: 2.0 * max(prediction, LIMIT))
    names = [name(scaled(2.0)), name(scaled(3.0)), name(turned)]
    assert name(scaled(2.0)) == names[0]
    assert slopes_in_a_loop(scaled(2.0), np.ones(1), 0.0, 0.0) == 2.0
    assert slopes_in_a_loop(scaled(3.0), np.ones(1), 0.0, 0.0) == 3.0
    monkeypatch.setitem(globals(), "LIMIT", 0.5)
    assert len({*names, name(scaled(2.0))}) == 4
    assert slopes_in_a_loop(scaled(2.0), np.ones(1), 0.0, 0.0) == 1.0


@every_loss
def test_the_name_leads_back_to_the_loss(loss):
    assert losses.named(loss.name) == loss


@pytest.mark.parametrize("name", WITH_PARAMETER)
def test_parameters_become_plain_numbers_and_keep_every_digit_in_the_name(name):
    member = losses.members()[name]
    values = (1 / 3, 1e-7, 2, np.float64(0.3), np.int64(4))
    made = taken(name, values)
    assert len(made) == len(values) or name not in PARAMETERS
    for loss in made:
        assert type(loss.parameter) is float
        assert losses.named(loss.name) == loss == member(loss.parameter)
    assert len({loss.parameter for loss in made}) == len(made) > 1
    assert losses.named(name) == member()


@pytest.mark.parametrize("name", WITH_PARAMETER)
def test_bad_parameters_are_refused(name):
    for value in (0.0, -1.0, math.nan, math.inf, 1e-101, 1e101, True, "1", None, np.ones(2)):
        with pytest.raises(InvalidParameter):
            losses.members()[name](value)
    with pytest.raises(UnknownName, match="NUMBER"):
        losses.named(f"{name}:wide")


@pytest.mark.parametrize("name", WITH_PARAMETER)
@pytest.mark.parametrize("exponent", [-100, -17, 17, 99])
def test_constants_survive_extreme_parameters(name, exponent):
    # A cap or a width far below the last place of the labels must not make a constant vanish: zero noise would follow.
    made = taken(name, (10.0**exponent,))
    assert made or name not in PARAMETERS
    if not made:
        return  # a parameter of its own range
    (loss,) = made
    for reach in (1e-3, 1.0, math.inf):
        for label_bound in (1e-3, 1.0, 1e3):
            bound = bound_in_domain(loss, label_bound)
            points = np.minimum(reach, np.array([1e-3, 0.5, 0.9]) * bound)
            outwards = (-points * arrays_of(loss).slope(points, np.full(3, bound))).max()
            assert 0 < outwards <= loss.pull(reach, bound) * ROUNDING < math.inf
            diameter = loss.gradient_diameter(1.0, reach, bound)
            assert 0 < 2 * loss.slope_bound(0.0, bound) / ROUNDING <= diameter
            assert diameter < math.inf or (name not in PARAMETERS and math.isinf(loss.slope_bound(reach, bound)))
            assert diameter <= 2 * loss.slope_bound(reach, bound) * ROUNDING


def slope_in_range(arrays: KinkedArrays, share: float, target: float) -> float:
    """Return a slope of the conjugate's domain, from its low end (-1) to its high end (1)."""
    low, high = (float(end[0]) for end in arrays.slope_range(np.array([target])))
    return (low + high) / 2 + share * (high - low) / 2


def gap(arrays: KinkedArrays, prediction: float, target: float, slope: float) -> float:
    return float(arrays.fenchel_gap(np.array([prediction]), np.array([target]), np.array([slope]))[0])


near_corners = st.floats(-3.0, 3.0) | st.sampled_from([-1.0, 1.0])


@every_kinked_pair
@pytest.mark.parametrize("target", [-1.0, 1.0])
def test_the_range_of_slopes_ends_where_the_slopes_do(loss, arrays, target):
    # The domain of a conjugate is closed and spans the slopes at the far ends; its conjugate is s y (dual solver).
    assert slope_in_range(arrays, -1.0, target) == at(arrays.slope, -1e9, target)
    assert slope_in_range(arrays, 1.0, target) == at(arrays.slope, 1e9, target)


@every_kinked_pair
@hunted(FEW, MANY, prediction=near_corners, share=shares, label_bound=st.floats(1e-3, 3.0), slant=shares)
def test_fenchel_gap_is_value_plus_conjugate_minus_product(loss, arrays, prediction, share, label_bound, slant):
    target = target_in_domain(loss, share, label_bound)
    slope = slope_in_range(arrays, slant, target)

    def below(point: float) -> float:
        return at(arrays.value, point, target) - slope * point

    # The conjugate is -min(value - s m); every corner lies within 3 of 0, and outside of [-4, 4] nothing is lower.
    conjugate = -scipy.optimize.minimize_scalar(
        below, bounds=(-4.0, 4.0), method="bounded", options={"xatol": 1e-9}
    ).fun
    expected = at(arrays.value, prediction, target) + conjugate - slope * prediction
    found = gap(arrays, prediction, target, slope)
    assert found >= 0
    assert found == pytest.approx(at(arrays.value, prediction, target) + slope * (target - prediction), abs=1e-14)
    # The search stops within 4 sqrt(2u) + xatol of the lowest point, where nothing is steeper than 2.
    assert found == pytest.approx(expected, abs=2 * (4 * math.sqrt(2 * UNIT_ROUNDOFF) + 1e-9))


@every_kinked_pair
@hunted(
    FEW, MANY, prediction=near_corners, share=shares, label_bound=st.floats(1e-3, 3.0), slant=shares, other=near_corners
)
def test_a_slope_with_gap_e_is_an_e_subgradient_and_a_subgradient_pulls_no_harder_than_the_pull(
    loss, arrays, prediction, share, label_bound, slant, other
):
    target = target_in_domain(loss, share, label_bound)
    slope = slope_in_range(arrays, slant, target)
    missing = gap(arrays, prediction, target, slope)
    line = at(arrays.value, prediction, target) + slope * (other - prediction) - missing
    assert at(arrays.value, other, target) >= line - 64 * UNIT_ROUNDOFF
    bound = bound_in_domain(loss, label_bound)
    if missing == 0:
        assert -prediction * slope <= loss.pull(abs(prediction), bound) * ROUNDING


@every_kinked_pair
@hunted(FEW, MANY, prediction=predictions, share=shares, label_bound=label_bounds)
def test_fenchel_gap_vanishes_at_the_losss_own_slope_and_is_infinite_outside_the_domain(
    loss, arrays, prediction, share, label_bound
):
    target = target_in_domain(loss, share, label_bound)
    for point in (prediction, target):  # the corner of each is among the second ones
        assert gap(arrays, point, target, at(arrays.slope, point, target)) == 0
        for slant in (-1 - 1e-12, 1 + 1e-12):
            assert gap(arrays, point, target, slope_in_range(arrays, slant, target)) == math.inf


@every_kinked_pair
@hunted(
    FEW,
    MANY,
    prediction=predictions | near_corners,
    share=shares,
    label_bound=label_bounds,
    width=st.sampled_from([1e-12, 1e-6, 1e-2, 1.0]),
)
def test_rounding_off_changes_value_and_slope_by_no_more_than_the_width_allows(
    loss, arrays, prediction, share, label_bound, width
):
    target = target_in_domain(loss, share, label_bound)
    smooth = arrays_of(arrays.smoothed(width))
    change = at(smooth.value, prediction, target) - at(arrays.value, prediction, target)
    least, most, gap_share = rounded_off(loss, arrays)
    noise = 8 * UNIT_ROUNDOFF * max(1.0, abs(prediction), abs(target))
    assert least * width - noise <= change <= most * width + noise
    # No tolerance on the domain: a slope outside of it would have an infinite gap.
    assert 0 <= gap(arrays, prediction, target, at(smooth.slope, prediction, target)) <= gap_share * width * ROUNDING


@pairs(*(loss for loss in LOSSES if loss.id in ROUNDED_OFF))
@pytest.mark.parametrize("width", [1e-12, 1e-3, 0.5])
def test_what_rounding_off_is_stated_to_cost_is_attained(loss, arrays, width):
    target = np.ones(4001)
    grid = 1.0 + np.linspace(-2 * width, 2 * width, 4001)
    smooth = arrays_of(arrays.smoothed(width))
    most, gap_share = ROUNDED_OFF[loss.id]
    changes = smooth.value(grid, target) - arrays.value(grid, target)
    # Predictions near 1 are a unit roundoff apart, which is 1e-4 of the smallest width.
    assert np.abs(changes).max() == pytest.approx(abs(most) * width, rel=1e-3)
    assert arrays.fenchel_gap(grid, target, smooth.slope(grid, target)).max() == pytest.approx(
        gap_share * width, rel=1e-3
    )


@every_kinked_pair
def test_a_kinked_loss_claims_no_smoothness(loss, arrays):
    assert loss.curvature_bound() == math.inf
    corner, step = 1.0, 1e-6
    jump = at(arrays.slope, corner + step, 1.0) - at(arrays.slope, corner - step, 1.0)
    low, high = (slope_in_range(arrays, end, 1.0) for end in (-1.0, 1.0))
    assert jump == high - low > 0  # over any step, however small: no finite constant would do


def test_huber_is_half_the_squared_loss_up_to_the_cap_and_a_line_beyond():
    huber, squared = losses.named("huber:2"), losses.named("squared")
    for residual in np.linspace(-2, 2, 41).tolist():
        assert huber.value(residual, 0.0) == pytest.approx(squared.value(residual, 0.0) / 2, rel=1e-15)
    assert (huber.value(-7.0, 0.0), huber.value(7.0, 0.0)) == (12.0, 12.0)  # 2 * 7 - 2^2 / 2
    assert arrays_of(huber).curvature(np.array([-2.1, -2.0, 2.0, 2.1]), np.zeros(4)).tolist() == [0.0, 1.0, 1.0, 0.0]
    for radius, label_bound in [(0.0, 1.0), (0.5, 1.5), (1.9, 0.1)]:  # B R + Y <= cap
        half = squared.gradient_diameter(1.0, radius, label_bound) / 2
        assert huber.gradient_diameter(1.0, radius, label_bound) == pytest.approx(half, rel=1e-14)


@pytest.mark.parametrize("cap", [0.05, 0.3, 0.9, 1.1, 1.4, 2.0, 30.0])
@pytest.mark.parametrize("reach", [0.0, 0.2, 1.0, 7.0, math.inf])
def test_huber_diameter_is_the_maximum_over_mirror_pairs(cap, reach):
    cosines = np.linspace(0.0, 1.0, 200_001)[1:]
    sizes = np.minimum(cap, 1.0 + reach * cosines) * np.sqrt(1 - cosines**2)
    assert losses.named(f"huber:{cap}").gradient_diameter(3.0, reach / 3, 1.0) == pytest.approx(
        6 * sizes.max(), rel=1e-4
    )


def test_smooth_hinge_equals_its_definition():
    for half in (0.1, 0.5, 3.0):
        loss = losses.named(f"smooth-hinge:{half}")
        for margin in np.linspace(-6, 6, 241):
            rounded = (1 + half - margin) ** 2 / (4 * half)
            expected = 0.0 if margin > 1 + half else 1 - margin if margin < 1 - half else rounded
            for label in (-1.0, 1.0):
                assert loss.value(label * margin, label) == pytest.approx(expected, rel=1e-12, abs=1e-15)


def test_smooth_absolute_is_huber_over_its_width():
    for width in (0.1, 0.5, 2.0):
        rounded, huber = losses.named(f"smooth-absolute:{width}"), losses.named(f"huber:{width}")
        for residual in np.linspace(-3, 3, 61).tolist():
            assert rounded.value(residual, 0.0) * width == pytest.approx(huber.value(residual, 0.0), rel=1e-14)
            assert rounded.slope(residual, 0.0) == pytest.approx(min(max(residual / width, -1), 1), rel=1e-14)
