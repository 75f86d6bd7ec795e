"""Methods of which no theorem speaks, why, and what to do instead: a laboratory measures them and certifies nothing."""

from equipoise.vocabulary.facts import Bound, Hypothesis, Setting
from equipoise.vocabulary.methods import method_named

# The name that such an answer has in place of a theorem's.
ID = "measured-only"

# What holds for a net: C3 accounts for noise in every step, whatever the gradients are of.
NETS = (
    "for a net, clip every row's gradient, add noise in every step and account for it by C3, in a library that trains "
    "nets: this one has none"
)
NOT_CONVEX = "the loss of a net is not convex, so that a step on common rows can drive weights apart"

# Why no bound holds for every table, and the remedy.
REASONS = {
    "batch-norm": (
        "replacing one row changes how the other rows of its batch are normalised, so that a step moves by more than "
        "the row's own gradients (B8)",
        "for a linear model, scale columns by public constants, which makes it a descent: leave method out; a net has "
        "to do without batch normalisation, by which rows have no gradients of their own to clip, and then needs noise "
        "in every step",
    ),
    "dropout-net": (
        NOT_CONVEX,
        f"for a linear model with masked columns, leave method out and pass dropout (B6); {NETS}",
    ),
    "swapout": (NOT_CONVEX, f"train a linear model; {NETS}"),
    "entropy-sgd": (
        "the objective is not convex and its inner Langevin chain is not mixed when it stops",
        f"train a linear model, by steps with noise if you like (eq.NoisySGDClassifier); {NETS}",
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
    name = method_named(setting.recipe.method).name if setting.recipe.method else ""
    if name not in REASONS:
        return ()
    reason, remedy = REASONS[name]
    return (Bound(ID, False, None, (Hypothesis(f"measured only: {reason}", False, remedy),)),)
