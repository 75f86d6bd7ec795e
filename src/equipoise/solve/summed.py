"""The objective over rows that are seen through sums alone: nothing as long as the table lies here."""

from collections import OrderedDict
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.solve.objective import COLUMNS_A_PASS, Array, Objective, PassCount
from equipoise.solve.penalties import PenaltyArrays
from equipoise.solve.questions import ClippedSlopes, CurvatureProduct, Expansion, RowParts
from equipoise.vocabulary.losses import Loss
from equipoise.vocabulary.penalties import Penalty

# Points whose sums are remembered: a solver looks at one, at where a step leads, and at one in between.
REMEMBERED = 3


class _Point(NamedTuple):
    """What is known about the objective's loss at some weights: means over the rows."""

    value: float
    gradient: Array
    hessian: Array | None


class SummedObjective(Objective):
    """The same objective, whose rows answer questions by sums over all of them.

    Predictions are linear in the weights, so the weights stand for them: what a solver calls predictions is a weight
    vector here, and what it asks about them costs a pass. A point that a step leads to is expanded at once, in one
    pass; a step that is accepted is the next point.

    Examples
    --------
    >>> from equipoise.solve.questions import Piece
    >>> from equipoise.vocabulary import losses, penalties
    >>> class Two:
    ...     n_samples, dimension = 2, 2
    ...     def sums(self, question):
    ...         return question(Piece(0, np.eye(2), np.array([1.0, -1.0])))
    >>> objective = SummedObjective(losses.named("squared"), penalties.named("l2", 1.0), Two())
    >>> objective.gradient(np.zeros(2)).tolist()
    [-1.0, 1.0]
    """

    def __init__(
        self,
        loss: Loss,
        penalty: Penalty | PenaltyArrays,
        rows: RowParts,
        start: Array | None = None,
        tilt: Array | None = None,
        passes: PassCount | None = None,
        *,
        finely: bool = False,
    ) -> None:
        super().__init__(loss, penalty, rows, np.empty(0), start, tilt, passes)  # type: ignore[arg-type] # no blocks here
        self._parts = rows
        self._finely = finely
        self._points: OrderedDict[bytes, _Point] = OrderedDict()

    def finely(self) -> "SummedObjective":
        """Return the same objective, whose sums are taken in small groups of rows; its passes count here."""
        return SummedObjective(
            self.loss, self.penalty_arrays, self._parts, self.start, self.tilt, self.passes, finely=True
        )

    def with_loss(self, loss: Loss) -> "SummedObjective":
        """Return the objective of another loss on the same rows; its passes count here."""
        return SummedObjective(loss, self.penalty_arrays, self._parts, self.start, self.tilt, self.passes)

    def first(self, count: int) -> "SummedObjective | None":
        """Return the same objective over the first rows alone, None where these cannot be told.

        They tell roughly where the minimum is, and a pass over them is a share of one over all, counted by itself.
        """
        some = self._parts.first(count)
        if some is None:
            return None
        return SummedObjective(self.loss, self.penalty_arrays, some, self.start, self.tilt)

    def _point(self, weights: Array, curved: bool) -> _Point:
        """Return what is known about weights, from one pass unless it was made already."""
        key = weights.tobytes()
        known = self._points.get(key)
        if known is None or (curved and known.hessian is None):
            self.passes.made += 1 + (self.size // COLUMNS_A_PASS if curved else 0)
            question = Expansion(self.loss, self._by_output(weights), curved, self._finely)
            value, gradient, *hessian = (part / self._parts.n_samples for part in self._parts.sums(question))
            known = _Point(float(value[0]), gradient.ravel(), hessian[0] if hessian else None)
            self._points[key] = known
            while len(self._points) > REMEMBERED:
                self._points.popitem(last=False)
        self._points.move_to_end(key)
        return known

    def predictions(self, weights: Array) -> Array:
        """Return the weights, which stand for the predictions."""
        return weights

    def value(self, weights: Array, predictions: Array) -> float:
        """Return F; the first look at a point asks for all that its expansion needs."""
        known = weights.tobytes() in self._points
        point = self._point(weights, curved=self._expands and not known)
        # A step's end that was not taken is followed by others on the same line, which are only looked at.
        self._expands = self._expands and known
        return point.value + self.penalty_arrays.value(weights) + float(self.tilt @ weights)

    def directional_slope(self, weights: Array, step: Array, predictions: Array, step_predictions: Array) -> float:
        """Return the derivative of F's smooth part at weights along a step."""
        return float(self._smooth_gradient(weights, self._point(weights, curved=False)) @ step)

    def predictions_and_gradient(self, weights: Array) -> tuple[Array, Array]:
        """Return the weights and the gradient."""
        return weights, self._smooth_gradient(weights, self._point(weights, curved=False))

    def _smooth_gradient(self, weights: Array, point: _Point) -> Array:
        return point.gradient + self.penalty_arrays.gradient(weights) + self.tilt

    def hessian_product(self, predictions: Array, direction: Array) -> Array:
        """Return the Hessian at weights times a direction, in one pass."""
        self.passes.made += 1
        question = CurvatureProduct(self.loss, self._by_output(predictions), self._by_output(direction))
        (product,) = self._parts.sums(question)
        return product.ravel() / self._parts.n_samples + self.penalty_arrays.gradient(direction)

    def expansion(self, weights: Array) -> tuple[Array, Array, Array]:
        """Return the weights, gradient and Hessian of F's smooth part."""
        point = self._point(weights, curved=True)
        self._expands = True
        hessian = np.array(point.hessian)
        self.penalty_arrays.add_curvature(hessian)
        return weights, self._smooth_gradient(weights, point), hessian

    def clipped_gradient(
        self, weights: Array, clip: float, chosen: NDArray[np.intp] | None, count: int | None = None
    ) -> Array:
        """Return the loss's mean gradient over all rows, a row an output; a chosen few cannot be asked for."""
        if chosen is not None:
            raise ValueError("parts answer for all their rows")
        matrix = weights[0] if self.loss.outputs == 1 else weights.T
        (gradient,) = self._parts.sums(ClippedSlopes(self.loss, matrix, clip))
        return np.atleast_2d(gradient) / self._parts.n_samples

    # Whether the next value is that of a step's end, and so worth its expansion.
    _expands = False
