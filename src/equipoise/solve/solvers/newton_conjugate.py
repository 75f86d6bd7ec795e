"""Newton's method with conjugate gradients: for many columns, many classes and sparse rows."""

from typing import ClassVar

import numpy as np

from equipoise.solve.objective import Objective
from equipoise.solve.solvers.base import (
    INSIDE,
    Array,
    Solver,
    Target,
    accepted,
    constrained_subgradient,
    project,
)
from equipoise.solve.solvers.gradient import ProjectedGradient
from equipoise.solve.solvers.line_search import search

# Newton steps before the fallback takes over, and conjugate-gradient steps within one of them: neither is a cap on the
# solve.
NEWTON_STEPS = 100
INNER_STEPS = 1000

# Systems solved within one Newton step to find the multiplier of the constraint.
MULTIPLIERS = 60


class NewtonConjugate(Solver):
    """Damped Newton steps whose systems are solved by conjugate gradients, never forming the Hessian.

    The inner systems are solved the more accurately the nearer the minimum is, so that the last steps converge
    superlinearly; the last one aims straight at the tolerance. A step that would leave the constraint ends on its
    sphere instead, where the quadratic model is smallest. If Newton has not arrived after a fixed number of steps,
    gradient steps do the work.
    """

    id: ClassVar[str] = "newton-conjugate"

    @classmethod
    def suits(cls, objective: Objective) -> float:
        """Suit smooth objectives, where no Hessian is."""
        return float(objective.smooth and not objective.compact)

    def solve(self, objective: Objective, target: Target) -> Array:
        """Return weights whose subgradient is accepted."""
        weights = project(objective.start, target)
        for _ in range(NEWTON_STEPS):
            predictions, gradient = objective.predictions_and_gradient(weights)
            subgradient = constrained_subgradient(weights, gradient, target)
            if accepted(subgradient, target):
                return weights
            norm = float(np.linalg.norm(subgradient))
            goal = max(norm * min(0.25, np.sqrt(norm / (1 + norm))), 0.3 * target.tolerance)
            step = _conjugate_step(objective, target, predictions, -gradient, 0.0, goal)
            if target.radius is not None and float(np.linalg.norm(weights + step)) > target.radius * INSIDE:
                step = _step_onto_the_sphere(objective, target, weights, predictions, gradient, goal)
            following = search(objective, weights, predictions, gradient, step)
            if following is None or not target.first(objective):
                break
            weights = following
        return ProjectedGradient().solve(objective, target)


def _conjugate_step(
    objective: Objective, target: Target, predictions: Array, wanted: Array, shift: float, goal: float
) -> Array:
    """Return an approximate solution of ``(H + shift) v = wanted``: a residual of at most `goal`, if passes last."""
    step = np.zeros_like(wanted)
    residual = wanted.copy()
    direction = residual.copy()
    squared = float(residual @ residual)
    for _ in range(INNER_STEPS):
        if squared <= goal**2 or not target.first(objective):
            break
        curved = objective.hessian_product(predictions, direction) + shift * direction
        length = squared / float(direction @ curved)
        step += length * direction
        residual -= length * curved
        following = float(residual @ residual)
        direction *= following / squared
        direction += residual
        squared = following
    return step


def _step_onto_the_sphere(
    objective: Objective, target: Target, weights: Array, predictions: Array, gradient: Array, goal: float
) -> Array:
    """Return the step to where the quadratic model is smallest on the constraint's sphere.

    That is ``(H + nu) v = H w - g`` with the multiplier nu > 0 for which v has the radius's length. ``1 / ||v||`` is
    nearly linear in nu, so that the secant finds it, bracketed: ``||v||`` falls in nu.
    """
    limit = (target.radius or 0.0) * INSIDE
    low, high = 0.0, float(np.linalg.norm(objective.hessian_product(predictions, weights) - gradient)) / limit
    # The multiplier that the gradient asks for at the present weights is a good guess near the solution.
    shift = min(max(-float(gradient @ weights) / limit**2, 0.0), high)
    earlier: tuple[float, float] | None = None
    for _ in range(MULTIPLIERS):
        step = _conjugate_step(objective, target, predictions, -gradient - shift * weights, shift, goal / 4)
        point = weights + step
        length = float(np.linalg.norm(point))
        # Where the passes are used up no system is solved, and a step from 0 leads nowhere: the last resort is next.
        if length == 0 or not target.first(objective):
            return np.zeros_like(weights)
        # What moving the point onto the sphere adds to the model's gradient.
        if abs(length - limit) * (target.smoothness + shift) <= goal:
            break
        low, high = (shift, high) if length > limit else (low, shift)
        error = 1 / limit - 1 / length
        proposal = (low + high) / 2
        if earlier is not None and earlier[1] != error:
            secant = shift - error * (shift - earlier[0]) / (error - earlier[1])
            proposal = secant if low < secant < high else proposal
        earlier = shift, error
        shift = proposal
    return project(point * (limit / length), target) - weights
