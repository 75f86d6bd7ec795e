"""Stochastic gradient descent, and noise on the weights it ends at: private because descents are stable."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from equipoise.certify.claims import Noise, Trained
from equipoise.certify.claims.descents import StochasticDescent
from equipoise.certify.curves import Curve, SumCurve
from equipoise.certify.theorems.descent import longest_steady
from equipoise.certify.theorems.random_hits import LEFT_OUT
from equipoise.errors import BudgetImpossible, InvalidParameter
from equipoise.planning.corners import refuse_drowned_descent
from equipoise.planning.kinds.base import Plan, Planner, exact_band
from equipoise.planning.kinds.descending import asked_recipe, longest_considered, ridge
from equipoise.planning.laws import ANY, Calibration, calibrations, known, quietest
from equipoise.planning.losses import known as known_loss
from equipoise.planning.reference import Reference, of_problem
from equipoise.planning.request import Request
from equipoise.planning.rules import settled
from equipoise.planning.stability import answers, certified, refusal
from equipoise.planning.words import Section, number, passes
from equipoise.planning.words import answers as answers_in_words
from equipoise.vocabulary.constants import masked, setting
from equipoise.vocabulary.facts import Bound, Budget, Chance, Problem, Recipe, Setting

# The step lengths that step="public" chooses from: half octaves below the longest that is considered.
LENGTHS = tuple(2.0 ** (-half / 2) for half in range(33))

# The law of the noise under random sensitivities: its curve is cheap, and random numbers of meetings need delta anyway.
RANDOM_LAW = "gaussian"


class StochasticDescentPlanner(Planner[StochasticDescent]):
    """The certified distance of two descents, hidden by noise on the weights. Serves every loss."""

    claim: ClassVar[type[Trained]] = StochasticDescent
    words: ClassVar[str] = "noise on the weights that SGD ends at"
    minimises: ClassVar[bool] = False
    at_the_end: ClassVar[bool] = True

    def plans(self, request: Request, parameter: float | None) -> Iterator[Plan]:
        """Yield the one plan: the smallest certified distance under the quietest noise."""
        asked = asked_recipe(request)
        problem = request.problem(ridge(request))
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
        answered = answers(situation)
        bound = _chosen(answered, request.budget.delta == 0)
        candidates: tuple[Calibration, ...]
        if bound.law and request.budget.delta > 0:
            if request.mechanism not in (*ANY, RANDOM_LAW):
                raise InvalidParameter(
                    f"Gaussian noise where meetings are random (mechanism={RANDOM_LAW!r})",
                    f"mechanism={request.mechanism!r}",
                    'pass mechanism="auto"',
                )
            candidates = (averaged_calibration(bound.law, dimension, request.budget),)
        else:
            # Refused with a remedy where no law can meet the budget.
            quietest(bound.sensitivity, dimension, request.budget, request.mechanism)
            candidates = calibrations(bound.sensitivity, dimension, request.budget, request.mechanism)
        noise = candidates[0]
        imagined = of_problem(masked(problem, recipe), request.n_features)
        share = modelled_share(situation, noise.deviation, imagined)
        otherwise = "put the noise into the steps (NoisySGD..., with a delta), or pass a step"
        strength = situation.constants.strong_convexity
        refuse_drowned_descent(self, request, share, imagined, strength, otherwise)
        yield Plan(
            claim=StochasticDescent(
                budget=request.budget,
                n_samples=request.n_samples,
                problem=problem,
                n_features=request.n_features,
                noise=Noise(noise.law, noise.scale, dimension),
                sensitivity=bound.sensitivity,
                theorem=bound.theorem,
                recipe=recipe,
            ),
            share=share,
            bounds=answered,
            candidates=candidates,
        )

    def how(self, claim: StochasticDescent, bounds: tuple[Bound, ...]) -> Section:
        """Say how far two descents can end apart."""
        bound = next(bound for bound in bounds if bound.theorem == claim.theorem)
        most = number(claim.sensitivity)
        title = f"How far can the weights move? At most {most} (L2), by {claim.theorem}, rounding included."
        coins: tuple[str, ...] = ()
        if bound.law and claim.budget.delta > 0:
            title = (
                f"How far can the weights move? By {number(bound.typical or 0.0)} (L2) on average over secret coins, "
                f"by {claim.theorem}; {most} at most."
            )
            coins = (f"Coins decide how often a {claim.unit} is met; the curve is the average over that number (M1).",)
        described = passes(claim.recipe, claim.n_samples, claim.unit)
        return title, (*coins, *described, *answers_in_words(bounds, claim.theorem))

    def ball(self, claim: StochasticDescent) -> str:
        """Say how far weights can go on the way."""
        declared = claim.problem.domain.radius
        constraint = f" (constraint {number(declared)})" if declared is not None else ""
        return f"weights on the way have norm at most R = {number(claim.constants.radius)}{constraint}"

    def noise_of_a_weight(self, claim: StochasticDescent) -> Noise | None:
        """Return the noise; what masks hid in training is made up for after it was added (B6)."""
        return replace(claim.noise, scale=(1 - claim.recipe.dropout) * claim.noise.scale)

    def noise_words(self, claim: StochasticDescent, deviation: float | None) -> str:
        """Say that it is exact."""
        return exact_band(deviation)


def averaged_calibration(law: tuple[Chance, ...], dimension: int, budget: Budget) -> Calibration:
    """Return the smallest noise whose curve, averaged over coins, meets the budget, to a part in ten thousand (M1).

    Examples
    --------
    >>> from math import comb
    >>> coins = tuple(Chance(comb(20, hits) / 2**20, hits / 10) for hits in range(21))
    >>> calibration = averaged_calibration(coins, 3, Budget(1.0, 1e-5))
    >>> 1.0 < calibration.scale / known("gaussian").scale_for(1.0, 3, Budget(1.0, 1e-5)) < 1.6
    True
    """
    largest = max(chance.value for chance in law)
    left = Budget(budget.epsilon, max(0.0, budget.delta - 2 * LEFT_OUT))
    high = known(RANDOM_LAW).scale_for(largest, dimension, left)
    if high is None:
        raise BudgetImpossible(
            "a release whose number of meetings with a row is random",
            f"delta={budget.delta:g}",
            'pass order="permutation" and skip=0.0, or a larger delta',
        )

    def meets(scale: float) -> bool:
        return averaged_curve(law, Noise(RANDOM_LAW, scale, dimension)).delta(budget.epsilon) <= budget.delta

    # What the law rounds up may exceed one in sum.
    while not meets(high):
        high *= 1.01
    low = high / 2
    while meets(low):
        low, high = low / 2, low
    while high > low * 1.0001:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if meets(middle) else (middle, high)
    return Calibration(RANDOM_LAW, high, known(RANDOM_LAW).deviation(high, dimension))


def averaged_curve(law: tuple[Chance, ...], noise: Noise) -> Curve:
    """Return the curve of a noise under a random sensitivity, as a claim has it."""
    least = noise.scale * 1e-30
    parts = ((chance.probability, noise.curve(max(chance.value, least)), 0.0) for chance in law)
    return SumCurve(tuple(parts), LEFT_OUT)


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


def _chosen(answered: tuple[Bound, ...], pure: bool) -> Bound:
    """Return the smallest bound that certifies: by its largest value for pure privacy, otherwise by its mean (M2)."""
    known_bounds = certified(answered)
    if not known_bounds:
        raise refusal(answered)
    return min(known_bounds, key=lambda bound: (bound.sensitivity if pure else bound.typical, bound.theorem))


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
        bound = _chosen(answers(situation), request.budget.delta == 0)
        typical = bound.sensitivity if request.budget.delta == 0 else bound.typical or 0.0
        return modelled_share(situation, typical * unit, imagined)

    longest = longest_considered(seen)
    return min((replace(recipe, step=longest * length) for length in LENGTHS), key=cost)


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
    skipped = steps * (1 - recipe.skip)

    def short(curved: float) -> float:
        """Return by how much the weights fall short of the minimiser along a direction of this curvature."""
        kept = min(max(1 - length * curved, -1.0), 1 - 1e-15)
        if recipe.average == "last":
            # A part of a step back and forth has no length.
            return math.pow(kept, skipped) if kept >= 0 or skipped == int(skipped) else math.inf
        begun = 0.0 if recipe.average == "uniform" else skipped / 2
        # The mean of powers from `begun` to the end.
        return (math.pow(abs(kept), begun) - math.pow(abs(kept), skipped)) / ((1 - kept) * (skipped - begun))

    unit = known_loss(situation.problem.loss).unit(situation.constants.label_bound)
    batches = length * unit**2 / (2 * recipe.batch_size) if recipe.average == "last" else 0.0
    pairs = [(curvature, curvature + ridge_strength) for curvature in imagined.curvatures]
    shrinkage = [1 - curvature / curved * (1 - short(curved)) for curvature, curved in pairs]
    return imagined.share(shrinkage, deviation**2 + batches)
