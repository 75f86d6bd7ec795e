"""D2: independent Laplace noise in every coordinate, with the sqrt(d) that an L2 sensitivity needs."""

import math

from ..curves import Curve, PureCurve
from .base import Law


class Laplace(Law):
    """``epsilon = sqrt(d) sensitivity / scale``, since ``||v||_1 <= sqrt(d) ||v||_2``; deviation ``sqrt(2) scale``.

    Examples
    --------
    >>> Laplace().curve(0.5, 4, 0.5).level
    2.0
    """

    id = "laplace"
    rotation_invariant = False

    def curve(self, sensitivity: float, dimension: int, scale: float) -> Curve:
        """Return the pure curve."""
        return PureCurve(math.sqrt(dimension) * sensitivity / scale)
