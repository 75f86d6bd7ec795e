"""Objective perturbation: draw a tilt, minimise the tilted objective in a ball, add the finishing noise (E4)."""

from dataclasses import replace
from typing import ClassVar

import numpy as np

from equipoise.certify.claims import Claim
from equipoise.certify.claims.objective import Objective as Tilted
from equipoise.certify.theorems.perturbation import answer
from equipoise.release.carriers.base import TrainedCarrier, target_of
from equipoise.release.job import Array, Task
from equipoise.solve import solvers
from equipoise.solve.losses import arrays_of
from equipoise.solve.objective import Objective
from equipoise.vocabulary.losses import KinkedLoss

# Tilts beyond this multiple of what loss and ridge can answer are left to a fixed point on the sphere (E4, zone 2).
STEEP = 2.0**4

# After this many rounds the fixed point of a steep tilt is known to the last digits (E4, zone 2).
ROUNDS = 16


class ObjectiveCarrier(TrainedCarrier[Tilted]):
    """The tilt is drawn before the rows are looked at; what the solver leaves open is hidden by the finishing noise."""

    claim: ClassVar[type[Claim]] = Tilted

    def sums_suffice(self, claim: Tilted) -> bool:
        """Return whether the loss has no corners: solvers that meet them keep a slope a row."""
        return not isinstance(claim.problem.loss, KinkedLoss)

    def weights(self, task: Task[Tilted]) -> Array:
        """Draw, minimise, finish."""
        claim, problem, facts = task.claim, task.claim.problem, task.claim.constants
        loss, arrays = problem.loss, arrays_of(problem.loss)
        drawn = task.source.add(claim.law, np.zeros(claim.noise.dimension), claim.scale)
        # The noise lives in the free coordinates; its tilt of all weights is an isometry away.
        tilt = arrays.full(drawn.reshape(loss.free_outputs, -1)).ravel() / claim.n_samples
        objective = task.objective(tilt=tilt)
        if float(np.linalg.norm(tilt)) > STEEP * answer(facts):
            found = on_the_sphere(objective, facts.radius)
        else:
            target = replace(target_of(claim, claim.tolerance), radius=facts.radius, start_distance=facts.radius)
            found = solvers.suited(objective).solve(objective, target)
        free = arrays.free(found.reshape(loss.outputs, -1))
        return task.source.add(claim.finish.law, free.ravel(), claim.finish.scale).reshape(free.shape)


def on_the_sphere(objective: Objective, radius: float) -> Array:
    """Return the minimiser over a ball under a tilt so steep that it lies on the sphere: ``w = -R g(w) / ||g(w)||``.

    The map is a contraction by 1/14 (E4, zone 2), so that sixteen rounds leave only rounding.
    """
    gradient = objective.tilt
    for _ in range(ROUNDS):
        weights = -radius / float(np.linalg.norm(gradient)) * gradient
        gradient = objective.gradient(weights)
    return -radius / float(np.linalg.norm(gradient)) * gradient
