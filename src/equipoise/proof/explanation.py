"""The argument in plain words, with every number."""

import math

from equipoise.proof import perturbations, routes, theorems
from equipoise.proof.argument import Argument
from equipoise.proof.mechanisms import named
from equipoise.proof.private_bounds import LEVELS, ReleasedBounds
from equipoise.proof.request import Request
from equipoise.vocabulary import losses


def explain(request: Request, argument: Argument, released: tuple[ReleasedBounds, ...] = ()) -> str:
    """Return the whole argument as text: claim, public facts, bound, noise, curve, caveats."""
    sections = (
        _claim(request, argument),
        _facts(request, argument),
        _private_bounds(request, argument, released),
        _menu(argument),
        _SECTIONS[argument.route](request, argument),
        _noise(argument),
        _cost(argument),
        _list("Assumptions that make it conditional", argument.assumptions),
        _list("What to keep in mind", argument.caveats),
    )
    return "\n\n".join(section for section in sections if section) + "\n"


def _number(value: float) -> str:
    return f"{value:.6g}"


def _list(title: str, entries: tuple[str, ...]) -> str:
    return "\n".join([title, *(f"  - {entry}" for entry in entries)]) if entries else ""


def _claim(request: Request, argument: Argument) -> str:
    kind = "pure differential privacy" if request.budget.delta == 0 else "approximate differential privacy"
    return "\n".join(
        [
            f"Claim ({argument.grade}): ({_number(request.budget.epsilon)}, {_number(request.budget.delta)})-{kind}",
            f"  Neighbours: {argument.adjacency}; n = {request.n_samples} is public and one row is replaced.",
            f"  Released: a {request.loss} model with penalty {request.penalty}, by {argument.route} "
            f"({routes.members()[argument.route].words}, {argument.dimension} numbers).",
        ]
    )


def _facts(request: Request, argument: Argument) -> str:
    domain, facts = request.domain, argument.constants
    target = f"classes {domain.classes}" if domain.classes is not None else f"targets in {domain.labels}"
    rule = f"picked from public facts, comparator norm {_number(argument.comparator_norm)}"
    lines = [
        f"rows: {request.n_features} columns, clipped to norm {_number(domain.row_norm)}, "
        f"non-finite values become {domain.fill:g}; {target}",
        f"constant column {_number(request.intercept)}, so B = {_number(facts.row_norm)}",
        f"alpha = {_number(argument.alpha)} ({rule if request.alpha == 'public' else 'given'})",
        _ball(request, argument),
        f"loss: Lipschitz rho = {_number(facts.lipschitz)}, smoothness beta = {_number(facts.smoothness)}, "
        f"gradient diameter Gam = {_number(facts.gradient_diameter)}",
        f"penalty: strong convexity mu = {_number(facts.strong_convexity)}, "
        f"slope at most {_number(facts.penalty_slope)}",
        *([f"solver: stops at a gradient norm tau = {_number(argument.tolerance)}"] if argument.tolerance else []),
        f"public seed {request.public_seed}",
    ]
    return _list("Public facts and constants", tuple(lines))


def _ball(request: Request, argument: Argument) -> str:
    radius, declared = _number(argument.constants.radius), request.domain.radius
    if argument.procedure.reach is None:
        constraint = f" (constraint {_number(declared)})" if declared is not None else ""
        return f"every minimiser has norm at most R = {radius}{constraint}"
    return f"weights are kept in a ball of radius {_number(argument.procedure.reach)}"


def _private_bounds(request: Request, argument: Argument, released: tuple[ReleasedBounds, ...]) -> str:
    asked = request.private_bounds
    if asked is None:
        return ""
    model = request.for_the_model().budget.epsilon
    lines = [
        f"epsilon {_number(asked.epsilon)} pays for the bounds of {len(asked.columns)} column(s), by Q1: the "
        f"{LEVELS[0]:.0%} and the {LEVELS[1]:.0%} quantile each, from a public grid, with noise of scale "
        f"{_number(argument.bounds_scale)} on counts of rows",
        f"epsilon {_number(model)} is left for the model; by basic composition the claim covers both",
        *(f"released: {bounds.column} in [{bounds.low:g}, {bounds.high:g}]" for bounds in released),
    ]
    return _list("Private bounds, released before the model", tuple(lines))


def _menu(argument: Argument) -> str:
    if not argument.menu:
        return ""
    lines = ["Which way? Chosen by the cost modelled on the reference problem, from public facts (docs/mechanisms.md)."]
    for choice in argument.menu:
        if choice.theorem:
            clip = "unclipped" if choice.clip is None else f"clip {_number(choice.clip)}"
            clip += f", {choice.projection} directions" if choice.projection else ""
            mark = "*" if choice.verdict.startswith("taken") else " "
            lines.append(
                f"  {mark} {choice.route:<22} cost {choice.cost:<8.4f} {choice.theorem:<8} {choice.mechanism:<18} "
                f"alpha {_number(choice.alpha):<12} {clip:<12} {choice.verdict}"
            )
        else:
            lines.append(f"    {choice.route:<22} {choice.verdict}")
    lines.append("  The cost is the expected loss above the best model's, over that of a model that says nothing.")
    return "\n".join(lines)


def _hypotheses(argument: Argument) -> list[str]:
    chosen = next((bound for bound in argument.bounds if bound.theorem == argument.theorem), None)
    if chosen is None:
        return []
    marks = [f"      {'yes' if entry.holds else 'NO '}  {entry.claim}" for entry in chosen.hypotheses]
    return [f"  Hypotheses of {chosen.theorem}, checked:", *marks]


def _answers(argument: Argument) -> list[str]:
    """Return what every theorem said, each with its statement and what it misses."""
    known: dict[str, type[theorems.Theorem] | type[perturbations.Perturbation]]
    known = {**theorems.members(), **perturbations.members()}
    lines = []
    for bound in argument.bounds:
        theorem = known.get(bound.theorem.removesuffix("+A4").removesuffix("+E4"))
        statement = "" if theorem is None else f"{theorem.statement}  [{theorem.citation}]"
        value = "does not apply" if bound.value is None else _number(bound.value)
        mark = "*" if bound.theorem == argument.theorem else " "
        lines.append(f"  {mark} {bound.theorem:<12} {value:<14} {statement}")
        lines += [f"      missing: {missing.claim}; {missing.remedy}" for missing in bound.missing]
    return lines


def _output(request: Request, argument: Argument) -> str:
    slack, sensitivity = 2 * argument.tolerance / argument.constants.strong_convexity, argument.sensitivity or 0.0
    lines = [
        f"How far can the weights move? At most {_number(sensitivity)} (L2), by {argument.theorem}.",
        f"  Each value includes 2 tau / mu = {_number(slack)}, {slack / sensitivity:.2%} of the sensitivity, "
        "for the solver's tolerance.",
    ]
    return "\n".join(lines + _answers(argument) + _hypotheses(argument))


def _projection(request: Request, argument: Argument) -> list[str]:
    count = argument.procedure.projection
    if not count:
        return []
    return [
        f"  First every row of {request.n_features} columns is reduced to {count} random direction(s), drawn by public "
        f"seed {request.public_seed},",
        "  and clipped again; the released weights are spread over the columns by the same map (P1).",
    ]


def _objective(request: Request, argument: Argument) -> str:
    procedure, facts = argument.procedure, argument.constants
    share = facts.row_norm**2 / (request.n_samples * argument.alpha)
    price = losses.named(argument.loss or request.loss).determinant_price(share)
    lines = [
        "What does one row change? The gradient, by at most "
        f"Gam = {_number(facts.gradient_diameter)}, and one direction's curvature, which costs up to {_number(price)} "
        "of epsilon.",
        *_projection(request, argument),
        *_clip(argument),
        "  The minimiser of objective + <b, w>/n is released with a little more noise, of scale "
        f"{_number(procedure.finishing_scale)}: {_number(procedure.finishing_epsilon)} of epsilon hides where the "
        "solver stopped (E4).",
        "  Scale of b that each theorem asks for:",
    ]
    return "\n".join(lines + _answers(argument) + _hypotheses(argument))


def _noisy_gradient(request: Request, argument: Argument) -> str:
    procedure = argument.procedure
    rows = f"{procedure.batch} rows drawn in secret" if procedure.batch else "all rows"
    shown = "the last weights are" if procedure.average == "last" else "the mean of all weights is"
    lines = [
        f"What does one row change? Every gradient, by at most {_number(argument.sensitivity or 0.0)} (L2), "
        f"by {argument.theorem}.",
        *_clip(argument),
        f"  {procedure.steps} steps of length {_number(procedure.step)} with momentum {_number(procedure.momentum)}, "
        f"each on the noisy gradient of {rows}; {shown} released.",
    ]
    return "\n".join(lines + _hypotheses(argument))


def _sums(request: Request, argument: Argument) -> str:
    size, weight = argument.bounds[0].value or 0.0, argument.procedure.moment_weight
    norm = "L1" if argument.theorem == "E7" else "L2"
    lines = [
        f"What does one row change? Sums of products of columns, by at most {_number(size)} ({norm}), "
        f"by {argument.theorem}.",
        *([f"  Sums with the target are multiplied by {_number(weight)} beside the others."] if weight else []),
        f"  Their noise is met by a ridge of {_number(argument.procedure.ridge)}, computed from what was released.",
    ]
    return "\n".join(lines + _hypotheses(argument))


def _clip(argument: Argument) -> list[str]:
    clip = argument.procedure.clip
    return (
        []
        if clip is None
        else [f"  No row's slope counts for more than {_number(clip)}: steeper ones are clipped (B7)."]
    )


_PLACES = {
    "output": "weight",
    "objective": "coordinate of b",
    "noisy-gradient": "coordinate of a gradient",
    "sufficient-statistics": "sum",
    "functional": "coefficient",
}

_SECTIONS = {
    "output": _output,
    "objective": _objective,
    "noisy-gradient": _noisy_gradient,
    "sufficient-statistics": _sums,
    "functional": _sums,
}


def _noise(argument: Argument) -> str:
    lines = [
        f"Which noise hides that? {argument.mechanism}, scale {_number(argument.noise_scale)}, "
        f"standard deviation {_number(argument.noise_deviation)} a {_PLACES[argument.route]}.",
        f"  [{named(argument.mechanism).citation}]",
    ]
    lines += [
        f"    {candidate.mechanism:<20} scale {_number(candidate.scale):<12} "
        f"standard deviation {_number(candidate.deviation)}"
        for candidate in argument.candidates
    ]
    points = "; ".join(f"epsilon {_number(point.epsilon)}: delta {_number(point.delta)}" for point in argument.curve)
    lines.append(f"  The curve of this release: {points}.")
    return "\n".join(lines)


def _cost(argument: Argument) -> str:
    if math.isinf(argument.excess_risk):
        return (
            f"What it costs: modelled on the reference problem, {argument.cost:.2%} of what a model that says nothing\n"
            "  would lose (docs/mechanisms.md); there is no certified bound for this route."
        )
    return (
        f"What it costs: the expected training loss is at most {_number(argument.excess_risk)} above that of any\n"
        f"  weights of norm at most {_number(argument.comparator_norm)}, {_number(argument.weight_guess)} units "
        "of evidence over the row norm (docs/proofs/J6.md)."
    )
