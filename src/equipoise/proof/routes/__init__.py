"""Routes, one file each: where noise enters between rows and weights. Members are discovered from this folder."""

import functools
import sys
from dataclasses import dataclass

from equipoise.errors import EquipoiseError, InvalidParameter, NoTheoremApplies
from equipoise.proof import mechanisms
from equipoise.proof.request import Request
from equipoise.proof.routes.base import PLAIN, Phase, Plan, Procedure, Route
from equipoise.vocabulary.discovery import discover, look_up, split_name

__all__ = ["PLAIN", "Choice", "Phase", "Plan", "Procedure", "Route", "choose", "members"]

# A modelled cost below this share of what is at stake is not worth bending the loss for: slopes stay as they are.
NEGLIGIBLE = 1e-4

# Costs that differ by less than this are equal as far as the model can tell.
RESOLUTION = 1e-3

# Where more than this share of what is at stake is lost anyway, the quadratic model flatters descents, whose noisy path
# leaves its range: objective perturbation is taken there, if it costs no more than this factor.
DROWNED = 0.4
ROUGH_RESOLUTION = 1.15

AUTOMATIC = "auto"


@dataclass(frozen=True, slots=True)
class Choice:
    """A line of the menu: one way to spend the budget, its modelled cost, and why it was taken or not."""

    route: str
    theorem: str
    mechanism: str
    alpha: float
    clip: float | None
    cost: float
    verdict: str
    projection: int = 0


@functools.cache
def members() -> dict[str, type[Route]]:
    """Return every route by its id."""
    return discover(sys.modules[__name__], Route)  # type: ignore[type-abstract]


def choose(request: Request) -> tuple[Plan, tuple[Choice, ...]]:
    """Return the plan that a request asks for, and the menu when the choice was left to public facts."""
    if request.recipe is not None:
        known = {name: route for name, route in members().items() if not route.minimises}
        asked = members()["method" if request.recipe.method else "sgd"]
        known |= dict.fromkeys((*mechanisms.KINDS, *mechanisms.members()), asked)
        return next(iter(look_up(known, request.mechanism, "mechanism")().plans(request, None))), ()
    if request.mechanism in mechanisms.members():
        return next(members()["output"]().plans(request, None)), ()
    name, parameters = split_name(request.mechanism, "mechanism")
    if name == AUTOMATIC and not parameters:
        return _cheapest(request)
    if name == AUTOMATIC or name in mechanisms.members():
        raise InvalidParameter(f"mechanism={name!r} without a number", repr(request.mechanism), f"write {name!r}")
    known = {name: route for name, route in members().items() if route.minimises}
    known |= dict.fromkeys((AUTOMATIC, *mechanisms.members()), members()["output"])
    route = look_up(known, name, "mechanism")()
    return next(iter(route.plans(request, parameters[0] if parameters else None))), ()


def _cheapest(request: Request) -> tuple[Plan, tuple[Choice, ...]]:
    """Return the plan with the smallest modelled cost, or one that clips nothing where its cost is negligible."""
    plans: list[Plan] = []
    refusals: dict[str, EquipoiseError] = {}
    for name, route in sorted(members().items()):
        if not route.minimises:
            continue
        try:
            plans.extend(route().plans(request, None))
        except EquipoiseError as refusal:
            refusals[name] = refusal
    if not plans:
        raise refusals.get("output") or NoTheoremApplies(
            "a mechanism", "none that applies", "declare more public facts"
        )
    plans.sort(key=lambda plan: (plan.share, plan.route))
    faithful = [plan for plan in plans if plan.procedure.clip is None and plan.share <= NEGLIGIBLE]
    equal = [plan for plan in plans if plan.share <= plans[0].share + RESOLUTION]
    # Of equals, objective perturbation is the fastest, and with clipped slopes no row can pull far.
    chosen = min(
        faithful or equal, key=lambda plan: (plan.route != "objective", plan.procedure.clip is None, plan.share)
    )
    if chosen.route == "noisy-gradient" and chosen.share > DROWNED:
        calm = [plan for plan in plans if plan.route == "objective" and plan.share <= chosen.share * ROUGH_RESOLUTION]
        chosen = min(calm, key=lambda plan: plan.share, default=chosen)
    reason = "taken: the smallest modelled cost"
    if faithful:
        reason = f"taken: slopes unclipped, cost below {NEGLIGIBLE:g}"
    elif chosen is not plans[0]:
        reason = "taken: no dearer than the cheapest, as far as the model can tell"
    menu = [
        Choice(
            plan.route,
            plan.theorem,
            plan.mechanism,
            plan.alpha,
            plan.procedure.clip,
            plan.share,
            reason if plan is chosen else _loss(plan, chosen),
            plan.procedure.projection,
        )
        for plan in plans
    ]
    menu += [
        Choice(name, "", "", 0.0, None, float("inf"), f"refused: {error.remedy}") for name, error in refusals.items()
    ]
    return chosen, tuple(menu)


def _loss(plan: Plan, chosen: Plan) -> str:
    if plan.share < chosen.share:
        return "cheaper by less than the model can tell"
    return f"costs {plan.share / chosen.share:.3g} times as much"
