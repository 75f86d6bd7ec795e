"""Private ridge regression."""

from typing import ClassVar

from equipoise.estimators.regressor import PrivateRegressor
from equipoise.vocabulary.facts import Domain


class Ridge(PrivateRegressor):
    """Least squares with a ridge, released with a privacy certificate.

    Minimises ``(1/n) sum (<w, x> + b - y)^2 + alpha/2 (||w||^2 + ((b - c)/s)^2)`` (no factor 1/2 in the loss; c is the
    public midpoint of the target's range) to a public tolerance, with noise where `mechanism` says. Predictions are
    clipped into the target's public range.

    Parameters
    ----------
    epsilon, delta : float
        The budget; ``delta=0`` means pure differential privacy.
    domain : Domain
        The public facts: ``Domain(row_norm=1.0, labels=(low, high))``. Never inferred from data.
    alpha : float or "public"
        The ridge; "public" picks it from n, the number of columns, the domain and the budget alone.
    mechanism : str
        Where the noise enters. "auto" takes the way with the smallest modelled cost, from public facts alone; the
        certificate shows the menu (docs/mechanisms.md). "output" adds it to the weights; "objective" tilts the
        objective, with slopes clipped, at CLIP for "objective:CLIP"; "noisy-gradient" (delta > 0) adds it to every
        gradient, of BATCH secret rows for "noisy-gradient:BATCH"; "sufficient-statistics" and "functional" add it to
        sums of products of columns. A law of noise on the output can be named instead: "spherical-laplace",
        "laplace", "gaussian".
    fit_intercept : bool
        Whether a penalised constant column, covered by the theorem, is appended.
    random_state : int, optional
        None draws from the operating system. A seed makes the run repeatable and unfit for release.
    public_seed : int
        Drives public coins; recorded in the certificate.
    ledger : str, optional
        URL or name of the ledger that must admit the spend before a row is read.

    Attributes
    ----------
    coef_, intercept_ : array of shape (n_features,) and float
        The noisy weights.
    certificate_ : Certificate
        The claim and its whole argument.

    Examples
    --------
    >>> import numpy as np
    >>> import equipoise as eq
    >>> X = np.linspace(-1, 1, 20_000)[:, None]
    >>> model = eq.Ridge(epsilon=1.0, domain=eq.Domain(row_norm=1.0, labels=(0.0, 10.0)), random_state=0)
    >>> prediction = model.fit(X, 5 + 4 * X[:, 0]).predict([[0.0]])
    >>> bool(4.5 < prediction[0] < 5.5)
    True
    """

    name: ClassVar[str] = "ridge"

    def _loss_name(self, domain: Domain) -> str:
        return "squared"
