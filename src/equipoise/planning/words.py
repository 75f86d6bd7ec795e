"""Sentences for people: what a plan's sections have in common. No claim rests on any of them."""

import inspect
import math

from equipoise.certify import theorems
from equipoise.certify.claims import Noise, Trained
from equipoise.planning import stability
from equipoise.planning.laws import Calibration, deviation_of
from equipoise.vocabulary.facts import Bound, Domain, Recipe
from equipoise.vocabulary.losses import Loss
from equipoise.vocabulary.losses.smooth_absolute import SmoothAbsolute
from equipoise.vocabulary.losses.smooth_hinge import SmoothHinge

Section = tuple[str, tuple[str, ...]]

ORDERS = {
    "permutation": "in one public order",
    "fresh": "in a new public order every pass",
    "replacement": "drawn in secret",
}
# Of persons, who are dealt to places in secret first (N1).
SECRET_ORDERS = {
    "permutation": "in one secret order",
    "fresh": "in a new order every pass, at places that are dealt in secret",
    "replacement": "drawn in secret",
}
USED = {"last": "the last weights are", "uniform": "the mean of all weights is", "suffix": "the later half's mean is"}


def number(value: float) -> str:
    """Return a number as the text shows it."""
    return f"{value:.6g}"


def statement_of(theorem: str) -> str:
    """Return what a theorem says, in the first line of its docstring, by its id."""
    known = {**stability.members(), **theorems.perturbations()}
    member = known.get(theorem.removesuffix("+A4").removesuffix("+E4"))
    first = "" if member is None else (inspect.getdoc(member) or "").partition("\n")[0]
    # Marks of code are for who reads the docstring.
    return first.replace("``", "")


def answers(bounds: tuple[Bound, ...], chosen: str) -> list[str]:
    """Return what every theorem said, each with its statement and what it misses."""
    lines = []
    for bound in bounds:
        value = "does not apply" if bound.value is None else number(bound.value)
        mark = "*" if bound.theorem == chosen else " "
        lines.append(f"{mark} {bound.theorem:<12} {value:<14} {statement_of(bound.theorem)}")
        lines += [f"    missing: {missing.claim}; {missing.remedy}" for missing in bound.missing]
    return lines


def passes(recipe: Recipe, n_samples: int, unit: str = "row") -> list[str]:
    """Return how a recipe descends, over rows or over persons with all of their rows."""
    order = (ORDERS if unit == "row" else SECRET_ORDERS)[recipe.order]
    lengths = f"length {number(recipe.length)}"
    if recipe.decay:
        lengths = f"length min({number(recipe.length)}, 1/({number(recipe.decay)} t))"
    lines = [
        f"{recipe.steps(n_samples)} steps of {lengths}, {recipe.batches(n_samples)} a pass, each on "
        f"{recipe.batch_size} {unit}(s) {order}; {USED[recipe.average]} used."
    ]
    if unit == "person":
        lines.append("A step sees all kept rows of its persons; what is said of a row below holds of a person (N1).")
    if recipe.clip is not None:
        lines.append(f"No row's gradient is longer than {number(recipe.clip)}: longer ones are shortened (B7).")
    if recipe.dropout:
        lines.append(f"Public masks hide {recipe.dropout:.0%} of the columns in every step, and shorten rows (B6).")
    if recipe.skip:
        lines.append(f"Secret coins leave out {recipe.skip:.0%} of the steps (B6).")
    return lines


def facts(claim: Trained, columns: int, picked: str, ball: str, tolerance: float, public_seed: int) -> Section:
    """Return the public facts, and the constants that follow from them."""
    problem, constants = claim.problem, claim.constants
    domain = problem.domain
    passes = getattr(claim, "passes", None)
    ending = "" if passes is None else f", on any rows after at most {passes:,} passes over them (N10)"
    target = f"classes {domain.classes}" if domain.classes is not None else f"targets in {domain.labels}"
    summed = "" if domain.row_sum is None else f" and to a sum of absolute values of {number(domain.row_sum)}"
    scaled = "" if domain.bounds is None else "scaled to [-1, 1] by their declared bounds, (x - middle)/half, "
    reduced = f", reduced to {kept} and clipped again" if (kept := getattr(claim, "projection", 0)) else ""
    lines = (
        f"- rows: {columns} columns, {scaled}clipped to norm {number(domain.row_norm)}{summed}{reduced}, "
        f"non-finite values become {domain.fill:g}; {target}",
        *_persons(domain),
        *_weights(domain),
        *_prevalence(domain),
        f"- constant column {number(problem.intercept)}, so B = {number(constants.row_norm)}",
        f"- alpha = {number(claim.alpha)} ({picked})",
        f"- {ball}",
        *_rounded_off(problem.loss),
        f"- loss: Lipschitz rho = {number(constants.lipschitz)}, smoothness beta = {number(constants.smoothness)}, "
        f"gradient diameter Gam = {number(constants.gradient_diameter)}",
        f"- penalty: strong convexity mu = {number(constants.strong_convexity)}",
        *([f"- solver: stops at a gradient norm tau = {number(tolerance)}{ending}"] if tolerance else []),
        f"- public seed {public_seed}",
    )
    return "Public facts and constants", lines


def _rounded_off(loss: Loss) -> tuple[str, ...]:
    """Return over which public width a loss is smoothed whose corner is rounded off."""
    if isinstance(loss, SmoothHinge):
        how = f"margins within {number(loss.width)} of 1, a public width"
        return (f"- the hinge, smoothed: its corner is rounded off over {how}",)
    if isinstance(loss, SmoothAbsolute):
        how = f"residuals up to {number(loss.width)}, a public width"
        return (f"- the absolute loss, smoothed: its corner is rounded off over {how}",)
    return ()


def _persons(domain: Domain) -> tuple[str, ...]:
    if domain.unit == "row":
        return ()
    return (
        f"- persons: n counts them, and how many rows each has is private; at most {domain.rows_a_person} of each are "
        "kept, and a person counts by the mean of theirs (N1)",
    )


def _weights(domain: Domain) -> tuple[str, ...]:
    if domain.class_weights is None:
        return ()
    shown = ", ".join(number(weight) for weight in domain.class_weights)
    return (
        f"- class weights {shown}, in the order of the classes: what a row counts for. They, alpha and what follows "
        "speak of the objective divided by the largest weight, which has the same minimiser (N2)",
    )


def _prevalence(domain: Domain) -> tuple[str, ...]:
    if domain.prevalence is None:
        return ()
    shown = ", ".join(number(share) for share in domain.prevalence)
    return (f"- declared prevalence {shown}, in the order of the classes: the plan is made for it, no claim needs it",)


def noise(drawn: Noise, place: str, candidates: tuple[Calibration, ...]) -> Section:
    """Return which noise hides the change, and which laws were considered."""
    title = f"Which noise hides that? {drawn.law}, scale {number(drawn.scale)}"
    lines = [f"Its standard deviation is {number(deviation_of(drawn))} a {place}."]
    lines += [
        f"  {entry.law:<20} scale {number(entry.scale):<12} standard deviation {number(entry.deviation)}"
        for entry in candidates
    ]
    return title, tuple(lines)


def cost(share: float, excess_risk: float, norm: float, guess: float) -> Section:
    """Return what a plan is modelled to cost, or the certified bound where there is one."""
    if math.isinf(share):
        return "What it costs", ("It is not modelled: the caller's code trains.",)
    if math.isinf(excess_risk):
        return "What it costs", (
            f"Modelled on the reference problem, {share:.2%} of what a model that says nothing would lose "
            "(docs/mechanisms.md); there is no certified bound for this kind of release.",
        )
    return "What it costs", (
        f"The expected training loss is at most {number(excess_risk)} above that of any weights of norm at most "
        f"{number(norm)}, {number(guess)} units of evidence over the row norm (docs/proofs/J6.md).",
    )
