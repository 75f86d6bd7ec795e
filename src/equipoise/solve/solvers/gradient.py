"""Projected gradient steps: slow, and certain to end after a number of steps known before any data (L3)."""

import math
from typing import ClassVar

import numpy as np

from equipoise.solve.objective import Objective
from equipoise.solve.solvers.base import Array, Solver, Target, accepted, constrained_subgradient, project


def steps_needed(target: Target) -> int:
    """Return ``ceil(16 (L / mu) ln(4 L R0 / tau))``: steps of size 1/L from 0 have arrived by then, rounding included.

    Over the reals a sixteenth of them is enough (L3); docs/proofs/A4.md proves the rest for double precision.

    Examples
    --------
    >>> steps_needed(Target(tolerance=1e-3, smoothness=1.0, strong_convexity=0.1, start_distance=1.0, radius=None))
    1328
    """
    ratio = 16 * target.smoothness / target.strong_convexity
    return max(
        1, math.ceil(ratio * math.log(max(math.e, 4 * target.smoothness * target.start_distance / target.tolerance)))
    )


class ProjectedGradient(Solver):
    """``w <- Proj(w - grad F(w) / L)``, each step a contraction by ``1 - mu / L``.

    Newton's fallback. Acceptance ends it; `steps_needed` bounds, before any data, how long that can take.
    """

    id: ClassVar[str] = "gradient"

    def solve(self, objective: Objective, target: Target) -> Array:
        """Return the first accepted weights."""
        weights = np.zeros(objective.size)
        for _ in range(steps_needed(target)):
            gradient = objective.gradient(weights)
            if accepted(constrained_subgradient(weights, gradient, target), target):
                break
            weights = project(weights - gradient / target.smoothness, target)
        return weights
