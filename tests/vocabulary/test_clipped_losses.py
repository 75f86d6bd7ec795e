"""Clipped slopes, typical slopes, and what objective perturbation is told about a loss (B7, E2, E3a)."""

import functools
import itertools
import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog, minimize

import equipoise as eq
from equipoise.data.rows import Rows
from equipoise.errors import InvalidParameter
from equipoise.planning.issue import asked_for
from equipoise.planning.losses import known
from equipoise.planning.rules import public_tolerance
from equipoise.solve import solvers
from equipoise.solve.losses import arrays_of
from equipoise.solve.objective import Objective
from equipoise.solve.solvers.base import Target
from equipoise.vocabulary import losses, penalties
from equipoise.vocabulary.constants import constants
from equipoise.vocabulary.facts import Domain, Problem
from equipoise.vocabulary.losses import Loss

Array = NDArray[np.float64]

BASES = ("logistic", "squared", "huber:1.5")
CAPS = (0.05, 0.3, 0.5, 0.9, 1.0, 3.0)
GRID = np.concatenate([np.linspace(-8, 8, 1601), [-700.0, -40.0, 40.0, 700.0]])


def targets_of(loss: Loss) -> tuple[float, ...]:
    return (-1.0, 1.0) if loss.task == "classification" else (-2.0, -0.3, 0.0, 2.0)


@pytest.mark.parametrize("cap", CAPS)
@pytest.mark.parametrize("base", BASES)
def test_the_slope_of_a_clipped_loss_is_the_clipped_slope(base, cap):
    plain_loss = losses.named(base)
    clipped_loss = known(plain_loss).clipped(cap)
    plain, clipped = arrays_of(plain_loss), arrays_of(clipped_loss)
    for target in targets_of(plain_loss):
        y = np.full_like(GRID, target)
        slopes = clipped.slope(GRID, y)
        np.testing.assert_allclose(slopes, np.clip(plain.slope(GRID, y), -cap, cap), rtol=1e-14, atol=1e-300)
        assert (np.abs(slopes) <= min(cap, plain_loss.slope_bound(math.inf, 2.0))).all()
        # Nowhere does it fall, so that the loss is convex; and it is curved as the loss is, or not at all.
        assert (np.diff(slopes[:1601]) >= -1e-15).all()
        curvatures = clipped.curvature(GRID, y)
        unclipped = np.abs(plain.slope(GRID, y)) < cap * (1 - 1e-12)
        np.testing.assert_allclose(curvatures[unclipped], plain.curvature(GRID, y)[unclipped], rtol=1e-14)
        assert (curvatures[np.abs(plain.slope(GRID, y)) > cap * (1 + 1e-12)] == 0).all()
        assert curvatures.max() <= clipped_loss.curvature_bound() * (1 + 1e-14)


@pytest.mark.parametrize("cap", CAPS)
@pytest.mark.parametrize("base", BASES)
def test_the_value_of_a_clipped_loss_is_the_integral_of_its_slope(base, cap):
    plain = losses.named(base)
    clipped = known(plain).clipped(cap)
    nodes, weights = np.polynomial.legendre.leggauss(40)
    for target in targets_of(plain):
        # Where the loss is least, its clipped form agrees with it.
        start = target if plain.task == "regression" else 60.0 * target
        assert clipped.value(start, target) == pytest.approx(plain.value(start, target), abs=1e-15)
        for end in (-6.0, -1.0, 0.0, 0.4, 2.0, 7.0):
            total = 0.0
            # Pieces so short that a corner inside one hardly matters.
            ends = np.linspace(start, end, 401)
            for low, high in itertools.pairwise(ends):
                points = (low + high) / 2 + (high - low) / 2 * nodes
                slopes = arrays_of(clipped).slope(points, np.full_like(points, target))
                total += float(weights @ slopes) * (high - low) / 2
            found = clipped.value(end, target) - clipped.value(start, target)
            assert found == pytest.approx(total, rel=1e-5, abs=1e-5)
            # Below the loss, and never by more than the part of the slope that was cut off.
            assert clipped.value(end, target) <= plain.value(end, target) + 1e-14


def clipped(name: str, *caps: float) -> Loss:
    """Return a loss clipped at one cap after the other."""
    return functools.reduce(lambda loss, cap: known(loss).clipped(cap), caps, losses.named(name))


def test_clipping_twice_clips_at_the_smaller_cap_and_a_name_is_read_back():
    for base, (first, second) in itertools.product(BASES, ((0.3, 0.7), (0.7, 0.3))):
        twice = clipped(base, first, second)
        assert twice == clipped(base, 0.3)
        assert losses.named(twice.name) == twice
    assert clipped("logistic", 1.0) == losses.named("logistic")
    assert clipped("huber:1.5", 9.0) == losses.named("huber:1.5")
    for unclippable in ("multinomial:3", "smooth-hinge", "hinge", "absolute"):
        assert clipped(unclippable, 0.1) == losses.named(unclippable)


@pytest.mark.parametrize(
    "name", ["clipped-logistic:0", "clipped-squared:-1", "clipped-logistic:nan", "clipped-squared:inf"]
)
def test_a_cap_that_is_no_positive_number_is_refused_with_a_remedy(name):
    with pytest.raises(InvalidParameter, match="to do: pass the largest pull of one row"):
        losses.named(name)


@pytest.mark.parametrize("radius", [None, 0.8])
@pytest.mark.parametrize("cap", [0.2, 0.5])
@pytest.mark.parametrize("base", BASES)
def test_the_minimiser_of_a_clipped_problem_is_scipy_s(base, cap, radius):
    plain = losses.named(base)
    loss, alpha = known(plain).clipped(cap), 0.05
    generator = np.random.default_rng(0)
    X = generator.normal(size=(80, 3))
    X /= np.maximum(1, np.linalg.norm(X, axis=1, keepdims=True))
    scores = 2 * X @ [1.0, -0.5, 0.3] + 0.5 * generator.normal(size=80)
    y = np.where(scores > 0, 1.0, -1.0) if plain.task == "classification" else np.clip(scores, -2, 2)
    target = {"classes": (0, 1)} if plain.task == "classification" else {"labels": (-2.0, 2.0)}
    domain = Domain(1.0, radius=radius, **target)
    problem = Problem(loss, penalties.named("l2", alpha), domain)
    facts = constants(problem)
    aim = Target(public_tolerance(facts, 80, 3, 1e3), facts.smoothness + alpha, alpha, facts.radius, radius)
    objective = Objective(loss, problem.penalty, Rows(X, domain, 0.0), y)
    found = solvers.suited(objective).solve(objective, aim)

    def value(weights: Array) -> float:
        """Return the objective from the unclipped loss alone, its slope cut off where it is too steep."""
        margins = X @ weights
        if base == "logistic":
            corner = math.log((1 - cap) / cap)
            bent = np.maximum(y * margins, corner)
            each = np.log1p(np.exp(-bent)) + cap * np.maximum(0.0, corner - y * margins)
        else:
            size, full = np.abs(margins - y), cap / 2 if base == "squared" else cap
            square = size**2 if base == "squared" else size**2 / 2
            at_corner = full**2 if base == "squared" else full**2 / 2
            each = np.where(size <= full, square, at_corner + cap * (size - full))
        return float(each.mean() + alpha / 2 * weights @ weights)

    within = [] if radius is None else [{"type": "ineq", "fun": lambda w: radius**2 - w @ w}]
    options = {"maxiter": 2000, "ftol": 1e-15} if within else {"gtol": 1e-9, "maxiter": 2000}
    by_scipy = minimize(
        value, np.zeros(3), method="SLSQP" if within else "BFGS", constraints=within or (), options=options
    )
    assert value(found) <= by_scipy.fun + 1e-10
    np.testing.assert_allclose(found, by_scipy.x, atol=2e-4)


TYPICAL = {
    "logistic": 0.5,
    "clipped-logistic:0.3": 0.3,
    "clipped-logistic:0.8": 0.5,
    "multinomial:2": math.sqrt(1 / 2),
    "multinomial:4": math.sqrt(3 / 4),
    "multinomial:10": math.sqrt(9 / 10),
    "smooth-hinge": 1.0,
    "smooth-hinge:2": 0.75,
    "hinge": 1.0,
}


@pytest.mark.parametrize("name", TYPICAL)
def test_the_typical_slope_of_a_classification(name):
    assert known(losses.named(name)).typical_slope(1.0) == pytest.approx(TYPICAL[name], rel=1e-14)


@pytest.mark.parametrize("bound", [0.01, 1.0, 200.0])
def test_the_typical_slope_of_a_regression(bound):
    assert known(losses.named("squared")).typical_slope(bound) == pytest.approx(bound, rel=1e-12)
    assert known(losses.named("absolute")).typical_slope(bound) == 1
    # Even targets over [-Y, Y] of which those beyond the cap count as the cap: cap - cap^2 / (2 Y), or Y / 2.
    for cap in (0.5 * bound, 5 * bound):
        expected = cap - cap**2 / (2 * bound) if cap < bound else bound / 2
        assert known(losses.named(f"huber:{cap!r}")).typical_slope(bound) == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("name", [*TYPICAL, "squared", "huber:0.4", "clipped-squared:0.7"])
def test_a_slope_is_at_least_typical_somewhere_within_reach_of_nothing(name):
    loss = losses.named(name)
    assert 0 < known(loss).typical_slope(2.0) <= loss.slope_bound(0.0, 2.0) * (1 + 1e-12)


SHIFTS = (
    "logistic",
    "clipped-logistic:0.4",
    "smooth-hinge:0.5",
    "squared",
    "huber:0.7",
    "clipped-squared:0.6",
    "multinomial:4",
)
ROW_NORM, RADIUS, LABEL_BOUND = 1.3, 2.0, 0.8


def example(loss: Loss, generator: np.random.Generator) -> tuple[Array, Array]:
    """Return a row, short or of full length, and its coded target."""
    row = generator.normal(size=3)
    row *= ROW_NORM / np.linalg.norm(row) * generator.choice([1.0, 1.0, generator.uniform()])
    if loss.outputs > 1:
        return row, np.array([float(generator.integers(loss.outputs))])
    if loss.task == "classification":
        return row, generator.choice([-1.0, 1.0], size=1)
    return row, LABEL_BOUND * generator.choice([-1.0, 1.0, generator.uniform(-1, 1)], size=1)


def slope_at(loss: Loss, weights: Array, row: Array, target: Array) -> Array:
    """Return the slope, one number an output."""
    scores = (weights @ row)[None, :] if loss.outputs > 1 else weights[0] @ row[:, None]
    return np.ravel(arrays_of(loss).slope(scores, target))


def corners_of(loss: Loss, first: tuple[Array, Array], second: tuple[Array, Array]) -> list[Array]:
    """Return fixed matrices whose hull holds every change of the gradient, as page E3a lists them."""
    (x, y), (z, u) = first, second
    if loss.outputs > 1:
        unit = np.eye(loss.outputs)
        pulls = [[unit[k] - unit[int(label[0])] for k in range(loss.outputs)] for label in (y, u)]
    else:
        high = loss.slope_bound(ROW_NORM * RADIUS, LABEL_BOUND)
        low = loss.slope_floor(ROW_NORM * RADIUS) if loss.one_sided else -high
        pulls = [
            [np.array([-float(label[0]) * size]) if loss.one_sided else np.array([size]) for size in (low, high)]
            for label in (y, u)
        ]
    return [np.outer(one, x) - np.outer(other, z) for one in pulls[0] for other in pulls[1]]


def in_hull(point: Array, corners: list[Array]) -> bool:
    table = np.stack([corner.ravel() for corner in corners], axis=1)
    equations = np.vstack([table, np.ones(table.shape[1])])
    size = max(1.0, float(np.abs(table).max()))
    # The smallest misfit in any coordinate, by linear programming: weights, then the misfit.
    misfit = np.ones((len(equations), 1))
    aim = np.append(point.ravel(), 1.0)
    answer = linprog(
        np.append(np.zeros(table.shape[1]), 1.0),
        A_ub=np.vstack([np.hstack([equations, -misfit]), np.hstack([-equations, -misfit])]),
        b_ub=np.concatenate([aim, -aim]),
    )
    return bool(answer.fun <= 1e-9 * size)


@pytest.mark.parametrize("name", SHIFTS)
def test_changes_of_a_gradient_lie_in_the_hull_of_as_many_corners_as_are_counted(name):
    loss = losses.named(name)
    listed = loss.shift_vertices(ROW_NORM, RADIUS, LABEL_BOUND)
    lengths = sorted((length for count, length in listed for _ in range(count)), reverse=True)
    # One for every pair of pulls; for several classes that of length 0, which costs nothing, is left out.
    counted = loss.outputs**2 - 1 if loss.outputs > 1 else 4
    assert len(lengths) == counted
    generator = np.random.default_rng(7)
    longest = 0.0
    for _ in range(25):
        first, second = example(loss, generator), example(loss, generator)
        corners = corners_of(loss, first, second)
        for place in range(4):
            weights = generator.normal(size=(loss.outputs, 3))
            if place == 0:
                weights = np.outer(generator.normal(size=loss.outputs), first[0])
            weights *= RADIUS * generator.choice([1.0, 0.3]) / np.linalg.norm(weights)
            change = np.outer(slope_at(loss, weights, *first), first[0])
            change = change - np.outer(slope_at(loss, weights, *second), second[0])
            assert np.linalg.norm(change) <= lengths[0] * (1 + 1e-12)
            longest = max(longest, float(np.linalg.norm(change)))
            assert in_hull(change, corners)
        found = sorted((float(np.linalg.norm(corner)) for corner in corners), reverse=True)
        # Sorted, each corner is no longer than its place in the list says; only corners of length 0 are beyond it. With
        # classes, two patterns compete, of which the list is the dearer one.
        assert all(length <= claim * (1 + 1e-12) for length, claim in zip(found, lengths, strict=False))
        assert all(length <= 1e-12 for length in found[len(lengths) :])
    assert longest >= 0.35 * lengths[0]


@pytest.mark.parametrize("name", SHIFTS)
def test_the_longest_corner_is_the_end_of_some_pair(name):
    loss = losses.named(name)
    x = np.array([ROW_NORM, 0.0, 0.0])
    target = np.array([1.0 if loss.task == "classification" else LABEL_BOUND])
    longest = max(length for _, length in loss.shift_vertices(ROW_NORM, RADIUS, LABEL_BOUND))
    found = max(float(np.linalg.norm(corner)) for corner in corners_of(loss, (x, target), (-x, target)))
    assert found == pytest.approx(longest, rel=1e-12)


@pytest.mark.parametrize("share", [1e-4, 0.1, 3.0])
@pytest.mark.parametrize("name", SHIFTS)
def test_the_determinant_price_bounds_the_log_determinant_and_is_reached(name, share):
    """``A >= n alpha``, and one row adds its curvature: the determinant grows by at most the price's exponential."""
    loss = losses.named(name)
    arrays = arrays_of(loss)
    columns, floor, rank = 3, 0.7, loss.free_outputs
    price = rank * math.log1p(loss.trace_bound() * share / rank)
    row_norm = math.sqrt(share * floor)
    generator = np.random.default_rng(1)
    size, best = columns * loss.free_outputs, 0.0
    for trial in range(200):
        # Most of the matrix may be hardly curved beyond its floor.
        root = generator.normal(size=(size, size)) * (0.0 if trial % 4 == 0 else np.exp(generator.uniform(-6, 1)))
        matrix = floor * np.eye(size) + root @ root.T
        row = generator.normal(size=columns)
        row *= row_norm / np.linalg.norm(row)
        if loss.outputs > 1:
            scores = np.exp(generator.uniform(-4, 1)) * generator.normal(size=loss.outputs) * (trial % 8 != 0)
            columnwise = np.stack(
                [
                    arrays.curvature_product(scores[None, :], np.zeros(1), unit[None, :])[0]
                    for unit in np.eye(loss.outputs)
                ]
            )
            curved = arrays.free(arrays.free(columnwise).T)
        else:
            points = np.append(generator.normal(size=8) * 2, [0.0, 1.0, -1.0])
            targets = np.where(points >= 0, 1.0, -1.0)
            curved = np.array([[float(arrays.curvature(points, targets).max())]])
        added = np.kron(curved, np.outer(row, row))
        ratio = np.linalg.slogdet(matrix + added)[1] - np.linalg.slogdet(matrix)[1]
        assert ratio <= price * (1 + 1e-9) + 1e-13
        best = max(best, float(ratio))
    assert best >= 0.99 * price


@pytest.mark.parametrize("name", ["clipped-logistic:0.2", "clipped-logistic:0.05"])
def test_a_loss_clipped_below_one_half_is_curved_less(name):
    loss = losses.named(name)
    points = np.linspace(-9, 9, 20_001)
    largest = float(arrays_of(loss).curvature(points, np.ones_like(points)).max())
    assert 0.999 * loss.curvature_bound() <= largest <= loss.curvature_bound() * (1 + 1e-12)
    assert loss.curvature_bound() < 0.25


@pytest.mark.parametrize(
    "name", ["clipped-logistic:0.3", "clipped-logistic:0.7", "clipped-squared:0.6", "clipped-squared:9"]
)
def test_pull_and_diameter_of_a_clipped_loss_are_never_exceeded_and_reached(name):
    loss = losses.named(name)
    for reach in (0.2, 1.0, 5.0):
        points = np.linspace(-reach, reach, 4001)
        targets = (-1.0, 1.0) if loss.task == "classification" else np.linspace(-LABEL_BOUND, LABEL_BOUND, 41)
        pulls = max(float((-points * arrays_of(loss).slope(points, np.full_like(points, y))).max()) for y in targets)
        claimed = loss.pull(reach, LABEL_BOUND)
        assert pulls <= claimed * (1 + 1e-12)
        assert pulls >= 0.999 * claimed
    # Two rows at equal angles to the weights, on both sides of them: the widest pair of the page on A2.
    for radius in (0.3, 2.0, 20.0):
        cosines = np.linspace(-1, 1, 2001)
        ends = np.array([-1.0, 1.0]) if loss.task == "classification" else np.array([-LABEL_BOUND, LABEL_BOUND])
        sizes = np.max(
            [np.abs(arrays_of(loss).slope(ROW_NORM * radius * cosines, np.full_like(cosines, y))) for y in ends], axis=0
        )
        found = float((2 * ROW_NORM * sizes * np.sqrt(1 - cosines**2)).max())
        claimed = loss.gradient_diameter(ROW_NORM, radius, LABEL_BOUND)
        assert found <= claimed * (1 + 1e-9)
        assert claimed <= 2 * loss.slope_bound(ROW_NORM * radius, LABEL_BOUND) * ROW_NORM * (1 + 1e-12)


def test_estimators_take_no_clipped_loss_behind_the_user_s_back():
    """Where slopes are unclipped the certificate names no other loss; where they are clipped it does, and says so."""
    domain = eq.Domain(1.0, classes=(0, 1))
    plain = eq.LogisticRegression(domain=domain, mechanism="output").plan(500, 3)
    clipped = eq.LogisticRegression(domain=domain, mechanism="objective").plan(500, 3)
    assert plain.claim.problem.loss.name == "logistic"
    assert clipped.claim.problem.loss == losses.named("clipped-logistic:0.5")
    assert asked_for(plain).loss == asked_for(clipped).loss == "logistic"
    assert "clipped-logistic" not in plain.explain()
    assert "The loss is clipped-logistic:0.5; where slopes are clipped, no row pulls harder" in clipped.explain()
