"""What follows from a problem's public facts, in balls: rows as long as clipping in doubles may leave them (M4).

Where the trusted base takes a bound for rows of norm B and adds a relative 1e-9, this takes the bound for rows of norm
``B (1 + (d/2 + 5) 2^-53)``, which is how long they can be, and adds nothing.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from flint import arb

from .balls import INFINITY, Undecided, certain, largest, number, smallest
from .losses import Logistic, Loss, Penalty, loss_of, penalty_of

# The unit roundoff of doubles.
UNIT = arb(2) ** -53

# A product of two doubles up to here rounds to at most 1, as that of a step and the ridge is rounded (SGD-rounding).
ROUNDS_TO_ONE = 1 + UNIT

# Rows are summed in blocks of so many (A4).
BLOCK = 4096


class Problem(NamedTuple):
    """The record of a problem: `row` is the norm of the longest row as the objective sees it, clipped in doubles."""

    loss: Loss
    penalty: Penalty
    row: arb
    label: arb
    constraint: arb | None
    intercept: arb
    columns: int
    rows_a_person: int
    persons: bool
    declared: dict[str, Any]

    @property
    def bends(self) -> bool:
        """Whether the loss is curved at every prediction: the plain logistic one."""
        return isinstance(self.loss, Logistic) and not self.loss.cap.is_finite()

    @property
    def dimension(self) -> int:
        """How many weights are released."""
        free = self.loss.outputs - 1 if self.loss.outputs > 1 else 1
        return self.columns * free


class Facts(NamedTuple):
    """The constants of docs/proofs/A2.md over a ball of weights."""

    radius: arb
    lipschitz: arb
    smoothness: arb
    curvature: arb
    diameter: arb


def problem_of(claim: dict[str, Any], stretch: arb | None = None, kept: arb | None = None) -> Problem:
    """Return the problem of a claim; rows may be `stretch` as long, or `kept` of the declared part be left."""
    record, domain = claim["problem"], claim["problem"]["domain"]
    features, factor = claim["n_features"], stretch or arb(1)
    # A computed norm is wrong by (d/2 + 2) units, and the quotient and the product round once each (M4).
    clipped = 1 + (arb(features) / 2 + 5) * UNIT
    declared, intercept = number(domain["row_norm"]) * (kept or 1), number(record.get("intercept", 0.0))
    labels = domain.get("labels")
    radius, rows = domain.get("radius"), domain.get("rows_a_person")
    return Problem(
        loss_of(record["loss"]),
        penalty_of(record["penalty"]),
        factor * ((declared * clipped) ** 2 + intercept**2).sqrt(),
        # Targets are clipped to this very double.
        arb(1) if labels is None else number((labels[1] - labels[0]) / 2),
        None if radius is None else number(radius),
        intercept,
        features + (1 if record.get("intercept", 0.0) > 0 else 0),
        rows or 1,
        rows is not None,
        domain,
    )


def within(problem: Problem, radius: arb, curvature: arb, clip: arb = INFINITY) -> Facts:
    """Return the constants over weights of this norm at most, where longer gradients are shortened to `clip`."""
    loss, row, label = problem.loss, problem.row, problem.label
    lipschitz = smallest(clip, row * loss.slope(row * radius if radius.is_finite() else INFINITY, label))
    bend = loss.curvature()
    smoothness = bend * row**2 if bend.is_finite() else INFINITY
    diameter = smallest(loss.diameter(row, radius, label), 2 * lipschitz)
    return Facts(radius, lipschitz, smoothness, curvature, diameter)


def constants(problem: Problem, reach: arb | None = None) -> Facts:
    """Return the constants over the ball of minimisers, or over one that is given."""
    radius = minimiser_radius(problem) if reach is None else reach
    return within(problem, radius, problem.penalty.curvature(radius))


def minimiser_radius(problem: Problem) -> arb:
    """Return a bound on every minimiser's norm: each step of the iteration keeps one (A2, lemma R)."""
    penalty = problem.penalty

    def step(pull: arb) -> arb:
        if penalty.name == "bridge":
            return ((pull / (penalty.alpha * penalty.power)).log() / penalty.power).exp()
        return (pull / penalty.ridge).sqrt() if penalty.ridge > 0 else INFINITY

    radius = _settled(lambda reach: problem.loss.pull(reach, problem.label), step, problem.row)
    if penalty.name == "bridge":
        # A thousandth more, so that what a solver returns is inside (docs/proofs/bridge.md), of no less than 1e-100.
        radius = largest(radius, number(1e-100)) * number(1001) / 1000
    return radius if problem.constraint is None else smallest(radius, problem.constraint)


def _settled(pull: Callable[[arb], arb], step: Callable[[arb], arb], row: arb) -> arb:
    radius = step(pull(INFINITY)).upper()
    if not radius.is_finite():
        return INFINITY
    for _ in range(1000):
        smaller = step(pull(row * radius)).upper()
        if not smaller < radius * (1 - arb(10) ** -11):
            break
        radius = smaller
    return radius


def projected(radius: arb, dimension: int) -> arb:
    """Return the largest norm of weights that were projected to a ball in doubles, as rows are clipped (M4)."""
    return radius * (1 + (arb(dimension) / 2 + 5) * UNIT)


def rounding_unit(rows: int, dimension: int) -> arb:
    """Return ``(block + depth + d + 20) 2^-53`` (A4, N12)."""
    return (BLOCK + depth(rows) + dimension + 20) * UNIT


def depth(rows: int) -> int:
    """Return how many additions of blocks a row's term passes (N12)."""
    return ((rows - 1) // BLOCK).bit_length()


def rounding_floor(facts: Facts, rows: int, dimension: int) -> arb:
    """Return how far a computed gradient can be from the true one (A4)."""
    bend = facts.smoothness if facts.smoothness.is_finite() else arb(0)
    reach = (bend + 2 * facts.curvature) * facts.radius
    return rounding_unit(rows, dimension) * (facts.lipschitz + reach)


def smallest_tolerance(facts: Facts, rows: int, dimension: int) -> arb:
    """Return the smallest tolerance that rounding lets a solver prove (A4, L3)."""
    floor = rounding_floor(facts, rows, dimension)
    if facts.smoothness.is_finite():
        return 20 * floor
    gap = 4 * facts.lipschitz * facts.radius * (dimension + 4) * UNIT
    return 2 * floor + 2 * (facts.curvature * gap).sqrt()


def descent_constants(problem: Problem, recipe: dict[str, Any], rows: int) -> Facts:
    """Return the constants over the weights that a descent from 0 can visit (SGD-rounding)."""
    loss, ridge, length = problem.loss, problem.penalty.ridge, number(recipe["step"])
    clip = INFINITY if recipe.get("clip") is None else number(recipe["clip"])
    bend = loss.curvature()
    # Doubles may miss the limit by a few roundings where the ridge is nearly all of it (SGD-rounding).
    steady = bend.is_finite() and certain(length * (bend * problem.row**2 + 2 * ridge), 2 * (1 + 4 * UNIT))
    steepest = smallest(clip, problem.row * loss.slope(INFINITY, problem.label))
    pull = smallest(clip, problem.row * loss.slope(arb(0), problem.label)) if steady else steepest
    reaches = [pull * length * steps_of(recipe, rows) if certain(length * ridge, arb(2)) else INFINITY]
    if ridge > 0 and certain(length * ridge, ROUNDS_TO_ONE):
        reaches.append(pull / ridge)
        if steepest.is_finite():
            reaches.append(((loss.pull(INFINITY, problem.label) + length * steepest**2) / ridge).sqrt())
    limit = INFINITY if problem.constraint is None else projected(problem.constraint, problem.dimension)
    radius = smallest(*(reach * 101 / 100 for reach in reaches if reach.is_finite()), limit)
    return within(problem, radius, ridge, clip)


def batches_of(recipe: dict[str, Any], rows: int) -> int:
    """Return how many batches a pass has."""
    return -(-rows // int(recipe["batch_size"]))


def steps_of(recipe: dict[str, Any], rows: int) -> int:
    """Return how many steps all passes have; a billionth of a step is rounding (SGD-rounding)."""
    count = (number(recipe["passes"]) * batches_of(recipe, rows) - number(1e-9)).ceil().unique_fmpz()
    if count is None:
        raise Undecided("the number of steps")
    return max(1, int(count))
