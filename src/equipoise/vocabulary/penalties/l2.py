"""The ridge."""

from dataclasses import dataclass
from typing import ClassVar

from equipoise.vocabulary.numbers import plain, require_number
from equipoise.vocabulary.penalties.base import Array, Penalty


@dataclass(frozen=True)
class L2(Penalty):
    """Ridge ``alpha/2 ||w||^2``: alpha is its strong convexity, as in scikit-learn's SGDClassifier.

    Examples
    --------
    >>> L2(0.5).strong_convexity(radius=1.0)
    0.5
    """

    alpha: float
    id: ClassVar[str] = "l2"

    def __post_init__(self) -> None:
        """Refuse a ridge without strong convexity: every bound divides by it."""
        remedy = 'pass alpha="public", or a number such as 1e-3'
        object.__setattr__(self, "alpha", require_number("alpha", plain(self.alpha), above=0.0, remedy=remedy))

    def value(self, weights: Array) -> float:
        """Return ``alpha/2 ||w||^2``."""
        return self.alpha / 2 * float(weights @ weights)

    def gradient(self, weights: Array) -> Array:
        """Return ``alpha w``."""
        return self.alpha * weights

    def add_curvature(self, hessian: Array) -> None:
        """Add alpha to the diagonal."""
        hessian.flat[:: len(hessian) + 1] += self.alpha

    def prox(self, weights: Array, step: float) -> Array:
        """Return the weights: there is no kinked part."""
        return weights

    def strong_convexity(self, radius: float) -> float:
        """Return alpha, everywhere."""
        return self.alpha

    def smoothness(self) -> float:
        """Return alpha."""
        return self.alpha

    def slope_bound(self, radius: float) -> float:
        """Return ``alpha radius``."""
        return self.alpha * radius

    def largest(self, radius: float, dimension: int) -> float:
        """Return ``alpha/2 radius^2``."""
        return self.alpha / 2 * radius**2
