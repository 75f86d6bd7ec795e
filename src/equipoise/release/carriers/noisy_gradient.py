"""Noisy gradient descent: the door perturbs every gradient before the descent sees it."""

from typing import ClassVar

import numpy as np

from equipoise.certify.claims import Claim
from equipoise.certify.claims.noisy_gradient import NoisyGradient
from equipoise.release.carriers.base import TrainedCarrier
from equipoise.release.job import Array, Task
from equipoise.solve.descents.gradient import descend
from equipoise.solve.losses import arrays_of


class NoisyGradientCarrier(TrainedCarrier[NoisyGradient]):
    """The descent asks for gradients and gets noisy ones; batches are drawn from the same secret source."""

    claim: ClassVar[type[Claim]] = NoisyGradient

    def sums_suffice(self, claim: NoisyGradient) -> bool:
        """Return whether every step asks all rows: a sample of them has no sum of its own."""
        return not claim.batch

    def weights(self, task: Task[NoisyGradient]) -> Array:
        """Descend on noisy gradients."""
        claim, problem, source = task.claim, task.claim.problem, task.source
        loss, arrays = problem.loss, arrays_of(problem.loss)
        objective = task.objective()
        shape = loss.free_outputs, task.rows.dimension

        def noisy(weights: Array) -> Array:
            batch = source.subset(claim.n_samples, claim.batch) if claim.batch else None
            if batch is not None and task.persons is not None:
                # All rows of the chosen persons.
                batch = np.flatnonzero(np.isin(task.persons, batch))
            gradient = objective.clipped_gradient(arrays.full(weights), claim.clip, batch, claim.batch or None)
            return source.add(claim.law, arrays.free(gradient).ravel(), claim.scale).reshape(shape)

        return descend(
            noisy,
            problem.penalty,
            shape,
            steps=claim.steps,
            step=claim.procedure.step,
            momentum=claim.procedure.momentum,
            average=claim.procedure.average == "uniform",
            radius=claim.radius,
        )
