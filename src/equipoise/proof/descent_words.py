"""What an explanation says about descents: noise at the end, in every step, or after every phase."""

from equipoise.proof.argument import Argument
from equipoise.proof.request import Request
from equipoise.proof.routes import Phase
from equipoise.proof.wording import answers, hypotheses, number
from equipoise.vocabulary.facts import Recipe

ORDERS = {
    "permutation": "in one public order",
    "fresh": "in a new public order every pass",
    "replacement": "drawn in secret",
}
USED = {"last": "the last weights are", "uniform": "the mean of all weights is", "suffix": "the later half's mean is"}


def _recipe(argument: Argument) -> Recipe:
    return argument.recipe or Recipe()


def _passes(request: Request, argument: Argument) -> list[str]:
    recipe = _recipe(argument)
    batches, steps = recipe.batches(request.n_samples), recipe.steps(request.n_samples)
    lengths = f"length {number(recipe.length)}"
    if recipe.decay:
        lengths = f"length min({number(recipe.length)}, 1/({number(recipe.decay)} t))"
    lines = [
        f"  {steps} steps of {lengths}, {batches} a pass, each on {recipe.batch_size} row(s) {ORDERS[recipe.order]}; "
        f"{USED[recipe.average]} used."
    ]
    if recipe.clip is not None:
        lines.append(f"  No row's gradient is longer than {number(recipe.clip)}: longer ones are shortened (B7).")
    if recipe.dropout:
        lines.append(f"  Public masks hide {recipe.dropout:.0%} of the columns in every step, and shorten rows (B6).")
    if recipe.skip:
        lines.append(f"  Secret coins leave out {recipe.skip:.0%} of the steps (B6).")
    return lines


def noise_at_the_end(request: Request, argument: Argument) -> str:
    """Say how far two descents can end apart."""
    bound = next(bound for bound in argument.bounds if bound.theorem == argument.theorem)
    sensitivity = number(argument.sensitivity or 0.0)
    lines = [f"How far can the weights move? At most {sensitivity} (L2), by {argument.theorem}, rounding included."]
    if bound.law and request.budget.delta > 0:
        lines = [
            f"How far can the weights move? By {number(bound.typical or 0.0)} (L2) on average over secret coins, by "
            f"{argument.theorem}; {sensitivity} at most.",
            "  Coins decide how often a row is met; the curve below is the average over that number (M1).",
        ]
    return "\n".join(lines + _passes(request, argument) + answers(argument) + hypotheses(argument))


def noise_in_steps(request: Request, argument: Argument) -> str:
    """Say what one row changes in a step, and what the run is called elsewhere."""
    recipe = _recipe(argument)
    temperature = 2 / (recipe.length * argument.noise_scale**2)
    lines = [
        f"What does one row change? The mean gradient of a batch that has it, by at most "
        f"{number(argument.sensitivity or 0.0)} (L2), by {argument.theorem}.",
        *_passes(request, argument),
        "  Rows of a step are different ones, drawn afresh; the weights are kept within "
        f"{number(argument.constants.radius)}.",
        f"  As Langevin dynamics the run has inverse temperature {number(temperature)}.",
    ]
    return "\n".join(lines + hypotheses(argument))


def noise_in_phases(request: Request, argument: Argument) -> str:
    """Say what the phases are, and what each has to hide."""
    phases = argument.procedure.phases
    kind = "minimises around its start" if phases[0].alpha else "descends over its rows once"
    lines = [
        f"How far can a phase move? The first by at most {number(phases[0].sensitivity)} (L2), by {argument.theorem}.",
        f"  {len(phases)} phases on {sum(phase.rows for phase in phases)} different rows, dealt by public seed "
        f"{request.public_seed}; each {kind}, starts where the last one was released,",
        "  and has the whole budget: a row belongs to one of them (K1).",
    ]
    lines += [
        f"    phase {count}: {phase.rows} rows, step {number(phase.step)}, moves by at most "
        f"{number(phase.sensitivity)}, noise of scale {number(phase.noise_scale)}{_around(phase)}"
        for count, phase in enumerate(phases, start=1)
    ]
    return "\n".join(lines + hypotheses(argument))


def noise_of_a_method(request: Request, argument: Argument) -> str:
    """Say how far the weights of the caller's own algorithm can move."""
    recipe = _recipe(argument)
    lines = [
        f"How far can the weights of {recipe.method} move? At most {number(argument.sensitivity or 0.0)} (L2), by "
        f"{argument.theorem}.",
        "  The caller's code trains them inside the door: rows are mapped into the domain first, and nothing leaves "
        "without noise.",
        *(_passes(request, argument) if recipe.passes else []),
    ]
    return "\n".join(lines + answers(argument) + hypotheses(argument))


def _around(phase: Phase) -> str:
    if phase.alpha == 0:
        return ""
    return f", ridge {number(phase.alpha)}, tolerance {number(phase.tolerance)}"
