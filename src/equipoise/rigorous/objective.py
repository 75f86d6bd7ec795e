"""Objective perturbation in balls: the tilt (E2, E2a, E2d, E3a, E3b, E3c, N1) and the finish (E4)."""

from typing import Any

from flint import arb

from . import curves
from .balls import Undecided, at_most, largest, number
from .facts import UNIT, Facts, Problem, constants, problem_of, rounding_floor
from .kinds import Answer, noise_curve
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
    ranks = min(columns, problem.rows_a_person)
    price = ranks * problem.loss.price(share / ranks)
    if theorem == "E2":
        return curves.Pure(facts.diameter / scale + price)
    if theorem == "E2d":
        # The computed sum of absolute values is wrong by d + 2 units, and clipping rounds four times.
        summed = number(problem.declared["row_sum"]) * (1 + (columns + 8) * UNIT) + problem.intercept
        return curves.Pure(2 * facts.lipschitz / problem.row * summed / scale + price)
    if theorem == "E2a":
        return curves.Pure(free_determinant(problem.row / scale, share, problem.persons))
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


def free_determinant(half: arb, share: arb, persons: bool) -> arb:
    """Return ``max over p in [0, 1] of half (1 + p) + ln(1 + share p (1 - p))`` (E2a); for persons ``share p (1 - p)``.

    The maximum of a concave function lies between two points where its slope has changed sign, and each term is at
    most its own maximum between them.

    Examples
    --------
    >>> float(free_determinant(arb(1), arb(0), False))
    2.0
    """
    low, high = arb(0), arb(1)
    for _ in range(60):
        middle = (low + high) / 2
        curved = arb(0) if persons else share * middle * (1 - middle)
        slope = half + share * (1 - 2 * middle) / (1 + curved)
        if slope > 0:
            low = middle
        elif slope < 0:
            high = middle
        else:
            break
    bend = share * largest(low * (1 - low), high * (1 - high), arb(1) / 4 if low < 0.5 < high else arb(0))
    return half * (1 + high) + (bend if persons else bend.log1p())
