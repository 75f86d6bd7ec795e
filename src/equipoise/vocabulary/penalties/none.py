"""No penalty."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from equipoise.errors import InvalidParameter
from equipoise.vocabulary.numbers import plain, require_number
from equipoise.vocabulary.penalties.base import Array, Penalty


@dataclass(frozen=True)
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
    id: ClassVar[str] = "none"

    def __post_init__(self) -> None:
        """Refuse a strength, which would be ignored."""
        remedy = "pass alpha=0.0 with penalty none, or choose a penalty that uses alpha"
        alpha = require_number("alpha", plain(self.alpha), above=0.0, inclusive=True, remedy=remedy)
        if alpha != 0:
            raise InvalidParameter("alpha=0.0 where there is no penalty", f"alpha={self.alpha!r}", remedy)
        object.__setattr__(self, "alpha", 0.0)

    def value(self, weights: Array) -> float:
        """Return 0."""
        return 0.0

    def gradient(self, weights: Array) -> Array:
        """Return 0."""
        return np.zeros_like(weights)

    def add_curvature(self, hessian: Array) -> None:
        """Add nothing."""

    def smoothness(self) -> float:
        """Return 0."""
        return 0.0

    def prox(self, weights: Array, step: float) -> Array:
        """Return the weights."""
        return weights

    def strong_convexity(self, radius: float) -> float:
        """Return 0."""
        return 0.0

    def slope_bound(self, radius: float) -> float:
        """Return 0."""
        return 0.0

    def largest(self, radius: float, dimension: int) -> float:
        """Return 0."""
        return 0.0

    def minimiser_radius(self, pull: Callable[[float], float], row_norm: float) -> float:
        """Return infinity: nothing holds the weights back."""
        return math.inf
