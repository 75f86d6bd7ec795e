"""A1, A2 and the ball: minimisers of a strongly convex objective do not move far."""

import math
from collections.abc import Iterator
from typing import ClassVar

from ...vocabulary.facts import Hypothesis, Setting
from .base import Theorem


def strongly_convex(setting: Setting) -> Iterator[Hypothesis]:
    """Yield what every theorem on regularised minimisers needs (A1)."""
    facts = setting.constants
    yield Hypothesis("the objective is strongly convex", facts.strong_convexity > 0, "add a ridge: alpha > 0")
    remedy = "bound the rows and labels in the domain, or choose a Lipschitz loss"
    yield Hypothesis("the loss is convex and Lipschitz on the domain", 0 < facts.lipschitz < math.inf, remedy)


class StronglyConvex(Theorem):
    """``||w_S - w_S'|| <= 2 rho / (n mu)``: rho is the Lipschitz constant of the loss, mu the strong convexity.

    The penalty is the same for both datasets and cancels; it does not enter rho. Attained by linear losses.
    """

    id: ClassVar[str] = "A1"

    def hypotheses(self, setting: Setting) -> Iterator[Hypothesis]:
        """Yield strong convexity and a Lipschitz loss."""
        yield from strongly_convex(setting)

    def sensitivity(self, setting: Setting) -> float:
        """Return ``2 rho / (n mu)``."""
        facts = setting.constants
        return 2 * facts.lipschitz / (setting.n_samples * facts.strong_convexity)


class BoundedMinimisers(Theorem):
    """A theorem that needs a ball, known before any data, in which every minimiser lies (A2, lemma R)."""

    def hypotheses(self, setting: Setting) -> Iterator[Hypothesis]:
        """Yield the common conditions and a known bound on every minimiser."""
        yield from strongly_convex(setting)
        claim = "every minimiser has a norm bounded before data is seen"
        yield Hypothesis(claim, math.isfinite(setting.constants.radius), "add a ridge, or a radius to the domain")


class GradientDiameter(BoundedMinimisers):
    """``||w_S - w_S'|| <= Gam / (n mu)``: Gam is the largest distance of two examples' gradients at one minimiser."""

    id: ClassVar[str] = "A2"

    def sensitivity(self, setting: Setting) -> float:
        """Return ``Gam / (n mu)``."""
        facts = setting.constants
        return facts.gradient_diameter / (setting.n_samples * facts.strong_convexity)


class WeightBall(BoundedMinimisers):
    """``||w_S - w_S'|| <= 2 R``: smaller than stability gives for a handful of rows or a tight weight radius."""

    id: ClassVar[str] = "ball"

    def sensitivity(self, setting: Setting) -> float:
        """Return ``2 R``."""
        return 2 * setting.constants.radius
