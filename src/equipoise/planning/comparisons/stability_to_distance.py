"""A3: from uniform stability to distance, Theorem 7 of [000] in its two repaired forms."""

import math
from collections.abc import Iterator
from typing import ClassVar

from equipoise.certify.theorems.minimisers import StronglyConvex
from equipoise.planning.comparisons.slopes import bounded_slope, penalty_slope
from equipoise.vocabulary.facts import Hypothesis, Setting


class SwappedStability(StronglyConvex):
    """``||w_S - w_S'|| <= sqrt(2 beta / (n mu))`` with beta the stability of the bare loss at the two swapped rows.

    With ``beta = 2 rho^2 / (n mu)``, which A1 proves, it equals A1: a cross-check that never beats it.
    """

    id: ClassVar[str] = "A3b"

    def sensitivity(self, setting: Setting) -> float:
        """Return the bound for the stability that A1 gives."""
        facts = setting.constants
        curvature = setting.n_samples * facts.strong_convexity
        stability = 2 * facts.lipschitz**2 / curvature
        return math.sqrt(2 * stability / curvature)


class RegularisedStability(StronglyConvex):
    """``||w_S - w_S'|| <= sqrt(2 beta / mu)`` with beta the stability of the loss with the penalty inside.

    The form that [000] prints, with its proof repaired; at least sqrt(n) times A1.
    """

    id: ClassVar[str] = "A3a"

    def hypotheses(self, setting: Setting) -> Iterator[Hypothesis]:
        """Yield the common conditions and the finite slope of the penalty."""
        yield from super().hypotheses(setting)
        yield bounded_slope(setting)

    def sensitivity(self, setting: Setting) -> float:
        """Return the bound for the stability that A1 gives for the regularised loss."""
        facts = setting.constants
        movement = 2 * facts.lipschitz / (setting.n_samples * facts.strong_convexity)
        stability = (facts.lipschitz + penalty_slope(setting)) * movement
        return math.sqrt(2 * stability / facts.strong_convexity)
