"""The absolute loss."""

import math

from .base import KinkedLoss


class Absolute(KinkedLoss):
    """Absolute loss ``|m - y|``, which regression to the median minimises.

    Subgradients are at most 1 in size, whatever the rows; the corner at ``m = y`` leaves no smoothness. The gradient
    diameter is 2 B: two opposite rows attain it at weights 0.

    Examples
    --------
    >>> loss = Absolute()
    >>> [loss.slope(prediction, 0.0) for prediction in (-1.0, 0.0, 3.0)]
    [-1.0, 0.0, 1.0]
    >>> loss.slope_bound(1.0, 1.0), loss.curvature_bound(), loss.pull(5.0, 2.0)
    (1.0, inf, 2.0)
    """

    id = "absolute"
    task = "regression"

    def value(self, prediction: float, target: float) -> float:
        """Return ``|m - y|``."""
        return abs(prediction - target)

    @staticmethod
    def slope_at(prediction: float, target: float, parameter: float) -> float:
        """Return the sign of ``m - y``; at the corner 0."""
        residual = prediction - target
        return 0.0 if residual == 0.0 else math.copysign(1.0, residual)

    def pull(self, reach: float, label_bound: float) -> float:
        """Return ``min(reach, Y)``: predictions short of the target are pulled with slope 1 (A2, attained)."""
        return min(reach, label_bound)
