"""C1: descents on losses with corners, where even a step on common rows can drive the weights apart a little."""

import math

from ...vocabulary.facts import Conditions, Hypothesis, Record, Setting
from .descent import UNIT, DescentTheorem, Passes, every_row_once, longest_steps, passes_of


class Growth(Record):
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

    def closed(self, steps: int, hits: int) -> float:
        """Return the distance with all meetings but the first put last; equal weights stay equal."""
        if hits == 0:
            return 0.0
        # Alone in its batch, the row that differs leaves no common row to drive the weights apart.
        common = steps - (hits if self.batch == 1 else 1)
        first = min(self.push, self.pull) / self.batch
        return math.sqrt(first**2 + common * self.square) + (hits - 1) * self.push / self.batch


def growth(setting: Setting, length: float) -> Growth:
    """Return how distances grow under steps of this length."""
    facts = setting.constants
    # Gradients of one row differ by the range of its slopes: half of 2 L where slopes have one sign.
    spread = facts.lipschitz * (1 if setting.problem.loss.one_sided else 2)
    # A computed slope belongs to a prediction that is off by rounding (docs/proofs/SGD-rounding.md).
    square = (spread * length) ** 2 + 4.1 * length * spread * (setting.dimension + 3) * UNIT * facts.radius
    push, pull = max(2 * facts.lipschitz * length, math.sqrt(square)), facts.gradient_diameter * length
    return Growth(1 - length * facts.strong_convexity, square, push, pull, setting.recipe.batch_size)


class CornerDescent(DescentTheorem):
    """``d -> sqrt((1 - step alpha)^2 d^2 + (a step)^2)`` on common rows, and a push when the row is met, step by step.

    Followed from the first meeting on, in the order of meetings that is worst.
    """

    id = "C1"
    units = ("row", "person")

    def further(self, setting: Setting) -> Conditions:
        """Yield the order and what the recursion is proved for."""
        yield every_row_once(setting)
        yield from recursion_hypotheses(setting)
        claim, remedy = "steps are skipped only without a ridge", "pass skip=0.0 or alpha=0.0"
        yield Hypothesis(claim, setting.recipe.skip == 0 or setting.constants.strong_convexity == 0, remedy)

    def sensitivity(self, setting: Setting) -> float:
        """Return the end of the recursion, or for averages its mean or its maximum."""
        passes, recipe = passes_of(setting), setting.recipe
        laws = [growth(setting, recipe.length)] * passes.count
        if recipe.decay > 0:
            laws = [growth(setting, length) for length in longest_steps(setting)]
        if recipe.average == "uniform" and setting.constants.strong_convexity == 0:
            return _mean_distance(passes, laws, recipe.order == "permutation")
        if recipe.order == "permutation" and recipe.average == "last":
            return _fixed_order(passes, laws)
        return max(_fresh_orders(passes, laws, early, recipe.average != "last") for early in (True, False))


def recursion_hypotheses(setting: Setting) -> Conditions:
    """Yield what the recursion is proved for."""
    recipe, ridge = setting.recipe, setting.constants.strong_convexity
    claim = "a ridge shrinks the weights in a step by no more than all of them: step alpha <= 1"
    remedy = f"pass a step of at most {1 / ridge if ridge > 0 else math.inf:.6g}"
    yield Hypothesis(claim, recipe.length * ridge <= 1, remedy)
    single = recipe.decay == 0 or ridge == 0
    yield Hypothesis("steps have one length, or there is no ridge (L8)", single, "pass a number as the step")
    yield Hypothesis("there is one prediction a row", setting.problem.loss.outputs == 1, "declare two classes")


def _fixed_order(passes: Passes, laws: list[Growth]) -> float:
    """Return the distance for one order, at the worst of the places that the row can have in it (C1, item 3).

    Common steps move a distance towards a fixed point, so the worst place is one of the ends: right after the last
    meeting or as long as possible after it, for rows that the last, partial pass meets and for rows that it does not.
    Steps get no longer and have no ridge where their lengths differ, so that the first place is then the worst.
    """
    before, now = 0.0, laws[0].hit(0.0)
    for count in range(1, passes.count):
        between = laws[count - 1].common(now, passes.batches - 1)
        before, now = now, laws[count].hit(between)
    ends = [now, laws[passes.count - 1].common(now, passes.rest - 1)]
    if passes.count > 1 and passes.rest < passes.batches:
        earlier = laws[passes.count - 2]
        ends += [earlier.common(before, passes.rest), earlier.common(before, passes.batches - 1)]
    return max(ends)


def _fresh_orders(passes: Passes, laws: list[Growth], early: bool, on_the_way: bool) -> float:
    """Return the distance for the worst orders: later meetings come last in their passes (C1 ii)."""
    law = laws[0]
    steps = passes.batches if passes.count > 1 else passes.rest
    distance = law.common(law.hit(0.0), steps - 1 if early else 0)
    largest = max(law.hit(0.0), distance)
    for count in range(1, passes.count):
        law, steps = laws[count], passes.batches if count < passes.count - 1 else passes.rest
        at_once, distance = law.hit(distance), law.hit(law.common(distance, steps - 1))
        largest = max(largest, at_once, distance)
    return largest if on_the_way else distance


def _mean_distance(passes: Passes, laws: list[Growth], fixed: bool) -> float:
    """Return a bound on the mean distance along the way, without a ridge (C1): sums of roots below their integrals."""
    total = distance = 0.0
    for count in range(passes.count):
        law, steps = laws[count], passes.batches if count < passes.count - 1 else passes.rest
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
