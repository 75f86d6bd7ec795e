"""The step length of Newton methods: backtracking that trusts slopes where values no longer resolve the difference."""

import numpy as np
from numpy.typing import NDArray

from equipoise.solve.objective import Objective

Array = NDArray[np.float64]

HALVINGS = 40


def search(objective: Objective, weights: Array, predictions: Array, gradient: Array, step: Array) -> Array | None:
    """Return the first of w + step, w + step/2, ... that lowers the objective enough, or None when none does.

    Near the minimum the objective's own rounding hides its decrease; there a point is taken when the slope along the
    step has shrunk to half, which convexity makes just as good (Hager and Zhang 2005).
    """
    step_predictions = objective.predictions(step)
    slope = float(gradient @ step)
    value = objective.value(weights, predictions)
    blur = 1e-14 * (1 + abs(value))
    size = 1.0
    for _ in range(HALVINGS):
        moved, moved_predictions = weights + size * step, predictions + size * step_predictions
        reached = objective.value(moved, moved_predictions)
        if reached <= value + 1e-4 * size * slope:
            return moved
        if reached <= value + blur:
            end_slope = objective.directional_slope(moved, step, moved_predictions, step_predictions)
            if abs(end_slope) <= 0.5 * abs(slope) or end_slope <= 0:
                return moved
        size /= 2
    return None
