"""B5, B6 and their like for corners: secret coins decide how often a row is met, and each number is a sensitivity."""

import math
from abc import abstractmethod
from functools import lru_cache
from itertools import islice

from ...vocabulary.constants import STEEPER
from ...vocabulary.facts import Chance, Conditions, Hypothesis, Setting
from .corner_descent import growth, recursion_hypotheses
from .descent import DescentTheorem, longest_steps, passes_of, steady_steps

# A law leaves out tails of less than this chance, which delta pays for, and has at most so many values.
LEFT_OUT, MOST_VALUES = 1e-40, 256

# The relative rounding of a chance that was computed by logarithms (docs/proofs/B5.md).
ROUNDING = 1e-8


class RandomHits(DescentTheorem):
    """Meetings with a row are as many as successes in independent trials; distances grow with their number."""

    @abstractmethod
    def distance(self, setting: Setting, hits: int) -> float:
        """Return the bound when the row is met so often; it grows with the number."""

    def sensitivity(self, setting: Setting) -> float:
        """Return the bound for a row that every trial meets; weights in a ball are never further apart than it is."""
        return min(self.distance(setting, trials(setting)[0]), 2 * setting.constants.radius)

    def law(self, setting: Setting) -> tuple[Chance, ...]:
        """Return the law of the bound: numbers of meetings that are put together count as the largest of them."""
        lowest, chances = likely(*trials(setting))
        diameter, width = 2 * setting.constants.radius, max(1, math.ceil(len(chances) / MOST_VALUES))
        found = []
        for first in range(0, len(chances), width):
            together = chances[first : first + width]
            probability = min(1.0, math.fsum(together) * (1 + ROUNDING))
            found.append(Chance(probability, min(self.distance(setting, lowest + first + len(together) - 1), diameter)))
        return tuple(found)


def trials(setting: Setting) -> tuple[int, float]:
    """Return how many trials decide on meetings with a row, and the chance of one: draws, or passes not skipped."""
    passes, recipe = passes_of(setting), setting.recipe
    if recipe.order == "replacement":
        return passes.steps * recipe.batch_size, 1 / setting.n_samples
    return passes.count, 1 - recipe.skip


def likely(count: int, chance: float) -> tuple[int, list[float]]:
    """Return the lowest likely number of successes and the chances from there on; those below count as that number.

    Each follows from the one before, ``p_(h+1) = p_h (count - h) / (h + 1) chance / (1 - chance)``, in logarithms,
    whose sum loses far less than differences of log-gammas (docs/proofs/B5.md).

    Examples
    --------
    >>> lowest, chances = likely(2, 0.5)
    >>> lowest, [round(chance, 6) for chance in chances]
    (0, [0.25, 0.5, 0.25])
    """
    if chance == 1:
        return count, [1.0]
    odds = math.log(chance) - math.log1p(-chance)
    logarithm, lost = count * math.log1p(-chance), 0.0
    lowest, chances, below = 0, [math.exp(logarithm)], 0.0
    for hits in range(count):
        # A sum that remembers what rounding took from it.
        term = math.log((count - hits) / (hits + 1)) + odds - lost
        following = logarithm + term
        lost = (following - logarithm) - term
        logarithm = following
        chances.append(math.exp(logarithm))
        if len(chances) == 2 and below + chances[0] <= LEFT_OUT:
            below += chances.pop(0)
            lowest += 1
        # Beyond the mode chances fall by a factor that falls itself: the tail is at most the last over (1 - factor).
        factor = (count - hits - 1) / (hits + 2) * chance / (1 - chance)
        if factor < 1 and chances[-1] * factor / (1 - factor) <= LEFT_OUT:
            break
    chances[0] += below
    return lowest, chances


class SampledDescent(RandomHits):
    """Rows drawn with replacement: ``N ~ Bin(T b, 1/n)`` meetings, each worth ``step Gam / b`` (B5)."""

    id = "B5"
    units = ("row", "person")

    def further(self, setting: Setting) -> Conditions:
        """Yield the order and the limit of the steps."""
        drawn = setting.recipe.order == "replacement" and setting.recipe.skip == 0
        claim = "every step draws its rows afresh, in secret, and none is skipped"
        yield Hypothesis(claim, drawn, 'pass order="replacement" and skip=0.0')
        yield steady_steps(setting)

    def distance(self, setting: Setting, hits: int) -> float:
        """Return ``hits step Gam / b``, or less where steps decay as a ridge has it (B4)."""
        facts, recipe = setting.constants, setting.recipe
        push = hits * facts.gradient_diameter / recipe.batch_size
        shrinking = recipe.length * (facts.smoothness * (1 + STEEPER) + 2 * facts.strong_convexity) <= 2
        if shrinking and 0 < recipe.decay == facts.strong_convexity and recipe.average == "last":
            return push * min(recipe.length, 1 / (facts.strong_convexity * passes_of(setting).steps))
        return push * recipe.length


class SkippedDescent(RandomHits):
    """Steps left out by secret coins: of k passes, ``N ~ Bin(k, 1 - skip)`` meet the row (B6)."""

    id = "B6"
    units = ("row", "person")

    def further(self, setting: Setting) -> Conditions:
        """Yield that steps are skipped, and their limit."""
        claim = "a pass meets every row once, and steps are skipped by secret coins"
        remedy = "pass skip > 0, with rows in order"
        yield Hypothesis(claim, setting.recipe.order != "replacement" and setting.recipe.skip > 0, remedy)
        yield steady_steps(setting)

    def distance(self, setting: Setting, hits: int) -> float:
        """Return the sum of the longest steps of the first passes, which are the longest of all."""
        push = setting.constants.gradient_diameter / setting.recipe.batch_size
        return push * _sum_of_steps(setting, hits)


@lru_cache(maxsize=2 * MOST_VALUES)
def _sum_of_steps(setting: Setting, hits: int) -> float:
    # A check asks twice for some 256 partial sums of the same million steps.
    return math.fsum(islice(_followed(setting), hits))


@lru_cache(maxsize=1)
def _followed(setting: Setting) -> tuple[float, ...]:
    return tuple(longest_steps(setting))


class CornerRandomHits(RandomHits):
    """Random meetings with a loss with corners: the first one first, the others last (C1)."""

    id = "C1.random"
    units = ("row", "person")

    def further(self, setting: Setting) -> Conditions:
        """Yield that coins decide, and what the recursion is proved for."""
        claim, remedy = "either rows are drawn, or steps are skipped", 'pass order="replacement" or skip > 0'
        yield Hypothesis(claim, (setting.recipe.order == "replacement") == (setting.recipe.skip == 0), remedy)
        yield from recursion_hypotheses(setting)

    def distance(self, setting: Setting, hits: int) -> float:
        """Return the closed form of C1 for so many meetings."""
        return growth(setting, setting.recipe.length).closed(passes_of(setting).steps, hits)
