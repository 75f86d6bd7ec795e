"""N10: a solver of this house ends, on any rows, after a number of passes that is known before data.

The first attempts stop after a public number of passes. What follows has a proved number of steps: momentum where
rounding is small enough for it, plain steps elsewhere, and dual steps with averaged weights for losses with corners
(docs/proofs/N10.md).
"""

import math

from ..vocabulary import work
from ..vocabulary.constants import smallest_tolerance
from ..vocabulary.facts import Conditions, Hypothesis, Setting


def accelerates(where: Setting) -> bool:
    """Return whether ``tau >= 50 sqrt(L / mu) e``, e the rounding of a finely summed gradient, and mu is met by it.

    Momentum hides the distance behind the rounding of a gradient; a bridge's curvature is met by its prox (N10).
    """
    met = where.problem.penalty.smoothness() >= where.constants.strong_convexity
    return met and where.recipe.tolerance >= momentum_tolerance(where)


def momentum_tolerance(where: Setting) -> float:
    """Return the least tolerance whose number of steps with momentum is known (N10)."""
    facts = where.constants
    reach = facts.lipschitz + (facts.smoothness + facts.strong_convexity) * facts.radius
    unit = work.fine_unit(where.rows, where.dimension)
    rounding = unit * (reach + facts.strong_convexity * facts.radius) + 2.0**-48 * reach
    smoothness = facts.smoothness + where.problem.penalty.smoothness()
    return 50 * math.sqrt(smoothness / facts.strong_convexity) * rounding


def reaches_corners(where: Setting) -> bool:
    """Return whether ``tau^2 >= 1800 r m`` and tau is 4 times what a duality gap can prove (N10)."""
    most = 3 * where.constants.strong_convexity * where.constants.radius
    return corner_tolerance(where) <= where.recipe.tolerance <= most


def corner_tolerance(where: Setting) -> float:
    """Return the least tolerance whose number of steps is known for a loss with corners (N10)."""
    facts, spread = where.constants, where.problem.loss.spread
    mu, row_norm = facts.strong_convexity, facts.row_norm
    summed = work.fine_unit(where.rows, where.dimension) * row_norm**2 * (1 + 2 * spread)
    single = (where.dimension + 8) * 2.0**-53 * mu * (row_norm * facts.radius + facts.label_bound)
    hidden = math.sqrt(1800 * spread * (summed + single))
    return max(hidden, 4 * smallest_tolerance(facts, where.rows, where.dimension))


def solver_passes(where: Setting) -> float:
    """Return the most passes over the rows that a solver of this house needs on any rows, or infinity.

    Examples
    --------
    >>> from ..vocabulary import losses, penalties
    >>> from ..vocabulary.constants import setting
    >>> from ..vocabulary.facts import Domain, Problem, Recipe
    >>> problem = Problem(losses.named("logistic"), penalties.named("l2", 0.01), Domain(1.0, classes=(0, 1)))
    >>> solver_passes(setting(problem, Recipe(tolerance=1e-6), 1000, 5))
    1726
    """
    facts, tolerance = where.constants, where.recipe.tolerance
    if math.isinf(facts.smoothness):
        steps = work.corner_steps(facts.row_norm, where.problem.loss.spread, tolerance)
        first = max(work.FIRST_PASSES, work.CORNERS_SHARE * steps)
        return work.whole(first + _tested(steps)) if reaches_corners(where) else math.inf
    smoothness = facts.smoothness + where.problem.penalty.smoothness()
    conditions = smoothness, facts.strong_convexity, facts.radius, tolerance
    steps = work.accelerated_steps(*conditions)
    slow = 0.0 if accelerates(where) else work.plain_steps(*conditions)
    return work.whole(max(work.FIRST_PASSES, steps) + _tested(steps) + slow)


def _tested(steps: float) -> float:
    return steps * (1 + 2 / work.TEST_EVERY) + work.SPARE_PASSES


def within(where: Setting, passes: int | None) -> Conditions:
    """Yield that a recorded number of passes is enough; certificates before 0.2.0's last step recorded none."""
    if passes is not None:
        found = solver_passes(where)
        claim = f"a solver ends, on any rows, after {found:.9g} of {passes} passes over them (N10)"
        yield Hypothesis(claim, found <= passes, "raise alpha or the tolerance, or use a smoother loss")
