"""The hinge loss."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from equipoise.vocabulary.losses.base import Array, KinkedLoss
from equipoise.vocabulary.losses.smooth_hinge import SmoothHinge


@dataclass(frozen=True)
class Hinge(KinkedLoss):
    """Hinge loss ``max(0, 1 - z)`` of the margin ``z = y m`` with y in {-1, +1}: the support vector machine's.

    Subgradients are ``-y a`` with a in [0, 1]; the corner at margin 1 leaves no smoothness. The gradient diameter is
    2 B: two opposite rows of one class attain it at weights 0.

    Examples
    --------
    >>> loss = Hinge()
    >>> loss.slope(np.array([-1.0, 0.5, 1.0, 3.0]), np.ones(4)).tolist()
    [-1.0, -1.0, 0.0, 0.0]
    >>> loss.slope_bound(1.0, 1.0), loss.curvature_bound(), loss.pull(5.0, 1.0)
    (1.0, inf, 1.0)
    >>> loss.smoothed(0.1)
    SmoothHinge(width=0.1)
    """

    id: ClassVar[str] = "hinge"
    task: ClassVar[Literal["classification", "regression"]] = "classification"
    one_sided: ClassVar[bool] = True

    def value(self, prediction: Array, target: Array) -> Array:
        """Return ``max(0, 1 - y m)``."""
        return np.maximum(0.0, 1.0 - target * prediction)

    def slope(self, prediction: Array, target: Array) -> Array:
        """Return ``-y`` below margin 1; 0 beyond and at the corner."""
        return np.where(target * prediction < 1.0, -target, 0.0)

    def slope_bound(self, reach: float, label_bound: float) -> float:
        """Return 1, reached at prediction 0."""
        return 1.0

    def pull(self, reach: float, label_bound: float) -> float:
        """Return ``min(reach, 1)``: margins up to 1 are pulled with slope 1, the corner's steepest included (A2)."""
        return min(reach, 1.0)

    def gradient_diameter(self, row_norm: float, radius: float, label_bound: float) -> float:
        """Return 2 B (A2, attained)."""
        return 2 * row_norm

    def unit(self, label_bound: float) -> float:
        """Return 1, the margin a hinge asks for: three units let a row at cosine 1/3 to the weights reach it."""
        return 1.0

    def smoothed(self, width: float) -> SmoothHinge:
        """Return the loss with its corner rounded off: at most ``width / 4`` above, slopes with a gap up to width/8."""
        return SmoothHinge(width)

    def fenchel_gap(self, prediction: Array, target: Array, slope: Array) -> Array:
        """Return ``max(0, 1 - z) - a (1 - z)`` for ``a = -y s``, infinite for a outside [0, 1] (conjugate ``s y``)."""
        share = -target * slope
        shortfall = 1.0 - target * prediction
        gap = np.where(shortfall > 0.0, (1.0 - share) * shortfall, -share * shortfall)
        return np.where((share >= 0.0) & (share <= 1.0), gap, np.inf)

    def slope_range(self, target: Array) -> tuple[Array, Array]:
        """Return the slopes between 0 and ``-y``."""
        return np.minimum(0.0, -target), np.maximum(0.0, -target)
