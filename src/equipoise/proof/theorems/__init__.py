"""Theorems, one file a family; members are discovered from this folder. A theorem is arithmetic on public numbers."""

import functools
import sys

from equipoise.errors import NoTheoremApplies
from equipoise.proof.theorems.approximate import approximate
from equipoise.proof.theorems.base import Theorem
from equipoise.vocabulary.discovery import discover
from equipoise.vocabulary.facts import Bound, Setting

__all__ = ["Theorem", "bounds", "members", "smallest"]


@functools.cache
def members() -> dict[str, type[Theorem]]:
    """Return every theorem by its id."""
    return discover(sys.modules[__name__], Theorem)  # type: ignore[type-abstract]


def bounds(setting: Setting) -> tuple[Bound, ...]:
    """Return every theorem's answer for a setting, smallest first, those that do not apply last."""
    answers = [approximate(theorem().bound(setting), setting) for theorem in members().values()]
    return tuple(sorted(answers, key=_order))


def _order(bound: Bound) -> tuple[bool, float, bool, str]:
    return (bound.value is None, bound.value or 0.0, not bound.certifies, bound.theorem)


def smallest(setting: Setting) -> Bound:
    """Return the smallest bound that applies and certifies (THEOREMS A5, M2: the choice uses public numbers only)."""
    answers = bounds(setting)
    for bound in answers:
        if bound.certifies and bound.value is not None:
            return bound
    refusals: dict[str, list[str]] = {}
    for bound in answers:
        for hypothesis in bound.missing if bound.certifies else ():
            refusals.setdefault(hypothesis.remedy, []).append(bound.theorem)
    raise NoTheoremApplies(
        "a theorem that bounds how far the model can move",
        "none whose every hypothesis holds",
        "; ".join(f"{remedy} ({', '.join(ids)})" for remedy, ids in refusals.items()),
    )
