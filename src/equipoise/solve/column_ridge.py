"""A ridge of another strength for every column, which dropout asks for."""

from equipoise.solve.penalties.base import Array
from equipoise.solve.penalties.l2 import L2Arrays
from equipoise.vocabulary.penalties.l2 import L2


class ColumnRidge(L2Arrays):
    """A ridge and, for every column, what dropout adds: ``alpha/2 ||w||^2 + (1/2) sum_j added_j w_j^2`` (G1).

    The added part depends on rows, so that no penalty of the vocabulary could carry it, and none has this partner. It
    is part of the loss as theorems see it, and stands here because solvers meet it as they meet a penalty.

    Examples
    --------
    >>> import numpy as np
    >>> ColumnRidge(L2(0.5), np.array([1.0, 0.0])).gradient(np.array([2.0, -4.0]))
    array([ 3., -2.])
    """

    def __init__(self, penalty: L2, added: Array) -> None:
        super().__init__(penalty)
        self.added = added

    def value(self, weights: Array) -> float:
        """Return both parts."""
        return super().value(weights) + float(self.added @ weights**2) / 2

    def gradient(self, weights: Array) -> Array:
        """Return ``(alpha + added) w``."""
        return super().gradient(weights) + self.added * weights

    def add_curvature(self, hessian: Array) -> None:
        """Add both to the diagonal."""
        super().add_curvature(hessian)
        hessian.flat[:: len(hessian) + 1] += self.added
