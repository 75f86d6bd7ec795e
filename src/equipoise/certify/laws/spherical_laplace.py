"""D1 and D6: noise with density proportional to exp(-||k|| / scale), for an L2 sensitivity."""

from ..curves import Curve
from ..spherical import SphericalCurve
from .base import Law


def rounding_epsilon(dimension: int) -> float:
    """Return what drawing in finite precision and rounding to the grid adds to epsilon (docs/proofs/D1.md)."""
    return dimension * 2.0**-56


class SphericalLaplace(Law):
    """``epsilon = sensitivity / scale``, plus ``d 2^-56`` for the rounding; coordinate deviation ``sqrt(d + 1) scale``.

    With delta > 0 the exact curve of the law allows a smaller scale.

    Examples
    --------
    >>> SphericalLaplace().curve(0.5, 3, 0.25).delta(2.000001)
    0.0
    >>> f"{SphericalLaplace().curve(1.0, 10, 0.872812).delta(1.0):.3g}"
    '1e-05'
    """

    id = "spherical-laplace"
    rotation_invariant = True

    def curve(self, sensitivity: float, dimension: int, scale: float) -> Curve:
        """Return the exact curve with the rounding inside."""
        return SphericalCurve(sensitivity / scale, dimension, rounding_epsilon(dimension))
