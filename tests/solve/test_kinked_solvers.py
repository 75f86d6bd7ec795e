"""Solvers for losses with corners: they end near the minimiser, prove it, and agree with others."""

import itertools
from unittest import mock

import numpy as np
import pytest
from sklearn.svm import LinearSVC as PlainLinearSVC

import equipoise as eq
from equipoise.data.rows import Rows
from equipoise.planning.issue import issue
from equipoise.planning.request import Request
from equipoise.solve import solvers
from equipoise.solve.objective import Objective
from equipoise.solve.solvers import dual as dual_module
from equipoise.solve.solvers import kinks
from equipoise.solve.solvers import smoothing as smoothing_module
from equipoise.solve.solvers.base import Target

DOMAINS = {"hinge": {"classes": (0, 1)}, "absolute": {"labels": (-1.0, 1.0)}}
SOLVERS = ("smoothing", "dual")


def tables() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(200, 4)) / 2
    return {
        "ordinary": (X, np.sign(X[:, 0] + 0.3 * generator.normal(size=200))),
        "separable": (X, np.sign(X[:, 0])),
        "one class": (X, np.ones(200)),
        "all zero": (np.zeros((20, 4)), np.ones(20)),
        "one row": (X[:1], np.ones(1)),
        "all at one corner": (np.tile([[1.0, 0.0, 0.0, 0.0]], (50, 1)), np.ones(50)),
    }


def assemble(loss: str, table: str, alpha: float) -> tuple[Objective, Target]:
    X, codes = tables()[table]
    domain = eq.Domain(row_norm=1.0, **DOMAINS[loss])
    request = Request(loss, "l2", alpha, domain, 0.2, *X.shape, eq.Budget(1.0))
    claim, problem = issue(request).claim, request.problem(alpha)
    facts = claim.constants
    target = Target(claim.tolerance, np.inf, alpha, facts.radius, None, facts.row_norm, facts.label_bound)
    return Objective(problem.loss, problem.penalty, Rows(X, domain, 0.2), codes), target


def distance_by_long_run(objective: Objective, weights: np.ndarray, target: Target) -> float:
    """Return the distance to a minimiser that was found with a tolerance a thousand times smaller."""
    sharper = Target(
        target.tolerance / 1000, np.inf, target.strong_convexity, target.start_distance, None, target.row_norm, 1.0
    )
    with mock.patch.object(kinks, "FIRST_PASSES", 10**9):
        return float(np.linalg.norm(weights - solvers.named("smoothing").solve(objective, sharper)))


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("alpha", [1.0, pytest.param(1e-1, marks=pytest.mark.statistics), 1e-2])
@pytest.mark.parametrize(("loss", "table"), list(itertools.product(DOMAINS, tables())))
def test_a_solver_ends_within_the_tolerance(solver, loss, table, alpha):
    objective, target = assemble(loss, table, alpha)
    weights = solvers.named(solver).solve(objective, target)
    allowed = target.tolerance / target.strong_convexity
    assert distance_by_long_run(objective, weights, target) <= allowed * 1.001


@pytest.mark.parametrize("table", tables())
@pytest.mark.parametrize("loss", DOMAINS)
def test_averaged_weights_are_proved_near_within_their_a_priori_number(loss, table):
    objective, target = assemble(loss, table, 0.1)
    weights = dual_module.averaged(objective, target)
    assert objective.passes.made <= 1 + 1.1 * kinks.steps_needed(objective, target)
    assert distance_by_long_run(objective, weights, target) <= target.tolerance / target.strong_convexity


def test_the_dual_method_returns_nothing_that_was_not_proved(monkeypatch):
    asked = []

    def proved_at_last(objective, target, weights, slopes):
        asked.append(weights)
        return len(asked) > 30

    monkeypatch.setattr(dual_module, "near", proved_at_last)
    monkeypatch.setattr(dual_module, "first", lambda objective, target: objective.passes.made < 70)
    objective, target = assemble("hinge", "ordinary", 0.1)
    weights = solvers.named("dual").solve(objective, target)
    assert len(asked) == 31
    np.testing.assert_array_equal(weights, asked[-1])


def test_smoothing_hands_over_to_the_dual_method(monkeypatch):
    monkeypatch.setattr(smoothing_module, "WIDTHS", 1)
    monkeypatch.setattr(smoothing_module, "STEPS_A_WIDTH", 1)
    objective, target = assemble("hinge", "ordinary", 0.1)
    weights = solvers.named("smoothing").solve(objective, target)
    assert distance_by_long_run(objective, weights, target) <= target.tolerance / target.strong_convexity


def test_the_proof_of_nearness_is_refused_for_bad_slopes_and_far_points():
    objective, target = assemble("hinge", "ordinary", 0.1)
    weights = solvers.named("smoothing").solve(objective, target)
    slopes = objective.loss_arrays.slope(objective.predictions(weights), objective.targets)
    assert not kinks.near(objective, target, weights + 1.0, slopes)
    assert not kinks.near(objective, target, weights, np.zeros_like(slopes))
    assert not kinks.near(objective, target, weights * 1e9, slopes)


@pytest.mark.parametrize("alpha", [1.0, 1e-2])
def test_the_distance_bound_is_never_exceeded(alpha):
    """Inequality (1) of docs/proofs/L3.md, on random points and random admissible slopes."""
    generator = np.random.default_rng(1)
    for loss in DOMAINS:
        objective, target = assemble(loss, "ordinary", alpha)
        best = solvers.named("smoothing").solve(objective, target)
        low, high = objective.loss_arrays.slope_range(objective.targets)
        for _ in range(50):
            weights = best + generator.normal(size=best.shape) * generator.choice([1e-3, 0.1, 3.0])
            slopes = low + (high - low) * generator.random(low.shape)
            p = objective.combination(slopes) + alpha * weights
            gap = objective.loss_arrays.fenchel_gap(objective.predictions(weights), objective.targets, slopes).mean()
            bound = (np.linalg.norm(p) + np.sqrt(p @ p + 4 * alpha * gap)) / (2 * alpha)
            assert np.linalg.norm(weights - best) <= bound + target.tolerance / alpha


# Liblinear's own stopping rule is rarely met at this tolerance; what counts is the objective it reached.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("alpha", [1.0, 0.1, 0.01])
def test_the_hinge_agrees_with_liblinear(alpha):
    X, codes = tables()["ordinary"]
    X = X / np.maximum(1, np.linalg.norm(X, axis=1, keepdims=True))
    domain = eq.Domain(1.0, classes=(-1, 1))
    ours = eq.LinearSVC(
        epsilon=1e12, domain=domain, loss="hinge", alpha=alpha, fit_intercept=False, random_state=0
    ).fit(X, codes)
    theirs = PlainLinearSVC(
        C=1 / (alpha * len(X)), loss="hinge", dual=True, fit_intercept=False, tol=1e-10, max_iter=10**5
    )
    theirs.fit(X, codes)

    def objective(weights: np.ndarray) -> float:
        return float(np.maximum(0, 1 - codes * (X @ weights)).mean() + alpha / 2 * weights @ weights)

    # Ours is within tau / mu of the minimiser, so its objective is at most (1 + alpha R) tau / mu above; tau is public.
    allowed = 2 * ours.certificate_.claim.tolerance / alpha
    gain = objective(theirs.coef_[0]) - objective(ours.coef_[0])
    assert gain >= -allowed
    assert np.linalg.norm(ours.coef_ - theirs.coef_) <= np.sqrt(2 * (abs(gain) + allowed) / alpha)


@pytest.mark.parametrize(("n_samples", "share"), [(100, 0.05), (3000, 0.05), (20_000, 0.25)])
@pytest.mark.parametrize("loss", DOMAINS)
def test_the_slack_of_corners_is_small_as_long_as_the_steps_are_affordable_and_is_shown(loss, n_samples, share):
    domain = eq.Domain(row_norm=1.0, **DOMAINS[loss])
    # So few rows are planned for with a budget that leaves something to learn alone.
    certificate = issue(
        Request(loss, "l2", "public", domain, 0.2, n_samples, 54, eq.Budget(100.0 if n_samples < 1000 else 1.0))
    )
    claim = certificate.claim
    slack = 2 * claim.tolerance / claim.constants.strong_convexity
    assert slack < share * claim.sensitivity
    assert f"{claim.tolerance:.6g}" in certificate.explain()
    assert f"{claim.passes:,} passes" in certificate.explain()


def test_corners_with_a_radius_are_refused_with_the_remedy():
    domain = eq.Domain(1.0, classes=(0, 1), radius=2.0)
    with pytest.raises(eq.errors.NoTheoremApplies, match="weight radius at a time"):
        eq.LinearSVC(domain=domain, loss="hinge").plan(100, 3)
