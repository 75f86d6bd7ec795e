"""The bridge: a power of the weights between the L1 norm and the ridge."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from equipoise.errors import InvalidParameter
from equipoise.vocabulary.numbers import SMALLEST, plain, require_number
from equipoise.vocabulary.penalties.base import Array, Penalty

# The region in which mu is stated reaches this far beyond every minimiser, so that it contains what a solver returns.
REGION = 1.001

# More Newton steps than the prox can need: 2 ln(2/(p - 1)) + 8, 82 for the smallest p > 1 (docs/proofs/bridge.md).
NEWTON_STEPS = 100
# The prox solves its equation to this residual, relative to |w|: eight roundings (docs/proofs/A4.md).
RESIDUAL = 8 * 2.0**-53
# A smaller root is not polished: for p near 1 it may lie below all doubles, and its distance from 0 is beyond notice.
TINY = 1e-290

# For p near 1 the bound on minimisers settles slowly; wherever its iteration ends, it is a bound.
RADIUS_STEPS = 1000


@dataclass(frozen=True)
class Bridge(Penalty):
    """Bridge ``alpha sum |w_j|^p`` with ``p = power`` in (1, 2]; p = 2 is a ridge of strong convexity ``2 alpha``.

    Its curvature ``alpha p (p - 1) |w_j|^(p - 2)`` is infinite at 0 and fades with the weights, so all of it is met
    through `prox`, and strong convexity is that on a ball. The ball is 1.001 times the radius that contains every
    minimiser, because a solver returns weights next to one, not the minimiser itself (docs/proofs/bridge.md).

    Examples
    --------
    >>> penalty = Bridge(0.5, power=1.5)
    >>> penalty.strong_convexity(radius=4.0), penalty.strong_convexity(radius=math.inf), penalty.name
    (0.1875, 0.0, 'bridge:1.5')
    >>> penalty.prox(np.array([-2.0, 0.0]), step=4 / 3)
    array([-1.,  0.])
    """

    alpha: float
    power: float = 1.5
    id: ClassVar[str] = "bridge"
    kinked: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Refuse a power at which there is no strong convexity on any ball."""
        remedy = 'pass alpha="public", or a number such as 1e-3'
        object.__setattr__(self, "alpha", require_number("alpha", plain(self.alpha), above=0.0, remedy=remedy))
        remedy = "pass a power above 1 and at most 2, such as 1.5"
        power = require_number("power", plain(self.power), above=1.0, remedy=remedy)
        if power > 2:
            raise InvalidParameter("a power of at most 2", f"power={self.power!r}", remedy)
        object.__setattr__(self, "power", power)

    @property
    def name(self) -> str:
        """The text that `penalties.named` turns back into this penalty: ``"bridge:1.5"``."""
        return f"{self.id}:{self.power!r}"

    def value(self, weights: Array) -> float:
        """Return ``alpha sum |w_j|^p``."""
        return self.alpha * float((np.abs(weights) ** self.power).sum())

    def gradient(self, weights: Array) -> Array:
        """Return 0: there is no smooth part."""
        return np.zeros_like(weights)

    def add_curvature(self, hessian: Array) -> None:
        """Add nothing: there is no smooth part."""

    def smoothness(self) -> float:
        """Return 0: there is no smooth part."""
        return 0.0

    def prox(self, weights: Array, step: float) -> Array:
        """Return the v, of the sign of w, with ``|v| + step alpha p |v|^(p - 1) = |w|``, by Newton's method.

        In the variable ``ln |v|`` the equation is convex and increasing, and ``min(|w|, (|w| / c)^(1 / (p - 1)))``
        lies to the right of its root, so Newton's steps decrease towards it; the left side is at most ``2 |w|`` there.
        """
        sizes = np.abs(weights)
        factor, exponent = step * self.alpha * self.power, self.power - 1
        # A quotient that overflows is no bound, and one that underflows is a root that is 0.
        with np.errstate(over="ignore", under="ignore"):
            roots = np.minimum(sizes, (sizes / factor) ** (1 / exponent))
            active = np.flatnonzero(roots > TINY)
            for _ in range(NEWTON_STEPS):
                root, size = roots[active], sizes[active]
                bent = factor * root**exponent
                residual = root + bent - size
                wrong = np.abs(residual) > RESIDUAL * size
                if not wrong.any():
                    break
                root *= np.exp(-residual / (root + exponent * bent))
                roots[active] = np.minimum(root, size)
                active = active[wrong & (root > TINY)]
        return np.copysign(roots, weights) + 0.0

    def strong_convexity(self, radius: float) -> float:
        """Return ``alpha p (p - 1) radius^(p - 2)``: 0 without a radius, unless p = 2."""
        # A larger ball has less curvature, so the floor under the radius is on the safe side.
        return self.alpha * self.power * (self.power - 1) * math.pow(max(radius, SMALLEST), self.power - 2)

    def slope_bound(self, radius: float) -> float:
        """Return infinity: ``alpha p d^(1 - p/2) radius^(p - 1)`` grows with d. For p = 2, ``2 alpha radius``."""
        return 2 * self.alpha * radius if self.power == 2 else math.inf

    def largest(self, radius: float, dimension: int) -> float:
        """Return ``alpha d^(1 - p/2) radius^p``, reached where all weights are equal in size."""
        return self.alpha * math.pow(dimension, 1 - self.power / 2) * math.pow(radius, self.power)

    def minimiser_radius(self, pull: Callable[[float], float], row_norm: float) -> float:
        """Return 1.001 times a bound R on every minimiser's norm: ``alpha p R^p <= pull(B R)`` (docs/proofs/bridge.md).

        Every step of the iteration keeps an upper bound.
        """
        radius = math.inf
        for _ in range(RADIUS_STEPS):
            smaller = math.pow(pull(row_norm * radius) / (self.alpha * self.power), 1 / self.power) * (1 + 1e-12)
            if not smaller < radius * (1 - 1e-9):
                break
            radius = smaller
        return REGION * max(radius, SMALLEST)
