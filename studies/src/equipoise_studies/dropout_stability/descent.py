"""The paper's dropout gradient descent (Algorithm 1) as estimators: corrected, as printed, and boosted (Appendix B).

None of them makes a certificate: Theorems 14 and 15 have unnamed constants, and steps and choice of the best run
depend on the rows (G4).
"""

import math
from abc import abstractmethod
from collections.abc import Callable

import numba
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

Array = NDArray[np.float64]
# On so many masks, the same for every run, runs are compared where the expected objective has no closed form.
COMPARED_MASKS = 64


@numba.njit(cache=True)
def squared_slope(prediction: float, outcome: float) -> float:
    """Return the derivative of ``(u - y)^2 / 2``, the squared loss of curvature 1 that Assumption 2 asks for."""
    return prediction - outcome


@numba.njit(cache=True)
def logistic_slope(prediction: float, outcome: float) -> float:
    """Return the derivative of ``log(1 + exp(-y u))`` for an outcome of 1 or -1."""
    return -outcome / (1.0 + math.exp(outcome * prediction))


@numba.njit(cache=True)
def _descend(
    rows: Array,
    outcomes: Array,
    always: int,
    keep: float,
    scale: float,
    n_steps: int,
    curvature: float,
    delay: float,
    radius: float,
    slope: Callable[[float, float], float],
    draws: np.random.Generator,
) -> Array:
    n_samples, n_columns = rows.shape
    weights = np.zeros(n_columns)
    masked = np.zeros(n_columns)
    for step in range(1, n_steps + 1):
        row = draws.integers(0, n_samples)
        prediction = 0.0
        for column in range(n_columns):
            kept = column >= always or draws.random() < keep
            factor = 1.0 if column >= always else 1.0 / keep
            masked[column] = factor * rows[row, column] if kept else 0.0
            prediction += weights[column] * (masked[column] if column >= always else masked[column] * keep * scale)
        move = slope(prediction, outcomes[row]) / (curvature * (step + delay))
        square = 0.0
        for column in range(n_columns):
            weights[column] -= move * masked[column]
            square += weights[column] ** 2
        if square > radius * radius:
            weights *= radius / np.sqrt(square)
    return weights


class DropoutDescent(BaseEstimator):  # type: ignore[misc]
    """Stochastic gradient descent with a fresh mask a step, steps ``1/(curvature (t + delay))``, last iterate.

    Parameters
    ----------
    keep : float
        The chance that a column stays in a step; 1/2 in the paper.
    n_steps : int, optional
        By default the square of the number of rows, as the paper takes for its rates.
    curvature : float, optional
        By default the paper's: ``Delta_1``, the least mean square of a column, times ``(1 - keep)/keep``.
    delay : float
        Shortens the first steps; 0 in the paper.
    radius : float, optional
        Weights are projected onto this ball (Theorem 12); by default they are not.
    runs : int
        How many independent runs are made; the one with the least expected objective is kept (Appendix B).
    fit_intercept : bool
        Whether a constant column is added, which is never dropped.
    random_state : int, optional
        Of the rows and masks that are drawn.
    """

    def __init__(
        self,
        keep: float = 0.5,
        n_steps: int | None = None,
        curvature: float | None = None,
        delay: float = 0.0,
        radius: float | None = None,
        runs: int = 1,
        fit_intercept: bool = False,
        random_state: int | None = None,
    ) -> None:
        self.keep = keep
        self.n_steps = n_steps
        self.curvature = curvature
        self.delay = delay
        self.radius = radius
        self.runs = runs
        self.fit_intercept = fit_intercept
        self.random_state = random_state

    @property
    def _scale(self) -> float:
        """What the masked inner product is multiplied with before the loss sees it."""
        return 1.0 / self.keep

    @property
    @abstractmethod
    def _slope(self) -> Callable[[float, float], float]:
        """The derivative of the loss."""

    @abstractmethod
    def _expected(self, rows: Array, outcomes: Array, weights: Array) -> float:
        """Return the expected objective, by which runs are compared."""

    def _descended(self, rows: Array, outcomes: Array) -> None:
        always = rows.shape[1]
        if self.fit_intercept:
            rows = np.column_stack([rows, np.ones(len(rows))])
        least = float(np.square(rows[:, :always]).mean(0).min()) * (1 - self.keep) / self.keep
        draws = np.random.default_rng(self.random_state)
        arguments = (
            np.ascontiguousarray(rows),
            outcomes,
            always,
            float(self.keep),
            self._scale,
            len(rows) ** 2 if self.n_steps is None else self.n_steps,
            least if self.curvature is None else self.curvature,
            float(self.delay),
            math.inf if self.radius is None else self.radius,
            self._slope,
        )
        found = [np.asarray(_descend(*arguments, draws)) for _ in range(self.runs)]
        values = [self._expected(rows, outcomes, weights) for weights in found] if self.runs > 1 else [0.0]
        weights = found[int(np.argmin(values))]
        self.coef_ = weights[:always]
        self.intercept_ = float(weights[always]) if self.fit_intercept else 0.0


class DropoutDescentRegressor(RegressorMixin, DropoutDescent):  # type: ignore[misc]
    """Algorithm 1 for ``(u - y)^2 / 2``, with the loss at ``<theta, b x>/keep``: the gradient of its own objective.

    Examples
    --------
    >>> draws = np.random.default_rng(0)
    >>> rows = draws.choice([-1.0, 1.0], size=(60, 2))
    >>> model = DropoutDescentRegressor(radius=5.0, random_state=0).fit(rows, rows @ [2.0, -1.0])
    >>> best = expected_minimiser(rows, rows @ [2.0, -1.0], 0.5)
    >>> bool(np.abs(model.coef_ - best).max() < 0.1)
    True
    """

    @property
    def _slope(self) -> Callable[[float, float], float]:
        return squared_slope

    def _expected(self, rows: Array, outcomes: Array, weights: Array) -> float:
        return expected_objective(
            rows[:, : self.n_features_in_], outcomes - self._shift(rows, weights), weights, self.keep
        )

    def _shift(self, rows: Array, weights: Array) -> Array:
        return rows[:, self.n_features_in_ :] @ weights[self.n_features_in_ :]

    def fit(self, X: ArrayLike, y: ArrayLike) -> "DropoutDescentRegressor":  # noqa: N803
        """Descend."""
        rows, outcomes = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        self._descended(rows, np.asarray(outcomes, np.float64))
        return self

    def predict(self, X: ArrayLike) -> Array:  # noqa: N803
        """Return ``<x, theta>``."""
        check_is_fitted(self)
        return np.asarray(validate_data(self, X, dtype=np.float64, reset=False) @ self.coef_ + self.intercept_)


class PrintedDropoutDescentRegressor(DropoutDescentRegressor):
    """Algorithm 1 as printed: step divided by alpha = keep, but the loss at ``<theta, b x>``, without the factor.

    That is not the gradient of the objective in the paper's proofs; for the squared loss the descent ends at
    ``1/keep`` times that objective's minimiser (G1).

    Examples
    --------
    >>> draws = np.random.default_rng(0)
    >>> rows = draws.choice([-1.0, 1.0], size=(60, 2))
    >>> model = PrintedDropoutDescentRegressor(radius=9.0, random_state=0).fit(rows, rows @ [2.0, -1.0])
    >>> best = expected_minimiser(rows, rows @ [2.0, -1.0], 0.5)
    >>> bool(np.abs(model.coef_ - 2 * best).max() < 0.2)
    True
    """

    @property
    def _scale(self) -> float:
        return 1.0


class DropoutDescentClassifier(ClassifierMixin, DropoutDescent):  # type: ignore[misc]
    """Algorithm 1 for the logistic loss, with the loss at ``<theta, b x>/keep``; two classes.

    Examples
    --------
    >>> draws = np.random.default_rng(0)
    >>> rows = draws.normal(size=(80, 2))
    >>> model = DropoutDescentClassifier(curvature=0.1, delay=50.0, runs=3, random_state=0)
    >>> model.fit(rows, np.where(rows[:, 0] > 0, "yes", "no")).score(rows, np.where(rows[:, 0] > 0, "yes", "no")) > 0.9
    True
    """

    def __sklearn_tags__(self) -> Tags:
        """Return what scikit-learn's checks must know: two classes only."""
        tags: Tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    @property
    def _slope(self) -> Callable[[float, float], float]:
        return logistic_slope

    def _expected(self, rows: Array, outcomes: Array, weights: Array) -> float:
        draws = np.random.default_rng(0)
        always, total = self.n_features_in_, 0.0
        for _ in range(COMPARED_MASKS):
            masked = rows.copy()
            masked[:, :always] *= (draws.random((len(rows), always)) < self.keep) / self.keep
            total += float(np.logaddexp(0, -outcomes * (masked @ weights)).mean())
        return total / COMPARED_MASKS

    def fit(self, X: ArrayLike, y: ArrayLike) -> "DropoutDescentClassifier":  # noqa: N803
        """Descend."""
        rows, labels = validate_data(self, X, y, dtype=np.float64)
        kind = type_of_target(labels, input_name="y", raise_unknown=True)
        if kind != "binary":
            raise ValueError(f"Only binary classification is supported. The type of the target is {kind}.")
        self.classes_ = np.unique(labels)
        if len(self.classes_) != 2:
            raise ValueError("DropoutDescentClassifier needs two classes; found 1 class")
        self._descended(rows, np.where(labels == self.classes_[1], 1.0, -1.0))
        return self

    def decision_function(self, X: ArrayLike) -> Array:  # noqa: N803
        """Return ``<x, theta>``."""
        check_is_fitted(self)
        return np.asarray(validate_data(self, X, dtype=np.float64, reset=False) @ self.coef_ + self.intercept_)

    def predict(self, X: ArrayLike) -> NDArray[np.generic]:  # noqa: N803
        """Return the class on whose side the row lies."""
        positive = self.decision_function(X) > 0
        return np.asarray(self.classes_[positive.astype(int)])


def expected_objective(rows: Array, outcomes: Array, weights: Array, keep: float) -> float:
    """Return the mean over rows and masks of ``(<x b, theta>/keep - y)^2 / 2``, in closed form (Lemma 4, G1).

    Examples
    --------
    >>> expected_objective(np.array([[1.0, 2.0]]), np.array([1.0]), np.array([1.0, 1.0]), 0.5)
    4.5
    """
    weights = weights[: rows.shape[1]]
    residual = rows @ weights - outcomes
    spread = (1 - keep) / keep * (np.square(rows) @ np.square(weights))
    return float((np.square(residual) + spread).mean() / 2)


def expected_minimiser(rows: Array, outcomes: Array, keep: float, radius: float = math.inf) -> Array:
    """Return the minimiser of `expected_objective` over a ball.

    Examples
    --------
    >>> rows = np.eye(2)
    >>> expected_minimiser(rows, np.array([2.0, 0.0]), 0.5).tolist()
    [1.0, 0.0]
    >>> expected_minimiser(rows, np.array([2.0, 0.0]), 0.5, radius=0.5).round(9).tolist()
    [0.5, 0.0]
    """
    return ball_minimiser(expected_hessian(rows, keep), rows.T @ outcomes / len(rows), radius)


def ball_minimiser(hessian: Array, linear: Array, radius: float) -> Array:
    """Return the minimiser of ``w H w / 2 - <linear, w>`` over a ball; the shortest one where H is singular.

    Examples
    --------
    >>> ball_minimiser(np.diag([1.0, 0.0]), np.array([3.0, 0.0]), 2.0).round(9).tolist()
    [2.0, 0.0]
    """
    values, vectors = np.linalg.eigh(hessian)
    turned = vectors.T @ linear
    seen = values > 1e-12 * values[-1]
    free = np.divide(turned, values, out=np.zeros_like(turned), where=seen)
    if np.linalg.norm(free) <= radius:
        return np.asarray(vectors @ free)
    low, high = 0.0, float(np.linalg.norm(turned) / radius)
    while high - low > 1e-13 * high:
        middle = (low + high) / 2
        if np.linalg.norm(turned / (values + middle)) > radius:
            low = middle
        else:
            high = middle
    return np.asarray(vectors @ (turned / (values + high)))


def expected_hessian(rows: Array, keep: float) -> Array:
    """Return the Hessian of `expected_objective`: at least ``(1 - keep)/keep`` times the least mean square of a column.

    Examples
    --------
    >>> expected_hessian(np.array([[1.0, 1.0]]), 0.5).tolist()
    [[2.0, 1.0], [1.0, 2.0]]
    """
    second = rows.T @ rows / len(rows)
    return np.asarray(second + (1 - keep) / keep * np.diag(np.diag(second)))
