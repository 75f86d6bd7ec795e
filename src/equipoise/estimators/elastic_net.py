"""Private models with an elastic net, whose minimisers are sparse."""

from equipoise.estimators.logistic import LogisticRegression
from equipoise.estimators.ridge import Ridge
from equipoise.learn.schema import Schema
from equipoise.vocabulary.facts import Domain


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

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 0.0,
        domain: Domain | Schema | None = None,
        alpha: float | str = "public",
        mechanism: str = "auto",
        fit_intercept: bool = True,
        random_state: int | None = None,
        public_seed: int = 0,
        ledger: str | None = None,
        l1_ratio: float = 0.5,
    ) -> None:
        super().__init__(epsilon, delta, domain, alpha, mechanism, fit_intercept, random_state, public_seed, ledger)
        self.l1_ratio = l1_ratio

    def _penalty_name(self) -> str:
        return f"elastic-net:{self.l1_ratio}"


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
    epsilon, delta, domain, alpha, fit_intercept, random_state, public_seed, ledger
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

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 0.0,
        domain: Domain | Schema | None = None,
        alpha: float | str = "public",
        mechanism: str = "auto",
        fit_intercept: bool = True,
        random_state: int | None = None,
        public_seed: int = 0,
        ledger: str | None = None,
        l1_ratio: float = 0.5,
    ) -> None:
        super().__init__(epsilon, delta, domain, alpha, mechanism, fit_intercept, random_state, public_seed, ledger)
        self.l1_ratio = l1_ratio

    def _penalty_name(self) -> str:
        return f"elastic-net:{self.l1_ratio}"
