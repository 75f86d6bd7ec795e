"""The squared loss on a bounded domain."""

import math

from .clipped_residual import ClippedResidual, Shape


class Squared(ClippedResidual):
    """Squared loss ``(m - y)^2`` with ``|y| <= Y``; no factor 1/2.

    It is Lipschitz only because residuals are bounded: weights of norm R and rows of norm B give ``|m - y| <= R B +
    Y``, so the slope is at most ``2 (R B + Y)``. Curvature 2. The gradient diameter is exact (A2).

    Examples
    --------
    >>> loss = Squared()
    >>> loss.value(3.0, 1.0), loss.slope(3.0, 1.0)
    (4.0, 4.0)
    >>> loss.slope_bound(1.0, 1.0), loss.curvature_bound()
    (4.0, 2.0)
    >>> round(loss.gradient_diameter(row_norm=1.0, radius=1.0, label_bound=1.0), 5)
    5.19615
    """

    id = "squared"
    task = "regression"

    @property
    def shape(self) -> Shape:
        """Twice the residual, whatever its size."""
        return Shape(math.inf, stretch=2.0)

    @staticmethod
    def slope_at(prediction: float, target: float, parameter: float) -> float:
        """Return ``2 (m - y)``."""
        return 2.0 * (prediction - target)
