"""The absolute loss with its corner rounded off."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from equipoise.vocabulary.losses.base import Array, Loss
from equipoise.vocabulary.losses.huber import Huber
from equipoise.vocabulary.numbers import plain, require_number


@dataclass(frozen=True)
class SmoothAbsolute(Loss):
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
    id: ClassVar[str] = "smooth-absolute"
    task: ClassVar[Literal["classification", "regression"]] = "regression"

    def __post_init__(self) -> None:
        """Refuse a width that is not a positive number."""
        remedy = "pass the residual at which the slope reaches 1, such as 0.1"
        object.__setattr__(self, "width", require_number("width", plain(self.width), above=0.0, remedy=remedy))

    @property
    def name(self) -> str:
        """The id and the width."""
        return f"{self.id}:{self.width!r}"

    @property
    def _huber(self) -> Huber:
        return Huber(self.width)

    def value(self, prediction: Array, target: Array) -> Array:
        """Return Huber's loss over the width."""
        return self._huber.value(prediction, target) / self.width

    def slope(self, prediction: Array, target: Array) -> Array:
        """Return ``clip(r / width, -1, 1)``; never beyond 1 in size, not even by rounding."""
        return self._huber.slope(prediction, target) / self.width

    def curvature(self, prediction: Array, target: Array) -> Array:
        """Return ``1 / width`` up to the width, the corners included, and 0 beyond."""
        return self._huber.curvature(prediction, target) / self.width

    def slope_bound(self, reach: float, label_bound: float) -> float:
        """Return ``min(1, (reach + Y) / width)``."""
        return self._huber.slope_bound(reach, label_bound) / self.width

    def curvature_bound(self) -> float:
        """Return ``1 / width``."""
        return 1.0 / self.width

    def pull(self, reach: float, label_bound: float) -> float:
        """Return Huber's pull over the width (A2, attained)."""
        return self._huber.pull(reach, label_bound) / self.width

    def gradient_diameter(self, row_norm: float, radius: float, label_bound: float) -> float:
        """Return Huber's diameter over the width (A2, attained)."""
        return self._huber.gradient_diameter(row_norm, radius, label_bound) / self.width

    def unit(self, label_bound: float) -> float:
        """Return Y / 3, so that three units reach from the midpoint to the end of the target's range."""
        return label_bound / 3
