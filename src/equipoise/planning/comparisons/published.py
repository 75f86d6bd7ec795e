"""The papers' own bounds on regularised minimisers: valid, looser, kept so that a table shows what they would pay."""

from collections.abc import Iterator
from typing import ClassVar

from equipoise.certify.theorems.minimisers import BoundedMinimisers, StronglyConvex
from equipoise.planning.comparisons.slopes import bounded_slope, penalty_slope
from equipoise.vocabulary.facts import Hypothesis, Setting


class WuTheorem14(StronglyConvex):
    """``4 rho / (n mu)``: correct, twice A1 (Wu et al. [002] Theorem 14)."""

    id: ClassVar[str] = "002-Thm14"

    def sensitivity(self, setting: Setting) -> float:
        """Return ``4 rho / (n mu)``."""
        facts = setting.constants
        return 4 * facts.lipschitz / (setting.n_samples * facts.strong_convexity)


class WuAlgorithm2(BoundedMinimisers):
    """``4 (rho + slope of the penalty) / (n mu)``: correct, looser, the penalty is in its rho ([002] Algorithm 2)."""

    id: ClassVar[str] = "002-Alg2"

    def hypotheses(self, setting: Setting) -> Iterator[Hypothesis]:
        """Yield the common conditions and the bounded weights that the algorithm assumes."""
        yield from super().hypotheses(setting)
        yield bounded_slope(setting)

    def sensitivity(self, setting: Setting) -> float:
        """Return ``4 (rho + slope of the penalty) / (n mu)``."""
        facts = setting.constants
        slope = facts.lipschitz + penalty_slope(setting)
        return 4 * slope / (setting.n_samples * facts.strong_convexity)


class WatsonTheorem4(StronglyConvex):
    """``4 L kappa / (n mu)``, L kappa being rho: correct, twice A1 (Watson et al. [000] Theorem 4)."""

    id: ClassVar[str] = "000-Thm4"

    def sensitivity(self, setting: Setting) -> float:
        """Return ``4 L kappa / (n mu)``; the slope bound is L and the row norm is kappa."""
        facts = setting.constants
        slope = setting.problem.loss.slope_bound(facts.row_norm * facts.radius, facts.label_bound)
        return 4 * slope * facts.row_norm / (setting.n_samples * facts.strong_convexity)
