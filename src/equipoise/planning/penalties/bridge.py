"""What planning knows of the bridge."""

import math
from typing import ClassVar

from equipoise.planning.penalties.base import KnownPenalty
from equipoise.vocabulary.penalties import Penalty
from equipoise.vocabulary.penalties.bridge import Bridge


class KnownBridge(KnownPenalty):
    """A power of the weights."""

    of: ClassVar[type[Penalty]] = Bridge

    def slope_bound(self, radius: float) -> float:
        """Return infinity: ``alpha p d^(1 - p/2) radius^(p - 1)`` grows with d. For p = 2, ``2 alpha radius``."""
        return 2 * self.penalty.alpha * radius if self.penalty.power == 2 else math.inf

    def largest(self, radius: float, dimension: int) -> float:
        """Return ``alpha d^(1 - p/2) radius^p``, reached where all weights are equal in size."""
        power = self.penalty.power
        return float(self.penalty.alpha * math.pow(dimension, 1 - power / 2) * math.pow(radius, power))
