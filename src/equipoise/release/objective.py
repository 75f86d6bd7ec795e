"""Objective perturbation: draw a tilt, minimise the tilted objective in a ball, add the finishing noise (E4)."""

from dataclasses import replace
from typing import ClassVar

import numpy as np

from equipoise.learn import solvers
from equipoise.learn.problem import Objective
from equipoise.proof.mechanisms import named
from equipoise.proof.perturbations.approximate import steep
from equipoise.proof.routes.objective import FINISHING_LAW
from equipoise.release.base import Array, Carrier, Task
from equipoise.solve.losses import arrays_of

# After this many rounds the fixed point of a steep tilt is known to the last digits (E4, zone 2).
ROUNDS = 16


class Tilted(Carrier):
    """The tilt is drawn before the rows are looked at; what the solver leaves open is hidden by the finishing noise."""

    id: ClassVar[str] = "objective"

    @classmethod
    def carry_out(cls, task: Task) -> Array:
        """Draw, minimise, finish."""
        problem, argument, facts = task.problem, task.argument, task.argument.constants
        loss, arrays = problem.loss, arrays_of(problem.loss)
        drawn = named(argument.mechanism).release(np.zeros(argument.dimension), argument.noise_scale, task.source)
        # The noise lives in the free coordinates; its tilt of all weights is an isometry away.
        tilt = arrays.full(drawn.reshape(loss.free_outputs, -1)).ravel() / task.rows.n_samples
        objective = Objective(loss, problem.penalty, task.rows, task.targets, tilt=tilt)
        if float(np.linalg.norm(tilt)) > steep(facts):
            weights = on_the_sphere(objective, facts.radius)
        else:
            target = replace(task.target, radius=facts.radius, start_distance=facts.radius)
            weights = solvers.suited(objective).solve(objective, target)
        free = arrays.free(weights.reshape(loss.outputs, -1))
        finisher = named(FINISHING_LAW)
        noisy = finisher.release(free.ravel(), argument.procedure.finishing_scale, task.source)
        return noisy.reshape(free.shape)


def on_the_sphere(objective: Objective, radius: float) -> Array:
    """Return the minimiser over a ball under a tilt so steep that it lies on the sphere: ``w = -R g(w) / ||g(w)||``.

    The map is a contraction by 1/14 (E4, zone 2), so that sixteen rounds leave only rounding.
    """
    gradient = objective.tilt
    for _ in range(ROUNDS):
        weights = -radius / float(np.linalg.norm(gradient)) * gradient
        gradient = objective.gradient(weights)
    return -radius / float(np.linalg.norm(gradient)) * gradient
