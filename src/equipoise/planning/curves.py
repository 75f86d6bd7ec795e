"""How fine the curves of an additive model may be: what finer ones cost is modelled, what they win is assumed.

The cost of a training is its share of what is at stake (`equipoise.planning.reference`). Curves have more at stake than
lines, by a share that no public fact tells; it is assumed to be the same for everybody. So an encoding by curves that
costs the share c is worth

    (1 + g) (1 - c),

and the worthiest of a few is taken, lines among them, for which g = 0. With many rows and a large epsilon all costs are
next to nothing, and curves are taken; with few, the noise in so many more weights costs more than g, and the model is
the linear one. Where curves lose half of what is at stake or more they are no choice: the model of costs is rough
there, and a line is easier to tell from noise. The shares were settled with public tables in view, which
docs/additive.md names; no privacy claim rests on them.
"""

from collections.abc import Mapping

# By how much more is at stake for curves of so many cells, as a share of what is for lines.
GAINS = {0: 0.0, 4: 0.05, 8: 0.063, 16: 0.07}

# Curves that lose this share of what is at stake are no choice.
DROWNED = 0.5

# The numbers of cells that are compared, 0 for lines.
CELLS = tuple(GAINS)


def cells_for(costs: Mapping[int, float]) -> int:
    """Return the worthiest number of cells, given the modelled cost of a training for each; of equals the fewest.

    Examples
    --------
    >>> cells_for({0: 0.036, 4: 0.058, 8: 0.068, 16: 0.088}), cells_for({0: 0.12, 4: 0.2, 8: 0.23, 16: 0.25})
    (8, 0)
    """
    choices = [cells for cells, cost in sorted(costs.items()) if cells == 0 or cost < DROWNED]
    return max(choices, key=lambda cells: (1 + GAINS[cells]) * (1 - costs[cells]))
