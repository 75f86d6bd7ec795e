"""The Huber loss: squared for small residuals, absolute for large ones."""

from ..numbers import settle
from .clipped_residual import ClippedResidual, Shape


class Huber(ClippedResidual):
    """Huber loss of the residual ``r = m - y``: ``r^2 / 2`` up to the cap, ``cap |r| - cap^2 / 2`` beyond.

    It carries the 1/2 that the squared loss lacks. Slope ``clip(r, -cap, cap)``, so that no outlier pulls harder than
    the cap; curvature 1 up to the cap. The gradient diameter is exact (A2).

    Parameters
    ----------
    cap : float
        The largest residual that counts in full, in the unit of the target.

    Examples
    --------
    >>> loss = Huber(2.0)
    >>> loss.value(1.0, 0.0), loss.value(5.0, 0.0), loss.slope(5.0, 0.0)
    (0.5, 8.0, 2.0)
    >>> loss.slope_bound(1.0, 10.0), loss.curvature_bound(), loss.name
    (2.0, 1.0, 'huber:2.0')
    >>> round(loss.gradient_diameter(row_norm=1.0, radius=1.0, label_bound=1.0), 5)
    2.59808
    """

    cap: float = 1.0
    id = "huber"
    task = "regression"

    def __post_init__(self) -> None:
        """Refuse a cap that is not a positive number."""
        settle(self, "cap", above=0.0, remedy="pass the largest residual that counts in full, such as 1.0")

    @property
    def shape(self) -> Shape:
        """The residual itself, up to the cap."""
        return Shape(self.cap)

    @staticmethod
    def slope_at(prediction: float, target: float, parameter: float) -> float:
        """Return the residual, clipped at the cap."""
        return min(max(prediction - target, -parameter), parameter)
