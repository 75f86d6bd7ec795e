"""Output perturbation: solve, then add noise."""

from typing import ClassVar

import numpy as np

from equipoise.certify.claims import Claim
from equipoise.certify.claims.output import Output
from equipoise.release.carriers.base import TrainedCarrier, target_of
from equipoise.release.job import Array, Task
from equipoise.solve import solvers
from equipoise.solve.losses import arrays_of
from equipoise.vocabulary.losses import KinkedLoss


class OutputCarrier(TrainedCarrier[Output]):
    """The solver ends at a public tolerance; noise goes to the free coordinates, an isometry away."""

    claim: ClassVar[type[Claim]] = Output

    def sums_suffice(self, claim: Output) -> bool:
        """Return whether the loss has no corners: solvers that meet them keep a slope a row."""
        return not isinstance(claim.problem.loss, KinkedLoss)

    def weights(self, task: Task[Output]) -> Array:
        """Solve and add noise."""
        claim, problem = task.claim, task.claim.problem
        start = _usable(task.job.start, claim.constants.radius)
        objective = task.objective(start)
        found = solvers.suited(objective).solve(objective, target_of(claim, claim.tolerance))
        # One weight vector of K follows from the others.
        free = arrays_of(problem.loss).free(found.reshape(problem.loss.outputs, -1))
        return task.source.add(claim.law, free.ravel(), claim.scale).reshape(free.shape)


def _usable(start: Array | None, radius: float) -> Array | None:
    """Return a start inside the ball that holds every minimiser; whatever it held, it never raises."""
    if start is None:
        return None
    finite = np.nan_to_num(start.ravel(), nan=0.0, posinf=0.0, neginf=0.0)
    norm = float(np.linalg.norm(finite))
    return finite if norm <= radius else finite * (radius / norm)
