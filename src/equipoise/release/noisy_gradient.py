"""Noisy gradient descent: the door perturbs every gradient before the descent sees it."""

from typing import ClassVar

from equipoise.learn.descent import descend
from equipoise.learn.problem import Objective
from equipoise.proof.mechanisms import named
from equipoise.release.base import Array, Carrier, Task


class Descending(Carrier):
    """The descent asks for gradients and gets noisy ones; batches are drawn from the same secret source."""

    id: ClassVar[str] = "noisy-gradient"

    @classmethod
    def carry_out(cls, task: Task) -> Array:
        """Descend on noisy gradients."""
        problem, argument, procedure = task.problem, task.argument, task.argument.procedure
        law = named(argument.mechanism)
        objective = Objective(problem.loss, problem.penalty, task.rows, task.targets)
        arrays, shape = objective.loss_arrays, (problem.loss.free_outputs, task.rows.dimension)

        def noisy(weights: Array) -> Array:
            batch = task.source.subset(task.rows.n_samples, procedure.batch) if procedure.batch else None
            gradient = objective.clipped_gradient(arrays.full(weights), procedure.clip or 0.0, batch)
            free = arrays.free(gradient).ravel()
            return law.release(free, argument.noise_scale, task.source).reshape(shape)

        return descend(
            noisy,
            problem.penalty,
            shape,
            steps=procedure.steps,
            step=procedure.step,
            momentum=procedure.momentum,
            average=procedure.average == "uniform",
            radius=argument.constants.radius,
        )
