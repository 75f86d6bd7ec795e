"""The absolute loss."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from equipoise.vocabulary.losses.base import Array, KinkedLoss
from equipoise.vocabulary.losses.smooth_absolute import SmoothAbsolute


@dataclass(frozen=True)
class Absolute(KinkedLoss):
    """Absolute loss ``|m - y|``, which regression to the median minimises.

    Subgradients are at most 1 in size, whatever the rows; the corner at ``m = y`` leaves no smoothness. The gradient
    diameter is 2 B: two opposite rows attain it at weights 0.

    Examples
    --------
    >>> loss = Absolute()
    >>> loss.slope(np.array([-1.0, 0.0, 3.0]), np.zeros(3)).tolist()
    [-1.0, 0.0, 1.0]
    >>> loss.slope_bound(1.0, 1.0), loss.curvature_bound(), loss.pull(5.0, 2.0)
    (1.0, inf, 2.0)
    >>> loss.smoothed(0.1)
    SmoothAbsolute(width=0.1)
    """

    id: ClassVar[str] = "absolute"
    task: ClassVar[Literal["classification", "regression"]] = "regression"

    def value(self, prediction: Array, target: Array) -> Array:
        """Return ``|m - y|``."""
        return np.abs(prediction - target)

    def slope(self, prediction: Array, target: Array) -> Array:
        """Return the sign of ``m - y``; at the corner 0."""
        return np.sign(prediction - target)

    def slope_bound(self, reach: float, label_bound: float) -> float:
        """Return 1, reached at prediction 0."""
        return 1.0

    def pull(self, reach: float, label_bound: float) -> float:
        """Return ``min(reach, Y)``: predictions short of the target are pulled with slope 1 (A2, attained)."""
        return min(reach, label_bound)

    def gradient_diameter(self, row_norm: float, radius: float, label_bound: float) -> float:
        """Return 2 B (A2, attained)."""
        return 2 * row_norm

    def unit(self, label_bound: float) -> float:
        """Return Y / 3, so that three units reach from the midpoint to the end of the target's range."""
        return label_bound / 3

    def smoothed(self, width: float) -> SmoothAbsolute:
        """Return the loss with its corner rounded off: at most ``width / 2`` below, slopes with a gap up to width/4."""
        return SmoothAbsolute(width)

    def fenchel_gap(self, prediction: Array, target: Array, slope: Array) -> Array:
        """Return ``|r| (1 - s sign(r))``, infinite for ``|s| > 1``; the conjugate is ``s y``."""
        residual = prediction - target
        gap = np.abs(residual) * (1.0 - slope * np.sign(residual))
        return np.where(np.abs(slope) <= 1.0, gap, np.inf)

    def slope_range(self, target: Array) -> tuple[Array, Array]:
        """Return the slopes from -1 to 1."""
        return np.full_like(target, -1.0), np.full_like(target, 1.0)
