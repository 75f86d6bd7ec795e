"""Stability on its own: every theorem's answer for a problem, without data, noise or budget."""

from equipoise.proof import theorems
from equipoise.vocabulary.constants import setting
from equipoise.vocabulary.facts import Bound, Problem, Recipe


def bounds(problem: Problem, recipe: Recipe, n_samples: int, n_features: int = 1) -> tuple[Bound, ...]:
    """Return what every theorem says about how far the weights move when one of n rows is replaced.

    Parameters
    ----------
    problem : Problem
        Loss, penalty, domain and constant column.
    recipe : Recipe
        How the problem is solved; ``Recipe()`` is the exact minimiser.
    n_samples : int
        The public number of rows.
    n_features : int
        The number of columns; it matters only for the rounding of a computed gradient.

    Returns
    -------
    tuple of Bound
        Smallest first; those whose hypotheses fail come last, with what is missing and what to do.

    Examples
    --------
    >>> import equipoise as eq
    >>> domain = eq.Domain(row_norm=1.0, labels=(-1.0, 1.0))
    >>> problem = eq.Problem(eq.losses.named("squared"), eq.penalties.named("l2", 1.0), domain)
    >>> [(bound.theorem, round(bound.value, 4)) for bound in eq.bounds(problem, eq.Recipe(), 1000)][:3]
    [('A2', 0.0047), ('A1', 0.0068), ('A3b', 0.0068)]
    """
    return theorems.bounds(setting(problem, recipe, n_samples, n_features))
