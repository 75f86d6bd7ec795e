"""The logistic loss."""

import bisect
import math

from .base import Loss
from .logistic_table import DIAMETERS, NORMS

# max over m of m sigmoid(-m) is W(1/e) = 0.2784645..., reached at m = 1 + W(1/e). The value is rounded up and
# the place down, both to the safe side.
LARGEST_PULL = 0.27846454277
PULL_REACHED_AT = 1.27846454276


class Logistic(Loss):
    """Logistic loss ``log(1 + exp(-y m))`` with y in {-1, +1}; no factor 1/2.

    Slope ``-y sigmoid(-y m)``, at most 1 in size and one-sided; curvature at most 1/4. Rows of norm B and weights of
    norm R: Lipschitz ``B sigmoid(B R)``, gradient diameter between B (small B R) and 2 B.

    Examples
    --------
    >>> loss = Logistic()
    >>> round(loss.value(0.0, 1.0), 6), loss.slope(0.0, 1.0)
    (0.693147, -0.5)
    >>> loss.slope_bound(0.0, 1.0), loss.curvature_bound()
    (0.5, 0.25)
    >>> round(loss.gradient_diameter(row_norm=1.0, radius=1.0, label_bound=1.0), 2)
    1.1
    """

    id = "logistic"
    task = "classification"
    one_sided = True

    def value(self, prediction: float, target: float) -> float:
        """Return ``log(1 + exp(-y m))`` without overflow."""
        margin = target * prediction
        return max(0.0, -margin) + math.log1p(math.exp(-abs(margin)))

    @staticmethod
    def slope_at(prediction: float, target: float, parameter: float) -> float:
        """Return ``-y sigmoid(-y m)``, without the exponential of a large number."""
        margin = target * prediction
        small = math.exp(-abs(margin))
        return -target * ((small if margin >= 0 else 1.0) / (1.0 + small))

    def slope_bound(self, reach: float, label_bound: float) -> float:
        """Return ``sigmoid(reach)``."""
        return 1.0 / (1.0 + math.exp(-reach))

    def slope_floor(self, reach: float) -> float:
        """Return ``1 - sigmoid(reach)``, which is as good as 0 far out."""
        return 1.0 / (1.0 + math.exp(reach)) if reach < 700 else 0.0

    def curvature_bound(self) -> float:
        """Return 1/4, reached at prediction 0."""
        return 0.25

    def bend(self, pull: float) -> tuple[float, float]:
        """Return ``p (1 - p)`` for a row that pulls with force p: at full force it is straight (E2a)."""
        return pull * (1 - pull), 1 - 2 * pull

    def pull(self, reach: float, label_bound: float) -> float:
        """Return ``max m sigmoid(-m)`` over m up to `reach`."""
        return LARGEST_PULL if reach >= PULL_REACHED_AT else reach / (1.0 + math.exp(reach))

    def gradient_diameter(self, row_norm: float, radius: float, label_bound: float) -> float:
        """Return B times the tabulated, rigorous upper bound at the next larger B R; 2 B beyond the table (A2)."""
        position = bisect.bisect_left(NORMS, row_norm * radius)
        return row_norm * (DIAMETERS[position] if position < len(NORMS) else 2.0)
