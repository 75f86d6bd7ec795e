"""Stochastic gradient descent, and noise on the weights it ends at: private because descents are stable."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

import numpy as np

from equipoise.certify.claims import Noise
from equipoise.certify.claims.descents import StochasticDescent as Claim
from equipoise.errors import BudgetImpossible, InvalidParameter
from equipoise.proof.averaging import LAW, averaged_calibration, averaged_curve
from equipoise.proof.curves import Curve
from equipoise.proof.mechanisms import KINDS, Calibration, calibrations, named, quietest
from equipoise.proof.public_alpha import guessed_norm, public_alpha
from equipoise.proof.reference import Reference, of_problem
from equipoise.proof.request import Request
from equipoise.proof.routes.base import PLAIN, Plan, Route
from equipoise.proof.theorems import bounds, refusal
from equipoise.proof.theorems.descent import longest_steady
from equipoise.vocabulary.constants import constants, masked, setting, settled
from equipoise.vocabulary.facts import Bound, Constants, Problem, Recipe, Setting

# The step lengths that step="public" chooses from: half octaves below the longest that is considered.
LENGTHS = tuple(2.0 ** (-half / 2) for half in range(33))


class StochasticDescent(Route):
    """The certified distance of two descents, hidden by noise on the weights. Serves every loss of one prediction."""

    id: ClassVar[str] = "sgd"
    words: ClassVar[str] = "noise on the weights that SGD ends at"
    minimises: ClassVar[bool] = False

    def plans(self, request: Request, parameter: float | None) -> Iterator[Plan]:
        """Yield the one plan: the smallest certified distance under the quietest noise."""
        asked = asked_recipe(request)
        alpha = ridge(request)
        problem = request.problem(alpha)
        dimension = problem.dimension(request.n_features)
        if asked.order == "replacement" and request.budget.delta == 0:
            raise BudgetImpossible(
                "pure privacy for rows drawn with replacement",
                "a number of meetings with one row that has no bound but the number of draws",
                'pass order="permutation", or delta > 0',
            )
        if asked.order == "replacement" and asked.skip > 0:
            remedy = 'pass skip=0.0, or order="permutation"'
            raise InvalidParameter("rows that are drawn, or steps that are skipped", "both", remedy)
        recipe = _with_length(request, problem, settled(problem, asked))
        situation = setting(problem, recipe, request.n_samples, request.n_features)
        refuse_long_steps(situation)
        answers = bounds(situation)
        bound = _chosen(answers, request.budget.delta == 0)
        law = bound.law if request.budget.delta > 0 else ()
        candidates: tuple[Calibration, ...]
        curve: Curve
        if law:
            if request.mechanism not in (*KINDS, LAW):
                raise InvalidParameter(
                    f"Gaussian noise where meetings are random (mechanism={LAW!r})",
                    f"mechanism={request.mechanism!r}",
                    'pass mechanism="auto"',
                )
            candidates = (averaged_calibration(law, dimension, request.budget),)
            curve = averaged_curve(law, dimension, candidates[0].scale)
        else:
            candidates = calibrations(bound.sensitivity, dimension, request.budget, request.mechanism)
            chosen = quietest(bound.sensitivity, dimension, request.budget, request.mechanism)
            curve = named(chosen.mechanism).curve(bound.sensitivity, dimension, chosen.scale)
        noise = candidates[0]
        share = modelled_share(situation, noise.deviation, of_problem(masked(problem, recipe), request.n_features))
        yield Plan(
            route=self.id,
            loss=problem.loss.name,
            alpha=alpha,
            constants=situation.constants,
            tolerance=0.0,
            bounds=answers,
            theorem=bound.theorem,
            sensitivity=bound.sensitivity,
            dimension=dimension,
            candidates=candidates,
            mechanism=noise.mechanism,
            noise_scale=noise.scale,
            noise_deviation=noise.deviation,
            curve=curve,
            rounding=named(noise.mechanism).rounding(dimension),
            excess_risk=math.inf,
            share=share,
            procedure=PLAIN,
            recipe=recipe,
            claim=Claim(
                budget=request.budget,
                n_samples=request.n_samples,
                problem=problem,
                n_features=request.n_features,
                noise=Noise(noise.mechanism, noise.scale, dimension),
                sensitivity=bound.sensitivity,
                theorem=bound.theorem,
                recipe=recipe,
            ),
        )


def asked_recipe(request: Request) -> Recipe:
    """Return the recipe of a request for a descent of a loss with one prediction a row."""
    recipe, loss = request.recipe, request.problem(1.0 if isinstance(request.alpha, str) else request.alpha).loss
    if recipe is None or not recipe.descends:
        raise InvalidParameter("a recipe with passes", "none", "use SGDClassifier or SGDRegressor, with passes=10")
    if loss.outputs > 1:
        remedy = "declare two classes, or use LogisticRegression, which takes more"
        raise InvalidParameter("a descent for two classes or a number", f"{loss.outputs} classes", remedy)
    return recipe


def ridge(request: Request) -> float:
    """Return the ridge: as asked, or the one that a minimiser of the same budget would have."""
    if not isinstance(request.alpha, str):
        return request.alpha
    return public_alpha(replace(request, recipe=None, mechanism="output"))


def constants_in_ball(problem: Problem, recipe: Recipe, radius: float) -> Constants:
    """Return the constants over a ball, for gradients that are shortened to the recipe's clip (B7)."""
    facts = constants(problem, radius)
    lipschitz = min(math.inf if recipe.clip is None else recipe.clip, facts.lipschitz)
    return replace(facts, lipschitz=lipschitz, gradient_diameter=min(facts.gradient_diameter, 2 * lipschitz))


def stake(problem: Problem) -> float:
    """Return what a model that says nothing could lose: the steepest slope times the guessed predictions."""
    reach = guessed_norm(problem) * problem.row_norm
    return problem.loss.slope_bound(reach, problem.domain.label_bound) * reach


def refuse_long_steps(situation: Setting) -> None:
    """Refuse steps on a smooth loss that are longer than its smoothness allows: they drive descents apart (B1)."""
    facts, recipe = situation.constants, situation.recipe
    limit = longest_steady(facts)
    if 0 < limit < recipe.length:
        raise InvalidParameter(
            f"steps of at most {limit:.6g} = 2 / (beta + alpha), beyond which they overshoot (B1)",
            f"step={recipe.length:g}",
            f'pass step={limit / 2:.3g} or step="public"',
        )


def _chosen(answers: tuple[Bound, ...], pure: bool) -> Bound:
    """Return the smallest bound that certifies: by its largest value for pure privacy, otherwise by its mean (M2)."""
    certified = [bound for bound in answers if bound.certifies and bound.value is not None]
    if not certified:
        raise refusal(answers)
    return min(certified, key=lambda bound: (bound.sensitivity if pure else bound.typical, bound.theorem))


def _with_length(request: Request, problem: Problem, recipe: Recipe) -> Recipe:
    """Return the recipe with a step length: as asked, or the one with the smallest modelled cost."""
    if not isinstance(recipe.step, str):
        return recipe
    if recipe.step != "public":
        remedy = 'pass a number, "public" or "decay"; Langevin steps belong to NoisySGDClassifier and NoisySGDRegressor'
        raise InvalidParameter("a step for noise at the end", f"step={recipe.step!r}", remedy)
    seen = masked(problem, recipe)
    imagined = of_problem(seen, request.n_features)
    # Gaussian noise of one unit stands for all laws: only the distances decide between lengths.
    unit = quietest(1.0, problem.dimension(request.n_features), request.budget, request.mechanism).deviation

    def cost(candidate: Recipe) -> float:
        situation = setting(problem, candidate, request.n_samples, request.n_features)
        bound = _chosen(bounds(situation), request.budget.delta == 0)
        typical = bound.sensitivity if request.budget.delta == 0 else bound.typical or 0.0
        return modelled_share(situation, typical * unit, imagined)

    longest = longest_considered(seen)
    return min((replace(recipe, step=longest * length) for length in LENGTHS), key=cost)


def longest_considered(problem: Problem) -> float:
    """Return half of the longest steady step; with corners, one that turns a prediction by a unit of evidence."""
    smoothness, ridge_strength = problem.loss.curvature_bound() * problem.row_norm**2, problem.penalty.smoothness()
    if math.isfinite(smoothness):
        return 1 / (smoothness + ridge_strength)
    label_bound = problem.domain.label_bound
    steepest = problem.loss.slope_bound(math.inf, label_bound)
    turning = problem.loss.unit(label_bound) / (problem.row_norm**2 * steepest)
    return min(turning, 1 / ridge_strength) if ridge_strength > 0 else turning


def modelled_share(situation: Setting, deviation: float, imagined: Reference) -> float:
    """Return the modelled cost of a descent with noise of this deviation at its end (reference.py).

    Along a direction of curvature h the t-th weights fall short by ``(1 - step (h + alpha))^t``, and what is left of
    the batches' own noise is ``step / (2 b)`` in units of evidence, which averaging removes.
    """
    recipe, ridge_strength = situation.recipe, situation.constants.strong_convexity
    steps, length = recipe.steps(situation.n_samples), recipe.length
    if recipe.decay > 0:
        # Steps 1/(alpha t) move as far as steps of their mean length.
        length = min(length, (1 + math.log(steps)) / (recipe.decay * steps))
    curved = imagined.curvatures + ridge_strength
    kept = np.clip(1 - length * curved, -1.0, 1 - 1e-15)
    skipped = steps * (1 - recipe.skip)
    if recipe.average == "last":
        short = kept**skipped
    else:
        begun = 0.0 if recipe.average == "uniform" else skipped / 2
        # The mean of powers from `begun` to the end.
        short = (np.abs(kept) ** begun - np.abs(kept) ** skipped) / ((1 - kept) * (skipped - begun))
    unit = situation.problem.loss.unit(situation.constants.label_bound)
    batches = length * unit**2 / (2 * recipe.batch_size) if recipe.average == "last" else 0.0
    reached = imagined.curvatures / curved
    return imagined.share(1 - reached * (1 - short), deviation**2 + batches)
