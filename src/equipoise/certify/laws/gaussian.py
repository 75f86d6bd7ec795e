"""D3: the analytic Gaussian mechanism."""

from typing import ClassVar

from ..curves import Curve, GaussianCurve
from .base import Law


class Gaussian(Law):
    """Gaussian noise with its exact curve, for any epsilon > 0 and delta > 0.

    Examples
    --------
    >>> round(Gaussian().curve(1.0, 3, 4.2247).delta(1.0), 9)
    1e-06
    """

    id: ClassVar[str] = "gaussian"
    requirement: ClassVar[str] = "delta > 0"
    rotation_invariant: ClassVar[bool] = True

    def curve(self, sensitivity: float, dimension: int, scale: float) -> Curve:
        """Return the exact Gaussian curve."""
        return GaussianCurve(sensitivity / scale)

    def deviation(self, scale: float, dimension: int) -> float:
        """Return the scale."""
        return scale

    def rounding(self, dimension: int) -> str:
        """Say what the lattice cost."""
        return "the Gaussian noise is sampled exactly by OpenDP on the lattice of 2^-1074; 2^-500 of delta pays (D3)"
