"""The squared loss on a bounded domain."""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from equipoise.vocabulary.losses.base import Array, Loss
from equipoise.vocabulary.losses.clipped_squared import ClippedSquared


@dataclass(frozen=True)
class Squared(Loss):
    """Squared loss ``(m - y)^2`` with ``|y| <= Y``; no factor 1/2.

    It is Lipschitz only because residuals are bounded: weights of norm R and rows of norm B give ``|m - y| <= R B +
    Y``, so the slope is at most ``2 (R B + Y)``. Curvature 2. The gradient diameter is exact (A2).

    Examples
    --------
    >>> loss = Squared()
    >>> loss.slope_bound(1.0, 1.0), loss.curvature_bound()
    (4.0, 2.0)
    >>> round(loss.gradient_diameter(row_norm=1.0, radius=1.0, label_bound=1.0), 5)
    5.19615
    """

    id: ClassVar[str] = "squared"
    task: ClassVar[Literal["classification", "regression"]] = "regression"

    def value(self, prediction: Array, target: Array) -> Array:
        """Return ``(m - y)^2``."""
        return np.square(prediction - target)

    def slope(self, prediction: Array, target: Array) -> Array:
        """Return ``2 (m - y)``."""
        return 2.0 * (prediction - target)

    def curvature(self, prediction: Array, target: Array) -> Array:
        """Return 2."""
        return np.full_like(prediction, 2.0)

    def slope_bound(self, reach: float, label_bound: float) -> float:
        """Return ``2 (reach + Y)``."""
        return 2.0 * (reach + label_bound)

    def clipped(self, cap: float) -> Loss:
        """Return the clipped squared loss."""
        return ClippedSquared(cap)

    def curvature_bound(self) -> float:
        """Return 2."""
        return 2.0

    def pull(self, reach: float, label_bound: float) -> float:
        """Return ``max 2 m (Y - m)`` over m up to `reach`: Y^2 / 2 once the reach is Y / 2."""
        position = min(reach, label_bound / 2)
        return 2.0 * position * (label_bound - position)

    def gradient_diameter(self, row_norm: float, radius: float, label_bound: float) -> float:
        """Return ``4 B (Y + R B c) sqrt(1 - c^2)``, ``c = (-Y + sqrt(Y^2 + 8 R^2 B^2)) / (4 R B)`` (A2, attained)."""
        reach = row_norm * radius
        # The same c, written without cancellation: it tends to 0 with the reach and to 1/sqrt(2) for a large one.
        cosine = 2 * reach / (label_bound + math.hypot(label_bound, math.sqrt(8.0) * reach))
        return 4 * row_norm * (label_bound + reach * cosine) * math.sqrt(1 - cosine**2)

    def unit(self, label_bound: float) -> float:
        """Return Y / 3, so that three units reach from the midpoint to the end of the target's range."""
        return label_bound / 3
