"""No penalty, on arrays."""

import numpy as np

from equipoise.solve.penalties.base import Array, PenaltyArrays
from equipoise.vocabulary.penalties.none import NoPenalty


class NoPenaltyArrays(PenaltyArrays):
    """Nothing.

    Examples
    --------
    >>> NoPenaltyArrays(NoPenalty()).value(np.ones(3))
    0.0
    """

    of = NoPenalty

    def value(self, weights: Array) -> float:
        """Return 0."""
        return 0.0

    def gradient(self, weights: Array) -> Array:
        """Return 0."""
        return np.zeros_like(weights)

    def add_curvature(self, hessian: Array) -> None:
        """Add nothing."""
