"""What every loss says about itself."""

import math
from abc import ABC, abstractmethod
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# How many even steps stand for the range of a target.
TARGETS = 64


class Loss(ABC):
    """A convex function of one scalar, the linear prediction ``m = <w, x>``, and of a coded target.

    Classification targets are coded -1 and +1; regression targets are centred at the public midpoint of their bounds.
    The linear algebra lives in `learn/`, once; a loss is arithmetic on predictions. Every constant below is a supremum
    that a property test tries to exceed.
    """

    id: ClassVar[str]
    task: ClassVar[Literal["classification", "regression"]]
    # Whether every slope has the sign of -y: a row pushes its prediction towards its label or not at all.
    one_sided: ClassVar[bool] = False

    @property
    def outputs(self) -> int:
        """How many predictions a row has: one, but for several classes."""
        return 1

    @property
    def free_outputs(self) -> int:
        """How many weight vectors are free to move: all, unless outputs are tied."""
        return self.outputs

    @property
    def name(self) -> str:
        """The text that `losses.named` turns back into this loss, parameter included."""
        return self.id

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

    @abstractmethod
    def slope_bound(self, reach: float, label_bound: float) -> float:
        """Return ``sup |slope|`` over predictions in [-reach, reach] and targets in [-label_bound, label_bound]."""

    def slope_floor(self, reach: float) -> float:
        """Return ``inf |slope|`` over predictions in [-reach, reach], for a one-sided loss: 0 unless it stays above."""
        return 0.0

    def clipped(self, cap: float) -> "Loss":
        """Return the convex loss whose slope is this one's, clipped at the cap (docs/proofs/B7.md).

        A loss that has no such form here, or is never steeper, answers with itself.
        """
        return self

    def typical_slope(self, label_bound: float) -> float:
        """Return the mean size of the slope at prediction 0, over labels that spread evenly over their range.

        What a row pulls with before anything is known about it: 1/2 for the logistic loss, Y for the squared one.
        """
        return float(np.abs(self.slope(np.zeros(TARGETS), self._even_targets(label_bound))).mean())

    def _even_targets(self, label_bound: float) -> Array:
        """Return targets in even steps over their range; classes are coded -1 and +1."""
        steps = (2 * np.arange(TARGETS) + 1) / TARGETS - 1
        return np.sign(steps) if self.task == "classification" else label_bound * steps

    @abstractmethod
    def curvature_bound(self) -> float:
        """Return ``sup curvature`` over all predictions and targets."""

    @abstractmethod
    def pull(self, reach: float, label_bound: float) -> float:
        """Return ``sup -m * slope(m)`` over predictions in [-reach, reach]: how hard one example pushes outwards.

        With a penalty of strong convexity mu and minimum at 0, optimality of w gives ``mu ||w||^2 <= pull(B ||w||,
        Y)``, which bounds the norm of every minimiser before any data is seen (docs/proofs/A2.md, lemma R).
        """

    @abstractmethod
    def gradient_diameter(self, row_norm: float, radius: float, label_bound: float) -> float:
        """Return ``sup ||g_z(w) - g_z'(w)||`` over ``||w|| <= radius`` and two examples of the domain (Gam of A2)."""

    def noise_cost(self, deviation: float, rotation_invariant: bool) -> float:
        """Return a bound on the mean rise of the loss under zero-mean noise of this deviation on the prediction.

        ``c s^2 / 2``: the first-order effect averages out, and the curvature is at most c (docs/proofs/J6.md). Whether
        the noise is the same in every direction matters to losses with several outputs alone.
        """
        return self.curvature_bound() * deviation**2 / 2

    def free(self, weights: Array) -> Array:
        """Return the free coordinates of the weights, one row an output: all of them, unless outputs are tied."""
        return weights

    def full(self, free: Array) -> Array:
        """Return the weights that free coordinates stand for."""
        return free

    def shift_vertices(self, row_norm: float, radius: float, label_bound: float) -> tuple[tuple[int, float], ...]:
        """Return how many corners, of which length, hold every change of a gradient in their hull (E3a).

        A row's gradient is its slope times the row, so the change runs in a parallelogram. Slopes of one sign, of sizes
        from `low` to `high`: one corner of length 2 high B, two of (high + low) B, one of 2 low B. Slopes of both
        signs: two of 2 high B and two of sqrt(2) high B.
        """
        reach = row_norm * radius
        high = row_norm * self.slope_bound(reach, label_bound)
        if not self.one_sided:
            return (2, 2 * high), (2, math.sqrt(2) * high)
        low = row_norm * self.slope_floor(reach)
        return (1, 2 * high), (2, high + low), (1, 2 * low)

    def determinant_price(self, share: float) -> float:
        """Return what the change of one row's curvature adds to epsilon in objective perturbation (E2).

        ``ln(1 + c share)`` with ``share = B^2 / (n alpha)``: one row changes the Hessian by a matrix of rank one.
        """
        return math.log1p(self.curvature_bound() * share)

    @abstractmethod
    def unit(self, label_bound: float) -> float:
        """Return the prediction that counts as one unit of evidence, the yardstick of ``alpha="public"``."""


class KinkedLoss(Loss):
    """A loss with corners: its slope is one choice of subgradient, and its smoothness is infinite.

    A solver works on `smoothed` versions of it and proves how near it came by `fenchel_gap` (THEOREMS L3).
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

    def curvature_bound(self) -> float:
        """Return infinity."""
        return float("inf")

    def noise_cost(self, deviation: float, rotation_invariant: bool) -> float:
        """Return the deviation itself times the largest slope: without smoothness the first order is all there is."""
        return self.slope_bound(float("inf"), 1.0) * deviation
