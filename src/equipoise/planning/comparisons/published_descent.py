"""Bounds on descents that C1 and B1 are never larger than: a closed form, and what the papers print."""

import math
from collections.abc import Iterator
from typing import ClassVar

from equipoise.certify.theorems.corner_descent import growth, recursion_hypotheses
from equipoise.certify.theorems.descent import (
    DescentTheorem,
    every_row_once,
    longest_steps,
    no_skips,
    passes_of,
    steady_steps,
)
from equipoise.vocabulary.facts import Hypothesis, Setting


class CornerClosedForm(DescentTheorem):
    """``sqrt(first^2 + (T - 1) (a step)^2) + (k - 1) 2 L step / b``: C1 with all later meetings put last.

    ``2 L step (sqrt(T - k + 1) + k - 1)`` for b = 1 and a = 2 L.
    """

    id: ClassVar[str] = "C1.closed"

    def further(self, setting: Setting) -> Iterator[Hypothesis]:
        """Yield the order and what the recursion is proved for, without a ridge's help."""
        yield every_row_once(setting)
        yield from recursion_hypotheses(setting)
        yield no_skips(setting)

    def sensitivity(self, setting: Setting) -> float:
        """Return the closed form with the longest step."""
        passes = passes_of(setting)
        return growth(setting, setting.recipe.length).closed(passes.steps, passes.count)


class BassilyLemma(DescentTheorem):
    """``2 L sqrt(sum of squared steps) + 2 sum of steps a_t``: correct, with a drift twice that of C1."""

    id: ClassVar[str] = "001-Lem3.1"

    def further(self, setting: Setting) -> Iterator[Hypothesis]:
        """Yield the order and what the recursion is proved for."""
        yield every_row_once(setting)
        yield from recursion_hypotheses(setting)

    def sensitivity(self, setting: Setting) -> float:
        """Return the lemma's bound, with the longest step of each pass at its meeting."""
        slope, passes = setting.constants.lipschitz, passes_of(setting)
        steps = list(longest_steps(setting))
        squares = math.fsum(length**2 for length in steps) * passes.batches
        return 2 * slope * math.sqrt(squares) + 4 * slope / setting.recipe.batch_size * math.fsum(steps[1:])


class BassilyTable(DescentTheorem):
    """Table 1 with the factor L that it omits: ``4 L (step sqrt(T) + step T / n)`` for all rows in every step."""

    id: ClassVar[str] = "001-Table1"

    def further(self, setting: Setting) -> Iterator[Hypothesis]:
        """Yield the order, one length, and the batches that the table has rows for."""
        recipe = setting.recipe
        yield every_row_once(setting)
        yield from recursion_hypotheses(setting)
        yield Hypothesis("steps have one length", recipe.decay == 0, "pass a number as the step")
        yield Hypothesis(
            "a step sees one row or all of them",
            recipe.batch_size in (1, setting.n_samples),
            f"pass batch_size=1 or batch_size={setting.n_samples}",
        )

    def sensitivity(self, setting: Setting) -> float:
        """Return the table's bound."""
        passes, slope = passes_of(setting), setting.constants.lipschitz * setting.recipe.length
        root = 2 if setting.recipe.batch_size == 1 else 4
        # Passes that have begun count whole: the table's T / n is a whole number there.
        hits = passes.count if setting.recipe.batch_size == 1 else passes.steps / setting.n_samples
        return slope * (root * math.sqrt(passes.steps) + 4 * hits)


class HylandPasses(DescentTheorem):
    """``2 k step L / b`` with the fraction ``k = T b / n``: a row can be met once more, so it is no bound."""

    id = "004-k"
    certifies = False

    def further(self, setting: Setting) -> Iterator[Hypothesis]:
        """Yield the order and the limit of the steps."""
        yield every_row_once(setting)
        yield steady_steps(setting)

    def sensitivity(self, setting: Setting) -> float:
        """Return the paper's number."""
        passes, recipe = passes_of(setting), setting.recipe
        return 2 * passes.steps / setting.n_samples * recipe.length * setting.constants.lipschitz
