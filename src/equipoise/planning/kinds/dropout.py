"""Dropout: minimise the expected loss over masks, and let the data's own curvature, released first, calm the noise."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import ClassVar

from equipoise.certify.claims import Noise, Trained
from equipoise.certify.claims.dropout import Dropout, Masks, masked_minimiser
from equipoise.certify.theorems.base import ROUNDING_MARGIN
from equipoise.errors import BudgetImpossible, InvalidParameter
from equipoise.planning import request as requests
from equipoise.planning.kinds.base import FEW_ROWS, STRONG, Extreme, Plan, Planner, exact_band, free_share, require
from equipoise.planning.kinds.descending import ridge
from equipoise.planning.laws import calibrations, deviation_of, quietest
from equipoise.planning.reference import of_problem, ridge_share
from equipoise.planning.request import Request
from equipoise.planning.rules import EASED_SHARE, TOLERANCE_SHARE
from equipoise.planning.words import Section, number
from equipoise.planning.work import eased, passes_within, work_in
from equipoise.vocabulary.constants import smallest_tolerance
from equipoise.vocabulary.facts import Bound, Budget, Constants, Problem

# The parts of epsilon that may pay for the curvature when public facts pick one.
SHARES = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)

# Public facts imagine rows that spread half as evenly over the columns as they could.
EVENNESS = 0.5


# The ridge of an extreme case outweighs the curvature, which takes so many rows for each unit of epsilon.
CURVATURE_ROWS = 40


class DropoutPlanner(Planner[Dropout]):
    """Noise on the minimiser of the dropout objective, scaled by a released bound on the data's curvature (G3)."""

    claim: ClassVar[type[Trained]] = Dropout
    words: ClassVar[str] = "noise on the weights, scaled by a released curvature"
    place: ClassVar[str] = "weight in that case"
    minimises: ClassVar[bool] = False
    at_the_end: ClassVar[bool] = True

    def plans(self, request: Request, parameter: float | None) -> Iterator[Plan]:
        """Yield the one plan: the rule for every curvature, and the noise in the worst case, where there is none."""
        asked = request.dropout
        if asked is None:
            remedy = "use one of DropoutRegressor and DropoutClassifier"
            raise InvalidParameter("dropout with a keep probability", "a model without dropout", remedy)
        if request.budget.delta == 0:
            raise BudgetImpossible(
                "pure privacy for a curvature that the data decide",
                "delta=0, and noise on a curvature has no largest value",
                "pass delta > 0, for example 1e-6, or use Ridge or LogisticRegression",
            )
        problem, masks = request.problem(ridge(request)), Masks(asked.keep, asked.masks)
        _refuse_unbounded(problem, masks)
        claim = _shared(request, asked, problem, masks)
        hypotheses = tuple(masked_minimiser(claim.setting(), masks))
        require(hypotheses, "a certified dropout model")
        dimension = claim.setting().dimension
        chosen = quietest(claim.worst, dimension, claim.weights, "auto")
        yield Plan(
            claim=replace(
                claim, noise=Noise(chosen.law, chosen.scale, dimension), passes=passes_within(claim.solved())
            ),
            share=ridge_share(of_problem(problem, request.n_features), claim.alpha, 0.0, chosen.deviation),
            bounds=(Bound("G3+G4", True, claim.worst, hypotheses),),
            candidates=calibrations(claim.worst, dimension, claim.weights, "auto"),
        )

    def work(self, claim: Dropout, parts: Sequence[float]) -> float:
        """Return what the solver meets in the worst case, every mask of a row being a row to it."""
        return work_in(claim.solved(), claim.passes or 1)

    def rounding(self, claim: Dropout) -> str:
        """Say that the noise on the curvature is exact, besides."""
        return f"{super().rounding(claim)}; the noise on the curvature is exact"

    def how(self, claim: Dropout, bounds: tuple[Bound, ...]) -> Section:
        """Say how the curvature is released, and how far the weights can move."""
        noisy, masks, known = claim.noisy(), claim.masks, claim.proposal or 0.0
        title = (
            f"How far can the weights move? At most {number(claim.worst)} (L2), by {claim.theorem}, where the data's "
            f"curvature is {number(known)}; less where more was released."
        )
        lines = [
            "Only the curvature of the dataset at hand is needed, not that of its neighbours (A1, proof 2).",
            f"Columns are kept with probability {number(masks.keep)}, "
            + (f"by {masks.count} public mask(s) a row." if masks.count else "in expectation over all masks (G1)."),
            f"The data's curvature g, {number(claim.most())} at most, moves by {number(noisy.sensitivity)} when a row "
            f"is replaced; ({number(claim.statistic.epsilon)}, {number(claim.statistic.delta)}) pays for Laplace noise "
            f"of scale {number(noisy.scale)} and a margin of {number(noisy.margin)} (G4).",
            f"({number(claim.weights.epsilon)}, {number(claim.weights.delta)}) is left for the weights; "
            + (
                "both epsilons and both deltas add up."
                if claim.proposal is None
                else "of the deltas the larger counts."
            ),
            f"With curvature g the weights move by at most {number(claim.movement())} / ({number(claim.alpha)} + "
            f"{number(masks.factor(claim.problem))} g) (G3, L3).",
            "The noisy g less the margin is released and used; it is never refused."
            if claim.proposal is None
            else f"Proposed: g = {number(claim.proposal)}; unless the noisy g exceeds that by the margin, refused.",
        ]
        return title, tuple(lines)

    def extreme(self, budget: Budget, n_features: int, parameter: str) -> Extreme:
        """Return as many rows as the release of a curvature needs."""
        if budget.delta == 0:
            return Extreme(STRONG, FEW_ROWS)
        rows = CURVATURE_ROWS * n_features * (1 - math.log(budget.delta)) / min(budget.epsilon, 1.0)
        return Extreme(STRONG, math.ceil(rows))

    def deviation_of_a_weight(self, claim: Dropout) -> float | None:
        """Return the noise's own, by the released curvature; a refusal left none of it."""
        return free_share(claim) * deviation_of(replace(claim.noise, scale=claim.scale))

    def noise_words(self, claim: Dropout, deviation: float | None) -> str:
        """Say that it is exact."""
        return exact_band(deviation)


def _refuse_unbounded(problem: Problem, masks: Masks) -> None:
    """Refuse what has no constants: weights without a ball, or masks that no closed form or copy of rows serves."""
    if problem.domain.radius is None:
        raise InvalidParameter(
            "a constraint on the norm of the weights, on which slopes and curvatures are bounded",
            "radius=None",
            'pass radius="public", or the largest norm that the weights may have',
        )
    if masks.count == 0 and problem.loss.id != "squared":
        found, remedy = f"the {problem.loss.id} loss", "pass masks=4, or use squared loss"
        raise InvalidParameter("an expectation over masks in closed form", found, remedy)
    if masks.count > 0 and problem.loss.outputs > 1:
        remedy = "declare two classes, or use LogisticRegression, which takes more"
        raise InvalidParameter("dropout for two classes", f"{problem.loss.outputs} classes", remedy)


def _shared(request: Request, asked: requests.Dropout, problem: Problem, masks: Masks) -> Dropout:
    """Return the claim with the share that was asked for, or the one with the least noise on imagined rows."""
    if not isinstance(asked.share, str):
        claim = _split(request, asked, problem, masks, asked.share)
        _refuse_too_few_rows(claim)
        return claim
    claims = [_split(request, asked, problem, masks, share) for share in SHARES]
    if asked.proposal is None:
        return min(claims, key=_imagined_noise)
    # So that twice the proposed curvature passes but for a chance of delta.
    roomy = [claim for claim in claims if claim.noisy().margin <= asked.proposal / 2]
    chosen = roomy[0] if roomy else claims[-1]
    _refuse_too_few_rows(chosen)
    return chosen


def _imagined_noise(claim: Dropout) -> float:
    found = max(0.0, EVENNESS * claim.most() - claim.noisy().margin)
    return quietest(claim.distance(found), claim.setting().dimension, claim.weights, "auto").deviation


def _split(request: Request, asked: requests.Dropout, problem: Problem, masks: Masks, share: float) -> Dropout:
    budget, dimension = request.budget, problem.dimension(request.n_features)
    epsilon = share * budget.epsilon
    # A lower bound adds its delta to that of the weights; of a test's and the weights' the larger counts (G4).
    delta = budget.delta if asked.proposal is not None else budget.delta / 2 * (1 - 1e-12)
    weights = Budget(math.nextafter(budget.epsilon - epsilon, 0.0), delta)
    claim = Dropout(
        budget=budget,
        n_samples=request.n_samples,
        problem=problem,
        n_features=request.n_features,
        noise=Noise("gaussian", 1.0, dimension),
        masks=masks,
        statistic=Budget(epsilon, delta),
        weights=weights,
        curvature_sensitivity=1.0,
        tolerance=_tolerance(request, masks, masks.constants(problem), dimension, weights.epsilon),
        worst=1.0,
        proposal=asked.proposal,
    )
    eased_setting = eased(claim.solved(), EASED_SHARE * claim.constants.gradient_diameter / (2 * request.n_samples))
    claim = replace(claim, tolerance=eased_setting.recipe.tolerance)
    moved = masks.most_of_a_row(problem) / request.n_samples * (1 + ROUNDING_MARGIN) + 2 * claim.error()
    # Without curvature of the data the ridge is all there is; a confirmed proposal is there or nothing is released.
    return replace(claim, curvature_sensitivity=moved, worst=claim.distance(asked.proposal or 0.0))


def _tolerance(request: Request, masks: Masks, facts: Constants, dimension: int, epsilon: float) -> float:
    """Return where the solver stops: a thousandth of a row's pull, or what rounding allows (A4)."""
    wanted = TOLERANCE_SHARE / max(1.0, epsilon) * facts.gradient_diameter / (2 * request.n_samples)
    return max(wanted, smallest_tolerance(facts, request.n_samples * max(1, masks.count), dimension))


def _refuse_too_few_rows(claim: Dropout) -> None:
    """Refuse a part of the budget that no rows of this number could make anything of."""
    proposal, margin = claim.proposal or 0.0, claim.noisy().margin
    needed = proposal + margin
    if needed < claim.most():
        return
    room = claim.most() - proposal
    remedy = "propose less than that"
    if room > 0:
        rows = math.ceil(claim.n_samples * margin / room) + 1
        remedy = f"train on {rows:,} rows or more, raise epsilon or curvature_share"
    raise InvalidParameter(
        f"a curvature that shows through its noise: the most that rows can have is {claim.most():.4g}",
        f"{needed:.4g} needed for n={claim.n_samples}, epsilon {claim.statistic.epsilon:g} of it for the curvature",
        f"{remedy}, or use Ridge or LogisticRegression, which pay for no curvature",
    )
