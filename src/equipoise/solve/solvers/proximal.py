"""Proximal steps, plain, accelerated and on quadratic models: for penalties with a kinked part (A4, L3)."""

import math
from collections.abc import Callable, Iterator
from itertools import islice, takewhile
from typing import ClassVar

import numpy as np
from scipy.linalg import eigvalsh

from equipoise.solve.objective import Objective
from equipoise.solve.penalties import PenaltyArrays
from equipoise.solve.solvers.base import ACCEPTED_SHARE, Array, Solver, Target, accepted
from equipoise.solve.solvers.last_resort import LastResort

# Quadratic models, halvings of one step, accelerated steps on one model, before the last resort takes over: none of
# them is a cap on the solve.
MODELS = 60
HALVINGS = 30
MODEL_STEPS = 20_000

# A model is solved to this share of the tolerance; the rest is for what the model leaves out.
MODEL_SHARE = 0.3

# How far an accepted step may reach, in units of the start's distance and of tolerance / mu: far longer than any near
# the minimum, short enough that rounding cannot hide in it.
REACH = 4.0


class ProximalGradient(Solver):
    """``w <- prox(w - grad f(w) / L, 1 / L)``, f being the loss and the penalty's smooth part.

    What is tested and returned is always the end of one such step, with the subgradient ``p = L (w - w+) + grad f(w+) -
    grad f(w)``. What leads there is free. Where a Hessian is worth forming: quadratic models of f, each minimised with
    the penalty by accelerated steps that touch no row (proximal Newton). Elsewhere: accelerated
    steps on the objective itself. If neither arrives within a public number of passes, the last resort does.
    """

    id: ClassVar[str] = "proximal"
    takes_constraint: ClassVar[bool] = False
    takes_kinks: ClassVar[bool] = True

    @classmethod
    def suits(cls, objective: Objective) -> float:
        """Suit penalties with corners."""
        return float(objective.penalty.kinked and not objective.has_corners)

    def solve(self, objective: Objective, target: Target) -> Array:
        """Return the first accepted weights; a constraint is the caller's to refuse."""
        found = _by_models(objective, target) if objective.compact else _by_acceleration(objective, target)
        return _Proximal(objective, target).weights() if found is None else found


class _Proximal(LastResort):
    def onward(self, point: Array, gradient: Array) -> Array:
        return _onward(self.objective, self.target, point, gradient)

    def arrived(self, point: Array, gradient: Array, following: Array, following_gradient: Array) -> bool:
        return _arrived(self.objective, self.target, point, gradient, following, following_gradient)


def _onward(objective: Objective, target: Target, weights: Array, gradient: Array) -> Array:
    return objective.penalty_arrays.prox(weights - gradient / target.smoothness, 1 / target.smoothness)


def _arrived(
    objective: Objective, target: Target, weights: Array, gradient: Array, following: Array, following_gradient: Array
) -> bool:
    """Return whether w+ is accepted, the end of a step from w (A4, part 6).

    Besides the small subgradient: the step is not so long that rounding could hide in it, and the penalty is as curved
    up to w+ as the certificate says, which a bridge is only near its minimisers.
    """
    step = weights - following
    reach = REACH * (target.start_distance + target.tolerance / target.strong_convexity)
    curvature = objective.penalty.strong_convexity(float(np.linalg.norm(following)))
    return (
        accepted(target.smoothness * step + following_gradient - gradient, target)
        and float(np.linalg.norm(step)) <= reach
        and curvature >= target.strong_convexity * (1 - 1e-9)
    )


def _proximal_step(objective: Objective, target: Target, weights: Array, gradient: Array) -> tuple[Array, bool]:
    """Return the weights after one step, and whether they are accepted."""
    following = _onward(objective, target, weights, gradient)
    arrived = _arrived(objective, target, weights, gradient, following, objective.gradient(following))
    return following, arrived


def _by_acceleration(objective: Objective, target: Target) -> Array | None:
    """Return accepted weights from accelerated steps on the objective, or None."""
    start = objective.start
    # Rows that spread over many directions leave the average far flatter than the public L of a single row.
    steps = _accelerated(
        objective.penalty_arrays, objective.gradient, start, 1e-3 * target.smoothness, target.smoothness
    )
    for weights, residual in takewhile(lambda _: target.first(objective), steps):
        if residual <= ACCEPTED_SHARE * target.tolerance:
            following, arrived = _proximal_step(objective, target, weights, objective.gradient(weights))
            if arrived:
                return following
    return None


def _by_models(objective: Objective, target: Target) -> Array | None:
    """Return accepted weights from a sequence of quadratic models, or None."""
    weights = objective.start
    for _ in range(MODELS):
        predictions, gradient, hessian = objective.expansion(weights)
        following, arrived = _proximal_step(objective, target, weights, gradient)
        if arrived:
            return following
        if not target.first(objective):
            return None
        proposal = _minimise_model(objective.penalty_arrays, target, weights, gradient, hessian)
        moved = _lower(objective, target, weights, predictions, proposal - weights)
        if moved is None:
            return None
        weights = moved
    return None


def _minimise_model(penalty: PenaltyArrays, target: Target, weights: Array, gradient: Array, hessian: Array) -> Array:
    """Return weights near the minimum of the quadratic model of f at `weights` plus the penalty's kinked part."""
    last = len(hessian) - 1
    largest = float(eigvalsh(hessian, subset_by_index=[last, last])[0])
    # Where the model is flat, long steps do no harm, and dividing by 0 would.
    smoothness = max(largest * (1 + 1e-9), 1e-9 * target.smoothness)
    steps = _accelerated(penalty, lambda point: gradient + hessian @ (point - weights), weights, smoothness, smoothness)
    proposal = weights
    for point, residual in islice(steps, MODEL_STEPS):
        proposal = point
        if residual <= MODEL_SHARE * target.tolerance:
            break
    return proposal


def _lower(objective: Objective, target: Target, weights: Array, predictions: Array, step: Array) -> Array | None:
    """Return the first of w + step, w + step/2, ... that lowers the objective enough, or None when none does."""
    step_predictions = objective.predictions(step)
    value = objective.value(weights, predictions)
    # Near the minimum values no longer resolve the decrease; the test on the subgradient decides there.
    blur = 1e-14 * (1 + abs(value))
    decrease = 1e-4 * target.strong_convexity * float(step @ step)
    size = 1.0
    for _ in range(HALVINGS):
        moved = weights + size * step
        if objective.value(moved, predictions + size * step_predictions) <= value - size * decrease + blur:
            return moved
        size /= 2
    return None


def _accelerated(
    penalty: PenaltyArrays, gradient: Callable[[Array], Array], start: Array, smoothness: float, limit: float
) -> Iterator[tuple[Array, float]]:
    """Yield the points of accelerated proximal steps, each with a bound on a subgradient there, ``L ||step||``.

    Momentum (Beck and Teboulle 2009) is dropped whenever it points uphill (O'Donoghue and Candes 2015). `smoothness` is
    a guess: it grows, up to the limit, when two gradients differ by more than it explains.
    """
    point = ahead = start
    slope = gradient(ahead)
    momentum = 1.0
    while True:
        following = penalty.prox(ahead - slope / smoothness, 1 / smoothness)
        yield following, smoothness * float(np.linalg.norm(ahead - following))
        if float((ahead - following) @ (following - point)) > 0:
            momentum = 1.0
        faster = (1 + math.sqrt(1 + 4 * momentum**2)) / 2
        further = following + (momentum - 1) / faster * (following - point)
        further_slope = gradient(further)
        apart = further - ahead
        bent, squared = float((further_slope - slope) @ apart), float(apart @ apart)
        if bent > smoothness * squared:
            smoothness = min(limit, max(2 * smoothness, bent / squared)) if squared > 0 else limit
            faster = 1.0
        point, ahead, slope, momentum = following, further, further_slope, faster
