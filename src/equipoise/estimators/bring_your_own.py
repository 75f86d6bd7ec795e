"""Bring your own solver: weights from anywhere, released with the certificate of the house."""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equipoise.certify.certificate import Certificate
from equipoise.certify.claims.output import Output
from equipoise.data.weights import unread_weights
from equipoise.errors import InvalidData, InvalidParameter
from equipoise.estimators.base import PrivateLinearModel

Array = NDArray[np.float64]
Model = TypeVar("Model", bound=PrivateLinearModel)


def release_solution(
    weights: ArrayLike, model: Model, X: Any, y: Any, intercept: ArrayLike = 0.0, groups: Any = None
) -> Model:
    """Release weights that another solver found, with the same certificate as `fit`.

    The weights are private until noise is added. They are taken as they are when their gradient meets the public
    tolerance on the clipped rows, and polished until it does when not: whoever computed them, the claim is the same.

    Parameters
    ----------
    weights : array
        Coefficients in the layout of the model's `coef_`.
    model : an unfitted estimator of this library
        It says what is minimised, for which domain and budget, with which ledger. Its mechanism is "output", or the
        name of a law of noise: other mechanisms do not add their noise to finished weights.
    X, y : table and target
        The rows that the weights were trained on.
    intercept : number or array
        The intercept, one an output; a solver that does not penalise it will find its weights polished. A model with
        ``fit_intercept=False`` has no use for it.
    groups : array, optional
        The person that each row belongs to, as in `fit`.

    Returns
    -------
    The model, fitted.

    Examples
    --------
    >>> import numpy as np
    >>> import equipoise as eq
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = np.array([[0.9, 0.1], [0.8, -0.1], [-0.9, 0.0], [-0.7, 0.2]] * 250)
    >>> y = np.array([1, 1, 0, 0] * 250)
    >>> theirs = LogisticRegression(C=1 / (0.01 * len(y)), fit_intercept=False).fit(X, y)
    >>> domain = eq.Domain(row_norm=1.0, classes=(0, 1))
    >>> ours = eq.LogisticRegression(
    ...     domain=domain, alpha=0.01, fit_intercept=False, mechanism="output", random_state=0)
    >>> eq.release_solution(theirs.coef_, ours, X, y).predict([[0.5, 0.0]])
    array([1])
    """
    given, constants = unread_weights(weights), unread_weights(intercept)
    # As NumPy lays out what has fewer dimensions.
    shape = (1,) * (2 - len(given.shape)) + given.shape

    def start(certificate: Certificate) -> Callable[[], Array]:
        claim = certificate.claim.trained
        if not isinstance(claim, Output):
            raise InvalidParameter(
                "a model that adds noise to finished weights",
                f"mechanism={model.mechanism!r}, which came to {certificate.kind!r}",
                'pass mechanism="output" to the model',
            )
        problem, outputs = claim.problem, claim.problem.loss.outputs
        expected = (outputs, certificate.n_features)
        if shape != expected or (constants.shape or (1,)) not in ((1,), (outputs,)):
            raise InvalidData(
                f"coefficients of shape {expected} and one intercept an output",
                f"shapes {shape} and {constants.shape or (1,)}",
                "pass the solver's coef_ and intercept_ for the same columns and classes",
            )

        def laid_out() -> Array:
            coefficients = np.atleast_2d(given.read())
            if problem.intercept == 0:
                return coefficients
            column = (np.broadcast_to(constants.read(), outputs) - problem.domain.label_centre) / problem.intercept
            return np.hstack([coefficients, column[:, None]])

        return laid_out

    return model._fit_from(X, y, start, groups)
