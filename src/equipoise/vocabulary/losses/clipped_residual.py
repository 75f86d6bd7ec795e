"""What Huber's loss and its kin share: a residual for a slope, clipped."""

import math
from abc import abstractmethod
from typing import NamedTuple

from .base import Loss


class Shape(NamedTuple):
    """The slope ``clip(stretch r, -cap, cap) / divisor`` of the residual ``r = m - y``."""

    cap: float
    stretch: float = 1.0
    divisor: float = 1.0


class ClippedResidual(Loss):
    """A loss whose slope is the residual up to a cap: Huber's, stretched and divided, and so are its constants (A2).

    All of them are attained.
    """

    @property
    @abstractmethod
    def shape(self) -> Shape:
        """The numbers that make it of Huber's loss."""

    def furthest(self, label_bound: float) -> float:
        """Return the residual that a prediction of 0 has at most."""
        return label_bound

    def value(self, prediction: float, target: float) -> float:
        """Return ``s (r - s/2)`` with s the clipped residual: both branches in one."""
        cap, stretch, divisor = self.shape
        residual = stretch * prediction - stretch * target
        slope = max(-cap, min(cap, residual))
        return slope * (residual - slope / 2) / (stretch * divisor)

    def slope_bound(self, reach: float, label_bound: float) -> float:
        """Return the residual's largest size, ``reach + Y``, clipped."""
        cap, stretch, divisor = self.shape
        return min(cap, stretch * (reach + self.furthest(label_bound))) / divisor

    def curvature_bound(self) -> float:
        """Return the curvature up to the cap."""
        return self.shape.stretch / self.shape.divisor

    def pull(self, reach: float, label_bound: float) -> float:
        """Return ``max m min(cap, Y - m)`` over m up to `reach`; it peaks at ``max(Y - cap, Y / 2)``."""
        cap, stretch, divisor = self.shape
        reach, far = stretch * reach, stretch * self.furthest(label_bound)
        # Two forms, because a cap below the last place of Y vanishes in Y - (Y - cap).
        if cap < far / 2:
            return cap * min(reach, far - cap) / (stretch * divisor)
        place = min(reach, far / 2)
        return place * min(cap, far - place) / (stretch * divisor)

    def gradient_diameter(self, row_norm: float, radius: float, label_bound: float) -> float:
        """Return ``2 B max_c min(cap, Y + R B c) sqrt(1 - c^2)`` over c in [0, 1]: two rows that mirror each other.

        Below the cap the widest pair has ``c = (-Y + sqrt(Y^2 + 8 R^2 B^2)) / (4 R B)``.
        """
        cap, stretch, divisor = self.shape
        reach, far = stretch * row_norm * radius, stretch * self.furthest(label_bound)
        room = cap - far
        if room <= 0:
            return 2 * row_norm * cap / divisor
        # The same c, written without cancellation: it tends to 0 with the reach and to 1/sqrt(2) for a large one. An
        # infinite reach gives no number here, and so the last line.
        cosine = 2 * reach / (far + math.hypot(far, math.sqrt(8.0) * reach))
        if reach * cosine <= room:
            return 2 * row_norm * (far + reach * cosine) * math.sqrt(1 - cosine**2) / divisor
        return 2 * row_norm * cap * math.sqrt(1 - (room / reach) ** 2) / divisor
