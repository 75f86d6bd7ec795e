"""The logistic loss on arrays."""

import numpy as np
from scipy.special import expit

from equipoise.solve.losses.base import Array, LossArrays
from equipoise.vocabulary.losses.logistic import Logistic


class LogisticArrays(LossArrays):
    """``log(1 + exp(-y m))``.

    Examples
    --------
    >>> LogisticArrays(Logistic()).slope(np.zeros(2), np.array([1.0, -1.0])).tolist()
    [-0.5, 0.5]
    """

    of = Logistic

    def value(self, prediction: Array, target: Array) -> Array:
        """Return ``log(1 + exp(-y m))`` without overflow."""
        return np.logaddexp(0.0, -target * prediction)

    def slope(self, prediction: Array, target: Array) -> Array:
        """Return ``-y sigmoid(-y m)``."""
        slope: Array = expit(-target * prediction)
        slope *= -target
        return slope

    def curvature(self, prediction: Array, target: Array) -> Array:
        """Return ``sigmoid(m) sigmoid(-m)``, the same for both labels."""
        smaller: Array = expit(-np.abs(prediction))
        return smaller * (1.0 - smaller)
