"""What every penalty says about itself: names and constants. Its arithmetic on weights is in `solve`."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar

from ..numbers import settle
from ..records import Record

# For a bridge near the L1 norm the bound on minimisers settles slowly.
RADIUS_STEPS = 1000


class Penalty(Record, ABC):
    """A convex function of the weights with its minimum at 0, of a public strength `alpha`.

    It is the same for neighbouring datasets, so it cancels in every stability bound; what counts is its strong
    convexity. A penalty is the sum of a smooth part, which solvers meet through its gradient, and a kinked part, which
    they meet through proximal steps (0 for a ridge). It is a frozen dataclass of `alpha` and, where it has one, its
    parameter.
    """

    id: ClassVar[str]
    kinked: ClassVar[bool] = False
    # The factor of the L1 norm that is the kinked part; 0 where there is none.
    corner = 0.0
    alpha: float

    def __post_init__(self) -> None:
        """Refuse what has no strong convexity: every bound divides by it."""
        settle(self, "alpha", above=0.0, remedy='pass alpha="public", or a number such as 1e-3')

    @property
    def name(self) -> str:
        """The text that `penalties.named` turns back into this penalty, parameter included."""
        return ":".join([self.id, *(repr(value) for field, value in vars(self).items() if field != "alpha")])

    @abstractmethod
    def smoothness(self) -> float:
        """Return the largest eigenvalue of the smooth part's Hessian."""

    def strong_convexity(self, radius: float) -> float:
        """Return mu such that the whole penalty minus ``mu/2 ||w||^2`` is convex on the ball: a ridge's own."""
        return self.smoothness()

    def minimiser_radius(self, pull: Callable[[float], float], row_norm: float) -> float:
        """Return a bound on the norm of every minimiser: the largest R with ``mu R^2 <= pull(B R)`` (lemma R).

        Every step of the iteration keeps an upper bound, wherever it ends.
        """
        radius = math.inf
        for _ in range(RADIUS_STEPS):
            # A relative 1e-12 keeps rounding on the safe side.
            smaller = self.reach(pull(row_norm * radius)) * (1 + 1e-12)
            if not smaller < radius * (1 - 1e-9):
                break
            radius = smaller
        return radius

    def reach(self, pull: float) -> float:
        """Return how far a row that pulls so hard can carry a minimiser, by a strong convexity that is everywhere."""
        mu = self.strong_convexity(math.inf)
        return math.sqrt(pull / mu) if mu > 0 else math.inf
