"""The hinge loss with its corner rounded off, on arrays."""

import numpy as np

from equipoise.solve.losses.base import Array, LossArrays
from equipoise.vocabulary.losses.smooth_hinge import SmoothHinge


class SmoothHingeArrays(LossArrays):
    """``(1 + h - z)^2 / (4 h)`` for margins z within h of 1, 0 beyond and a line before.

    Examples
    --------
    >>> SmoothHingeArrays(SmoothHinge(0.5)).value(np.array([-1.0, 1.0, 2.0]), np.ones(3)).tolist()
    [2.0, 0.125, 0.0]
    """

    of = SmoothHinge
    loss: SmoothHinge

    def _shortfall(self, prediction: Array, target: Array) -> Array:
        # Near the corner 1 - z is exact, so that even a width below its last place is seen.
        return np.maximum(0.0, (1.0 - target * prediction) + self.loss.width)

    def value(self, prediction: Array, target: Array) -> Array:
        """Return ``(t / 2h) (u - t/2)`` with ``u = max(0, 1 + h - z)`` and ``t = min(u, 2 h)``: the branches in one."""
        shortfall = self._shortfall(prediction, target)
        clipped = np.minimum(shortfall, 2 * self.loss.width)
        value: Array = clipped / (2 * self.loss.width) * (shortfall - clipped / 2)
        return value

    def slope(self, prediction: Array, target: Array) -> Array:
        """Return ``-y clip((1 + h - z) / (2 h), 0, 1)``; never beyond 1 in size, not even by rounding."""
        slope: Array = np.minimum(self._shortfall(prediction, target), 2 * self.loss.width) / (2 * self.loss.width)
        slope *= -target
        return slope

    def curvature(self, prediction: Array, target: Array) -> Array:
        """Return ``1 / (2 h)`` for ``|1 - z| <= h``, the corners included, and 0 elsewhere."""
        rounded = np.abs(1.0 - target * prediction) <= self.loss.width
        return rounded / (2 * self.loss.width)
