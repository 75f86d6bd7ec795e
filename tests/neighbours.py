"""Neighbouring tables on which a model moves almost as far as the theorem allows."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import equipoise as eq
from equipoise.estimators.base import PrivateLinearModel

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Pair:
    """Two tables that differ in one row, and the model to be trained on both."""

    model: type[PrivateLinearModel]
    domain: eq.Domain
    alpha: float
    X: Array
    X_neighbour: Array
    y: Array

    def weights(self, **parameters: object) -> tuple[Array, Array]:
        """Return what one fit on each table releases, constant column last."""
        return self._fit(self.X, **parameters), self._fit(self.X_neighbour, **parameters)

    def _fit(self, X: Array, **parameters: object) -> Array:
        model = self.model(domain=self.domain, alpha=self.alpha, **parameters).fit(X, self.y)
        return np.append(np.ravel(model.coef_), np.ravel(model.intercept_))

    def scores(self, runs: range, **parameters: object) -> tuple[Array, Array]:
        """Return whole fits on both tables, projected on the line through the clean ends, which lie at 0 and 1."""
        start, end = self.weights(
            **{**parameters, "epsilon": 1e9, "delta": 0.0, "mechanism": "auto", "random_state": 0}
        )
        direction = (end - start) / float((end - start) @ (end - start))
        fits = [
            [
                float((self._fit(table, random_state=2 * run + side, **parameters) - start) @ direction)
                for side, table in enumerate((self.X, self.X_neighbour))
            ]
            for run in runs
        ]
        first, second = np.array(fits).T
        return first, second


def one_row(dimension: int, sign: float) -> Array:
    """Return four rows, three of them zero, which a model without intercept ignores."""
    X = np.zeros((4, dimension))
    X[0] = sign / np.sqrt(dimension)
    return X


def logistic_pair(dimension: int) -> Pair:
    """Return a pair with a strong ridge: the loss adds little curvature, so A2 is nearly attained (THEOREMS A2)."""
    domain = eq.Domain(row_norm=1.0, classes=(0, 1))
    y = np.array([1, 0, 1, 0])
    return Pair(eq.LogisticRegression, domain, 2.0, one_row(dimension, 1.0), one_row(dimension, -1.0), y)


def squared_pair(dimension: int) -> Pair:
    """Return the same for the squared loss, with a ridge so strong that the residual is nearly the label."""
    domain = eq.Domain(row_norm=1.0, labels=(-1.0, 1.0))
    y = np.array([1.0, 0.0, 0.0, 0.0])
    return Pair(eq.Ridge, domain, 40.0, one_row(dimension, 1.0), one_row(dimension, -1.0), y)
