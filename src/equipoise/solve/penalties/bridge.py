"""The bridge on arrays."""

import numpy as np

from equipoise.solve.penalties.base import Array, PenaltyArrays
from equipoise.vocabulary.penalties.bridge import Bridge

# More Newton steps than the prox can need: 2 ln(2/(p - 1)) + 8, 82 for the smallest p > 1 (docs/proofs/bridge.md).
NEWTON_STEPS = 100
# The prox solves its equation to this residual, relative to |w|: eight roundings (docs/proofs/A4.md).
RESIDUAL = 8 * 2.0**-53
# A smaller root is not polished: for p near 1 it may lie below all doubles, and its distance from 0 is beyond notice.
TINY = 1e-290


class BridgeArrays(PenaltyArrays):
    """``alpha sum |w_j|^p``, all of it kinked.

    Examples
    --------
    >>> BridgeArrays(Bridge(0.5, power=1.5)).prox(np.array([-2.0, 0.0]), step=4 / 3)
    array([-1.,  0.])
    """

    of = Bridge
    penalty: Bridge

    def value(self, weights: Array) -> float:
        """Return ``alpha sum |w_j|^p``."""
        return self.penalty.alpha * float((np.abs(weights) ** self.penalty.power).sum())

    def gradient(self, weights: Array) -> Array:
        """Return 0: there is no smooth part."""
        return np.zeros_like(weights)

    def add_curvature(self, hessian: Array) -> None:
        """Add nothing: there is no smooth part."""

    def prox(self, weights: Array, step: float) -> Array:
        """Return the v, of the sign of w, with ``|v| + step alpha p |v|^(p - 1) = |w|``, by Newton's method.

        In the variable ``ln |v|`` the equation is convex and increasing, and ``min(|w|, (|w| / c)^(1 / (p - 1)))``
        lies to the right of its root, so Newton's steps decrease towards it; the left side is at most ``2 |w|`` there.
        """
        sizes = np.abs(weights)
        factor, exponent = step * self.penalty.alpha * self.penalty.power, self.penalty.power - 1
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
