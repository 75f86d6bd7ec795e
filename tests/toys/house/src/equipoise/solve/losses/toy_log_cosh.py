"""A toy: the logarithm of the hyperbolic cosine, on arrays."""

import numpy as np

from equipoise.solve.losses.base import Array, LossArrays
from equipoise.vocabulary.losses.toy_log_cosh import ToyLogCosh


class ToyLogCoshArrays(LossArrays):
    """``log cosh(m - y)``."""

    of = ToyLogCosh

    def value(self, prediction: Array, target: Array) -> Array:
        """Return the loss's own arithmetic, entry by entry: a toy need not be fast."""
        return np.vectorize(self.loss.value, otypes=[float])(prediction, target)

    def slope(self, prediction: Array, target: Array) -> Array:
        """Return ``tanh`` of the residuals."""
        return np.tanh(prediction - target)

    def curvature(self, prediction: Array, target: Array) -> Array:
        """Return ``1 - tanh^2``, without cancellation."""
        small = np.exp(-2 * np.abs(prediction - target))
        return 4 * small / (1 + small) ** 2
