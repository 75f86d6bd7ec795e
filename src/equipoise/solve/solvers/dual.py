"""Accelerated gradient steps on the dual: for losses with corners, certain to end after a known number of steps."""

import math
from collections.abc import Iterator
from itertools import chain, islice
from typing import ClassVar

import numpy as np

from equipoise.solve.objective import Objective
from equipoise.solve.solvers.base import Array, Solver, Target
from equipoise.solve.solvers.kinks import combine, kinked_arrays, near

# How many steps pass between two tests of the distance, which costs as much as a step.
TEST_EVERY = 10


def steps_needed(row_norm: float, target: Target) -> int:
    """Return ``ceil(4 B / tau)``, after which plain accelerated steps have arrived (docs/proofs/L3.md).

    Examples
    --------
    >>> steps_needed(1.0, Target(tolerance=1e-2, smoothness=1.0, strong_convexity=0.1, start_distance=1.0, radius=None))
    400
    """
    return math.ceil(4 * row_norm / target.tolerance)


class DualGradient(Solver):
    """FISTA on ``(1/n) sum conjugate(s_i) + mu/2 ||w(s)||^2`` over a box of slopes, ``w(s) = -(1/(n mu)) sum s_i x_i``.

    A linear term of the objective, its tilt, moves ``w(s)`` by ``-tilt / mu`` and changes nothing else.

    The conjugate of a loss with one corner is linear on its domain, ``s y``, so the dual's gradient is
    ``(y_i - <w, x_i>) / n``. Steps that drop their momentum uphill (O'Donoghue and Candes 2015) are fast and come
    first; plain ones, whose number is known before any data, follow if they must. Only weights proved near return.
    """

    id: ClassVar[str] = "dual"
    takes_constraint: ClassVar[bool] = False
    takes_smooth: ClassVar[bool] = False

    @classmethod
    def suits(cls, objective: Objective) -> float:
        """Suit losses with corners, where no Hessian is."""
        return float(objective.has_corners and not objective.compact)

    def solve(self, objective: Objective, target: Target) -> Array:
        """Return the first weights that are proved near the minimiser; nothing else is ever returned (M3)."""
        fast = islice(_steps(objective, target, restart=True), steps_needed(target.row_norm, target))
        for count, (slopes, weights) in enumerate(chain(fast, _steps(objective, target, restart=False))):
            if count % TEST_EVERY == 0 and near(objective, target, weights, slopes):
                break
        return weights


def _steps(objective: Objective, target: Target, restart: bool) -> Iterator[tuple[Array, Array]]:
    """Yield slopes and the weights that belong to them, step after step, from slopes next to 0."""
    mu, n_samples = target.strong_convexity, objective.rows.n_samples
    # Rows are not longer than their public norm, so the dual's gradient has Lipschitz constant at most B^2 / (mu n).
    step = mu * n_samples / target.row_norm**2
    low, high = kinked_arrays(objective).slope_range(objective.targets)
    slopes = ahead = np.clip(np.zeros(n_samples), low, high)
    momentum = 1.0
    while True:
        yield slopes, _weights(objective, slopes, mu)
        descent = (objective.targets - objective.predictions(_weights(objective, ahead, mu))) / n_samples
        following = np.clip(ahead - step * descent, low, high)
        if restart and float((ahead - following) @ (following - slopes)) > 0:
            momentum = 1.0
        faster = (1 + math.sqrt(1 + 4 * momentum**2)) / 2
        ahead = following + (momentum - 1) / faster * (following - slopes)
        slopes, momentum = following, faster


def _weights(objective: Objective, slopes: Array, mu: float) -> Array:
    """Return the weights that slopes stand for, ``w(s) = -((1/n) sum s_i x_i + tilt) / mu``."""
    return -(combine(objective, slopes) + objective.tilt) / mu
