"""Phased localisation: every phase meets fresh rows, and starts where the last one was released."""

import math
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from equipoise.learn import solvers
from equipoise.learn.chosen_rows import ChosenRows
from equipoise.learn.problem import Objective
from equipoise.learn.solvers.base import Target
from equipoise.learn.stochastic import Run, run_passes
from equipoise.proof.mechanisms import named
from equipoise.proof.routes.base import Phase
from equipoise.release.base import Array, Carrier, Task
from equipoise.release.sgd import public_order, recipe_of
from equipoise.release.sufficient_statistics import within
from equipoise.vocabulary import penalties


class Localising(Carrier):
    """Rows are dealt to phases by the public seed; starts are projected into the public ball, which is free (K1)."""

    id: ClassVar[str] = "phased"

    @classmethod
    def carry_out(cls, task: Task) -> Array:
        """Go through the phases."""
        argument = task.argument
        law, radius = named(argument.mechanism), argument.constants.radius
        order = public_order(task.rows.n_samples, task.public_seed)
        weights, used = np.zeros(task.rows.dimension), 0
        for phase in argument.procedure.phases:
            places = order[used : used + phase.rows]
            used += phase.rows
            start = within(weights, radius)
            find = _around if phase.alpha > 0 else _descended
            found = find(task, phase, places, start)
            weights = law.release(found, phase.noise_scale, task.source)
        return weights[None, :]


def _descended(task: Task, phase: Phase, places: NDArray[np.int64], start: Array) -> Array:
    """Return the mean of the weights of one pass over a phase's rows, in the public ball."""
    clip = recipe_of(task).clip
    run = Run(
        batch=1,
        steps=phase.rows,
        step=phase.step,
        average="uniform",
        radius=task.argument.constants.radius,
        clip=math.inf if clip is None else clip,
    )
    return run_passes(task.rows, task.targets, task.problem.loss, run, [places], start=start)


def _around(task: Task, phase: Phase, places: NDArray[np.int64], start: Array) -> Array:
    """Return the minimiser over a phase's rows with a ridge around the start, to the phase's tolerance."""
    facts = task.argument.constants
    inside = np.sort(places)
    rows = ChosenRows(task.rows, inside)
    penalty = penalties.named("l2", phase.alpha)
    # A ridge around the start is a ridge around 0 and a linear term.
    objective = Objective(
        task.problem.loss, penalty, rows, task.targets[inside], start=start, tilt=-phase.alpha * start
    )
    target = Target(
        tolerance=phase.tolerance,
        smoothness=facts.smoothness + phase.alpha,
        strong_convexity=phase.alpha,
        start_distance=facts.radius + facts.lipschitz / phase.alpha,
        radius=None,
        row_norm=facts.row_norm,
        label_bound=facts.label_bound,
    )
    return solvers.suited(objective).solve(objective, target)
