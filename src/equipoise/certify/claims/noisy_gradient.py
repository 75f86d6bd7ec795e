"""Noisy gradient descent: noise in every gradient, and everything after it is free."""

import math
from typing import Literal

from ...vocabulary.constants import constants, rounding_unit
from ...vocabulary.facts import Conditions, Hypothesis, Problem, Recipe, Record, Setting
from ..curves import Curve, GaussianCurve
from ..theorems.base import ROUNDING_MARGIN
from .base import Moved, at_most, holds


class Descent(Record):
    """How the noisy gradients are used: post-processing, on which no inequality depends."""

    step: float
    momentum: float
    average: Literal["last", "uniform"]


class NoisyGradient(Moved):
    """`steps` mean gradients of slopes clipped at `clip`, over all rows (C5) or `batch` secret ones (C3), in a ball.

    One row moves each of them by at most `sensitivity`. `order` is that of the Renyi divergence that accounts for steps
    on batches; 0 stands for the composed distribution of losses.
    """

    kind = "noisy-gradient"
    units = ("row", "person")

    clip: float
    radius: float
    steps: int
    procedure: Descent
    batch: int = 0
    order: float = 0.0

    def setting(self) -> Setting:
        """Return the problem over the public ball."""
        return Setting(self.problem, Recipe(), self.n_samples, self.n_features, constants(self.problem, self.radius))

    def movement(self) -> float:
        """Return ``2 clip B / rows`` and what rounding adds to it (C5)."""
        facts, rows, most = self.constants, self.batch or self.n_samples, self.problem.domain.rows_a_person or 1
        # Several outputs round twice as much: the softmax, the slopes' lengths, the map to free coordinates (C5).
        # A sum over persons is over all of their rows (N1).
        unit = (1 if self.problem.loss.outputs == 1 else 2) * rounding_unit(rows * most, self.setting().dimension)
        rounding = unit * (self.clip * facts.row_norm + facts.smoothness * facts.radius)
        return (2 * self.clip * facts.row_norm / rows + 2 * rounding) * (1 + ROUNDING_MARGIN)

    def curve(self) -> Curve:
        """Return the curve of all steps together."""
        mu = math.sqrt(self.steps) * self.sensitivity / self.scale
        return self.of_steps(self.batch, self.steps, self.order) if self.batch else GaussianCurve(mu, self.steps)

    def conditions(self) -> Conditions:
        """Yield the conditions of C5, the bound on a gradient's change, and the noise."""
        yield from clipped_descent(self.problem, self.clip)
        composed = self.theorem == ("C3" if self.batch else "C5") and self.law == "gaussian"
        yield holds("C5 composes Gaussian noise on all rows' gradients, C3 on those of secret batches", composed)
        yield holds("a divergence has an order above 1", self.order == 0 or self.order > 1)
        yield holds("there are steps, of fewer than all rows", 0 <= self.batch < self.n_samples and self.steps >= 1)
        yield at_most(f"{self.theorem} bounds a gradient's change", self.movement(), self.sensitivity)
        yield from self.covered(self.setting().dimension)


def clipped_descent(problem: Problem, clip: float) -> Conditions:
    """Yield what noise in every gradient needs (C5)."""
    claim = "every row's slope is clipped at a public size (C5, B7)"
    yield Hypothesis(claim, 0 < clip < math.inf, "use a loss with a slope at prediction 0")
    yield Hypothesis("the penalty is a ridge", problem.penalty.id == "l2", "use an L2 penalty, or mechanism='output'")
    claim = "the loss is smooth, so that rounding moves its slopes a little only (C5)"
    remedy = "use a smooth loss, such as smooth-hinge, or mechanism='output'"
    yield Hypothesis(claim, problem.loss.curvature_bound() < math.inf, remedy)
