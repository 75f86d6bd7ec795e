"""Private models with a bridge penalty, between the lasso and the ridge."""

from typing import Any, ClassVar

from equipoise.estimators.logistic import LogisticRegression
from equipoise.estimators.ridge import Ridge

# So near to a ridge the bridge is about as curved at small weights as it is stated to be for all of them.
NEARLY_A_RIDGE = 1.999


class BridgeRegressor(Ridge):
    """Least squares with a bridge penalty, released with a privacy certificate.

    Minimises ``(1/n) sum (<w, x> + b - y)^2 + alpha sum_j |w_j|^p``, the constant column's weight among w, and adds
    noise to the weights. The penalty's curvature fades with the weights, so that it is bounded on the ball that holds
    every minimiser (docs/proofs/bridge.md); as p goes to 1 the bound is void.

    Parameters
    ----------
    power : float
        The power p, above 1 and at most 2.
    mechanism : str
        "auto" or "output" for the quietest noise on the output, or a law by name: "spherical-laplace", "laplace",
        "gaussian".
    epsilon, delta, domain, alpha, fit_intercept, random_state, public_seed, ledger
        As in `Ridge`. The domain has no radius: minimisers are bounded by the penalty.

    Examples
    --------
    >>> import numpy as np
    >>> import equipoise as eq
    >>> X = np.linspace(-1, 1, 20_000)[:, None]
    >>> domain = eq.Domain(row_norm=1.0, labels=(0.0, 10.0))
    >>> model = eq.BridgeRegressor(epsilon=1.0, domain=domain, power=1.5, random_state=0)
    >>> prediction = model.fit(X, 5 + 4 * X[:, 0]).predict([[0.0]])
    >>> bool(4.5 < prediction[0] < 5.5)
    True
    """

    name: ClassVar[str] = "bridge-regressor"
    power: float = 1.5

    @classmethod
    def _extreme(cls, at_the_end: bool) -> dict[str, Any]:
        return {"power": NEARLY_A_RIDGE}

    def _penalty_name(self) -> str:
        return f"bridge:{self.power}"


class BridgeClassifier(LogisticRegression):
    """Logistic regression with a bridge penalty, for two classes or more, released with a privacy certificate.

    Minimises the mean logistic (or multinomial) loss plus ``alpha sum_j |w_j|^p`` and adds noise to the weights
    (docs/proofs/bridge.md). Coefficients of several classes are centred over the classes, which changes no prediction.

    Parameters
    ----------
    power : float
        The power p, above 1 and at most 2.
    mechanism : str
        "auto" or "output" for the quietest noise on the output, or a law by name: "spherical-laplace", "laplace",
        "gaussian".
    epsilon, delta, domain, alpha, fit_intercept, random_state, public_seed, ledger, class_weight
        As in `LogisticRegression`. The domain has no radius: minimisers are bounded by the penalty.

    Examples
    --------
    >>> import numpy as np
    >>> import equipoise as eq
    >>> X = np.array([[0.9, 0.1], [0.8, -0.1], [-0.9, 0.0], [-0.7, 0.2]] * 250)
    >>> y = np.array([1, 1, 0, 0] * 250)
    >>> domain = eq.Domain(row_norm=1.0, classes=(0, 1))
    >>> model = eq.BridgeClassifier(epsilon=3.0, domain=domain, power=1.5, random_state=0)
    >>> model.fit(X, y).predict([[0.5, 0.0], [-0.5, 0.0]])
    array([1, 0])
    """

    name: ClassVar[str] = "bridge-classifier"
    power: float = 1.5

    @classmethod
    def _extreme(cls, at_the_end: bool) -> dict[str, Any]:
        return {"power": NEARLY_A_RIDGE}

    def _penalty_name(self) -> str:
        return f"bridge:{self.power}"
