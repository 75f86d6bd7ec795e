"""The absolute loss with its corner rounded off, on arrays."""

from equipoise.solve.losses.base import Array, LossArrays
from equipoise.solve.losses.huber import HuberArrays
from equipoise.vocabulary.losses.huber import Huber
from equipoise.vocabulary.losses.smooth_absolute import SmoothAbsolute


class SmoothAbsoluteArrays(LossArrays):
    """Huber's loss with its cap at the width, over the width.

    Examples
    --------
    >>> import numpy as np
    >>> SmoothAbsoluteArrays(SmoothAbsolute(0.5)).slope(np.array([0.25, -3.0]), np.zeros(2)).tolist()
    [0.5, -1.0]
    """

    of = SmoothAbsolute
    loss: SmoothAbsolute

    def __init__(self, loss: SmoothAbsolute) -> None:
        super().__init__(loss)
        self._huber = HuberArrays(Huber(loss.width))

    def value(self, prediction: Array, target: Array) -> Array:
        """Return Huber's loss over the width."""
        return self._huber.value(prediction, target) / self.loss.width

    def slope(self, prediction: Array, target: Array) -> Array:
        """Return ``clip(r / width, -1, 1)``; never beyond 1 in size, not even by rounding."""
        return self._huber.slope(prediction, target) / self.loss.width

    def curvature(self, prediction: Array, target: Array) -> Array:
        """Return ``1 / width`` up to the width, the corners included, and 0 beyond."""
        return self._huber.curvature(prediction, target) / self.loss.width
