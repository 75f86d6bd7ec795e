"""B1, B3, B4: descents on smooth losses, where a step on common rows drives nothing apart."""

import math

from ...vocabulary.constants import STEEPER
from ...vocabulary.facts import Conditions, Hypothesis, Setting
from .descent import DescentTheorem, every_row_once, longest_steps, mean_hits, no_skips, passes_of, steady_steps


class SmoothDescent(DescentTheorem):
    """Every pass meets the row once, and each meeting adds at most ``step Gam / b``; averages have met it less."""

    id = "B1"
    units = ("row", "person")

    def further(self, setting: Setting) -> Conditions:
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

    id = "B3"
    units = ("row", "person")

    def further(self, setting: Setting) -> Conditions:
        """Yield the order, the limit of the steps, a ridge and one length."""
        yield every_row_once(setting)
        yield steady_steps(setting)
        yield Hypothesis("there is a ridge", setting.constants.strong_convexity > 0, "pass alpha > 0")
        claim, remedy = "steps have one length and shrink differences", "pass a number below the limit as the step"
        yield Hypothesis(claim, setting.recipe.decay == 0 and _shrinkage(setting) > 0, remedy)
        yield no_skips(setting)

    def sensitivity(self, setting: Setting) -> float:
        """Return the geometric sum over meetings m steps apart; of fresh orders, two can come closer in one place."""
        recipe, passes, rate = setting.recipe, passes_of(setting), _shrinkage(setting)
        push = recipe.length * setting.constants.gradient_diameter / recipe.batch_size

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

    id = "B4"
    units = ("row", "person")

    def further(self, setting: Setting) -> Conditions:
        """Yield the order and the schedule."""
        facts, recipe = setting.constants, setting.recipe
        yield every_row_once(setting)
        yield Hypothesis("there is a ridge", facts.strong_convexity > 0, "pass alpha > 0")
        limit = (1 + 1e-12) / (facts.smoothness + facts.strong_convexity)
        decays = 0 < recipe.decay == facts.strong_convexity and recipe.length <= limit
        claim = "the t-th step is min(step, 1/(alpha t)) with step <= 1 / (beta + alpha)"
        yield Hypothesis(claim, decays and facts.smoothness < math.inf, 'pass step="decay" with a smooth loss')
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


def _shrinkage(setting: Setting) -> float:
    """Return ``-ln q``, q being how much of a difference a common step leaves at most; 0 if all of it."""
    facts, length = setting.constants, setting.recipe.length
    flat = length * facts.strong_convexity
    steep = flat + length * facts.smoothness * (1 + STEEPER)
    if flat + steep <= 2:
        return -math.log1p(-flat) if flat < 1 else math.inf
    # The step overshoots along the steepest direction, and that decides.
    return -math.log(steep - 1) if 1 < steep < 2 else 0.0
