"""Projected gradient steps: certain to end after a number of passes known before any data (A4, N10)."""

from typing import ClassVar

from equipoise.solve.objective import Objective
from equipoise.solve.solvers.base import Array, Solver, Target, accepted, constrained_subgradient, project
from equipoise.solve.solvers.last_resort import LastResort


class ProjectedGradient(Solver):
    """``w <- Proj(w - grad F(w) / L)``, with momentum first: what Newton's methods fall back on."""

    id: ClassVar[str] = "gradient"

    def solve(self, objective: Objective, target: Target) -> Array:
        """Return accepted weights."""
        return _Projected(objective, target).weights()


class _Projected(LastResort):
    def onward(self, point: Array, gradient: Array) -> Array:
        return project(point - gradient / self.target.smoothness, self.target)

    def arrived(self, point: Array, gradient: Array, following: Array, following_gradient: Array) -> bool:
        return accepted(constrained_subgradient(following, following_gradient, self.target), self.target)
