"""Neighbouring tables on which a model moves almost as far as the theorem allows."""

from collections.abc import Callable
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
    extra: tuple[tuple[str, object], ...] = ()

    def sensitivity(self, **parameters: object) -> float:
        """Return the bound on the weights' movement that the certificate of output perturbation states."""
        parameters = {"mechanism": "output", **parameters}
        model = self.model(domain=self.domain, alpha=self.alpha, **dict(self.extra), **parameters)
        return model.plan(*self.X.shape).sensitivity

    def weights(self, **parameters: object) -> tuple[Array, Array]:
        """Return what one fit on each table releases, constant column last."""
        return self._fit(self.X, **parameters), self._fit(self.X_neighbour, **parameters)

    def _fit(self, X: Array, **parameters: object) -> Array:
        model = self.model(domain=self.domain, alpha=self.alpha, **dict(self.extra), **parameters).fit(X, self.y)
        return np.append(np.ravel(model.coef_), np.ravel(model.intercept_))

    def scores(self, runs: range, **parameters: object) -> tuple[Array, Array]:
        """Return whole fits on both tables, projected on the line through the clean ends, which lie at 0 and 1."""
        start, end = self.weights(
            **{**parameters, "epsilon": 1e9, "delta": 0.0, "mechanism": "output", "random_state": 0}
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


class Bare(eq.Ridge):
    """A regression by any loss and penalty, for members of the families that no estimator wears yet."""

    def __init__(
        self,
        epsilon=1.0,
        delta=0.0,
        domain=None,
        alpha="public",
        mechanism="auto",
        fit_intercept=True,
        random_state=None,
        public_seed=0,
        ledger=None,
        loss="squared",
        penalty="l2",
    ):
        super().__init__(epsilon, delta, domain, alpha, mechanism, fit_intercept, random_state, public_seed, ledger)
        self.loss = loss
        self.penalty = penalty

    def _loss_name(self, domain):
        return self.loss

    def _penalty_name(self):
        return self.penalty


def one_row(dimension: int, sign: float) -> Array:
    """Return four rows, three of them zero, which a model without intercept ignores."""
    X = np.zeros((4, dimension))
    X[0] = sign / np.sqrt(dimension)
    return X


CLASSES = eq.Domain(row_norm=1.0, classes=(0, 1))
LABELS = eq.Domain(row_norm=1.0, labels=(-1.0, 1.0))
CODES = np.array([1, 0, 1, 0])
TARGETS = np.array([1.0, 0.0, 0.0, 0.0])


def turned_row(
    model: type[PrivateLinearModel], domain: eq.Domain, alpha: float, y: Array, **extra: object
) -> Callable[[int], Pair]:
    """Return a maker of pairs whose one long row is turned round.

    A strong ridge keeps the loss from adding curvature, so that the bounds are nearly attained (A2).
    """
    return lambda dimension: Pair(
        model, domain, alpha, one_row(dimension, 1.0), one_row(dimension, -1.0), y, tuple(extra.items())
    )


PAIRS = {
    "logistic": turned_row(eq.LogisticRegression, CLASSES, 2.0, CODES),
    "squared": turned_row(eq.Ridge, LABELS, 40.0, TARGETS),
    "multinomial": turned_row(eq.LogisticRegression, eq.Domain(1.0, classes=(0, 1, 2)), 40.0, CODES),
    "hinge": turned_row(eq.LinearSVC, CLASSES, 2.0, CODES, loss="hinge"),
    "smooth hinge": turned_row(eq.LinearSVC, CLASSES, 2.0, CODES, loss="smooth-hinge"),
    "huber": turned_row(eq.HuberRegressor, LABELS, 2.0, TARGETS),
    "elastic net": turned_row(eq.ElasticNet, LABELS, 40.0, TARGETS, l1_ratio=0.0002),
    "absolute": turned_row(Bare, LABELS, 2.0, TARGETS, loss="absolute"),
    "bridge": turned_row(eq.BridgeRegressor, LABELS, 20.0, TARGETS, power=1.9),
    "elastic-net classifier": turned_row(eq.ElasticNetClassifier, CLASSES, 2.0, CODES, l1_ratio=0.001),
}
