"""What every theorem on objective perturbation says about itself."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import ClassVar

from equipoise.proof.curves import Curve
from equipoise.proof.mechanisms.base import Mechanism
from equipoise.vocabulary.facts import Adjacency, Budget, Hypothesis, Setting

# Calibration ends when the scale is known to this share, on the private side.
FINENESS = 1e-7


class Perturbation(ABC):
    """The privacy of ``argmin F(w) + <b, w>/n`` over a ball, b drawn from a law, for one row replaced.

    A setting's constants are suprema over that ball. Members speak of the exact minimiser; `approximate.py` carries
    them to what a solver returns. `certifies` is True only when ``docs/proofs/<id>.md`` has the proof.
    """

    id: ClassVar[str]
    citation: ClassVar[str]
    statement: ClassVar[str]
    certifies: ClassVar[bool]

    def hypotheses(self, setting: Setting, law: Mechanism) -> Iterator[Hypothesis]:
        """Yield every condition, met or not, each with its remedy."""
        facts, problem = setting.constants, setting.problem
        yield Hypothesis(
            "neighbouring datasets differ by replacing one row, and n is public",
            setting.adjacency is Adjacency.REPLACE_ONE,
            "declare n and use replace-one adjacency",
        )
        yield Hypothesis(
            "the penalty is a ridge, so that noise and minimiser determine each other (E2)",
            problem.penalty.id == "l2" and facts.strong_convexity > 0,
            "use an L2 penalty with alpha > 0",
        )
        yield Hypothesis(
            "the loss is convex and its slope has a bounded derivative (E2)",
            math.isfinite(facts.smoothness),
            "use a smooth loss: logistic, multinomial, smooth-hinge, huber, squared",
        )
        yield Hypothesis(
            "the slope is bounded where the weights may lie",
            math.isfinite(facts.gradient_diameter),
            "use a Lipschitz loss, or a radius in the domain",
        )
        yield Hypothesis(
            "the noise has the same log-concave law in every direction (E3a)",
            law.rotation_invariant,
            "use spherical-laplace or gaussian noise",
        )

    @abstractmethod
    def curve(self, setting: Setting, law: Mechanism, scale: float) -> Curve:
        """Return the privacy curve of the exact minimiser; called only when every hypothesis holds."""

    def scale_for(self, setting: Setting, law: Mechanism, budget: Budget) -> float | None:
        """Return the smallest scale that meets the budget, rounded to the private side; None when none does."""

        def private(scale: float) -> bool:
            return self.curve(setting, law, scale).delta(budget.epsilon) <= budget.delta

        price = determinant_price(setting)
        dimension = setting.problem.dimension(setting.n_features)
        rest = budget.epsilon - price
        start = (
            law.scale_for(setting.constants.gradient_diameter, dimension, Budget(rest, budget.delta))
            if rest > 0
            else None
        )
        if start is None:
            return None
        return smallest_scale(start, private)


def smallest_scale(start: float, private: Callable[[float], bool]) -> float | None:
    """Return the private end of a bisection for the smallest scale; None when none near the start is private."""
    low, high = start / 2, start
    while not private(high):
        low, high = high, 2 * high
        if high > 2.0**60 * start:
            return None
    while private(low):
        low, high = low / 2, low
    while high > low * (1 + FINENESS):
        middle = low * math.sqrt(high / low)
        low, high = (low, middle) if private(middle) else (middle, high)
    return high


def row_share(setting: Setting) -> float:
    """Return ``B^2 / (n alpha)``, how much one row's direction weighs against the ridge."""
    facts = setting.constants
    return facts.row_norm**2 / (setting.n_samples * facts.strong_convexity)


def determinant_price(setting: Setting) -> float:
    """Return what the change of one row's curvature adds to epsilon (E2), rounded up."""
    return setting.problem.loss.determinant_price(row_share(setting)) * (1 + 1e-12)
