"""The hinge loss."""

from .base import KinkedLoss


class Hinge(KinkedLoss):
    """Hinge loss ``max(0, 1 - z)`` of the margin ``z = y m`` with y in {-1, +1}: the support vector machine's.

    Subgradients are ``-y a`` with a in [0, 1]; the corner at margin 1 leaves no smoothness. The gradient diameter is
    2 B: two opposite rows of one class attain it at weights 0.

    Examples
    --------
    >>> loss = Hinge()
    >>> [loss.slope(prediction, 1.0) for prediction in (-1.0, 0.5, 1.0, 3.0)]
    [-1.0, -1.0, 0.0, 0.0]
    >>> loss.slope_bound(1.0, 1.0), loss.curvature_bound(), loss.pull(5.0, 1.0)
    (1.0, inf, 1.0)
    """

    id = "hinge"
    task = "classification"
    one_sided = True

    def value(self, prediction: float, target: float) -> float:
        """Return ``max(0, 1 - y m)``."""
        return max(0.0, 1.0 - target * prediction)

    @staticmethod
    def slope_at(prediction: float, target: float, parameter: float) -> float:
        """Return ``-y`` below margin 1; 0 beyond and at the corner."""
        return -target if target * prediction < 1.0 else 0.0

    def pull(self, reach: float, label_bound: float) -> float:
        """Return ``min(reach, 1)``: margins up to 1 are pulled with slope 1, the corner's steepest included (A2)."""
        return min(reach, 1.0)
