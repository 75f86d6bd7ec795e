"""The objective over a row source: predictions, value, gradient, Hessian, always in float64 and block by block."""

import numpy as np
from numpy.typing import NDArray

from equipoise.learn.rows import Rows
from equipoise.vocabulary.losses import Loss
from equipoise.vocabulary.penalties import Penalty

Array = NDArray[np.float64]


class Objective:
    """``F(w) = (1/n) sum loss(<w, x_i>, y_i) + penalty(w)`` over rows that were clipped into their domain.

    Examples
    --------
    >>> from equipoise.vocabulary import losses, penalties
    >>> from equipoise.vocabulary.facts import Domain
    >>> rows = Rows(np.eye(2), np.array([1.0, -1.0]), Domain(1.0, labels=(-1.0, 1.0)), intercept=0.0)
    >>> Objective(losses.named("squared"), penalties.named("l2", 1.0), rows).gradient(np.zeros(2))
    array([-1.,  1.])
    """

    def __init__(self, loss: Loss, penalty: Penalty, rows: Rows) -> None:
        self.loss = loss
        self.penalty = penalty
        self.rows = rows

    def value(self, weights: Array, predictions: Array) -> float:
        """Return F at weights whose predictions are known."""
        mean_loss = float(self.loss.value(predictions, self.rows.targets).mean())
        return mean_loss + self.penalty.value(weights)

    def directional_slope(self, weights: Array, step: Array, predictions: Array, step_predictions: Array) -> float:
        """Return the derivative of F at weights along a step, both with known predictions."""
        slopes = self.loss.slope(predictions, self.rows.targets)
        return float(slopes @ step_predictions) / self.rows.n_samples + float(self.penalty.gradient(weights) @ step)

    def gradient(self, weights: Array) -> Array:
        """Return the gradient of F, with predictions computed afresh."""
        gradient = np.zeros(self.rows.dimension)
        for block, where in self.rows.blocks():
            gradient += self.loss.slope(block @ weights, self.rows.targets[where]) @ block
        gradient /= self.rows.n_samples
        gradient += self.penalty.gradient(weights)
        return gradient

    def expansion(self, weights: Array) -> tuple[Array, Array, Array]:
        """Return predictions, gradient and Hessian of F, in one pass over the rows."""
        predictions = np.empty(self.rows.n_samples)
        gradient = np.zeros(self.rows.dimension)
        hessian = np.zeros((self.rows.dimension, self.rows.dimension))
        for block, where in self.rows.blocks():
            targets = self.rows.targets[where]
            here = np.dot(block, weights, out=predictions[where])
            gradient += self.loss.slope(here, targets) @ block
            # Rows times the root of their curvature: the product of a matrix with its own transpose is half the work.
            block *= np.sqrt(self.loss.curvature(here, targets))[:, None]
            hessian += block.T @ block
        hessian /= self.rows.n_samples
        self.penalty.add_curvature(hessian)
        return predictions, gradient / self.rows.n_samples + self.penalty.gradient(weights), hessian
