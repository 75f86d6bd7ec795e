"""The papers' own bounds on regularised minimisers: valid, looser, kept so that a table shows what they would pay."""

from collections.abc import Iterator
from typing import ClassVar

from equipoise.proof.theorems.base import Theorem, bounded_minimisers, bounded_slope, common_hypotheses
from equipoise.vocabulary.facts import Hypothesis, Setting


class WuTheorem14(Theorem):
    """``4 rho / (lambda n)``: correct, twice A1."""

    id: ClassVar[str] = "002-Thm14"
    citation: ClassVar[str] = "Wu et al. [002] Theorem 14"
    statement: ClassVar[str] = "4 rho / (n mu)"
    certifies: ClassVar[bool] = True

    def sensitivity(self, setting: Setting) -> float:
        """Return ``4 rho / (n mu)``."""
        facts = setting.constants
        return 4 * facts.lipschitz / (setting.n_samples * facts.strong_convexity)


class WuAlgorithm2(Theorem):
    """``4 (rho + lambda R) / (lambda n)``: correct, looser because it lets the penalty into the Lipschitz constant."""

    id: ClassVar[str] = "002-Alg2"
    citation: ClassVar[str] = "Wu et al. [002] Algorithm 2"
    statement: ClassVar[str] = "4 (rho + slope of the penalty) / (n mu)"
    certifies: ClassVar[bool] = True

    def hypotheses(self, setting: Setting) -> Iterator[Hypothesis]:
        """Yield the common conditions and the bounded weights that the algorithm assumes."""
        yield from common_hypotheses(setting)
        yield bounded_minimisers(setting)
        yield bounded_slope(setting)

    def sensitivity(self, setting: Setting) -> float:
        """Return ``4 (rho + slope of the penalty) / (n mu)``."""
        facts = setting.constants
        slope = facts.lipschitz + facts.penalty_slope
        return 4 * slope / (setting.n_samples * facts.strong_convexity)


class WatsonTheorem4(Theorem):
    """``4 L kappa / (n lambda)``, L kappa being the Lipschitz constant in the weights: correct, twice A1."""

    id: ClassVar[str] = "000-Thm4"
    citation: ClassVar[str] = "Watson et al. [000] Theorem 4"
    statement: ClassVar[str] = "4 L kappa / (n mu)"
    certifies: ClassVar[bool] = True

    def sensitivity(self, setting: Setting) -> float:
        """Return ``4 L kappa / (n mu)``; the slope bound is L and the row norm is kappa."""
        facts = setting.constants
        slope = setting.problem.loss.slope_bound(facts.row_norm * facts.radius, facts.label_bound)
        return 4 * slope * facts.row_norm / (setting.n_samples * facts.strong_convexity)
