"""Brute force against the theorems: neighbouring datasets whose exact minimisers lie as far apart as a search can find.

It takes settings from the pool and knows their loss, penalty and domain, but none of the theorems: a bound is tried by
what the house's own solver does on rows, never by another bound.
"""

import functools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import scipy.optimize
from numpy.typing import NDArray

from contracts.pool import about
from equipoise.certify.theorems import Theorem
from equipoise.data.rows import Rows
from equipoise.solve import solvers
from equipoise.solve.objective import Objective
from equipoise.solve.solvers.base import Target
from equipoise.vocabulary.constants import constants, setting, smallest_tolerance
from equipoise.vocabulary.facts import Domain, Problem, Recipe, Setting
from equipoise.vocabulary.losses import named as loss_named
from equipoise.vocabulary.penalties import named as penalty_named

Array = NDArray[np.float64]

# Rows besides the replaced one come in at most this many kinds; each kind is repeated to fill the table.
COMMON_KINDS = 3

# Where solves of losses with corners stop: a ten-thousandth of a row's pull.
KINKED_TOLERANCE = 1e-4


@dataclass(frozen=True)
class Effort:
    """How long a search takes: random tables, how many of them are refined, and in how many steps."""

    tables: int
    refined: int
    steps: int


QUICK, THOROUGH = Effort(40, 1, 300), Effort(80, 2, 600)


@dataclass(frozen=True)
class Violation:
    """A neighbouring pair that moved further than a theorem allows."""

    theorem: str
    setting: Setting
    observed: float
    claimed: float


def tightest_tolerance(situation: Setting) -> float:
    """Return the smallest gradient norm that the house lets a solver promise: 20 times the rounding of a gradient.

    A duality gap, by which a loss with corners is solved, goes with the square of the distance: less is asked there.
    """
    least = smallest_tolerance(situation.constants, situation.n_samples, situation.dimension)
    return max(least, KINKED_TOLERANCE) if math.isinf(situation.constants.smoothness) else least


def minimiser(situation: Setting, matrix: Array, targets: Array) -> Array:
    """Return the house's solution on these rows, within `tightest_tolerance` of a zero subgradient."""
    problem, facts = situation.problem, situation.constants
    goal = Target(
        tolerance=tightest_tolerance(situation),
        smoothness=facts.smoothness + problem.penalty.smoothness(),
        strong_convexity=facts.strong_convexity,
        start_distance=facts.radius,
        radius=problem.domain.radius,
        row_norm=facts.row_norm,
        label_bound=facts.label_bound,
    )
    objective = Objective(problem.loss, problem.penalty, Rows(matrix, problem.domain, problem.intercept), targets)
    return solvers.suited(objective).solve(objective, goal)


def distance_of_neighbours(situation: Setting, rows: Array, targets: Array) -> float:
    """Return how far the minimiser moves between two tables that share all rows but one.

    `rows` and `targets` hold the two rows that are swapped, then the kinds of common rows, repeated in turn.
    """
    repeats = np.resize(np.arange(2, len(rows)), situation.n_samples - 1)
    first = np.concatenate([[0], repeats]).astype(int)
    second = np.concatenate([[1], repeats]).astype(int)
    one = minimiser(situation, rows[first], targets[first])
    other = minimiser(situation, rows[second], targets[second])
    return float(np.linalg.norm(one - other))


@functools.lru_cache(maxsize=128)
def largest_observed_distance(situation: Setting, effort: Effort = THOROUGH) -> float:
    """Return the largest distance of two neighbouring minimisers that random search and refinement find."""
    generator = np.random.default_rng(20240613)
    domain, count, loss = situation.problem.domain, situation.n_features, situation.problem.loss
    kinds = 2 + min(COMMON_KINDS, situation.n_samples - 1)
    classification = loss.task == "classification"
    # Two classes are coded -1 and +1, several by their places; each gives the largest pull only in turn, so labels are
    # drawn, not searched.
    label_bound = domain.label_bound
    codes = np.array([-label_bound, label_bound]) if loss.outputs == 1 else np.arange(float(loss.outputs))
    starts = []
    for _ in range(effort.tables):
        rows = generator.normal(size=(kinds, count))
        rows *= domain.row_norm / np.linalg.norm(rows, axis=1, keepdims=True)
        rows *= generator.choice([0.1, 1.0], size=(kinds, 1), p=[0.2, 0.8])
        targets = generator.choice(codes, size=kinds)
        starts.append((distance_of_neighbours(situation, rows, targets), rows, targets))
    starts.sort(key=lambda start: -start[0])
    best = starts[0][0]
    for _, rows, targets in starts[: effort.refined]:

        def unpack(point: Array, labels: Array = targets) -> tuple[Array, Array]:
            moved = point[: kinds * count].reshape(kinds, count)
            # `Rows` clips long rows itself; targets are clipped here as `centred_targets` does.
            free = labels if classification else np.clip(point[kinds * count :], -label_bound, label_bound)
            return moved, free

        def loss_of(point: Array, unpack: Callable[[Array], tuple[Array, Array]] = unpack) -> float:
            return -distance_of_neighbours(situation, *unpack(point))

        start = np.concatenate([rows.ravel(), np.empty(0) if classification else targets])
        found = scipy.optimize.minimize(
            loss_of, start, method="Powell", options={"maxfev": effort.steps, "xtol": 1e-4, "ftol": 1e-6}
        )
        best = max(best, -float(found.fun))
    return best


def attack_settings() -> Iterator[Setting]:
    """Yield settings in which minimisers move nearly as far as theorems allow (A2), and odd ones."""
    classes, labels = Domain(1.0, classes=(0, 1)), Domain(1.0, labels=(-1.0, 1.0))
    logistic, squared = loss_named("logistic"), loss_named("squared")
    strong, unit = penalty_named("l2", 2.0), penalty_named("l2", 1.0)
    yield setting(Problem(logistic, strong, classes), Recipe(), 4, 2)
    yield setting(Problem(squared, unit, labels), Recipe(), 20, 2)
    # One row only: everything that is known comes from the row that is replaced.
    yield setting(Problem(logistic, strong, classes), Recipe(), 1, 2)
    # A constraint on the weights that binds.
    yield setting(Problem(squared, penalty_named("l2", 0.2), replace(labels, radius=0.3)), Recipe(), 6, 2)


def observed_distance_exceeds(
    theorem: Theorem, situations: Iterator[Setting] | None = None, effort: Effort = QUICK
) -> Violation | None:
    """Return a neighbouring pair that breaks the theorem, or None when the search finds none.

    Without settings of its own it tries the pool's minimisers and `attack_settings`.
    """
    tried = [case.setting for case in about("minimiser")] + list(attack_settings())
    for situation in tried if situations is None else situations:
        claimed = theorem.bound(situation).value
        if claimed is None:
            continue
        observed = largest_observed_distance(situation, effort)
        # Each solve stops at a subgradient of norm tau, so it may be tau / mu away from the exact minimiser (A4).
        solved = 2 * tightest_tolerance(situation) / constants(situation.problem).strong_convexity
        if observed > claimed + solved:
            return Violation(theorem.id, situation, observed, claimed)
    return None
