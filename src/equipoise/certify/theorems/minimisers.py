"""A1, A2, A4 and the ball: minimisers of a strongly convex objective do not move far, and neither do solvers' ends.

A4: a solver that ends, for every dataset, at a point with a subgradient of norm at most tau is within ``tau / mu`` of
the minimiser, so any bound on minimisers grows by ``2 tau / mu`` (docs/proofs/A4.md, docs/proofs/L3.md).
"""

import math
from dataclasses import replace

from ...vocabulary.constants import smallest_tolerance, well_conditioned
from ...vocabulary.facts import Bound, Conditions, Hypothesis, Setting
from .base import MOST_ROWS, MOST_WEIGHTS, ROUNDING_MARGIN, Theorem, bearable

SUFFIX = "+A4"


def strongly_convex(setting: Setting) -> Conditions:
    """Yield what every theorem on regularised minimisers needs (A1)."""
    facts = setting.constants
    yield Hypothesis("the objective is strongly convex", facts.strong_convexity > 0, "add a ridge: alpha > 0")
    remedy = "bound the rows and labels in the domain, or choose a Lipschitz loss"
    yield Hypothesis("the loss is convex and Lipschitz on the domain", 0 < facts.lipschitz < math.inf, remedy)


class StronglyConvex(Theorem):
    """``||w_S - w_S'|| <= 2 rho / (n mu)``: rho is the Lipschitz constant of the loss, mu the strong convexity.

    The penalty is the same for both datasets and cancels; it does not enter rho. Attained by linear losses.
    """

    id = "A1"
    units = ("row", "person")

    def hypotheses(self, setting: Setting) -> Conditions:
        """Yield strong convexity and a Lipschitz loss."""
        yield from strongly_convex(setting)

    def sensitivity(self, setting: Setting) -> float:
        """Return ``2 rho / (n mu)``."""
        facts = setting.constants
        return 2 * facts.lipschitz / (setting.n_samples * facts.strong_convexity)


class BoundedMinimisers(Theorem):
    """A theorem that needs a ball, known before any data, in which every minimiser lies (A2, lemma R)."""

    def hypotheses(self, setting: Setting) -> Conditions:
        """Yield the common conditions and a known bound on every minimiser."""
        yield from strongly_convex(setting)
        claim = "every minimiser has a norm bounded before data is seen"
        yield Hypothesis(claim, math.isfinite(setting.constants.radius), "add a ridge, or a radius to the domain")


class GradientDiameter(BoundedMinimisers):
    """``||w_S - w_S'|| <= Gam / (n mu)``: Gam is the largest distance of two examples' gradients at one minimiser."""

    id = "A2"
    units = ("row", "person")

    def sensitivity(self, setting: Setting) -> float:
        """Return ``Gam / (n mu)``."""
        facts = setting.constants
        return facts.gradient_diameter / (setting.n_samples * facts.strong_convexity)


class WeightBall(BoundedMinimisers):
    """``||w_S - w_S'|| <= 2 R``: smaller than stability gives for a handful of rows or a tight weight radius."""

    id = "ball"
    units = ("row", "person")

    def sensitivity(self, setting: Setting) -> float:
        """Return ``2 R``."""
        return 2 * setting.constants.radius


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
    hypotheses = (*bound.hypotheses, *solved(setting))
    holds = all(hypothesis.holds for hypothesis in hypotheses)
    value = (bound.value + slack(setting)) * (1 + ROUNDING_MARGIN) if holds and bound.value is not None else None
    return replace(bound, theorem=bound.theorem + SUFFIX, value=value, hypotheses=hypotheses)


def solved(setting: Setting) -> Conditions:
    """Yield that a solver of this house ends at the recipe's tolerance, and that double precision shows it (A4)."""
    facts, problem, tolerance = setting.constants, setting.problem, setting.recipe.tolerance
    least = smallest_tolerance(facts, setting.rows, setting.dimension)
    claim = "every run ends at a subgradient of norm at most tau, fixed before data (A4, L3)"
    yield Hypothesis(claim, tolerance > 0, "fix a positive tolerance in the recipe")
    claim = "tau is large enough to be proved in double precision (L3)"
    yield Hypothesis(claim, tolerance >= least * (1 - ROUNDING_MARGIN), "raise the tolerance")
    # What only one kind of solver can meet: corners of the loss, corners of the penalty, a constraint.
    kinks = (math.isinf(facts.smoothness), problem.penalty.kinked, problem.domain.radius is not None)
    remedy = "combine corners with smooth parts: one of a kinked loss, a kinked penalty and a weight radius at a time"
    yield Hypothesis("a solver of this house ends for this loss, penalty and constraint", sum(kinks) <= 1, remedy)
    yield from double_precision(setting)
    near = 2000 * tolerance <= facts.strong_convexity * facts.radius
    curved = near or problem.penalty.strong_convexity(math.inf) >= facts.strong_convexity
    claim = "the penalty is as curved where a solver may end as where minimisers lie (docs/proofs/bridge.md)"
    yield Hypothesis(claim, curved, "raise alpha, or train on more rows")


def double_precision(setting: Setting) -> Conditions:
    """Yield the conditions under which a small computed gradient is a near minimum (M4, A4)."""
    claim = "n and the number of weights are of a size that double precision can bear (M4)"
    yield Hypothesis(claim, bearable(setting), f"train on at most {MOST_ROWS:g} rows and {MOST_WEIGHTS:g} weights")
    claim = "the objective is well enough conditioned for double precision (A4)"
    remedy = "raise alpha: it is below the rounding of the data's curvature"
    yield Hypothesis(claim, well_conditioned(setting.constants, setting.rows, setting.dimension), remedy)
