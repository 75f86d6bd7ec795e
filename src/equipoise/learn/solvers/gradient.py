"""Projected gradient steps: slow, and certain to end after a number of steps known before any data (THEOREMS L3)."""

import math
from typing import ClassVar

import numpy as np

from equipoise.learn.problem import Objective
from equipoise.learn.solvers.base import Array, Solver, Target, accepted, constrained_subgradient, project


def steps_needed(target: Target) -> int:
    """Return ``ceil((L / mu) ln(4 L R0 / tau))``, after which steps of size 1/L from 0 must have arrived.

    Examples
    --------
    >>> steps_needed(Target(tolerance=1e-3, smoothness=1.0, strong_convexity=0.1, start_distance=1.0, radius=None))
    83
    """
    ratio = target.smoothness / target.strong_convexity
    return max(
        1, math.ceil(ratio * math.log(max(math.e, 4 * target.smoothness * target.start_distance / target.tolerance)))
    )


class ProjectedGradient(Solver):
    """``w <- Proj(w - grad F(w) / L)``, each step a contraction by ``1 - mu / L``.

    Newton's fallback. After `steps_needed` steps the distance to the minimiser is below tau / (4 L), whatever the
    data, so the weights it ends with meet the tolerance even if a test on the way never said so.
    """

    id: ClassVar[str] = "gradient"

    def solve(self, objective: Objective, target: Target) -> Array:
        """Return the first accepted weights, or those after the last step."""
        weights = np.zeros(objective.rows.dimension)
        for _ in range(steps_needed(target)):
            gradient = objective.gradient(weights)
            if accepted(constrained_subgradient(weights, gradient, target), target):
                break
            weights = project(weights - gradient / target.smoothness, target)
        return weights
