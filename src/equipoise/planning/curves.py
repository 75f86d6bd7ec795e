"""How fine the curves of an additive model may be: what finer ones win is assumed, what they cost is modelled."""

from collections.abc import Mapping

CELLS = (0, 8, 16)
GAINS = {0: 0.0, 8: 0.05, 16: 0.075}


def cells_for(costs: Mapping[int, float]) -> int:
    return min(costs, key=lambda cells: (costs[cells] - GAINS[cells], cells))
