"""How fine the curves of an additive model may be: what finer ones cost is modelled, what they win is assumed.

The cost of a training is its share of what is at stake (`equipoise.planning.reference`). Curves have more at stake than
lines, by a share that no public fact tells. It is assumed to be the same for everybody, G for curves of so many cells
in all columns, and G s^2 where only a share s of a schema's columns can bend: the others say part of it as well. So an
encoding by curves that costs the share c is worth

    (1 + G s^2) (1 - c),

and the worthiest of a few is taken, lines among them, for which G = 0. With many rows and a large epsilon all costs are
next to nothing, and curves are taken; with few, the noise in so many more weights costs more than they win, and the
model is the linear one. A decision between classes stays the same through much of what costs a prediction of a number:
there G is larger. Where curves lose a quarter of what is at stake or more they are no choice: the model of costs is
rough there, and a line is easier to tell from noise. Nor are they where they lose a twentieth more of it than lines do:
nobody knows that columns bend, and where none does, what the noise in so many weights costs is all that there is. All
pairs of columns of numbers with others, as lines, are assumed to win a share P more than what is at stake without them:
they are worth their noise where ``(1 + P) (1 - c)`` is above what the same is without them. These numbers were settled
with public tables in view, which docs/additive.md names; no privacy claim rests on them.
"""

from collections.abc import Mapping

# By how much more is at stake for curves of so many cells in all columns, as a share of what is for lines.
GAINS = {
    "classification": {0: 0.0, 4: 0.2, 8: 0.29, 16: 0.305},
    "regression": {0: 0.0, 4: 0.11, 8: 0.14, 16: 0.15},
}

# Curves that lose this share of what is at stake are no choice, nor those that lose so much more than lines.
DROWNED, DEARER = 0.25, 0.05

# By how much more is at stake with all pairs than without.
TOGETHER = {"classification": 0.05, "regression": 0.02}

# The numbers of cells that are compared, 0 for lines.
CELLS = tuple(GAINS["classification"])


def cells_for(costs: Mapping[int, float], task: str, bends: float) -> int:
    """Return the worthiest number of cells, given the modelled cost of a training for each; of equals the fewest.

    Parameters
    ----------
    costs : mapping of numbers of cells to costs
        What the same training would cost on each encoding.
    task : "classification" or "regression"
        What the loss is for.
    bends : float
        The share of the schema's columns that can bend.

    Examples
    --------
    >>> cells_for({0: 0.036, 4: 0.047, 8: 0.057, 16: 0.076}, "classification", 6 / 14)
    8
    >>> cells_for({0: 0.068, 4: 0.104, 8: 0.133, 16: 0.173}, "regression", 3 / 8)
    0
    """
    most = min(DROWNED, costs[0] + DEARER)
    choices = [cells for cells, cost in sorted(costs.items()) if cells == 0 or cost < most]
    return max(choices, key=lambda cells: (1 + GAINS[task][cells] * bends**2) * (1 - costs[cells]))


def pairs_are_worth(without: float, together: float, task: str) -> bool:
    """Return whether all pairs as lines are worth their noise, given the modelled cost without them and with them.

    Examples
    --------
    >>> pairs_are_worth(0.001, 0.025, "classification"), pairs_are_worth(0.012, 0.082, "classification")
    (True, False)
    """
    return (1 + TOGETHER[task]) * (1 - together) > 1 - without
