"""The argument in plain words, with every number."""

import math

from equipoise.proof import routes
from equipoise.proof.argument import Argument
from equipoise.proof.descent_words import noise_at_the_end, noise_in_phases, noise_in_steps, noise_of_a_method
from equipoise.proof.dropout import ReleasedCurvature
from equipoise.proof.mechanisms import named
from equipoise.proof.private_bounds import LEVELS, ReleasedBounds
from equipoise.proof.request import Request
from equipoise.proof.wording import answers, clipped, hypotheses, listed, number
from equipoise.vocabulary import losses


def explain(
    request: Request,
    argument: Argument,
    released: tuple[ReleasedBounds, ...] = (),
    curvature: ReleasedCurvature | None = None,
) -> str:
    """Return the whole argument as text: claim, public facts, bound, noise, curve, caveats."""
    sections = (
        _claim(request, argument),
        _facts(request, argument),
        _private_bounds(request, argument, released),
        _curvature(argument, curvature),
        _menu(argument),
        _SECTIONS[argument.route](request, argument),
        _noise(argument),
        _cost(argument),
        listed("Assumptions that make it conditional", argument.assumptions),
        listed("What to keep in mind", argument.caveats),
    )
    return "\n\n".join(section for section in sections if section) + "\n"


def _claim(request: Request, argument: Argument) -> str:
    kind = "pure differential privacy" if request.budget.delta == 0 else "approximate differential privacy"
    return "\n".join(
        [
            f"Claim ({argument.grade}): ({number(request.budget.epsilon)}, {number(request.budget.delta)})-{kind}",
            f"  Neighbours: {argument.adjacency}; n = {request.n_samples} is public and one row is replaced.",
            f"  Released: a {request.loss} model with penalty {request.penalty}, by {argument.route} "
            f"({routes.members()[argument.route].words}, {argument.dimension} numbers).",
        ]
    )


def _facts(request: Request, argument: Argument) -> str:
    domain, facts = request.domain, argument.constants
    target = f"classes {domain.classes}" if domain.classes is not None else f"targets in {domain.labels}"
    rule = f"picked from public facts, comparator norm {number(argument.comparator_norm)}"
    lines = [
        f"rows: {request.n_features} columns, clipped to norm {number(domain.row_norm)}, "
        f"non-finite values become {domain.fill:g}; {target}",
        f"constant column {number(request.intercept)}, so B = {number(facts.row_norm)}",
        f"alpha = {number(argument.alpha)} ({rule if request.alpha == 'public' else 'given'})",
        _ball(request, argument),
        f"loss: Lipschitz rho = {number(facts.lipschitz)}, smoothness beta = {number(facts.smoothness)}, "
        f"gradient diameter Gam = {number(facts.gradient_diameter)}",
        f"penalty: strong convexity mu = {number(facts.strong_convexity)}, slope at most {number(facts.penalty_slope)}",
        *([f"solver: stops at a gradient norm tau = {number(argument.tolerance)}"] if argument.tolerance else []),
        f"public seed {request.public_seed}",
    ]
    return listed("Public facts and constants", tuple(lines))


def _ball(request: Request, argument: Argument) -> str:
    radius, declared = number(argument.constants.radius), request.domain.radius
    if argument.procedure.reach is None:
        constraint = f" (constraint {number(declared)})" if declared is not None else ""
        descends = argument.recipe is not None and argument.recipe.passes > 0
        whose = "weights on the way have" if descends else "every minimiser has"
        return f"{whose} norm at most R = {radius}{constraint}"
    return f"weights are kept in a ball of radius {number(argument.procedure.reach)}"


def _private_bounds(request: Request, argument: Argument, released: tuple[ReleasedBounds, ...]) -> str:
    asked = request.private_bounds
    if asked is None:
        return ""
    model = request.for_the_model().budget.epsilon
    lines = [
        f"epsilon {number(asked.epsilon)} pays for the bounds of {len(asked.columns)} column(s), by Q1: the "
        f"{LEVELS[0]:.0%} and the {LEVELS[1]:.0%} quantile each, from a public grid, with noise of scale "
        f"{number(argument.bounds_scale)} on counts of rows",
        f"epsilon {number(model)} is left for the model; by basic composition the claim covers both",
        *(f"released: {bounds.column} in [{bounds.low:g}, {bounds.high:g}]" for bounds in released),
    ]
    return listed("Private bounds, released before the model", tuple(lines))


def _curvature(argument: Argument, released: ReleasedCurvature | None) -> str:
    rule = argument.procedure.curvature
    if rule is None:
        return ""
    noisy = rule.noisy
    lines = [
        f"columns are kept with probability {number(rule.keep)}, "
        + (f"by {rule.masks} public mask(s) a row" if rule.masks else "in expectation over all masks (G1)"),
        f"the data's curvature g, {number(rule.most)} at most, moves by {number(noisy.sensitivity)} when a row is "
        f"replaced; ({number(rule.statistic.epsilon)}, {number(rule.statistic.delta)}) pays for Laplace noise of scale "
        f"{number(noisy.scale)} and a margin of {number(noisy.margin)} (G4)",
        f"({number(rule.weights.epsilon)}, {number(rule.weights.delta)}) is left for the weights; "
        + ("both epsilons and both deltas add up" if rule.proposal is None else "of the deltas the larger counts"),
        f"with curvature g the weights move by at most {number(rule.movement)} / ({number(rule.alpha)} + "
        f"{number(rule.factor)} g) (G3, L3)",
    ]
    if rule.proposal is None:
        lines.append("the noisy g less the margin is released and used; it is never refused")
    else:
        lines.append(f"proposed: g = {number(rule.proposal)}; unless the noisy g exceeds that by the margin, refused")
    if released is not None and not released.passed:
        lines.append("refused: the test did not confirm the proposal, and the weights are 0 whatever the rows are")
    elif released is not None:
        lines.append(
            f"released: g at least {number(released.low)}, so that the weights move by at most "
            f"{number(released.sensitivity)} and have noise of scale {number(released.noise_scale)}"
        )
    return listed("The data's curvature, released before the weights", tuple(lines))


def _menu(argument: Argument) -> str:
    if not argument.menu:
        return ""
    lines = ["Which way? Chosen by the cost modelled on the reference problem, from public facts (docs/mechanisms.md)."]
    for choice in argument.menu:
        if choice.theorem:
            clip = "unclipped" if choice.clip is None else f"clip {number(choice.clip)}"
            clip += f", {choice.projection} directions" if choice.projection else ""
            mark = "*" if choice.verdict.startswith("taken") else " "
            lines.append(
                f"  {mark} {choice.route:<22} cost {choice.cost:<8.4f} {choice.theorem:<8} {choice.mechanism:<18} "
                f"alpha {number(choice.alpha):<12} {clip:<12} {choice.verdict}"
            )
        else:
            lines.append(f"    {choice.route:<22} {choice.verdict}")
    lines.append("  The cost is the expected loss above the best model's, over that of a model that says nothing.")
    return "\n".join(lines)


def _output(request: Request, argument: Argument) -> str:
    slack, sensitivity = 2 * argument.tolerance / argument.constants.strong_convexity, argument.sensitivity or 0.0
    lines = [
        f"How far can the weights move? At most {number(sensitivity)} (L2), by {argument.theorem}.",
        f"  Each value includes 2 tau / mu = {number(slack)}, {slack / sensitivity:.2%} of the sensitivity, "
        "for the solver's tolerance.",
    ]
    return "\n".join(lines + answers(argument) + hypotheses(argument))


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
        f"Gam = {number(facts.gradient_diameter)}, and one direction's curvature, which costs up to {number(price)} "
        "of epsilon.",
        *_projection(request, argument),
        *clipped(argument),
        "  The minimiser of objective + <b, w>/n is released with a little more noise, of scale "
        f"{number(procedure.finishing_scale)}: {number(procedure.finishing_epsilon)} of epsilon hides where the "
        "solver stopped (E4).",
        "  Scale of b that each theorem asks for:",
    ]
    return "\n".join(lines + answers(argument) + hypotheses(argument))


def _noisy_gradient(request: Request, argument: Argument) -> str:
    procedure = argument.procedure
    rows = f"{procedure.batch} rows drawn in secret" if procedure.batch else "all rows"
    shown = "the last weights are" if procedure.average == "last" else "the mean of all weights is"
    lines = [
        f"What does one row change? Every gradient, by at most {number(argument.sensitivity or 0.0)} (L2), "
        f"by {argument.theorem}.",
        *clipped(argument),
        f"  {procedure.steps} steps of length {number(procedure.step)} with momentum {number(procedure.momentum)}, "
        f"each on the noisy gradient of {rows}; {shown} released.",
    ]
    return "\n".join(lines + hypotheses(argument))


def _sums(request: Request, argument: Argument) -> str:
    size, weight = argument.bounds[0].value or 0.0, argument.procedure.moment_weight
    norm = "L1" if argument.theorem == "E7" else "L2"
    lines = [
        f"What does one row change? Sums of products of columns, by at most {number(size)} ({norm}), "
        f"by {argument.theorem}.",
        *([f"  Sums with the target are multiplied by {number(weight)} beside the others."] if weight else []),
        f"  Their noise is met by a ridge of {number(argument.procedure.ridge)}, computed from what was released.",
    ]
    return "\n".join(lines + hypotheses(argument))


def _dropout(request: Request, argument: Argument) -> str:
    rule = argument.procedure.curvature
    known = 0.0 if rule is None else rule.proposal or 0.0
    lines = [
        f"How far can the weights move? At most {number(argument.sensitivity or 0.0)} (L2), by {argument.theorem}, "
        f"where the data's curvature is {number(known)}; less where more was released.",
        "  Only the curvature of the dataset at hand is needed, not that of its neighbours (A1, proof 2).",
    ]
    return "\n".join(lines + hypotheses(argument))


_PLACES = {
    "output": "weight",
    "objective": "coordinate of b",
    "noisy-gradient": "coordinate of a gradient",
    "sufficient-statistics": "sum",
    "functional": "coefficient",
    "sgd": "weight",
    "noisy-sgd": "coordinate of a gradient",
    "phased": "weight of the first phase",
    "dropout": "weight in that case",
    "method": "number",
}

_SECTIONS = {
    "output": _output,
    "objective": _objective,
    "noisy-gradient": _noisy_gradient,
    "sufficient-statistics": _sums,
    "functional": _sums,
    "sgd": noise_at_the_end,
    "noisy-sgd": noise_in_steps,
    "phased": noise_in_phases,
    "dropout": _dropout,
    "method": noise_of_a_method,
}


def _noise(argument: Argument) -> str:
    lines = [
        f"Which noise hides that? {argument.mechanism}, scale {number(argument.noise_scale)}, "
        f"standard deviation {number(argument.noise_deviation)} a {_PLACES[argument.route]}.",
        f"  [{named(argument.mechanism).citation}]",
    ]
    lines += [
        f"    {candidate.mechanism:<20} scale {number(candidate.scale):<12} "
        f"standard deviation {number(candidate.deviation)}"
        for candidate in argument.candidates
    ]
    points = "; ".join(f"epsilon {number(point.epsilon)}: delta {number(point.delta)}" for point in argument.curve)
    lines.append(f"  The curve of this release: {points}.")
    return "\n".join(lines)


def _cost(argument: Argument) -> str:
    if math.isinf(argument.cost):
        return "What it costs is not modelled: the caller's code trains."
    if math.isinf(argument.excess_risk):
        return (
            f"What it costs: modelled on the reference problem, {argument.cost:.2%} of what a model that says nothing\n"
            "  would lose (docs/mechanisms.md); there is no certified bound for this route."
        )
    return (
        f"What it costs: the expected training loss is at most {number(argument.excess_risk)} above that of any\n"
        f"  weights of norm at most {number(argument.comparator_norm)}, {number(argument.weight_guess)} units "
        "of evidence over the row norm (docs/proofs/J6.md)."
    )
