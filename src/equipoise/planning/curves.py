"""How fine the curves of an additive model may be: the finest whose noise costs next to nothing more than a line's.

The cost of a training is its share of what is at stake (`equipoise.planning.reference`). Curves have more weights than
lines, and cost more; what they win no public fact tells, and where no column bends it is nothing. A curve is its line
and departures from it, the finer the smaller (`equipoise.data.schema.CurveColumn`), so that finer cells lose little
beside coarser ones, and may win: therefore the finest curves are taken that cost at most a share `DEARER` more than
lines do. With many rows and a large epsilon all costs are next to nothing, and curves are fine; with few, the model is
the linear one. Whatever noise costs costs a decision between classes less than a prediction of a number, and classes
may be the dearer. Where curves lose a quarter of what is at stake or more they are no choice: the model of costs is
rough there, and a line is easier to tell from noise. All pairs of columns of numbers with others, as lines, are assumed
to win a share P more than what is at stake without them: they are worth their noise where ``(1 + P) (1 - c)`` is above
what the same is without them. These numbers were settled with public tables in view, which docs/additive.md names; no
privacy claim rests on them.
"""

from collections.abc import Mapping

# Curves that lose this share of what is at stake are no choice, nor those that lose so much more than lines.
DROWNED = 0.25
DEARER = {"classification": 0.016, "regression": 0.001}

# By how much more is at stake with all pairs than without.
TOGETHER = {"classification": 0.05, "regression": 0.02}

# The numbers of cells that are compared, 0 for lines.
CELLS = (0, 2, 4, 8, 16)


def cells_for(costs: Mapping[int, float], task: str) -> int:
    """Return the largest number of cells that is hardly dearer than lines, given the modelled cost of each.

    Parameters
    ----------
    costs : mapping of numbers of cells to costs
        What the same training would cost on each encoding.
    task : "classification" or "regression"
        What the loss is for.

    Examples
    --------
    >>> cells_for({0: 0.03, 2: 0.032, 4: 0.037, 8: 0.051, 16: 0.07}, "classification")
    4
    >>> cells_for({0: 0.07, 2: 0.15, 4: 0.25, 8: 0.32, 16: 0.38}, "regression")
    0
    """
    most = min(DROWNED, costs[0] + DEARER[task])
    return max(cells for cells, cost in costs.items() if cells == 0 or cost < most)


def pairs_are_worth(without: float, together: float, task: str) -> bool:
    """Return whether all pairs as lines are worth their noise, given the modelled cost without them and with them.

    Examples
    --------
    >>> pairs_are_worth(0.001, 0.025, "classification"), pairs_are_worth(0.012, 0.082, "classification")
    (True, False)
    """
    return (1 + TOGETHER[task]) * (1 - together) > 1 - without
