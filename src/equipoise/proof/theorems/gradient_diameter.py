"""A2: the same with the exact replace-one gradient diameter in place of twice the Lipschitz constant."""

from collections.abc import Iterator
from typing import ClassVar

from equipoise.proof.theorems.base import Theorem, bounded_minimisers, common_hypotheses
from equipoise.vocabulary.facts import Hypothesis, Setting


class GradientDiameter(Theorem):
    """``||w_S - w_S'|| <= Gam / (n mu)``: Gam is the largest distance of two examples' gradients at one minimiser."""

    id: ClassVar[str] = "A2"
    citation: ClassVar[str] = (
        "Equipoise, docs/proofs/A2.md (rigorous table for the logistic loss, closed form for the squared)"
    )
    statement: ClassVar[str] = "Gam / (n mu)"
    certifies: ClassVar[bool] = True

    def hypotheses(self, setting: Setting) -> Iterator[Hypothesis]:
        """Yield the common conditions and a known bound on every minimiser."""
        yield from common_hypotheses(setting)
        yield bounded_minimisers(setting)

    def sensitivity(self, setting: Setting) -> float:
        """Return ``Gam / (n mu)``."""
        facts = setting.constants
        return facts.gradient_diameter / (setting.n_samples * facts.strong_convexity)
