"""Kinds of release whose weights come from a minimiser, a descent or sums: their inequalities and curves, in balls."""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from flint import arb

from . import curves, descents
from .balls import INFINITY, Finding, Undecided, at_most, number, smallest
from .descents import Descent
from .facts import Facts, Problem, constants, descent_constants, problem_of, projected, rounding_unit, steps_of, within
from .sampled import Sampled
from .solvers import ends, slack, solved

Record = dict[str, Any]


class Answer(NamedTuple):
    """What a kind has to say: inequalities besides that of the budget, and the curve."""

    findings: tuple[Finding, ...]
    curve: curves.Curve


def noise_curve(noise: Record, sensitivity: arb, scale: float | None = None) -> curves.Curve:
    """Return the curve of recorded noise for a sensitivity."""
    return curves.law_of(
        noise["law"], sensitivity, noise["dimension"], number(noise["scale"] if scale is None else scale)
    )


def minimiser_bound(theorem: str, problem: Problem, facts: Facts, n: int, tolerance: arb) -> arb:
    """Return A1's, A2's or the ball's bound, and what a solver's tolerance adds (A4)."""
    exact = {"A1": 2 * facts.lipschitz / n, "A2": facts.diameter / n, "ball": 2 * facts.radius * facts.curvature}
    if theorem.removesuffix("+A4") not in exact or not theorem.endswith("+A4"):
        raise Undecided(f"the theorem {theorem}")
    return exact[theorem.removesuffix("+A4")] / facts.curvature + slack(problem, facts, tolerance)


def output(claim: Record) -> Answer:
    """Return those of a minimiser with noise on its weights."""
    problem, n, tolerance = problem_of(claim), claim["n_samples"], number(claim["tolerance"])
    facts, sensitivity, rows = constants(problem), number(claim["sensitivity"]), n * problem.rows_a_person

    def found() -> Iterator[Finding]:
        bound = minimiser_bound(claim["theorem"], problem, facts, n, tolerance)
        yield at_most(f"{claim['theorem']} bounds the sensitivity", bound, sensitivity)
        yield from solved(problem, facts, rows, tolerance)
        yield from ends(problem, facts, rows, tolerance, claim.get("passes"))

    return Answer(tuple(found()), noise_curve(claim["noise"], sensitivity))


def in_ball(problem: Problem, radius: float) -> Facts:
    """Return the constants over a public ball, to which weights are projected in doubles (C5)."""
    return constants(problem, projected(number(radius), problem.dimension))


def noisy_gradient(claim: Record) -> Answer:
    """Return those of noise in every mean gradient over all rows (C5), or over secret batches (C3)."""
    problem, n, batch, steps = problem_of(claim), claim["n_samples"], claim.get("batch", 0), claim["steps"]
    facts, clip, rows = in_ball(problem, claim["radius"]), number(claim["clip"]), batch or n
    unit = (1 if problem.loss.outputs == 1 else 2) * rounding_unit(rows * problem.rows_a_person, problem.dimension)
    rounding = unit * (clip * problem.row + facts.smoothness * facts.radius)
    moved = 2 * clip * problem.row / rows + 2 * rounding
    sensitivity, scale = number(claim["sensitivity"]), number(claim["noise"]["scale"])
    finding = at_most(f"{claim['theorem']} bounds a gradient's change", moved, sensitivity)
    if batch:
        order = number(claim.get("order", 0.0))
        return Answer((finding,), Sampled(scale / sensitivity, arb(batch) / n, steps, order))
    return Answer((finding,), curves.Gaussian(arb(steps).sqrt() * sensitivity / scale, steps))


def noisy_sgd(claim: Record) -> Answer:
    """Return those of noise in every step on a secret batch (C3)."""
    problem, recipe, n = problem_of(claim), claim["recipe"], claim["n_samples"]
    clip = INFINITY if recipe.get("clip") is None else number(recipe["clip"])
    ball = in_ball(problem, claim["radius"])
    facts, batch, steps = within(problem, ball.radius, ball.curvature, clip), recipe["batch_size"], steps_of(recipe, n)
    summed = batch * problem.rows_a_person + 32 + problem.loss.outputs
    rounding = 2 * summed * descents.UNIT * facts.lipschitz
    if facts.smoothness.is_finite():
        rounding += 2 * (problem.dimension + 11) * descents.UNIT * facts.smoothness * facts.radius / batch
    sensitivity = number(claim["sensitivity"])
    finding = at_most("C3 bounds a batch's change", facts.diameter / batch + rounding, sensitivity)
    noise = number(claim["noise"]["scale"]) / sensitivity
    return Answer((finding,), Sampled(noise, arb(batch) / n, steps, number(claim.get("order", 0.0))))


def products(claim: Record) -> Answer:
    """Return those of noisy sums of products (SSP)."""
    problem, n, weight = problem_of(claim), claim["n_samples"], number(claim["moment_weight"])
    row, label, count = problem.row, problem.label, sums_of(problem)
    ratio = (weight * label / row) ** 2
    cosine = smallest(arb(1), ratio / 2)
    exact = row**2 * (2 * (1 - cosine**2) + 2 * ratio * (1 + cosine)).sqrt()
    rounding = rounding_unit(n, count) * n * row * (row**2 + (weight * label) ** 2).sqrt()
    sensitivity = number(claim["sensitivity"])
    finding = at_most("SSP bounds the sums' change", exact + 2 * rounding, sensitivity)
    return Answer((finding,), noise_curve(claim["noise"], sensitivity))


def functional(claim: Record) -> Answer:
    """Return those of noisy coefficients (E7)."""
    problem, n = problem_of(claim), claim["n_samples"]
    length = arb(problem.columns).sqrt() * problem.row
    exact = 2 * (2 * problem.label * length + length**2)
    moved = exact * (1 + 2 * rounding_unit(n, sums_of(problem)) * n)
    sensitivity = number(claim["sensitivity"])
    curve = curves.Pure(sensitivity / number(claim["noise"]["scale"]))
    return Answer((at_most("E7 bounds the coefficients' change", moved, sensitivity),), curve)


def sums_of(problem: Problem) -> int:
    """Return how many sums there are."""
    return problem.columns * (problem.columns + 3) // 2


def sgd(claim: Record) -> Answer:
    """Return those of a stochastic descent with noise where it ends."""
    recipe, n, theorem = claim["recipe"], claim["n_samples"], claim["theorem"]
    problem = problem_of(claim, kept=left_by_masks(claim["problem"]["domain"]["row_norm"], recipe.get("dropout", 0.0)))
    where = Descent(problem, recipe, n, descent_constants(problem, recipe, n))
    sensitivity, slack_of_steps = number(claim["sensitivity"]), descents.rounding(where)
    moved = descents.sensitivity(where, theorem) + slack_of_steps
    findings = (
        at_most(f"{theorem} bounds the sensitivity", moved, sensitivity),
        *descents.hypotheses(where, theorem),
    )
    if theorem not in ("B5", "B6", "C1.random") or claim["budget"].get("delta", 0.0) == 0:
        return Answer(findings, noise_curve(claim["noise"], sensitivity))
    # Secret coins decide how far the weights move (M1).
    law, left = descents.law_of_hits(where)
    diameter, least = 2 * where.facts.radius, number(claim["noise"]["scale"]) * arb(10) ** -30
    parts: list[tuple[arb | int, curves.Curve, arb]] = []
    for hits, chance in law:
        apart = smallest(descents.distance(where, theorem, hits), diameter) + slack_of_steps
        parts.append((chance, noise_curve(claim["noise"], apart if apart > least else least), arb(0)))
    return Answer(findings, curves.Sum(parts, left))


def left_by_masks(row_norm: float, dropout: float) -> arb:
    """Return which part of a row's length masks leave: rows are clipped to a double next to ``sqrt(1 - p) B`` (B6).

    Examples
    --------
    >>> float(left_by_masks(2.0, 0.75)), left_by_masks(3.0, 0.464) > (1 - number(0.464)).sqrt()
    (0.5, True)
    """
    return number(row_norm * math.sqrt(1 - dropout)) / number(row_norm)


def phased(claim: Record) -> Answer:
    """Return those of phases on disjoint rows (K1)."""
    problem, recipe = problem_of(claim), claim["recipe"]
    clip = INFINITY if recipe.get("clip") is None else number(recipe["clip"])
    start = projected(number(claim["radius"]), problem.dimension)
    findings: list[Finding] = []
    parts: list[curves.Curve] = []
    for phase in claim["phases"]:
        theorem, rows, sensitivity = phase["theorem"], phase["rows"], number(phase["sensitivity"])
        if problem.loss.curvature().is_finite():
            facts = within(problem, start, problem.penalty.curvature(start), clip)
            pass_once = {"passes": 1, "batch_size": 1, "step": phase["step"], "average": "uniform"}
            where = Descent(problem, pass_once, rows, facts)
            moved = descents.sensitivity(where, theorem) + descents.rounding(where)
            findings += descents.hypotheses(where, theorem)
        else:
            alpha, tolerance = number(phase["alpha"]), number(phase["tolerance"])
            ridge = problem.penalty._replace(name="l2", alpha=alpha, ridge=alpha)
            free = problem._replace(penalty=ridge, constraint=None)
            lipschitz = within(problem, start, alpha, clip).lipschitz
            facts = constants(free, start + lipschitz / alpha)
            moved = minimiser_bound(theorem, free, facts, rows, tolerance)
            findings += solved(free, facts, rows * free.rows_a_person, tolerance)
            findings += ends(free, facts, rows * free.rows_a_person, tolerance, phase.get("passes"))
        findings.append(at_most(f"{theorem} bounds a phase's sensitivity", moved, sensitivity))
        parts.append(noise_curve(claim["noise"], sensitivity, phase["noise_scale"]))
    return Answer(tuple(findings), curves.Largest(parts))


def method(claim: Record) -> Answer:
    """Return those of an algorithm that the caller's code runs."""
    name, _, rest = claim["recipe"]["method"].partition(":")
    further: list[Finding] = []
    numbers = [float(part) for part in rest.split("/")] if rest else []
    sensitivity, tolerance, n = number(claim["sensitivity"]), number(claim["recipe"]["tolerance"]), claim["n_samples"]
    if name in ("heavy-ball", "nesterov"):
        moved, *further = momentum(claim, name, number(numbers[0]))
    elif claim["theorem"] == "bagging.clipped":
        problem = problem_of(claim)
        moved = 2 * projected(problem.constraint or INFINITY, claim["noise"]["dimension"]) / int(numbers[0])
    else:
        share, stretch = share_of(name, [int(count) for count in numbers], n)
        facts = constants(problem_of(claim, stretch))
        term = facts.diameter if name != "ranking" or not numbers else smallest(facts.diameter, facts.lipschitz)
        moved = (smallest(arb(1), share) * term + 2 * tolerance * (1 + arb(10) ** -9)) / facts.curvature
    finding = at_most(f"{claim['theorem']} bounds the sensitivity", moved, sensitivity)
    return Answer((finding, *further), noise_curve(claim["noise"], sensitivity))


def share_of(name: str, counts: list[int], n: int) -> tuple[arb, arb]:
    """Return a record's share of the sum, and how much longer the rows are that the loss sees."""
    if name == "multi-task":
        return arb(1) / (len(counts) * min(counts)), arb(2).sqrt()
    if name == "ranking" and not counts:
        return arb(2) / n, arb(2)
    if name == "ranking":
        total = sum(counts)
        pairs = (total**2 - sum(size**2 for size in counts)) // 2
        return arb(total - min(counts)) / pairs, arb(2)
    if name == "graph-convolution":
        return arb(counts[0] + 1) / n, arb(1)
    if name == "bagging":
        return arb(1) / (counts[0] * (n // counts[0])), arb(1)
    if name == "bootstrap":
        return arb(counts[1]) / (counts[0] * n), arb(1)
    raise Undecided(f"the method {name}")


def momentum(claim: Record, name: str, gamma: arb) -> tuple[arb, Finding, Finding]:
    """Return B9's bound for heavy ball and Nesterov's method, and that steps are short and rounding is little."""
    problem, recipe, n = problem_of(claim), claim["recipe"], int(claim["n_samples"])
    length, ridge, steps = number(recipe["step"]), problem.penalty.ridge, steps_of(recipe, n)
    bend = problem.loss.curvature() * problem.row**2
    if name == "heavy-ball":
        flat, steep = 1 + gamma - length * ridge, length * (bend + ridge) - 1 - gamma
        c, p, reach, limit = (2 * gamma.sqrt()).max(flat).max(steep), gamma, arb(1), 2 + 2 * gamma
    else:
        kept = 1 - length * ridge
        c, p, reach, limit = (kept * (1 + gamma)).max(2 * (kept * gamma).sqrt()), kept * gamma, 1 + 2 * gamma, arb(1)
    # The root is taken of what may be 0: only its part above 0 counts.
    larger = (c + (c**2 - 4 * p).nonnegative_part().sqrt()) / 2
    smaller, response, power, total, before = p / larger, arb(1), arb(1), arb(0), arb(0)
    for _ in range(steps):
        before, total = total, total + response
        power *= smaller
        response = larger * response + power
    push = length * problem.row * problem.loss.slope(arb(0), problem.label)
    radius = arb(101) / 100 * push * before * reach
    slope = problem.row * problem.loss.slope(problem.row * radius, problem.label)
    rounding = descents.UNIT * ((n + 2 * problem.dimension + 32) * length * slope + 40 * radius)
    moved = (length * problem.loss.diameter(problem.row, radius, problem.label) / n + 2 * rounding) * total
    steady = at_most("a step is no longer than curvatures allow (B9)", length * (bend + ridge), limit)
    return moved, steady, at_most("rounding is little next to a step (B9)", rounding, push / 100)
