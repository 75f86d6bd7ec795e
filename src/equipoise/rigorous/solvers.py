"""What a solver's end needs, in balls: a tolerance that rounding lets it prove (A4, L3), and passes enough (N10)."""

from collections.abc import Iterator

from flint import arb

from .balls import INFINITY, Finding, at_most, certain, largest
from .facts import UNIT, Facts, Problem, depth, rounding_unit, smallest_tolerance

Findings = Iterator[Finding]


# The pages ask for 20 floors, and their proofs need a little less: 1.5 floors are to be at most 0.0751 tau (A4), 1.834
# at most 0.0918 tau (E4). With corners the billionth is part of `slack` (L3).
NEARLY = 1 - arb(10) ** -9

# N10 says 8.2, and uses it in 2 / c^2 <= 0.0298 alone: this leaves room for rows that are a little longer.
REACHED = arb(8195) / 1000


def provable(claim: str, least: arb, tolerance: arb) -> Finding:
    """Return that a tolerance is no smaller than rounding lets a solver prove, but for a billionth."""
    # The squares of what is tested vanish below (M4).
    return at_most(claim, largest(NEARLY * least, arb(10) ** -130), tolerance)


def slack(problem: Problem, facts: Facts, tolerance: arb) -> arb:
    """Return ``2 tau / mu``; with corners a billionth more, for the rounding of the test's norm and root (L3)."""
    corners = not problem.loss.curvature().is_finite()
    return 2 * tolerance * (1 + (arb(10) ** -9 if corners else 0)) / facts.curvature


def solved(problem: Problem, facts: Facts, rows: int, tolerance: arb) -> Findings:
    """Yield that double precision shows a small gradient, and that it shows a near minimum (A4, M4)."""
    least = smallest_tolerance(facts, rows, problem.dimension)
    yield provable("rounding lets a solver prove its tolerance (A4, L3)", least, tolerance)
    yield from conditioned(problem, facts, rows)
    if problem.penalty.name == "bridge" and problem.penalty.power < 2:
        claim = "a solver ends in the ball where the penalty's curvature is stated (bridge)"
        yield at_most(claim, 2000 * tolerance, facts.curvature * facts.radius)


def conditioned(problem: Problem, facts: Facts, rows: int) -> Findings:
    """Yield ``100 g (beta + mu) <= mu`` (A4)."""
    if facts.smoothness.is_finite():
        steepest = 100 * rounding_unit(rows, problem.dimension) * (facts.smoothness + facts.curvature)
        yield at_most("the objective is well conditioned (A4)", steepest, facts.curvature)


def ends(problem: Problem, facts: Facts, rows: int, tolerance: arb, passes: int | None) -> Findings:
    """Yield that a recorded number of passes is enough (N10)."""
    if passes is not None:
        yield at_most(
            "a solver ends after so many passes (N10)", passes_of(problem, facts, rows, tolerance), arb(passes)
        )


def passes_of(problem: Problem, facts: Facts, rows: int, tolerance: arb) -> arb:
    """Return the most passes over the rows that a solver needs (N10)."""
    fine = (128 + 12 + depth(rows) + problem.dimension + 20) * UNIT
    mu, radius, row = facts.curvature, facts.radius, problem.row
    if not facts.smoothness.is_finite():
        spread = problem.loss.spread
        summed = fine * row**2 * (1 + 2 * spread)
        single = (problem.dimension + 8) * UNIT * mu * (row * radius + problem.label)
        hidden = (1800 * spread * (summed + single)).sqrt()
        least = largest(hidden, 4 * smallest_tolerance(facts, rows, problem.dimension))
        # The page says tau <= 3 mu R and asks for all of `least`; its proof needs 0.28 tau <= mu R and 0.4 % less of
        # `least`, which leaves room for an R that is rounded up.
        if not (certain(NEARLY * least, tolerance) and certain(28 * tolerance, 100 * mu * radius)):
            return INFINITY
        steps = 1 + (REACHED * spread * row / tolerance).ceil()
        return (largest(arb(1000), steps / 20) + _tested(steps)).ceil()
    smoothness = facts.smoothness + problem.penalty.ridge
    ratio = largest(arb(1), smoothness / mu)
    logarithm = largest(arb(1), (4 * smoothness * radius / tolerance).log())
    # The page says 6, and its proof needs (2 + 1.39) / 0.65; of 50 it needs sqrt(236 / 0.095).
    steps = 3 + (arb(5999) / 1000 * ratio.sqrt() * logarithm).ceil()
    reach = facts.lipschitz + (facts.smoothness + mu) * radius
    rounding = fine * (reach + mu * radius) + arb(2) ** -48 * reach
    fast = problem.penalty.name != "bridge" and certain(NEARLY * 50 * (smoothness / mu).sqrt() * rounding, tolerance)
    slow = arb(0) if fast else (16 * ratio * logarithm).ceil()
    return (largest(arb(1000), steps) + _tested(steps) + slow).ceil()


def _tested(steps: arb) -> arb:
    return steps * 11 / 10 + 200
