"""A certificate's tree of claims: every inequality between numbers, enclosed, and whether it holds."""

from collections.abc import Iterator
from typing import Any

from flint import ctx

from . import counts, curves, kinds
from .balls import CLOSE, EXCEEDS, HOLDS, OPEN, PRECISION, Finding, Undecided, at_most, number
from .budgets import largest_within_budget, within_budget
from .dropout import dropout
from .objective import objective
from .sampled import MOST_DOTS, Sampled

# The form of certificates that is read here (docs/certificate.md).
SCHEMA = 2

KINDS = {
    "choice": counts.choice,
    "chosen-bounds": counts.chosen_bounds,
    "dropout": dropout,
    "evaluation": counts.evaluation,
    "functional": kinds.functional,
    "method": kinds.method,
    "noisy-gradient": kinds.noisy_gradient,
    "noisy-sgd": kinds.noisy_sgd,
    "objective": objective,
    "output": kinds.output,
    "phased": kinds.phased,
    "private-bounds": counts.private_bounds,
    "sgd": kinds.sgd,
    "simplex": counts.simplex,
    "stopping": counts.stopping,
    "sufficient-statistics": kinds.products,
}
COMPOSITIONS = ("sequence", "looked", "disjoint", "held-out", "post-processing")


def findings(certificate: dict[str, Any], most_dots: int = MOST_DOTS) -> tuple[Finding, ...]:
    """Return what is known of every inequality between numbers of a certificate's claim, parts included.

    What is no inequality (which loss a theorem allows, whether names fit) is the ordinary check's. A recorded number is
    taken as the double that it is, and nothing is granted for rounding. Losses of secret batches whose sums have more
    than `most_dots` dots are left open: twice as many take more than twice as long.
    """
    schema = certificate.get("schema_version")
    if schema != SCHEMA:
        return (Finding(f"a certificate of schema {schema}, which this version does not read", OPEN),)
    return tuple(_checked(certificate["claim"], most_dots))


def verdict(found: tuple[Finding, ...]) -> str:
    """Return "holds" where all inequalities do, "exceeds" where one does not, "not enclosed" otherwise."""
    verdicts = {finding.verdict for finding in found}
    return EXCEEDS if EXCEEDS in verdicts else OPEN if OPEN in verdicts else HOLDS


def _checked(claim: dict[str, Any], most_dots: int) -> Iterator[Finding]:
    kind = claim["kind"]
    for part in (*claim.get("of", ()), *_evaluated(claim)):
        yield from _checked(part, most_dots)
    yield from (finding._replace(claim=f"{kind}: {finding.claim}") for finding in _own(claim, most_dots))


def _evaluated(claim: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if claim["kind"] in ("held-out", "looked") and claim.get("released") is not None:
        yield claim["released"]


def _own(claim: dict[str, Any], most_dots: int) -> tuple[Finding, ...]:
    """Return what is found about a claim without its parts, in narrower balls where the usual ones cannot tell."""
    found = tuple(_enclosed(claim, most_dots))
    # Losses of secret batches are composed for a while, on a grid that narrower balls do not refine.
    if claim["kind"] == "noisy-sgd" or not any(CLOSE in finding.claim for finding in found):
        return found
    try:
        ctx.prec = 4 * PRECISION
        return tuple(_enclosed(claim, most_dots))
    finally:
        ctx.prec = PRECISION


def _enclosed(claim: dict[str, Any], most_dots: int) -> Iterator[Finding]:
    try:
        if claim["kind"] in COMPOSITIONS:
            yield _adds_up(claim)
            return
        if claim["kind"] not in KINDS:
            raise Undecided(f"the kind {claim['kind']}")
        answer = KINDS[claim["kind"]](claim)
        yield from answer.findings
        if isinstance(answer.curve, Sampled):
            answer.curve.most_dots = most_dots
        yield _meets(answer.curve, claim["budget"])
    except Undecided as error:
        yield Finding(str(error), OPEN)


def _meets(curve: curves.Curve, budget: dict[str, Any]) -> Finding:
    epsilon, delta = number(budget["epsilon"]), number(budget.get("delta", 0.0))
    if delta.is_zero():
        if curve.level is None:
            return Finding("noise that is never pure, for delta = 0", EXCEEDS)
        return at_most("the noise's level is within epsilon", curve.level, epsilon)
    return at_most("delta at epsilon is within the budget", curve.delta(epsilon), delta)


def _adds_up(claim: dict[str, Any]) -> Finding:
    """Return whether budgets of a sequence add up, or the largest of other parts counts."""
    shares = [part["budget"] for part in claim["of"]]
    together = within_budget if claim["kind"] in ("sequence", "looked") else largest_within_budget
    return together("the parts' budgets fit in the whole", shares, claim["budget"])
