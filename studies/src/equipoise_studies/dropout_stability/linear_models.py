"""Linear regression on Boston housing in the four ways that the paper compares; intercepts are never dropped."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import LinearRegression, RidgeCV

from equipoise_studies.dropout_stability.descent import DropoutDescentRegressor

Array = NDArray[np.float64]

# The paper drops a twentieth of the entries.
KEEP = 0.95
ALPHAS = tuple(float(f"{alpha:.3g}") for alpha in np.geomspace(1e-3, 1e2, 11))
# Steps 1/(CURVATURE (t + DELAY)): the first is below 2 over the longest row's squared norm, the last a hundredth of it.
CURVATURE, DELAY, STEPS = 0.02, 300.0, 30_000


class DeterministicDropoutRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Least squares under dropout in closed form: a ridge whose strength in each column is its mean square (G1).

    Examples
    --------
    >>> rows = np.array([[1.0], [-1.0], [2.0], [-2.0]])
    >>> model = DeterministicDropoutRegressor(keep=0.5).fit(rows, 3 + 4 * rows[:, 0])
    >>> model.coef_.round(9).tolist(), round(model.intercept_, 9)
    ([2.0], 3.0)
    """

    def __init__(self, keep: float = KEEP) -> None:
        self.keep = keep

    def fit(self, X: ArrayLike, y: ArrayLike) -> "DeterministicDropoutRegressor":  # noqa: N803
        """Solve the normal equations."""
        rows, outcomes = np.asarray(X, np.float64), np.asarray(y, np.float64)
        with_one = np.column_stack([rows, np.ones(len(rows))])
        matrix = with_one.T @ with_one
        penalty = np.append((1 - self.keep) / self.keep * np.square(rows).sum(0), 0.0)
        # A column that is 0 in every row that is left has no weight of its own: the shortest solution.
        found = np.linalg.lstsq(matrix + np.diag(penalty), with_one.T @ outcomes, rcond=1e-12)[0]
        self.coef_, self.intercept_ = found[:-1], float(found[-1])
        return self

    def predict(self, X: ArrayLike) -> Array:  # noqa: N803
        """Return predictions."""
        return np.asarray(np.asarray(X, np.float64) @ self.coef_ + self.intercept_)


def models() -> dict[str, Any]:
    """Return the four models by the names of the page.

    Examples
    --------
    >>> list(models())
    ['unregularised', 'L2', 'dropout', 'deterministic dropout']
    """
    descent = DropoutDescentRegressor(
        keep=KEEP, n_steps=STEPS, curvature=CURVATURE, delay=DELAY, fit_intercept=True, random_state=0
    )
    return {
        "unregularised": LinearRegression(),
        "L2": RidgeCV(ALPHAS),
        "dropout": descent,
        "deterministic dropout": DeterministicDropoutRegressor(),
    }
