"""Every solver, on every loss, constrained or not, ends at the public tolerance; the fallback ends when it must."""

import itertools

import numpy as np
import pytest
from scipy import sparse

import equipoise as eq
from equipoise.data.rows import Rows, row_source
from equipoise.errors import PrivateFailure
from equipoise.planning.rules import public_tolerance
from equipoise.solve import solvers
from equipoise.solve.objective import LARGEST_HESSIAN, Objective
from equipoise.solve.solvers import gradient as gradient_module
from equipoise.solve.solvers import line_search
from equipoise.solve.solvers import newton as newton_module
from equipoise.solve.solvers import newton_conjugate as conjugate_module
from equipoise.solve.solvers.base import INSIDE, Target, constrained_subgradient
from equipoise.solve.summed import SummedObjective
from equipoise.vocabulary.constants import constants, rounding_floor
from equipoise.vocabulary.losses import KinkedLoss

DOMAINS = {"logistic": {"classes": (0, 1)}, "squared": {"labels": (-1.0, 1.0)}}


def tables() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(300, 4))
    return {
        "ordinary": (X, np.sign(X[:, 0] + 0.3 * generator.normal(size=300))),
        "separable": (X, np.sign(X[:, 0])),
        "one class": (X, np.ones(300)),
        "all zero": (np.zeros((20, 4)), np.ones(20)),
        "one row": (X[:1], np.ones(1)),
        "collinear": (X[:, :1] @ np.ones((1, 4)), np.sign(X[:, 0])),
        "ill-conditioned": (X * [1.0, 1e-3, 1e-6, 1e-9], np.sign(X[:, 1])),
    }


CASES = list(itertools.product(DOMAINS, tables()))


def assemble(loss: str, table: str, alpha: float, radius: float | None) -> tuple[Objective, Target]:
    X, codes = tables()[table]
    domain = eq.Domain(row_norm=1.0, radius=radius, **DOMAINS[loss])
    problem = eq.Problem(eq.losses.named(loss), eq.penalties.named("l2", alpha), domain, intercept=0.2)
    facts = constants(problem)
    tolerance = public_tolerance(facts, len(X), 5, epsilon=1.0)
    target = Target(tolerance, facts.smoothness + alpha, alpha, facts.radius, radius)
    return Objective(problem.loss, problem.penalty, Rows(X, domain, 0.2), codes), target


# Every solver of smooth losses, without a constraint and, where it takes one, with it.
SMOOTH = [name for name, solver in solvers.members().items() if solver.takes_smooth]
ENDS = [
    (name, radius)
    for name in SMOOTH
    for radius in (None, 0.3)
    if radius is None or solvers.members()[name].takes_constraint
]


@pytest.mark.parametrize(("solver", "radius"), ENDS)
@pytest.mark.parametrize("alpha", [1.0, 1e-2])
@pytest.mark.parametrize(("loss", "table"), CASES)
def test_a_solver_ends_at_the_tolerance(solver, loss, table, alpha, radius):
    objective, target = assemble(loss, table, alpha, radius)
    weights = solvers.named(solver).solve(objective, target)
    subgradient = constrained_subgradient(weights, objective.gradient(weights), target)
    assert np.linalg.norm(subgradient) <= target.tolerance
    assert radius is None or np.linalg.norm(weights) <= radius


@pytest.mark.parametrize("solver", [name for name, radius in ENDS if radius is not None])
def test_a_start_outside_of_the_ball_is_brought_into_it(solver):
    # The minimiser without a constraint passes the test, which sees no constraint there (A4, "Placement").
    objective, free = assemble("logistic", "ordinary", 1e-2, None)
    outside = solvers.named(solver).solve(objective, free)
    objective, target = assemble("logistic", "ordinary", 1e-2, 0.3)
    assert np.linalg.norm(outside) > 0.3
    objective.start = outside
    assert np.linalg.norm(solvers.named(solver).solve(objective, target)) <= 0.3 * INSIDE * (1 + 1e-14)


@pytest.mark.parametrize("radius", [None, 0.3, 20.0])
@pytest.mark.parametrize("solver", ["newton", "newton-conjugate"])
@pytest.mark.parametrize("alpha", [1e-6, 1e-8])
@pytest.mark.parametrize(("loss", "table"), CASES)
def test_newton_reaches_it_without_help_when_the_ridge_is_tiny(loss, table, alpha, solver, radius, monkeypatch):
    monkeypatch.setattr(newton_module, "ProjectedGradient", None)
    monkeypatch.setattr(conjugate_module, "ProjectedGradient", None)
    objective, target = assemble(loss, table, alpha, radius)
    weights = solvers.named(solver).solve(objective, target)
    subgradient = constrained_subgradient(weights, objective.gradient(weights), target)
    assert np.linalg.norm(subgradient) <= target.tolerance
    assert radius is None or np.linalg.norm(weights) <= radius


@pytest.mark.parametrize("alpha", [1e-3, 1e-8])
@pytest.mark.parametrize("radius", [0.1, 3.0, 50.0])
@pytest.mark.parametrize("length", [1.0, 100.0])
def test_several_classes_in_a_ball_need_no_fallback(alpha, radius, length, monkeypatch):
    # Classes that can be told apart pull the weights to the sphere; gradient steps would take millions there.
    monkeypatch.setattr(conjugate_module, "ProjectedGradient", None)
    generator = np.random.default_rng(2)
    X = length * generator.normal(size=(200, 5))
    domain = eq.Domain(row_norm=length, radius=radius / length, classes=(0, 1, 2))
    problem = eq.Problem(eq.losses.named("multinomial:3"), eq.penalties.named("l2", alpha), domain, intercept=0.2)
    facts = constants(problem)
    codes = (X @ generator.normal(size=(5, 3))).argmax(axis=1).astype(float)
    objective = Objective(problem.loss, problem.penalty, Rows(X, domain, 0.2), codes)
    tolerance = public_tolerance(facts, 200, 12, epsilon=1.0)
    target = Target(tolerance, facts.smoothness + alpha, alpha, facts.radius, domain.radius)
    weights = solvers.suited(objective).solve(objective, target)
    subgradient = constrained_subgradient(weights, objective.gradient(weights), target)
    assert np.linalg.norm(subgradient) <= target.tolerance
    assert np.linalg.norm(weights) <= domain.radius
    # Nowhere else in the ball is the objective lower.
    value = objective.value(weights, objective.predictions(weights))
    for _ in range(20):
        other = weights + generator.normal(size=18) * domain.radius / 10
        other *= min(1.0, domain.radius / np.linalg.norm(other))
        assert objective.value(other, objective.predictions(other)) >= value


# --- which one is taken -----------------------------------------------------------------------------------------------


def chosen_before(objective: Objective) -> str:
    """Return the choice as one rule, which it was before solvers said what suits them."""
    compact = objective.loss.outputs == 1 and objective.size <= LARGEST_HESSIAN
    if isinstance(objective.loss, KinkedLoss):
        return "smoothing" if compact else "dual"
    if objective.penalty.kinked:
        return "proximal"
    return "newton" if compact else "newton-conjugate"


# On both sides of where a Hessian is worth forming.
@pytest.mark.parametrize("weights", [1, LARGEST_HESSIAN, LARGEST_HESSIAN + 1])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("penalty", sorted(eq.penalties.members()))
@pytest.mark.parametrize("loss", sorted(eq.losses.members()))
def test_the_solver_that_suits_an_objective_best_is_the_one_that_was_always_taken(loss, penalty, form, weights):
    loss, penalty = eq.losses.named(loss), eq.penalties.named(penalty, 0.0 if penalty == "none" else 0.1)
    domain = eq.Domain(row_norm=1.0, **DOMAINS["logistic" if loss.task == "classification" else "squared"])
    objective = Objective(loss, penalty, row_source(form(np.ones((2, weights))), domain, 0.0), np.ones(2))
    suits = {name: solver.suits(objective) for name, solver in solvers.members().items()}
    # One and no other, so that the order of the files has no say.
    assert [name for name, share in suits.items() if share > 0] == [chosen_before(objective)]
    taken = solvers.suited(objective)
    assert taken.id == chosen_before(objective)
    assert taken.takes_smooth or objective.has_corners


def test_every_solver_but_the_fallback_is_the_choice_for_some_objective():
    rows = {weights: row_source(np.ones((2, weights)), eq.Domain(1.0, labels=(-1.0, 1.0)), 0.0) for weights in (1, 999)}
    pairs = itertools.product(("squared", "absolute"), ("l2", "elastic-net"), rows.values())
    taken = {
        solvers.suited(Objective(eq.losses.named(loss), eq.penalties.named(penalty, 0.1), table, np.ones(2))).id
        for loss, penalty, table in pairs
    }

    class Long:
        """Rows that are seen through sums, and are many."""

        n_samples, dimension = 2**21, 1

        def first(self, count):
            return self

    long = SummedObjective(eq.losses.named("squared"), eq.penalties.named("l2", 0.1), Long())
    taken.add(solvers.suited(long).id)
    assert taken == set(solvers.members()) - {"gradient"}


def test_solvers_agree_within_the_distance_that_the_tolerance_allows():
    objective, target = assemble("logistic", "ordinary", 1e-2, None)
    solutions = [solvers.named(name).solve(objective, target) for name in SMOOTH]
    for one, other in itertools.combinations(solutions, 2):
        assert np.linalg.norm(one - other) <= 2 * target.tolerance / target.strong_convexity


def test_newton_hands_over_to_the_fallback(monkeypatch):
    monkeypatch.setattr(newton_module, "NEWTON_STEPS", 0)
    objective, target = assemble("logistic", "ordinary", 1.0, None)
    weights = solvers.named("newton").solve(objective, target)
    assert np.linalg.norm(objective.gradient(weights)) <= target.tolerance


def test_a_failed_line_search_or_factor_hands_over_too(monkeypatch):
    monkeypatch.setattr(line_search, "HALVINGS", 0)
    objective, target = assemble("squared", "ordinary", 1.0, None)
    weights = solvers.named("newton").solve(objective, target)
    assert np.linalg.norm(objective.gradient(weights)) <= target.tolerance


@pytest.mark.parametrize("radius", [None, 0.3])
@pytest.mark.parametrize("loss", DOMAINS)
def test_the_fallback_has_arrived_after_its_a_priori_steps_and_untested_weights_stay(loss, radius, monkeypatch):
    ends = []
    monkeypatch.setattr(
        gradient_module._Projected, "arrived", lambda self, point, gradient, end, slope: ends.append(end)
    )
    objective, target = assemble(loss, "ordinary", 0.1, radius)
    with pytest.raises(PrivateFailure):
        solvers.named("gradient").solve(objective, target)
    weights = ends[-1]
    subgradient = constrained_subgradient(weights, objective.gradient(weights), target)
    assert np.linalg.norm(subgradient) <= target.tolerance


@pytest.mark.parametrize("n_samples", [10, 10**4, 10**7])
def test_the_tolerance_is_reachable_and_small(n_samples):
    domain = eq.Domain(row_norm=1.0, classes=(0, 1))
    facts = constants(eq.Problem(eq.losses.named("logistic"), eq.penalties.named("l2", 1e-3), domain))
    tolerance = public_tolerance(facts, n_samples, 50, epsilon=1.0)
    assert tolerance >= 20 * rounding_floor(facts, n_samples, 50)
    assert 2 * tolerance <= 0.01 * facts.gradient_diameter / n_samples


def test_the_rounding_floor_covers_what_float64_really_does():
    generator = np.random.default_rng(1)
    domain = eq.Domain(row_norm=1.0, classes=(0, 1))
    problem = eq.Problem(eq.losses.named("logistic"), eq.penalties.named("l2", 1e-2), domain)
    facts = constants(problem)
    X = generator.normal(size=(5000, 20))
    codes = np.where(generator.random(5000) < 0.5, 1.0, -1.0)
    objective = Objective(problem.loss, problem.penalty, Rows(X, domain, 0.0), codes)
    weights = generator.normal(size=20)
    weights *= facts.radius / np.linalg.norm(weights)
    rows = X.astype(np.longdouble)
    rows /= np.maximum(1, np.sqrt((rows**2).sum(axis=1)))[:, None]
    exact = -(codes / (1 + np.exp(codes * (rows @ weights)))) @ rows / 5000 + np.longdouble(1e-2) * weights
    error = float(np.sqrt(((objective.gradient(weights) - exact) ** 2).sum()))
    assert 0 < error <= rounding_floor(facts, 5000, 20)
