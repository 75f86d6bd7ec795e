"""Noisy SGD: rows, or persons, and noise of every step come from the door's source."""

from dataclasses import replace
from functools import partial
from typing import ClassVar

from equipoise.certify.claims import Claim
from equipoise.certify.claims.descents import NoisyDescent
from equipoise.noise import NoiseSource
from equipoise.noise.grid import GridNoise
from equipoise.release.carriers.base import TrainedCarrier, numbers_of
from equipoise.release.carriers.sgd import run_of
from equipoise.release.dealt_rows import dealt_rows
from equipoise.release.job import Array, Task
from equipoise.release.parted_rows import PartedRows
from equipoise.solve.descents.stochastic import ready_for, run_noisy, run_noisy_hands

# For a table that is never held, so many numbers are drawn at a time, beside the rows of as many steps.
NUMBERS_AT_ONCE = 2**20


class NoisyDescentCarrier(TrainedCarrier[NoisyDescent]):
    """Every gradient has exact noise and is rounded to a public grid before the descent sees it (D7)."""

    claim: ClassVar[type[Claim]] = NoisyDescent

    def rows_at_once(self, claim: NoisyDescent) -> int:
        """Return a batch: draws can be fetched."""
        return claim.recipe.batch_size

    def ready(self, claim: NoisyDescent, source: NoiseSource) -> None:
        """Load the compiled loops, and those that noise is drawn by."""
        ready_for(claim.problem.loss)
        source.ready(numbers_of(claim), streaming=True)

    def weights(self, task: Task[NoisyDescent]) -> Array:
        """Descend on noisy gradients."""
        claim, source = task.claim, task.source
        run = replace(run_of(claim, claim.recipe.steps(claim.n_samples)), radius=claim.radius)
        loss, draw_rows = claim.problem.loss, partial(source.integers, claim.n_samples)

        def draw_noise(count: int) -> GridNoise:
            return source.noise(claim.law, count, claim.scale)

        if isinstance(task.rows, PartedRows):
            with dealt_rows(task, run.batch) as rows:
                at_once = max(1, min(rows.rows_at_once // run.batch, NUMBERS_AT_ONCE // claim.noise.dimension))
                found = run_noisy_hands(rows.drawn, rows.dimension, loss, run, draw_rows, draw_noise, at_once)
        else:
            found = run_noisy(task.whole, task.targets, loss, run, draw_rows, draw_noise, persons=task.grouped())
        return found.reshape(loss.free_outputs, -1)
