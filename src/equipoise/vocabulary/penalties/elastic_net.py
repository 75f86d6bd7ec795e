"""The elastic net: a ridge and an L1 norm."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from equipoise.errors import InvalidParameter
from equipoise.vocabulary.numbers import plain, require_number
from equipoise.vocabulary.penalties.base import Array, Penalty


@dataclass(frozen=True)
class ElasticNet(Penalty):
    """Elastic net ``alpha (c ||w||_1 + (1 - c)/2 ||w||^2)`` with ``c = l1_ratio``, as scikit-learn writes it.

    The ridge is the smooth part and alone is strongly convex; the L1 norm is the kinked part, which puts weights at
    exactly 0. Stability sees only the ridge: the penalty cancels (docs/proofs/F1.md).

    Examples
    --------
    >>> penalty = ElasticNet(0.5, l1_ratio=0.75)
    >>> penalty.strong_convexity(radius=1.0), penalty.name
    (0.125, 'elastic-net:0.75')
    >>> penalty.prox(np.array([1.0, -0.25, 0.0]), step=1.0)
    array([0.625, 0.   , 0.   ])
    """

    alpha: float
    l1_ratio: float = 0.5
    id: ClassVar[str] = "elastic-net"
    kinked: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Refuse what has no strong convexity: every bound divides by it."""
        remedy = 'pass alpha="public", or a number such as 1e-3'
        object.__setattr__(self, "alpha", require_number("alpha", plain(self.alpha), above=0.0, remedy=remedy))
        remedy = (
            "pass an l1_ratio in [0, 1) such as 0.5: the L1 norm alone is not strongly convex, so nothing is certified"
        )
        ratio = require_number("l1_ratio", plain(self.l1_ratio), above=0.0, inclusive=True, remedy=remedy)
        if ratio >= 1:
            raise InvalidParameter("an l1_ratio below 1", f"l1_ratio={self.l1_ratio!r}", remedy)
        object.__setattr__(self, "l1_ratio", ratio)

    @property
    def name(self) -> str:
        """The text that `penalties.named` turns back into this penalty: ``"elastic-net:0.5"``."""
        return f"{self.id}:{self.l1_ratio!r}"

    @property
    def _ridge(self) -> float:
        return self.alpha * (1 - self.l1_ratio)

    @property
    def corner(self) -> float:
        """The factor of the L1 norm."""
        return self.alpha * self.l1_ratio

    def value(self, weights: Array) -> float:
        """Return ``alpha (c ||w||_1 + (1 - c)/2 ||w||^2)``."""
        return self.corner * float(np.abs(weights).sum()) + self._ridge / 2 * float(weights @ weights)

    def gradient(self, weights: Array) -> Array:
        """Return the ridge's gradient, ``alpha (1 - c) w``."""
        return self._ridge * weights

    def add_curvature(self, hessian: Array) -> None:
        """Add ``alpha (1 - c)`` to the diagonal."""
        hessian.flat[:: len(hessian) + 1] += self._ridge

    def smoothness(self) -> float:
        """Return ``alpha (1 - c)``, the ridge's."""
        return self._ridge

    def prox(self, weights: Array, step: float) -> Array:
        """Return the soft threshold ``sign(w) max(|w| - step alpha c, 0)``."""
        # Adding 0 turns -0 into 0.
        return np.copysign(np.maximum(np.abs(weights) - step * (self.alpha * self.l1_ratio), 0.0), weights) + 0.0

    def strong_convexity(self, radius: float) -> float:
        """Return ``alpha (1 - c)``, everywhere."""
        return self._ridge

    def slope_bound(self, radius: float) -> float:
        """Return infinity: ``alpha (c sqrt(d) + (1 - c) radius)`` grows with d. For c = 0, the ridge's slope."""
        return self._ridge * radius if self.l1_ratio == 0 else math.inf

    def largest(self, radius: float, dimension: int) -> float:
        """Return ``alpha (c sqrt(d) radius + (1 - c)/2 radius^2)``, reached where all weights are equal in size."""
        return self.alpha * self.l1_ratio * math.sqrt(dimension) * radius + self._ridge / 2 * radius**2
