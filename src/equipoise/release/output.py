"""Output perturbation: solve, then add noise."""

from typing import ClassVar

import numpy as np

from equipoise.learn import solvers
from equipoise.learn.problem import Objective
from equipoise.proof.mechanisms import named
from equipoise.release.base import Array, Carrier, Task


class Output(Carrier):
    """The solver ends at a public tolerance; noise goes to the free coordinates, an isometry away."""

    id: ClassVar[str] = "output"

    @classmethod
    def carry_out(cls, task: Task) -> Array:
        """Solve and add noise."""
        problem, argument = task.problem, task.argument
        start = _usable(task.start, argument.constants.radius)
        objective = Objective(problem.loss, problem.penalty, task.rows, task.targets, start)
        weights = solvers.suited(objective).solve(objective, task.target)
        # One weight vector of K follows from the others.
        free = objective.loss_arrays.free(weights.reshape(problem.loss.outputs, -1))
        noisy = named(argument.mechanism).release(free.ravel(), argument.noise_scale, task.source)
        return noisy.reshape(free.shape)


def _usable(start: Array | None, radius: float) -> Array | None:
    """Return a start inside the ball that holds every minimiser; whatever it held, it never raises."""
    if start is None:
        return None
    finite = np.nan_to_num(start.ravel(), nan=0.0, posinf=0.0, neginf=0.0)
    norm = float(np.linalg.norm(finite))
    return finite if norm <= radius else finite * (radius / norm)
