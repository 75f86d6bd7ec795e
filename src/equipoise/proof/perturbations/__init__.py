"""Theorems on objective perturbation, one file a family; members are discovered from this folder."""

import functools
import sys

from equipoise.proof.mechanisms.base import Calibration, Mechanism
from equipoise.proof.perturbations.approximate import completed
from equipoise.proof.perturbations.base import Perturbation
from equipoise.vocabulary.discovery import discover
from equipoise.vocabulary.facts import Bound, Budget, Hypothesis, Setting

__all__ = ["Perturbation", "answers", "completed", "members"]


TOO_DEAR = Hypothesis(
    "some scale meets the budget: one row's curvature costs less than epsilon", False, "raise alpha or epsilon"
)


@functools.cache
def members() -> dict[str, type[Perturbation]]:
    """Return every theorem by its id."""
    return discover(sys.modules[__name__], Perturbation)  # type: ignore[type-abstract]


def answers(setting: Setting, law: Mechanism, budget: Budget) -> tuple[tuple[Bound, Calibration | None], ...]:
    """Return every theorem's answer for one law of noise: its conditions, and the scale that meets the budget.

    The value of such a bound is the scale, since there is no sensitivity to bound.
    """
    dimension = setting.problem.dimension(setting.n_features)
    found: list[tuple[Bound, Calibration | None]] = []
    for name, member in sorted(members().items()):
        theorem = member()
        hypotheses = tuple(theorem.hypotheses(setting, law))
        holds = all(hypothesis.holds for hypothesis in hypotheses)
        scale = theorem.scale_for(setting, law, budget) if holds else None
        if holds and scale is None:
            hypotheses += (TOO_DEAR,)
        bound = Bound(name, theorem.certifies, scale, hypotheses)
        calibration = None if scale is None else Calibration(law.id, scale, law.deviation(scale, dimension))
        found.append((bound, calibration))
    return tuple(found)
