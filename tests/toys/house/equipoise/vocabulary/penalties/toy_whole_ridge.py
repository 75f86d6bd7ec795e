"""A toy: a ridge without its half."""

from .base import Penalty


class ToyWholeRidge(Penalty):
    """``alpha ||w||^2``, which says less about its convexity than a theorem knows."""

    id = "toy-whole-ridge"

    def smoothness(self) -> float:
        """Return ``2 alpha``."""
        return 2 * self.alpha

    def strong_convexity(self, radius: float) -> float:
        """Return alpha, half of what is true."""
        return self.alpha
