"""Accelerated gradient steps on the dual: for losses with corners, certain to end after known steps (N10)."""

import math
from collections.abc import Iterator
from itertools import takewhile
from typing import ClassVar

import numpy as np

from equipoise.errors import PrivateFailure
from equipoise.solve.objective import Objective
from equipoise.solve.places import Sums, folded
from equipoise.solve.solvers.base import Array, Solver, Target
from equipoise.solve.solvers.kinks import first, kinked_arrays, near, steps_needed
from equipoise.vocabulary.work import TEST_EVERY


class DualGradient(Solver):
    """FISTA on ``(1/n) sum conjugate(s_i) + mu/2 ||w(s)||^2`` over a box of slopes, ``w(s) = -(1/(n mu)) sum s_i x_i``.

    A linear term of the objective, its tilt, moves ``w(s)`` by ``-tilt / mu`` and changes nothing else.

    The conjugate of a loss with one corner is linear on its domain, ``s y``, so the dual's gradient is
    ``(y_i - <w, x_i>) / n``. Steps that drop their momentum uphill (O'Donoghue and Candes 2015) are fast and come
    first; averaged ones, whose number is known before any data, follow if they must. Only weights proved near return.
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
        steps = takewhile(lambda _: first(objective, target), _steps(objective, target))
        for count, (slopes, weights) in enumerate(steps):
            if count % TEST_EVERY == 0 and near(objective, target, weights, slopes):
                return weights
        return averaged(objective, target)


def averaged(objective: Objective, target: Target) -> Array:
    """Return the averaged weights of plain steps, once slopes prove them near (Tseng 2008; docs/proofs/N10.md).

    Weights that are not proved near do not return, should the proof that they are be wrong (M3).

    The primal gap at ``w(s)`` falls only like the root of the dual gap; that of the average of all weights that a
    gradient was taken at, weighted by ``t_k = (k + 1) / 2``, falls as fast. One pass a step: while a block is at hand,
    its slopes move and are added up for the next step.
    """
    fine = objective.finely()
    mu, n_samples = target.strong_convexity, objective.n_samples
    step = mu / target.row_norm**2
    low, high = kinked_arrays(objective).slope_range(objective.targets)
    slopes = (low + high) / 2
    ahead = slopes.copy()
    weights = _weights(fine, slopes, mu)
    sum_of_weights, lost, total = np.zeros(objective.size), np.zeros(objective.size), 0.0
    for count in range(1, int(steps_needed(objective, target)) + 1):
        if not target.within(objective):
            break
        # The sum keeps what rounding loses of it (Kahan): a million steps must not add up a million roundings.
        term = (count + 1) / 2 * weights - lost
        grown = sum_of_weights + term
        lost, sum_of_weights = (grown - sum_of_weights) - term, grown
        total += (count + 1) / 2
        momentum = (count - 1) / (count + 2)
        fine.passes.made += 1

        def block_sums(weights: Array, momentum: float) -> Iterator[Sums]:
            for block, where in fine.rows.views():
                residual = objective.targets[where] - block @ weights
                following = np.clip(ahead[where] - step * residual, low[where], high[where])
                ahead[where] = following + momentum * (following - slopes[where])
                slopes[where] = following
                yield (objective.shared(ahead[where], where) @ block,)

        (moved,) = folded(block_sums(weights, momentum), (np.zeros(objective.size),))
        weights = -(moved / n_samples + objective.tilt) / mu
        if count % TEST_EVERY == 0 and near(objective, target, sum_of_weights / total, slopes):
            return sum_of_weights / total
    if total > 0 and near(objective, target, sum_of_weights / total, slopes):
        return sum_of_weights / total
    raise PrivateFailure


def _steps(objective: Objective, target: Target) -> Iterator[tuple[Array, Array]]:
    """Yield slopes and the weights that belong to them, step after step, from slopes next to 0."""
    mu, n_samples = target.strong_convexity, objective.n_samples
    # Rows are not longer than their public norm, so the dual's gradient has Lipschitz constant at most B^2 / (mu n).
    # Slopes are measured by their rows' shares, in which every row's own gradient has none.
    step = mu * n_samples / target.row_norm**2
    low, high = kinked_arrays(objective).slope_range(objective.targets)
    slopes = ahead = np.clip(np.zeros(objective.rows.n_samples), low, high)
    momentum = 1.0
    while True:
        yield slopes, _weights(objective, slopes, mu)
        descent = (objective.targets - objective.predictions(_weights(objective, ahead, mu))) / n_samples
        following = np.clip(ahead - step * descent, low, high)
        if float((ahead - following) @ (following - slopes)) > 0:
            momentum = 1.0
        faster = (1 + math.sqrt(1 + 4 * momentum**2)) / 2
        ahead = following + (momentum - 1) / faster * (following - slopes)
        slopes, momentum = following, faster


def _weights(objective: Objective, slopes: Array, mu: float) -> Array:
    """Return the weights that slopes stand for, ``w(s) = -((1/n) sum s_i x_i + tilt) / mu``."""
    return -(objective.combination(slopes) + objective.tilt) / mu
