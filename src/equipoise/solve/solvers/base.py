"""What every solver promises."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from equipoise.solve.objective import Objective
from equipoise.vocabulary.work import FIRST_PASSES, accelerated_steps, plain_steps

Array = NDArray[np.float64]

# A computed subgradient is accepted below this share of the tolerance; rounding may use the rest (L3).
ACCEPTED_SHARE = 0.9

# A constrained solution is put at this share of the radius, so that rounding cannot carry it outside (L3).
INSIDE = 1 - 1e-12


@dataclass(frozen=True, slots=True)
class Target:
    """What a solver must reach, from public facts alone.

    `tolerance` bounds the norm of a subgradient; `smoothness` and `strong_convexity` are those of the objective;
    `start_distance` bounds the distance of the start 0 from the minimiser; `radius` is the constraint on the weights,
    if there is one; `row_norm` and `label_bound` are those of the domain; `passes` is the number of passes over the
    rows that the claim records, after which no step is begun.
    """

    tolerance: float
    smoothness: float
    strong_convexity: float
    start_distance: float
    radius: float | None
    row_norm: float = 1.0
    label_bound: float = 1.0
    passes: int | None = None

    @property
    def accelerated_steps(self) -> float:
        """How many steps with momentum arrive, where N10 holds."""
        return accelerated_steps(self.smoothness, self.strong_convexity, self.start_distance, self.tolerance)

    @property
    def plain_steps(self) -> float:
        """How many plain steps arrive (A4)."""
        return plain_steps(self.smoothness, self.strong_convexity, self.start_distance, self.tolerance)

    def first(self, objective: Objective) -> bool:
        """Return whether what is tried first may make another pass over the rows: its number of passes is public."""
        return self.within(objective) and objective.passes.made < max(FIRST_PASSES, self.accelerated_steps)

    def within(self, objective: Objective) -> bool:
        """Return whether another step is within the passes that the claim records, if it records any."""
        return self.passes is None or objective.passes.made < self.passes


class Solver(ABC):
    """Ends, for every dataset, at weights with a subgradient of norm at most the tolerance (L3, M3).

    `takes_constraint`: it can keep the weights inside a radius. `takes_kinks`: it meets a penalty's kinked part,
    through `prox`; a solver that does not would minimise another objective, so callers must ask.
    """

    id: ClassVar[str]
    takes_constraint: ClassVar[bool] = True
    takes_kinks: ClassVar[bool] = False
    takes_smooth: ClassVar[bool] = True

    @classmethod
    def suits(cls, objective: Objective) -> float:
        """Return how well it suits an objective, by its kind, format and size, which are public: the largest is taken.

        1 where it is the house's choice; 0 where it runs only if it is asked for by name.
        """
        return 0.0

    @abstractmethod
    def solve(self, objective: Objective, target: Target) -> Array:
        """Return such weights: the number of passes is proved (N10), so no cap could end the run elsewhere."""


def accepted(subgradient: Array, target: Target) -> bool:
    """Return whether a computed subgradient is small enough, with room for rounding."""
    return float(np.linalg.norm(subgradient)) <= ACCEPTED_SHARE * target.tolerance


def constrained_subgradient(weights: Array, gradient: Array, target: Target) -> Array:
    """Return the smallest element of the objective's subdifferential, the constraint's normal cone included.

    On the sphere the normal cone is the outward ray, so the part of the gradient that points inwards is balanced by it.
    """
    if target.radius is None:
        return gradient
    norm = float(np.linalg.norm(weights))
    if norm < target.radius * INSIDE * (1 - 1e-13):
        return gradient
    outward = weights / norm
    return gradient - min(0.0, float(gradient @ outward)) * outward


def project(weights: Array, target: Target) -> Array:
    """Return the nearest weights inside the constraint."""
    if target.radius is None:
        return weights
    norm = float(np.linalg.norm(weights))
    limit = target.radius * INSIDE
    return weights if norm <= limit else weights * (limit / norm)
