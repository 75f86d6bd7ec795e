"""The ridge."""

from .base import Penalty


class L2(Penalty):
    """Ridge ``alpha/2 ||w||^2``: alpha is its strong convexity, as in scikit-learn's SGDClassifier.

    Examples
    --------
    >>> L2(0.5).strong_convexity(radius=1.0)
    0.5
    """

    id = "l2"

    def smoothness(self) -> float:
        """Return alpha."""
        return self.alpha
