"""Objective perturbation: tilt the objective by a random linear term, then minimise."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from equipoise.certify.claims import Noise
from equipoise.certify.claims.objective import Objective as Claim
from equipoise.errors import BudgetImpossible, InvalidParameter, NoTheoremApplies
from equipoise.proof.mechanisms import LARGEST_SCALE, SMALLEST_SCALE, Calibration, Mechanism, named
from equipoise.proof.perturbations import answers, completed, members
from equipoise.proof.perturbations.approximate import FINISHING_SHARE, finishing_sensitivity, public_tolerance
from equipoise.proof.perturbations.base import determinant_price
from equipoise.proof.perturbations.vertices import CornerCurve
from equipoise.proof.reference import lost_by_projection, of_problem, ridge_share
from equipoise.proof.request import Request
from equipoise.proof.routes.base import REACH, Plan, Procedure, Route
from equipoise.proof.theorems.approximate import ROUNDING_MARGIN
from equipoise.vocabulary import losses, penalties
from equipoise.vocabulary.constants import constants, well_conditioned
from equipoise.vocabulary.facts import Bound, Budget, Problem, Recipe, Setting
from equipoise.vocabulary.losses import Loss
from equipoise.vocabulary.numbers import LARGEST, SMALLEST, require_number

LAWS = ("spherical-laplace", "gaussian")
FINISHING_LAW = "spherical-laplace"

# Rows are reduced to a few directions only where, by the model, that wins half as much again of what is at stake: the
# model is rough, and a projection is one more thing to explain.
PROJECTION_GAIN = 1.5
# The map is a dense matrix with a row a column of the table; wider tables, sparse ones mostly, stay as they are.
MOST_PROJECTED = 4096

# The grid of alpha="public": steps an octave, from 2^-40 to 2^30 of the loss's smoothness.
STEPS_AN_OCTAVE = 4
OCTAVES = (-40, 30)


class Objective(Route):
    """Noise in the objective: ``argmin F(w) + <b, w>/n`` over a ball, with a little noise on top (E2, E3, E4).

    Directions in which the data is curved hardly feel the tilt; that is what output perturbation cannot do. Slopes are
    clipped at their typical size at prediction 0 (or at the number after the colon), which keeps the objective convex
    and quarters the noise's variance (B7).
    """

    id: ClassVar[str] = "objective"
    words: ClassVar[str] = "noise in the objective"

    def plans(self, request: Request, parameter: float | None) -> Iterator[Plan]:
        """Yield the plan with clipped slopes, and the one without when clipping changes the loss."""
        loss, label_bound = losses.named(request.loss), request.domain.label_bound
        cap = loss.typical_slope(label_bound)
        if parameter is not None:
            cap = require_number("clip", parameter, above=0.0, remedy="write objective:0.5, or objective alone")
        clipped = loss.clipped(cap)
        if parameter is not None and clipped.slope_bound(math.inf, label_bound) > cap:
            remedy = "clip the logistic, squared or huber loss, or leave the number out"
            raise InvalidParameter(f"the {loss.id} loss clipped at {cap:g}", "a loss with no clipped form", remedy)
        if clipped != loss:
            yield self._plan(request, clipped, cap)
        if parameter is None or clipped == loss:
            yield self._plan(request, loss, None)
        narrow = request.n_features <= MOST_PROJECTED
        if parameter is None and narrow and request.penalty == "l2" and request.domain.radius is None:
            yield from self._projected(request, clipped, None if clipped == loss else cap)

    def _projected(self, request: Request, loss: Loss, clip: float | None) -> Iterator[Plan]:
        """Yield the cheapest plan on a few public random directions (P1), if it wins enough to be worth them.

        Where noise drowns most of the weights, fewer of them are better: the noise's norm grows with their number.
        """
        least = 1 - PROJECTION_GAIN * (1 - self._plan(request, loss, clip).share)
        best: Plan | None = None
        for directions in (2**power for power in range((request.n_features - 1).bit_length())):
            lost = lost_by_projection(request.n_features, directions)
            if lost < least:
                plan = self._plan(replace(request, n_features=directions), loss, clip)
                share = lost + (1 - lost) * plan.share
                if share < least:
                    procedure = replace(plan.procedure, projection=directions)
                    claim = None if plan.claim is None else replace(plan.claim, projection=directions)
                    best, least = replace(plan, share=share, procedure=procedure, claim=claim), share
        if best is not None:
            yield best

    def _plan(self, request: Request, loss: Loss, clip: float | None) -> Plan:
        finishing = request.budget.epsilon * FINISHING_SHARE
        budget = Budget(request.budget.epsilon * (1 - FINISHING_SHARE) * (1 - 1e-12), request.budget.delta)
        alpha = _public_alpha(request, loss, budget, finishing) if isinstance(request.alpha, str) else request.alpha
        problem = _problem(request, loss, alpha)
        noise = _calibrated(_setting(request, problem, None), budget)
        scale = noise.calibration.scale
        setting = _setting(request, problem, scale)
        dimension = problem.dimension(request.n_features)
        bounds = tuple(completed(bound, setting, scale) for bound in noise.bounds)
        chosen = next(bound for bound in bounds if bound.theorem == f"{noise.theorem}+E4")
        if chosen.missing:
            remedies = "; ".join(hypothesis.remedy for hypothesis in chosen.missing)
            raise NoTheoremApplies("objective perturbation", "hypotheses that do not hold", remedies)
        law, finisher = named(noise.calibration.mechanism), named(FINISHING_LAW)
        finishing_scale = finisher.scale_for(finishing_sensitivity(setting), dimension, Budget(finishing))
        if finishing_scale is None or not SMALLEST_SCALE <= min(scale, finishing_scale) <= LARGEST_SCALE:
            raise BudgetImpossible(
                f"objective perturbation at epsilon={request.budget.epsilon:g}",
                "an epsilon too small for the noise that hides where the solver stops",
                "raise epsilon",
            )
        inner = members()[noise.theorem]().curve(setting, law, scale)
        return Plan(
            route=self.id,
            loss=loss.name,
            alpha=alpha,
            constants=setting.constants,
            tolerance=setting.recipe.tolerance,
            bounds=bounds,
            theorem=chosen.theorem,
            sensitivity=None,
            dimension=dimension,
            candidates=noise.candidates,
            mechanism=law.id,
            noise_scale=scale,
            noise_deviation=noise.calibration.deviation,
            curve=CornerCurve(((1, inner, finishing),)),
            rounding=_rounding(law, dimension),
            excess_risk=math.inf,
            share=_share(request, problem, noise.calibration.deviation, finisher.deviation(finishing_scale, dimension)),
            procedure=Procedure(
                clip=clip,
                reach=setting.constants.radius,
                finishing_epsilon=finishing,
                finishing_scale=finishing_scale,
            ),
            claim=Claim(
                budget=request.budget,
                n_samples=request.n_samples,
                problem=problem,
                n_features=request.n_features,
                noise=Noise(law.id, scale, dimension),
                theorem=chosen.theorem,
                radius=setting.constants.radius,
                tolerance=setting.recipe.tolerance,
                finish=Noise(FINISHING_LAW, finishing_scale, dimension),
                finishing_epsilon=finishing,
            ),
        )


@dataclass(frozen=True, slots=True)
class _Noise:
    """The quietest noise for the tilt, and everything that was considered."""

    theorem: str
    calibration: Calibration
    candidates: tuple[Calibration, ...]
    bounds: tuple[Bound, ...]


def _calibrated(setting: Setting, budget: Budget) -> _Noise:
    """Return the quietest noise over theorems and laws, or say which conditions fail."""
    found = [entry for name in LAWS for entry in answers(setting, named(name), budget)]
    ranked = sorted(
        (
            (calibration.deviation, bound, calibration)
            for bound, calibration in found
            if calibration and bound.certifies
        ),
        # Where theorems agree to the fineness of calibration, the first one by name is the simplest.
        key=lambda entry: (round(math.log(entry[0]), 6), entry[1].theorem),
    )
    if not ranked:
        price = determinant_price(setting) if setting.constants.strong_convexity > 0 else math.inf
        remedies = {hypothesis.remedy for bound, _ in found for hypothesis in bound.missing if bound.theorem == "E3a"}
        raise NoTheoremApplies(
            f"objective perturbation at epsilon={budget.epsilon:g}, delta={budget.delta:g}",
            f"hypotheses that do not hold (one row's curvature costs {price:.3g})",
            "; ".join(sorted(remedies)) or "raise alpha or epsilon",
        )
    _, bound, calibration = ranked[0]
    quietest: dict[str, Calibration] = {}
    for _, _, candidate in ranked:
        quietest.setdefault(candidate.mechanism, candidate)
    chosen_law = [entry for entry, _ in answers(setting, named(calibration.mechanism), budget)]
    ordered = sorted(chosen_law, key=lambda entry: (entry.value is None, entry.value or 0.0, entry.theorem))
    return _Noise(bound.theorem, calibration, tuple(quietest.values()), tuple(ordered))


def _problem(request: Request, loss: Loss, alpha: float) -> Problem:
    return Problem(loss, penalties.named(request.penalty, alpha), request.domain, request.intercept)


def _setting(request: Request, problem: Problem, scale: float | None) -> Setting:
    """Return the setting over the public ball; with the scale known, so is the tolerance."""
    radius = problem.domain.radius
    if radius is None:
        imagined = of_problem(problem, request.n_features)
        radius = REACH * imagined.norm * math.sqrt(problem.loss.free_outputs)
    exact = constants(problem, radius)
    # Clipped rows may be longer than B by their rounding (M4), and so may be what one of them changes.
    facts = replace(
        exact,
        row_norm=exact.row_norm * (1 + ROUNDING_MARGIN),
        gradient_diameter=exact.gradient_diameter * (1 + ROUNDING_MARGIN),
    )
    setting = Setting(problem, Recipe(), request.n_samples, request.n_features, facts)
    return setting if scale is None else replace(setting, recipe=Recipe(public_tolerance(setting, scale)))


def _share(request: Request, problem: Problem, deviation: float, finishing: float) -> float:
    imagined = of_problem(problem, request.n_features)
    return ridge_share(imagined, problem.penalty.strong_convexity(math.inf), deviation / request.n_samples, finishing)


def _public_alpha(request: Request, loss: Loss, budget: Budget, finishing: float) -> float:
    """Return the grid's alpha with the smallest modelled cost.

    The noise is calibrated once, where the determinant costs nothing, and grows as epsilon over what the price leaves;
    the plan itself is calibrated exactly at the alpha that is found.
    """
    unit = constants(_problem(request, loss, 1.0), 1.0).smoothness
    if not math.isfinite(unit):
        remedy = "use a smooth loss, such as smooth-hinge or huber, or mechanism='output'"
        raise NoTheoremApplies("objective perturbation", f"the {loss.id} loss, which has corners", remedy)
    # Public numbers stay within these powers of ten.
    lowest, highest = SMALLEST * 1.01, LARGEST / 1.01
    free = _setting(request, _problem(request, loss, min(max(unit * 2.0**100, lowest), highest)), None)
    calibration = _calibrated(free, budget).calibration
    finisher = named(FINISHING_LAW)

    def cost(alpha: float) -> float:
        problem = _problem(request, loss, alpha)
        setting = _setting(request, problem, calibration.scale)
        rest = budget.epsilon - determinant_price(setting)
        dimension = problem.dimension(request.n_features)
        if rest <= 0 or not well_conditioned(setting.constants, request.n_samples, dimension):
            return math.inf
        scale = finisher.scale_for(finishing_sensitivity(setting), dimension, Budget(finishing))
        if scale is None:
            return math.inf
        grown = calibration.deviation * budget.epsilon / rest
        return _share(request, problem, grown, finisher.deviation(scale, dimension))

    steps = range(OCTAVES[0] * STEPS_AN_OCTAVE, OCTAVES[1] * STEPS_AN_OCTAVE + 1)
    grid = (unit * math.pow(2.0, step / STEPS_AN_OCTAVE) for step in steps)
    return min((min(max(alpha, lowest), highest) for alpha in grid), key=cost)


def _rounding(law: Mechanism, dimension: int) -> str:
    return f"{law.rounding(dimension)}; what double precision leaves of the tilt and the solution is hidden by E4"
