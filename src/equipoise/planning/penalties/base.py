"""What planning knows of any penalty whose smooth part is a ridge and whose kinked part is an L1 norm."""

import math
from typing import Any, ClassVar

from equipoise.vocabulary.penalties import Penalty


class KnownPenalty:
    """A penalty with what plans need of it: its largest slope and value on a ball. No privacy claim rests on them."""

    # The penalty that a subclass knows more about.
    of: ClassVar[type[Penalty]]

    def __init__(self, penalty: Any) -> None:
        self.penalty = penalty

    def slope_bound(self, radius: float) -> float:
        """Return the largest norm of a subgradient on the ball of this radius; infinity if it grows with d."""
        return float(self.penalty.smoothness() * radius) if self.penalty.corner == 0 else math.inf

    def largest(self, radius: float, dimension: int) -> float:
        """Return the largest value of the whole penalty on the ball: where all weights are equal in size."""
        return float(self.penalty.corner * math.sqrt(dimension) * radius + self.penalty.smoothness() / 2 * radius**2)
