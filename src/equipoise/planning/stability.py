"""Stability on its own: every theorem's answer for a problem, without data, noise or budget."""

import functools
from collections.abc import Mapping

from equipoise.certify import theorems
from equipoise.certify.theorems import Theorem
from equipoise.errors import NoTheoremApplies
from equipoise.planning import comparisons
from equipoise.planning.measured_only import measured_only
from equipoise.planning.rules import settled
from equipoise.vocabulary.constants import setting as make_setting
from equipoise.vocabulary.discovery import discover
from equipoise.vocabulary.facts import Bound, Problem, Recipe, Setting
from equipoise.vocabulary.methods import method_named


@functools.cache
def members() -> dict[str, type[Theorem]]:
    """Return every theorem by its id: those that certify, and those that are kept for comparison."""
    return {**theorems.members(), **discover(comparisons.__name__, Theorem)}


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
    return answers(make_setting(problem, settled(problem, recipe), n_samples, n_features))


def answers(setting: Setting) -> tuple[Bound, ...]:
    """Return the answer of every theorem about such a recipe, smallest first, those that do not apply last."""
    return tuple(sorted((*_said(setting, members()), *measured_only(setting)), key=_order))


def _said(setting: Setting, among: Mapping[str, type[Theorem]]) -> list[Bound]:
    """Return what those among these theorems say that are about such a recipe."""
    recipe, about = setting.recipe, "minimiser"
    if recipe.method:
        about = method_named(recipe.method).name
    elif recipe.descends:
        about = "descent"
    return [theorems.carried(theorem(), setting) for theorem in among.values() if theorem.about == about]


def _order(bound: Bound) -> tuple[bool, float, bool, str]:
    return (bound.value is None, bound.typical or 0.0, not bound.certifies, bound.theorem)


def certified(answered: tuple[Bound, ...]) -> tuple[Bound, ...]:
    """Return the answers on which a claim can rest: of theorems that the check knows, all of whose hypotheses hold."""
    known = theorems.members()
    return tuple(
        bound for bound in answered if bound.value is not None and bound.theorem.removesuffix(theorems.SUFFIX) in known
    )


def smallest(setting: Setting) -> Bound:
    """Return the smallest bound that certifies (M2: the choice uses public numbers only).

    A search asks for it hundreds of times: theorems that are kept for comparison are asked only where none certifies.
    """
    for bound in certified(tuple(sorted(_said(setting, theorems.members()), key=_order))):
        return bound
    raise refusal(answers(setting))


def refusal(answered: tuple[Bound, ...]) -> NoTheoremApplies:
    """Return the error that says what every theorem misses, remedies that several share put together."""
    refusals: dict[str, list[str]] = {}
    # Where nothing could certify, because an algorithm can only be measured, the reason's own remedy counts.
    for bound in [bound for bound in answered if bound.certifies] or answered:
        for hypothesis in bound.missing:
            refusals.setdefault(hypothesis.remedy, []).append(bound.theorem)
    return NoTheoremApplies(
        "a theorem that bounds how far the model can move",
        "none whose every hypothesis holds",
        "; ".join(f"{remedy} ({', '.join(ids)})" for remedy, ids in refusals.items()),
    )
