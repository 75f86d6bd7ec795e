"""How held-out rows are dealt, the same for every program: it imports nothing of equipoise, nor of a peer."""

import numpy as np
from numpy.typing import NDArray


def dealt(world: int, rows: int, counted: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return which rows are counted in one of the splits, and which are looked at."""
    order = np.random.default_rng([1, world]).permutation(rows)
    return order[:counted], order[counted:]
