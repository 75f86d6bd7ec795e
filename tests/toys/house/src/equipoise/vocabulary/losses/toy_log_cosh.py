"""A toy: the logarithm of the hyperbolic cosine."""

import math

from .base import Loss


class ToyLogCosh(Loss):
    """``log cosh(m - y)``: slope ``tanh(m - y)``, below 1; curvature at most 1."""

    id = "toy-log-cosh"
    task = "regression"

    def value(self, prediction: float, target: float) -> float:
        """Return ``log cosh`` of the residual without overflow."""
        residual = abs(prediction - target)
        return residual + math.log1p(math.exp(-2 * residual)) - math.log(2)

    @staticmethod
    def slope_at(prediction: float, target: float, parameter: float) -> float:
        """Return ``tanh`` of the residual."""
        return math.tanh(prediction - target)

    def slope_bound(self, reach: float, label_bound: float) -> float:
        """Return ``tanh(reach + Y)``."""
        return math.tanh(reach + label_bound)

    def curvature_bound(self) -> float:
        """Return 1, reached where the prediction is the target."""
        return 1.0

    def pull(self, reach: float, label_bound: float) -> float:
        """Return the largest ``m tanh(Y - m)``: it rises up to where ``tanh(Y - m) = m / cosh(Y - m)^2``."""
        low, high = 0.0, min(reach, label_bound)
        for _ in range(200):
            middle = (low + high) / 2
            small = math.exp(-2 * (label_bound - middle))
            rising = math.tanh(label_bound - middle) > middle * 4 * small / (1 + small) ** 2
            low, high = (middle, high) if rising else (low, middle)
        return high * math.tanh(label_bound - low)
