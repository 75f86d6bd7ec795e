"""The Huber loss on arrays."""

import numpy as np

from equipoise.solve.losses.base import Array, LossArrays
from equipoise.vocabulary.losses.huber import Huber


class HuberArrays(LossArrays):
    """``r^2 / 2`` up to the cap, ``cap |r| - cap^2 / 2`` beyond.

    Examples
    --------
    >>> HuberArrays(Huber(2.0)).value(np.array([1.0, 5.0]), np.array([0.0, 0.0])).tolist()
    [0.5, 8.0]
    """

    of = Huber
    loss: Huber

    def value(self, prediction: Array, target: Array) -> Array:
        """Return ``s (r - s/2)`` with s the slope: both branches in one, and no overflow in the unused one."""
        residual = prediction - target
        slope = np.clip(residual, -self.loss.cap, self.loss.cap)
        value: Array = slope * (residual - slope / 2)
        return value

    def slope(self, prediction: Array, target: Array) -> Array:
        """Return the residual, clipped at the cap."""
        slope: Array = np.clip(prediction - target, -self.loss.cap, self.loss.cap)
        return slope

    def curvature(self, prediction: Array, target: Array) -> Array:
        """Return 1 up to the cap, the corners included, and 0 beyond."""
        return (np.abs(prediction - target) <= self.loss.cap).astype(np.float64)
