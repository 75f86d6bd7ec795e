"""Phased localisation: every phase meets fresh rows, and starts where the last one was released."""

import math
from collections.abc import Callable
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from equipoise.certify.claims import Claim
from equipoise.certify.claims.descents import Phase, Phased
from equipoise.data.chosen_rows import ChosenRows
from equipoise.noise import NoiseSource
from equipoise.release.carriers.base import TrainedCarrier, numbers_of, within
from equipoise.release.carriers.sgd import in_secret_places, public_order
from equipoise.release.dealt_rows import Turns, dealt_rows
from equipoise.release.job import Array, Task
from equipoise.release.parted_rows import PartedRows
from equipoise.solve import solvers
from equipoise.solve.descents.layout import Persons
from equipoise.solve.descents.stochastic import Run, ready_for, run_hands, run_passes
from equipoise.solve.objective import Objective
from equipoise.solve.solvers.base import Target
from equipoise.vocabulary import penalties


class PhasedCarrier(TrainedCarrier[Phased]):
    """Rows are dealt to phases by the public seed, persons in secret; starts are projected into the public ball, free.

    Both are page K1's; the secret dealing is N1's.
    """

    claim: ClassVar[type[Claim]] = Phased

    def rows_at_once(self, claim: Phased) -> int | None:
        """Return one row where phases descend; a minimiser needs all rows of its phase."""
        return None if any(phase.alpha > 0 for phase in claim.phases) else 1

    def ready(self, claim: Phased, source: NoiseSource) -> None:
        """Load the compiled loops, for phases that descend."""
        if any(phase.alpha == 0 for phase in claim.phases):
            ready_for(claim.problem.loss)
        source.ready(numbers_of(claim), streaming=claim.unit == "person")

    def weights(self, task: Task[Phased]) -> Array:
        """Go through the phases."""
        if isinstance(task.rows, PartedRows):
            with dealt_rows(task, 1) as rows:
                turns, loss = Turns(rows.passes(1, fresh=False)), task.claim.problem.loss
                return _phases(
                    task,
                    lambda phase, start: run_hands(
                        turns.next_rows(phase.rows), rows.dimension, loss, _run(task.claim, phase), start=start
                    ),
                )
        n_samples, persons, used = task.claim.n_samples, in_secret_places(task), 0
        order = public_order(n_samples, task.public_seed) if task.persons is None else np.arange(n_samples)

        def found(phase: Phase, start: Array) -> Array:
            nonlocal used
            places = order[used : used + phase.rows]
            used += phase.rows
            return (_around if phase.alpha > 0 else _descended)(task, phase, places, start, persons)

        return _phases(task, found)


def _phases(task: Task[Phased], found: Callable[[Phase, Array], Array]) -> Array:
    """Return the weights after the last phase; every phase is released before the next begins."""
    claim, outputs = task.claim, task.claim.problem.loss.free_outputs
    weights = np.zeros(outputs * task.rows.dimension)
    for phase in claim.phases:
        start = within(weights, claim.constants.radius)
        weights = task.source.add(claim.law, found(phase, start), phase.noise_scale)
    return weights.reshape(outputs, -1)


def _run(claim: Phased, phase: Phase) -> Run:
    """Return one pass over a phase's rows, or persons, in the public ball."""
    clip = claim.recipe.clip
    return Run(
        batch=1,
        steps=phase.rows,
        step=phase.step,
        average="uniform",
        radius=claim.constants.radius,
        clip=math.inf if clip is None else clip,
    )


def _descended(
    task: Task[Phased], phase: Phase, places: NDArray[np.int64], start: Array, persons: Persons | None
) -> Array:
    """Return the mean of the weights of one pass over a phase's rows, or persons."""
    run, loss = _run(task.claim, phase), task.claim.problem.loss
    return run_passes(task.whole, task.targets, loss, run, [places], start=start, persons=persons)


def _around(
    task: Task[Phased], phase: Phase, places: NDArray[np.int64], start: Array, persons: Persons | None
) -> Array:
    """Return the minimiser over a phase's rows with a ridge around the start, to the phase's tolerance."""
    facts = task.claim.constants
    inside = np.sort(places) if persons is None else persons.rows_of(places)
    shares = None if persons is None else persons.shares[inside]
    rows = ChosenRows(task.whole, inside)
    penalty = penalties.named("l2", phase.alpha)
    # A ridge around the start is a ridge around 0 and a linear term.
    objective = Objective(
        task.claim.problem.loss,
        penalty,
        rows,
        task.targets[inside],
        start=start,
        tilt=-phase.alpha * start,
        shares=shares,
        n_samples=phase.rows,
    )
    target = Target(
        tolerance=phase.tolerance,
        smoothness=facts.smoothness + phase.alpha,
        strong_convexity=phase.alpha,
        start_distance=facts.radius + facts.lipschitz / phase.alpha,
        radius=None,
        row_norm=facts.row_norm,
        label_bound=facts.label_bound,
        passes=phase.passes,
    )
    return solvers.suited(objective).solve(objective, target)
