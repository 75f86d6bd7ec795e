"""The absolute loss with its corner rounded off."""

from ..numbers import settle
from .clipped_residual import ClippedResidual, Shape


class SmoothAbsolute(ClippedResidual):
    """Absolute loss of ``r = m - y``, rounded off: ``r^2 / (2 width)`` up to the width, ``|r| - width / 2`` beyond.

    It is Huber's loss with its cap at the width, divided by the width, and so are all its constants: slope at most 1,
    curvature ``1 / width``. It lies below the absolute loss, by at most half the width.

    Parameters
    ----------
    width : float
        The residual at which the slope has grown to 1, in the unit of the target.

    Examples
    --------
    >>> loss = SmoothAbsolute(0.25)
    >>> loss.slope_bound(1.0, 1.0), loss.curvature_bound(), loss.name
    (1.0, 4.0, 'smooth-absolute:0.25')
    """

    width: float = 1.0
    id = "smooth-absolute"
    task = "regression"

    def __post_init__(self) -> None:
        """Refuse a width that is not a positive number."""
        settle(self, "width", above=0.0, remedy="pass the residual at which the slope reaches 1, such as 0.1")

    @property
    def shape(self) -> Shape:
        """The residual up to the width, over the width."""
        return Shape(self.width, divisor=self.width)

    @staticmethod
    def slope_at(prediction: float, target: float, parameter: float) -> float:
        """Return ``clip(r / width, -1, 1)``; never beyond 1 in size, not even by rounding."""
        return min(max(prediction - target, -parameter), parameter) / parameter
