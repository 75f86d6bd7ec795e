"""Objective perturbation in balls: the tilt (E2, E2a, E2d, E2e, E3a, E3b, E3c, N1) and the finish (E4)."""

from typing import Any

from flint import arb

from . import curves
from .balls import INFINITY, Undecided, at_most, largest, number
from .facts import UNIT, Facts, Problem, constants, problem_of, rounding_floor
from .kinds import Answer, noise_curve
from .losses import Loss
from .solvers import conditioned, ends, provable


def objective(claim: dict[str, Any]) -> Answer:
    """Return the inequalities of a tilted minimiser over a ball, and its curve after what the finish costs."""
    problem, n, tolerance = problem_of(claim), claim["n_samples"], number(claim["tolerance"])
    facts, scale = constants(problem, number(claim["radius"])), number(claim["noise"]["scale"])
    rows, price = n * problem.rows_a_person, number(claim["finishing_epsilon"])
    answer = facts.lipschitz + (facts.smoothness + facts.curvature) * facts.radius
    outputs = problem.loss.outputs
    tilted = (1 if outputs == 1 else 2 * outputs + 9) * arb(2) ** -48 * answer
    drawn = arb(problem.dimension).sqrt() * arb(2) ** -40 * scale / n
    least = 20 * (rounding_floor(facts, rows, problem.dimension) + tilted + drawn)
    finish = noise_curve(claim["finish"], 2 * tolerance / facts.curvature)
    findings = [
        provable("rounding lets a solver prove its tolerance (E4)", least, tolerance),
        *conditioned(problem, facts, rows),
        *ends(problem, facts, rows, tolerance, claim.get("passes")),
    ]
    if finish.level is None:
        raise Undecided("a finish that is not pure")
    findings.append(at_most("the finish hides 2 tau / alpha (E4)", finish.level, price))
    tilt = tilt_of(claim, problem, facts, scale)
    return Answer(tuple(findings), curves.Sum([(1, tilt, price)]))


def tilt_of(claim: dict[str, Any], problem: Problem, facts: Facts, scale: arb) -> curves.Curve:
    """Return the curve of the exact tilted minimiser."""
    theorem, law, n = claim["theorem"].removesuffix("+E4"), claim["noise"]["law"], claim["n_samples"]
    share = problem.row**2 / (n * facts.curvature)
    columns = problem.columns
    people = min(columns, problem.rows_a_person)
    price = people * problem.loss.price(share / people)
    if theorem == "E2":
        return curves.Pure(facts.diameter / scale + price)
    if theorem == "E2d":
        # The computed sum of absolute values is wrong by d + 2 units, and clipping rounds four times.
        summed = number(problem.declared["row_sum"]) * (1 + (columns + 8) * UNIT) + problem.intercept
        return curves.Pure(2 * facts.lipschitz / problem.row * summed / scale + price)
    if theorem in ("E2a", "E2e"):
        ranks = people * max(1, problem.loss.outputs - 1)
        return curves.Pure(free_determinant(problem.loss, problem.row / scale, share, ranks))
    corners = problem.loss.vertices(problem.row, facts.radius, problem.label)
    if theorem == "E3b":
        corners = [(1, 2 * problem.row), (1, problem.row)]
    if theorem in ("E3a", "E3b"):
        paid = price if theorem == "E3a" else arb(0)
        parts = [
            (count, curves.law_of(law, length, problem.dimension, scale), paid) for count, length in _felt(corners)
        ]
        if theorem == "E3b":
            parts.append((1, curves.law_of(law, problem.row, problem.dimension, scale), share))
        return curves.Sum(parts)
    if theorem == "E3c":
        return curves.Tail(facts.diameter / scale, price)
    if theorem == "N1":
        lengths = [(count, length / scale) for count, length in _felt(corners)]
        return curves.Mean(lengths, facts.diameter / scale, price, problem.loss.outputs == 1)
    raise Undecided(f"the theorem {theorem}")


def _felt(corners: list[tuple[int, arb]]) -> list[tuple[int, arb]]:
    return [(count, length) for count, length in corners if not length.is_zero()]


def free_determinant(loss: Loss, half: arb, share: arb, ranks: int) -> arb:
    """Return ``max over g in [0, h] of half (h + g) + r ln(1 + share t(g) / r)`` (E2a, E2e), h the longest slope.

    The maximum of a concave function lies between two points where its slope has changed sign. Between them the first
    term is largest at the upper one, and t is below its tangent at the lower one.

    Examples
    --------
    >>> from .losses import Logistic
    >>> float(free_determinant(Logistic(), arb(1), arb(0), 1))
    2.0
    """
    longest = loss.slope(INFINITY, arb(1))
    low, high = arb(0), longest
    for _ in range(60):
        middle = (low + high) / 2
        curved, growing = loss.bend(middle)
        slope = half + share * growing / (1 + share * curved / ranks)
        if slope > 0:
            low = middle
        elif slope < 0:
            high = middle
        else:
            break
    curved, growing = loss.bend(low)
    most = curved + largest(growing, arb(0)) * (high - low)
    return half * (longest + high) + ranks * (share * most / ranks).log1p()
