"""The bridge: a power of the weights between the L1 norm and the ridge."""

import math
from collections.abc import Callable

from ...errors import InvalidParameter
from ..numbers import SMALLEST, settle
from .base import Penalty

# The region in which mu is stated reaches this far beyond every minimiser, so that it contains what a solver returns.
REGION = 1.001


class Bridge(Penalty):
    """Bridge ``alpha sum |w_j|^p`` with ``p = power`` in (1, 2]; p = 2 is a ridge of strong convexity ``2 alpha``.

    Its curvature ``alpha p (p - 1) |w_j|^(p - 2)`` is infinite at 0 and fades with the weights, so all of it is met
    through proximal steps, and strong convexity is that on a ball. The ball is 1.001 times the radius that contains
    every minimiser, because a solver returns weights next to one, not the minimiser itself (docs/proofs/bridge.md).

    Examples
    --------
    >>> penalty = Bridge(0.5, power=1.5)
    >>> penalty.strong_convexity(radius=4.0), penalty.strong_convexity(radius=math.inf), penalty.name
    (0.1875, 0.0, 'bridge:1.5')
    """

    power: float = 1.5
    id = "bridge"
    kinked = True

    def __post_init__(self) -> None:
        """Refuse a power at which there is no strong convexity on any ball."""
        super().__post_init__()
        given, remedy = self.power, "pass a power above 1 and at most 2, such as 1.5"
        if settle(self, "power", above=1.0, remedy=remedy) > 2:
            raise InvalidParameter("a power of at most 2", f"power={given!r}", remedy)

    def smoothness(self) -> float:
        """Return 0: there is no smooth part."""
        return 0.0

    def strong_convexity(self, radius: float) -> float:
        """Return ``alpha p (p - 1) radius^(p - 2)``: 0 without a radius, unless p = 2."""
        # A larger ball has less curvature, so the floor under the radius is on the safe side.
        return self.alpha * self.power * (self.power - 1) * math.pow(max(radius, SMALLEST), self.power - 2)

    def minimiser_radius(self, pull: Callable[[float], float], row_norm: float) -> float:
        """Return 1.001 times a bound on every minimiser's norm (docs/proofs/bridge.md)."""
        return REGION * max(super().minimiser_radius(pull, row_norm), SMALLEST)

    def reach(self, pull: float) -> float:
        """Return the R with ``alpha p R^p = pull``."""
        return math.pow(pull / (self.alpha * self.power), 1 / self.power)
