"""How many passes over the rows a solver may need, known before any data (docs/proofs/N10.md)."""

import math

from .constants import tree_depth

# A solver's last resort adds up so many rows at a time, which leaves less rounding than whole blocks do.
FINE_ROWS = 64

# What a solver tries first may take so many passes, or a share of what its last resort may take where that is more.
FIRST_PASSES = 1000
CORNERS_SHARE = 0.05

# The last resort tests whether it has arrived after so many steps; a test costs two passes.
TEST_EVERY = 20

# What a step that has begun, a factorisation and the last tests may take beyond.
SPARE_PASSES = 200


def fine_unit(n_samples: int, dimension: int) -> float:
    """Return ``(128 + 12 + depth + d + 20) 2^-53``, the relative rounding of a gradient that is summed finely (N10).

    The 12 is the depth of a tree of single rows, if a block is cut into such pieces (N12).
    """
    return (2 * FINE_ROWS + 12 + tree_depth(n_samples) + dimension + 20) * 2.0**-53


def whole(count: float) -> float:
    """Return a count rounded up; infinity stays."""
    return math.ceil(count) if math.isfinite(count) else math.inf


def _logarithm(smoothness: float, distance: float, tolerance: float) -> float:
    return math.log(max(math.e, 4 * smoothness * distance / tolerance))


def plain_steps(smoothness: float, strong_convexity: float, distance: float, tolerance: float) -> float:
    """Return ``16 max(1, L / mu) ln(4 L R0 / tau)``: steps of size 1/L from 0 have arrived by then (A4).

    Examples
    --------
    >>> plain_steps(1.0, 0.1, 1.0, 1e-3)
    1328
    """
    ratio = max(1.0, smoothness / strong_convexity)
    return whole(16 * ratio * _logarithm(smoothness, distance, tolerance))


def accelerated_steps(smoothness: float, strong_convexity: float, distance: float, tolerance: float) -> float:
    """Return ``3 + 6 sqrt(L / mu) ln(4 L R0 / tau)``: steps with momentum have arrived by then, where N10 holds.

    Examples
    --------
    >>> accelerated_steps(1.0, 0.1, 1.0, 1e-3)
    161
    """
    ratio = math.sqrt(max(1.0, smoothness / strong_convexity))
    return 3 + whole(6 * ratio * _logarithm(smoothness, distance, tolerance))


def corner_steps(row_norm: float, spread: float, tolerance: float) -> float:
    """Return ``1 + 8.2 r B / tau``: dual steps with averaged weights have arrived by then, where N10 holds.

    Examples
    --------
    >>> corner_steps(1.0, 0.5, 1e-2)
    411
    """
    return 1 + whole(8.2 * spread * row_norm / tolerance)
