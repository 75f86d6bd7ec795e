"""Which rows steps take, compiled: different ones in every batch, and all rows of persons."""

import numpy as np
from numpy.typing import NDArray

from equipoise.kept_loops import compiled
from equipoise.solve.descents.layout import Persons

Order = NDArray[np.int64]


@compiled
def rows_of(persons: Persons, order: Order, batch: int) -> tuple[Order, Order]:
    """Return the rows of persons in an order, and where those of each batch end."""
    ends, stored = np.empty(-(-len(order) // batch), dtype=np.int64), 0
    for step in range(len(ends)):
        for person in order[step * batch : (step + 1) * batch]:
            stored += persons.starts[person + 1] - persons.starts[person]
        ends[step] = stored
    rows, filled = np.empty(stored, dtype=np.int64), 0
    for person in order:
        for member in range(persons.starts[person], persons.starts[person + 1]):
            rows[filled] = persons.rows[member]
            filled += 1
    return rows, ends


@compiled
def distinct_rows(draws: Order, batch: int, done: int, filled: int, seen: Order, order: Order) -> int:
    """Fill an order with the draws that are new in their batch, and return how much of it is filled.

    Draws with equal chances that are rejected if they were drawn before make every subset equally likely. `seen` has a
    power of two of spots, more than a batch has rows, each for a draw and its step; `done` counts the steps before.
    """
    for draw in draws:
        if filled == len(order):
            break
        number = done + filled // batch + 1
        spot = draw & (len(seen) - 1)
        while seen[spot, 1] == number and seen[spot, 0] != draw:  # a spot of an earlier step is free
            spot = (spot + 1) & (len(seen) - 1)
        if seen[spot, 1] != number:
            seen[spot, 0], seen[spot, 1] = draw, number
            order[filled] = draw
            filled += 1
    return filled
