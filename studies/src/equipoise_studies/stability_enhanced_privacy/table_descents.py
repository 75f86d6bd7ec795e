"""Descents and other solvers on neighbouring tables: the library's loops with the noise left out, and real coins.

`table_witnesses` says why the tables are what they are. How far apart two runs end is read off the runs.
"""

import math
from collections.abc import Callable
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from equipoise.data.rows import row_source
from equipoise.planning.rules import settled
from equipoise.solve.descents.stochastic import Run, run_passes
from equipoise.solve.objective import Objective
from equipoise.vocabulary.facts import Problem, Recipe
from equipoise.vocabulary.methods import method_named
from equipoise_studies.stability_enhanced_privacy.table_witnesses import FAR, N_ROWS

Array = NDArray[np.float64]
Masks = NDArray[np.bool_]

# The columns that masks choose from: with so many, public coins keep some row's column in each of its steps.
MASKED_COLUMNS = 8
# How far variance-reduced steps go; at most a quarter of 1 / (beta + alpha).
SVRG_STEP = 0.2


def run_of(problem: Problem, recipe: Recipe, n_samples: int) -> Run:
    """Return the run of the library's loops that a recipe stands for."""
    recipe = settled(problem, recipe)
    return Run(
        batch=recipe.batch_size,
        steps=recipe.steps(n_samples),
        step=recipe.length,
        decay=recipe.decay,
        average=recipe.average,
        radius=problem.domain.radius or math.inf,
        clip=math.inf if recipe.clip is None else recipe.clip,
        ridge=problem.penalty.smoothness(),
        l1=problem.penalty.corner,
        short=problem.domain.row_norm * math.sqrt(1 - recipe.dropout) if recipe.dropout else math.inf,
    )


def descent_distance(problem: Problem, recipe: Recipe) -> float:
    """Return how far a descent moves when one of n equal rows turns round: the largest distance over the row's places.

    With dropout the rows lie along one column, and the row that turns is one whose column no mask hides when it is met:
    masks are public, so a record may be just that one.
    """
    if recipe.dropout:
        masks = public_masks(recipe)
        place, column = np.argwhere(masks.all(0))[0].tolist()
        rows = np.zeros((N_ROWS, MASKED_COLUMNS))
        rows[:, column] = 1.0
        return max(_moved(problem, recipe, rows, [place], masks))
    return max(_moved(problem, recipe, np.ones((N_ROWS, 1)), range(N_ROWS), None))


def public_masks(recipe: Recipe, seed: int = 0) -> Masks:
    """Return which columns every step sees, by pass, step and column; a step meets one row."""
    size = (math.ceil(recipe.passes), N_ROWS, MASKED_COLUMNS)
    return np.random.default_rng(seed).random(size) < 1 - recipe.dropout


def _moved(
    problem: Problem, recipe: Recipe, rows: Array, places: range | list[int], masks: Masks | None
) -> list[float]:
    run = run_of(problem, recipe, len(rows))

    def ended(table: Array) -> Array:
        source = row_source(table, problem.domain, problem.intercept)
        return run_passes(source, np.full(N_ROWS, FAR), problem.loss, run, repeat(np.arange(N_ROWS)), masks)

    here, found = ended(rows), []
    for place in places:
        turned = rows.copy()
        turned[place] *= -1
        found.append(float(np.linalg.norm(here - ended(turned))))
    return found


def momentum_distance(problem: Problem, recipe: Recipe) -> float:
    """Return how far least squares with momentum moves when the only row that is not 0 gets the opposite target."""
    method = method_named(recipe.method)
    momentum = method.numbers[0]
    rows, targets = np.zeros((N_ROWS, 1)), np.zeros(N_ROWS)
    rows[0] = 1.0
    ends = []
    for target in (1.0, -1.0):
        targets[0] = target
        objective = Objective(problem.loss, problem.penalty, row_source(rows, problem.domain, 0.0), targets)
        before = weights = np.zeros(1)
        for _ in range(recipe.steps(N_ROWS)):
            ahead = weights + momentum * (weights - before)
            point = ahead if method.name == "nesterov" else weights
            before, weights = weights, ahead - recipe.length * objective.gradient(point)
        ends.append(weights)
    return float(np.linalg.norm(ends[0] - ends[1]))


# --- solvers with coins -----------------------------------------------------------------------------------------------


def mixed_table() -> tuple[Array, Array]:
    """Return rows of which half pull straight along one column and half have a curved loss in two others.

    The second half keeps stochastic solvers busy: what a drawn row tells changes with the weights.
    """
    coins, half = np.random.default_rng(0), N_ROWS // 2
    rows, targets = np.zeros((N_ROWS, 3)), np.full(N_ROWS, FAR)
    rows[:half, 0] = 1.0
    angles = coins.uniform(0, math.pi, N_ROWS - half)
    rows[half:, 1], rows[half:, 2] = np.cos(angles), np.sin(angles)
    targets[half:] = coins.uniform(-0.5, 0.5, N_ROWS - half)
    return rows, targets


def variance_reduced(objective: Objective, rows: Array, tolerance: float, seed: int = 1) -> Array:
    """Return where SVRG ends: rounds of n steps by drawn rows' gradients, corrected by those at the round's start.

    It stops after the first round whose end has a gradient of at most this norm.
    """
    coins, weights, ridge = np.random.default_rng(seed), np.zeros(objective.size), objective.penalty_arrays
    full = objective.gradient(weights)
    while float(np.linalg.norm(full)) > tolerance:
        anchor = weights
        for drawn in coins.integers(len(rows), size=len(rows)):
            row, target = rows[drawn], objective.targets[drawn : drawn + 1]
            here, there = (
                objective.loss_arrays.slope(np.array([row @ point]), target)[0] for point in (weights, anchor)
            )
            change = (here - there) * row + ridge.gradient(weights) - ridge.gradient(anchor)
            weights = weights - SVRG_STEP * (change + full)
        full = objective.gradient(weights)
    return weights


def by_coordinates(objective: Objective, rows: Array, tolerance: float, seed: int = 1) -> Array:
    """Return where random coordinate descent ends: steps along drawn columns, until the gradient has at most this norm.

    A step goes ``1 / (beta + alpha)`` times the partial derivative; rows of norm 1 have beta at most the loss's own.
    """
    coins, weights = np.random.default_rng(seed), np.zeros(objective.size)
    length = 1 / (objective.loss.curvature_bound() + objective.penalty.smoothness())
    gradient = objective.gradient(weights)
    while float(np.linalg.norm(gradient)) > tolerance:
        column = coins.integers(objective.size)
        weights[column] -= length * gradient[column]
        gradient = objective.gradient(weights)
    return weights


SOLVERS: dict[str, Callable[..., Array]] = {
    "SVRG": variance_reduced,
    "Random coordinate descent": by_coordinates,
}


def solver_distance(problem: Problem, solver: str, tolerance: float) -> float:
    """Return how far apart a solver ends, by the same coins, when a straight row gets the opposite target."""
    rows, targets = mixed_table()
    turned = targets.copy()
    turned[0] *= -1
    source = row_source(rows, problem.domain, problem.intercept)
    ends = [
        SOLVERS[solver](Objective(problem.loss, problem.penalty, source, each), rows, tolerance)
        for each in (targets, turned)
    ]
    return float(np.linalg.norm(ends[0] - ends[1]))
