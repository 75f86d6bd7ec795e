"""The rigorous search behind the logistic loss's table of gradient diameters (A2, proof in docs/proofs/A2.md).

Unit rows and weights of norm k give the gradients ``p(t; k) = sigmoid(k cos t) (cos t, sin t)``. The diameter for
weights of norm at most k is the largest ``|p(s; j) - p(t; j)|`` over all angles and all ``j <= k``. The closed form of
that maximum is only conjectured, so the product certifies with the upper bounds found here: a branch-and-bound over
both angles whose cells carry the Lipschitz constant of p, so that nothing between grid points can escape. The results
are tabulated in `logistic_table.py`; the tests search again and compare.
"""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# max over x of x * sigmoid'(x) is 0.22387...; the slope of p in k is cos(t) sigmoid'(k cos t), at most 1/4 and at most
# this / k.
SLOPE_PRODUCT = 0.2239


def slope_in_norm(norm: float) -> float:
    """Return a bound on ``|dp/dk|`` for every angle and every ``k >= norm``."""
    return 0.25 if norm <= 0 else min(0.25, SLOPE_PRODUCT / norm)


def largest_distance(norm: float, slack: float) -> float:
    """Return an upper bound, at most about `slack` too large, on the distance of two gradients at weights of this norm.

    The cell of centre (s, t) and half-width h contains no pair further apart than the centre's distance plus
    ``2 h sqrt(1 + norm^2 / 16)``, because ``|dp/dt|^2 = sigmoid^2 + (k sin t sigmoid')^2 <= 1 + k^2/16``. Mirror
    images and swaps allow s in [0, pi] and t in [-pi, pi].

    Examples
    --------
    >>> 1.0991 < largest_distance(1.0, 1e-3) < 1.1005
    True
    """
    lipschitz = math.hypot(1.0, norm / 4)
    half = math.pi / 64
    centres = np.arange(-math.pi + half, math.pi, 2 * half)
    first, second = (grid.ravel() for grid in np.meshgrid(centres[centres > 0], centres, indexing="ij"))
    while True:
        distance = _distance(norm, first, second)
        reach = 2 * half * lipschitz
        # Rounding in cos, exp and hypot is below 1e-14; the last term keeps the bound above it.
        if reach <= slack:
            return float(distance.max()) + reach + 1e-12
        keep = distance + reach >= distance.max()
        half /= 2
        first, second = _halves(first[keep], second[keep], half)


def _distance(norm: float, first: Array, second: Array) -> Array:
    size_first = 1 / (1 + np.exp(-norm * np.cos(first)))
    size_second = 1 / (1 + np.exp(-norm * np.cos(second)))
    distance: Array = np.hypot(
        size_first * np.cos(first) - size_second * np.cos(second),
        size_first * np.sin(first) - size_second * np.sin(second),
    )
    return distance


def _halves(first: Array, second: Array, half: float) -> tuple[Array, Array]:
    offsets = ((-half, -half), (-half, half), (half, -half), (half, half))
    return (
        np.concatenate([first + across for across, _ in offsets]),
        np.concatenate([second + along for _, along in offsets]),
    )


def diameter_between(low: float, high: float, slack: float) -> float:
    """Return an upper bound on the distance of two gradients over all weights of norm between `low` and `high`.

    The interval is cut into pieces so short that moving to a piece's midpoint costs at most half of `slack`.

    Examples
    --------
    >>> 1.099 < diameter_between(0.99, 1.0, 1e-2) < 1.112
    True
    """
    pieces = max(1, math.ceil(2 * slope_in_norm(low) * (high - low) / slack))
    width = (high - low) / pieces
    best = 0.0
    for piece in range(pieces):
        start = low + piece * width
        moved = slope_in_norm(start) * width  # two points, each at most half a width away from the midpoint
        best = max(best, largest_distance(start + width / 2, slack / 2) + moved)
    return best


def search_table(norms: tuple[float, ...], slack: float) -> Iterator[tuple[float, float]]:
    """Yield ``(norm, diameter over all weights up to that norm)`` for increasing norms, capped at the trivial 2."""
    low, best = 0.0, 0.0
    for norm in norms:
        best = min(2.0, max(best, diameter_between(low, norm, slack)))
        yield norm, best
        low = norm
