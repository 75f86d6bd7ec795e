"""Which kind of release? As asked for by name, or the one with the smallest modelled cost."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from equipoise.certify import laws
from equipoise.errors import EquipoiseError, InvalidParameter, NoTheoremApplies
from equipoise.planning.arithmetic import within_doubles
from equipoise.planning.corners import refuse_drowned_ridge
from equipoise.planning.kinds import Plan, Planner, named, planner_of
from equipoise.planning.kinds.objective import PROJECTION_GAIN
from equipoise.planning.laws import ANY
from equipoise.planning.long_tables import batches_beside
from equipoise.planning.mean_alone import MOST_LOST, is_mean_alone
from equipoise.planning.reference import RESOLUTION
from equipoise.planning.request import Request
from equipoise.vocabulary import losses
from equipoise.vocabulary.discovery import look_up, split_name

# A modelled cost below this share of what is at stake is not worth bending the loss for: slopes stay as they are.
NEGLIGIBLE = 1e-4

# How much evidence a typical prediction carries nobody knows. Between classes, which some tables tell far better than
# others, plans are compared by their mean cost with less of it, with it and with more, by a factor of 2.36 either way:
# what noise costs, as a share of what is at stake, goes with one over its square, so that it counts nine quarters
# (docs/mechanisms.md).
DOUBTED = 9 / 4

AUTOMATIC = "auto"


@dataclass(frozen=True, slots=True)
class Choice:
    """A line of the menu: one way to spend the budget, its modelled cost, and why it was taken or not."""

    kind: str
    theorem: str
    law: str
    alpha: float
    clip: float | None
    cost: float
    verdict: str
    projection: int = 0


def choose(request: Request) -> tuple[Plan, tuple[Choice, ...]]:
    """Return the plan that a request asks for, and the menu when the choice was left to public facts."""
    plan, menu = _chosen(request)
    if request.recipe is None:
        refuse_drowned_ridge(request, plan, lambda smooth: _chosen(smooth)[0])
    return plan, menu


def _chosen(request: Request) -> tuple[Plan, tuple[Choice, ...]]:
    planners, known_laws = named(), laws.members()
    if request.recipe is not None:
        known = {name: planner for name, planner in planners.items() if not planner.minimises}
        asked = planners["method" if request.recipe.method else "sgd"]
        known |= dict.fromkeys((*ANY, *known_laws), asked)
        return next(plans(look_up(known, request.mechanism, "mechanism"), request, None)), ()
    if request.mechanism in known_laws:
        return next(plans(planners["output"], request, None)), ()
    name, parameters = split_name(request.mechanism, "mechanism")
    if name == AUTOMATIC and not parameters:
        return _cheapest(request)
    if name == AUTOMATIC or name in known_laws:
        raise InvalidParameter(f"mechanism={name!r} without a number", repr(request.mechanism), f"write {name!r}")
    known = {name: planner for name, planner in planners.items() if planner.minimises}
    known |= dict.fromkeys((AUTOMATIC, *known_laws), planners["output"])
    planner = look_up(known, name, "mechanism")
    return next(plans(planner, request, parameters[0] if parameters else None)), ()


def plans(planner: type[Planner[Any]], request: Request, parameter: float | None) -> Iterator[Plan]:
    """Return the plans of one kind; refuse one that is not proved for what neighbours differ in."""
    if request.domain.unit not in planner.claim.units:
        proved = [name for name, other in sorted(named().items()) if request.domain.unit in other.claim.units]
        raise NoTheoremApplies(
            f"a release of kind {planner.claim.kind!r} that covers all rows of a {request.domain.unit}",
            "no proof: N1 covers other kinds",
            f"use an estimator and a mechanism of kind {' or '.join(map(repr, proved))}, such as LogisticRegression, "
            "or leave the person out if nobody has more than one row",
        )
    if request.domain.class_weights is not None and "person" not in planner.claim.units:
        raise NoTheoremApplies(
            f"a release of kind {planner.claim.kind!r} with class weights",
            "no proof: N2 covers other kinds",
            "leave class_weight out, or use an estimator such as LogisticRegression, LinearSVC or SGDClassifier",
        )
    return iter(planner().plans(request, parameter))


def _cheapest(request: Request) -> tuple[Plan, tuple[Choice, ...]]:
    """Return the plan with the smallest modelled cost, or one that clips nothing where its cost is negligible."""
    found: list[Plan] = []
    refusals: dict[str, EquipoiseError] = {}
    for name, planner in sorted(named().items()):
        if not planner.minimises:
            continue
        try:
            with within_doubles():
                found.extend(plans(planner, request, None))
        except EquipoiseError as refusal:
            refusals[name] = refusal
    if not found:
        raise refusals.get("output") or NoTheoremApplies(
            "a way to spend the budget", "none that applies", "declare more public facts"
        )
    alone = [plan for plan in found if is_mean_alone(plan.claim)]
    found = _worth_reducing([plan for plan in found if not is_mean_alone(plan.claim)])
    found.sort(key=lambda plan: (plan.share, plan.claim.kind))
    if alone and found[0].share > MOST_LOST:
        lines = [_line(alone[0], "taken: the mean alone, for columns would cost more than they tell")]
        lines += [_line(plan, f"loses more than {MOST_LOST:g} of what columns tell") for plan in found]
        return alone[0], (*lines, *_refused(refusals))
    faithful = [plan for plan in found if plan.clip is None and plan.share <= NEGLIGIBLE]
    # The cost of a model of classes is compared with that of other encodings and of batches as well: it stays.
    doubt = DOUBTED - 1 if losses.named(request.loss).task == "classification" else 0.0
    compared = [plan.share + doubt * plan.noise if plan.share < float("inf") else plan.share for plan in found]
    least = min(compared) + RESOLUTION
    equal = [plan for plan, cost in zip(found, compared, strict=True) if cost <= least]
    # Of found that are as fast, one that clips slopes is taken: no row can pull far.
    chosen = min(faithful or equal, key=lambda plan: (not _preferred(plan), plan.clip is None, plan.share))
    reason = "taken: the smallest modelled cost"
    if faithful:
        reason = f"taken: slopes unclipped, cost below {NEGLIGIBLE:g}"
    elif chosen is not found[0]:
        reason = "taken: no dearer than the cheapest, as far as the model can tell"
    taken, beside = _by_batches(request, chosen)
    if taken is not None:
        found, chosen, reason = [taken, *found], taken, "taken: no dearer, with a part of the work"
    lines = [_line(plan, reason if plan is chosen else _loss(plan, chosen)) for plan in found] + beside
    return chosen, (*lines, *_refused(refusals))


def _refused(refusals: dict[str, EquipoiseError]) -> Iterator[Choice]:
    """Yield a line for every kind that cannot serve the request."""
    for name, error in refusals.items():
        yield Choice(name, "", "", 0.0, None, float("inf"), f"refused: {error.remedy}")


def _worth_reducing(found: list[Plan]) -> list[Plan]:
    """Return the plans without one on a few directions that wins too little over the cheapest of all columns."""
    of_all = min((plan.share for plan in found if not _directions(plan)), default=float("inf"))
    return [plan for plan in found if not _directions(plan) or 1 - plan.share > PROJECTION_GAIN * (1 - of_all)]


def _preferred(plan: Plan) -> bool:
    return planner_of(plan.claim).preferred


def _line(plan: Plan, verdict: str) -> Choice:
    claim = plan.claim
    return Choice(claim.kind, claim.theorem, claim.law, claim.alpha, plan.clip, plan.share, verdict, _directions(plan))


def _directions(plan: Plan) -> int:
    return int(getattr(plan.claim, "projection", 0))


def _by_batches(request: Request, chosen: Plan) -> tuple[Plan | None, list[Choice]]:
    """Return noisy SGD's plan where it is taken for the chosen one, or its line of the menu where it was considered."""
    try:
        beside = batches_beside(request, chosen)
        if beside is None:
            return None, []
        if beside.beats(chosen) and beside.allowed:
            plan = next(plans(named()[beside.claim.kind], beside.request, None))
            # The noise that all steps ask for together is known now.
            if plan.share <= chosen.share + RESOLUTION:
                return replace(plan, clip=beside.clip), []
    except EquipoiseError:
        return None, []
    claim, verdict = beside.claim, _more(beside.cost, chosen.share)
    if beside.beats(chosen) and not beside.allowed:
        verdict = "as good and faster, but rows may lie with workers: NoisySGDClassifier takes it"
    return None, [Choice(claim.kind, claim.theorem, claim.law, claim.alpha, beside.clip, beside.cost, verdict)]


def _loss(plan: Plan, chosen: Plan) -> str:
    return _more(plan.share, chosen.share)


def _more(share: float, chosen: float) -> str:
    if share < chosen:
        return "cheaper by less than the model can tell"
    if not 0 < chosen < float("inf"):
        return "costs as much, as far as the model can tell"
    return f"costs {share / chosen:.3g} times as much"
