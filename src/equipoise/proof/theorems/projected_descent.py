"""Weights that are projected to a ball in every step never end further apart than its diameter."""

import math
from collections.abc import Iterator
from typing import ClassVar

from equipoise.proof.theorems.descent import DescentTheorem
from equipoise.vocabulary.constants import setting as make_setting
from equipoise.vocabulary.facts import Domain, Hypothesis, Problem, Recipe, Setting
from equipoise.vocabulary.losses import named as loss_named
from equipoise.vocabulary.penalties import named as penalty_named


class ProjectedDescent(DescentTheorem):
    """``||w - w'|| <= 2 R`` for weights in a ball, and so for their averages."""

    id: ClassVar[str] = "ball.descent"
    citation: ClassVar[str] = "Equipoise, docs/proofs/ball.descent.md"
    statement: ClassVar[str] = "2 R"
    certifies: ClassVar[bool] = True

    def further(self, setting: Setting) -> Iterator[Hypothesis]:
        """Yield that the weights stay in a ball."""
        yield Hypothesis(
            "the weights stay in a ball", math.isfinite(setting.constants.radius), "declare a weight radius"
        )

    def sensitivity(self, setting: Setting) -> float:
        """Return the diameter."""
        return 2 * setting.constants.radius

    @classmethod
    def examples(cls) -> Iterator[Setting]:
        """Yield a descent in a small ball."""
        domain = Domain(row_norm=1.0, classes=(0, 1), radius=0.5)
        problem = Problem(loss_named("hinge"), penalty_named("none", 0.0), domain)
        yield make_setting(problem, Recipe(passes=4, step=1.0, order="replacement"), 50, 3)
