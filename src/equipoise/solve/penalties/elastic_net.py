"""The elastic net on arrays."""

import numpy as np

from equipoise.solve.penalties.base import Array, PenaltyArrays
from equipoise.vocabulary.penalties.elastic_net import ElasticNet


class ElasticNetArrays(PenaltyArrays):
    """``alpha (c ||w||_1 + (1 - c)/2 ||w||^2)``: the ridge is the smooth part, the L1 norm the kinked one.

    Examples
    --------
    >>> ElasticNetArrays(ElasticNet(0.5, l1_ratio=0.75)).prox(np.array([1.0, -0.25, 0.0]), step=1.0)
    array([0.625, 0.   , 0.   ])
    """

    of = ElasticNet
    penalty: ElasticNet

    def value(self, weights: Array) -> float:
        """Return ``alpha (c ||w||_1 + (1 - c)/2 ||w||^2)``."""
        penalty = self.penalty
        return penalty.corner * float(np.abs(weights).sum()) + penalty.smoothness() / 2 * float(weights @ weights)

    def gradient(self, weights: Array) -> Array:
        """Return the ridge's gradient, ``alpha (1 - c) w``."""
        return self.penalty.smoothness() * weights

    def add_curvature(self, hessian: Array) -> None:
        """Add ``alpha (1 - c)`` to the diagonal."""
        hessian.flat[:: len(hessian) + 1] += self.penalty.smoothness()

    def prox(self, weights: Array, step: float) -> Array:
        """Return the soft threshold ``sign(w) max(|w| - step alpha c, 0)``."""
        # Adding 0 turns -0 into 0.
        return np.copysign(np.maximum(np.abs(weights) - step * self.penalty.corner, 0.0), weights) + 0.0
