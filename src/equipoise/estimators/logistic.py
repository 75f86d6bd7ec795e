"""Private logistic regression."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import ClassifierMixin

from equipoise.errors import InvalidParameter
from equipoise.estimators.base import Array, PrivateLinearModel
from equipoise.proof.request import Request
from equipoise.release import Released


class LogisticRegression(ClassifierMixin, PrivateLinearModel):
    """Binary logistic regression with a ridge, released with a privacy certificate.

    Minimises ``(1/n) sum log(1 + exp(-y (<w, x> + b))) + alpha/2 (||w||^2 + (b/s)^2)`` to a public tolerance and adds
    noise.

    Parameters
    ----------
    epsilon, delta : float
        The budget; ``delta=0`` means pure differential privacy.
    domain : Domain
        The public facts: ``Domain(row_norm=1.0, classes=(0, 1))``. Never inferred from data.
    alpha : float or "public"
        The ridge; "public" picks it from n, the number of columns, the domain and the budget alone.
    mechanism : str
        "auto" or "output" for the quietest output perturbation, or one by name: "spherical-laplace", "laplace",
        "gaussian".
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
    coef_, intercept_ : arrays of shape (1, n_features) and (1,)
        The noisy weights.
    classes_ : array
        The public label set.
    certificate_ : Certificate
        The claim and its whole argument.

    Examples
    --------
    >>> import numpy as np
    >>> import equipoise as eq
    >>> X = np.array([[0.9, 0.1], [0.8, -0.1], [-0.9, 0.0], [-0.7, 0.2]] * 250)
    >>> y = np.array([1, 1, 0, 0] * 250)
    >>> model = eq.LogisticRegression(epsilon=1.0, domain=eq.Domain(row_norm=1.0, classes=(0, 1)), random_state=0)
    >>> model.fit(X, y).predict([[0.5, 0.0], [-0.5, 0.0]])
    array([1, 0])
    >>> model.certificate_.verify()
    ()
    """

    _loss: ClassVar[str] = "logistic"
    _domain_line: ClassVar[str] = "Domain(row_norm=1.0, classes=(0, 1))"

    classes_: NDArray[Any]

    def _request(self, n_samples: int, n_features: int) -> Request:
        request = super()._request(n_samples, n_features)
        classes = request.domain.classes
        if classes != "observed" and len(classes or ()) != 2:
            raise InvalidParameter(
                "two classes", f"classes={classes!r}", "declare two classes: only binary classification is supported"
            )
        return request

    def _keep(self, released: Released, coefficients: Array, intercept: float) -> None:
        self.classes_ = np.array(released.classes)
        self.coef_ = coefficients[None, :]
        self.intercept_ = np.array([intercept])

    def decision_function(self, X: Any) -> Array:
        """Return the log odds of the second class."""
        return self._scores(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the likelier class of each row."""
        second = (self._scores(X) > 0).astype(int)
        predicted: NDArray[Any] = self.classes_[np.minimum(second, len(self.classes_) - 1)]
        return predicted

    def predict_proba(self, X: Any) -> Array:
        """Return the probabilities of both classes."""
        scores = self._scores(X)
        return np.column_stack([expit(-scores), expit(scores)])

    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithms of the probabilities of both classes."""
        scores = self._scores(X)
        return -np.column_stack([np.logaddexp(0.0, scores), np.logaddexp(0.0, -scores)])

    def __sklearn_tags__(self) -> Any:
        """Add that the classifier is binary."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
