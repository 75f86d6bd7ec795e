"""What the door hands to whatever carries out a route."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equipoise.learn.rows import RowSource
from equipoise.learn.solvers.base import Target
from equipoise.proof.argument import Argument
from equipoise.proof.noise import NoiseSource
from equipoise.vocabulary.facts import Problem

Array = NDArray[np.float64]
Training = Callable[[Array, Array], ArrayLike]


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """A problem and its argument, the rows mapped into their domain, the coded targets, and the source of noise.

    `start` are private weights from which a solver may begin; `public_seed` drives orders and masks; `train` is the
    caller's own training, for the route that has one.
    """

    problem: Problem
    argument: Argument
    rows: RowSource
    targets: Array
    source: NoiseSource
    start: Array | None
    public_seed: int = 0
    train: Training | None = None

    @property
    def target(self) -> Target:
        """What a solver must reach, from public facts alone."""
        facts = self.argument.constants
        return Target(
            tolerance=self.argument.tolerance,
            smoothness=facts.smoothness + self.problem.penalty.smoothness(),
            strong_convexity=facts.strong_convexity,
            start_distance=facts.radius,
            radius=self.problem.domain.radius,
            row_norm=facts.row_norm,
            label_bound=facts.label_bound,
        )


class Carrier(ABC):
    """Carries out one route on rows. Nothing that it computes from rows leaves but what noise was added to."""

    id: ClassVar[str]

    @classmethod
    @abstractmethod
    def carry_out(cls, task: Task) -> Array:
        """Return the noisy free weights, a row an output."""
