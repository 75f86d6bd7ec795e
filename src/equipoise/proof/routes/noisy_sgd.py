"""Noisy SGD: noise in every step's gradient of a few secret rows (seed 001, Algorithm 2), also known as SGLD."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from equipoise.certify.claims import Noise
from equipoise.certify.claims.descents import NoisyDescent as Claim
from equipoise.errors import BudgetImpossible, InvalidParameter, NoTheoremApplies
from equipoise.proof.curves import LATTICE_DELTA, Curve
from equipoise.proof.mechanisms import LARGEST_SCALE, SMALLEST_SCALE, Calibration
from equipoise.proof.public_alpha import guessed_norm
from equipoise.proof.reference import of_problem
from equipoise.proof.renyi import RenyiSampledCurve, best_order, renyi_multiplier
from equipoise.proof.request import Request
from equipoise.proof.routes.base import REACH, Plan, Procedure, Route
from equipoise.proof.routes.noisy_gradient import PricedCurve
from equipoise.proof.routes.sgd import asked_recipe, constants_in_ball, stake
from equipoise.proof.subsampling import MOST_STEPS, SampledGaussianCurve, smallest_multiplier
from equipoise.proof.theorems.approximate import MOST_ROWS, MOST_WEIGHTS, ROUNDING_MARGIN
from equipoise.proof.theorems.descent import UNIT
from equipoise.vocabulary.facts import Bound, Constants, Hypothesis, Problem, Recipe

# Up to this many normal numbers come from OpenDP's exact sampler; more come from the stream.
EXACT_DRAWS = 250_000

STREAM = "the noise of the steps comes from an AES-256 key stream in double precision, and is as good as exact"
EXACT_ROUNDING = "the Gaussian noise of every step is sampled exactly by OpenDP; 2^-500 of delta a step pays (D3)"
STREAM_ROUNDING = "the Gaussian noise of every step is drawn in double precision, which Mironov's attack may undo (C3)"


@dataclass(frozen=True, slots=True)
class Calibrated:
    """A noise multiplier, whence it follows, and its curve where it has one."""

    words: str
    multiplier: float
    curve: Curve | None = None


class NoisyDescent(Route):
    """Every step draws its rows in secret and adds noise to their mean gradient (C3); all that follows is free."""

    id: ClassVar[str] = "noisy-sgd"
    words: ClassVar[str] = "noise in every gradient of a few secret rows"
    minimises: ClassVar[bool] = False

    def plans(self, request: Request, parameter: float | None) -> Iterator[Plan]:
        """Yield the one plan, calibrated by the composition of all steps."""
        asked = asked_recipe(request)
        if request.budget.delta <= LATTICE_DELTA:
            remedy = "pass delta > 0, or use SGDClassifier or PhasedClassifier, which can be pure"
            raise BudgetImpossible("noise in every step with pure privacy", "delta=0", remedy)
        problem = _problem(request)
        imagined = of_problem(problem, request.n_features)
        radius = problem.domain.radius or REACH * imagined.norm
        facts = constants_in_ball(problem, asked, radius)
        hypotheses = _hypotheses(request, problem, asked, facts)
        if missing := [hypothesis for hypothesis in hypotheses if not hypothesis.holds]:
            remedies = "; ".join(hypothesis.remedy for hypothesis in missing)
            raise NoTheoremApplies("noisy SGD", "hypotheses that do not hold", remedies)
        dimension, steps = problem.dimension(request.n_features), asked.steps(request.n_samples)
        sensitivity = _sensitivity(asked, facts, dimension)
        share = asked.batch_size / request.n_samples
        choices = calibrated(request, steps, share, asked.batch_size)
        chosen = choices[0]
        scale = sensitivity * chosen.multiplier
        if not SMALLEST_SCALE <= scale <= LARGEST_SCALE:
            raise BudgetImpossible("noisy SGD", f"noise of scale {scale:g}", "change epsilon or the units")
        stream = steps * dimension > EXACT_DRAWS
        recipe = replace(asked, step=_length(asked, problem, facts, scale, request))
        assert chosen.curve is not None  # noqa: S101 - the first choice is one of the curves
        yield Plan(
            route=self.id,
            loss=problem.loss.name,
            alpha=problem.penalty.alpha,
            constants=facts,
            tolerance=0.0,
            bounds=(Bound("C3", True, sensitivity, hypotheses),),
            theorem="C3",
            sensitivity=sensitivity,
            dimension=dimension,
            candidates=tuple(
                Calibration(choice.words, sensitivity * choice.multiplier, sensitivity * choice.multiplier)
                for choice in choices
            ),
            mechanism="gaussian",
            noise_scale=scale,
            noise_deviation=scale,
            curve=PricedCurve(chosen.curve, steps),
            rounding=STREAM_ROUNDING if stream else EXACT_ROUNDING,
            excess_risk=math.inf,
            share=_risk(recipe, problem, facts, scale, request) / stake(problem),
            procedure=Procedure(reach=radius, stream=stream),
            recipe=recipe,
            assumptions=(STREAM,) if stream else (),
            claim=Claim(
                budget=request.budget,
                n_samples=request.n_samples,
                problem=problem,
                n_features=request.n_features,
                noise=Noise("gaussian", scale, dimension),
                sensitivity=sensitivity,
                theorem="C3",
                recipe=recipe,
                radius=radius,
                order=0.0
                if steps <= MOST_STEPS
                else best_order(chosen.multiplier, share, steps, request.budget.epsilon),
                stream=stream,
            ),
        )


def calibrated(request: Request, steps: int, share: float, batch: int) -> list[Calibrated]:
    """Return the noise that each way of accounting asks for, the one that is used first.

    The composition of exact profiles for up to `MOST_STEPS` steps, Renyi divergences beyond; beside them the paper's
    own formula, for the run that it is stated for.
    """
    epsilon, n_samples = request.budget.epsilon, request.n_samples
    left = request.budget.delta - steps * LATTICE_DELTA
    divergences = renyi_multiplier(epsilon, left, share, steps)
    found = [Calibrated("gaussian (C3, Renyi)", divergences, RenyiSampledCurve(divergences, share, steps))]
    if steps <= MOST_STEPS:
        exact = smallest_multiplier(epsilon, left, share, steps)
        found.insert(0, Calibrated("gaussian (C3)", exact, SampledGaussianCurve(exact, share, steps)))
    if batch == 1 and steps == n_samples**2 and epsilon <= 1:
        paper = math.sqrt(2 * math.log(1 / request.budget.delta)) / epsilon
        found.append(Calibrated("gaussian ([001] Theorem 5.1)", paper))
    return found


def _problem(request: Request) -> Problem:
    """Return the problem; its ridge is a number, since no rule picks one for noise in every step."""
    if isinstance(request.alpha, str):
        raise InvalidParameter("a ridge for noise in every step", f"alpha={request.alpha!r}", "pass alpha=0.0")
    return request.problem(request.alpha)


def _sensitivity(recipe: Recipe, facts: Constants, dimension: int) -> float:
    """Return how far one row moves the mean gradient of a batch, rounding included (SGD-rounding.md, C3)."""
    rounding = 2 * (recipe.batch_size + 33) * UNIT * facts.lipschitz
    if math.isfinite(facts.smoothness):
        rounding += 2 * (dimension + 11) * UNIT * facts.smoothness * facts.radius / recipe.batch_size
    return (facts.gradient_diameter / recipe.batch_size + rounding) * (1 + ROUNDING_MARGIN)


def _hypotheses(request: Request, problem: Problem, recipe: Recipe, facts: Constants) -> tuple[Hypothesis, ...]:
    return (
        Hypothesis(
            "every step draws its rows in secret, without replacement (C3)",
            recipe.skip == 0 and recipe.dropout == 0 and recipe.order == "replacement",
            "leave skip and dropout out",
        ),
        Hypothesis(
            "a row's gradient has a bounded norm in the ball of the weights",
            0 < facts.lipschitz < math.inf,
            "clip gradients, or choose a Lipschitz loss",
        ),
        Hypothesis("the penalty is a ridge or none", problem.penalty.id in ("l2", "none"), "use a ridge"),
        Hypothesis(
            "rows and weights are of a size that double precision can bear (M4)",
            request.n_samples <= MOST_ROWS and problem.dimension(request.n_features) <= MOST_WEIGHTS,
            f"train on at most {MOST_ROWS:g} rows and {MOST_WEIGHTS:g} weights",
        ),
    )


def _length(recipe: Recipe, problem: Problem, facts: Constants, scale: float, request: Request) -> float:
    """Return the step: as asked, the one of a Langevin temperature, or the one with the smallest bound on risk (C4)."""
    if not isinstance(recipe.step, str):
        return recipe.step
    name, _, parameter = recipe.step.partition(":")
    if name == "langevin":
        # w <- w - step g + sqrt(2 step / B) xi has noise sqrt(2 / (B step)) in the gradient.
        return 2 / (float(parameter) * scale**2)
    if name != "public":
        raise InvalidParameter("a step for noise in every step", f"step={recipe.step!r}", 'pass a number or "public"')
    steps = recipe.steps(request.n_samples)
    return guessed_norm(problem) / math.sqrt(steps * _wander(recipe, problem, facts, scale, request))


def _wander(recipe: Recipe, problem: Problem, facts: Constants, scale: float, request: Request) -> float:
    """Return twice what a unit of step length costs: gradients, noise and instability (docs/proofs/C4.md)."""
    steps, slope = recipe.steps(request.n_samples), facts.lipschitz**2
    corners = math.sqrt(steps) if math.isinf(facts.smoothness) else 0.0
    noise = problem.dimension(request.n_features) * scale**2
    return slope + noise + 4 * slope * (corners + steps / request.n_samples)


def _risk(recipe: Recipe, problem: Problem, facts: Constants, scale: float, request: Request) -> float:
    """Return C4's bound on the expected excess risk of averaged weights, against weights of the guessed norm."""
    steps, length = recipe.steps(request.n_samples), recipe.length
    moved = guessed_norm(problem) ** 2 / (2 * length * steps)
    return moved + length / 2 * _wander(recipe, problem, facts, scale, request)
