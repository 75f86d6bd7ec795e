"""No penalty."""

from ...errors import InvalidParameter
from ..numbers import settle
from .base import Penalty


class NoPenalty(Penalty):
    """Nothing: the bare average of losses, with ``alpha = 0``.

    No stability bound here applies to it, and the theorems refuse it with the remedy "add a ridge: alpha > 0". A loss
    of a linear prediction has rank-one curvature ``phi'' x x^T``, so it is not strongly convex in the weights by
    itself, and rows that all lie in one hyperplane leave the average without curvature: [002] Algorithm 1 assumes a
    strongly convex loss that no member of this house is. It exists so that the plain objective can be named and
    refused.

    Examples
    --------
    >>> NoPenalty().strong_convexity(radius=1.0)
    0.0
    """

    alpha: float = 0.0
    id = "none"

    def __post_init__(self) -> None:
        """Refuse a strength, which would be ignored."""
        given, remedy = self.alpha, "pass alpha=0.0 with penalty none, or choose a penalty that uses alpha"
        if settle(self, "alpha", above=0.0, inclusive=True, remedy=remedy) != 0:
            raise InvalidParameter("alpha=0.0 where there is no penalty", f"alpha={given!r}", remedy)
        object.__setattr__(self, "alpha", 0.0)  # not -0.0

    def smoothness(self) -> float:
        """Return 0."""
        return 0.0
