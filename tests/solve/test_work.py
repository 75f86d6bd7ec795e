"""No table makes a solver need more passes than its certificate says (docs/proofs/N10.md)."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

import equipoise as eq
from equipoise.certify.work import accelerates, corner_tolerance, momentum_tolerance, solver_passes
from equipoise.data.rows import row_source
from equipoise.errors import PrivateFailure
from equipoise.planning.issue import forget
from equipoise.release.carriers.base import target_of
from equipoise.solve import solvers
from equipoise.solve.fine_rows import FineBlock, FineRows
from equipoise.solve.objective import Objective, PassCount
from equipoise.solve.solvers import kinks
from equipoise.solve.solvers.base import Target, constrained_subgradient
from equipoise.solve.solvers.dual import averaged
from equipoise.solve.solvers.gradient import _Projected
from equipoise.solve.solvers.last_resort import LastResort
from equipoise.vocabulary.work import CORNERS_SHARE, FIRST_PASSES, SPARE_PASSES, TEST_EVERY, corner_steps
from solve.hunt import COLUMNS, ROWS, Table, climb, start

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
    "hinge": lambda: eq.LinearSVC(alpha=0.05, loss="hinge", domain=eq.Domain(**CLASSES)),
    "absolute": lambda: eq.PhasedRegressor(loss="absolute", delta=1e-3, step=0.1, domain=eq.Domain(**NUMBERS)),
    "net": lambda: eq.ElasticNetClassifier(alpha=1e-3, l1_ratio=0.5, domain=eq.Domain(**CLASSES)),
    "bridge": lambda: eq.BridgeRegressor(alpha=0.5, power=1.5, domain=eq.Domain(**NUMBERS)),
    "huber": lambda: eq.HuberRegressor(cap=1e-2, alpha=1e-2, mechanism="output", domain=eq.Domain(**NUMBERS)),
    "ridge": lambda: eq.Ridge(alpha=1e-4, mechanism="output", domain=eq.Domain(**NUMBERS)),
    "bridge classifier": lambda: eq.BridgeClassifier(alpha=0.5, power=1.5, domain=eq.Domain(**CLASSES)),
    "dropout": lambda: eq.DropoutClassifier(alpha=1e-2, delta=1e-3, radius=5.0, domain=eq.Domain(**CLASSES)),
    "weights": lambda: eq.LogisticRegression(
        alpha=1e-3, mechanism="output", domain=eq.Domain(**CLASSES), class_weight={0: 1.0, 1: 50.0}
    ),
    "sparse": lambda: eq.LogisticRegression(alpha=1e-4, mechanism="output", domain=eq.Domain(**CLASSES)),
    "persons": lambda: eq.LogisticRegression(
        alpha=1e-3, mechanism="output", domain=eq.Domain(**CLASSES, rows_a_person=ROWS)
    ),
    "persons at corners": lambda: eq.LinearSVC(
        alpha=0.05, loss="hinge", mechanism="output", domain=eq.Domain(**CLASSES, rows_a_person=ROWS)
    ),
}


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


def targets_of(model, y: np.ndarray) -> np.ndarray:
    domain = model.domain
    return y if domain.labels is not None else np.digitize(np.nan_to_num(y), [-0.2, 0.2][: len(domain.classes) - 1])


def most_passes(certificate) -> int:
    claim = certificate.claim.main
    return max(phase.passes for phase in claim.phases) if hasattr(claim, "phases") else claim.passes


def passes_needed(model, counted, name=""):
    """Return what fits a model to a table, and says how many passes its solver made, at most one solver's."""

    def fit(table: Table) -> int:
        counted.clear()
        X, ids = table.X, {}
        if name == "sparse":
            X = sparse.csr_array(np.nan_to_num(X))
        if model.domain.rows_a_person is not None:
            # One person has half of the rows.
            ids = {"groups": np.maximum(0, np.arange(ROWS) - ROWS // 2)}
            model.plan(ROWS // 2, COLUMNS)
        model.fit(X, targets_of(model, table.y), **ids)
        return max(objective.passes.made for objective in counted)

    return fit


def without_first_attempts(monkeypatch) -> None:
    monkeypatch.setattr(Target, "first", lambda self, objective: False)
    for room in ("dual", "smoothing"):
        monkeypatch.setattr(f"equipoise.solve.solvers.{room}.first", lambda objective, target: False)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("steps", [12, pytest.param(2000, marks=pytest.mark.statistics)])
def test_no_hunted_table_needs_more_passes_than_the_certificate_says(name, steps, counted):
    model = MODELS[name]().set_params(random_state=0)
    _, most = climb(passes_needed(model, counted, name), seed=7, steps=steps)
    assert 0 < most <= most_passes(model.certificate_)
    # What is recorded is what the theorem says, no round number on top.
    assert not model.certificate_.verify()


@pytest.mark.parametrize(
    "name", ["logistic", "radius", "classes", "sharp", "hinge", "absolute", "net", "bridge", "ridge"]
)
@pytest.mark.parametrize("steps", [2, pytest.param(100, marks=pytest.mark.statistics)])
def test_the_last_resort_alone_stays_within_the_number(name, steps, counted, monkeypatch):
    """With nothing tried first: the part of the number that is proved and not imposed."""
    without_first_attempts(monkeypatch)
    model = MODELS[name]().set_params(random_state=0)
    _, most = climb(passes_needed(model, counted), seed=8, steps=steps)
    assert 0 < most <= most_passes(model.certificate_)


def test_the_hunt_climbs():
    """It finds tables of many equal rows though it starts at none, where only their number tells it that it is warm."""

    def equal_rows(table: Table) -> int:
        return max(np.unique(np.abs(table.X), axis=0, return_counts=True)[1]) if np.isfinite(table.X).all() else 0

    generator = np.random.default_rng(3)
    unlike = [start(generator, way) for way in (0, 1, 3, 4)]
    assert max(map(equal_rows, unlike)) == 1
    _, most = climb(lambda table: -1 if equal_rows(table) == ROWS // 2 else equal_rows(table), seed=3, steps=150)
    assert most >= ROWS // 6


def test_the_hunt_notices_too_few_steps_for_corners(counted, monkeypatch):
    """Solver and certificate agree on a number that is 400 times too small: weights that are not near do not return."""
    monkeypatch.setattr(kinks, "corner_steps", lambda *facts: corner_steps(*facts) / 400)
    monkeypatch.setattr("equipoise.vocabulary.work.corner_steps", lambda *facts: corner_steps(*facts) / 400)
    without_first_attempts(monkeypatch)
    forget()
    with pytest.raises(PrivateFailure):
        climb(passes_needed(MODELS["hinge"]().set_params(random_state=0), counted), seed=8, steps=2)
    forget()


def test_the_hunt_notices_steps_without_momentum(counted, monkeypatch):
    without_first_attempts(monkeypatch)
    monkeypatch.setattr("equipoise.solve.solvers.last_resort.math.sqrt", lambda _: 1.0)
    with pytest.raises(PrivateFailure):
        climb(passes_needed(MODELS["logistic"]().set_params(random_state=0), counted), seed=8, steps=12)


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


class Watched(PassCount):
    """Passes that must not go beyond a number."""

    def __init__(self, most: float) -> None:
        self._most, self._made = most, 0

    @property
    def made(self) -> int:
        return self._made

    @made.setter
    def made(self, count: int) -> None:
        assert count <= self._most, "more passes than are public"
        self._made = count


# How first attempts are kept from arriving: tests that never accept, steps that lead nowhere, no other end.
NEVER = {
    "newton": {"newton.accepted": False, "newton.search": "stay", "newton.NEWTON_STEPS": 10**6},
    "newton-conjugate": {
        "newton_conjugate.accepted": False,
        "newton_conjugate.search": "stay",
        "newton_conjugate.NEWTON_STEPS": 10**6,
    },
    "proximal": {"proximal._arrived": False, "proximal._lower": "stay", "proximal.MODELS": 10**6},
    "acceleration": {"proximal._arrived": False},
    "smoothing": {
        "smoothing.near": False,
        "smoothing.search": "stay",
        "smoothing.STEPS_A_WIDTH": 10**6,
        "dual.near": False,
    },
    "dual": {"dual.near": False},
}


def first_attempts_that_never_arrive(name: str, monkeypatch) -> tuple[int, float]:
    """Return after how many passes a solver's first attempts hand over, and the public number."""
    for place, value in NEVER[name].items():
        stub = value if type(value) is int else (lambda *_: False)
        if value == "stay":
            # The weights are the second argument of a line search, and the third of a model's.
            stub = lambda *given: given[2 if name == "proximal" else 1]  # noqa: E731
        monkeypatch.setattr(f"equipoise.solve.solvers.{place}", stub)
    handed_over = []
    monkeypatch.setattr(LastResort, "weights", lambda self: handed_over.append(self.objective.passes.made))
    monkeypatch.setattr(
        "equipoise.solve.solvers.dual.averaged", lambda objective, target: handed_over.append(objective.passes.made)
    )
    if name == "acceleration":
        monkeypatch.setattr("equipoise.solve.objective.LARGEST_HESSIAN", 0)
    objective, target, _ = kinked_problem() if name in ("smoothing", "dual") else smooth_problem(1e-3)
    public = max(FIRST_PASSES, target.accelerated_steps)
    if name in ("smoothing", "dual"):
        public = max(FIRST_PASSES, CORNERS_SHARE * kinks.steps_needed(objective, target))
    objective.passes = Watched(public + SPARE_PASSES)
    solvers.named("proximal" if name == "acceleration" else name).solve(objective, target)
    return handed_over[-1], public


@pytest.mark.parametrize("name", NEVER)
def test_first_attempts_that_never_arrive_stop_after_the_public_number_of_passes(name, monkeypatch):
    made, public = first_attempts_that_never_arrive(name, monkeypatch)
    assert public <= made <= public + SPARE_PASSES


@pytest.mark.parametrize("name", NEVER)
def test_first_attempts_without_an_end_are_noticed(name, monkeypatch):
    monkeypatch.setattr(Target, "first", lambda self, objective: True)
    for room in ("dual", "smoothing"):
        monkeypatch.setattr(f"equipoise.solve.solvers.{room}.first", lambda objective, target: True)
    with pytest.raises(AssertionError, match="more passes than are public"):
        first_attempts_that_never_arrive(name, monkeypatch)


@pytest.mark.parametrize("name", NEVER)
@pytest.mark.parametrize("passes", [1, 50, 400])
def test_first_attempts_begin_nothing_after_the_passes_of_the_claim(name, passes, monkeypatch):
    for problem in (smooth_problem, kinked_problem):
        bounded = bounded_by(problem, passes)
        monkeypatch.setitem(globals(), problem.__name__, bounded)
    made, _ = first_attempts_that_never_arrive(name, monkeypatch)
    assert passes <= made <= passes + SPARE_PASSES


def bounded_by(problem, passes: int):
    def bounded(*facts):
        objective, target, claim = problem(*facts)
        return objective, replace(target, passes=passes), claim

    return bounded


@pytest.mark.parametrize("name", ["logistic", "objective", "hinge", "net", "absolute", "bridge"])
def test_a_solver_reads_its_limit_from_the_claim(name, counted, monkeypatch):
    """A claim with too few passes does not check and is never carried out; its solver would stop all the same."""
    without_first_attempts(monkeypatch)
    targets = []
    plain = Target.within

    def remembered(self, objective):
        targets.append(self)
        return plain(self, objective)

    monkeypatch.setattr(Target, "within", remembered)
    model = MODELS[name]().set_params(random_state=0)
    passes_needed(model, counted)(start(np.random.default_rng(9), 0))
    claim = model.certificate_.claim.main
    recorded = {phase.passes for phase in claim.phases} if hasattr(claim, "phases") else {claim.passes}
    assert {target.passes for target in targets} == recorded


@pytest.mark.parametrize("last", ["projected", "averaged"])
def test_the_last_resort_fails_alike_rather_than_return_weights_beyond_the_passes_of_the_claim(last):
    objective, target, _ = smooth_problem(1e-5) if last == "projected" else kinked_problem()
    few = replace(target, passes=30)
    with pytest.raises(PrivateFailure):
        _Projected(objective, few).weights() if last == "projected" else averaged(objective, few)
    assert objective.passes.made <= 30 + 2 * TEST_EVERY


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
    X, y = start(np.random.default_rng(9), 0)
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


def kinked_problem():
    generator = np.random.default_rng(5)
    X = generator.normal(size=(400, COLUMNS))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    domain = eq.Domain(**CLASSES)
    claim = eq.LinearSVC(alpha=1e-3, loss="hinge", domain=domain, fit_intercept=False).plan(400, COLUMNS).claim
    codes = np.where(generator.random(400) > 0.5, 1.0, -1.0)
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
    objective, target, _ = kinked_problem()
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


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_fine_sums_are_finer(kind):
    """The unit of N10 is below that of A4, and a sum of many rows of one sign keeps to it."""
    values = np.random.default_rng(0).random(4096)
    exact = math.fsum(values)
    found = float((np.ones(4096) @ FineBlock(kind(values[:, None])))[0])
    assert abs(found - exact) <= (2 * 64 + 1) * 2.0**-53 * exact


def test_sparse_rows_are_added_up_as_dense_ones_are_in_one_product():
    """Once a product in Python for every 64 rows, some 25 hours at the limit."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(10_000, 7)) * (generator.random((10_000, 7)) < 0.3)
    domain = eq.Domain(**CLASSES)
    slopes = generator.normal(size=(2, 10_000))
    found = []
    for kind in (np.asarray, sparse.csr_array):
        fine = FineRows(row_source(kind(X), domain, 0.5))
        for _ in range(2):
            found.append(sum(slopes[:, where] @ block for block, where in fine.views()))
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], rtol=0, atol=1e-11)
    # A group's sums are those of its rows in their order, to the last bit: at most 64 additions, then 64 groups.
    column = sparse.csr_array(generator.random((4096, 1)))
    groups = [sum(group, start=0.0) for group in column.toarray().reshape(64, 64)]
    assert float((np.ones(4096) @ FineBlock(column))[0]) == sum(groups, start=0.0)


def test_a_tolerance_below_what_rounding_allows_is_counted_by_plain_steps_or_not_at_all():
    _, _, claim = smooth_problem(1e-3)
    where = claim.setting()
    below = replace(where, recipe=replace(where.recipe, tolerance=momentum_tolerance(where) * 0.99))
    above = replace(where, recipe=replace(where.recipe, tolerance=momentum_tolerance(where) * 1.01))
    assert solver_passes(below) > 2 * solver_passes(above)
    corners = eq.LinearSVC(alpha=0.05, loss="hinge", domain=eq.Domain(**CLASSES)).plan(300, COLUMNS).claim.setting()
    short = replace(corners, recipe=replace(corners.recipe, tolerance=corner_tolerance(corners) * 0.99))
    assert math.isinf(solver_passes(short))
    assert math.isfinite(solver_passes(corners))


def test_a_certificate_with_too_few_passes_does_not_check():
    claim = smooth_problem(1e-3)[2]
    assert not claim.check()
    assert any("N10" in fault for fault in replace(claim, passes=claim.passes - 1).check())
    assert not replace(claim, passes=None).check(), "certificates from before this number still hold"
