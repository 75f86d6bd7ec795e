"""Noisy SGD: rows and noise of every step come from the door's source, exactly or as a stream."""

from dataclasses import replace
from typing import ClassVar

import numpy as np

from equipoise.learn.problem import Objective
from equipoise.learn.stochastic import Run, run_noisy
from equipoise.proof.mechanisms import named
from equipoise.release.base import Array, Carrier, Task
from equipoise.release.sgd import recipe_of, run_of


class NoiseInEveryStep(Carrier):
    """Long runs take noise from the stream, in a compiled loop; short ones ask OpenDP for every noisy gradient."""

    id: ClassVar[str] = "noisy-sgd"

    @classmethod
    def carry_out(cls, task: Task) -> Array:
        """Descend on noisy gradients."""
        rows, argument, source = task.rows, task.argument, task.source
        run = replace(run_of(task, recipe_of(task).steps(rows.n_samples)), radius=argument.constants.radius)
        if not (argument.procedure.stream or source.seeded):
            return _exact(task, run)[None, :]
        weights = run_noisy(
            rows,
            task.targets,
            task.problem.loss,
            run,
            argument.noise_scale,
            lambda out: source.integers(rows.n_samples, out),
            source.normals,
        )
        return weights[None, :]


def _exact(task: Task, run: Run) -> Array:
    """Return the weights when every noisy gradient is an exact release."""
    argument, law = task.argument, named(task.argument.mechanism)
    objective = Objective(task.problem.loss, task.problem.penalty, task.rows, task.targets)
    weights, total = np.zeros(task.rows.dimension), np.zeros(task.rows.dimension)
    for number in range(1, run.steps + 1):
        chosen = task.source.subset(task.rows.n_samples, run.batch)
        gradient = objective.shortened_gradient(weights, run.clip, chosen)
        noisy = law.release(gradient, argument.noise_scale, task.source) + run.ridge * weights
        weights = weights - run.step * noisy
        norm = float(np.linalg.norm(weights))
        if norm > run.radius:
            weights *= run.radius / norm
        if number >= run.averaged_from:
            total += weights
    return total / (run.steps - run.averaged_from + 1)
