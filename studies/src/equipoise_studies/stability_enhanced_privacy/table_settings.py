"""The worked settings of the page of stable algorithms: problems, recipes and chains, and how they read."""

from dataclasses import replace

from equipoise.vocabulary import losses, penalties
from equipoise.vocabulary.facts import Domain, Problem, Recipe
from equipoise_studies.stability_enhanced_privacy.table_langevin import Chain
from equipoise_studies.stability_enhanced_privacy.table_witnesses import FAR, N_ROWS

# Huber's loss with targets so far away that every row pulls with 1, wherever the weights are.
STRAIGHT = Problem(losses.named("huber:1"), penalties.named("l2", 0.1), Domain(1.0, labels=(-FAR, FAR)))
FREE = replace(STRAIGHT, penalty=penalties.named("none", 0.0))
# As strong a ridge with an L1 norm as strong, and the bridge.
ELASTIC = replace(STRAIGHT, penalty=penalties.named("elastic-net:0.5", 0.2))
BRIDGE = replace(STRAIGHT, penalty=penalties.named("bridge:1.5", 0.1))
SQUARED = Problem(losses.named("squared"), penalties.named("none", 0.0), Domain(1.0, labels=(-1.0, 1.0)))
# A ridge that keeps the margins of pairs below the hinge's corner.
PAIRS = Problem(losses.named("hinge"), penalties.named("l2", 5.0), Domain(1.0, classes=(0, 1)))
DESCENT = Recipe(passes=3, step=0.1)
# All rows in every step; the method is to be named.
MOMENTUM = Recipe(passes=5, batch_size=N_ROWS, step=0.01)
# The gradient norm at which solvers end, and where the loss has corners.
TOLERANCE, CORNERED = 1e-9, 1e-6
# Chains of Langevin steps: one, with four times the steps, and at four times the inverse temperature.
CHAIN = Chain(eta=0.1, beta=800.0, steps=20, batch=N_ROWS // 2)
LONGER, COLDER = replace(CHAIN, steps=4 * CHAIN.steps), replace(CHAIN, beta=4 * CHAIN.beta)


def penalty_words(problem: Problem) -> str:
    """Return the penalty with its strength.

    Examples
    --------
    >>> penalty_words(ELASTIC), penalty_words(BRIDGE), penalty_words(FREE)
    ('ridge 0.1, L1 norm 0.1', 'bridge:1.5 of strength 0.1', 'no penalty')
    """
    penalty = problem.penalty
    if penalty.id == "none":
        return "no penalty"
    if penalty.id == "bridge":
        return f"{penalty.name} of strength {penalty.alpha:g}"
    ridge = f"ridge {penalty.smoothness():g}"
    return f"{ridge}, L1 norm {penalty.corner:g}" if penalty.corner else ridge


def setting_words(problem: Problem, recipe: Recipe, first: str = "") -> str:
    """Return a worked setting in words, from its numbers.

    Examples
    --------
    >>> setting_words(FREE, replace(DESCENT, batch_size=10))
    'no penalty, 3 passes, step 0.1, batches of 10'
    >>> setting_words(STRAIGHT, Recipe(1e-9))
    'ridge 0.1, solved to 1e-09'
    """
    words = [first, "" if problem.loss == STRAIGHT.loss else f"{problem.loss.id} loss", penalty_words(problem)]
    if recipe.passes:
        words += [f"{recipe.passes:g} passes", f"step {recipe.step}"]
        words.append(f"batches of {recipe.batch_size}" if 1 < recipe.batch_size < N_ROWS else "")
        words.append("all rows in every step" if recipe.batch_size == N_ROWS else "")
        words.append(f"{recipe.average} average" if recipe.average != "last" else "")
        words.append(f"masks hide a column with chance {recipe.dropout:g}" if recipe.dropout else "")
        words.append(f"gradients clipped at {recipe.clip:g}" if recipe.clip else "")
    words.append(f"solved to {recipe.tolerance:g}" if recipe.tolerance else "")
    return ", ".join(word for word in words if word)


def chain_words(chain: Chain) -> str:
    """Return a chain of Langevin steps in words, from its numbers.

    Examples
    --------
    >>> chain_words(CHAIN)
    'no penalty, 20 steps of eta = 0.1 (T_k = 2), each on 50 of 100 rows, beta = 800; noise multiplier 3.95'
    """
    steps = f"{chain.steps} steps of eta = {chain.eta:g} (T_k = {chain.eta * chain.steps:g})"
    rows = f"each on {chain.batch} of {chain.n_samples} rows"
    noise = f"noise multiplier {chain.multiplier(FREE):.3g}"
    return f"{penalty_words(FREE)}, {steps}, {rows}, beta = {chain.beta:g}; {noise}"
