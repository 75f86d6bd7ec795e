"""The hinge loss with its corner rounded off."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from equipoise.vocabulary.losses.base import Array, Loss
from equipoise.vocabulary.losses.huber import Huber
from equipoise.vocabulary.numbers import LARGEST, plain, require_number


@dataclass(frozen=True)
class SmoothHinge(Loss):
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
    >>> loss.value(np.array([-1.0, 1.0, 2.0]), np.ones(3)).tolist()
    [2.0, 0.125, 0.0]
    >>> loss.slope_bound(1.0, 1.0), loss.curvature_bound(), loss.name
    (1.0, 1.0, 'smooth-hinge:0.5')
    """

    width: float = 0.5
    id: ClassVar[str] = "smooth-hinge"
    task: ClassVar[Literal["classification", "regression"]] = "classification"
    one_sided: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Refuse a width that is not a positive number."""
        remedy = "pass half the width of the rounded corner, such as 0.5"
        # Half the largest public number, because Huber's cap is twice the width.
        width = require_number("width", plain(self.width), above=0.0, largest=LARGEST / 2, remedy=remedy)
        object.__setattr__(self, "width", width)

    @property
    def name(self) -> str:
        """The id and the width."""
        return f"{self.id}:{self.width!r}"

    @property
    def _huber(self) -> Huber:
        return Huber(2 * self.width)

    def _shortfall(self, prediction: Array, target: Array) -> Array:
        # Near the corner 1 - z is exact, so that even a width below its last place is seen.
        return np.maximum(0.0, (1.0 - target * prediction) + self.width)

    def value(self, prediction: Array, target: Array) -> Array:
        """Return ``(t / 2h) (u - t/2)`` with ``u = max(0, 1 + h - z)`` and ``t = min(u, 2 h)``: the branches in one."""
        shortfall = self._shortfall(prediction, target)
        clipped = np.minimum(shortfall, 2 * self.width)
        value: Array = clipped / (2 * self.width) * (shortfall - clipped / 2)
        return value

    def slope(self, prediction: Array, target: Array) -> Array:
        """Return ``-y clip((1 + h - z) / (2 h), 0, 1)``; never beyond 1 in size, not even by rounding."""
        slope: Array = np.minimum(self._shortfall(prediction, target), 2 * self.width) / (2 * self.width)
        slope *= -target
        return slope

    def curvature(self, prediction: Array, target: Array) -> Array:
        """Return ``1 / (2 h)`` for ``|1 - z| <= h``, the corners included, and 0 elsewhere."""
        rounded = np.abs(1.0 - target * prediction) <= self.width
        return rounded / (2 * self.width)

    def slope_bound(self, reach: float, label_bound: float) -> float:
        """Return the slope's size at margin ``-reach``: ``min(1, (1 + h + reach) / (2 h))``."""
        return self._huber.slope_bound(reach, 1 + self.width) / (2 * self.width)

    def curvature_bound(self) -> float:
        """Return ``1 / (2 h)``."""
        return 1.0 / (2 * self.width)

    def pull(self, reach: float, label_bound: float) -> float:
        """Return ``max z min(1, (1 + h - z) / (2 h))`` over z up to `reach` (A2, attained)."""
        return self._huber.pull(reach, 1 + self.width) / (2 * self.width)

    def gradient_diameter(self, row_norm: float, radius: float, label_bound: float) -> float:
        """Return ``2 B max_c min(1, (1 + h + R B c) / (2 h)) sqrt(1 - c^2)`` over c in [0, 1] (A2, attained)."""
        return self._huber.gradient_diameter(row_norm, radius, 1 + self.width) / (2 * self.width)

    def unit(self, label_bound: float) -> float:
        """Return 1, the margin a hinge asks for: three units let a row at cosine 1/3 to the weights reach it."""
        return 1.0
