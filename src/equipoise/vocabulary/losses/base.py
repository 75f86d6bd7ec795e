"""What every loss says about itself: names, constants and the arithmetic of one row. Arrays of rows are in `solve`."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Literal

# How many even steps stand for the range of a target, and how many of them are added side by side.
TARGETS, LANES = 64, 8


class Loss(ABC):
    """A convex function of one scalar, the linear prediction ``m = <w, x>``, and of a coded target.

    Classification targets are coded -1 and +1; regression targets are centred at the public midpoint of their bounds.
    A loss of several outputs takes a sequence of predictions, and the place of the class among them. A loss is a frozen
    dataclass whose only field, if it has one, is its parameter. Every constant below is a supremum that a property test
    tries to exceed.
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
    def parameter(self) -> float:
        """The number that the loss's name carries, a cap or a width; 0 where there is none."""
        return float(next(iter(vars(self).values()), 0.0))

    @property
    def name(self) -> str:
        """The text that `losses.named` turns back into this loss, parameter included."""
        return ":".join([self.id, *map(repr, vars(self).values())])

    @abstractmethod
    def value(self, prediction: Any, target: float) -> float:
        """Return the loss of one example."""

    @staticmethod
    def slope_at(prediction: float, target: float, parameter: float) -> float:
        """Return the derivative in the prediction, for one output: the only place where its formula stands.

        Solvers compile it as it is, so it uses arithmetic, comparisons, `abs`, `min`, `max`, `math`, and nothing else.
        """
        raise NotImplementedError

    def slope(self, prediction: float, target: float) -> float:
        """Return the derivative in the prediction, for one output."""
        return self.slope_at(prediction, target, self.parameter)

    def curvature_trace(self, prediction: Sequence[float]) -> float:
        """Return the trace of the second derivative in the predictions, for several outputs."""
        raise NotImplementedError

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
        steps = [(2 * place + 1) / TARGETS - 1 for place in range(TARGETS)]
        spread = self.task == "regression"
        sizes = [abs(self.slope(0.0, label_bound * step if spread else math.copysign(1.0, step))) for step in steps]
        # Caps are derived from this mean, and certificates hold their last digit: the order of the additions stays.
        sums = sizes[:LANES]
        for start in range(LANES, TARGETS, LANES):
            sums = [total + size for total, size in zip(sums, sizes[start : start + LANES], strict=True)]
        while len(sums) > 1:
            sums = [left + right for left, right in zip(sums[::2], sums[1::2], strict=True)]
        return sums[0] / TARGETS

    @abstractmethod
    def curvature_bound(self) -> float:
        """Return ``sup curvature`` over all predictions and targets."""

    @abstractmethod
    def pull(self, reach: float, label_bound: float) -> float:
        """Return ``sup -m * slope(m)`` over predictions in [-reach, reach]: how hard one example pushes outwards.

        With a penalty of strong convexity mu and minimum at 0, optimality of w gives ``mu ||w||^2 <= pull(B ||w||,
        Y)``, which bounds the norm of every minimiser before any data is seen (docs/proofs/A2.md, lemma R).
        """

    def gradient_diameter(self, row_norm: float, radius: float, label_bound: float) -> float:
        """Return a bound on ``||g_z(w) - g_z'(w)||`` over ``||w|| <= radius`` and two examples of the domain (A2).

        Twice the longest gradient, unless the loss knows better.
        """
        return 2 * row_norm * self.slope_bound(row_norm * radius, label_bound)

    def noise_cost(self, deviation: float, rotation_invariant: bool) -> float:
        """Return a bound on the mean rise of the loss under zero-mean noise of this deviation on the prediction.

        ``c s^2 / 2``: the first-order effect averages out, and the curvature is at most c (docs/proofs/J6.md). Whether
        the noise is the same in every direction matters to losses with several outputs alone.
        """
        return self.curvature_bound() * deviation**2 / 2

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

    def unit(self, label_bound: float) -> float:
        """Return the prediction that counts as one unit of evidence, the yardstick of ``alpha="public"``.

        1 for classes: odds of e to 1, or the margin that a hinge asks for; three units are odds of 20 to 1. Y / 3 for a
        target, so that three units reach from the midpoint to the end of its range.
        """
        return 1.0 if self.task == "classification" else label_bound / 3


class KinkedLoss(Loss):
    """A loss with corners: its slope is one choice of subgradient, and its smoothness is infinite."""

    def curvature_bound(self) -> float:
        """Return infinity."""
        return math.inf

    def noise_cost(self, deviation: float, rotation_invariant: bool) -> float:
        """Return the deviation itself times the largest slope: without smoothness the first order is all there is."""
        return self.slope_bound(math.inf, 1.0) * deviation
