"""The logistic loss with its slope clipped, on arrays."""

import numpy as np

from equipoise.solve.losses.base import Array
from equipoise.solve.losses.logistic import LogisticArrays, log_loss
from equipoise.vocabulary.losses.clipped_logistic import ClippedLogistic


class ClippedLogisticArrays(LogisticArrays):
    """The logistic loss up to where its slope reaches the cap, and a straight line before.

    Examples
    --------
    >>> arrays = ClippedLogisticArrays(ClippedLogistic(0.5))
    >>> arrays.slope(np.array([-5.0, 0.0, 5.0]), np.ones(3)).round(3).tolist()
    [-0.5, -0.5, -0.007]
    """

    of = ClippedLogistic
    loss: ClippedLogistic

    def value(self, prediction: Array, target: Array) -> Array:
        """Return the logistic loss at ``max(z, t)``, and the straight line before it."""
        margin = target * prediction
        value = log_loss(np.maximum(margin, self.loss.corner))
        if self.loss.cap < 1:
            value += self.loss.cap * np.maximum(0.0, self.loss.corner - margin)
        return value

    def slope(self, prediction: Array, target: Array) -> Array:
        """Return the logistic slope, clipped."""
        slope: Array = np.clip(super().slope(prediction, target), -self.loss.cap, self.loss.cap)
        return slope

    def curvature(self, prediction: Array, target: Array) -> Array:
        """Return the logistic curvature for ``z >= t`` and 0 before."""
        curvature: Array = super().curvature(prediction, target) * (target * prediction >= self.loss.corner)
        return curvature
