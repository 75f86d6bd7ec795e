"""Private stochastic gradient descent: noise on the weights that a stable descent ends at."""

from typing import Any, ClassVar

import numpy as np
from scipy.special import expit, softmax
from sklearn import linear_model
from sklearn.utils.metaestimators import available_if

from equipoise.certify import laws
from equipoise.errors import InvalidParameter
from equipoise.estimators.base import Array
from equipoise.estimators.classifier import PrivateClassifier
from equipoise.estimators.descending import DescendingModel
from equipoise.estimators.regressor import PrivateRegressor
from equipoise.planning.laws import ANY
from equipoise.vocabulary.numbers import plain


def _is_logistic(model: Any) -> bool:
    """Tell whether scores are log odds."""
    return bool(model.loss == "logistic")


class DescendingClassifier(DescendingModel, PrivateClassifier):
    """What classifiers that descend share."""

    _losses: ClassVar[tuple[str, ...]] = ("logistic", "smooth-hinge", "hinge")

    @property
    def _several_classes(self) -> bool:  # type: ignore[override] # the loss decides
        return _is_logistic(self)

    @available_if(_is_logistic)  # type: ignore[untyped-decorator, unused-ignore] # scikit-learn carries no types
    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class, in the order of `classes_`; for the logistic loss alone."""
        scores = self._scores(X)
        if scores.shape[1] > 1:
            several: Array = softmax(scores, axis=1)
            return several
        chances = expit(scores[:, 0])
        return np.column_stack([1 - chances, chances])[:, : max(1, len(self.classes_))]


class DescendingRegressor(DescendingModel, PrivateRegressor):
    """What regressors that descend share."""

    _losses: ClassVar[tuple[str, ...]] = ("squared", "huber", "absolute")

    def _plain_class(self) -> Any:
        return linear_model.SGDRegressor


class _EndNoise(DescendingModel):
    """Noise at the end, on weights held back by a ridge, an elastic net, or nothing but the number of steps."""

    @classmethod
    def _kinds(cls) -> tuple[str, ...]:
        return ("sgd",)

    def _place_of_noise(self) -> str:
        known = (*ANY, *laws.members())
        if self.mechanism not in known:
            remedy = f"choose one of {', '.join(known)}; other places of noise have estimators of their own"
            raise InvalidParameter("a law of noise at the end", f"mechanism={self.mechanism!r}", remedy)
        return self.mechanism

    def _penalty_name(self) -> str:
        if plain(self.alpha) == 0:
            if self.l1_ratio != 0:
                found = f"alpha=0 with l1_ratio={self.l1_ratio!r}"
                raise InvalidParameter("a penalty for the L1 part", found, "pass alpha > 0 or l1_ratio=0.0")
            return "none"
        return "l2" if self.l1_ratio == 0 else f"elastic-net:{self.l1_ratio}"


class SGDClassifier(_EndNoise, DescendingClassifier):
    """A linear classifier by stochastic gradient descent, with noise on the weights that it ends at.

    More than two classes are met by the multinomial loss, jointly, as in `LogisticRegression`.
    Descends on ``(1/n) sum loss(y (<w, x> + b)) + alpha/2 ||w||^2`` from 0, batch by batch. Replacing one row moves the
    end by no more than a theorem says (docs/sgd.md), whatever the data; noise hides that. For tables that are too large
    for a second-order solver, or losses with corners.

    Parameters
    ----------
    epsilon, delta, domain, mechanism, fit_intercept, random_state, public_seed, ledger
        As in `LogisticRegression`; `mechanism` is "auto" or a law of noise: "spherical-laplace", "laplace", "gaussian".
    class_weight : mapping from class to float, optional
        As in `LogisticRegression`. A row's gradient is clipped first and weighted then; a rule picks steps for the
        objective divided by the largest weight.
    alpha : float or "public"
        The ridge, 0 for none. "public" takes the one that a minimiser of the same budget would have.
    loss : str
        "logistic", for two classes or more, "smooth-hinge" (":0.1" for another width) or "hinge".
    l1_ratio : float
        The share of an L1 norm in the penalty, met by a proximal step; for two classes.
    passes : float
        How often every row is used.
    batch_size : int
        How many rows a step sees. The default, 64, is all rows where there are fewer; any other number above n is
        refused.
    step : float or str
        The length of a step; "public" picks one from public facts, "decay" takes ``min(1/beta, 1/(alpha t))``.
    order : str
        "permutation" (one public order), "fresh" (a new one every pass) or "replacement" (drawn in secret; delta > 0).
    average : str
        "last", "uniform" (the mean of all weights) or "suffix" (of those of the second half).
    radius : float, optional
        The weights are kept in a ball of this radius.
    clip : float, "public" or None
        The largest norm of one row's gradient; "public" takes what a typical row pulls with. For two classes: clipped
        gradients of more are none of a convex function (B7).
    dropout : float
        The share of columns that public masks hide in every step; for two classes.
    skip : float
        The chance that a step is left out, by secret coins.

    Attributes
    ----------
    coef_, intercept_, classes_, certificate_
        As in `LogisticRegression`.

    Examples
    --------
    >>> import numpy as np
    >>> import equipoise as eq
    >>> X = np.array([[0.9, 0.1], [0.8, -0.1], [-0.9, 0.0], [-0.7, 0.2]] * 250)
    >>> y = np.array([1, 1, 0, 0] * 250)
    >>> model = eq.SGDClassifier(epsilon=1.0, domain=eq.Domain(row_norm=1.0, classes=(0, 1)), random_state=0)
    >>> model.fit(X, y).predict([[0.5, 0.0], [-0.5, 0.0]])
    array([1, 0])
    >>> model.certificate_.theorem
    'B3'
    """

    name: ClassVar[str] = "sgd-classifier"


class SGDRegressor(_EndNoise, DescendingRegressor):
    """Linear regression by stochastic gradient descent, with noise on the weights that it ends at.

    Parameters
    ----------
    loss : str
        "squared", "huber" (slope capped at a quarter of the target's half-range; "huber:0.5" for another cap) or
        "absolute".
    clip : float, "public" or None
        The largest norm of one row's gradient: by default what a typical row pulls with, since the squared loss has no
        largest slope.
    epsilon, delta, domain, alpha, mechanism, fit_intercept, random_state, public_seed, ledger
        As in `Ridge` and `SGDClassifier`.
    l1_ratio, passes, batch_size, step, order, average, radius, dropout, skip
        As in `SGDClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> import equipoise as eq
    >>> X = np.linspace(-1, 1, 20_000)[:, None]
    >>> model = eq.SGDRegressor(epsilon=1.0, domain=eq.Domain(row_norm=1.0, labels=(0.0, 10.0)), random_state=0)
    >>> prediction = model.fit(X, 5 + 4 * X[:, 0]).predict([[0.0]])
    >>> bool(4.0 < prediction[0] < 6.0)
    True
    """

    name: ClassVar[str] = "sgd-regressor"
    loss: str = "squared"
    clip: float | str | None = "public"
