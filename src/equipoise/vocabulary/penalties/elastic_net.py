"""The elastic net: a ridge and an L1 norm."""

from ...errors import InvalidParameter
from ..numbers import settle
from .base import Penalty


class ElasticNet(Penalty):
    """Elastic net ``alpha (c ||w||_1 + (1 - c)/2 ||w||^2)`` with ``c = l1_ratio``, as scikit-learn writes it.

    The ridge is the smooth part and alone is strongly convex; the L1 norm is the kinked part, which puts weights at
    exactly 0. Stability sees only the ridge: the penalty cancels (docs/proofs/F1.md).

    Examples
    --------
    >>> penalty = ElasticNet(0.5, l1_ratio=0.75)
    >>> penalty.strong_convexity(radius=1.0), penalty.corner, penalty.name
    (0.125, 0.375, 'elastic-net:0.75')
    """

    l1_ratio: float = 0.5
    id = "elastic-net"
    kinked = True

    def __post_init__(self) -> None:
        """Refuse what has no strong convexity: every bound divides by it."""
        super().__post_init__()
        given, remedy = self.l1_ratio, "pass an l1_ratio in [0, 1): the L1 norm alone is not strongly convex"
        if settle(self, "l1_ratio", above=0.0, inclusive=True, remedy=remedy) >= 1:
            raise InvalidParameter("an l1_ratio below 1", f"l1_ratio={given!r}", remedy)

    @property
    def corner(self) -> float:  # type: ignore[override] # read-only, as all of a record
        """The factor of the L1 norm, ``alpha c``."""
        return self.alpha * self.l1_ratio

    def smoothness(self) -> float:
        """Return ``alpha (1 - c)``, the ridge's."""
        return self.alpha * (1 - self.l1_ratio)
