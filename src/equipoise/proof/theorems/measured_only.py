"""Methods of which no theorem speaks, why, and what to do instead: a laboratory measures them and certifies nothing."""

from equipoise.vocabulary.facts import Bound, Hypothesis, Setting
from equipoise.vocabulary.methods import method_named

# The name that such an answer has in place of a theorem's.
ID = "measured-only"

# Why no bound holds for every table, and the remedy.
REASONS = {
    "batch-norm": (
        "replacing one row changes how the other rows of its batch are normalised, so that a step moves by more than "
        "the row's own gradients (B8)",
        "normalise by public constants, which makes it a descent: leave method out",
    ),
    "dropout-net": (
        "the loss of a net is not convex, so that a step on common rows can drive weights apart",
        "use a linear model with masked columns: leave method out and pass dropout (B6), or add noise to every "
        "clipped gradient (eq.NoisySGDClassifier)",
    ),
    "swapout": (
        "the loss of a net is not convex, so that a step on common rows can drive weights apart",
        "add noise to every clipped gradient (eq.NoisySGDClassifier), or train a linear model",
    ),
    "entropy-sgd": (
        "the objective is not convex and its inner Langevin chain is not mixed when it stops",
        "add noise to every clipped gradient and account for each (eq.NoisySGDClassifier)",
    ),
}


def measured_only(setting: Setting) -> tuple[Bound, ...]:
    """Return the answer for a method without a theorem, nothing for any other.

    Examples
    --------
    >>> import equipoise as eq
    >>> problem = eq.Problem(eq.losses.named("logistic"), eq.penalties.named("l2", 1.0), eq.Domain(1.0, classes=(0, 1)))
    >>> answer, = eq.bounds(problem, eq.Recipe(method="swapout"), 100)
    >>> answer.value, answer.certifies, answer.missing[0].claim[:14]
    (None, False, 'measured only:')
    """
    name = method_named(setting.recipe.method).name
    if name not in REASONS:
        return ()
    reason, remedy = REASONS[name]
    return (Bound(ID, False, None, (Hypothesis(f"measured only: {reason}", False, remedy),)),)
