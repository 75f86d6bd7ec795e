"""How near a point is to the minimiser of an objective with corners (docs/proofs/L3.md).

A subgradient test never passes at a corner. Instead every row brings a slope s_i from its conjugate's domain; the
vector ``p = (1/n) sum s_i x_i + grad r(w) + tilt`` is then an e-subgradient, e the mean of the rows' Fenchel gaps, and
strong convexity gives

    ||w - w_S||  <=  (||p|| + sqrt(||p||^2 + 4 mu e)) / (2 mu).
"""

import math

import numpy as np

from equipoise.solve.losses import KinkedArrays
from equipoise.solve.objective import Objective
from equipoise.solve.solvers.base import Array, Target
from equipoise.vocabulary.work import CORNERS_SHARE, FIRST_PASSES, corner_steps

# A computed distance is accepted below this share of tau / mu; rounding may use the rest.
ACCEPTED_SHARE = 0.5


def kinked_arrays(objective: Objective) -> KinkedArrays:
    """Return the arithmetic of the objective's loss, which must have corners."""
    arrays = objective.loss_arrays
    if not isinstance(arrays, KinkedArrays):
        raise TypeError(f"{objective.loss.id} has no corners")
    return arrays


def first(objective: Objective, target: Target) -> bool:
    """Return whether what is tried first may make another pass over the rows."""
    most = max(FIRST_PASSES, CORNERS_SHARE * steps_needed(objective, target))
    return target.within(objective) and objective.passes.made < most


def steps_needed(objective: Objective, target: Target) -> float:
    """Return how many dual steps with averaged weights arrive, where N10 holds."""
    return corner_steps(target.row_norm, kinked_arrays(objective).loss.spread, target.tolerance)


def near(objective: Objective, target: Target, weights: Array, slopes: Array) -> bool:
    """Return whether slopes prove the weights to be within the tolerance of the minimiser, with room for rounding."""
    if float(np.linalg.norm(weights)) > 2 * target.start_distance:
        return False
    predictions = objective.predictions(weights)
    gap = objective.mean(kinked_arrays(objective).fenchel_gap(predictions, objective.targets, slopes))
    residual = float(
        np.linalg.norm(objective.combination(slopes) + objective.penalty_arrays.gradient(weights) + objective.tilt)
    )
    reached = (residual + math.sqrt(residual * residual + 4 * target.strong_convexity * gap)) / 2
    return reached <= ACCEPTED_SHARE * target.tolerance
