"""The hinge loss on arrays."""

import numpy as np

from equipoise.solve.losses.base import Array, KinkedArrays
from equipoise.vocabulary.losses.hinge import Hinge
from equipoise.vocabulary.losses.smooth_hinge import SmoothHinge


class HingeArrays(KinkedArrays):
    """``max(0, 1 - y m)``.

    Examples
    --------
    >>> arrays = HingeArrays(Hinge())
    >>> arrays.slope(np.array([-1.0, 0.5, 1.0, 3.0]), np.ones(4)).tolist()
    [-1.0, -1.0, 0.0, 0.0]
    >>> arrays.smoothed(0.1)
    SmoothHinge(width=0.1)
    """

    of = Hinge

    def value(self, prediction: Array, target: Array) -> Array:
        """Return ``max(0, 1 - y m)``."""
        return np.maximum(0.0, 1.0 - target * prediction)

    def slope(self, prediction: Array, target: Array) -> Array:
        """Return ``-y`` below margin 1; 0 beyond and at the corner."""
        return np.where(target * prediction < 1.0, -target, 0.0)

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
