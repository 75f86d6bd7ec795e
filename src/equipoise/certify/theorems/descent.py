"""What theorems on descents share: the arithmetic of passes, common hypotheses, and the price of rounding."""

import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import replace

from ...vocabulary.constants import STEEPER
from ...vocabulary.facts import Averaging, Bound, Chance, Conditions, Constants, Hypothesis, Record, Setting
from .base import MOST_ROWS, MOST_WEIGHTS, ROUNDING_MARGIN, Theorem, bearable

# Penalties whose smooth part is a ridge and whose corner, if any, is met by a proximal step (L8).
PENALTIES = ("none", "l2", "elastic-net")

# The unit of rounding with its second-order terms, and how many steps the sum of sparse weights is deferred for.
UNIT, STRETCH = 1.01 * 2.0**-53, 256

DOUBLES = "rows, weights and steps are of a size that double precision can bear (M4)"

# More passes than these would take longer to certify than to run.
MOST_PASSES = 10**6


class Passes(Record):
    """T steps in k passes of m batches each, the last of them with r batches."""

    batches: int
    steps: int
    count: int
    rest: int


def passes_of(setting: Setting) -> Passes:
    """Return the arithmetic of a recipe's passes.

    Examples
    --------
    >>> from ...vocabulary import losses, penalties
    >>> from ...vocabulary.constants import setting
    >>> from ...vocabulary.facts import Domain, Problem, Recipe
    >>> problem = Problem(losses.named("logistic"), penalties.named("l2", 0.1), Domain(1.0, classes=(0, 1)))
    >>> passes_of(setting(problem, Recipe(passes=2.5, batch_size=3, step=0.1), 10, 2))
    Passes(batches=4, steps=10, count=3, rest=2)
    """
    batches, steps = setting.recipe.batches(setting.n_samples), setting.recipe.steps(setting.n_samples)
    count = -(-steps // batches)
    return Passes(batches, steps, count, steps - (count - 1) * batches)


def longest_steps(setting: Setting) -> Iterator[float]:
    """Yield the longest step of every pass, which is its first."""
    passes, recipe = passes_of(setting), setting.recipe
    for count in range(passes.count):
        decayed = 1 / (recipe.decay * (count * passes.batches + 1)) if recipe.decay > 0 else math.inf
        yield min(recipe.length, decayed)


def mean_hits(passes: Passes, average: Averaging) -> float:
    """Return how often the weights that are used have met a row, on average over them, at most (B2).

    ``sum_t a_t ceil(t / m)``, for a row that is first in its passes.

    Examples
    --------
    >>> mean_hits(Passes(50, 200, 4, 50), "uniform"), mean_hits(Passes(50, 200, 4, 50), "suffix")
    (2.5, 3.5)
    """
    half = min(passes.steps - 1, passes.steps - passes.steps // 2)
    first = {"last": passes.steps - 1, "uniform": 0, "suffix": half}[average]
    return (_sum_of_hits(passes.steps, passes.batches) - _sum_of_hits(first, passes.batches)) / (passes.steps - first)


def _sum_of_hits(steps: int, batches: int) -> int:
    whole, rest = divmod(steps, batches)
    return batches * whole * (whole + 1) // 2 + rest * (whole + 1)


class DescentTheorem(Theorem):
    """A bound on how far descents on neighbouring datasets end apart, with the same public coins."""

    about = "descent"

    def hypotheses(self, setting: Setting) -> Conditions:
        """Yield what every theorem on descents needs, then what this one needs."""
        facts, recipe, problem = setting.constants, setting.recipe, setting.problem
        claim = "a row's gradient has a bounded norm wherever the weights can go"
        yield Hypothesis(claim, 0 < facts.lipschitz < math.inf, "declare a weight radius, or clip gradients")
        claim = "the penalty is a ridge, an elastic net or none: corners are met by a proximal step (L8)"
        yield Hypothesis(claim, problem.penalty.id in PENALTIES, "use penalty l2 or elastic-net")
        claim, single = "gradients are clipped for one prediction a row only (B7)", problem.loss.outputs == 1
        yield Hypothesis(claim, recipe.clip is None or single, "leave clip out: no convex function has such gradients")
        claim = "the passes are few enough to be followed one by one"
        yield Hypothesis(claim, passes_of(setting).count <= MOST_PASSES, f"run at most {MOST_PASSES:g} passes")
        small = 2 * passes_of(setting).steps * rounding_of_a_step(setting) <= facts.radius / 102
        remedy = f"declare a radius or a ridge, at most {MOST_ROWS:g} rows, {MOST_WEIGHTS:g} weights, or fewer steps"
        yield Hypothesis(DOUBLES, bearable(setting) and small, remedy)
        yield from self.further(setting)

    @abstractmethod
    def further(self, setting: Setting) -> Conditions:
        """Yield what this theorem needs beyond the common conditions."""


def every_row_once(setting: Setting) -> Hypothesis:
    """Return the condition that a pass meets every row exactly once."""
    remedy = 'pass order="permutation" or order="fresh"'
    return Hypothesis("a pass meets every row once", setting.recipe.order != "replacement", remedy)


def steady_steps(setting: Setting) -> Hypothesis:
    """Return the condition that a step on rows that both datasets have cannot drive the weights apart (B1)."""
    limit = longest_steady(setting.constants)
    remedy = f"pass a step of at most {limit:.6g}" if limit > 0 else "use a smooth loss, or C1, which serves corners"
    claim = "steps are at most 2 / (beta + alpha), so that a step on common rows is no expansion (B1)"
    return Hypothesis(claim, setting.recipe.length <= limit, remedy)


def longest_steady(facts: Constants) -> float:
    """Return ``2 / (beta + alpha)``, 0 where a loss has corners."""
    return 2 / (facts.smoothness * (1 + STEEPER) + facts.strong_convexity) if facts.smoothness < math.inf else 0.0


def no_skips(setting: Setting) -> Hypothesis:
    """Return the condition that every step is made."""
    return Hypothesis("no step is skipped", setting.recipe.skip == 0, "pass skip=0.0")


def rounding_of_a_step(setting: Setting) -> float:
    """Return how far one computed step can be from the exact one (docs/proofs/SGD-rounding.md)."""
    facts, recipe, weights = setting.constants, setting.recipe, setting.dimension
    smoothness = facts.smoothness if math.isfinite(facts.smoothness) else 0.0
    # The larger of what the page asks for with and without a projection.
    kept = setting.batch_rows + 12 + weights / 2 + 5
    reach = (kept + (weights + 19) * recipe.length * smoothness) * facts.radius
    # Slopes of several outputs are sums over all of them.
    sums = setting.batch_rows + 31 + setting.problem.loss.outputs
    return UNIT * (reach + sums * recipe.length * facts.lipschitz)


def rounding_of_averages(setting: Setting) -> float:
    """Return how far a computed average can be from that of the computed weights (docs/proofs/SGD-rounding.md)."""
    facts, recipe, steps = setting.constants, setting.recipe, passes_of(setting).steps
    if recipe.average == "last":
        return 0.0
    reach = facts.radius + STRETCH * recipe.length * facts.lipschitz
    deferred = (2 * (setting.batch_rows + 1) * STRETCH + 12) * reach
    return UNIT * max(3 * (steps + 8) * facts.radius, deferred + (steps / STRETCH + 3) * facts.radius)


def computed(bound: Bound, setting: Setting) -> Bound:
    """Return the bound for weights that a computer finds: both runs may be off by every step's rounding (M4)."""
    if bound.value is None:
        return bound
    slack = 2 * passes_of(setting).steps * rounding_of_a_step(setting) + 2 * rounding_of_averages(setting)

    def enlarged(value: float) -> float:
        return (value + slack) * (1 + ROUNDING_MARGIN)

    law = tuple(Chance(chance.probability, enlarged(chance.value)) for chance in bound.law)
    return replace(bound, value=enlarged(bound.value), law=law)


class ProjectedDescent(DescentTheorem):
    """``||w - w'|| <= 2 R`` for weights that stay in a ball, and so for their averages."""

    id = "ball.descent"
    units = ("row", "person")

    def further(self, setting: Setting) -> Conditions:
        """Yield that the weights stay in a ball."""
        inside = math.isfinite(setting.constants.radius)
        yield Hypothesis("the weights stay in a ball", inside, "declare a weight radius")

    def sensitivity(self, setting: Setting) -> float:
        """Return the diameter."""
        return 2 * setting.constants.radius
