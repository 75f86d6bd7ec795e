"""The squared loss with its slope clipped, on arrays."""

from equipoise.solve.losses.base import Array, LossArrays
from equipoise.solve.losses.huber import HuberArrays
from equipoise.vocabulary.losses.clipped_squared import ClippedSquared
from equipoise.vocabulary.losses.huber import Huber


class ClippedSquaredArrays(LossArrays):
    """Half of Huber's loss with the same cap, for twice the prediction and twice the target.

    Examples
    --------
    >>> import numpy as np
    >>> ClippedSquaredArrays(ClippedSquared(2.0)).value(np.array([1.0, 5.0]), np.array([0.0, 0.0])).tolist()
    [1.0, 9.0]
    """

    of = ClippedSquared

    def __init__(self, loss: ClippedSquared) -> None:
        super().__init__(loss)
        self._huber = HuberArrays(Huber(loss.cap))

    def value(self, prediction: Array, target: Array) -> Array:
        """Return half of Huber's loss."""
        return self._huber.value(2.0 * prediction, 2.0 * target) / 2.0

    def slope(self, prediction: Array, target: Array) -> Array:
        """Return ``2 r``, clipped at the cap."""
        return self._huber.slope(2.0 * prediction, 2.0 * target)

    def curvature(self, prediction: Array, target: Array) -> Array:
        """Return 2 up to the cap, the corners included, and 0 beyond."""
        return 2.0 * self._huber.curvature(2.0 * prediction, 2.0 * target)
