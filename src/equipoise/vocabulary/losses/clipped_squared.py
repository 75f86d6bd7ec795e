"""The squared loss with its slope clipped: no residual pulls harder than the cap."""

from ..numbers import settle
from .clipped_residual import ClippedResidual, Shape


class ClippedSquared(ClippedResidual):
    """Squared loss ``r^2`` of the residual ``r = m - y`` up to ``|r| = cap/2``, ``cap |r| - cap^2/4`` beyond (B7).

    Half of Huber's loss with the same cap for twice the prediction and twice the target, and so are its constants:
    slope at most the cap, curvature 2.

    Parameters
    ----------
    cap : float
        The largest size of the slope: twice the largest residual that counts in full.

    Examples
    --------
    >>> loss = ClippedSquared(2.0)
    >>> loss.value(1.0, 0.0), loss.value(5.0, 0.0)
    (1.0, 9.0)
    >>> loss.slope_bound(1.0, 10.0), loss.curvature_bound(), loss.name
    (2.0, 2.0, 'clipped-squared:2.0')
    """

    cap: float = 1.0
    id = "clipped-squared"
    task = "regression"

    def __post_init__(self) -> None:
        """Refuse a cap that is not a positive number."""
        remedy = "pass the largest pull of one row: twice the largest residual that counts in full, such as 1.0"
        settle(self, "cap", above=0.0, remedy=remedy)

    @property
    def shape(self) -> Shape:
        """Twice the residual, up to the cap."""
        return Shape(self.cap, stretch=2.0)

    @staticmethod
    def slope_at(prediction: float, target: float, parameter: float) -> float:
        """Return ``2 r``, clipped at the cap."""
        return min(max(2.0 * (prediction - target), -parameter), parameter)
