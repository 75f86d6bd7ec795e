"""D3: a toy, Gaussian noise whose scale is half its deviation."""

from ..curves import Curve, GaussianCurve
from .base import Law


class ToyGaussian(Law):
    """Gaussian noise of deviation ``2 scale`` (D3)."""

    id = "toy-gaussian"
    rotation_invariant = True

    def curve(self, sensitivity: float, dimension: int, scale: float) -> Curve:
        """Return the exact Gaussian curve."""
        return GaussianCurve(sensitivity / (2 * scale))
