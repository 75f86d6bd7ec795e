"""Phased localisation (K1): ever shorter phases on fresh rows, each released with the whole budget."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from equipoise.certify.claims import Noise
from equipoise.certify.claims.descents import Phase as ClaimedPhase
from equipoise.certify.claims.descents import Phased as Claim
from equipoise.errors import InvalidParameter
from equipoise.proof.curves import Curve
from equipoise.proof.mechanisms import calibrations, named, quietest
from equipoise.proof.public_alpha import guessed_norm
from equipoise.proof.reference import of_problem
from equipoise.proof.request import Request
from equipoise.proof.routes.base import REACH, Phase, Plan, Procedure, Route
from equipoise.proof.routes.sgd import asked_recipe, constants_in_ball, stake
from equipoise.proof.theorems import smallest
from equipoise.proof.theorems.descent import longest_steady
from equipoise.vocabulary import penalties
from equipoise.vocabulary.constants import constants, public_tolerance
from equipoise.vocabulary.facts import Bound, Constants, Problem, Recipe, Setting


@dataclass(frozen=True, slots=True)
class ParallelCurve(Curve):
    """The curve of releases on disjoint rows, whichever of them a row belongs to: the largest of their deltas (K1)."""

    parts: tuple[Curve, ...]

    def delta(self, epsilon: float) -> float:
        """Return the largest delta."""
        return max(part.delta(epsilon) for part in self.parts)


class Phased(Route):
    """Phase i meets ``n / 2^i`` fresh rows with steps ``4^-i`` times as long, and starts where the last was released.

    One pass of averaged SGD for a smooth loss, a minimiser around the start for one with corners.
    """

    id: ClassVar[str] = "phased"
    words: ClassVar[str] = "noise after every phase"
    minimises: ClassVar[bool] = False

    def plans(self, request: Request, parameter: float | None) -> Iterator[Plan]:
        """Yield the one plan."""
        asked = asked_recipe(request)
        problem = request.problem(0.0)
        dimension = problem.dimension(request.n_features)
        radius = problem.domain.radius or REACH * of_problem(problem, request.n_features).norm
        facts = constants_in_ball(problem, asked, radius)
        smooth = math.isfinite(facts.smoothness)
        if not smooth and facts.lipschitz < constants(problem, radius).lipschitz:
            found = f"clip={asked.clip:g} with the {problem.loss.id} loss"
            raise InvalidParameter("a clip for smooth losses only: phases of others minimise", found, "pass clip=None")
        quiet = quietest(1.0, dimension, request.budget, "auto")
        law, unit = named(quiet.mechanism), quiet.deviation
        length = _length(asked, problem, facts, unit, request)
        if smooth and length / 4 > longest_steady(facts):
            limit = 4 * longest_steady(facts)
            raise InvalidParameter(
                f"a step of at most {limit:.6g}, a quarter of which the first phase takes (K1, B1)",
                f"step={length:g}",
                f'pass step={limit / 2:.3g} or step="public"',
            )
        phases, bounds, curves = [], [], []
        for number in range(1, request.n_samples.bit_length()):
            rows = request.n_samples >> number
            situation = _situation(problem, asked, facts, rows, length / 4**number, request)
            bound = smallest(situation)
            noise = quietest(bound.sensitivity, dimension, request.budget, law.id)
            alpha = 0.0 if smooth else situation.problem.penalty.alpha
            tolerance = situation.recipe.tolerance
            phases.append(Phase(rows, length / 4**number, bound.sensitivity, noise.scale, alpha, tolerance))
            bounds.append(bound)
            curves.append(law.curve(bound.sensitivity, dimension, noise.scale))
        if not phases:
            raise InvalidParameter("at least two rows", "1 sample", "train on more rows")
        first = phases[0]
        yield Plan(
            route=self.id,
            loss=problem.loss.name,
            alpha=0.0,
            constants=facts,
            tolerance=0.0,
            bounds=tuple(_named_by_phase(bounds)),
            theorem="K1",
            sensitivity=first.sensitivity,
            dimension=dimension,
            candidates=calibrations(first.sensitivity, dimension, request.budget, "auto"),
            mechanism=law.id,
            noise_scale=first.noise_scale,
            noise_deviation=law.deviation(first.noise_scale, dimension),
            curve=ParallelCurve(tuple(curves)),
            rounding=law.rounding(dimension),
            excess_risk=math.inf,
            share=_risk(length, problem, facts, unit, request) / stake(problem),
            procedure=Procedure(reach=radius, phases=tuple(phases)),
            recipe=replace(asked, step=length),
            claim=Claim(
                budget=request.budget,
                n_samples=request.n_samples,
                problem=problem,
                n_features=request.n_features,
                noise=Noise(law.id, first.noise_scale, dimension),
                recipe=replace(asked, step=length),
                radius=radius,
                phases=tuple(
                    ClaimedPhase(
                        phase.rows,
                        phase.step,
                        named_by.theorem,
                        phase.sensitivity,
                        phase.noise_scale,
                        phase.alpha,
                        phase.tolerance,
                    )
                    for phase, named_by in zip(phases, bounds, strict=True)
                ),
            ),
        )


def _situation(
    problem: Problem, asked: Recipe, facts: Constants, rows: int, length: float, request: Request
) -> Setting:
    """Return what a theorem sees of one phase."""
    if math.isfinite(facts.smoothness):
        recipe = Recipe(passes=1, step=length, average="uniform", clip=asked.clip)
        return Setting(problem, recipe, rows, request.n_features, facts)
    alpha = 1 / (length * rows)
    # The ball of the start is no constraint of the phase, whose minimiser can lie outside of it.
    free = Problem(problem.loss, penalties.named("l2", alpha), replace(problem.domain, radius=None), problem.intercept)
    around = constants(free, facts.radius + facts.lipschitz / alpha)
    dimension = problem.dimension(request.n_features)
    recipe = Recipe(public_tolerance(around, rows, dimension, request.budget.epsilon))
    return Setting(free, recipe, rows, request.n_features, around)


def _named_by_phase(bounds: list[Bound]) -> Iterator[Bound]:
    """Yield the bounds under names that say which phase they are of; the first carries the name of the whole."""
    for number, bound in enumerate(bounds, start=1):
        yield replace(bound, theorem="K1" if number == 1 else f"K1 phase {number}")


def _length(recipe: Recipe, problem: Problem, facts: Constants, unit: float, request: Request) -> float:
    """Return the step before the first quartering: as asked, or the one with the smallest bound on risk (K1)."""
    if not isinstance(recipe.step, str):
        return recipe.step
    if recipe.step != "public":
        raise InvalidParameter("a step for phases", f"step={recipe.step!r}", 'pass a number or "public"')
    best = 2 * guessed_norm(problem) / math.sqrt(_wander(problem, facts, unit, request) * request.n_samples)
    longest = longest_steady(facts)
    return min(best, 2 * longest) if longest > 0 else best


def _wander(problem: Problem, facts: Constants, unit: float, request: Request) -> float:
    """Return what a unit of step length costs: the gradients' spread, and the noise as later phases leave it."""
    noise = 4 * problem.dimension(request.n_features) * (unit * facts.gradient_diameter) ** 2 / request.n_samples
    return facts.lipschitz**2 / 2 + noise


def _risk(length: float, problem: Problem, facts: Constants, unit: float, request: Request) -> float:
    """Return the sum over phases of how far the start is and of what steps cost, after Feldman, Koren and Talwar."""
    distance = 4 * guessed_norm(problem) ** 2 / (length * request.n_samples)
    return distance + length * _wander(problem, facts, unit, request)
