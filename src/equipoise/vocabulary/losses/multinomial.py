"""The multinomial logistic loss: one joint certificate for all classes."""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from scipy.special import lambertw, logsumexp, softmax

from equipoise.errors import InvalidParameter
from equipoise.vocabulary.losses.base import Array, Loss

# Up to here the change to free coordinates rounds by less than the solver leaves (A4, "Several classes").
MOST_CLASSES = 256


@dataclass(frozen=True)
class Multinomial(Loss):
    """Multinomial logistic loss ``log sum_k exp(m_k) - m_y`` over K classes, with one prediction a class.

    Its slope is ``softmax(m) - e_y``, of norm at most sqrt(2); its curvature ``diag(p) - p p'`` is at most 1/2. Slopes
    sum to zero over the classes, and adding one vector to the weights of every class changes no prediction. So only
    the K - 1 free coordinates of the centred weights are released, and noise is drawn for those alone.

    Examples
    --------
    >>> loss = Multinomial(3)
    >>> round(loss.slope_bound(1e9, 1.0), 6), loss.curvature_bound(), loss.free_outputs
    (1.414214, 0.5, 2)
    >>> loss.free(loss.full(np.eye(2))).round(12).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    classes: float = 3
    id: ClassVar[str] = "multinomial"
    task: ClassVar[Literal["classification", "regression"]] = "classification"

    def __post_init__(self) -> None:
        """Refuse a number of classes that is not whole, below 2 or beyond what rounding allows."""
        whole = math.isfinite(self.classes) and self.classes == int(self.classes)
        if not whole or not 2 <= self.classes <= MOST_CLASSES:
            found = f"multinomial:{self.classes}"
            raise InvalidParameter(
                f"between 2 and {MOST_CLASSES} classes", found, "merge rare classes by a public rule"
            )
        object.__setattr__(self, "classes", int(self.classes))

    @property
    def outputs(self) -> int:
        """K."""
        return int(self.classes)

    @property
    def free_outputs(self) -> int:
        """K - 1: the weight vectors sum to zero."""
        return int(self.classes) - 1

    @property
    def name(self) -> str:
        """The text that names this loss."""
        return f"{self.id}:{int(self.classes)}"

    def free(self, weights: Array) -> Array:
        """Return the K - 1 coordinates of weights that sum to zero, in an orthonormal basis: distances are kept."""
        return self._basis() @ weights

    def full(self, free: Array) -> Array:
        """Return the K weight vectors that the free coordinates stand for."""
        return self._basis().T @ free

    def _basis(self) -> Array:
        """Return K - 1 orthonormal rows that are orthogonal to the constant vector (Helmert's)."""
        count = self.outputs
        basis = np.zeros((count - 1, count))
        for position in range(1, count):
            basis[position - 1, :position] = 1.0
            basis[position - 1, position] = -position
            basis[position - 1] /= math.sqrt(position * (position + 1))
        return basis

    def value(self, prediction: Array, target: Array) -> Array:
        """Return ``log sum_k exp(m_k) - m_y``."""
        chosen = prediction[np.arange(len(prediction)), target.astype(np.intp)]
        total: Array = logsumexp(prediction, axis=1)
        return total - chosen

    def slope(self, prediction: Array, target: Array) -> Array:
        """Return ``softmax(m) - e_y``."""
        slope: Array = softmax(prediction, axis=1)
        slope[np.arange(len(prediction)), target.astype(np.intp)] -= 1.0
        return slope

    def curvature(self, prediction: Array, target: Array) -> Array:
        """Return the diagonal of the curvature, ``p (1 - p)``."""
        probabilities: Array = softmax(prediction, axis=1)
        return probabilities * (1 - probabilities)

    def curvature_product(self, prediction: Array, target: Array, direction: Array) -> Array:
        """Return ``p * v - p <p, v>``."""
        probabilities: Array = softmax(prediction, axis=1)
        weighted = probabilities * direction
        product: Array = weighted - probabilities * weighted.sum(axis=1, keepdims=True)
        return product

    def slope_bound(self, reach: float, label_bound: float) -> float:
        """Return ``sqrt(2) (1 - p)`` for the smallest probability p that predictions of norm `reach` can give."""
        # ||p - e_y||^2 = (1 - p_y)^2 + sum of the other squares <= 2 (1 - p_y)^2; p_y is smallest when one class is
        # ahead by as much as the norm allows, reach sqrt(2), and the others follow at most as far ahead.
        behind = min(math.sqrt(2) * reach, 700.0)
        return math.sqrt(2) * (1 - 1 / (1 + (self.outputs - 1) * math.exp(behind)))

    def typical_slope(self, label_bound: float) -> float:
        """Return ``sqrt(1 - 1/K)``, the length of every slope at prediction 0."""
        return math.sqrt(1 - 1 / self.outputs)

    def curvature_bound(self) -> float:
        """Return 1/2, the largest eigenvalue of ``diag(p) - p p'`` (two classes at one half)."""
        return 0.5

    def noise_cost(self, deviation: float, rotation_invariant: bool) -> float:
        """Return ``(1 - 1/K) s^2 / 2`` for noise that no rotation changes: the curvature's trace is ``1 - sum p^2``.

        For any other law the trace is no bound: each of K - 1 coordinates pays the largest curvature, 1/2.
        """
        share = 1 - 1 / self.outputs if rotation_invariant else (self.outputs - 1) / 2
        return share * deviation**2 / 2

    def shift_vertices(self, row_norm: float, radius: float, label_bound: float) -> tuple[tuple[int, float], ...]:
        """Return the corners of the changes of a gradient over all weights (E3a, several classes).

        For labels y and y' these are ``(e_k - e_y) x - (e_l - e_y') x'``. At worst K - 1 of them are ``2 sqrt(2) B``
        long, where label and other class agree, ``(K - 1)(K - 2)`` are ``sqrt(6) B`` long, and ``2 (K - 1)``, in which
        one row's part is gone, ``sqrt(2) B``.
        """
        others = self.outputs - 1
        lengths = (2 * math.sqrt(2), math.sqrt(6), math.sqrt(2))
        counts = (others, others * (others - 1), 2 * others)
        return tuple((count, length * row_norm) for count, length in zip(counts, lengths, strict=True))

    def determinant_price(self, share: float) -> float:
        """Return ``(K - 1) ln(1 + share / K)``: the curvature has rank K - 1 and trace at most 1 - 1/K (E2)."""
        return (self.outputs - 1) * math.log1p(share / self.outputs)

    def pull(self, reach: float, label_bound: float) -> float:
        """Return W((K - 1)/e), the largest ``m_y - sum p_k m_k``: all other classes are level there (A2)."""
        return float(lambertw((self.outputs - 1) / math.e).real) * (1 + 1e-12)

    def gradient_diameter(self, row_norm: float, radius: float, label_bound: float) -> float:
        """Return twice the largest gradient: ``2 sqrt(2) B`` in the limit of large weights."""
        return 2 * row_norm * self.slope_bound(row_norm * radius, label_bound)

    def unit(self, label_bound: float) -> float:
        """Return a third of the prediction norm at which a row is 20 times likelier in its class than in all others."""
        ahead = 3 + math.log(self.outputs - 1)
        return ahead * math.sqrt((self.outputs - 1) / self.outputs) / 3
