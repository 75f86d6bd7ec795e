"""Newton's method whose curvature comes of the first rows: a pass over all of them asks for slopes alone."""

import math
from typing import ClassVar

import numpy as np

from equipoise.solve.objective import Objective
from equipoise.solve.solvers.base import Array, Solver, Target, accepted, constrained_subgradient, project
from equipoise.solve.solvers.newton import Newton, damped_step, minimise_model
from equipoise.solve.summed import SummedObjective
from equipoise.vocabulary.constants import BLOCK_ROWS

# Tables of at least so many rows have enough of them to spare.
LEAST_ROWS = 2**20

# One row of so many is looked at first, and at least so many for every weight: the curvature of m rows of d weights is
# wrong by about sqrt(d/m), a thirtieth, and that is what a step leaves of the distance.
SHARE = 32
ROWS_A_WEIGHT = 1000

# Beyond, more rows would not save a pass.
MOST_ROWS = 2**22

# Newton steps on the first rows, which end where another would move the weights by less than these rows can tell.
ROUGH_STEPS = 20
ROUGH = 1e-8

# Each pass over all rows must leave at most this share of the subgradient; else Newton's own method takes over.
SHRINKS = 0.5


class SampledNewton(Solver):
    """Newton steps with the curvature of the first rows, improved after every pass over all of them (Broyden 1970).

    The first rows have their minimum near that of all, and nearly the same Hessian there. From then on a pass adds up
    slopes, which costs a fraction of a Hessian, and what the gradient has changed by along a step corrects the
    curvature (BFGS). Where the first rows are unlike the others a step does not shrink the subgradient, and Newton's
    method goes on from there; what is returned was tested on all rows either way (L3).
    """

    id: ClassVar[str] = "sampled-newton"

    @classmethod
    def suits(cls, objective: Objective) -> float:
        """Suit long tables that are gone through, where Newton's method would do."""
        return 2.0 if _first_rows(objective) is not None else 0.0

    def solve(self, objective: Objective, target: Target) -> Array:
        """Return weights whose subgradient is accepted."""
        weights = project(objective.start, target)
        first = _first_rows(objective)
        if first is None:
            return Newton().onward(objective, target, weights)
        weights, curvature = _roughly(first, target, weights)
        objective.passes.made += math.ceil(first.passes.made * first.n_samples / objective.n_samples)
        _, gradient = objective.predictions_and_gradient(weights)
        subgradient = constrained_subgradient(weights, gradient, target)
        while not accepted(subgradient, target):
            following = _proposal(weights, gradient, curvature, target)
            if following is None or not target.first(objective):
                return Newton().onward(objective, target, weights)
            _, next_gradient = objective.predictions_and_gradient(following)
            left = constrained_subgradient(following, next_gradient, target)
            if not float(np.linalg.norm(left)) <= SHRINKS * float(np.linalg.norm(subgradient)):
                return Newton().onward(objective, target, weights)
            curvature = corrected(curvature, following - weights, next_gradient - gradient)
            weights, gradient, subgradient = following, next_gradient, left
        return weights


def _first_rows(objective: Objective) -> SummedObjective | None:
    """Return the objective over the first rows, None where all are few, or kept for themselves."""
    count = min(objective.n_samples // SHARE, MOST_ROWS) // BLOCK_ROWS * BLOCK_ROWS
    few = objective.n_samples < LEAST_ROWS or count < ROWS_A_WEIGHT * objective.size
    if few or not isinstance(objective, SummedObjective) or not (objective.smooth and objective.compact):
        return None
    return objective.first(count)


def _roughly(objective: Objective, target: Target, weights: Array) -> tuple[Array, Array]:
    """Return weights near the minimum of an objective, and its Hessian close to there."""
    for _ in range(ROUGH_STEPS):
        predictions, gradient, hessian = objective.expansion(weights)
        following = damped_step(objective, target.radius, weights, predictions, gradient, hessian)
        if following is None or not target.first(objective):
            break
        decrease = -float(gradient @ (following - weights))
        weights = following
        if decrease < ROUGH:
            break
    return weights, hessian


def _proposal(weights: Array, gradient: Array, curvature: Array, target: Target) -> Array | None:
    """Return the minimiser of the quadratic model over the ball; None where the curvature is no such thing any more."""
    try:
        return minimise_model(weights, gradient, curvature, target.radius)
    except np.linalg.LinAlgError:
        return None


def corrected(curvature: Array, step: Array, change: Array) -> Array:
    """Return curvature that explains what the gradient has changed by along a step: ``C s = y`` (BFGS).

    ``C + y y' / (y's) - C s s' C / (s'C s)``; where rounding leaves no ``y's > 0`` to go by, C as it is.

    Examples
    --------
    >>> corrected(np.eye(2), np.array([1.0, 0.0]), np.array([3.0, 0.0])).tolist()
    [[3.0, 0.0], [0.0, 1.0]]
    """
    along, before = float(step @ change), curvature @ step
    if not along > 0:
        return curvature
    return np.asarray(curvature + np.outer(change, change) / along - np.outer(before, before) / float(step @ before))
