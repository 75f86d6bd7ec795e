"""The hinge loss with its corner rounded off."""

from ..numbers import LARGEST, settle
from .clipped_residual import ClippedResidual, Shape


class SmoothHinge(ClippedResidual):
    """Huber-SVM loss of the margin ``z = y m`` (Chaudhuri, Monteleoni and Sarwate 2011), of half-width h = `width`.

    ``0`` for ``z > 1 + h``, ``(1 + h - z)^2 / (4 h)`` for ``|1 - z| <= h``, ``1 - z`` for ``z < 1 - h``. It lies above
    the hinge, by at most h/4. Where it is not 0 it is Huber's loss with cap ``2 h`` for the target ``1 + h``, divided
    by ``2 h``, and so are its constants: slope at most 1, curvature ``1 / (2 h)``. The gradient diameter is exact (A2);
    for h up to 1 it is 2 B.

    Parameters
    ----------
    width : float
        Half the width of the stretch of margins around 1 in which the slope falls from 1 to 0.

    Examples
    --------
    >>> loss = SmoothHinge(0.5)
    >>> [loss.value(margin, 1.0) for margin in (-1.0, 1.0, 2.0)]
    [2.0, 0.125, 0.0]
    >>> loss.slope_bound(1.0, 1.0), loss.curvature_bound(), loss.name
    (1.0, 1.0, 'smooth-hinge:0.5')
    """

    width: float = 0.5
    id = "smooth-hinge"
    task = "classification"
    one_sided = True

    def __post_init__(self) -> None:
        """Refuse a width that is not a positive number."""
        remedy = "pass half the width of the rounded corner, such as 0.5"
        # Half the largest public number, because the cap is twice the width.
        settle(self, "width", above=0.0, largest=LARGEST / 2, remedy=remedy)

    @property
    def shape(self) -> Shape:
        """The shortfall of the margin up to twice the width, over twice the width."""
        return Shape(2 * self.width, divisor=2 * self.width)

    def furthest(self, label_bound: float) -> float:
        """Return ``1 + h``, the margin from which on the loss is 0."""
        return 1 + self.width

    def value(self, prediction: float, target: float) -> float:
        """Return ``(t / 2h) (u - t/2)`` with ``u = max(0, 1 + h - z)`` and ``t = min(u, 2 h)``: the branches in one."""
        # Near the corner 1 - z is exact, so that even a width below its last place is seen.
        shortfall = max(0.0, (1.0 - target * prediction) + self.width)
        clipped = min(shortfall, 2 * self.width)
        return clipped / (2 * self.width) * (shortfall - clipped / 2)

    @staticmethod
    def slope_at(prediction: float, target: float, parameter: float) -> float:
        """Return ``-y clip((1 + h - z) / (2 h), 0, 1)``; never beyond 1 in size, not even by rounding."""
        shortfall = max(0.0, (1.0 - target * prediction) + parameter)
        return -target * (min(shortfall, 2.0 * parameter) / (2.0 * parameter))
