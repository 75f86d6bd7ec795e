"""A4: from the exact minimiser to the point where a solver stops (THEOREMS A4, L3; proof in docs/proofs/A4.md).

A solver that ends, for every dataset, at a point with a subgradient of norm at most tau is within ``tau / mu`` of the
minimiser, so any bound on minimisers grows by ``2 tau / mu``. The sum is stated with a relative 1e-9 on top, which
covers the rounding of the bound's own arithmetic and of the row clipping (M4).
"""

import math
from dataclasses import replace

from equipoise.vocabulary.constants import smallest_tolerance, well_conditioned
from equipoise.vocabulary.facts import Bound, Hypothesis, Setting

ROUNDING_MARGIN = 1e-9
MOST_ROWS = 10**15
MOST_WEIGHTS = 4 * 10**6


def slack(setting: Setting) -> float:
    """Return ``2 tau / mu``, what the solver's tolerance adds to any bound on exact minimisers."""
    return 2 * setting.recipe.tolerance / setting.constants.strong_convexity


def approximate(bound: Bound, setting: Setting) -> Bound:
    """Return the bound that holds for what the recipe's solver returns; tolerance 0 leaves it as it is.

    Examples
    --------
    >>> from equipoise.vocabulary import losses, penalties
    >>> from equipoise.vocabulary.constants import setting
    >>> from equipoise.vocabulary.facts import Domain, Problem, Recipe
    >>> problem = Problem(losses.named("logistic"), penalties.named("l2", 1.0), Domain(1.0, classes=(0, 1)))
    >>> bound = approximate(Bound("A1", True, 0.5, ()), setting(problem, Recipe(tolerance=1e-3), 100, 2))
    >>> bound.theorem, round(bound.value, 6)
    ('A1+A4', 0.502)
    """
    tolerance = setting.recipe.tolerance
    if tolerance == 0:
        return bound
    facts, n_samples = setting.constants, setting.n_samples
    dimension = setting.problem.dimension(setting.n_features)
    hypotheses = (
        *bound.hypotheses,
        Hypothesis(
            "every run ends at a subgradient of norm at most tau, fixed before data (A4, L3)",
            tolerance > 0,
            "fix a positive tolerance in the recipe",
        ),
        Hypothesis(
            "tau is large enough to be proved in double precision (L3)",
            tolerance >= smallest_tolerance(facts, n_samples, dimension) * (1 - ROUNDING_MARGIN),
            "raise the tolerance",
        ),
        Hypothesis(
            "a solver of this house ends for this loss, penalty and constraint",
            _kinks(setting) <= 1,
            "combine corners with smooth parts: one of a kinked loss, a kinked penalty and a weight radius at a time",
        ),
        *double_precision(setting),
        Hypothesis(
            "the penalty is as curved where a solver may end as where minimisers lie (docs/proofs/bridge.md)",
            setting.problem.penalty.strong_convexity(math.inf) >= facts.strong_convexity
            or 2000 * tolerance <= facts.strong_convexity * facts.radius,
            "raise alpha, or train on more rows",
        ),
    )
    holds = all(hypothesis.holds for hypothesis in hypotheses)
    value = (bound.value + slack(setting)) * (1 + ROUNDING_MARGIN) if holds and bound.value is not None else None
    return replace(bound, theorem=f"{bound.theorem}+A4", value=value, hypotheses=hypotheses)


def double_precision(setting: Setting) -> tuple[Hypothesis, ...]:
    """Return the conditions under which a small computed gradient is a near minimum (M4, A4)."""
    facts, n_samples = setting.constants, setting.n_samples
    dimension = setting.problem.dimension(setting.n_features)
    return (
        Hypothesis(
            "n and the number of weights are of a size that double precision can bear (M4)",
            n_samples <= MOST_ROWS and dimension <= MOST_WEIGHTS,
            f"train on at most {MOST_ROWS:g} rows and {MOST_WEIGHTS:g} weights",
        ),
        Hypothesis(
            "the objective is well enough conditioned for double precision (A4)",
            well_conditioned(facts, n_samples, dimension),
            "raise alpha: it is below the rounding of the data's curvature",
        ),
    )


def _kinks(setting: Setting) -> int:
    """Count what only one kind of solver can meet: corners of the loss, corners of the penalty, a constraint."""
    problem = setting.problem
    corners = math.isinf(setting.constants.smoothness)
    return int(corners) + int(problem.penalty.kinked) + int(problem.domain.radius is not None)
