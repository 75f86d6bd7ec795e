"""Noisy SGD: noise in every step's gradient of a few secret rows ([001] Algorithm 2), also known as SGLD."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar, get_args

from equipoise.certify.claims import LARGEST_SCALE, SMALLEST_SCALE, Noise, Trained
from equipoise.certify.claims.descents import NoisyDescent, secret_batches
from equipoise.errors import BudgetImpossible, InvalidParameter
from equipoise.planning.accounting import accounted
from equipoise.planning.corners import refuse_drowned_descent
from equipoise.planning.kinds.base import EXACT_STEPS, Plan, Planner, require, require_delta
from equipoise.planning.kinds.descending import asked_recipe, guessed_ball
from equipoise.planning.laws import Calibration
from equipoise.planning.laws.gaussian import largest_mu
from equipoise.planning.modelled_descents import (
    cheapest_length,
    modelled_costs,
    public_lengths,
    pull_of_a_batch,
    reference_of,
)
from equipoise.planning.request import Request
from equipoise.planning.words import Section, number, passes
from equipoise.vocabulary.facts import Averaging, Bound, Constants, Hypothesis, Problem, Recipe

# A batch whose modelled cost is this close to the least is as good, and a larger one draws less noise.
NEARLY = 0.01


class NoisyDescentPlanner(Planner[NoisyDescent]):
    """Every step draws its rows in secret and adds noise to their mean gradient (C3); all that follows is free."""

    claim: ClassVar[type[Trained]] = NoisyDescent
    words: ClassVar[str] = "noise in every gradient of a few secret rows"
    place: ClassVar[str] = "coordinate of a gradient"
    changes: ClassVar[str] = "a batch's gradient changes by at most (L2)"
    minimises: ClassVar[bool] = False

    def plans(self, request: Request, parameter: float | None) -> Iterator[Plan]:
        """Yield the one plan, calibrated by the composition of all steps."""
        open_claim, hypotheses, _ = begun(request)
        recipe, problem = open_claim.recipe, open_claim.problem
        sensitivity = open_claim.movement()
        steps = recipe.steps(request.n_samples)
        choices = accounted(request.budget, request.n_samples, steps, recipe.batch_size, sensitivity)
        chosen = choices[0]
        scale = sensitivity * chosen.multiplier
        if not SMALLEST_SCALE <= scale <= LARGEST_SCALE:
            raise BudgetImpossible("noisy SGD", f"noise of scale {scale:g}", "change epsilon or the units")
        cost, length = _paced(recipe, request, problem, scale)
        imagined, ridge = reference_of(problem, request.n_features, recipe.clip), problem.penalty.smoothness()
        refuse_drowned_descent(self, request, cost, imagined, ridge, "or pass a step")
        recipe = replace(recipe, step=length)
        noise = replace(open_claim.noise, scale=scale)
        yield Plan(
            claim=replace(open_claim, recipe=recipe, noise=noise, sensitivity=sensitivity, order=chosen.order),
            share=cost,
            bounds=(Bound("C3", True, sensitivity, hypotheses),),
            candidates=tuple(
                Calibration(choice.words, sensitivity * choice.multiplier, sensitivity * choice.multiplier)
                for choice in choices
            ),
        )

    def rounding(self, claim: NoisyDescent) -> str:
        """Say how the noise of every step is drawn."""
        return EXACT_STEPS

    def how(self, claim: NoisyDescent, bounds: tuple[Bound, ...]) -> Section:
        """Say what one row changes in a step, and what the run is called elsewhere."""
        temperature = 2 / (claim.recipe.length * claim.noise.scale**2)
        title = (
            f"What does one {claim.unit} change? The mean gradient of a batch that has it, by at most "
            f"{number(claim.sensitivity)} (L2), by {claim.theorem}."
        )
        return title, (
            *passes(claim.recipe, claim.n_samples, claim.unit),
            f"The {claim.unit}s of a step are different ones, drawn afresh; the weights are kept within "
            f"{number(claim.radius)}.",
            f"As Langevin dynamics the run has inverse temperature {number(temperature)}.",
        )

    def ball(self, claim: NoisyDescent) -> str:
        """Say in which ball the weights are kept."""
        return f"weights are kept in a ball of radius {number(claim.radius)}"

    def entered(self, claim: NoisyDescent) -> str:
        """Say what the noise entered."""
        return "each coordinate of the gradient of every step"


def begun(request: Request) -> tuple[NoisyDescent, tuple[Hypothesis, ...], float]:
    """Return the claim before its noise is known, what it needs, and its modelled cost where nothing is composed.

    That cost is infinite where nothing of the recipe was left open.
    """
    asked = asked_recipe(request)
    remedy = "pass delta > 0, or use SGDClassifier or PhasedClassifier, which can be pure"
    require_delta(request.budget, "noise in every step", remedy)
    problem = _problem(request)
    open_claim = NoisyDescent(
        budget=request.budget,
        n_samples=request.n_samples,
        problem=problem,
        n_features=request.n_features,
        noise=Noise("gaussian", 1.0, problem.dimension(request.n_features)),
        sensitivity=1.0,
        theorem="C3",
        recipe=asked,
        radius=problem.domain.radius or guessed_ball(problem, request.n_features),
    )
    hypotheses = tuple(secret_batches(open_claim.setting()))
    require(hypotheses, "noisy SGD")
    recipe, cost = _filled(asked, request, problem, open_claim.constants)
    return replace(open_claim, recipe=recipe), hypotheses, cost


def _problem(request: Request) -> Problem:
    """Return the problem; its ridge is a number, since no rule picks one for noise in every step."""
    if isinstance(request.alpha, str):
        raise InvalidParameter("a ridge for noise in every step", f"alpha={request.alpha!r}", "pass alpha=0.0")
    return request.problem(request.alpha)


def _filled(asked: Recipe, request: Request, problem: Problem, facts: Constants) -> tuple[Recipe, float]:
    """Return the recipe with what was left open, and its modelled cost.

    It is the largest batch of nearly the least modelled cost, and its average.

    The noise is that of the limit of many steps, ``mu = q sqrt(T (exp(1/z^2) - 1))`` for the multiplier z. It grows
    with the number of steps where a batch is too small to hide a row, and a large batch takes too few steps.
    """
    if not request.left_open:
        return asked, math.inf
    mu = largest_mu(request.budget.epsilon, request.budget.delta)
    if mu == 0:
        small = f"delta={request.budget.delta:g}"
        raise BudgetImpossible("noisy SGD with a delta that can be met", small, "pass delta=1e-12")
    powers = tuple(2**power for power in range(4, request.n_samples.bit_length()))
    batches = (powers or (request.n_samples,)) if "batch_size" in request.left_open else (asked.batch_size,)
    averages = get_args(Averaging) if "average" in request.left_open else (asked.average,)
    costs: dict[int, tuple[float, Averaging]] = {}
    for batch in batches:
        steps, share = replace(asked, batch_size=batch).steps(request.n_samples), batch / request.n_samples
        scale = facts.gradient_diameter / batch / math.sqrt(math.log1p((mu / share) ** 2 / steps))
        tries = [replace(asked, batch_size=batch, average=average) for average in averages]
        costs[batch] = min((_paced(recipe, request, problem, scale)[0], recipe.average) for recipe in tries)
    least = min(cost for cost, _ in costs.values())
    batch = max(batch for batch in batches if costs[batch][0] <= least * (1 + NEARLY))
    return replace(asked, batch_size=batch, average=costs[batch][1]), costs[batch][0]


def _paced(recipe: Recipe, request: Request, problem: Problem, scale: float) -> tuple[float, float]:
    """Return the modelled cost and the step: as asked, of a Langevin temperature, or of least modelled cost."""
    import numpy as np

    imagined = reference_of(problem, request.n_features, recipe.clip)
    alpha, steps = problem.penalty.smoothness(), recipe.steps(request.n_samples)
    lengths = np.array([recipe.step]) if not isinstance(recipe.step, str) else public_lengths(imagined, alpha)
    if isinstance(recipe.step, str) and recipe.step != "public":
        name, _, parameter = recipe.step.partition(":")
        if name != "langevin":
            found = f"step={recipe.step!r}"
            raise InvalidParameter("a step for noise in every step", found, 'pass a number or "public"')
        # w <- w - step g + sqrt(2 step / B) xi has noise sqrt(2 / (B step)) in the gradient.
        lengths = np.array([2 / (float(parameter) * scale**2)])
    pull = pull_of_a_batch(problem, imagined, recipe.clip, recipe.batch_size)
    return cheapest_length(lengths, modelled_costs(imagined, alpha, lengths, steps, recipe.average, scale**2 + pull))
