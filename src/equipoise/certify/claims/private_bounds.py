"""Bounds of columns that nobody could vouch for, paid for: two private quantiles a column (Q1).

Each quantile is chosen from a public grid by the number of rows on either side of it, with exponential noise on the
counts. The grid spans eighteen orders of magnitude, so that it tells nothing about the data. Recorded claims are
checked for ever; new ones choose an interval at once (`chosen_bounds`).
"""

from ...vocabulary.facts import Conditions, Record
from ..curves import Curve, PureCurve
from .base import Claim, holds

LEVELS = (0.01, 0.99)

_MANTISSAS = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)
_POSITIVE = tuple(float(f"{mantissa}e{exponent}") for exponent in range(-6, 13) for mantissa in _MANTISSAS)
CANDIDATES = (*(-value for value in reversed(_POSITIVE)), 0.0, *_POSITIVE)


class ReleasedBounds(Record):
    """The bounds that were released for one column; everything computed from them is post-processing."""

    column: str
    low: float
    high: float


class PrivateBounds(Claim):
    """Bounds of every column, with noise of `scale` on counts of rows; epsilon pays for all of them together."""

    kind = "private-bounds"
    theorem = "Q1"

    columns: tuple[str, ...]
    scale: float
    released: tuple[ReleasedBounds, ...] = ()

    def curve(self) -> Curve:
        """Return the pure curve of all quantiles: each costs 2 over the scale (Q1)."""
        return PureCurve(len(LEVELS) * len(self.columns) * 2 / self.scale)

    def conditions(self) -> Conditions:
        """Yield that the noise is within the budget, and that what was released lies on the public grid, in order."""
        yield holds("every column is named once", 0 < len(set(self.columns)) == len(self.columns))
        yield self.meets()
        named = tuple(bounds.column for bounds in self.released)
        yield holds("bounds were released for the columns that were paid for", named in ((), self.columns))
        for bounds in self.released:
            found = bounds.low < bounds.high and self.on_grid(bounds.low, bounds.high)
            yield holds(f"the bounds of {bounds.column:.80} lie on the public grid, in order", found)

    def on_grid(self, low: float, high: float) -> bool:
        """Return whether both bounds are candidates."""
        return low in CANDIDATES and high in CANDIDATES
