"""A toy: a ridge without its half."""

from .base import Penalty


class ToyWholeRidge(Penalty):
    """``alpha ||w||^2``, of strong convexity ``2 alpha``."""

    id = "toy-whole-ridge"

    def smoothness(self) -> float:
        """Return ``2 alpha``."""
        return 2 * self.alpha
