"""The multinomial logistic loss: one joint certificate for all classes."""

import math
from collections.abc import Sequence

from ...errors import InvalidParameter
from ..records import Of
from .base import Loss

# Up to here the change to free coordinates rounds by less than the solver leaves (A4, "Several classes").
MOST_CLASSES = 256


class Multinomial(Loss):
    """Multinomial logistic loss ``log sum_k exp(m_k) - m_y`` over K classes, with one prediction a class.

    Its slope is ``softmax(m) - e_y``, of norm at most sqrt(2); its curvature ``diag(p) - p p'`` is at most 1/2. Slopes
    sum to zero over the classes, and adding one vector to the weights of every class changes no prediction. So only
    the K - 1 free coordinates of the centred weights are released, and noise is drawn for those alone.

    Examples
    --------
    >>> loss = Multinomial(3)
    >>> round(loss.value((0.0, 0.0, 0.0), 1), 6)
    1.098612
    >>> round(loss.slope_bound(1e9, 1.0), 6), loss.curvature_bound(), loss.free_outputs
    (1.414214, 0.5, 2)
    """

    classes: float = 3
    id = "multinomial"
    task = "classification"

    def __post_init__(self) -> None:
        """Refuse a number of classes that is not whole, below 2 or beyond what rounding allows."""
        if not (2 <= self.classes <= MOST_CLASSES and self.classes == int(self.classes)):
            found, remedy = f"multinomial:{self.classes}", "merge rare classes by a public rule"
            raise InvalidParameter(f"between 2 and {MOST_CLASSES} classes", found, remedy)
        object.__setattr__(self, "classes", int(self.classes))

    # As many predictions as classes.
    outputs = Of[int]("classes")

    @property
    def free_outputs(self) -> int:  # type: ignore[override] # read-only, as all of a record
        """K - 1: the weight vectors sum to zero."""
        return self.outputs - 1

    def value(self, prediction: Sequence[float], target: float) -> float:
        """Return ``log sum_k exp(m_k) - m_y``."""
        highest = max(prediction)
        beyond = math.fsum([-1.0, *(math.exp(score - highest) for score in prediction)])
        return highest - prediction[int(target)] + math.log1p(beyond)

    def slope_bound(self, reach: float, label_bound: float) -> float:
        """Return ``sqrt(2) (1 - p)`` for the smallest probability p that predictions of norm `reach` can give."""
        # ||p - e_y||^2 = (1 - p_y)^2 + sum of the other squares <= 2 (1 - p_y)^2; p_y is smallest when one class is
        # ahead by as much as the norm allows, reach sqrt(2), and the others follow at most as far ahead.
        return math.sqrt(2) * (1 - 1 / (1 + (self.outputs - 1) * math.exp(min(math.sqrt(2) * reach, 700.0))))

    def curvature_bound(self) -> float:
        """Return 1/2, the largest eigenvalue of ``diag(p) - p p'`` (two classes at one half)."""
        return 0.5

    def shift_vertices(self, row_norm: float, radius: float, label_bound: float) -> tuple[tuple[int, float], ...]:
        """Return the corners of the changes of a gradient over all weights (E3a, several classes).

        For labels y and y' these are ``(e_k - e_y) x - (e_l - e_y') x'``. At worst K - 1 of them are ``2 sqrt(2) B``
        long, where label and other class agree, ``(K - 1)(K - 2)`` are ``sqrt(6) B`` long, and ``2 (K - 1)``, in which
        one row's part is gone, ``sqrt(2) B``.
        """
        others, length = self.outputs - 1, math.sqrt(2) * row_norm
        return (others, 2 * length), (others * (others - 1), math.sqrt(6) * row_norm), (2 * others, length)

    def trace_bound(self) -> float:
        """Return ``1 - 1/K``, that of level probabilities (E2)."""
        return 1 - 1 / self.outputs

    def bend(self, pull: float) -> tuple[float, float]:
        """Return ``min(1 - 1/K, 2 - g^2)`` for a slope of length g, rounded up: ``1 - sum p_k^2 <= 2 - g^2`` (E2e)."""
        most, straight = self.trace_bound(), 2 - pull * pull
        return min(most, straight) + 1e-15, -2 * pull if straight < most else 0.0

    def pull(self, reach: float, label_bound: float) -> float:
        """Return W((K - 1)/e), the largest ``m_y - sum p_k m_k``: all other classes are level there (A2)."""
        return lambert((self.outputs - 1) / math.e) * (1 + 1e-12)


def lambert(product: float) -> float:
    """Return the w with ``w e^w = product``, for products of 1/4 to 100, by three of Halley's steps.

    They set out where SciPy's `lambertw` does and reach its last digit, which certificates hold.

    Examples
    --------
    >>> round(lambert(math.e), 15)
    1.0
    """
    # Below 1.5, a quotient of polynomials that has W's first derivatives at 0 (Pade).
    above = 1 + product * (12.34042553191489361902 + product * 12.85106382978723404255)
    root = product * above / (1 + product * (14.34042553191489361702 + product * 32.53191489361702127660))
    if product >= 1.5:
        root = math.log(product) - math.log(math.log(product))
    for _ in range(3):
        residual = root - product * math.exp(-root)
        root -= residual / (root + 1 - (root + 2) * residual / (2 * root + 2))
    return root
