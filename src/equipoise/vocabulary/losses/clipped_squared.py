"""The squared loss with its slope clipped: no residual pulls harder than the cap."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from equipoise.vocabulary.losses.base import Array, Loss
from equipoise.vocabulary.losses.huber import Huber
from equipoise.vocabulary.numbers import plain, require_number


@dataclass(frozen=True)
class ClippedSquared(Loss):
    """Squared loss ``r^2`` of the residual ``r = m - y`` up to ``|r| = cap/2``, ``cap |r| - cap^2/4`` beyond (B7).

    Half of Huber's loss with the same cap for twice the prediction and twice the target, and so are its constants:
    slope at most the cap, curvature 2.

    Parameters
    ----------
    cap : float
        The largest size of the slope: twice the largest residual that counts in full.

    Examples
    --------
    >>> import numpy as np
    >>> loss = ClippedSquared(2.0)
    >>> loss.value(np.array([1.0, 5.0]), np.array([0.0, 0.0])).tolist()
    [1.0, 9.0]
    >>> loss.slope_bound(1.0, 10.0), loss.curvature_bound(), loss.name
    (2.0, 2.0, 'clipped-squared:2.0')
    """

    cap: float = 1.0
    id: ClassVar[str] = "clipped-squared"
    task: ClassVar[Literal["classification", "regression"]] = "regression"

    def __post_init__(self) -> None:
        """Refuse a cap that is not a positive number."""
        remedy = "pass the largest pull of one row: twice the largest residual that counts in full, such as 1.0"
        object.__setattr__(self, "cap", require_number("cap", plain(self.cap), above=0.0, remedy=remedy))

    @property
    def name(self) -> str:
        """The id and the cap."""
        return f"{self.id}:{self.cap!r}"

    @property
    def _huber(self) -> Huber:
        return Huber(self.cap)

    def value(self, prediction: Array, target: Array) -> Array:
        """Return half of Huber's loss."""
        return self._huber.value(2.0 * prediction, 2.0 * target) / 2.0

    def slope(self, prediction: Array, target: Array) -> Array:
        """Return ``2 r``, clipped at the cap."""
        return self._huber.slope(2.0 * prediction, 2.0 * target)

    def curvature(self, prediction: Array, target: Array) -> Array:
        """Return 2 up to the cap, the corners included, and 0 beyond."""
        return 2.0 * self._huber.curvature(2.0 * prediction, 2.0 * target)

    def slope_bound(self, reach: float, label_bound: float) -> float:
        """Return ``min(cap, 2 (reach + Y))``."""
        return self._huber.slope_bound(2.0 * reach, 2.0 * label_bound)

    def clipped(self, cap: float) -> Loss:
        """Return the loss with the smaller cap."""
        return ClippedSquared(min(self.cap, cap))

    def curvature_bound(self) -> float:
        """Return 2."""
        return 2.0

    def pull(self, reach: float, label_bound: float) -> float:
        """Return half of Huber's."""
        return self._huber.pull(2.0 * reach, 2.0 * label_bound) / 2.0

    def gradient_diameter(self, row_norm: float, radius: float, label_bound: float) -> float:
        """Return Huber's for twice the weights and targets (A2, attained)."""
        return self._huber.gradient_diameter(row_norm, 2.0 * radius, 2.0 * label_bound)

    def unit(self, label_bound: float) -> float:
        """Return the squared loss's: a third of the target's range."""
        return self._huber.unit(label_bound)
