"""What every loss does with arrays: one entry an example."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from equipoise.vocabulary.losses import Loss

Array = NDArray[np.float64]


class LossArrays(ABC):
    """The arithmetic of a loss on arrays of predictions and targets, the same as its own on single ones.

    The linear algebra lives in `objective.py`, once; here is arithmetic on predictions. Predictions of several outputs
    are a row an example and a column an output.
    """

    of: ClassVar[type[Loss]]

    def __init__(self, loss: Any) -> None:
        self.loss = loss

    @abstractmethod
    def value(self, prediction: Array, target: Array) -> Array:
        """Return the loss of each example."""

    @abstractmethod
    def slope(self, prediction: Array, target: Array) -> Array:
        """Return the derivative in the prediction."""

    @abstractmethod
    def curvature(self, prediction: Array, target: Array) -> Array:
        """Return the second derivative in the prediction."""

    def curvature_product(self, prediction: Array, target: Array, direction: Array) -> Array:
        """Return the second derivative applied to a change of the predictions."""
        return self.curvature(prediction, target) * direction

    def free(self, weights: Array) -> Array:
        """Return the free coordinates of the weights, one row an output: all of them, unless outputs are tied."""
        return weights

    def full(self, free: Array) -> Array:
        """Return the weights that free coordinates stand for."""
        return free


class KinkedArrays(LossArrays):
    """The arithmetic of a loss with corners.

    A solver works on `smoothed` versions of it and proves how near it came by `fenchel_gap` (L3).
    """

    @abstractmethod
    def smoothed(self, width: float) -> Loss:
        """Return a smooth loss whose slopes are subgradients near the same prediction, exact as the width goes to 0."""

    @abstractmethod
    def fenchel_gap(self, prediction: Array, target: Array, slope: Array) -> Array:
        """Return ``loss(m) + conjugate(s) - s m >= 0`` for slopes s in the conjugate's domain, without cancellation.

        A slope with gap e is an e-subgradient at that prediction: the loss lies above its line, lowered by e.
        """

    @abstractmethod
    def slope_range(self, target: Array) -> tuple[Array, Array]:
        """Return the conjugate's domain, the slopes from `low` to `high`, on which the conjugate is ``s y``."""

    def curvature(self, prediction: Array, target: Array) -> Array:
        """Return 0, which is right everywhere but at the corners."""
        return np.zeros_like(prediction)
