"""Dropout in balls: a minimiser over masks, with noise scaled by a released bound on the data's curvature (G3, G4)."""

from collections.abc import Iterator

from flint import arb

from . import curves
from .balls import INFINITY, Finding, at_most, number, smallest
from .budgets import within_budget
from .facts import UNIT, Facts, Problem, problem_of, rounding_unit
from .kinds import Answer, Record, noise_curve
from .solvers import ends, slack, solved


def dropout(claim: Record) -> Answer:
    """Return the inequalities of G3 and G4, and the curve after what the curvature costs."""
    noise, statistic, worst = claim["noise"], claim["statistic"], number(claim["worst"])
    following = [(1, noise_curve(noise, worst), number(statistic["epsilon"]))]
    spent = number(statistic["delta"])
    tested = claim.get("proposal") is not None
    curve = curves.Largest([curves.Sum(following)], spent) if tested else curves.Sum(following, spent)
    return Answer(tuple(_findings(claim, tested)), curve)


def _findings(claim: Record, tested: bool) -> Iterator[Finding]:
    n, count, weights = int(claim["n_samples"]), claim["masks"]["count"], claim["weights"]
    problem, rows, tolerance = masked(claim), n * max(1, count), number(claim["tolerance"])
    facts, most = constants(problem, claim), most_of_a_row(problem, claim)
    error = (rounding_unit(rows, problem.dimension) + 100 * problem.dimension * UNIT) * most
    yield at_most("G3 bounds the curvature's change", most / n + 2 * error, number(claim["curvature_sensitivity"]))
    yield from solved(problem, facts, rows, tolerance)
    yield from ends(problem, facts, rows, tolerance, claim.get("passes"))
    moved = facts.diameter / n + slack(problem, facts, tolerance) * facts.curvature
    steepness = factor(problem, facts, count)

    def distance(curvature: float) -> arb:
        return moved / (facts.curvature + steepness * number(curvature))

    worst, noise = number(claim["worst"]), claim["noise"]
    yield at_most("G3 bounds the weights' change", distance(claim.get("proposal") or 0.0), worst)
    yield _hidden(noise_curve(noise, worst), weights)
    larger = max(claim["statistic"]["delta"], weights.get("delta", 0.0))
    shares = [claim["statistic"], weights]
    if tested and larger <= claim["budget"].get("delta", 0.0):
        # Of a test's and the weights' deltas the larger counts (G4).
        shares = [{"epsilon": share["epsilon"]} for share in shares]
    yield within_budget("both shares add up to the budget", shares, claim["budget"])
    found = claim.get("released")
    if found is None or not found["passed"]:
        return
    own = most / problem.dimension
    limit = smallest(own, problem.intercept**2) if problem.intercept > 0 else own
    yield at_most("rows can be so curved (G3)", number(found["low"]), limit)
    sensitivity = number(found["sensitivity"])
    yield at_most("G3 bounds the released weights' change", distance(found["low"]), sensitivity)
    yield _hidden(noise_curve(noise, sensitivity, found["noise_scale"]), weights)
    least = number(noise["scale"]) / worst * sensitivity
    yield at_most("the noise is as much as the plan's for this distance (G4)", least, number(found["noise_scale"]))


def _hidden(curve: curves.Curve, share: Record) -> Finding:
    epsilon, delta = number(share["epsilon"]), number(share.get("delta", 0.0))
    if delta.is_zero() and curve.level is not None:
        return at_most("the weights' noise is within their share", curve.level, epsilon)
    return at_most("the weights' noise is within their share", curve.delta(epsilon), delta)


def masked(claim: Record) -> Problem:
    """Return the problem of rows as long as masks leave them: what is kept is divided by its chance, and rounded."""
    keep = number(claim["masks"]["keep"])
    return problem_of(claim) if claim["masks"]["count"] == 0 else problem_of(claim, kept=(1 + 2 * UNIT) / keep)


def most_of_a_row(problem: Problem, claim: Record) -> arb:
    """Return the largest eigenvalue that one row can give the matrix of squares."""
    keep = number(claim["masks"]["keep"])
    length = problem_of(claim).row ** 2 - problem.intercept**2
    return length / (keep if claim["masks"]["count"] == 0 else keep**2) + problem.intercept**2


def constants(problem: Problem, claim: Record) -> Facts:
    """Return the constants of the dropout objective over the ball of the constraint (G3)."""
    keep, radius, row = number(claim["masks"]["keep"]), problem.constraint or INFINITY, problem.row
    added = arb(0)
    if claim["masks"]["count"] == 0:
        added = 2 * (1 - keep) / keep * (row**2 - problem.intercept**2)
    lipschitz = row * problem.loss.slope(row * radius, problem.label) + added * radius
    diameter = smallest(problem.loss.diameter(row, radius, problem.label) + added * radius, 2 * lipschitz)
    smoothness = problem.loss.curvature() * most_of_a_row(problem, claim)
    return Facts(radius, lipschitz, smoothness, problem.penalty.ridge, diameter)


def factor(problem: Problem, facts: Facts, count: int) -> arb:
    """Return the least curvature of the loss at predictions that the ball allows (G2)."""
    if count == 0:
        return problem.loss.curvature()
    reach = problem.row * facts.radius
    # Slopes p of the logistic loss have curvature p (1 - p); other losses are straight somewhere.
    return problem.loss.slope(reach, problem.label) * problem.loss.floor(reach) if problem.bends else arb(0)
