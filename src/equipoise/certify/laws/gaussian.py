"""D3: the analytic Gaussian mechanism."""

from ..curves import Curve, GaussianCurve
from .base import Law


class Gaussian(Law):
    """Gaussian noise with its exact curve, for any epsilon > 0 and delta > 0.

    Examples
    --------
    >>> round(Gaussian().curve(1.0, 3, 4.2247).delta(1.0), 9)
    1e-06
    """

    id = "gaussian"
    rotation_invariant = True

    def curve(self, sensitivity: float, dimension: int, scale: float) -> Curve:
        """Return the exact Gaussian curve."""
        return GaussianCurve(sensitivity / scale)
