"""Noise in a step's gradient, compiled: the sum is rounded to the noise's grid before a descent sees it (D7).

Numba's cache of the loops that call it looks at their own file, `kernels`, and no other: this function's digest stands
in the type of the slope that they are given (`equipoise.solve.compiled_slope`).
"""

import numpy as np
from numpy.typing import NDArray

from equipoise.kept_loops import compiled
from equipoise.solve.descents.layout import GriddedNoise

Array = NDArray[np.float64]


@compiled
def add_noise(gradient: Array, batch: int, noise: GriddedNoise, here: int) -> bool:
    """Put the mean gradient plus noise, rounded to the grid, in place of the sum of gradients (D7).

    Returns False where digits that are known do not decide how a sum is rounded: somebody must draw more.
    """
    for column in range(len(gradient)):
        mean = gradient[column] / batch
        scaled = mean / noise.grid
        nearest = np.rint(scaled)
        carried = scaled - nearest + 0.5 + noise.parts[here, column]
        total = nearest + (noise.wholes[here, column] + np.floor(carried))
        if not abs(carried - np.rint(carried)) > noise.margin:
            place, known = here * len(gradient) + column, False
            for number in range(len(noise.places)):
                if noise.places[number] == place:
                    total, known = noise.sums[number], True
            if not known:
                noise.asked[0], noise.asked[1] = place, mean
                return False
        gradient[column] = total * noise.grid
    return True
