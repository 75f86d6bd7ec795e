"""A toy: gradient steps of one length, which end for every smooth and strongly convex objective."""

from typing import ClassVar

from equipoise.solve.objective import Objective
from equipoise.solve.solvers.base import Array, Solver, Target, accepted, constrained_subgradient, project


class ToySteepest(Solver):
    """Steps of length one over the smoothness, projected to the constraint."""

    id: ClassVar[str] = "toy-steepest"

    @classmethod
    def suits(cls, objective: Objective) -> float:
        """Suit one loss better than anything else does."""
        return 2.0 * (objective.loss.id == "toy-log-cosh" and objective.smooth)

    def solve(self, objective: Objective, target: Target) -> Array:
        """Return weights whose subgradient is accepted."""
        weights = objective.start
        while True:
            gradient = objective.gradient(weights)
            if accepted(constrained_subgradient(weights, gradient, target), target):
                return weights
            weights = project(weights - gradient / target.smoothness, target)
