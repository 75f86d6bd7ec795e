"""The ridge."""

from dataclasses import dataclass

from .base import Penalty


@dataclass(frozen=True)
class L2(Penalty):
    """Ridge ``alpha/2 ||w||^2``: alpha is its strong convexity, as in scikit-learn's SGDClassifier.

    Examples
    --------
    >>> L2(0.5).strong_convexity(radius=1.0)
    0.5
    """

    alpha: float
    id = "l2"

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
