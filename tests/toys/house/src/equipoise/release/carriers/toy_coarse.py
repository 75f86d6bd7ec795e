"""A toy: output perturbation, with weights rounded to a public grid."""

from typing import ClassVar

import numpy as np

from equipoise.certify.claims import Claim
from equipoise.certify.claims.toy_coarse import ToyCoarse
from equipoise.release.carriers.output import OutputCarrier
from equipoise.release.job import Array, Task


class ToyCoarseCarrier(OutputCarrier):
    """Round what output perturbation releases."""

    claim: ClassVar[type[Claim]] = ToyCoarse

    def weights(self, task: Task[ToyCoarse]) -> Array:
        """Return multiples of the grid."""
        return np.asarray(np.round(super().weights(task) / task.claim.grid) * task.claim.grid)
