"""The public intervals from which the bounds of a column are chosen, and the scores by which they are (N6)."""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from equipoise.certify.claims.chosen_bounds import LARGEST, MOST_UNITS, SMALLEST, UNITS
from equipoise.data.cells import Array, Cells, Counts

# A third of an interval begins at every half unit of it.
THIRD = UNITS // 3
HALF_UNITS = np.arange(0, UNITS - THIRD + 0.5, 0.5)

# A third leaves out more than 3/16 of a good interval's numbers. The share is a matter of accuracy: with a smaller one
# an interval that is far too wide scores almost as well as a good one, with a larger one heavy tails are cut off.
# Scores are whole numbers, counted in sixteenths of a row.
PARTS, SHARE = 16, 3

# Every end of an interval, and of a third, is an end of these cells.
CELLS = Cells(SMALLEST, LARGEST, bits=MOST_UNITS.bit_length() - 1)

Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Intervals:
    """All intervals of the grid: their ends, the cells of each, and those of its thirds where there are narrower ones.

    Examples
    --------
    >>> grid = intervals()
    >>> chosen = int(np.argmax(grid.scores(CELLS.counts(np.linspace(170, 190, 100)))))
    >>> float(grid.lows[chosen]), float(grid.highs[chosen])
    (168.0, 192.0)
    """

    lows: Array
    highs: Array
    first: Places
    stop: Places
    # The intervals that have a narrower neighbour, and where their thirds begin and stop, a row each.
    wide: Places
    third_first: Places
    third_stop: Places

    def scores(self, counts: Counts) -> NDArray[np.int64]:
        """Return every interval's score, in sixteenths of a row: one row replaced moves each by at most `PARTS`.

        With ``out(A)`` the known numbers outside of A, and ``known`` all of them, a score is
        ``min(-out(I), min over thirds J of I of out(J) - 3/16 known)``. The narrowest intervals have no second term.
        """
        below = np.concatenate([[0], np.cumsum(counts)])
        known = below[-1]
        scores: NDArray[np.int64] = PARTS * (below[self.stop] - below[self.first] - known)
        fullest = (below[self.third_stop] - below[self.third_first]).max(axis=1)
        scores[self.wide] = np.minimum(scores[self.wide], PARTS * (known - fullest) - SHARE * known)
        return scores


@cache
def intervals() -> Intervals:
    """Return the grid: for every unit, intervals that begin at each multiple of it, as far as `MOST_UNITS`."""
    begins = np.arange(-MOST_UNITS, MOST_UNITS - UNITS + 1, dtype=np.float64)
    reach = np.maximum(np.abs(begins), np.abs(begins + UNITS))
    lows, units, wide = [], [], []
    for power in range(SMALLEST, LARGEST):
        here = reach * 2.0**power <= 2.0**LARGEST
        lows.append(begins[here] * 2.0**power)
        units.append(np.full(np.count_nonzero(here), 2.0**power))
        # Half the unit reaches only half as far, and the smallest has no half.
        wide.append((reach[here] <= MOST_UNITS / 2) & (power > SMALLEST))
    low, unit, narrowed = map(np.concatenate, (lows, units, wide))
    thirds = low[narrowed, None] + HALF_UNITS * unit[narrowed, None]
    return Intervals(
        low,
        low + UNITS * unit,
        CELLS.starts(low),
        _stops(low + UNITS * unit),
        np.flatnonzero(narrowed),
        CELLS.starts(thirds),
        _stops(thirds + THIRD * unit[narrowed, None]),
    )


def _stops(edges: Array) -> Places:
    """Return the cell after the last below each edge; that of zero is below zero as it is above."""
    starts = CELLS.starts(edges)
    starts[edges == 0] += 1
    return starts
