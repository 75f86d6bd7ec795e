"""The Huber loss: squared for small residuals, absolute for large ones."""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from equipoise.vocabulary.losses.base import Array, Loss
from equipoise.vocabulary.numbers import plain, require_number


@dataclass(frozen=True)
class Huber(Loss):
    """Huber loss of the residual ``r = m - y``: ``r^2 / 2`` up to the cap, ``cap |r| - cap^2 / 2`` beyond.

    It carries the 1/2 that the squared loss lacks. Slope ``clip(r, -cap, cap)``, so that no outlier pulls harder than
    the cap; curvature 1 up to the cap. The gradient diameter is exact (A2).

    Parameters
    ----------
    cap : float
        The largest residual that counts in full, in the unit of the target.

    Examples
    --------
    >>> loss = Huber(2.0)
    >>> loss.value(np.array([1.0, 5.0]), np.array([0.0, 0.0])).tolist()
    [0.5, 8.0]
    >>> loss.slope_bound(1.0, 10.0), loss.curvature_bound(), loss.name
    (2.0, 1.0, 'huber:2.0')
    >>> round(loss.gradient_diameter(row_norm=1.0, radius=1.0, label_bound=1.0), 5)
    2.59808
    """

    cap: float = 1.0
    id: ClassVar[str] = "huber"
    task: ClassVar[Literal["classification", "regression"]] = "regression"

    def __post_init__(self) -> None:
        """Refuse a cap that is not a positive number."""
        remedy = "pass the largest residual that counts in full, such as 1.0"
        object.__setattr__(self, "cap", require_number("cap", plain(self.cap), above=0.0, remedy=remedy))

    @property
    def name(self) -> str:
        """The id and the cap."""
        return f"{self.id}:{self.cap!r}"

    def value(self, prediction: Array, target: Array) -> Array:
        """Return ``s (r - s/2)`` with s the slope: both branches in one, and no overflow in the unused one."""
        residual = prediction - target
        slope = np.clip(residual, -self.cap, self.cap)
        value: Array = slope * (residual - slope / 2)
        return value

    def slope(self, prediction: Array, target: Array) -> Array:
        """Return the residual, clipped at the cap."""
        slope: Array = np.clip(prediction - target, -self.cap, self.cap)
        return slope

    def curvature(self, prediction: Array, target: Array) -> Array:
        """Return 1 up to the cap, the corners included, and 0 beyond."""
        return (np.abs(prediction - target) <= self.cap).astype(np.float64)

    def slope_bound(self, reach: float, label_bound: float) -> float:
        """Return ``min(cap, reach + Y)``."""
        return min(self.cap, reach + label_bound)

    def clipped(self, cap: float) -> Loss:
        """Return the Huber loss with the smaller cap."""
        return Huber(min(self.cap, cap))

    def curvature_bound(self) -> float:
        """Return 1."""
        return 1.0

    def pull(self, reach: float, label_bound: float) -> float:
        """Return ``max m min(cap, Y - m)`` over m up to `reach`; it peaks at ``max(Y - cap, Y / 2)`` (A2, attained)."""
        if self.cap < label_bound / 2:
            return self.cap * min(reach, label_bound - self.cap)
        position = min(reach, label_bound / 2)
        return position * min(self.cap, label_bound - position)

    def gradient_diameter(self, row_norm: float, radius: float, label_bound: float) -> float:
        """Return ``2 B max_c min(cap, Y + R B c) sqrt(1 - c^2)`` over c in [0, 1] (A2, attained)."""
        reach, room = row_norm * radius, self.cap - label_bound
        if room <= 0:
            return 2 * row_norm * self.cap
        # Where the squared loss has its widest pair. An infinite reach gives no number here, and so the last line.
        cosine = 2 * reach / (label_bound + math.hypot(label_bound, math.sqrt(8.0) * reach))
        if reach * cosine <= room:
            return 2 * row_norm * (label_bound + reach * cosine) * math.sqrt(1 - cosine**2)
        return 2 * row_norm * self.cap * math.sqrt(1 - (room / reach) ** 2)

    def unit(self, label_bound: float) -> float:
        """Return Y / 3, so that three units reach from the midpoint to the end of the target's range."""
        return label_bound / 3
