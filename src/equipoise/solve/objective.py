"""The objective over a row source: predictions, value, gradient, Hessian, always in float64 and block by block."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equipoise.solve import losses, penalties
from equipoise.solve.fine_rows import FineRows
from equipoise.solve.losses import LossArrays
from equipoise.solve.penalties import PenaltyArrays
from equipoise.solve.places import Sums, folded
from equipoise.solve.rows import RowBlocks
from equipoise.vocabulary.losses import KinkedLoss, Loss
from equipoise.vocabulary.penalties import Penalty

Array = NDArray[np.float64]

# Up to this many weights a Hessian is formed and factored; beyond, products with it are cheaper.
LARGEST_HESSIAN = 400

# A pass that forms a Hessian of d weights costs as much as d/4 others (benchmarks/work.py).
COLUMNS_A_PASS = 4


def clipped_slopes(arrays: LossArrays, predictions: Array, targets: Array, clip: float) -> Array:
    """Return the slope of every example, shortened to at most `clip`."""
    slopes = arrays.slope(predictions, targets)
    if slopes.ndim == 1:
        return np.clip(slopes, -clip, clip, out=slopes)
    slopes *= np.minimum(1.0, clip / np.maximum(np.linalg.norm(slopes, axis=1, keepdims=True), clip))
    return slopes


class PassCount:
    """How many passes over the rows were made: what a solver's public limit is compared with, and never shown."""

    def __init__(self) -> None:
        self.made = 0


class Objective:
    """``F(w) = (1/n) sum loss(<w, x_i>, y_i) + penalty(w) + <tilt, w>`` over rows that were clipped into their domain.

    A loss with several outputs has one weight vector for each; the weights are then all of them, one after the other.
    `gradient` is that of the loss and the penalty's smooth part. Where `shares` say what every row counts for, n is not
    their number but `n_samples`: a person's rows count for one over their number each, and n counts persons (N1).

    Examples
    --------
    >>> from equipoise.data.rows import Rows
    >>> from equipoise.vocabulary import losses, penalties
    >>> from equipoise.vocabulary.facts import Domain
    >>> rows = Rows(np.eye(2), Domain(1.0, labels=(-1.0, 1.0)), intercept=0.0)
    >>> objective = Objective(losses.named("squared"), penalties.named("l2", 1.0), rows, np.array([1.0, -1.0]))
    >>> objective.gradient(np.zeros(2))
    array([-1.,  1.])
    """

    def __init__(
        self,
        loss: Loss,
        penalty: Penalty | PenaltyArrays,
        rows: RowBlocks,
        targets: Array,
        start: Array | None = None,
        tilt: Array | None = None,
        passes: PassCount | None = None,
        shares: Array | None = None,
        n_samples: int | None = None,
    ) -> None:
        self.loss = loss
        self.loss_arrays = losses.arrays_of(loss)
        # What a penalty of the vocabulary cannot say, dropout's part of every column, comes as arrays.
        self.penalty_arrays = penalty if isinstance(penalty, PenaltyArrays) else penalties.arrays_of(penalty)
        self.penalty: Penalty = self.penalty_arrays.penalty
        self.rows = rows
        self.targets = targets
        self.size = rows.dimension * loss.outputs
        # Where a solver may begin: it speeds up the way and cannot change where the way ends.
        self.start = np.zeros(self.size) if start is None else start
        # A linear term that noise may have added; it has no curvature.
        self.tilt = np.zeros(self.size) if tilt is None else tilt
        self.passes = PassCount() if passes is None else passes
        self.shares = shares
        self.n_samples = rows.n_samples if n_samples is None else n_samples

    def shared(self, values: Array, where: Any = slice(None)) -> Array:
        """Return a number or several a row, each times what its row counts for."""
        if self.shares is None:
            return values
        factors: Array = self.shares[where]
        return values * (factors if values.ndim == 1 else factors[:, None])

    def mean(self, values: Array) -> float:
        """Return the mean of a number a row."""
        return float(values.mean()) if self.shares is None else float(self.shared(values).sum()) / self.n_samples

    def finely(self) -> "Objective":
        """Return the same objective, whose sums are taken in small groups of rows; its passes count here."""
        return self._over(self.loss, FineRows(self.rows))

    def with_loss(self, loss: Loss) -> "Objective":
        """Return the objective of another loss on the same rows; its passes count here."""
        return self._over(loss, self.rows)

    def _over(self, loss: Loss, rows: RowBlocks) -> "Objective":
        return Objective(
            loss,
            self.penalty_arrays,
            rows,
            self.targets,
            self.start,
            self.tilt,
            self.passes,
            self.shares,
            self.n_samples,
        )

    def _by_output(self, weights: Array) -> Array:
        """Return the weights as a matrix that rows are multiplied by, a plain vector for one output."""
        return weights if self.loss.outputs == 1 else weights.reshape(self.loss.outputs, -1).T

    def predictions(self, weights: Array) -> Array:
        """Return ``<w, x_i>`` for every row, and for every output if there are several."""
        self.passes.made += 1
        return self.rows.predictions(self._by_output(weights))

    def combination(self, slopes: Array) -> Array:
        """Return ``(1/n) sum s_i x_i``, for one output."""
        self.passes.made += 1
        sums = ((self.shared(slopes[where], where) @ block,) for block, where in self.rows.views())
        (total,) = folded(sums, (np.zeros(self.size),))
        return total / self.n_samples

    def value(self, weights: Array, predictions: Array) -> float:
        """Return F at weights whose predictions are known."""
        mean_loss = self.mean(self.loss_arrays.value(predictions, self.targets))
        return mean_loss + self.penalty_arrays.value(weights) + float(self.tilt @ weights)

    def directional_slope(self, weights: Array, step: Array, predictions: Array, step_predictions: Array) -> float:
        """Return the derivative of F's smooth part at weights along a step, both with known predictions."""
        slopes = self.shared(self.loss_arrays.slope(predictions, self.targets))
        along = float(np.vdot(slopes, step_predictions)) / self.n_samples
        return along + float((self.penalty_arrays.gradient(weights) + self.tilt) @ step)

    def gradient(self, weights: Array) -> Array:
        """Return the gradient, with predictions computed afresh."""
        return self.predictions_and_gradient(weights)[1]

    def predictions_and_gradient(self, weights: Array) -> tuple[Array, Array]:
        """Return predictions and gradient in one pass over the rows."""
        self.passes.made += 1
        matrix = self._by_output(weights)
        predictions = np.empty((self.rows.n_samples, *matrix.shape[1:]))

        def block_sums() -> Iterator[Sums]:
            for block, where in self.rows.views():
                predictions[where] = block @ matrix
                slopes = self.loss_arrays.slope(predictions[where], self.targets[where])
                yield (self.shared(slopes, where).T @ block,)

        (gradient,) = folded(block_sums(), (np.zeros(matrix.T.shape),))
        gradient /= self.n_samples
        return predictions, gradient.ravel() + self.penalty_arrays.gradient(weights) + self.tilt

    def clipped_gradient(
        self, weights: Array, clip: float, chosen: NDArray[np.intp] | None, count: int | None = None
    ) -> Array:
        """Return the loss's mean gradient, a row an output, each example's slope shortened to at most `clip`.

        Over all rows, or over a chosen few of them, of `count` persons where rows are shares of persons.
        """
        matrix = weights[0] if self.loss.outputs == 1 else weights.T

        def block_sums() -> Iterator[Sums]:
            for block, where in self.rows.views() if chosen is None else self.rows.picked(chosen):
                slopes = clipped_slopes(self.loss_arrays, block @ matrix, self.targets[where], clip)
                yield (self.shared(slopes, where).T @ block,)

        (gradient,) = folded(block_sums(), (np.zeros(matrix.T.shape),))
        return np.atleast_2d(gradient) / (count or (self.n_samples if chosen is None else len(chosen)))

    def shortened_gradient(self, weights: Array, clip: float, chosen: NDArray[np.intp], count: int) -> Array:
        """Return the mean gradient of the loss over a few chosen rows, each row's shortened to the norm `clip`.

        Over all rows of `count` persons where rows are shares of persons; for one output. Predictions are rounded
        exactly, so that a row has the same one at every place of a batch, and the same slope next to a corner
        (docs/proofs/SGD-rounding.md, "Noise in every step").
        """
        gradient = np.zeros(self.size)
        for block, where in self.rows.picked(chosen):
            dense = block.toarray() if sparse.issparse(block) else block
            predictions = np.array([math.fsum(products) for products in dense * weights])
            slopes = self.loss_arrays.slope(predictions, self.targets[where])
            norms = np.abs(slopes) * np.sqrt(np.einsum("ij,ij->i", dense, dense))
            slopes = slopes * np.minimum(1.0, clip / np.maximum(norms, np.finfo(float).tiny))
            gradient += self.shared(slopes, where) @ dense
        return gradient / count

    def hessian_product(self, predictions: Array, direction: Array) -> Array:
        """Return the Hessian at known predictions times a direction, in one pass over the rows."""
        self.passes.made += 1
        matrix = self._by_output(direction)

        def block_sums() -> Iterator[Sums]:
            for block, where in self.rows.views():
                curved = self.loss_arrays.curvature_product(predictions[where], self.targets[where], block @ matrix)
                yield (self.shared(curved, where).T @ block,)

        (product,) = folded(block_sums(), (np.zeros(matrix.T.shape),))
        product /= self.n_samples
        return product.ravel() + self.penalty_arrays.gradient(direction)

    @property
    def has_corners(self) -> bool:
        """Whether the loss has corners."""
        return isinstance(self.loss, KinkedLoss)

    @property
    def smooth(self) -> bool:
        """Whether neither the loss nor the penalty has corners."""
        return not (self.has_corners or self.penalty.kinked)

    @property
    def compact(self) -> bool:
        """Whether a Hessian is worth forming: one output, and not too many weights."""
        return self.loss.outputs == 1 and self.size <= LARGEST_HESSIAN

    def expansion(self, weights: Array) -> tuple[Array, Array, Array]:
        """Return predictions, gradient and Hessian of F's smooth part, in one pass over the rows, for one output."""
        self.passes.made += 1 + self.size // COLUMNS_A_PASS
        predictions = np.empty(self.rows.n_samples)

        def block_sums() -> Iterator[Sums]:
            for block, where in self.rows.blocks():
                targets = self.targets[where]
                predictions[where] = here = block @ weights
                slopes = self.shared(self.loss_arrays.slope(here, targets), where) @ block
                yield slopes, self.rows.gram(block, self.shared(self.loss_arrays.curvature(here, targets), where))

        nothing = np.zeros(self.size), np.zeros((self.size, self.size))
        gradient, hessian = folded(block_sums(), nothing)
        hessian /= self.n_samples
        self.penalty_arrays.add_curvature(hessian)
        gradient = gradient / self.n_samples + self.penalty_arrays.gradient(weights) + self.tilt
        return predictions, gradient, hessian
