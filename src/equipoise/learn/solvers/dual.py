"""Accelerated gradient steps on the dual: for losses with corners, certain to end after a known number of steps."""

import math
from typing import ClassVar

import numpy as np

from equipoise.learn.problem import Objective
from equipoise.learn.solvers.base import Array, Solver, Target
from equipoise.learn.solvers.kinks import combine, kinked_loss, near

# How many steps pass between two tests of the distance, which costs as much as a step.
TEST_EVERY = 10


def steps_needed(row_norm: float, target: Target) -> int:
    """Return ``ceil(8 B / tau)``: half as many exact steps are enough (docs/proofs/L3.md).

    Examples
    --------
    >>> steps_needed(1.0, Target(tolerance=1e-2, smoothness=1.0, strong_convexity=0.1, start_distance=1.0, radius=None))
    800
    """
    return math.ceil(8 * row_norm / target.tolerance)


class DualGradient(Solver):
    """FISTA on ``(1/n) sum conjugate(s_i) + mu/2 ||w(s)||^2`` over a box of slopes, ``w(s) = -(1/(n mu)) sum s_i x_i``.

    The conjugate of a loss with one corner is linear on its domain, ``s y``, so the dual's gradient is ``(y_i - <w,
    x_i>) / n``. Momentum is dropped whenever it points uphill (O'Donoghue and Candes 2015).
    """

    id: ClassVar[str] = "dual"
    takes_constraint: ClassVar[bool] = False
    takes_smooth: ClassVar[bool] = False

    def solve(self, objective: Objective, target: Target) -> Array:
        """Return weights that are proved near the minimiser."""
        loss, mu, n_samples = kinked_loss(objective), target.strong_convexity, objective.rows.n_samples
        # Rows are not longer than their public norm, so the dual's gradient has Lipschitz constant at most B^2 / (mu
        # n).
        row_norm = target.row_norm
        step = mu * n_samples / row_norm**2
        low, high = loss.slope_range(objective.targets)
        slopes = np.clip(np.zeros(n_samples), low, high)
        ahead, momentum = slopes, 1.0
        weights = -combine(objective, slopes) / mu
        for count in range(steps_needed(row_norm, target)):
            if count % TEST_EVERY == 0 and near(objective, target, weights, slopes):
                break
            ascent = (objective.targets - objective.predictions(-combine(objective, ahead) / mu)) / n_samples
            following = np.clip(ahead - step * ascent, low, high)
            if float((ahead - following) @ (following - slopes)) > 0:
                momentum = 1.0
            faster = (1 + math.sqrt(1 + 4 * momentum**2)) / 2
            ahead = following + (momentum - 1) / faster * (following - slopes)
            slopes, momentum = following, faster
            weights = -combine(objective, slopes) / mu
        return weights
