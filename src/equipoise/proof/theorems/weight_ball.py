"""Two minimisers lie in one ball, so they are never further apart than its diameter."""

from collections.abc import Iterator
from typing import ClassVar

from equipoise.proof.theorems.base import Theorem, bounded_minimisers, common_hypotheses
from equipoise.vocabulary.facts import Hypothesis, Setting


class WeightBall(Theorem):
    """``||w_S - w_S'|| <= 2 R``: smaller than stability gives for a handful of rows or a tight weight radius."""

    id: ClassVar[str] = "ball"
    citation: ClassVar[str] = "Equipoise, docs/proofs/ball.md (lemma R of docs/proofs/A2.md)"
    statement: ClassVar[str] = "2 R"
    certifies: ClassVar[bool] = True

    def hypotheses(self, setting: Setting) -> Iterator[Hypothesis]:
        """Yield the common conditions and a known bound on every minimiser."""
        yield from common_hypotheses(setting)
        yield bounded_minimisers(setting)

    def sensitivity(self, setting: Setting) -> float:
        """Return ``2 R``."""
        return 2 * setting.constants.radius
