"""Descents in balls: how far two of them end apart (B1, B3, B4, B5, B6, C1), and what rounding adds."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from flint import arb

from .balls import INFINITY, Finding, Undecided, at_most, certain, largest, number, smallest
from .facts import ROUNDS_TO_ONE, Facts, Problem, batches_of, steps_of

# The unit of rounding with its second-order terms (SGD-rounding), and the steps that sparse sums are deferred for.
UNIT, STRETCH = arb(101) / 100 * arb(2) ** -53, 256

# Chances below this, of all numbers of hits together, are left out of a law; delta pays for them.
LEFT_OUT = arb(10) ** -45


class Descent(NamedTuple):
    """A recipe on n rows, with the constants over the weights that it visits."""

    problem: Problem
    recipe: dict[str, Any]
    n: int
    facts: Facts

    @property
    def length(self) -> arb:
        """The longest step."""
        return number(self.recipe["step"])

    @property
    def decay(self) -> arb:
        """0 for steps of one length."""
        return number(self.recipe.get("decay", 0.0))

    @property
    def batch(self) -> int:
        """How many rows a step sees."""
        return int(self.recipe["batch_size"])

    @property
    def average(self) -> str:
        """Which weights are used."""
        return str(self.recipe.get("average", "last"))

    @property
    def order(self) -> str:
        """In which order rows are met."""
        return str(self.recipe.get("order", "permutation"))

    @property
    def batches(self) -> int:
        """How many batches a pass has."""
        return batches_of(self.recipe, self.n)

    @property
    def steps(self) -> int:
        """How many steps there are."""
        return steps_of(self.recipe, self.n)

    @property
    def passes(self) -> int:
        """How many passes there are, the last one perhaps in part."""
        return -(-self.steps // self.batches)

    @property
    def rest(self) -> int:
        """How many steps the last pass has."""
        return self.steps - (self.passes - 1) * self.batches

    def longest(self) -> Iterator[arb]:
        """Yield the longest step of every pass, its first."""
        for count in range(self.passes):
            decayed = 1 / (self.decay * (count * self.batches + 1)) if self.decay > 0 else INFINITY
            yield smallest(self.length, decayed)


def drift(where: Descent) -> arb:
    """Return how far apart the rounding of steps may drive two runs (SGD-rounding)."""
    facts, rows, weights = where.facts, where.batch * where.problem.rows_a_person, where.problem.dimension
    bend = facts.smoothness if facts.smoothness.is_finite() else arb(0)
    reach = (rows + 17 + arb(weights) / 2 + (weights + 19) * where.length * bend) * facts.radius
    # Slopes of several outputs are sums over all of them.
    summed = rows + 31 + where.problem.loss.outputs
    return 2 * where.steps * UNIT * (reach + summed * where.length * facts.lipschitz)


def rounding(where: Descent) -> arb:
    """Return that, and what the rounding of averages adds."""
    if where.average == "last":
        return drift(where)
    facts, rows = where.facts, where.batch * where.problem.rows_a_person
    deferred = (2 * (rows + 1) * STRETCH + 12) * (facts.radius + STRETCH * where.length * facts.lipschitz)
    plain = 3 * (where.steps + 8) * facts.radius
    return drift(where) + 2 * UNIT * largest(plain, deferred + (arb(where.steps) / STRETCH + 3) * facts.radius)


def hypotheses(where: Descent, theorem: str) -> Iterator[Finding]:
    """Yield the inequalities on steps and on rounding."""
    facts = where.facts
    yield at_most("rounding moves the weights by little (SGD-rounding)", drift(where), facts.radius / 102)
    if theorem in ("B1", "B3", "B5", "B6"):
        # Rows are as long here as clipping may leave them, so that beta is.
        claim = "a step on common rows is no expansion: step <= 2 / (beta + alpha) (B1)"
        yield at_most(claim, where.length * (facts.smoothness + facts.curvature), arb(2))
    if theorem == "B4":
        # Both runs are together in the first step, and later ones are shorter than the second.
        claim = "the second step shrinks differences by 1 - step alpha: step (beta + 2 alpha) <= 2 (B4)"
        second = smallest(where.length, 1 / (2 * where.decay))
        yield at_most(claim, second * (facts.smoothness + 2 * facts.curvature), arb(2))
    if theorem.startswith("C1"):
        claim = "a ridge shrinks by no more than all: step alpha <= 1 (C1)"
        yield at_most(claim, where.length * facts.curvature, ROUNDS_TO_ONE)


def sensitivity(where: Descent, theorem: str) -> arb:
    """Return how far one row moves the end, over the reals."""
    if theorem in BOUNDS:
        return BOUNDS[theorem](where)
    trials, _ = trials_of(where)
    return smallest(distance(where, theorem, trials), 2 * where.facts.radius)


def _hits(steps: int, batches: int) -> int:
    whole, rest = divmod(steps, batches)
    return batches * whole * (whole + 1) // 2 + rest * (whole + 1)


def _b1(where: Descent) -> arb:
    push = where.facts.diameter / where.batch
    if where.decay > 0:
        return push * sum(where.longest(), arb(0))
    half = min(where.steps - 1, where.steps - where.steps // 2)
    first = {"last": where.steps - 1, "uniform": 0, "suffix": half}[where.average]
    hits = arb(_hits(where.steps, where.batches) - _hits(first, where.batches)) / (where.steps - first)
    return push * where.length * hits


def _b3(where: Descent) -> arb:
    facts, length = where.facts, where.length
    flat = length * facts.curvature
    steep = flat + length * facts.smoothness
    # -ln q, which tells a q from 1 that is closer to it than a ball's last bit.
    rate = -(-flat).log1p() if certain(flat + steep, arb(2)) else -(steep - 1).log()
    if not (rate.is_finite() and rate > 0):
        raise Undecided("what a step leaves of a difference (B3)")
    push = length * facts.diameter / where.batch

    def fall(steps: int) -> arb:
        return -(-rate * steps).expm1()

    if where.order == "permutation":
        return push * fall(where.passes * where.batches) / fall(where.batches)
    gap = where.rest if where.average == "last" else 1
    return push * (1 + (-rate * gap).exp() * fall((where.passes - 1) * where.batches) / fall(where.batches))


def _b4(where: Descent) -> arb:
    push = where.facts.diameter / (where.batch * where.facts.curvature)
    if where.average == "last":
        return push * where.passes / where.steps
    if where.average == "suffix":
        return push * (arb(1) / where.batches + arb(2) / where.steps)
    total = 1 + arb(where.batches).log()
    total += sum((count * (arb(count) / (count - 1)).log() for count in range(2, where.passes + 1)), arb(0))
    return push * total / where.steps


class Growth(NamedTuple):
    """How a distance grows in one step (C1): on common rows, and when the row that differs is met."""

    kept: arb
    square: arb
    push: arb
    pull: arb
    batch: int

    def common(self, distance: arb, steps: int) -> arb:
        """Return the distance after so many steps on common rows."""
        if distance.is_zero() or steps == 0:
            return distance
        if (1 - self.kept).is_zero():
            return (distance**2 + steps * self.square).sqrt()
        left = self.kept ** (2 * steps)
        series = (1 - left) / (1 - self.kept**2)
        # Where a ball cannot tell what is kept from 1, each of the series' terms is at most 1.
        return (left * distance**2 + self.square * (series if series.is_finite() else arb(steps))).sqrt()

    def hit(self, distance: arb) -> arb:
        """Return the distance after a batch with the row that differs."""
        if distance.is_zero():
            return self.push.min(self.pull) / self.batch
        shared = self.common(distance, 1)
        apart = shared * (self.batch - 1) / self.batch + (self.kept * distance + self.push) / self.batch
        return apart.min(shared + self.pull / self.batch)

    def closed(self, steps: int, hits: int) -> arb:
        """Return the distance with all meetings but the first put last."""
        if hits == 0:
            return arb(0)
        common = steps - (hits if self.batch == 1 else 1)
        first = self.push.min(self.pull) / self.batch
        return (first**2 + common * self.square).sqrt() + (hits - 1) * self.push / self.batch


def growth(where: Descent, length: arb) -> Growth:
    """Return how distances grow under steps of this length."""
    facts = where.facts
    spread = facts.lipschitz * (1 if where.problem.loss.one_sided else 2)
    off = number(41) / 10 * length * spread * (where.problem.dimension + 3) * UNIT * facts.radius
    square = (spread * length) ** 2 + off
    push = largest(2 * facts.lipschitz * length, square.sqrt())
    # Where the product of step and ridge is rounded to 1, nothing is kept.
    kept = largest(1 - length * facts.curvature, arb(0))
    return Growth(kept, square, push, facts.diameter * length, where.batch)


def _c1(where: Descent) -> arb:
    laws = [growth(where, where.length)] * where.passes
    if where.decay > 0:
        laws = [growth(where, length) for length in where.longest()]
    if where.average == "uniform" and where.facts.curvature.is_zero():
        return _mean_distance(where, laws)
    if where.order == "permutation" and where.average == "last":
        return _fixed_order(where, laws)
    return largest(*(_fresh_orders(where, laws, early) for early in (True, False)))


def _fixed_order(where: Descent, laws: list[Growth]) -> arb:
    before, now = arb(0), laws[0].hit(arb(0))
    for count in range(1, where.passes):
        before, now = now, laws[count].hit(laws[count - 1].common(now, where.batches - 1))
    ends = [now, laws[-1].common(now, where.rest - 1)]
    if where.passes > 1 and where.rest < where.batches:
        earlier = laws[where.passes - 2]
        ends += [earlier.common(before, where.rest), earlier.common(before, where.batches - 1)]
    return largest(*ends)


def _fresh_orders(where: Descent, laws: list[Growth], early: bool) -> arb:
    law, steps = laws[0], where.batches if where.passes > 1 else where.rest
    distance = law.common(law.hit(arb(0)), steps - 1 if early else 0)
    highest = largest(law.hit(arb(0)), distance)
    for count in range(1, where.passes):
        law, steps = laws[count], where.batches if count < where.passes - 1 else where.rest
        at_once, distance = law.hit(distance), law.hit(law.common(distance, steps - 1))
        highest = largest(highest, at_once, distance)
    return distance if where.average == "last" else highest


def _mean_distance(where: Descent, laws: list[Growth]) -> arb:
    total = distance = arb(0)
    for count, law in enumerate(laws):
        steps = where.batches if count < where.passes - 1 else where.rest
        if where.order == "permutation" or count == 0:
            distance = law.hit(distance)
            total += _area(distance, law.square, steps)
            distance = law.common(distance, steps - 1)
        else:
            begin = distance if law.batch == 1 else law.common(distance, 1)
            total += _area(begin, law.square, steps) + steps * law.push / law.batch
            distance = law.hit(law.common(distance, steps - 1))
    return total / where.steps


def _area(distance: arb, square: arb, steps: int) -> arb:
    end = (distance**2 + steps * square).sqrt()
    return 2 * steps * (end**2 + end * distance + distance**2) / (3 * (end + distance))


def _ball(where: Descent) -> arb:
    return 2 * where.facts.radius


BOUNDS: dict[str, Callable[[Descent], arb]] = {"B1": _b1, "B3": _b3, "B4": _b4, "C1": _c1, "ball.descent": _ball}


def trials_of(where: Descent) -> tuple[int, arb]:
    """Return how many trials decide on meetings with a row, and the chance of one (B5, B6)."""
    if where.order == "replacement":
        return where.steps * where.batch, arb(1) / where.n
    return where.passes, 1 - number(where.recipe.get("skip", 0.0))


def distance(where: Descent, theorem: str, hits: int) -> arb:
    """Return the bound when the row is met so often."""
    facts = where.facts
    if theorem == "C1.random":
        return growth(where, where.length).closed(where.steps, hits)
    push = facts.diameter / where.batch
    if theorem == "B6":
        return push * sum((step for count, step in enumerate(where.longest()) if count < hits), arb(0))
    if theorem != "B5":
        raise Undecided(f"the theorem {theorem}")
    shrinks = where.length * (facts.smoothness + 2 * facts.curvature) <= 2
    if shrinks and where.decay > 0 and where.decay <= facts.curvature and where.average == "last":
        return hits * push * smallest(where.length, 1 / (where.decay * where.steps))
    return hits * push * where.length


def law_of_hits(where: Descent) -> tuple[list[tuple[int, arb]], arb]:
    """Return numbers of meetings with their chances, binomial ones, and a bound on the chance of all others."""
    trials, chance = trials_of(where)
    if (1 - chance).is_zero():
        return [(trials, arb(1))], arb(0)
    odds, found, left = chance / (1 - chance), [], arb(0)
    term = (1 - chance) ** trials
    for hits in range(trials + 1):
        found.append((hits, term))
        factor = odds * (trials - hits - 1) / (hits + 2) if hits < trials else arb(0)
        following = term * odds * (trials - hits) / (hits + 1)
        # Beyond the mode chances fall at least geometrically.
        if factor < 1:
            left = following / (1 - factor)
            if left < LEFT_OUT:
                break
        term = following
    return found, left
