"""The contract of losses with several outputs: their slopes are vectors, and nothing exceeds a constant they state."""

import dataclasses
import math

import mpmath
import numpy as np
import pytest
import scipy.optimize
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays as drawn_arrays
from numpy.typing import NDArray
from scipy.special import lambertw
from sklearn.linear_model import LogisticRegression as PlainLogisticRegression

import equipoise as eq
from equipoise.data.rows import Rows
from equipoise.errors import EquipoiseError, InvalidParameter
from equipoise.estimators.base import INTERCEPT_SHARE
from equipoise.planning.laws import deviation_of
from equipoise.planning.losses import known
from equipoise.solve import solvers
from equipoise.solve.compiled_slope import compiled_slope
from equipoise.solve.losses import LossArrays, arrays_of
from equipoise.solve.objective import Objective
from equipoise.solve.solvers.base import Target
from equipoise.vocabulary import losses, penalties
from equipoise.vocabulary.losses import Loss
from equipoise.vocabulary.losses.multinomial import lambert
from hunting import hunted

Array = NDArray[np.float64]

# Members with several outputs are tested at their default and at these.
PARAMETERS = {"multinomial": (2, 3, 10)}
DEFAULTS = [loss for loss in map(losses.named, sorted(losses.members())) if loss.outputs > 1]
LISTED = [losses.members()[name](value) for name, values in PARAMETERS.items() for value in values]
LOSSES = list({loss.name: loss for loss in [*DEFAULTS, *LISTED]}.values())
every_loss = pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)


def pairs(*chosen: Loss) -> pytest.MarkDecorator:
    """Run a test over losses and their partners, which work on arrays."""
    both = [(loss, arrays_of(loss)) for loss in chosen]
    return pytest.mark.parametrize(("loss", "arrays"), both, ids=[loss.name for loss in chosen])


every_pair = pairs(*LOSSES)
every_multinomial_pair = pairs(*(loss for loss in LOSSES if loss.id == "multinomial"))
# Examples of a hunt in the fast lane and in the slow one.
FEW, MANY = 25, 100

UNIT_ROUNDOFF = 2.0**-53
# A thousandth of the relative 1e-9 that bounds carry for rounding (M4).
ROUNDING = 1 + 1e-12
STEP = 2.0**-13

reaches = st.floats(0.0, 60.0)
# The first `outputs` of these are used, so that one strategy serves every loss. Whole numbers make ties, where suprema
# like to sit, and a plain draw of floats rarely lands there.
MOST_OUTPUTS = max(loss.outputs for loss in LOSSES)
entries = st.integers(-3, 3).map(float) | st.floats(-30.0, 30.0)
vectors = drawn_arrays(np.float64, MOST_OUTPUTS, elements=entries)
positions = st.integers(0, MOST_OUTPUTS - 1)


def at(function: object, prediction: Array, position: int) -> Array:
    return function(prediction[None, :], np.array([float(position)]))[0]


def product_at(arrays: LossArrays, prediction: Array, position: int, direction: Array) -> Array:
    return arrays.curvature_product(prediction[None, :], np.array([float(position)]), direction[None, :])[0]


def curvature_matrix(arrays: LossArrays, prediction: Array, position: int) -> Array:
    return np.array([product_at(arrays, prediction, position, unit) for unit in np.eye(arrays.loss.outputs)])


def shortened(vector: Array, radius: float) -> Array:
    """Return the vector, cut to the radius; entries are whole or at most 30, so that its norm cannot overflow."""
    norm = float(np.linalg.norm(vector))
    return vector if norm <= radius else vector * (radius / norm)


@every_pair
@hunted(FEW, MANY, prediction=vectors, position=positions)
def test_slope_lies_between_the_differences_on_both_sides_in_every_output(loss, arrays, prediction, position):
    # Convexity squeezes each partial slope between backward and forward differences: the only tolerance is rounding.
    prediction, position = prediction[: loss.outputs], position % loss.outputs
    slope, here = at(arrays.slope, prediction, position), at(arrays.value, prediction, position)
    size = float(np.abs(prediction).max()) + 1
    step = STEP * size
    # The logarithm of the sum and the chosen prediction are as large as the predictions, and round by a few units.
    noise = 16 * UNIT_ROUNDOFF * (2 * size + math.log(loss.outputs)) / step
    for output, unit in enumerate(np.eye(loss.outputs)):
        up = (at(arrays.value, prediction + step * unit, position) - here) / step
        down = (here - at(arrays.value, prediction - step * unit, position)) / step
        assert down - noise <= slope[output] <= up + noise
        assert up - down <= 2 * step * loss.curvature_bound() + 2 * noise


@every_pair
@hunted(FEW, MANY, prediction=vectors, direction=vectors, position=positions)
def test_curvature_product_is_the_difference_of_slopes(loss, arrays, prediction, direction, position):
    prediction, position = prediction[: loss.outputs], position % loss.outputs
    direction = direction[: loss.outputs] / 30
    ahead, behind = (at(arrays.slope, prediction + sign * STEP * direction, position) for sign in (1, -1))
    found = product_at(arrays, prediction, position, direction)
    # Truncation is STEP^2 / 6 times a fourth joint cumulant of bounded variables, at most 20 in size; rounding of the
    # predictions, of size 31, reaches the slopes undamped.
    tolerance = 20 * STEP**2 / 6 + 8 * 31 * UNIT_ROUNDOFF / STEP
    np.testing.assert_allclose(found, (ahead - behind) / (2 * STEP), rtol=0, atol=tolerance)


@every_pair
@hunted(FEW, MANY, prediction=vectors, position=positions)
def test_the_curvature_is_symmetric_convex_bounded_and_has_the_stated_diagonal(loss, arrays, prediction, position):
    prediction, position = prediction[: loss.outputs], position % loss.outputs
    matrix = curvature_matrix(arrays, prediction, position)
    np.testing.assert_allclose(matrix, matrix.T, rtol=0, atol=4 * UNIT_ROUNDOFF)
    np.testing.assert_allclose(
        np.diag(matrix), at(arrays.curvature, prediction, position), rtol=0, atol=4 * UNIT_ROUNDOFF
    )
    values = np.linalg.eigvalsh(matrix)
    assert values[0] >= -1e-14
    assert values[-1] <= loss.curvature_bound() * ROUNDING


@every_pair
@hunted(FEW, MANY, first=vectors, second=vectors, weight=st.floats(0.0, 1.0), position=positions)
def test_value_is_convex_and_never_negative(loss, arrays, first, second, weight, position):
    first, second, position = first[: loss.outputs], second[: loss.outputs], position % loss.outputs
    ends = [at(arrays.value, point, position) for point in (first, second)]
    middle = at(arrays.value, weight * first + (1 - weight) * second, position)
    # Predictions up to 30 are added and subtracted on the way to a value.
    assert middle <= weight * ends[0] + (1 - weight) * ends[1] + 16 * 64 * UNIT_ROUNDOFF
    assert min(middle, *ends) >= 0


@every_pair
@hunted(FEW, MANY, prediction=vectors, reach=reaches, position=positions)
def test_no_prediction_within_reach_exceeds_the_slope_bound_or_the_pull(loss, arrays, prediction, reach, position):
    position = position % loss.outputs
    prediction = shortened(prediction[: loss.outputs], reach)
    slope = at(arrays.slope, prediction, position)
    assert np.linalg.norm(slope) <= loss.slope_bound(reach, 1.0) * ROUNDING
    # The product rounds in units of its factors.
    room = 4 * loss.outputs * UNIT_ROUNDOFF * float(np.linalg.norm(prediction))
    assert -prediction @ slope <= loss.pull(reach, 1.0) * ROUNDING + room


@every_pair
@pytest.mark.parametrize("reach", [0.1, 1.0, 2.0, 5.0, 40.0])
def test_no_climb_within_reach_exceeds_the_slope_bound_or_the_pull(loss, arrays, reach):
    generator = np.random.default_rng(loss.outputs)
    steepest, outwards = loss.slope_bound(reach, 1.0), loss.pull(reach, 1.0)

    def slope_norm(point: Array) -> float:
        return float(np.linalg.norm(at(arrays.slope, shortened(point, reach), 0)))

    def push(point: Array) -> float:
        inside = shortened(point, reach)
        return float(-inside @ at(arrays.slope, inside, 0))

    for function, bound in ((slope_norm, steepest), (push, outwards)):
        for start in generator.normal(size=(3, loss.outputs)) * reach:
            found = scipy.optimize.minimize(lambda point, climb=function: -climb(point), start, method="BFGS")
            assert -found.fun <= bound * ROUNDING


@every_multinomial_pair
def test_the_slope_bound_is_attained_by_two_classes_and_approached_by_more(loss, arrays):
    # One class ahead of the true one by sqrt(2) times the norm: with two classes there is nothing else to lose.
    for reach in (0.3, 1.0, 4.0, 40.0):
        prediction = np.zeros(loss.outputs)
        prediction[:2] = -reach / math.sqrt(2), reach / math.sqrt(2)
        share = np.linalg.norm(at(arrays.slope, prediction, 0)) / loss.slope_bound(reach, 1.0)
        assert share >= (1 - 1e-9 if loss.outputs == 2 or reach == 40.0 else 0.6)
    assert loss.slope_bound(math.inf, 1.0) == pytest.approx(math.sqrt(2), rel=1e-15)


@every_multinomial_pair
def test_the_curvature_bound_is_attained_by_two_level_classes(loss, arrays):
    prediction = np.full(loss.outputs, -800.0)
    prediction[:2] = 0.0
    assert np.linalg.eigvalsh(curvature_matrix(arrays, prediction, 0))[-1] == pytest.approx(0.5, rel=1e-14)


@every_multinomial_pair
def test_the_pull_is_attained_where_all_other_classes_are_level(loss, arrays):
    prediction = np.zeros(loss.outputs)
    prediction[0] = 1 + lambertw((loss.outputs - 1) / math.e).real
    reached = -prediction @ at(arrays.slope, prediction, 0)
    assert 0.999 * loss.pull(math.inf, 1.0) <= reached <= loss.pull(math.inf, 1.0) * ROUNDING


@every_loss
@hunted(FEW, MANY, low=reaches, high=reaches, row_norm=st.floats(1e-2, 1e2))
def test_constants_grow_with_the_reach(loss, low, high, row_norm):
    low, high = sorted((low, high))
    assert loss.slope_bound(low, 1.0) <= loss.slope_bound(high, 1.0)
    assert loss.pull(low, 1.0) <= loss.pull(high, 1.0) <= loss.pull(math.inf, 1.0)
    assert loss.gradient_diameter(row_norm, low, 1.0) <= loss.gradient_diameter(row_norm, high, 1.0)


@every_pair
@pytest.mark.parametrize("size", [750.0, 1e5, 1e300])
def test_extreme_predictions_raise_nothing_and_give_no_nan(loss, arrays, size):
    # Warnings are errors in this suite: an overflow would be one.
    for signs in (np.ones(loss.outputs), -np.ones(loss.outputs), np.resize([1.0, -1.0], loss.outputs)):
        for function in (arrays.value, arrays.slope, arrays.curvature):
            assert np.isfinite(at(function, size * signs, loss.outputs - 1)).all()


def gradient_distance(arrays: LossArrays, weights: Array, rows: Array, labels: Array) -> Array:
    """Return ``||g_z(W) - g_z'(W)||`` for stacks of weights (k, K, 2), row pairs (k, 2, 2) and label pairs (k, 2)."""
    margins = np.einsum("kod,kpd->kpo", weights, rows)
    slopes = arrays.slope(margins.reshape(-1, arrays.loss.outputs), labels.ravel()).reshape(margins.shape)
    gradients = np.einsum("kpo,kpd->kpod", slopes, rows)
    return np.linalg.norm(gradients[:, 0] - gradients[:, 1], axis=(1, 2))


def inside(points: Array, radius: float) -> Array:
    """Cut each vector, matrices as one, to the radius; the first axis counts them."""
    norms = np.sqrt((points.reshape(len(points), -1) ** 2).sum(axis=1))
    return points * np.minimum(1.0, radius / np.maximum(norms, 1e-300)).reshape(-1, *[1] * (points.ndim - 1))


def largest_gradient_distance(arrays: LossArrays, row_norm: float, radius: float) -> float:
    """Return the largest distance of two gradients that random draws and local refinement find."""
    generator, count, outputs = np.random.default_rng(1), 6000, arrays.loss.outputs
    weights = inside(generator.normal(size=(count, outputs, 2)) * radius, radius)
    # Half of the weights tell two classes apart along one axis, and half of the pairs mirror each other there: where
    # long weights bring the gradients furthest apart.
    half = count // 2
    weights[:half] = 0.0
    weights[:half, 0, 0], weights[:half, 1, 0] = -radius / math.sqrt(2), radius / math.sqrt(2)
    rows = generator.normal(size=(count, 2, 2))
    rows[:, :, 0] *= generator.uniform(size=count)[:, None]
    rows = inside(rows.reshape(-1, 2) * 10 * row_norm, row_norm).reshape(rows.shape)
    rows[:half, 1] = rows[:half, 0] * [1.0, -1.0]
    labels = generator.integers(0, outputs, size=(count, 2)).astype(float)
    labels[: half // 2] = 0.0
    distances = gradient_distance(arrays, weights, rows, labels)
    best = float(distances.max())
    for start in np.argsort(-distances)[:2]:
        fixed = labels[start : start + 1]

        def negative(point: Array, fixed: Array = fixed) -> float:
            moved = inside(point[: 2 * outputs].reshape(1, outputs, 2), radius)
            pair = inside(point[2 * outputs :].reshape(2, 2), row_norm)[None]
            return -float(gradient_distance(arrays, moved, pair, fixed)[0])

        point = np.concatenate([weights[start].ravel(), rows[start].ravel()])
        found = scipy.optimize.minimize(negative, point, method="Powell", options={"maxfev": 1000})
        best = max(best, -float(found.fun))
    return best


@every_pair
@pytest.mark.parametrize(("row_norm", "reach"), [(1.0, 0.3), (2.5, 1.0), (1.0, 3.0), (0.4, 10.0), (1.0, 40.0)])
def test_search_stays_below_the_gradient_diameter_and_comes_near_for_long_weights(loss, arrays, row_norm, reach):
    claimed = loss.gradient_diameter(row_norm, reach / row_norm, 1.0)
    found = largest_gradient_distance(arrays, row_norm, reach / row_norm)
    assert found <= claimed * ROUNDING
    # Twice the largest gradient is the limit of long weights (A2), so a search that falls short there is a weak one.
    assert found >= (0.95 if reach >= 40 else 0.5) * claimed


@every_pair
@hunted(
    FEW,
    MANY,
    prediction=vectors,
    position=positions,
)
def test_scalars_and_arrays_agree(loss, arrays, prediction, position):
    prediction, position = prediction[: loss.outputs], position % loss.outputs
    # The logarithm of the sum and the chosen prediction are as large as the predictions, and round by a few units.
    room = 8 * UNIT_ROUNDOFF * (1 + float(np.abs(prediction).max()))
    assert loss.value(prediction.tolist(), position) == pytest.approx(
        float(at(arrays.value, prediction, position)), rel=1e-15, abs=room
    )
    trace = float(at(arrays.curvature, prediction, position).sum())
    assert known(loss).curvature_trace(prediction.tolist()) == pytest.approx(trace, rel=1e-12, abs=4 * UNIT_ROUNDOFF)


@every_loss
def test_several_outputs_have_no_slope_that_a_loop_of_one_output_could_take(loss):
    with pytest.raises(InvalidParameter, match="a loss of one output"):
        compiled_slope(loss)
    with pytest.raises(NotImplementedError):
        loss.slope(0.0, 0.0)


@pytest.mark.parametrize("classes", range(2, 257))
def test_the_pull_is_lamberts_function_and_a_margin(classes):
    # Ours and SciPy's end on the same number or on its neighbour.
    expected = float(lambertw((classes - 1) / math.e).real)
    assert lambert((classes - 1) / math.e) == pytest.approx(expected, rel=2 * UNIT_ROUNDOFF)
    pull = losses.members()["multinomial"](classes).pull(math.inf, 1.0)
    assert pull == pytest.approx(expected * (1 + 1e-12), rel=4 * UNIT_ROUNDOFF)
    with mpmath.workdps(40):
        assert mpmath.lambertw((classes - 1) / mpmath.e) < pull


NOISES = {
    "gaussian": lambda generator, shape: generator.normal(size=shape),
    "laplace": lambda generator, shape: generator.laplace(scale=math.sqrt(0.5), size=shape),
    # A direction and an independent Gamma length, as the spherical law; its length is set to the same deviation.
    "spherical": lambda generator, shape: (
        (directions := generator.normal(size=shape))
        / np.linalg.norm(directions, axis=1, keepdims=True)
        * generator.gamma(shape[1], size=(shape[0], 1))
        / math.sqrt(shape[1] + 1)
    ),
}


@every_pair
@pytest.mark.parametrize("noise", NOISES)
def test_the_mean_rise_under_noise_in_the_free_coordinates_stays_below_its_cost(loss, arrays, noise):
    # Pairs z and -z cancel the first order, which is symmetric noise's mean. If the claim holds, a mean of 20,000 pairs
    # exceeds it by 5 standard errors with probability below 3e-7; 15 cases a loss and noise: below 5e-6.
    generator = np.random.default_rng(7)
    standard = NOISES[noise](generator, (20_000, loss.free_outputs))
    targets = np.zeros(len(standard))
    shapes = [np.zeros(loss.outputs), np.eye(loss.outputs)[0], *generator.normal(size=(3, loss.outputs))]
    for deviation in (0.05, 0.5, 3.0):
        moves = arrays.full(deviation * standard.T).T
        for prediction in shapes:
            here = at(arrays.value, prediction, 0)
            rises = (arrays.value(prediction + moves, targets) + arrays.value(prediction - moves, targets)) / 2 - here
            error = float(rises.std()) / math.sqrt(len(rises))
            assert rises.mean() - 5 * error <= known(loss).noise_cost(deviation, rotation_invariant=True)
            if deviation == 0.05 and not prediction.any():
                # Level classes have the largest trace, and little noise sees nothing else: the cost is not a loose one.
                assert rises.mean() >= 0.95 * known(loss).noise_cost(deviation, rotation_invariant=True)


@every_pair
@hunted(FEW, MANY, numbers=drawn_arrays(np.float64, (MOST_OUTPUTS, 3), elements=st.floats(-1e3, 1e3)))
def test_free_and_full_are_inverse_isometries_onto_the_zero_sum_space(loss, arrays, numbers):
    free, weights = numbers[: loss.free_outputs], numbers[: loss.outputs]
    scale = 1e-13 * (1 + np.abs(numbers).max())
    full = arrays.full(free)
    assert full.shape == (loss.outputs, 3)
    np.testing.assert_allclose(full.sum(axis=0), 0, atol=scale)
    np.testing.assert_allclose(arrays.free(full), free, rtol=0, atol=scale)
    assert np.linalg.norm(full) == pytest.approx(np.linalg.norm(free), rel=1e-13, abs=scale)
    # Other weights lose their mean over the outputs, which no prediction of probabilities sees.
    np.testing.assert_allclose(arrays.full(arrays.free(weights)), weights - weights.mean(axis=0), rtol=0, atol=scale)
    assert np.linalg.norm(arrays.free(weights)) <= np.linalg.norm(weights) * ROUNDING


@hunted(FEW, MANY, prediction=drawn_arrays(np.float64, 2, elements=entries), position=st.integers(0, 1))
def test_two_classes_are_the_logistic_loss_of_the_difference(prediction, position):
    pair, single = losses.named("multinomial:2"), losses.named("logistic")
    two, logistic = arrays_of(pair), arrays_of(single)
    difference, code = np.array([prediction[1] - prediction[0]]), np.array([2.0 * position - 1])
    slope = logistic.slope(difference, code)[0]
    room = 64 * UNIT_ROUNDOFF
    assert at(two.value, prediction, position) == pytest.approx(logistic.value(difference, code)[0], abs=room)
    np.testing.assert_allclose(at(two.slope, prediction, position), [-slope, slope], rtol=0, atol=room)
    bend = logistic.curvature(difference, code)[0]
    expected = bend * np.array([[1.0, -1.0], [-1.0, 1.0]])
    np.testing.assert_allclose(curvature_matrix(two, prediction, position), expected, rtol=0, atol=room)
    assert pair.pull(math.inf, 1.0) == pytest.approx(single.pull(math.inf, 1.0), rel=1e-9)


def test_two_classes_have_the_minimiser_of_the_logistic_loss_with_half_the_ridge():
    # Weights -v/2 and v/2 have half the squared norm of v.
    generator = np.random.default_rng(3)
    domain, alpha = eq.Domain(1.0, classes=(0, 1)), 0.02
    X, labels = generator.normal(size=(200, 3)), generator.integers(0, 2, size=200).astype(float)
    goal = Target(tolerance=1e-11, smoothness=1.0, strong_convexity=alpha / 2, start_distance=20.0, radius=None)
    rows = Rows(X, domain, 0.0)
    both = Objective(losses.named("multinomial:2"), penalties.named("l2", alpha), rows, labels)
    single = Objective(losses.named("logistic"), penalties.named("l2", alpha / 2), rows, 2 * labels - 1)
    pair = solvers.named("newton-conjugate").solve(both, goal).reshape(2, 3)
    plain = solvers.named("newton").solve(single, goal)
    np.testing.assert_allclose(pair[1] - pair[0], plain, rtol=0, atol=4 * goal.tolerance / goal.strong_convexity)
    assert np.linalg.norm(plain) > 0.01


@every_loss
def test_the_name_turns_back_into_the_loss(loss):
    assert losses.named(loss.name) == loss
    assert losses.named(loss.name).outputs == loss.outputs


@pytest.mark.parametrize("classes", [1, 0, -3, 2.5, math.nan, math.inf, -math.inf])
def test_a_number_of_classes_that_cannot_be_is_refused(classes):
    with pytest.raises(InvalidParameter):
        losses.members()["multinomial"](classes)
    with pytest.raises(InvalidParameter):
        losses.named(f"multinomial:{classes}")


@pytest.mark.parametrize("name", ["multinomial:", "multinomial:three", "multinomial:3:4"])
def test_a_text_that_is_no_number_of_classes_is_refused(name):
    with pytest.raises(EquipoiseError):
        losses.named(name)


THREE = eq.Domain(row_norm=1.0, classes=("a", "b", "c"))
OPEN = 1e13


@pytest.fixture(scope="module")
def table() -> tuple[Array, NDArray[np.str_]]:
    generator = np.random.default_rng(11)
    X = generator.normal(size=(400, 4))
    X /= np.maximum(1, np.linalg.norm(X, axis=1, keepdims=True))
    scores = 3 * X @ generator.normal(size=(4, 3)) + [0.5, 0.0, -0.5]
    return X, np.array(THREE.classes)[(scores + generator.gumbel(size=scores.shape)).argmax(axis=1)]


@pytest.mark.parametrize("alpha", [1.0, 1e-2, 1e-4])
def test_without_noise_several_classes_are_scikit_learns(table, alpha):
    X, labels = table
    ours = eq.LogisticRegression(epsilon=OPEN, domain=THREE, alpha=alpha, random_state=0).fit(X, labels)
    plain = PlainLogisticRegression(
        C=1 / (alpha * len(X)), fit_intercept=False, solver="newton-cg", tol=1e-10, max_iter=1000
    ).fit(np.hstack([X, np.full((len(X), 1), INTERCEPT_SHARE)]), labels)
    expected = plain.coef_ - plain.coef_.mean(axis=0)
    assert ours.classes_.tolist() == plain.classes_.tolist()
    np.testing.assert_allclose(ours.coef_, expected[:, :-1], rtol=0, atol=1e-6)
    np.testing.assert_allclose(ours.intercept_, INTERCEPT_SHARE * expected[:, -1], rtol=0, atol=1e-6)
    probabilities = plain.predict_proba(np.hstack([X, np.full((len(X), 1), INTERCEPT_SHARE)]))
    np.testing.assert_allclose(ours.predict_proba(X), probabilities, rtol=0, atol=1e-6)


@pytest.mark.parametrize("count", [3, 5])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_one_certificate_covers_all_classes_with_the_epsilon_that_was_asked(table, count, fit_intercept):
    X, _ = table
    domain = eq.Domain(1.0, classes=tuple(range(count)))
    model = eq.LogisticRegression(
        epsilon=1.7, domain=domain, alpha=0.1, mechanism="spherical-laplace", fit_intercept=fit_intercept
    )
    planned = model.plan(*X.shape)
    certificate = model.fit(X, np.arange(len(X)) % count).certificate_
    assert certificate.release is not None
    assert dataclasses.replace(certificate, release=None) == planned
    assert certificate.epsilon == 1.7
    assert certificate.delta == 0
    assert certificate.claim.noise.dimension == (count - 1) * (X.shape[1] + fit_intercept)
    # The spherical law's scale is sensitivity / epsilon: a split epsilon would make it `count` times as large.
    assert certificate.noise_scale == pytest.approx(certificate.sensitivity / 1.7, rel=1e-6)
    assert certificate.verify() == ()
    assert model.coef_.shape == (count, X.shape[1])
    sizes = 1e-13 * (1 + np.abs(model.coef_).max())
    np.testing.assert_allclose(model.coef_.sum(axis=0), 0, atol=sizes)
    assert abs(model.intercept_.sum()) <= sizes


@pytest.mark.parametrize("draws", [400, pytest.param(1200, marks=pytest.mark.statistics)])
@pytest.mark.parametrize("mechanism", ["spherical-laplace", "laplace", "gaussian"])
def test_the_released_noise_is_isotropic_in_the_zero_sum_space(mechanism, draws):
    # Directions of isotropic noise of dimension 4 have second moments I / 4; independent Laplace noise has the same
    # by symmetry. With 1,200 draws an entry strays by 5 standard errors with probability below 6e-7: 10 entries, 3
    # laws, below 2e-5. With 400 draws the skew of squares counts: below 3e-6 an entry, 1e-4 together. The variance
    # of a product of entries of a unit vector is measured.
    loss = losses.named("multinomial:3")
    X, y = np.array([[0.5], [-0.5], [0.1]]), np.array(THREE.classes)
    budget = {"epsilon": 1.0, "delta": 1e-6 if mechanism == "gaussian" else 0.0}
    settled = {"domain": THREE, "alpha": 1.0}
    column = INTERCEPT_SHARE * THREE.row_norm

    def weights(model: eq.LogisticRegression) -> Array:
        fitted = model.fit(X, y)
        return np.column_stack([fitted.coef_, fitted.intercept_ / column])

    exact = weights(eq.LogisticRegression(epsilon=OPEN, random_state=0, **settled))
    noise = np.array(
        [
            weights(eq.LogisticRegression(**budget, mechanism=mechanism, random_state=seed, **settled)) - exact
            for seed in range(draws)
        ]
    )
    np.testing.assert_allclose(noise.sum(axis=1), 0, atol=1e-12)
    free = np.array([arrays_of(loss).free(draw).ravel() for draw in noise])
    directions = free / np.linalg.norm(free, axis=1, keepdims=True)
    products = directions[:, :, None] * directions[:, None, :]
    errors = products.std(axis=0) / math.sqrt(len(products))
    assert (np.abs(products.mean(axis=0) - np.eye(4) / 4) <= 5 * errors).all()
    certificate = eq.LogisticRegression(**budget, mechanism=mechanism, random_state=0, **settled).plan(3, 1)
    squares = (free**2).mean(axis=1) / deviation_of(certificate.claim.noise) ** 2
    assert abs(squares.mean() - 1) <= 5 * squares.std() / math.sqrt(len(squares))
