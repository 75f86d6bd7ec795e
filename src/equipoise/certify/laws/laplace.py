"""D2: independent Laplace noise in every coordinate, with the sqrt(d) that an L2 sensitivity needs."""

import math
from typing import ClassVar

from ..curves import Curve, PureCurve
from .base import Law


class Laplace(Law):
    """``epsilon = sqrt(d) sensitivity / scale``, since ``||v||_1 <= sqrt(d) ||v||_2``; deviation ``sqrt(2) scale``.

    Examples
    --------
    >>> Laplace().curve(0.5, 4, 0.5).level
    2.0
    """

    id: ClassVar[str] = "laplace"
    requirement: ClassVar[str] = "any epsilon > 0"
    rotation_invariant: ClassVar[bool] = False

    def curve(self, sensitivity: float, dimension: int, scale: float) -> Curve:
        """Return the pure curve."""
        return PureCurve(math.sqrt(dimension) * sensitivity / scale)

    def deviation(self, scale: float, dimension: int) -> float:
        """Return ``sqrt(2) scale``."""
        return math.sqrt(2) * scale

    def rounding(self, dimension: int) -> str:
        """Say that nothing had to be paid."""
        return "the Laplace noise is sampled exactly by OpenDP on the lattice of 2^-1074: no rounding slack (D2)"
