"""Theorems, one file a family; members are discovered from this folder. A theorem is arithmetic on public numbers."""

import functools
import sys

from equipoise.errors import NoTheoremApplies
from equipoise.proof.theorems.approximate import approximate
from equipoise.proof.theorems.base import Theorem
from equipoise.proof.theorems.descent import computed
from equipoise.proof.theorems.measured_only import measured_only
from equipoise.vocabulary.discovery import discover
from equipoise.vocabulary.facts import Bound, Setting
from equipoise.vocabulary.methods import method_named

__all__ = ["Theorem", "bounds", "members", "refusal", "smallest"]


@functools.cache
def members() -> dict[str, type[Theorem]]:
    """Return every theorem by its id."""
    return discover(sys.modules[__name__], Theorem)  # type: ignore[type-abstract]


def bounds(setting: Setting) -> tuple[Bound, ...]:
    """Return the answer of every theorem about such a recipe, smallest first, those that do not apply last."""
    if setting.recipe.method:
        # Members on a method carry their bounds to computed weights themselves.
        found = [*_answers(setting, method_named(setting.recipe.method).name), *measured_only(setting)]
    elif setting.recipe.descends:
        found = [computed(bound, setting) for bound in _answers(setting, "descent")]
    else:
        found = [approximate(bound, setting) for bound in _answers(setting, "minimiser")]
    return tuple(sorted(found, key=_order))


def _answers(setting: Setting, about: str) -> list[Bound]:
    return [theorem().bound(setting) for theorem in members().values() if theorem.about == about]


def _order(bound: Bound) -> tuple[bool, float, bool, str]:
    return (bound.value is None, bound.typical or 0.0, not bound.certifies, bound.theorem)


def smallest(setting: Setting) -> Bound:
    """Return the smallest bound that applies and certifies (THEOREMS A5, M2: the choice uses public numbers only)."""
    answers = bounds(setting)
    for bound in answers:
        if bound.certifies and bound.value is not None:
            return bound
    raise refusal(answers)


def refusal(answers: tuple[Bound, ...]) -> NoTheoremApplies:
    """Return the error that says what every theorem misses, remedies that several share put together."""
    refusals: dict[str, list[str]] = {}
    # Where nothing could certify, because an algorithm can only be measured, the reason's own remedy counts.
    for bound in [bound for bound in answers if bound.certifies] or answers:
        for hypothesis in bound.missing:
            refusals.setdefault(hypothesis.remedy, []).append(bound.theorem)
    return NoTheoremApplies(
        "a theorem that bounds how far the model can move",
        "none whose every hypothesis holds",
        "; ".join(f"{remedy} ({', '.join(ids)})" for remedy, ids in refusals.items()),
    )
