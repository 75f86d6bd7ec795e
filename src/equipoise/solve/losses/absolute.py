"""The absolute loss on arrays."""

import numpy as np

from equipoise.solve.losses.base import Array, KinkedArrays
from equipoise.vocabulary.losses.absolute import Absolute
from equipoise.vocabulary.losses.smooth_absolute import SmoothAbsolute


class AbsoluteArrays(KinkedArrays):
    """``|m - y|``.

    Examples
    --------
    >>> arrays = AbsoluteArrays(Absolute())
    >>> arrays.slope(np.array([-1.0, 0.0, 3.0]), np.zeros(3)).tolist()
    [-1.0, 0.0, 1.0]
    >>> arrays.smoothed(0.1)
    SmoothAbsolute(width=0.1)
    """

    of = Absolute

    def value(self, prediction: Array, target: Array) -> Array:
        """Return ``|m - y|``."""
        return np.abs(prediction - target)

    def slope(self, prediction: Array, target: Array) -> Array:
        """Return the sign of ``m - y``; at the corner 0."""
        return np.sign(prediction - target)

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
