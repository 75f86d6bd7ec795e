"""Noisy gradient descent: the door perturbs every gradient before the descent sees it."""

from collections.abc import Callable
from typing import ClassVar

import numpy as np

from equipoise.certify.claims import Claim
from equipoise.certify.claims.noisy_gradient import NoisyGradient
from equipoise.noise import NoiseSource
from equipoise.release.carriers.base import TrainedCarrier, numbers_of
from equipoise.release.dealt_rows import dealt_rows
from equipoise.release.job import Array, Task
from equipoise.release.parted_rows import PartedRows
from equipoise.solve.descents.gradient import descend
from equipoise.solve.losses import arrays_of


class NoisyGradientCarrier(TrainedCarrier[NoisyGradient]):
    """The descent asks for gradients and gets noisy ones; batches are drawn from the same secret source."""

    claim: ClassVar[type[Claim]] = NoisyGradient

    def sums_suffice(self, claim: NoisyGradient) -> bool:
        """Return whether every step asks all rows: a sample of them has no sum of its own."""
        return not claim.batch

    def rows_at_once(self, claim: NoisyGradient) -> int:
        """Return a batch: a sample of the rows can be fetched."""
        return claim.batch

    def ready(self, claim: NoisyGradient, source: NoiseSource) -> None:
        """Load the noise of all steps, and what deals persons of a table that is never held."""
        source.ready(claim.steps * numbers_of(claim), streaming=bool(claim.batch) and claim.unit == "person")

    def weights(self, task: Task[NoisyGradient]) -> Array:
        """Descend on noisy gradients."""
        claim, source = task.claim, task.source
        if claim.batch and isinstance(task.rows, PartedRows):
            with dealt_rows(task, claim.batch) as rows:
                return _descended(
                    task,
                    lambda weights: rows.objective(source.subset(claim.n_samples, claim.batch)).clipped_gradient(
                        weights, claim.clip, None
                    ),
                )
        objective = task.objective()

        def clipped(weights: Array) -> Array:
            batch = source.subset(claim.n_samples, claim.batch) if claim.batch else None
            if batch is not None and task.persons is not None:
                # All rows of the chosen persons.
                batch = np.flatnonzero(np.isin(task.persons, batch))
            return objective.clipped_gradient(weights, claim.clip, batch, claim.batch or None)

        return _descended(task, clipped)


def _descended(task: Task[NoisyGradient], clipped: Callable[[Array], Array]) -> Array:
    """Return the weights of a descent that sees clipped gradients of the full weights with noise alone."""
    claim, problem = task.claim, task.claim.problem
    arrays, shape = arrays_of(problem.loss), (problem.loss.free_outputs, task.rows.dimension)

    def noisy(weights: Array) -> Array:
        gradient = clipped(arrays.full(weights))
        return task.source.add(claim.law, arrays.free(gradient).ravel(), claim.scale).reshape(shape)

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
