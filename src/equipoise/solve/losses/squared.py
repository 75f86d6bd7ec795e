"""The squared loss on arrays."""

import numpy as np

from equipoise.solve.losses.base import Array, LossArrays
from equipoise.vocabulary.losses.squared import Squared


class SquaredArrays(LossArrays):
    """``(m - y)^2``.

    Examples
    --------
    >>> SquaredArrays(Squared()).value(np.array([1.0, -3.0]), np.zeros(2)).tolist()
    [1.0, 9.0]
    """

    of = Squared

    def value(self, prediction: Array, target: Array) -> Array:
        """Return ``(m - y)^2``."""
        return np.square(prediction - target)

    def slope(self, prediction: Array, target: Array) -> Array:
        """Return ``2 (m - y)``."""
        return 2.0 * (prediction - target)

    def curvature(self, prediction: Array, target: Array) -> Array:
        """Return 2."""
        return np.full_like(prediction, 2.0)
