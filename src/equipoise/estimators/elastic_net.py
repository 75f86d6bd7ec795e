"""Private models with an elastic net, whose minimisers are sparse."""

from typing import Any, ClassVar

from sklearn import linear_model

from equipoise.estimators.logistic import LogisticRegression
from equipoise.estimators.ridge import Ridge

# So small a share of the L1 norm leaves a row's pull as it is.
SMALL_L1_RATIO = 2e-4


class ElasticNet(Ridge):
    """Least squares with an elastic net, released with a privacy certificate.

    Minimises ``(1/n) sum (<w, x> + b - y)^2 + alpha (c ||w||_1 + (1 - c)/2 ||w||^2)`` with c the `l1_ratio`, the
    constant column's weight among w, and adds noise to the weights. The L1 part cancels in the stability bound; the
    strong convexity is ``alpha (1 - c)``. The noise fills in the zeros of the minimiser: threshold the released
    weights, which is free.

    Parameters
    ----------
    l1_ratio : float
        The share of the L1 norm, in [0, 1).
    mechanism : str
        "auto" or "output" for the quietest noise on the output, or a law by name: "spherical-laplace", "laplace",
        "gaussian".
    epsilon, delta, domain, alpha, fit_intercept, random_state, public_seed, ledger
        As in `Ridge`.

    Examples
    --------
    >>> import numpy as np
    >>> import equipoise as eq
    >>> X = np.linspace(-1, 1, 20_000)[:, None]
    >>> domain = eq.Domain(row_norm=1.0, labels=(0.0, 10.0))
    >>> model = eq.ElasticNet(epsilon=1.0, domain=domain, l1_ratio=0.1, random_state=0)
    >>> prediction = model.fit(X, 5 + 4 * X[:, 0]).predict([[0.0]])
    >>> bool(4.5 < prediction[0] < 5.5)
    True
    """

    name: ClassVar[str] = "elastic-net"
    l1_ratio: float = 0.5

    @classmethod
    def _extreme(cls, at_the_end: bool) -> dict[str, Any]:
        return {"l1_ratio": SMALL_L1_RATIO}

    def _penalty_name(self) -> str:
        return f"elastic-net:{self.l1_ratio}"

    def _plain_class(self) -> Any:
        return linear_model.ElasticNet


class ElasticNetClassifier(LogisticRegression):
    """Logistic regression with an elastic net, for two classes or more, released with a privacy certificate.

    Coefficients of several classes are centred over the classes, which changes no prediction. Minimises the mean
    logistic (or multinomial) loss plus ``alpha (c ||w||_1 + (1 - c)/2 ||w||^2)``, c being the `l1_ratio`, and adds
    noise to the weights.

    Parameters
    ----------
    l1_ratio : float
        The share of the L1 norm, in [0, 1).
    mechanism : str
        "auto" or "output" for the quietest noise on the output, or a law by name: "spherical-laplace", "laplace",
        "gaussian".
    epsilon, delta, domain, alpha, fit_intercept, random_state, public_seed, ledger, class_weight
        As in `LogisticRegression`.

    Examples
    --------
    >>> import numpy as np
    >>> import equipoise as eq
    >>> X = np.array([[0.9, 0.1], [0.8, -0.1], [-0.9, 0.0], [-0.7, 0.2]] * 250)
    >>> y = np.array([1, 1, 0, 0] * 250)
    >>> domain = eq.Domain(row_norm=1.0, classes=(0, 1))
    >>> model = eq.ElasticNetClassifier(epsilon=3.0, domain=domain, l1_ratio=0.1, random_state=0)
    >>> model.fit(X, y).predict([[0.5, 0.0], [-0.5, 0.0]])
    array([1, 0])
    """

    name: ClassVar[str] = "elastic-net-classifier"
    l1_ratio: float = 0.5

    @classmethod
    def _extreme(cls, at_the_end: bool) -> dict[str, Any]:
        return {"l1_ratio": SMALL_L1_RATIO}

    def _penalty_name(self) -> str:
        return f"elastic-net:{self.l1_ratio}"
