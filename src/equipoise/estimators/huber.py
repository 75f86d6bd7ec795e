"""Private robust regression."""

from typing import Any, ClassVar

from sklearn import linear_model

from equipoise.estimators.regressor import PrivateRegressor
from equipoise.vocabulary.facts import Domain
from equipoise.vocabulary.numbers import plain, require_number


class HuberRegressor(PrivateRegressor):
    """Linear regression by the Huber loss with a ridge, released with a privacy certificate.

    Minimises ``(1/n) sum huber(<w, x> + b - y) + alpha/2 (||w||^2 + ((b - c)/s)^2)``, where huber(r) is r^2/2 up to
    the cap and grows with slope cap beyond, with noise where `mechanism` says. A row can pull no harder than the cap,
    which keeps the noise low however wide the target's range is.

    Parameters
    ----------
    cap : float, optional
        The residual beyond which the loss is linear, in units of the target; a quarter of the half-range if left out.
    epsilon, delta, domain, alpha, mechanism, fit_intercept, random_state, public_seed, ledger
        As in `Ridge`, but for the mechanisms that need sums of products.

    Examples
    --------
    >>> import numpy as np
    >>> import equipoise as eq
    >>> X = np.linspace(-1, 1, 20_000)[:, None]
    >>> model = eq.HuberRegressor(epsilon=1.0, domain=eq.Domain(row_norm=1.0, labels=(0.0, 10.0)), random_state=0)
    >>> prediction = model.fit(X, 5 + 4 * X[:, 0]).predict([[0.0]])
    >>> bool(4.5 < prediction[0] < 5.5)
    True
    """

    name: ClassVar[str] = "huber"
    cap: float | None = None

    def _plain_class(self) -> Any:
        return linear_model.HuberRegressor

    def _loss_name(self, domain: Domain) -> str:
        if self.cap is None:
            return f"huber:{domain.label_bound / 4!r}"
        cap = require_number("cap", plain(self.cap), above=0.0, remedy="pass a residual in units of the target")
        return f"huber:{cap!r}"
