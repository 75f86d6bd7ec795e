"""A4: from the exact minimiser to the point where a solver stops (docs/proofs/A4.md, docs/proofs/L3.md).

A solver that ends, for every dataset, at a point with a subgradient of norm at most tau is within ``tau / mu`` of the
minimiser, so any bound on minimisers grows by ``2 tau / mu``.
"""

import math
from collections.abc import Iterator
from dataclasses import replace

from ...vocabulary.constants import smallest_tolerance, well_conditioned
from ...vocabulary.facts import Bound, Hypothesis, Setting
from .base import MOST_ROWS, MOST_WEIGHTS, ROUNDING_MARGIN, bearable

SUFFIX = "+A4"


def slack(setting: Setting) -> float:
    """Return ``2 tau / mu``, what the solver's tolerance adds to any bound on exact minimisers."""
    return 2 * setting.recipe.tolerance / setting.constants.strong_convexity


def approximate(bound: Bound, setting: Setting) -> Bound:
    """Return the bound that holds for what the recipe's solver returns; tolerance 0 leaves it as it is.

    Examples
    --------
    >>> from ...vocabulary import losses, penalties
    >>> from ...vocabulary.constants import setting
    >>> from ...vocabulary.facts import Domain, Problem, Recipe
    >>> problem = Problem(losses.named("logistic"), penalties.named("l2", 1.0), Domain(1.0, classes=(0, 1)))
    >>> bound = approximate(Bound("A1", True, 0.5, ()), setting(problem, Recipe(tolerance=1e-3), 100, 2))
    >>> bound.theorem, round(bound.value, 6)
    ('A1+A4', 0.502)
    """
    if setting.recipe.tolerance == 0:
        return bound
    hypotheses = (*bound.hypotheses, *_conditions(setting))
    holds = all(hypothesis.holds for hypothesis in hypotheses)
    value = (bound.value + slack(setting)) * (1 + ROUNDING_MARGIN) if holds and bound.value is not None else None
    return replace(bound, theorem=bound.theorem + SUFFIX, value=value, hypotheses=hypotheses)


def _conditions(setting: Setting) -> Iterator[Hypothesis]:
    facts, problem, tolerance = setting.constants, setting.problem, setting.recipe.tolerance
    least = smallest_tolerance(facts, setting.n_samples, setting.dimension)
    claim = "every run ends at a subgradient of norm at most tau, fixed before data (A4, L3)"
    yield Hypothesis(claim, tolerance > 0, "fix a positive tolerance in the recipe")
    claim = "tau is large enough to be proved in double precision (L3)"
    yield Hypothesis(claim, tolerance >= least * (1 - ROUNDING_MARGIN), "raise the tolerance")
    # What only one kind of solver can meet: corners of the loss, corners of the penalty, a constraint.
    kinks = (math.isinf(facts.smoothness), problem.penalty.kinked, problem.domain.radius is not None)
    remedy = "combine corners with smooth parts: one of a kinked loss, a kinked penalty and a weight radius at a time"
    yield Hypothesis("a solver of this house ends for this loss, penalty and constraint", sum(kinks) <= 1, remedy)
    yield from double_precision(setting)
    yield Hypothesis(
        "the penalty is as curved where a solver may end as where minimisers lie (docs/proofs/bridge.md)",
        problem.penalty.strong_convexity(math.inf) >= facts.strong_convexity
        or 2000 * tolerance <= facts.strong_convexity * facts.radius,
        "raise alpha, or train on more rows",
    )


def double_precision(setting: Setting) -> Iterator[Hypothesis]:
    """Yield the conditions under which a small computed gradient is a near minimum (M4, A4)."""
    claim = "n and the number of weights are of a size that double precision can bear (M4)"
    yield Hypothesis(claim, bearable(setting), f"train on at most {MOST_ROWS:g} rows and {MOST_WEIGHTS:g} weights")
    claim = "the objective is well enough conditioned for double precision (A4)"
    remedy = "raise alpha: it is below the rounding of the data's curvature"
    yield Hypothesis(claim, well_conditioned(setting.constants, setting.n_samples, setting.dimension), remedy)
