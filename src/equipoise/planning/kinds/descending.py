"""What planners of descents share: the recipe that was asked for, its ridge, its ball, and the longest step."""

import math
from dataclasses import replace

from equipoise.errors import InvalidParameter
from equipoise.planning.kinds.base import REACH
from equipoise.planning.losses import known as known_loss
from equipoise.planning.public_alpha import public_alpha
from equipoise.planning.reference import of_problem
from equipoise.planning.request import Request
from equipoise.planning.work import FEWER_ROWS, require_passes
from equipoise.vocabulary.facts import Problem, Recipe


def asked_recipe(request: Request) -> Recipe:
    """Return the recipe of a request for a descent; the loops of several classes have no masks and no L1 norm."""
    recipe, problem = request.recipe, request.problem(1.0 if isinstance(request.alpha, str) else request.alpha)
    loss = problem.loss
    if recipe is None or not recipe.descends:
        raise InvalidParameter("a recipe with passes", "none", "use SGDClassifier or SGDRegressor, with passes=10")
    if loss.outputs > 1 and (recipe.dropout > 0 or problem.penalty.corner > 0):
        remedy = "pass dropout=0.0 and l1_ratio=0.0, or declare two classes"
        raise InvalidParameter("masks or an L1 norm for two classes or a number", f"{loss.outputs} classes", remedy)
    remedy = "make fewer passes" + (FEWER_ROWS if request.domain.unit == "person" else "")
    require_passes(recipe.passes, request.rows, request.n_features, loss.outputs, remedy)
    return recipe


def ridge(request: Request) -> float:
    """Return the ridge: as asked, or the one that a minimiser of the same budget would have."""
    if not isinstance(request.alpha, str):
        return request.alpha
    return public_alpha(replace(request, recipe=None, dropout=None, mechanism="output"))


def guessed_ball(problem: Problem, n_features: int) -> float:
    """Return a radius that hardly ever binds: several times the norm of the reference problem's weights."""
    return REACH * of_problem(problem, n_features).norm * math.sqrt(problem.loss.free_outputs)


def longest_considered(problem: Problem) -> float:
    """Return half of the longest steady step; with corners, one that turns a prediction by a unit of evidence."""
    smoothness, ridge_strength = problem.loss.curvature_bound() * problem.row_norm**2, problem.penalty.smoothness()
    if math.isfinite(smoothness):
        return 1 / (smoothness + ridge_strength)
    label_bound = problem.domain.label_bound
    steepest = problem.loss.slope_bound(math.inf, label_bound)
    turning = known_loss(problem.loss).unit(label_bound) / (problem.row_norm**2 * steepest)
    return min(turning, 1 / ridge_strength) if ridge_strength > 0 else turning
