"""What planning knows of any loss: by its constants and slopes."""

import math
from collections.abc import Sequence
from typing import Any, ClassVar

from equipoise.vocabulary.losses import KinkedLoss, Loss

# How many even steps stand for the range of a target, and how many of them are added side by side.
TARGETS, LANES = 64, 8


class KnownLoss:
    """A loss with what plans need of it. No privacy claim rests on any of this."""

    # The loss that a subclass knows more about.
    of: ClassVar[type[Loss]]

    def __init__(self, loss: Any) -> None:
        self.loss = loss

    def unit(self, label_bound: float) -> float:
        """Return the prediction that counts as one unit of evidence, the yardstick of ``alpha="public"``.

        1 for classes: odds of e to 1, or the margin that a hinge asks for; three units are odds of 20 to 1. Y / 3 for a
        target, so that three units reach from the midpoint to the end of its range.
        """
        return 1.0 if self.loss.task == "classification" else label_bound / 3

    def typical_slope(self, label_bound: float) -> float:
        """Return the mean size of the slope at prediction 0, over labels that spread evenly over their range.

        What a row pulls with before anything is known about it: 1/2 for the logistic loss, Y for the squared one.
        """
        steps = [(2 * place + 1) / TARGETS - 1 for place in range(TARGETS)]
        spread = self.loss.task == "regression"
        targets = [label_bound * step if spread else math.copysign(1.0, step) for step in steps]
        sizes = [abs(self.loss.slope(0.0, target)) for target in targets]
        # Caps are derived from this mean, and certificates hold their last digit: the order of the additions stays.
        sums = sizes[:LANES]
        for start in range(LANES, TARGETS, LANES):
            sums = [total + size for total, size in zip(sums, sizes[start : start + LANES], strict=True)]
        while len(sums) > 1:
            sums = [left + right for left, right in zip(sums[::2], sums[1::2], strict=True)]
        return float(sums[0] / TARGETS)

    def noise_cost(self, deviation: float, rotation_invariant: bool) -> float:
        """Return a bound on the mean rise of the loss under zero-mean noise of this deviation on the prediction.

        ``c s^2 / 2``: the first-order effect averages out, and the curvature is at most c (docs/proofs/J6.md). Without
        smoothness the first order is all there is: the deviation times the largest slope, which holds for every loss
        and is smaller where a corner is rounded off over less than the noise moves a prediction. Whether the noise is
        the same in every direction matters to losses with several outputs alone.
        """
        steepest = float(self.loss.slope_bound(math.inf, 1.0)) * deviation
        if isinstance(self.loss, KinkedLoss):
            return steepest
        return float(min(self.loss.curvature_bound() * deviation**2 / 2, steepest))

    def curvature_trace(self, prediction: Sequence[float]) -> float:
        """Return the trace of the second derivative in the predictions, for several outputs."""
        raise NotImplementedError

    def curvature_on_the_way(self, prediction: float) -> float:
        """Return the mean curvature from prediction 0 to one of this length, or 0: as around the best weights."""
        return 0.0

    def clipped(self, cap: float) -> Loss:
        """Return the convex loss whose slope is this one's, clipped at the cap (docs/proofs/B7.md).

        A loss that has no such form here, or is never steeper, answers with itself.
        """
        clipped: Loss = self.loss
        return clipped
