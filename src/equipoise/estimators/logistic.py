"""Private logistic regression."""

from typing import Any, ClassVar

import numpy as np
from scipy.special import log_softmax

from equipoise.estimators.base import Array
from equipoise.estimators.classifier import PrivateClassifier
from equipoise.vocabulary.facts import Domain


class LogisticRegression(PrivateClassifier):
    """Logistic regression with a ridge, for two classes or more, released with one privacy certificate.

    Minimises ``(1/n) sum log(1 + exp(-y (<w, x> + b))) + alpha/2 (||w||^2 + (b/s)^2)`` to a public tolerance, with
    noise where `mechanism` says. More than two classes are fitted jointly by the multinomial loss: epsilon is never
    split over classes.

    Parameters
    ----------
    epsilon, delta : float
        The budget; ``delta=0`` means pure differential privacy.
    domain : Domain
        The public facts: ``Domain(row_norm=1.0, classes=(0, 1))``. Never inferred from data.
    alpha : float or "public"
        The ridge; "public" picks it from n, the number of columns, the domain and the budget alone.
    mechanism : str
        Where the noise enters. "auto" takes the way with the smallest modelled cost, from public facts alone, and noisy
        SGD for a long table where that costs no more and is faster; the certificate shows the menu
        (docs/mechanisms.md). "output" adds it to the weights; "objective" tilts the objective, with slopes clipped, at
        CLIP for "objective:CLIP"; "noisy-gradient" (delta > 0) adds it to every gradient, of BATCH secret rows for
        "noisy-gradient:BATCH". A law of noise on the output can be named instead: "spherical-laplace", "laplace",
        "gaussian".
    fit_intercept : bool
        Whether a penalised constant column, covered by the theorem, is appended.
    random_state : int, optional
        None draws from the operating system. A seed makes the run repeatable and unfit for release.
    public_seed : int
        Drives public coins; recorded in the certificate.
    ledger : str, optional
        URL or name of the ledger that must admit the spend before a row is read.
    class_weight : mapping from class to float, optional
        What a row of each class counts for, as in scikit-learn, in numbers that are public: ``{0: 1.0, 1: 15.0}`` makes
        a class of 6 % count for half. "balanced" counts private rows and is refused. A schema may have it instead. The
        certificate speaks of the objective divided by the largest weight, alpha included (docs/proofs/N2.md).

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (1, n_features) and (1,), or (n_classes, n_features) and (n_classes,)
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

    name: ClassVar[str] = "logistic"

    def _loss_name(self, domain: Domain) -> str:
        count = 2 if domain.classes == "observed" else len(domain.classes or (0, 1))
        return "logistic" if count == 2 else f"multinomial:{count}"

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of every class."""
        probabilities: Array = np.exp(self.predict_log_proba(X))
        return probabilities

    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithm of the probability of every class."""
        scores = self._scores(X)
        if scores.shape[1] == 1:
            return -np.hstack([np.logaddexp(0.0, scores), np.logaddexp(0.0, -scores)])
        logarithms: Array = log_softmax(scores, axis=1)
        return logarithms
