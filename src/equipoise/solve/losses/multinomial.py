"""The multinomial logistic loss on arrays, and the free coordinates of its weights."""

import math

import numpy as np
from scipy.special import logsumexp

from equipoise.solve.losses.base import Array, LossArrays
from equipoise.vocabulary.losses.multinomial import Multinomial


def probabilities(prediction: Array) -> Array:
    """Return ``exp(m_k) / sum_j exp(m_j)`` for every row; those of a class lie together, which is quick to add up.

    Examples
    --------
    >>> probabilities(np.log([[1.0, 2.0, 5.0]])).round(12).tolist()
    [[0.125, 0.25, 0.625]]
    """
    by_class = np.array(prediction.T, order="C")
    by_class -= by_class.max(axis=0)
    np.exp(by_class, out=by_class)
    by_class /= by_class.sum(axis=0)
    return by_class.T


class MultinomialArrays(LossArrays):
    """``log sum_k exp(m_k) - m_y``; targets are the places of the classes.

    Examples
    --------
    >>> arrays = MultinomialArrays(Multinomial(3))
    >>> arrays.slope(np.zeros((1, 3)), np.array([1.0])).round(3).tolist()
    [[0.333, -0.667, 0.333]]
    >>> arrays.free(arrays.full(np.eye(2))).round(12).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    of = Multinomial
    loss: Multinomial

    def value(self, prediction: Array, target: Array) -> Array:
        """Return ``log sum_k exp(m_k) - m_y``."""
        chosen = prediction[np.arange(len(prediction)), target.astype(np.intp)]
        total: Array = logsumexp(prediction, axis=1)
        return total - chosen

    def slope(self, prediction: Array, target: Array) -> Array:
        """Return ``softmax(m) - e_y``."""
        slope = probabilities(prediction)
        slope[np.arange(len(prediction)), target.astype(np.intp)] -= 1.0
        return slope

    def curvature(self, prediction: Array, target: Array) -> Array:
        """Return the diagonal of the curvature, ``p (1 - p)``."""
        chances = probabilities(prediction)
        return chances * (1 - chances)

    def curvature_product(self, prediction: Array, target: Array, direction: Array) -> Array:
        """Return ``p * v - p <p, v>``."""
        chances = probabilities(prediction)
        weighted = chances * direction
        product: Array = weighted - chances * weighted.sum(axis=1, keepdims=True)
        return product

    def free(self, weights: Array) -> Array:
        """Return the K - 1 coordinates of weights that sum to zero, in an orthonormal basis: distances are kept."""
        return self._basis() @ weights

    def full(self, free: Array) -> Array:
        """Return the K weight vectors that the free coordinates stand for."""
        return self._basis().T @ free

    def _basis(self) -> Array:
        """Return K - 1 orthonormal rows that are orthogonal to the constant vector (Helmert's)."""
        count = self.loss.outputs
        basis = np.zeros((count - 1, count))
        for position in range(1, count):
            basis[position - 1, :position] = 1.0
            basis[position - 1, position] = -position
            basis[position - 1] /= math.sqrt(position * (position + 1))
        return basis
