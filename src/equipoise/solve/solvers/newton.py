"""Newton's method with a Cholesky factor and a line search, and a fallback that always ends (L3)."""

from typing import ClassVar

import numpy as np
from scipy.linalg import cho_factor, cho_solve

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

# Newton steps before the fallback takes over. Damped Newton needs a dozen on real data; this is not a cap on the solve.
NEWTON_STEPS = 200


class Newton(Solver):
    """Damped Newton steps on ``F + nu/2 ||w||^2``, where nu is the multiplier of the weight constraint (0 without one).

    A step is accepted when it lowers F enough, or, near the minimum where F no longer resolves the difference, when
    the slope along the step has shrunk. If Newton has not arrived after a fixed number of steps, projected gradient
    steps finish the work.
    """

    id: ClassVar[str] = "newton"

    @classmethod
    def suits(cls, objective: Objective) -> float:
        """Suit smooth objectives, where a Hessian is worth forming."""
        return float(objective.smooth and objective.compact)

    def solve(self, objective: Objective, target: Target) -> Array:
        """Return weights whose subgradient is accepted."""
        # The test sees no constraint from outside of the ball (A4, "Placement").
        return self.onward(objective, target, project(objective.start, target))

    def onward(self, objective: Objective, target: Target, weights: Array) -> Array:
        """Return weights whose subgradient is accepted, from other weights than the objective's start."""
        for _ in range(NEWTON_STEPS):
            predictions, gradient, hessian = objective.expansion(weights)
            if accepted(constrained_subgradient(weights, gradient, target), target):
                return weights
            following = damped_step(objective, target.radius, weights, predictions, gradient, hessian)
            if following is None or not target.first(objective):
                break
            weights = following
        return ProjectedGradient().solve(objective, target)


def damped_step(
    objective: Objective, radius: float | None, weights: Array, predictions: Array, gradient: Array, hessian: Array
) -> Array | None:
    """Return where a Newton step leads, shortened until it lowers the objective; None where it leads nowhere."""
    try:
        proposal = minimise_model(weights, gradient, hessian, radius)
    except np.linalg.LinAlgError:
        return None
    return search(objective, weights, predictions, gradient, proposal - weights)


def minimise_model(weights: Array, gradient: Array, hessian: Array, radius: float | None) -> Array:
    """Return the minimiser of the quadratic model over the ball of the constraint.

    Without an active constraint this is the Newton point. Otherwise ``(H + nu) v = H w - g`` with the nu >= 0 for
    which v lies on the sphere, found by bisection on the eigenvalues; ``||v||`` decreases in nu.
    """
    target = hessian @ weights - gradient
    point = cho_solve(cho_factor(hessian), target)
    if radius is None or float(np.linalg.norm(point)) <= radius * INSIDE:
        return np.asarray(point)
    values, vectors = np.linalg.eigh(hessian)
    coordinates = vectors.T @ target
    low, high = 0.0, float(np.linalg.norm(target)) / radius
    for _ in range(200):
        middle = (low + high) / 2
        if float(np.linalg.norm(coordinates / (values + middle))) > radius:
            low = middle
        else:
            high = middle
    point = vectors @ (coordinates / (values + high))
    return np.asarray(point * (radius * INSIDE / np.linalg.norm(point)))
