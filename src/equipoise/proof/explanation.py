"""The argument in plain words, with every number."""

from equipoise.proof import theorems
from equipoise.proof.argument import Argument
from equipoise.proof.mechanisms import named
from equipoise.proof.request import Request


def explain(request: Request, argument: Argument) -> str:
    """Return the whole argument as text: claim, public facts, bound, noise, curve, caveats."""
    sections = (
        _claim(request, argument),
        _facts(request, argument),
        _bound(argument),
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
            f"  Released: {argument.dimension} weights of a {request.loss} model with penalty {request.penalty}.",
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
        f"every minimiser has norm at most R = {_number(facts.radius)}"
        + (f" (constraint {_number(domain.radius)})" if domain.radius is not None else ""),
        f"loss: Lipschitz rho = {_number(facts.lipschitz)}, smoothness beta = {_number(facts.smoothness)}, "
        f"gradient diameter Gam = {_number(facts.gradient_diameter)}",
        f"penalty: strong convexity mu = {_number(facts.strong_convexity)}, "
        f"slope at most {_number(facts.penalty_slope)}",
        f"solver: stops at a gradient norm tau = {_number(argument.tolerance)}, fixed before data",
        f"public seed {request.public_seed}",
    ]
    return _list("Public facts and constants", tuple(lines))


def _bound(argument: Argument) -> str:
    slack = 2 * argument.tolerance / argument.constants.strong_convexity
    lines = [
        f"How far can the weights move? At most {_number(argument.sensitivity)} (L2), by {argument.theorem}.",
        f"  Each value includes 2 tau / mu = {_number(slack)}, {slack / argument.sensitivity:.2%} of the sensitivity, "
        "for the solver's tolerance.",
    ]
    known = theorems.members()
    for bound in argument.bounds:
        theorem = known.get(bound.theorem.removesuffix("+A4"))
        statement = "" if theorem is None else f"{theorem.statement}  [{theorem.citation}]"
        value = "does not apply" if bound.value is None else _number(bound.value)
        mark = "*" if bound.theorem == argument.theorem else " "
        lines.append(f"  {mark} {bound.theorem:<12} {value:<14} {statement}")
        lines += [f"      missing: {missing.claim}; {missing.remedy}" for missing in bound.missing]
    chosen = next((bound for bound in argument.bounds if bound.theorem == argument.theorem), None)
    if chosen is not None:
        lines.append(f"  Hypotheses of {chosen.theorem}, checked:")
        lines += [
            f"      {'yes' if hypothesis.holds else 'NO '}  {hypothesis.claim}" for hypothesis in chosen.hypotheses
        ]
    return "\n".join(lines)


def _noise(argument: Argument) -> str:
    lines = [
        f"Which noise hides that? {argument.mechanism}, scale {_number(argument.noise_scale)}, "
        f"standard deviation {_number(argument.noise_deviation)} a weight.",
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
    return (
        f"What it costs: the expected training loss is at most {_number(argument.excess_risk)} above that of any\n"
        f"  weights of norm at most {_number(argument.comparator_norm)}, {_number(argument.weight_guess)} units "
        "of evidence over the row norm (docs/proofs/J6.md)."
    )
