"""Newton's method with conjugate gradients: for many columns, many classes and sparse rows."""

from typing import ClassVar

import numpy as np

from equipoise.learn.problem import Objective
from equipoise.learn.solvers.base import INSIDE, Array, Solver, Target, accepted
from equipoise.learn.solvers.gradient import ProjectedGradient
from equipoise.learn.solvers.line_search import search

# Newton steps before the fallback takes over, and conjugate-gradient steps within one of them: neither is a cap on the
# solve.
NEWTON_STEPS = 100
INNER_STEPS = 1000


class NewtonConjugate(Solver):
    """Damped Newton steps whose systems are solved by conjugate gradients, never forming the Hessian.

    The inner systems are solved the more accurately the nearer the minimum is, so that the last steps converge
    superlinearly; the last one aims straight at the tolerance. If Newton has not arrived after a fixed number of
    steps, or has arrived outside the constraint, gradient steps do the work.
    """

    id: ClassVar[str] = "newton-conjugate"

    def solve(self, objective: Objective, target: Target) -> Array:
        """Return weights whose gradient is accepted."""
        weights = objective.start
        for _ in range(NEWTON_STEPS):
            predictions, gradient = objective.predictions_and_gradient(weights)
            if accepted(gradient, target):
                if target.radius is None or float(np.linalg.norm(weights)) <= target.radius * INSIDE:
                    return weights
                break
            step = _conjugate_step(objective, target, predictions, gradient)
            following = search(objective, weights, predictions, gradient, step)
            if following is None:
                break
            weights = following
        return ProjectedGradient().solve(objective, target)


def _conjugate_step(objective: Objective, target: Target, predictions: Array, gradient: Array) -> Array:
    """Return an approximate solution of ``H v = -g``, with a residual that is small beside the gradient."""
    norm = float(np.linalg.norm(gradient))
    goal = max(norm * min(0.25, np.sqrt(norm / (1 + norm))), 0.3 * target.tolerance)
    step = np.zeros_like(gradient)
    residual = -gradient
    direction = residual.copy()
    squared = float(residual @ residual)
    for _ in range(INNER_STEPS):
        curved = objective.hessian_product(predictions, direction)
        length = squared / float(direction @ curved)
        step += length * direction
        residual -= length * curved
        following = float(residual @ residual)
        if following <= goal**2:
            break
        direction *= following / squared
        direction += residual
        squared = following
    return step
