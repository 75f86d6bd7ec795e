"""The logistic loss with its slope clipped: rows on the wrong side all pull alike."""

import math

from ..numbers import settle
from .logistic import LARGEST_PULL, PULL_REACHED_AT, Logistic


class ClippedLogistic(Logistic):
    """Logistic loss of the margin ``z = y m`` up to where its slope reaches the cap, and linear before (B7).

    ``log(1 + exp(-z))`` for ``z >= t``, ``log(1 + exp(-t)) + cap (t - z)`` below, with ``sigmoid(-t) = cap``. Convex,
    slope in [-cap, 0] times y, curvature at most that of the logistic loss where it is not linear. With cap 1/2 every
    row on the wrong side pulls as hard as one on the boundary, and the gradient diameter is B instead of 2 B.

    Parameters
    ----------
    cap : float
        The largest size of the slope; from 1 on nothing is clipped.

    Examples
    --------
    >>> loss = ClippedLogistic(0.5)
    >>> [round(loss.slope(margin, 1.0), 3) for margin in (-5.0, 0.0, 5.0)]
    [-0.5, -0.5, -0.007]
    >>> loss.slope_bound(9.0, 1.0), loss.gradient_diameter(1.0, 9.0, 1.0), loss.name
    (0.5, 1.0, 'clipped-logistic:0.5')
    """

    cap: float = 0.5
    id = "clipped-logistic"

    def __post_init__(self) -> None:
        """Refuse a cap that is not a positive number."""
        settle(self, "cap", above=0.0, remedy="pass the largest pull of one row, such as 0.5")

    @property
    def corner(self) -> float:
        """The margin t at which the slope reaches the cap; minus infinity when it never does."""
        return math.log1p(-self.cap) - math.log(self.cap) if self.cap < 1 else -math.inf

    def value(self, prediction: float, target: float) -> float:
        """Return the logistic loss at ``max(z, t)``, and the straight line before it."""
        margin = target * prediction
        beyond = self.cap * max(0.0, self.corner - margin) if self.cap < 1 else 0.0
        return super().value(max(margin, self.corner), 1.0) + beyond

    @staticmethod
    def slope_at(prediction: float, target: float, parameter: float) -> float:
        """Return the logistic slope, clipped."""
        margin = target * prediction
        small = math.exp(-abs(margin))
        return -target * min((small if margin >= 0 else 1.0) / (1.0 + small), parameter)

    def slope_bound(self, reach: float, label_bound: float) -> float:
        """Return ``min(cap, sigmoid(reach))``."""
        return min(self.cap, super().slope_bound(reach, label_bound))

    def slope_floor(self, reach: float) -> float:
        """Return ``min(cap, 1 - sigmoid(reach))``."""
        return min(self.cap, super().slope_floor(reach))

    def curvature_bound(self) -> float:
        """Return 1/4, or ``cap (1 - cap)`` for a cap below one half."""
        return 0.25 if self.cap >= 0.5 else self.cap * (1 - self.cap)

    def pull(self, reach: float, label_bound: float) -> float:
        """Return ``max z min(cap, sigmoid(-z))`` over z up to `reach`: at t or at the logistic loss's place."""
        place = max(self.corner, PULL_REACHED_AT)
        if reach >= place:
            return LARGEST_PULL if place == PULL_REACHED_AT else place * self.cap * (1 + 1e-12)
        return reach * self.slope_floor(reach)

    def gradient_diameter(self, row_norm: float, radius: float, label_bound: float) -> float:
        """Return ``2 cap B`` where the cap is in reach, the logistic loss's diameter before that."""
        largest = 2 * row_norm * self.slope_bound(row_norm * radius, label_bound)
        if largest >= 2 * row_norm * self.cap:
            return largest
        return min(largest, super().gradient_diameter(row_norm, radius, label_bound))
