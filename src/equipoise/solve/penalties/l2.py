"""The ridge on arrays."""

from equipoise.solve.penalties.base import Array, PenaltyArrays
from equipoise.vocabulary.penalties.l2 import L2


class L2Arrays(PenaltyArrays):
    """``alpha/2 ||w||^2``.

    Examples
    --------
    >>> import numpy as np
    >>> L2Arrays(L2(0.5)).value(np.array([2.0, -4.0]))
    5.0
    """

    of = L2
    penalty: L2

    def value(self, weights: Array) -> float:
        """Return ``alpha/2 ||w||^2``."""
        return self.penalty.alpha / 2 * float(weights @ weights)

    def gradient(self, weights: Array) -> Array:
        """Return ``alpha w``."""
        return self.penalty.alpha * weights

    def add_curvature(self, hessian: Array) -> None:
        """Add alpha to the diagonal."""
        hessian.flat[:: len(hessian) + 1] += self.penalty.alpha
