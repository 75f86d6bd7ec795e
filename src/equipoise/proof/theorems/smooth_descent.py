"""B1, B3, B4: descents on smooth losses, where a step on common rows drives nothing apart."""

import math
from collections.abc import Iterator
from typing import ClassVar

from equipoise.proof.theorems.descent import (
    DescentTheorem,
    every_row_once,
    longest_steps,
    mean_hits,
    no_skips,
    passes_of,
    steady_steps,
)
from equipoise.vocabulary.constants import STEEPER
from equipoise.vocabulary.constants import setting as make_setting
from equipoise.vocabulary.facts import Domain, Hypothesis, Problem, Recipe, Setting
from equipoise.vocabulary.losses import named as loss_named
from equipoise.vocabulary.penalties import named as penalty_named


class SmoothDescent(DescentTheorem):
    """Every pass meets the row once, and each meeting adds at most ``step Gam / b``; averages have met it less."""

    id: ClassVar[str] = "B1"
    citation: ClassVar[str] = "Hardt, Recht and Singer 2016; docs/proofs/B1.md, docs/proofs/B2.md"
    statement: ClassVar[str] = "(Gam / b) sum over passes of the longest step"
    certifies: ClassVar[bool] = True

    def further(self, setting: Setting) -> Iterator[Hypothesis]:
        """Yield the order and the limit of the steps."""
        yield every_row_once(setting)
        yield steady_steps(setting)

    def sensitivity(self, setting: Setting) -> float:
        """Return the sum; the mean number of meetings counts where weights of steps of one length are averaged."""
        recipe, push = setting.recipe, setting.constants.gradient_diameter / setting.recipe.batch_size
        if recipe.decay == 0:
            return push * recipe.length * mean_hits(passes_of(setting), recipe.average)
        return push * math.fsum(longest_steps(setting))


class CurvedDescent(DescentTheorem):
    """A ridge shrinks old differences: ``q = 1 - step alpha`` every step, so that the sum over passes stays bounded."""

    id: ClassVar[str] = "B3"
    citation: ClassVar[str] = "Hardt, Recht and Singer 2016; docs/proofs/B3.md"
    statement: ClassVar[str] = "(step Gam / b) (1 - q^(k m)) / (1 - q^m), the sharper of two orders' forms"
    certifies: ClassVar[bool] = True

    def further(self, setting: Setting) -> Iterator[Hypothesis]:
        """Yield the order, the limit of the steps, a ridge and one length."""
        yield every_row_once(setting)
        yield steady_steps(setting)
        yield Hypothesis("there is a ridge", setting.constants.strong_convexity > 0, "pass alpha > 0")
        yield Hypothesis(
            "steps have one length and shrink differences",
            setting.recipe.decay == 0 and _shrinkage(setting) > 0,
            "pass a number below the limit as the step",
        )
        yield no_skips(setting)

    def sensitivity(self, setting: Setting) -> float:
        """Return the geometric sum over meetings m steps apart; of fresh orders, two can come closer in one place."""
        recipe, passes = setting.recipe, passes_of(setting)
        push = recipe.length * setting.constants.gradient_diameter / recipe.batch_size
        rate = _shrinkage(setting)

        def fall(steps: int) -> float:
            """Return ``1 - q^steps``."""
            return -math.expm1(-rate * steps)

        if recipe.order == "permutation":
            return push * fall(passes.count * passes.batches) / fall(passes.batches)
        # Averages need the largest distance on the way, where the last two meetings follow each other.
        gap = passes.rest if recipe.average == "last" else 1
        earlier = fall((passes.count - 1) * passes.batches) / fall(passes.batches)
        return push * (1 + math.exp(-rate * gap) * earlier)


class DecayingDescent(DescentTheorem):
    """With steps ``1 / (alpha t)`` every meeting counts ``Gam / (b alpha T)`` in the end, early or late."""

    id: ClassVar[str] = "B4"
    citation: ClassVar[str] = "Equipoise, docs/proofs/B4.md"
    statement: ClassVar[str] = "ceil(T / m) Gam / (b alpha T)"
    certifies: ClassVar[bool] = True

    def further(self, setting: Setting) -> Iterator[Hypothesis]:
        """Yield the order and the schedule."""
        facts, recipe = setting.constants, setting.recipe
        yield every_row_once(setting)
        yield Hypothesis("there is a ridge", facts.strong_convexity > 0, "pass alpha > 0")
        limit = 1 / (facts.smoothness + facts.strong_convexity)
        yield Hypothesis(
            "the t-th step is min(step, 1/(alpha t)) with step <= 1 / (beta + alpha)",
            recipe.decay > 0
            and recipe.decay == facts.strong_convexity
            and recipe.length <= limit * (1 + 1e-12)
            and math.isfinite(facts.smoothness),
            'pass step="decay" with a smooth loss',
        )
        yield no_skips(setting)

    def sensitivity(self, setting: Setting) -> float:
        """Return the bound of the last weights, or the mean of the bounds of all that are averaged."""
        facts, recipe, passes = setting.constants, setting.recipe, passes_of(setting)
        push = facts.gradient_diameter / (recipe.batch_size * facts.strong_convexity)
        if recipe.average == "last":
            return push * passes.count / passes.steps
        if recipe.average == "suffix":
            # ceil(t/m)/t <= 1/m + 1/t, and t > T/2.
            return push * (1 / passes.batches + 2 / passes.steps)
        # The sum over t of ceil(t/m)/t, pass by pass, each bounded by an integral.
        total = 1 + math.log(passes.batches)
        total += math.fsum(count * math.log(count / (count - 1)) for count in range(2, passes.count + 1))
        return push * total / passes.steps

    @classmethod
    def examples(cls) -> Iterator[Setting]:
        """Yield descents with decaying steps."""
        problem = Problem(loss_named("logistic"), penalty_named("l2", 0.1), Domain(1.0, classes=(0, 1)))
        for average in ("last", "uniform", "suffix"):
            yield make_setting(problem, Recipe(passes=3, batch_size=4, step="decay", average=average), 50, 3)


def _shrinkage(setting: Setting) -> float:
    """Return ``-ln q``, q being how much of a difference a common step leaves at most; 0 if all of it."""
    facts, length = setting.constants, setting.recipe.length
    flat = length * facts.strong_convexity
    steep = flat + length * facts.smoothness * (1 + STEEPER)
    if flat + steep <= 2:
        return -math.log1p(-flat) if flat < 1 else math.inf
    # The step overshoots along the steepest direction, and that decides.
    return -math.log(steep - 1) if 1 < steep < 2 else 0.0
