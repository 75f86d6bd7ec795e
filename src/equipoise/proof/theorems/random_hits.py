"""B5, B6 and their like for corners: secret coins decide how often a row is met, and each number is a sensitivity."""

import math
from abc import abstractmethod
from collections.abc import Iterator
from itertools import islice
from typing import ClassVar

from equipoise.proof.theorems.corner_descent import growth, recursion_hypotheses
from equipoise.proof.theorems.descent import DescentTheorem, longest_steps, passes_of, steady_steps
from equipoise.vocabulary.constants import STEEPER
from equipoise.vocabulary.constants import setting as make_setting
from equipoise.vocabulary.facts import Chance, Domain, Hypothesis, Problem, Recipe, Setting
from equipoise.vocabulary.losses import named as loss_named
from equipoise.vocabulary.penalties import named as penalty_named

# A law leaves out tails of less than this chance, which delta pays for, and has at most so many values.
LEFT_OUT = 1e-40
MOST_VALUES = 256

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
        count, chance = trials(setting)
        lowest, chances = likely(count, chance)
        diameter = 2 * setting.constants.radius
        width = max(1, math.ceil(len(chances) / MOST_VALUES))
        found = []
        for first in range(0, len(chances), width):
            together = chances[first : first + width]
            hits = lowest + first + len(together) - 1
            probability = min(1.0, math.fsum(together) * (1 + ROUNDING))
            found.append(Chance(probability, min(self.distance(setting, hits), diameter)))
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

    id: ClassVar[str] = "B5"
    citation: ClassVar[str] = "Equipoise, docs/proofs/B5.md"
    statement: ClassVar[str] = "N step Gam / b for N meetings, N ~ Bin(T b, 1/n)"
    certifies: ClassVar[bool] = True

    def further(self, setting: Setting) -> Iterator[Hypothesis]:
        """Yield the order and the limit of the steps."""
        yield drawn_with_replacement(setting)
        yield steady_steps(setting)

    def distance(self, setting: Setting, hits: int) -> float:
        """Return ``hits step Gam / b``, or less where steps decay as a ridge has it (B4)."""
        facts, recipe = setting.constants, setting.recipe
        push = hits * facts.gradient_diameter / recipe.batch_size
        shrinking = recipe.length * (facts.smoothness * (1 + STEEPER) + 2 * facts.strong_convexity) <= 2
        if shrinking and 0 < recipe.decay == facts.strong_convexity and recipe.average == "last":
            return push * min(recipe.length, 1 / (facts.strong_convexity * passes_of(setting).steps))
        return push * recipe.length

    @classmethod
    def examples(cls) -> Iterator[Setting]:
        """Yield descents that draw rows."""
        problem = Problem(loss_named("logistic"), penalty_named("l2", 0.1), Domain(1.0, classes=(0, 1)))
        for batch in (1, 4):
            yield make_setting(problem, Recipe(passes=3, batch_size=batch, step=0.1, order="replacement"), 50, 3)


class SkippedDescent(RandomHits):
    """Steps left out by secret coins: of k passes, ``N ~ Bin(k, 1 - skip)`` meet the row (B6)."""

    id: ClassVar[str] = "B6"
    citation: ClassVar[str] = "Equipoise, docs/proofs/B6.md"
    statement: ClassVar[str] = "(Gam / b) times the N longest steps of passes, N ~ Bin(k, 1 - skip)"
    certifies: ClassVar[bool] = True

    def further(self, setting: Setting) -> Iterator[Hypothesis]:
        """Yield that steps are skipped, and their limit."""
        yield some_skipped(setting)
        yield steady_steps(setting)

    def distance(self, setting: Setting, hits: int) -> float:
        """Return the sum of the longest steps of the first passes, which are the longest of all."""
        push = setting.constants.gradient_diameter / setting.recipe.batch_size
        return push * math.fsum(islice(longest_steps(setting), hits))

    @classmethod
    def examples(cls) -> Iterator[Setting]:
        """Yield descents that skip steps."""
        problem = Problem(loss_named("logistic"), penalty_named("l2", 0.1), Domain(1.0, classes=(0, 1)))
        yield make_setting(problem, Recipe(passes=8, batch_size=4, step=0.1, skip=0.5), 50, 3)


class CornerRandomHits(RandomHits):
    """Random meetings with a loss with corners: the first one first, the others last (C1)."""

    id: ClassVar[str] = "C1.random"
    citation: ClassVar[str] = "Equipoise, docs/proofs/C1.md"
    statement: ClassVar[str] = "sqrt(first^2 + (T - N) (a step)^2) + (N - 1) 2 L step for N meetings and b = 1"
    certifies: ClassVar[bool] = True

    def further(self, setting: Setting) -> Iterator[Hypothesis]:
        """Yield that coins decide, and what the recursion is proved for."""
        recipe = setting.recipe
        yield Hypothesis(
            "either rows are drawn, or steps are skipped",
            (recipe.order == "replacement") == (recipe.skip == 0),
            'pass order="replacement" or skip > 0',
        )
        yield from recursion_hypotheses(setting)

    def distance(self, setting: Setting, hits: int) -> float:
        """Return the closed form of C1 for so many meetings; equal weights stay equal."""
        if hits == 0:
            return 0.0
        law, steps = growth(setting, setting.recipe.length), passes_of(setting).steps
        common = steps - (hits if law.batch == 1 else 1)
        first = min(law.push, law.pull) / law.batch
        return math.sqrt(first**2 + common * law.square) + (hits - 1) * law.push / law.batch

    @classmethod
    def examples(cls) -> Iterator[Setting]:
        """Yield descents on a loss with corners that draw rows or skip steps."""
        problem = Problem(loss_named("hinge"), penalty_named("none", 0.0), Domain(1.0, classes=(0, 1)))
        yield make_setting(problem, Recipe(passes=3, step=0.1, order="replacement"), 50, 3)
        yield make_setting(problem, Recipe(passes=8, batch_size=4, step=0.1, skip=0.5), 50, 3)


def drawn_with_replacement(setting: Setting) -> Hypothesis:
    """Return the condition that every step draws its rows."""
    return Hypothesis(
        "every step draws its rows afresh, in secret, and none is skipped",
        setting.recipe.order == "replacement" and setting.recipe.skip == 0,
        'pass order="replacement" and skip=0.0',
    )


def some_skipped(setting: Setting) -> Hypothesis:
    """Return the condition that steps of ordered passes are skipped by secret coins."""
    return Hypothesis(
        "a pass meets every row once, and steps are skipped by secret coins",
        setting.recipe.order != "replacement" and setting.recipe.skip > 0,
        "pass skip > 0, with rows in order",
    )
