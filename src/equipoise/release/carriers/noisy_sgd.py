"""Noisy SGD: rows, or persons, and noise of every step come from the door's source, exactly or as a stream."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from equipoise.certify.claims import Claim
from equipoise.certify.claims.descents import NoisyDescent
from equipoise.noise import NoiseSource
from equipoise.release.carriers.base import TrainedCarrier
from equipoise.release.carriers.sgd import run_of
from equipoise.release.dealt_rows import DealtRows, dealt_rows
from equipoise.release.job import Array, Task
from equipoise.release.parted_rows import PartedRows
from equipoise.solve.descents.layout import Persons
from equipoise.solve.descents.stochastic import Run, ready_for, run_noisy, run_noisy_hands
from equipoise.solve.objective import Objective

# For a table that is never held, so many normal numbers are drawn at a time, beside the rows of as many steps.
NORMALS_AT_ONCE = 2**21


class NoisyDescentCarrier(TrainedCarrier[NoisyDescent]):
    """Long runs take noise from the stream, in a compiled loop; short ones ask OpenDP for every noisy gradient."""

    claim: ClassVar[type[Claim]] = NoisyDescent

    def rows_at_once(self, claim: NoisyDescent) -> int:
        """Return a batch: draws can be fetched."""
        return claim.recipe.batch_size

    def ready(self, claim: NoisyDescent, source: NoiseSource) -> None:
        """Load the compiled loops and the stream, for a run that is too long for exact noise."""
        if claim.stream or source.seeded:
            ready_for(claim.problem.loss)
        source.ready(streaming=claim.stream)

    def weights(self, task: Task[NoisyDescent]) -> Array:
        """Descend on noisy gradients."""
        claim, source = task.claim, task.source
        run = replace(run_of(claim, claim.recipe.steps(claim.n_samples)), radius=claim.radius)
        draws = claim.scale, partial(source.integers, claim.n_samples), source.normals
        exact, loss = not (claim.stream or source.seeded), claim.problem.loss
        if isinstance(task.rows, PartedRows):
            with dealt_rows(task) as rows:
                if exact:
                    return _exact(task, run, partial(_fetched_gradient, rows))[None, :]
                at_once = max(1, min(rows.rows_at_once // run.batch, NORMALS_AT_ONCE // rows.dimension))
                return run_noisy_hands(rows.drawn, rows.dimension, loss, run, *draws, at_once)[None, :]
        if exact:
            return _exact(task, run, partial(_held_gradient, task.objective(), task.grouped()))[None, :]
        return run_noisy(task.whole, task.targets, loss, run, *draws, persons=task.grouped())[None, :]


def _held_gradient(
    objective: Objective, persons: Persons | None, weights: Array, clip: float, drawn: NDArray[np.intp]
) -> Array:
    """Return the mean shortened gradient of rows, or of persons, in memory."""
    chosen = drawn if persons is None else persons.rows_of(drawn)
    return objective.shortened_gradient(weights, clip, chosen, len(drawn))


def _fetched_gradient(rows: DealtRows, weights: Array, clip: float, chosen: NDArray[np.intp]) -> Array:
    """Return the mean shortened gradient of rows that are fetched for it."""
    return rows.objective(chosen).shortened_gradient(weights, clip, np.arange(len(chosen)), len(chosen))


def _exact(task: Task[NoisyDescent], run: Run, shortened: Callable[[Array, float, NDArray[np.intp]], Array]) -> Array:
    """Return the weights when every noisy gradient is an exact release."""
    claim = task.claim
    weights, total = np.zeros(task.rows.dimension), np.zeros(task.rows.dimension)
    for number in range(1, run.steps + 1):
        gradient = shortened(weights, run.clip, task.source.subset(claim.n_samples, run.batch))
        noisy = task.source.add(claim.law, gradient, claim.scale) + run.ridge * weights
        weights = weights - run.step * noisy
        norm = float(np.linalg.norm(weights))
        if norm > run.radius:
            weights *= run.radius / norm
        if number >= run.averaged_from:
            total += weights
    return total / (run.steps - run.averaged_from + 1)
