"""What theorems on descents share: the arithmetic of passes, common hypotheses, and the price of rounding."""

import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from equipoise.proof.theorems.approximate import MOST_ROWS, MOST_WEIGHTS, ROUNDING_MARGIN
from equipoise.proof.theorems.base import Theorem
from equipoise.vocabulary.constants import STEEPER
from equipoise.vocabulary.constants import setting as make_setting
from equipoise.vocabulary.facts import Adjacency, Bound, Chance, Constants, Domain, Hypothesis, Problem, Recipe, Setting
from equipoise.vocabulary.losses import named as loss_named
from equipoise.vocabulary.penalties import named as penalty_named

# Penalties whose smooth part is a ridge and whose corner, if any, is met by a proximal step (L8).
PENALTIES = ("none", "l2", "elastic-net")

# The unit of rounding with its second-order terms, and how many steps the sum of sparse weights is deferred for.
UNIT = 1.01 * 2.0**-53
STRETCH = 256

# More passes than these would take longer to certify than to run.
MOST_PASSES = 10**6


@dataclass(frozen=True, slots=True)
class Passes:
    """T steps in k passes of m batches each, the last of them with r batches."""

    batches: int
    steps: int
    count: int
    rest: int


def passes_of(setting: Setting) -> Passes:
    """Return the arithmetic of a recipe's passes.

    Examples
    --------
    >>> from equipoise.vocabulary.facts import Recipe
    >>> situation = next(DescentTheorem.examples())
    >>> passes_of(replace(situation, recipe=Recipe(passes=2.5, batch_size=3, step=0.1), n_samples=10))
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


def mean_hits(passes: Passes, average: Literal["last", "uniform", "suffix"]) -> float:
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

    about: ClassVar[Literal["minimiser", "descent"]] = "descent"

    def hypotheses(self, setting: Setting) -> Iterator[Hypothesis]:
        """Yield what every theorem on descents needs, then what this one needs."""
        yield from common_hypotheses(setting)
        yield from self.further(setting)

    @abstractmethod
    def further(self, setting: Setting) -> Iterator[Hypothesis]:
        """Yield what this theorem needs beyond the common conditions."""

    @classmethod
    def examples(cls) -> Iterator[Setting]:
        """Yield descents on smooth losses with a ridge."""
        classification = Domain(row_norm=1.0, classes=(0, 1))
        regression = Domain(row_norm=2.0, labels=(-1.0, 3.0), radius=2.0)
        penalty = penalty_named("l2", 0.1)
        for recipe in (Recipe(passes=3, step=0.1), Recipe(passes=5, batch_size=7, step=0.05)):
            yield make_setting(Problem(loss_named("logistic"), penalty, classification), recipe, 50, 3)
            yield make_setting(Problem(loss_named("squared"), penalty, regression, 0.5), recipe, 50, 3)


def common_hypotheses(setting: Setting) -> Iterator[Hypothesis]:
    """Yield what every theorem on descents needs."""
    facts, recipe, problem = setting.constants, setting.recipe, setting.problem
    yield Hypothesis(
        "neighbouring datasets differ by replacing one row, and n is public",
        setting.adjacency is Adjacency.REPLACE_ONE,
        "declare n and use replace-one adjacency",
    )
    yield Hypothesis(
        "a row's gradient has a bounded norm wherever the weights can go",
        0 < facts.lipschitz < math.inf,
        "declare a weight radius in the domain, or clip gradients",
    )
    yield Hypothesis(
        "the penalty is a ridge, an elastic net or none: corners are met by a proximal step (L8)",
        problem.penalty.id in PENALTIES,
        "use penalty l2 or elastic-net",
    )
    yield Hypothesis(
        "gradients are clipped for one prediction a row only (B7)",
        recipe.clip is None or problem.loss.outputs == 1,
        "leave clip out: clipped gradients of several outputs belong to no convex function",
    )
    yield Hypothesis(
        "the passes are few enough to be followed one by one",
        passes_of(setting).count <= MOST_PASSES,
        f"run at most {MOST_PASSES:g} passes",
    )
    yield Hypothesis(
        "rows, weights and steps are of a size that double precision can bear (M4)",
        setting.n_samples <= MOST_ROWS
        and problem.dimension(setting.n_features) <= MOST_WEIGHTS
        and 2 * passes_of(setting).steps * rounding_of_a_step(setting) <= facts.radius / 102,
        f"declare a weight radius or a ridge, at most {MOST_ROWS:g} rows and {MOST_WEIGHTS:g} weights, or fewer steps",
    )


def every_row_once(setting: Setting) -> Hypothesis:
    """Return the condition that a pass meets every row exactly once."""
    return Hypothesis(
        "a pass meets every row once",
        setting.recipe.order != "replacement",
        'pass order="permutation" or order="fresh"',
    )


def steady_steps(setting: Setting) -> Hypothesis:
    """Return the condition that a step on rows that both datasets have cannot drive the weights apart (B1)."""
    facts, recipe = setting.constants, setting.recipe
    limit = longest_steady(facts)
    remedy = f"pass a step of at most {limit:.6g}" if limit > 0 else "use a smooth loss, or C1, which serves corners"
    claim = "steps are at most 2 / (beta + alpha), so that a step on common rows is no expansion (B1)"
    return Hypothesis(claim, recipe.length <= limit, remedy)


def longest_steady(facts: Constants) -> float:
    """Return ``2 / (beta + alpha)``, 0 where a loss has corners."""
    return 2 / (facts.smoothness * (1 + STEEPER) + facts.strong_convexity) if facts.smoothness < math.inf else 0.0


def no_skips(setting: Setting) -> Hypothesis:
    """Return the condition that every step is made."""
    return Hypothesis("no step is skipped", setting.recipe.skip == 0, "pass skip=0.0")


def rounding_of_a_step(setting: Setting) -> float:
    """Return how far one computed step can be from the exact one (docs/proofs/SGD-rounding.md)."""
    facts, recipe = setting.constants, setting.recipe
    weights, batch, length = setting.problem.dimension(setting.n_features), recipe.batch_size, recipe.length
    smoothness = facts.smoothness if math.isfinite(facts.smoothness) else 0.0
    # The larger of what the page asks for with and without a projection.
    kept = batch + 12 + weights / 2 + 5
    reach = (kept + (weights + 19) * length * smoothness) * facts.radius
    return UNIT * (reach + (batch + 32) * length * facts.lipschitz)


def rounding_of_averages(setting: Setting) -> float:
    """Return how far a computed average can be from that of the computed weights (docs/proofs/SGD-rounding.md)."""
    facts, recipe, steps = setting.constants, setting.recipe, passes_of(setting).steps
    if recipe.average == "last":
        return 0.0
    deferred = (2 * (recipe.batch_size + 1) * STRETCH + 12) * (facts.radius + STRETCH * recipe.length * facts.lipschitz)
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
