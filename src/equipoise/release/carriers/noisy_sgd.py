"""Noisy SGD: rows, or persons, and noise of every step come from the door's source, exactly or as a stream."""

from dataclasses import replace
from typing import ClassVar

import numpy as np

from equipoise.certify.claims import Claim
from equipoise.certify.claims.descents import NoisyDescent
from equipoise.noise import NoiseSource
from equipoise.release.carriers.base import TrainedCarrier
from equipoise.release.carriers.sgd import run_of
from equipoise.release.job import Array, Task
from equipoise.solve.descents.stochastic import Run, ready_for, run_noisy


class NoisyDescentCarrier(TrainedCarrier[NoisyDescent]):
    """Long runs take noise from the stream, in a compiled loop; short ones ask OpenDP for every noisy gradient."""

    claim: ClassVar[type[Claim]] = NoisyDescent

    def ready(self, claim: NoisyDescent, source: NoiseSource) -> None:
        """Load the compiled loops and the stream, for a run that is too long for exact noise."""
        if claim.stream or source.seeded:
            ready_for(claim.problem.loss)
        source.ready(streaming=claim.stream)

    def weights(self, task: Task[NoisyDescent]) -> Array:
        """Descend on noisy gradients."""
        rows, claim, source = task.whole, task.claim, task.source
        run = replace(run_of(claim, claim.recipe.steps(claim.n_samples)), radius=claim.radius)
        if not (claim.stream or source.seeded):
            return _exact(task, run)[None, :]
        weights = run_noisy(
            rows,
            task.targets,
            claim.problem.loss,
            run,
            claim.scale,
            lambda out: source.integers(claim.n_samples, out),
            source.normals,
            persons=task.grouped(),
        )
        return weights[None, :]


def _exact(task: Task[NoisyDescent], run: Run) -> Array:
    """Return the weights when every noisy gradient is an exact release."""
    claim, objective, persons = task.claim, task.objective(), task.grouped()
    weights, total = np.zeros(task.rows.dimension), np.zeros(task.rows.dimension)
    for number in range(1, run.steps + 1):
        drawn = task.source.subset(claim.n_samples, run.batch)
        chosen = drawn if persons is None else persons.rows_of(drawn)
        gradient = objective.shortened_gradient(weights, run.clip, chosen, run.batch)
        noisy = task.source.add(claim.law, gradient, claim.scale) + run.ridge * weights
        weights = weights - run.step * noisy
        norm = float(np.linalg.norm(weights))
        if norm > run.radius:
            weights *= run.radius / norm
        if number >= run.averaged_from:
            total += weights
    return total / (run.steps - run.averaged_from + 1)
