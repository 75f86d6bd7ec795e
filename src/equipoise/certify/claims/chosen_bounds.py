"""Bounds of columns that nobody could vouch for, paid for: one interval a column, chosen from a public grid (N6).

An interval's score is a count of rows: how many it leaves out, and how many every third of it leaves out, so that a
good one is neither too narrow nor too wide. The one whose score with exponential noise is largest is released.
"""

import math

from ..curves import Curve, PureCurve
from .private_bounds import PrivateBounds

# An interval is so many units long, a unit is a power of two, and both ends lie at so many units from zero at most.
UNITS, MOST_UNITS = 6, 512
# The powers of two: of the smallest unit, and of the largest number.
SMALLEST, LARGEST = -20, 40


class ChosenBounds(PrivateBounds):
    """One interval of every column, with noise of `scale` rows on scores that one row moves by at most 1 (N6)."""

    kind = "chosen-bounds"
    theorem = "N6"

    def curve(self) -> Curve:
        """Return the pure curve of all choices: each costs 2 over the scale."""
        return PureCurve(len(self.columns) * 2 / self.scale)

    def on_grid(self, low: float, high: float) -> bool:
        """Return whether two bounds are the ends of an interval of the public grid."""
        unit, reach = (high - low) / UNITS, max(abs(low), abs(high))
        a_unit = math.frexp(unit)[0] == 0.5 and unit >= 2.0**SMALLEST and (low / unit).is_integer()
        return a_unit and reach <= min(MOST_UNITS * unit, 2.0**LARGEST)
