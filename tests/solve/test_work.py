"""No table makes a solver need more passes than its certificate says (docs/proofs/N10.md)."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

import equipoise as eq
from equipoise.certify.work import accelerates, corner_tolerance, momentum_tolerance, solver_passes
from equipoise.data.rows import row_source
from equipoise.release.carriers.base import target_of
from equipoise.solve import solvers
from equipoise.solve.fine_rows import FineBlock
from equipoise.solve.objective import Objective
from equipoise.solve.solvers.base import Target, constrained_subgradient
from equipoise.solve.solvers.dual import averaged
from equipoise.solve.solvers.gradient import _Projected

CLASSES = {"row_norm": 1.0, "classes": (0, 1)}
NUMBERS = {"row_norm": 1.0, "labels": (-1.0, 1.0)}
# Public settings at which fallbacks were once needed, or nearly: few rows, weak ridges, sharp losses.
MODELS = {
    "logistic": lambda: eq.LogisticRegression(alpha=1e-4, mechanism="output", domain=eq.Domain(**CLASSES)),
    "objective": lambda: eq.LogisticRegression(alpha=0.05, mechanism="objective", domain=eq.Domain(**CLASSES)),
    "radius": lambda: eq.LogisticRegression(alpha=1e-3, mechanism="output", domain=eq.Domain(**CLASSES, radius=2.0)),
    "classes": lambda: eq.LogisticRegression(alpha=1e-3, mechanism="output", domain=eq.Domain(1.0, classes=(0, 1, 2))),
    "sharp": lambda: eq.LinearSVC(
        loss="smooth-hinge:1e-3", alpha=0.01, mechanism="output", domain=eq.Domain(**CLASSES)
    ),
    "hinge": lambda: eq.LinearSVC(alpha=0.05, domain=eq.Domain(**CLASSES)),
    "absolute": lambda: eq.PhasedRegressor(loss="absolute", delta=1e-3, step=0.1, domain=eq.Domain(**NUMBERS)),
    "net": lambda: eq.ElasticNetClassifier(alpha=1e-3, l1_ratio=0.5, domain=eq.Domain(**CLASSES)),
    "bridge": lambda: eq.BridgeRegressor(alpha=0.5, power=1.5, domain=eq.Domain(**NUMBERS)),
    "huber": lambda: eq.HuberRegressor(cap=1e-2, alpha=1e-2, mechanism="output", domain=eq.Domain(**NUMBERS)),
    "ridge": lambda: eq.Ridge(alpha=1e-4, mechanism="output", domain=eq.Domain(**NUMBERS)),
}
ROWS, COLUMNS = 60, 5


@pytest.fixture
def counted(monkeypatch):
    """Every objective that a fit makes, whose passes were counted."""
    made = []
    plain = Objective.__init__

    def remembered(self, *arguments, **named):
        plain(self, *arguments, **named)
        if not any(other.passes is self.passes for other in made):
            made.append(self)

    monkeypatch.setattr(Objective, "__init__", remembered)
    return made


def hunted_tables(generator: np.random.Generator, count: int):
    """Yield tables that are likely to be hard: badly scaled, at corners, of equal or opposite rows, separable."""
    for place in range(count):
        X = generator.normal(size=(ROWS, COLUMNS))
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        way = place % 6
        if way == 1:
            X *= 10.0 ** generator.uniform(-8, 0, size=COLUMNS)
        elif way == 2:
            X = np.repeat(X[:2], ROWS // 2, axis=0) * generator.choice([-1.0, 1.0], size=(ROWS, 1))
        elif way == 3:
            X[:, 1:] = X[:, :1] * (1 + 10.0 ** generator.uniform(-12, -2) * X[:, 1:])
        elif way == 4:
            X *= 10.0 ** generator.uniform(-6, 6, size=(ROWS, 1))
        elif way == 5:
            X[: ROWS // 2] = np.nan
        yield X, X[:, 0] + 10.0 ** generator.uniform(-6, 1) * generator.normal(size=ROWS)


def targets_of(model, y: np.ndarray) -> np.ndarray:
    domain = model.domain
    return y if domain.labels is not None else np.digitize(np.nan_to_num(y), [-0.2, 0.2][: len(domain.classes) - 1])


def most_passes(certificate) -> int:
    claim = certificate.claim.main
    return max(phase.passes for phase in claim.phases) if hasattr(claim, "phases") else claim.passes


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("tables", [6, pytest.param(300, marks=pytest.mark.statistics)])
def test_no_hunted_table_needs_more_passes_than_the_certificate_says(name, tables, counted):
    model = MODELS[name]().set_params(random_state=0)
    for X, y in hunted_tables(np.random.default_rng(7), tables):
        model.fit(X, targets_of(model, y))
    limit = most_passes(model.certificate_)
    assert counted, "no objective was met"
    assert max(objective.passes.made for objective in counted) <= limit
    # What is recorded is what the theorem says, no round number on top.
    assert not model.certificate_.verify()


@pytest.mark.parametrize("name", ["logistic", "radius", "classes", "sharp", "hinge", "net", "bridge", "ridge"])
@pytest.mark.parametrize("tables", [2, pytest.param(60, marks=pytest.mark.statistics)])
def test_the_last_resort_alone_stays_within_the_number(name, tables, counted, monkeypatch):
    """With nothing tried first: the part of the number that is proved and not imposed."""
    monkeypatch.setattr(Target, "first", lambda self, objective: False)
    monkeypatch.setattr("equipoise.solve.solvers.smoothing.first", lambda objective, target: False)
    model = MODELS[name]().set_params(random_state=0)
    for X, y in hunted_tables(np.random.default_rng(8), tables):
        model.fit(X, targets_of(model, y))
    assert max(objective.passes.made for objective in counted) <= most_passes(model.certificate_)


def test_a_loss_so_sharp_that_plain_steps_took_hours_ends_after_known_passes(counted):
    """Once 2e9 steps on this table, and 0.2 s on a neighbour."""
    settings = {"alpha": 0.01, "mechanism": "output", "domain": eq.Domain(**CLASSES), "random_state": 0}
    model = eq.LinearSVC(loss="smooth-hinge:1e-05", **settings)
    generator = np.random.default_rng(0)
    X, y = generator.normal(size=(100, 401)), generator.integers(0, 2, size=100)
    limit = model.plan(*X.shape).claim.passes
    assert limit < 10**6
    model.fit(X, y)
    # What is tried first does not arrive: momentum does.
    assert 1000 < max(objective.passes.made for objective in counted) <= limit


@pytest.mark.parametrize("limit", [*range(1, 12), 20, 40])
@pytest.mark.parametrize("radius", [None, 0.3])
@pytest.mark.parametrize("largest", [0, 400])
def test_wherever_the_first_attempts_are_cut_off_accepted_weights_return(limit, radius, largest, monkeypatch):
    """The number of passes at which they stop is met in the middle of any of their loops."""
    monkeypatch.setattr("equipoise.solve.objective.LARGEST_HESSIAN", largest)
    monkeypatch.setattr(Target, "first", lambda self, objective: objective.passes.made < limit)
    objective, target, _ = smooth_problem(1e-3)
    target = replace(target, radius=radius, start_distance=radius or target.start_distance)
    weights = solvers.suited(objective).solve(objective, target)
    subgradient = constrained_subgradient(weights, objective.gradient(weights), target)
    assert np.linalg.norm(subgradient) <= target.tolerance


@pytest.mark.parametrize("limit", [*range(1, 12), 20, 40])
@pytest.mark.parametrize("name", ["net", "bridge", "hinge", "classes"])
@pytest.mark.parametrize("largest", [0, 400])
def test_wherever_they_are_cut_off_a_fit_ends_in_a_model(name, limit, largest, monkeypatch):
    monkeypatch.setattr("equipoise.solve.objective.LARGEST_HESSIAN", largest)
    monkeypatch.setattr(Target, "first", lambda self, objective: objective.passes.made < limit)
    for room in ("dual", "smoothing"):
        monkeypatch.setattr(
            f"equipoise.solve.solvers.{room}.first", lambda objective, target: objective.passes.made < limit
        )
    model = MODELS[name]().set_params(random_state=0)
    X, y = next(hunted_tables(np.random.default_rng(9), 1))
    assert np.isfinite(model.fit(X, targets_of(model, y)).coef_).all()


def smooth_problem(alpha: float, n: int = 300):
    generator = np.random.default_rng(3)
    X = generator.normal(size=(n, COLUMNS))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    # Curvatures that differ: plain steps are slow along the shortest column.
    X *= [1.0, 0.1, 0.03, 0.01, 0.003]
    domain = eq.Domain(**CLASSES)
    model = eq.LogisticRegression(alpha=alpha, mechanism="output", domain=domain, fit_intercept=False)
    claim = model.plan(n, COLUMNS).claim
    codes = np.where(X[:, 0] / 3 + 50 * X[:, -1] > 0, 1.0, -1.0)
    objective = Objective(claim.problem.loss, claim.problem.penalty, row_source(X, domain, 0.0), codes)
    return objective, target_of(claim, claim.tolerance), claim


def test_momentum_arrives_where_plain_steps_are_still_far():
    objective, target, claim = smooth_problem(1e-5)
    assert accelerates(claim.setting())
    found = _Projected(objective, target)._with_momentum()
    made = objective.passes.made
    assert found is not None
    assert made <= 1.1 * target.accelerated_steps + 10
    again, _, _ = smooth_problem(1e-5)
    plain = _Projected(again, replace(target))
    point = np.zeros(COLUMNS)
    for _ in range(made):
        point = plain.onward(point, plain.objective.gradient(point))
    assert np.linalg.norm(plain.objective.gradient(point)) > target.tolerance


def test_a_wrong_momentum_is_noticed(monkeypatch):
    """Steps that forget their momentum need more than the number: the test above can fail."""
    objective, target, _ = smooth_problem(1e-7)
    monkeypatch.setattr("equipoise.solve.solvers.last_resort.math.sqrt", lambda _: 1.0)
    assert _Projected(objective, target)._with_momentum() is None


def test_the_dual_average_passes_where_the_last_weights_do_not():
    """Why N10 averages: at the weights of the last slopes the primal gap falls only like a root."""
    generator = np.random.default_rng(5)
    X = generator.normal(size=(400, COLUMNS))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    domain = eq.Domain(**CLASSES)
    claim = eq.LinearSVC(alpha=1e-3, domain=domain, fit_intercept=False).plan(400, COLUMNS).claim
    codes = np.where(generator.random(400) > 0.5, 1.0, -1.0)
    objective = Objective(claim.problem.loss, claim.problem.penalty, row_source(X, domain, 0.0), codes)
    target = target_of(claim, claim.tolerance)
    weights = averaged(objective, target)
    exact = solvers.named("smoothing").solve(objective, replace(target, tolerance=target.tolerance / 10))
    assert np.linalg.norm(weights - exact) <= 1.1 * target.tolerance / target.strong_convexity


@pytest.mark.parametrize("rows", [np.ones((130, 3)), sparse.csr_array(np.ones((130, 3)))])
def test_fine_blocks_add_up_all_rows(rows):
    slopes = np.arange(130.0)
    np.testing.assert_allclose(slopes @ FineBlock(rows), np.full(3, slopes.sum()))
    several = np.vstack([slopes, 2 * slopes])
    np.testing.assert_allclose(several @ FineBlock(rows), np.outer([1, 2], np.full(3, slopes.sum())))
    np.testing.assert_array_equal(FineBlock(rows) @ np.ones(3), np.full(130, 3.0))


def test_fine_sums_are_finer():
    """The unit of N10 is below that of A4, and a sum of many rows of one sign keeps to it."""
    values = np.random.default_rng(0).random(4096)
    exact = math.fsum(values)
    found = float((np.ones(4096) @ FineBlock(values[:, None]))[0])
    assert abs(found - exact) <= (2 * 64 + 1) * 2.0**-53 * exact


def test_a_tolerance_below_what_rounding_allows_is_counted_by_plain_steps_or_not_at_all():
    _, _, claim = smooth_problem(1e-3)
    where = claim.setting()
    below = replace(where, recipe=replace(where.recipe, tolerance=momentum_tolerance(where) * 0.99))
    above = replace(where, recipe=replace(where.recipe, tolerance=momentum_tolerance(where) * 1.01))
    assert solver_passes(below) > 2 * solver_passes(above)
    corners = eq.LinearSVC(alpha=0.05, domain=eq.Domain(**CLASSES)).plan(300, COLUMNS).claim.setting()
    short = replace(corners, recipe=replace(corners.recipe, tolerance=corner_tolerance(corners) * 0.99))
    assert math.isinf(solver_passes(short))
    assert math.isfinite(solver_passes(corners))


def test_a_certificate_with_too_few_passes_does_not_check():
    claim = smooth_problem(1e-3)[2]
    assert not claim.check()
    assert any("N10" in fault for fault in replace(claim, passes=claim.passes - 1).check())
    assert not replace(claim, passes=None).check(), "certificates from before this number still hold"
