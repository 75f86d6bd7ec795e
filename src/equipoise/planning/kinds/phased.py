"""Phased localisation (K1): ever shorter phases on fresh rows, each released with the whole budget."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import ClassVar

from equipoise.certify.claims import Noise, Trained
from equipoise.certify.claims.descents import Phase, Phased
from equipoise.certify.theorems.descent import longest_steady
from equipoise.errors import InvalidParameter
from equipoise.planning.corners import refuse_drowned_descent
from equipoise.planning.kinds.base import Plan, Planner
from equipoise.planning.kinds.descending import asked_recipe, guessed_ball
from equipoise.planning.laws import calibrations, quietest
from equipoise.planning.modelled_descents import (
    cheapest_length,
    lengths_below,
    public_lengths,
    pull_of_a_batch,
    reference_of,
)
from equipoise.planning.reference import averaged_descent
from equipoise.planning.request import Request
from equipoise.planning.rules import EASED_SHARE, public_tolerance
from equipoise.planning.stability import smallest
from equipoise.planning.words import Section, number
from equipoise.planning.work import eased, limit, passes_within, work_in
from equipoise.vocabulary.constants import constants
from equipoise.vocabulary.facts import Bound, Constants, Problem, Recipe

# The shortest step that a phase with corners is tried with.
SHORTEST = 1e-12


class PhasedPlanner(Planner[Phased]):
    """Phase i meets ``n / 2^i`` fresh rows with steps ``4^-i`` times as long, and starts where the last was released.

    One pass of averaged SGD for a smooth loss, a minimiser around the start for one with corners.
    """

    claim: ClassVar[type[Trained]] = Phased
    words: ClassVar[str] = "noise after every phase"
    place: ClassVar[str] = "weight of the first phase"
    changes: ClassVar[str] = "a phase moves by at most (L2)"
    minimises: ClassVar[bool] = False

    def plans(self, request: Request, parameter: float | None) -> Iterator[Plan]:
        """Yield the one plan."""
        asked = asked_recipe(request)
        problem = request.problem(0.0)
        dimension = problem.dimension(request.n_features)
        radius = problem.domain.radius or guessed_ball(problem, request.n_features)
        quiet = quietest(1.0, dimension, request.budget, "auto")
        open_claim = Phased(
            budget=request.budget,
            n_samples=request.n_samples,
            problem=problem,
            n_features=request.n_features,
            noise=Noise(quiet.law, quiet.scale, dimension),
            recipe=asked,
            radius=radius,
            phases=(),
        )
        facts = open_claim.constants
        smooth = math.isfinite(facts.smoothness)
        if not smooth and facts.lipschitz < constants(problem, radius).lipschitz:
            found = f"clip={asked.clip:g} with the {problem.loss.id} loss"
            raise InvalidParameter("a clip for smooth losses only: phases of others minimise", found, "pass clip=None")
        cost, length = _length(asked, problem, facts, quiet.deviation, request)
        if smooth and length / 4 > longest_steady(facts):
            most = 4 * longest_steady(facts)
            raise InvalidParameter(
                f"a step of at most {most:.6g}, a quarter of which the first phase takes (K1, B1)",
                f"step={length:g}",
                f'pass step={most / 2:.3g} or step="public"',
            )
        if request.n_samples < 2:
            raise InvalidParameter("at least two rows", "1 sample", "train on more rows")
        phases, bounds = _phases(open_claim, length, quiet.law)
        while not smooth and isinstance(asked.step, str) and _work(open_claim, phases) > limit() and length > SHORTEST:
            # Phases of losses with corners are solved, which takes the longer the weaker their ridge.
            length /= 2
            phases, bounds = _phases(open_claim, length, quiet.law)
        if isinstance(asked.step, str):
            cost, _ = _length(replace(asked, step=length), problem, facts, quiet.deviation, request)
        imagined = reference_of(problem, request.n_features, asked.clip)
        refuse_drowned_descent(self, request, cost, imagined, 0.0, "or pass a step")
        first = phases[0]
        yield Plan(
            claim=replace(
                open_claim,
                recipe=replace(asked, step=length),
                noise=replace(open_claim.noise, scale=first.noise_scale),
                phases=tuple(phases),
            ),
            share=cost,
            bounds=tuple(_named_by_phase(bounds)),
            candidates=calibrations(first.sensitivity, dimension, request.budget, "auto"),
        )

    def how(self, claim: Phased, bounds: tuple[Bound, ...]) -> Section:
        """Say what the phases are, and what each has to hide."""
        kind = "minimises around its start" if claim.phases[0].alpha else f"descends over its {claim.unit}s once"
        how = "by the public seed" if claim.unit == "row" else "in secret (N1)"
        first = number(claim.phases[0].sensitivity)
        title = f"How far can a phase move? The first by at most {first} (L2), by {claim.theorem}."
        lines = [
            f"{len(claim.phases)} phases on {sum(phase.rows for phase in claim.phases)} different {claim.unit}s, dealt "
            f"{how}; each {kind}, starts where the last one was released,",
            f"and has the whole budget: a {claim.unit} belongs to one of them (K1).",
        ]
        lines += [
            f"  phase {count}: {phase.rows} {claim.unit}s, step {number(phase.step)}, moves by at most "
            f"{number(phase.sensitivity)} ({phase.theorem}), noise of scale {number(phase.noise_scale)}{_around(phase)}"
            for count, phase in enumerate(claim.phases, start=1)
        ]
        return title, tuple(lines)

    def work(self, claim: Phased, parts: Sequence[float]) -> float:
        """Return what all phases meet, one after the other."""
        return _work(claim, claim.phases)

    def ball(self, claim: Phased) -> str:
        """Say in which ball phases start."""
        return f"phases start in a ball of radius {number(claim.radius)}"

    def entered(self, claim: Phased) -> str:
        """Say what the noise entered."""
        return f"each weight of the first of {len(claim.phases)} phases, and less in every later one"


def _work(claim: Phased, phases: Sequence[Phase]) -> float:
    return math.fsum(work_in(claim.setting_of(phase), phase.passes or 1) for phase in phases)


def _phases(claim: Phased, length: float, law: str) -> tuple[list[Phase], list[Bound]]:
    """Return the phases that start with a quarter of this step, and how far each can move."""
    phases: list[Phase] = []
    bounds: list[Bound] = []
    for count in range(1, claim.n_samples.bit_length()):
        try:
            phase = _opened(claim, claim.n_samples >> count, length / 4**count)
        except InvalidParameter:
            if not phases:
                raise
            # The last phases have a handful of rows and a ridge beside which they vanish: the one before stands.
            break
        bound = smallest(claim.setting_of(phase))
        noise = quietest(bound.sensitivity, claim.noise.dimension, claim.budget, law)
        bounds.append(bound)
        phases.append(replace(phase, theorem=bound.theorem, sensitivity=bound.sensitivity, noise_scale=noise.scale))
    return phases, bounds


def _opened(claim: Phased, rows: int, length: float) -> Phase:
    """Return a phase without theorem and noise: with a ridge around its start where the loss has corners."""
    phase = Phase(rows, length, "", 1.0, 1.0)
    if math.isfinite(claim.constants.smoothness):
        return phase
    phase = replace(phase, alpha=1 / (length * rows))
    around = claim.setting_of(phase)
    most = claim.problem.domain.rows_a_person or 1
    tolerance = public_tolerance(around.constants, rows, around.dimension, claim.budget.epsilon, most)
    where = eased(
        replace(around, recipe=Recipe(tolerance)), EASED_SHARE * around.constants.gradient_diameter / (2 * rows)
    )
    return replace(phase, tolerance=where.recipe.tolerance, passes=passes_within(where))


def _around(phase: Phase) -> str:
    return f", ridge {number(phase.alpha)}, tolerance {number(phase.tolerance)}" if phase.alpha else ""


def _named_by_phase(bounds: list[Bound]) -> Iterator[Bound]:
    """Yield the bounds under names that say which phase they are of; the first carries the name of the whole."""
    for count, bound in enumerate(bounds, start=1):
        yield replace(bound, theorem="K1" if count == 1 else f"K1 phase {count}")


def _length(recipe: Recipe, problem: Problem, facts: Constants, unit: float, request: Request) -> tuple[float, float]:
    """Return the modelled cost and the step before the first quartering: as asked, or the one of least modelled cost.

    A phase keeps of an error what its averaged pass keeps, or with corners what its ridge of 1 / (step rows) keeps, and
    adds the noise that hides a row, `unit` times the distance that its step allows (B1, A2).
    """
    import numpy as np

    # What a phase keeps of an error it keeps of the noise before it as well, around the best weights.
    imagined = replace(reference_of(problem, request.n_features, recipe.clip), steepness=1.0)
    longest = longest_steady(facts)
    if isinstance(recipe.step, str) and recipe.step != "public":
        raise InvalidParameter("a step for phases", f"step={recipe.step!r}", 'pass a number or "public"')
    # A phase that minimises may move as far as it likes: its ridge falls with the number of its rows.
    furthest = 2 * longest if longest > 0 else float(public_lengths(imagined, 0.0)[0]) * request.n_samples
    lengths = lengths_below(furthest) if isinstance(recipe.step, str) else np.array([recipe.step])
    short, variance = np.ones((len(lengths), len(imagined.curvatures))), np.zeros((len(lengths), 1))
    pull = pull_of_a_batch(problem, imagined, recipe.clip, 1)
    for phase in range(1, request.n_samples.bit_length()):
        rows, steps = request.n_samples >> phase, lengths / 4.0**phase
        if longest > 0:
            keeps, left = averaged_descent(imagined, 0.0, steps, rows)
        else:
            keeps, left = 1 / (1 + np.array(imagined.curvatures) * (steps * rows)[:, None]), np.zeros(1)
        with np.errstate(all="ignore"):
            variance = (
                np.square(keeps) * variance + left * pull + np.square(unit * facts.gradient_diameter * steps)[:, None]
            )
            short = short * keeps
    return cheapest_length(lengths, imagined.shares(short, variance).tolist())
