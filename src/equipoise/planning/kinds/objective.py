"""Objective perturbation: tilt the objective by a random linear term, then minimise."""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import ClassVar

from equipoise.certify.claims import LARGEST_SCALE, SMALLEST_SCALE, Noise, Trained
from equipoise.certify.claims.objective import Objective
from equipoise.certify.theorems.perturbation import (
    SUFFIX,
    determinant_price,
    finishing_sensitivity,
    in_ball,
    smallest_tolerance,
)
from equipoise.errors import BudgetImpossible, InvalidParameter, NoTheoremApplies
from equipoise.planning.grids import Cost, cheapest
from equipoise.planning.kinds.base import FEW_ROWS, REACH, Extreme, Plan, Planner, free_share
from equipoise.planning.laws import deviation_of, known
from equipoise.planning.losses import known as known_loss
from equipoise.planning.mean_alone import DIRECTIONS, MOST_LOST, is_mean_alone, reduced
from equipoise.planning.mean_alone import cost as mean_alone_cost
from equipoise.planning.reference import lost_by_projection, of_problem, ridge_share
from equipoise.planning.request import Request
from equipoise.planning.tilts import completed, quietest_tilt
from equipoise.planning.words import Section, answers, number
from equipoise.planning.work import affordable, eased, passes_within
from equipoise.vocabulary import losses, penalties
from equipoise.vocabulary.constants import constants, well_conditioned
from equipoise.vocabulary.facts import Bound, Budget, Problem, Recipe, Setting
from equipoise.vocabulary.losses import Loss
from equipoise.vocabulary.numbers import LARGEST, SMALLEST, require_number

# At this ridge, divided by a small epsilon, one row's curvature costs next to nothing.
STRONGEST = 200.0

FINISHING_LAW = "spherical-laplace"

# The shares of epsilon that may hide where the solver stopped, and the share of one row's pull that the solver is asked
# for, where rounding and the limit on work allow it (E4). On a long table they do not, and more is to be hidden.
FINISHING_SHARES = (0.02, 0.05, 0.1, 0.2)
TOLERANCE_SHARE = 1e-6

# Rows are reduced to a few directions only where, by the model, that wins two fifths more of what is at stake: the
# model is rough, and a projection is one more thing to explain. With fewer directions than these, or than a quarter of
# the columns, it is a matter of luck what they show of a table: the model asks for 2 to 8, whose mean is better, but
# the worst of ten draws was behind the model of all columns (docs/mechanisms.md).
PROJECTION_GAIN = 1.4
FEWEST_DIRECTIONS = 8
FEWEST_SHARE = 4
# The map is a dense matrix with a row a column of the table; wider tables, sparse ones mostly, stay as they are.
MOST_PROJECTED = 4096

# The grid of alpha="public": steps an octave, from 2^-40 to 2^30 of the loss's smoothness.
STEPS_AN_OCTAVE = 4
OCTAVES = (-40, 30)


# The modelled cost of a plan: its problem, the deviation of a coordinate of the tilt, and that of the finishing noise.
Share = Callable[[Request, Problem, float, float], float]


class ObjectivePlanner(Planner[Objective]):
    """Noise in the objective: ``argmin F(w) + <b, w>/n`` over a ball, with a little noise on top (E2, E3, E4).

    Directions in which the data is curved hardly feel the tilt; that is what output perturbation cannot do. Slopes are
    clipped at their typical size at prediction 0 (or at the number after the colon), which keeps the objective convex
    and quarters the noise's variance (B7).
    """

    claim: ClassVar[type[Trained]] = Objective
    words: ClassVar[str] = "noise in the objective"
    place: ClassVar[str] = "coordinate of b"
    changes: ClassVar[str] = "scale of the tilt"
    preferred: ClassVar[bool] = True

    def plans(self, request: Request, parameter: float | None) -> Iterator[Plan]:
        """Yield the plan with clipped slopes, and the one without when clipping changes the loss."""
        loss, label_bound = losses.named(request.loss), request.domain.label_bound
        cap = known_loss(loss).typical_slope(label_bound)
        if parameter is not None:
            cap = require_number("clip", parameter, above=0.0, remedy="write objective:0.5, or objective alone")
        clipped = known_loss(loss).clipped(cap)
        if parameter is not None and clipped.slope_bound(math.inf, label_bound) > cap:
            remedy = "clip the logistic, squared or huber loss, or leave the number out"
            raise InvalidParameter(f"the {loss.id} loss clipped at {cap:g}", "a loss with no clipped form", remedy)
        first = _plan(request, clipped, None if clipped == loss else cap)
        yield first
        if parameter is None and clipped != loss:
            yield _plan(request, loss, None)
        narrow = request.n_features <= MOST_PROJECTED and loss.task == "classification"
        if parameter is None and narrow and request.penalty == "l2" and request.domain.radius is None:
            yield from _projected(request, clipped, first)
        mean = reduced(request)
        if parameter is None and mean is not None and first.share > MOST_LOST:
            yield _plan(mean, clipped, first.clip, DIRECTIONS, _share_of_mean)

    def rounding(self, claim: Objective) -> str:
        """Say what hides the rounding of the minimiser, besides."""
        return f"{super().rounding(claim)}; what double precision leaves of the tilt and the solution is hidden by E4"

    def how(self, claim: Objective, bounds: tuple[Bound, ...]) -> Section:
        """Say what one row changes, and what it costs."""
        facts, price = claim.constants, determinant_price(claim.setting())
        curved = "one direction's curvature" if claim.unit == "row" else "the curvature of a few directions"
        title = (
            f"What does one {claim.unit} change? The gradient, by at most Gam = {number(facts.gradient_diameter)}, and "
            f"{curved}, which costs up to {number(price)} of epsilon."
        )
        lines = [
            "The minimiser of objective + <b, w>/n is released with a little more noise, of scale "
            f"{number(claim.finish.scale)}: {number(claim.finishing_epsilon)} of epsilon hides where the solver "
            "stopped (E4).",
            f"The loss is {claim.problem.loss.name}; where slopes are clipped, no row pulls harder (B7).",
            "Scale of b that each theorem asks for:",
            *answers(bounds, claim.theorem),
        ]
        if is_mean_alone(claim):
            lines.insert(
                0,
                "First every row is reduced to one random direction, drawn by the public seed, which says little, and "
                f"by chance, beside a constant column of {number(claim.problem.intercept)}: what is told is the mean "
                "of the target, since columns would cost more than they tell (P1).",
            )
        elif claim.projection:
            lines.insert(
                0,
                f"First every row is reduced to {claim.projection} random direction(s), drawn by the public seed, and "
                "clipped again; the released weights are spread over the columns by the same map (P1).",
            )
        return title, tuple(lines)

    def ball(self, claim: Objective) -> str:
        """Say in which ball the weights are kept."""
        return f"weights are kept in a ball of radius {number(claim.constants.radius)}"

    def extreme(self, budget: Budget, n_features: int, parameter: str) -> Extreme:
        """Return a ridge at which one row's curvature, paid for out of epsilon, costs next to nothing."""
        return Extreme(STRONGEST / min(1.0, budget.epsilon), FEW_ROWS)

    def deviation_of_a_weight(self, claim: Objective) -> float | None:
        """Return a bound: a tilt moves the minimiser by at most ``||b||/(n mu)``, with the finishing noise on top."""
        moved = deviation_of(claim.noise) / (claim.n_samples * claim.constants.strong_convexity)
        return free_share(claim) * math.hypot(moved, deviation_of(claim.finish))

    def noise_words(self, claim: Objective, deviation: float | None) -> str:
        """Say how far the tilt can move a weight."""
        chance = "The mean of the target is told alone: what is shown of columns here is chance. "
        return (
            f"{chance if is_mean_alone(claim) else ''}"
            f"Noise of standard deviation {deviation_of(claim.noise):.4g} a coordinate tilted the objective, a sum "
            f"over {claim.n_samples:,} rows. It moves a weight by at most {deviation or 0.0:.4g}, in the root mean "
            "square over all weights, and by less where rows determine a weight well. The shaded band is twice as wide."
        )


def _projected(request: Request, loss: Loss, whole: Plan) -> Iterator[Plan]:
    """Yield the cheapest plan for classes on a few public random directions (P1), if it wins enough over all columns.

    Where noise drowns most of the weights, fewer of them are better: the noise's norm grows with their number.
    """
    columns = request.n_features
    least = 1 - PROJECTION_GAIN * (1 - whole.share)
    best: Plan | None = None
    fewest = max(FEWEST_DIRECTIONS, math.ceil(columns / FEWEST_SHARE))
    for directions in (2**power for power in range((fewest - 1).bit_length(), (columns - 1).bit_length())):
        lost = lost_by_projection(columns, directions)
        if lost < least:
            plan = _plan(replace(request, n_features=directions), loss, whole.clip, directions)
            share = lost + (1 - lost) * plan.share
            if share < least:
                best, least = replace(plan, share=share, noise=(1 - lost) * plan.noise), share
    if best is not None:
        yield best


def _plan(request: Request, loss: Loss, clip: float | None, directions: int = 0, modelled: Share | None = None) -> Plan:
    modelled = modelled or _share
    alpha, share = _public_choice(request, loss, modelled)
    finishing, budget = request.budget.epsilon * share, _for_the_tilt(request.budget, share)
    problem = _problem(request, loss, alpha)
    tilt = quietest_tilt(_setting(request, problem, None), budget)
    scale = tilt.calibration.scale
    setting = _setting(request, problem, scale)
    bounds = tuple(completed(bound, setting, scale) for bound in tilt.bounds)
    chosen = next(bound for bound in bounds if bound.theorem == tilt.theorem + SUFFIX)
    if chosen.missing:
        remedies = "; ".join(hypothesis.remedy for hypothesis in chosen.missing)
        raise NoTheoremApplies("objective perturbation", "hypotheses that do not hold", remedies)
    finishing_scale = known(FINISHING_LAW).scale_for(
        finishing_sensitivity(setting), setting.dimension, Budget(finishing)
    )
    scales = (scale, scale if finishing_scale is None else finishing_scale)
    if finishing_scale is None or min(scales) < SMALLEST_SCALE or max(scales) > LARGEST_SCALE:
        raise BudgetImpossible(
            f"objective perturbation at epsilon={request.budget.epsilon:g}",
            "noise of a scale that cannot be drawn, on the tilt or where the solver stops",
            "raise epsilon, or change the units of rows and targets",
        )
    finish = Noise(FINISHING_LAW, finishing_scale, setting.dimension)
    share_of_all = modelled(request, problem, tilt.calibration.deviation, deviation_of(finish))
    return Plan(
        claim=Objective(
            budget=request.budget,
            n_samples=request.n_samples,
            problem=problem,
            n_features=request.n_features,
            noise=Noise(tilt.calibration.law, scale, setting.dimension),
            theorem=chosen.theorem,
            radius=setting.constants.radius,
            tolerance=setting.recipe.tolerance,
            finish=finish,
            finishing_epsilon=finishing,
            projection=directions,
            passes=passes_within(setting),
        ),
        share=share_of_all,
        noise=share_of_all - modelled(request, problem, 0.0, 0.0),
        bounds=bounds,
        candidates=tilt.candidates,
        clip=clip,
    )


def _problem(request: Request, loss: Loss, alpha: float) -> Problem:
    return Problem(loss, penalties.named(request.penalty, alpha), request.domain, request.intercept)


def _setting(request: Request, problem: Problem, scale: float | None) -> Setting:
    """Return the setting over the public ball; with the scale known, so is the tolerance."""
    radius = problem.domain.radius
    if radius is None:
        imagined = of_problem(problem, request.n_features)
        radius = REACH * imagined.norm * math.sqrt(problem.loss.free_outputs)
    setting = in_ball(problem, radius, 0.0, request.n_samples, request.n_features)
    if scale is None:
        return setting
    wanted = TOLERANCE_SHARE * setting.constants.gradient_diameter / setting.n_samples
    return eased(replace(setting, recipe=Recipe(max(wanted, smallest_tolerance(setting, scale)))), math.inf)


def _share(request: Request, problem: Problem, deviation: float, finishing: float) -> float:
    imagined = of_problem(problem, request.n_features)
    return ridge_share(imagined, problem.penalty.strong_convexity(math.inf), deviation / request.n_samples, finishing)


def _share_of_mean(request: Request, problem: Problem, deviation: float, finishing: float) -> float:
    alpha = problem.penalty.strong_convexity(math.inf)
    return mean_alone_cost(problem, alpha, deviation / request.n_samples, finishing)


def _for_the_tilt(budget: Budget, share: float) -> Budget:
    return Budget(budget.epsilon * (1 - share) * (1 - 1e-12), budget.delta)


def _public_choice(request: Request, loss: Loss, modelled: Share) -> tuple[float, float]:
    """Return alpha, the grid's unless a number was given, and the finishing share, of the smallest modelled cost.

    The noise is calibrated once, where the determinant costs nothing, and grows as epsilon over what price and share
    leave; the plan itself is calibrated exactly at what is found. Of equals the smaller share is taken.
    """
    unit = constants(_problem(request, loss, 1.0), 1.0).smoothness
    if not math.isfinite(unit):
        remedy = "use a smooth loss, such as smooth-hinge or huber, or mechanism='output'"
        raise NoTheoremApplies("objective perturbation", f"the {loss.id} loss, which has corners", remedy)
    # Public numbers stay within these powers of ten.
    lowest, highest = SMALLEST * 1.01, LARGEST / 1.01
    free = _setting(request, _problem(request, loss, min(max(unit * 2.0**100, lowest), highest)), None)
    tilted = _for_the_tilt(request.budget, FINISHING_SHARES[0])
    calibration = quietest_tilt(free, tilted).calibration
    finisher = known(FINISHING_LAW)

    def alpha_at(step: int) -> float:
        return min(max(unit * math.pow(2.0, step / STEPS_AN_OCTAVE), lowest), highest)

    def of_share(problem: Problem, setting: Setting, share: float) -> float:
        rest = _for_the_tilt(request.budget, share).epsilon - determinant_price(setting)
        hidden = finishing_sensitivity(setting)
        scale = finisher.scale_for(hidden, setting.dimension, Budget(request.budget.epsilon * share))
        if rest <= 0 or scale is None:
            return math.inf
        grown = calibration.deviation * tilted.epsilon / rest
        return modelled(request, problem, grown, finisher.deviation(scale, setting.dimension))

    def best(alpha: float) -> tuple[float, float]:
        problem = _problem(request, loss, alpha)
        setting = _setting(request, problem, calibration.scale)
        if not (well_conditioned(setting.constants, request.rows, setting.dimension) and affordable(setting)):
            return math.inf, FINISHING_SHARES[0]
        return min((of_share(problem, setting, share), share) for share in FINISHING_SHARES)

    def cost(step: int) -> Cost:
        return False, best(alpha_at(step))[0]

    if isinstance(request.alpha, str):
        steps = range(OCTAVES[0] * STEPS_AN_OCTAVE, OCTAVES[1] * STEPS_AN_OCTAVE + 1)
        alpha = alpha_at(cheapest(steps, cost, STEPS_AN_OCTAVE))
    else:
        alpha = request.alpha
    return alpha, best(alpha)[1]
