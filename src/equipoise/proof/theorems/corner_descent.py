"""C1: descents on losses with corners, where even a step on common rows can drive the weights apart a little."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from equipoise.proof.theorems.descent import (
    UNIT,
    DescentTheorem,
    Passes,
    every_row_once,
    longest_steps,
    no_skips,
    passes_of,
)
from equipoise.vocabulary.constants import setting as make_setting
from equipoise.vocabulary.facts import Domain, Hypothesis, Problem, Recipe, Setting
from equipoise.vocabulary.losses import named as loss_named
from equipoise.vocabulary.penalties import named as penalty_named


@dataclass(frozen=True, slots=True)
class Growth:
    """How a distance grows in one step of one length: on common rows, and when the row that differs is met.

    `shrinkage` is ``1 - step alpha``; `square` is what a common step adds to the squared distance, ``(a step)^2`` and
    the rounding of predictions next to corners; `push` is ``2 L step``, `pull` is ``Gam step``, and `batch` is b.
    """

    shrinkage: float
    square: float
    push: float
    pull: float
    batch: int

    def common(self, distance: float, steps: int) -> float:
        """Return the distance after so many steps on common rows; equal weights stay equal."""
        if distance == 0 or steps == 0:
            return distance
        if self.shrinkage == 1:
            return math.sqrt(distance**2 + steps * self.square)
        kept = self.shrinkage ** (2 * steps)
        return math.sqrt(kept * distance**2 + self.square * (1 - kept) / (1 - self.shrinkage**2))

    def hit(self, distance: float) -> float:
        """Return the distance after a batch with the row that differs (C1: the smaller of two forms)."""
        if distance == 0:
            return min(self.push, self.pull) / self.batch
        shared = self.common(distance, 1)
        apart = shared * (1 - 1 / self.batch) + (self.shrinkage * distance + self.push) / self.batch
        return min(apart, shared + self.pull / self.batch)


def growth(setting: Setting, length: float) -> Growth:
    """Return how distances grow under steps of this length."""
    facts, loss = setting.constants, setting.problem.loss
    # Gradients of one row differ by the range of its slopes: half of 2 L where slopes have one sign.
    spread = facts.lipschitz * (1 if loss.one_sided else 2)
    # A computed slope belongs to a prediction that is off by rounding (docs/proofs/SGD-rounding.md).
    terms = (setting.problem.dimension(setting.n_features) + 3) * UNIT
    square = (spread * length) ** 2 + 4.1 * length * spread * terms * facts.radius
    return Growth(
        shrinkage=1 - length * facts.strong_convexity,
        square=square,
        push=max(2 * facts.lipschitz * length, math.sqrt(square)),
        pull=facts.gradient_diameter * length,
        batch=setting.recipe.batch_size,
    )


class CornerDescent(DescentTheorem):
    """``d -> sqrt((1 - step alpha)^2 d^2 + (a step)^2)`` on common rows, and a push when the row is met, step by step.

    Followed from the first meeting on, in the order of meetings that is worst.
    """

    id: ClassVar[str] = "C1"
    citation: ClassVar[str] = "Bassily, Feldman, Guzman and Talwar [001], sharpened; docs/proofs/C1.md"
    statement: ClassVar[str] = "the recursion d -> sqrt(q^2 d^2 + (a step)^2), and d + 2 L step at a meeting"
    certifies: ClassVar[bool] = True

    def further(self, setting: Setting) -> Iterator[Hypothesis]:
        """Yield the order and what the recursion is proved for."""
        yield every_row_once(setting)
        yield from recursion_hypotheses(setting)
        yield Hypothesis(
            "steps are skipped only without a ridge",
            setting.recipe.skip == 0 or setting.constants.strong_convexity == 0,
            "pass skip=0.0 or alpha=0.0",
        )

    def sensitivity(self, setting: Setting) -> float:
        """Return the end of the recursion, or for averages its mean or its maximum."""
        passes, recipe = passes_of(setting), setting.recipe
        steps = list(longest_steps(setting)) if recipe.decay > 0 else None
        laws = [growth(setting, length) for length in steps] if steps else [growth(setting, recipe.length)]
        if recipe.average == "uniform" and setting.constants.strong_convexity == 0:
            return _mean_distance(passes, laws, recipe.order == "permutation")
        if recipe.order == "permutation" and recipe.average == "last":
            return _fixed_order(passes, laws)
        return max(_fresh_orders(passes, laws, early, recipe.average != "last") for early in (True, False))

    @classmethod
    def examples(cls) -> Iterator[Setting]:
        """Yield descents on losses with corners."""
        yield from super().examples()
        domain = Domain(row_norm=1.0, classes=(0, 1))
        for penalty in (penalty_named("none", 0.0), penalty_named("l2", 0.01)):
            for order in ("permutation", "fresh"):
                problem = Problem(loss_named("hinge"), penalty, domain)
                yield make_setting(problem, Recipe(passes=4, batch_size=3, step=0.1, order=order), 50, 3)


def recursion_hypotheses(setting: Setting) -> Iterator[Hypothesis]:
    """Yield what the recursion is proved for."""
    recipe, ridge = setting.recipe, setting.constants.strong_convexity
    yield Hypothesis(
        "a ridge shrinks the weights in a step by no more than all of them: step alpha <= 1",
        recipe.length * ridge <= 1,
        f"pass a step of at most {1 / ridge if ridge > 0 else math.inf:.6g}",
    )
    yield Hypothesis(
        "steps have one length, or there is no ridge (L8)",
        recipe.decay == 0 or ridge == 0,
        "pass a number as the step",
    )
    yield Hypothesis("there is one prediction a row", setting.problem.loss.outputs == 1, "declare two classes")


def _law(laws: list[Growth], count: int) -> Growth:
    return laws[min(count, len(laws) - 1)]


def _fixed_order(passes: Passes, laws: list[Growth]) -> float:
    """Return the distance for one order, at the worst of the places that the row can have in it (C1, item 3).

    Common steps move a distance towards a fixed point, so the worst place is one of the ends: right after the last
    meeting or as long as possible after it, for rows that the last, partial pass meets and for rows that it does not.
    Steps get no longer and have no ridge where their lengths differ, so that the first place is then the worst.
    """
    before, now = 0.0, _law(laws, 0).hit(0.0)
    for count in range(1, passes.count):
        between = _law(laws, count - 1).common(now, passes.batches - 1)
        before, now = now, _law(laws, count).hit(between)
    law = _law(laws, passes.count - 1)
    ends = [now, law.common(now, passes.rest - 1)]
    if passes.count > 1 and passes.rest < passes.batches:
        earlier = _law(laws, passes.count - 2)
        ends += [earlier.common(before, passes.rest), earlier.common(before, passes.batches - 1)]
    return max(ends)


def _fresh_orders(passes: Passes, laws: list[Growth], early: bool, on_the_way: bool) -> float:
    """Return the distance for the worst orders: later meetings come last in their passes (C1 ii)."""
    law = _law(laws, 0)
    steps = passes.batches if passes.count > 1 else passes.rest
    distance = law.common(law.hit(0.0), steps - 1 if early else 0)
    largest = max(law.hit(0.0), distance)
    for count in range(1, passes.count):
        law, steps = _law(laws, count), passes.batches if count < passes.count - 1 else passes.rest
        largest = max(largest, law.hit(distance))
        distance = law.hit(law.common(distance, steps - 1))
        largest = max(largest, distance)
    return largest if on_the_way else distance


def _mean_distance(passes: Passes, laws: list[Growth], fixed: bool) -> float:
    """Return a bound on the mean distance along the way, without a ridge (B2): sums of roots below their integrals."""
    total = distance = 0.0
    for count in range(passes.count):
        law, steps = _law(laws, count), passes.batches if count < passes.count - 1 else passes.rest
        if fixed or count == 0:
            distance = law.hit(distance)
            total += _area(distance, law.square, steps)
            distance = law.common(distance, steps - 1)
        else:
            # Any step of this pass may be the one that meets the row, among common rows unless it is alone.
            begin = distance if law.batch == 1 else law.common(distance, 1)
            total += _area(begin, law.square, steps) + steps * law.push / law.batch
            distance = law.hit(law.common(distance, steps - 1))
    return total / passes.steps


def _area(distance: float, square: float, steps: int) -> float:
    """Return ``integral_0^steps sqrt(distance^2 + x square) dx``, which is above the sum over 0 .. steps - 1."""
    end = math.sqrt(distance**2 + steps * square)
    # (end^3 - d^3) 2/(3 square) without cancellation: end^2 - d^2 = steps square.
    return 2 / 3 * steps * (end**2 + end * distance + distance**2) / (end + distance)


class CornerClosedForm(DescentTheorem):
    """``sqrt(first^2 + (T - 1) (a step)^2) + (k - 1) 2 L step / b``: C1 with all later meetings put last."""

    id: ClassVar[str] = "C1.closed"
    citation: ClassVar[str] = "Equipoise, docs/proofs/C1.md"
    statement: ClassVar[str] = "2 L step (sqrt(T - k + 1) + k - 1) for b = 1 and a = 2 L"
    certifies: ClassVar[bool] = True

    def further(self, setting: Setting) -> Iterator[Hypothesis]:
        """Yield the order and what the recursion is proved for, without a ridge's help."""
        yield every_row_once(setting)
        yield from recursion_hypotheses(setting)
        yield no_skips(setting)

    def sensitivity(self, setting: Setting) -> float:
        """Return the closed form with the longest step."""
        passes, law = passes_of(setting), growth(setting, setting.recipe.length)
        # Alone in its batch, the row that differs leaves no common row to drive the weights apart.
        common = passes.steps - (passes.count if law.batch == 1 else 1)
        first = min(law.push, law.pull) / law.batch
        return math.sqrt(first**2 + common * law.square) + (passes.count - 1) * law.push / law.batch

    @classmethod
    def examples(cls) -> Iterator[Setting]:
        """Yield descents on losses with corners."""
        yield from CornerDescent.examples()
