"""Logistic regression on bags of words in the four ways that the paper compares; no intercept, as it has none."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin

Array = NDArray[np.float64]

ITERATIONS = 100
# Quadrature of a normal law: nodes and weights that integrate polynomials of degree 17 exactly.
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(9)
WEIGHTS = WEIGHTS / WEIGHTS.sum()
# Keeps the deviation of a margin differentiable where all weights are 0; far below any margin that matters.
SMALLEST = 1e-12


class TextModel(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A linear classifier of two classes, trained on a sparse matrix."""

    classes_: NDArray[Any]
    coef_: Array

    def fit(self, X: Any, y: Any) -> "TextModel":  # noqa: N803
        """Train; the second of the sorted classes is the positive one."""
        self.classes_ = np.unique(y)
        self.coef_ = self._weights(csr_matrix(X), np.where(np.asarray(y) == self.classes_[-1], 1.0, -1.0))
        return self

    @abstractmethod
    def _weights(self, rows: csr_matrix, signs: Array) -> Array:
        """Return the weights for labels 1 and -1."""

    def decision_function(self, X: Any) -> Array:  # noqa: N803
        """Return ``<x, theta>``."""
        return np.asarray(X @ self.coef_)

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """Return the class on whose side the row lies."""
        positive = self.decision_function(X) > 0
        return np.asarray(self.classes_[positive.astype(int)])


class RidgeLogistic(TextModel):
    """Logistic regression with ``alpha/2 norm(w)^2``.

    Examples
    --------
    >>> model = RidgeLogistic(alpha=0.1).fit(csr_matrix(np.eye(2)), ["a", "b"])
    >>> model.predict(csr_matrix(np.eye(2))).tolist()
    ['a', 'b']
    """

    def __init__(self, alpha: float = 1e-4) -> None:
        self.alpha = alpha

    def _weights(self, rows: csr_matrix, signs: Array) -> Array:
        columns = rows.T.tocsr()

        def value(weights: Array) -> tuple[float, Array]:
            margins = signs * (rows @ weights)
            slopes = -signs * expit(-margins) / len(signs)
            penalty = self.alpha / 2 * float(weights @ weights)
            return float(np.logaddexp(0, -margins).mean()) + penalty, columns @ slopes + self.alpha * weights

        return _minimised(value, rows.shape[1])


class PlainLogistic(RidgeLogistic):
    """Logistic regression without a penalty: on separable rows there is no minimiser, and the solver's stop decides.

    Examples
    --------
    >>> PlainLogistic().get_params()
    {}
    """

    alpha = 0.0

    def __init__(self) -> None:
        """Take no parameter."""


class DropoutLogistic(TextModel):
    """Standard dropout: a pass visits every row once, each time with a fresh mask; steps fall with the root of passes.

    Examples
    --------
    >>> rows = csr_matrix(np.eye(4))
    >>> DropoutLogistic(random_state=0).fit(rows, [0, 0, 1, 1]).predict(rows).tolist()
    [0, 0, 1, 1]
    """

    def __init__(
        self, keep: float = 0.5, passes: int = 100, step: float = 10.0, random_state: int | None = None
    ) -> None:
        self.keep = keep
        self.passes = passes
        self.step = step
        self.random_state = random_state

    def _weights(self, rows: csr_matrix, signs: Array) -> Array:
        draws = np.random.default_rng(self.random_state)
        found = _descend(
            rows.indptr, rows.indices, rows.data, signs, rows.shape[1], self.keep, self.passes, self.step, draws
        )
        return np.asarray(found)


class DeterministicDropoutLogistic(TextModel):
    """Deterministic dropout (Wang and Manning 2013): the expected loss, a masked margin being taken for normal.

    The margin has mean ``<x, w>`` and variance ``(1 - keep)/keep sum x_j^2 w_j^2``. The expectation is convex in w.

    Examples
    --------
    >>> rows = csr_matrix(np.eye(4))
    >>> DeterministicDropoutLogistic().fit(rows, [0, 0, 1, 1]).predict(rows).tolist()
    [0, 0, 1, 1]
    """

    def __init__(self, keep: float = 0.5) -> None:
        self.keep = keep

    def _weights(self, rows: csr_matrix, signs: Array) -> Array:
        squares = rows.multiply(rows).tocsr()
        columns, square_columns = rows.T.tocsr(), squares.T.tocsr()
        ratio = (1 - self.keep) / self.keep

        def value(weights: Array) -> tuple[float, Array]:
            deviation = np.sqrt(ratio * (squares @ np.square(weights)) + SMALLEST)
            margins = signs[:, None] * ((rows @ weights)[:, None] + deviation[:, None] * NODES)
            slopes = -signs[:, None] * expit(-margins) / len(signs)
            by_mean, by_deviation = slopes @ WEIGHTS, (slopes * NODES) @ WEIGHTS
            gradient = columns @ by_mean + ratio * weights * (square_columns @ (by_deviation / deviation))
            return float((np.logaddexp(0, -margins) @ WEIGHTS).mean()), gradient

        return _minimised(value, rows.shape[1])


def _minimised(value: Callable[[Array], tuple[float, Array]], n_columns: int) -> Array:
    options = {"maxiter": ITERATIONS, "maxcor": 5}
    return np.asarray(minimize(value, np.zeros(n_columns), jac=True, method="L-BFGS-B", options=options).x)


@numba.njit(cache=True)
def _descend(
    starts: NDArray[np.int32],
    places: NDArray[np.int32],
    values: Array,
    signs: Array,
    n_columns: int,
    keep: float,
    passes: int,
    step: float,
    draws: np.random.Generator,
) -> Array:
    weights = np.zeros(n_columns)
    for number in range(passes):
        length = step / np.sqrt(number + 1.0)
        for row in draws.permutation(len(signs)):
            first, last = starts[row], starts[row + 1]
            kept = draws.random(last - first) < keep
            margin = 0.0
            for entry in range(first, last):
                if kept[entry - first]:
                    margin += weights[places[entry]] * values[entry]
            sign = signs[row]
            move = length * sign / (1.0 + np.exp(sign * margin / keep)) / keep
            for entry in range(first, last):
                if kept[entry - first]:
                    weights[places[entry]] += move * values[entry]
    return weights


def chosen_alpha(rows: csr_matrix, labels: NDArray[Any], alphas: Sequence[float], folds: int, seed: int) -> float:
    """Return the ridge strength with the fewest wrong labels in cross-validation; the stronger one on ties.

    Examples
    --------
    >>> draws = np.random.default_rng(0)
    >>> labels = draws.integers(0, 2, 40)
    >>> chosen_alpha(csr_matrix(np.eye(40)[:, :5] + labels[:, None]), labels, (1.0, 1e-3), 3, 0)
    1.0
    """
    fold = np.random.default_rng(seed).permutation(len(labels)) % folds
    wrong = dict.fromkeys(sorted(alphas, reverse=True), 0)
    for held in range(folds):
        inside, outside = np.flatnonzero(fold != held), np.flatnonzero(fold == held)
        for alpha in wrong:
            model = RidgeLogistic(alpha).fit(rows[inside], labels[inside])
            wrong[alpha] += int((model.predict(rows[outside]) != labels[outside]).sum())
    return min(wrong, key=lambda alpha: wrong[alpha])
