"""Private dropout models, whose noise is scaled by the data's own curvature, released first."""

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from equipoise.errors import InvalidParameter
from equipoise.estimators.base import Array, PrivateLinearModel
from equipoise.estimators.classifier import PrivateClassifier
from equipoise.estimators.regressor import REGRESSION_INTERCEPT_SHARE, PrivateRegressor
from equipoise.planning.public_alpha import guessed_norm
from equipoise.planning.request import Dropout, Request
from equipoise.vocabulary import losses, penalties
from equipoise.vocabulary.facts import Domain, Label, Problem, Recipe

PUBLIC = "public"


class _DroppingOut(PrivateLinearModel):
    """What both models share: the constraint on the weights, and what a request says about dropout."""

    delta: float = 1e-6
    radius: float | str | None = "public"
    keep_probability: float = 0.9
    # How many public masks a row has, 0 for the expectation over all.
    masks: int = 4
    curvature_share: float | str = "public"
    proposal: float | None = None

    mechanism: ClassVar[str] = "dropout"  # type: ignore[misc] # no parameter here

    @classmethod
    def _extreme(cls, at_the_end: bool) -> dict[str, Any]:
        # Hardly a column is dropped.
        return {"radius": 0.02, "keep_probability": 0.999, "curvature_share": 0.2}

    def _constrained(self, domain: Domain) -> Domain:
        """Return the domain with the radius of the weights: "public" is the reach that alpha="public" imagines."""
        if self.radius is None:
            if domain.radius is not None:
                return domain
            raise InvalidParameter(
                "a constraint on the norm of the weights, on which slopes and curvatures are bounded",
                "radius=None",
                'pass radius="public", or the largest norm that the weights may have',
            )
        if self.radius != PUBLIC:
            return replace(domain, radius=self.radius)  # type: ignore[arg-type] # the domain refuses what is no number
        intercept = self._intercept_share * domain.row_norm if self.fit_intercept else 0.0
        problem = Problem(losses.named(self._loss_name(domain)), penalties.named("l2", 1.0), domain, intercept)
        return replace(domain, radius=guessed_norm(problem))

    def _recipe(self, domain: Domain, intercept: float, n_samples: int) -> Recipe:
        # A recipe without passes: a solver minimises.
        return Recipe()

    def _request(self, n_samples: int, n_features: int, found: tuple[Label, ...] = ()) -> Request:
        share: Any = self.curvature_share
        asked = Dropout(self.keep_probability, self.masks, share, self.proposal)
        return replace(super()._request(n_samples, n_features, found), dropout=asked)

    @property
    def refused_(self) -> bool:
        """Whether the proposal was not confirmed: predictions then say the public midpoint or the first class."""
        released = self.certificate_.released
        return released is not None and not released.passed


class DropoutRegressor(_DroppingOut, PrivateRegressor):
    """Least squares with dropout in expectation, whose noise is scaled by the data's own curvature (G3, G4).

    Minimises ``(1/n) sum E (<w, x * b / q> - y)^2 + alpha/2 ||w||^2`` over the ball of the radius: every column of a
    row is kept with probability q, which in expectation adds ``((1-q)/q) sum_j x_j^2 w_j^2`` to a row's loss. A part
    of the budget releases a lower bound on the smallest curvature of that loss; the weights' noise shrinks with it.

    Parameters
    ----------
    epsilon, delta, domain, alpha, fit_intercept, random_state, public_seed, ledger
        As in `Ridge`; delta must be above 0, since the released curvature may exceed the true one by a small chance.
        The constant column is penalised and never dropped.
    radius : float or "public"
        The largest norm of the weights, constant column included; "public" lets a row that points along the weights
        reach the end of the target's range.
    keep_probability : float
        The chance q that a column is kept. Smaller ones add curvature and pull the weights towards 0.
    curvature_share : float or "public"
        The part of epsilon that pays for the curvature; "public" picks it from public facts.
    proposal : float, optional
        None releases a lower bound on the curvature, and never fails. A number proposes that much curvature and tests
        it: if the test refuses, every prediction is the midpoint of the target's range and `refused_` is True.

    Attributes
    ----------
    coef_, intercept_ : array of shape (n_features,) and float
        The noisy weights.
    certificate_ : Certificate
        The claim and its whole argument; ``certificate_.released`` is what was released on the way.

    Examples
    --------
    >>> import numpy as np
    >>> import equipoise as eq
    >>> X = np.linspace(-1, 1, 20_000)[:, None]
    >>> domain = eq.Domain(row_norm=1.0, labels=(0.0, 10.0))
    >>> model = eq.DropoutRegressor(epsilon=1.0, delta=1e-6, domain=domain, random_state=0)
    >>> prediction = model.fit(X, 5 + 4 * X[:, 0]).predict([[0.0]])
    >>> bool(4.5 < prediction[0] < 5.5), model.refused_, model.certificate_.verify()
    (True, False, ())
    """

    name: ClassVar[str] = "dropout-regressor"
    masks: ClassVar[int] = 0  # type: ignore[misc] # no parameter here

    def _loss_name(self, domain: Domain) -> str:
        return "squared"


class DropoutClassifier(_DroppingOut, PrivateClassifier):
    """Logistic regression with public dropout masks, whose noise is scaled by the data's own curvature (G3, G4).

    Minimises the mean logistic loss over rows and their masks, each row's kept columns divided by the keep
    probability, plus ``alpha/2 ||w||^2``, over the ball of the radius. Masks belong to a row's place and come from
    `public_seed`; they hide nothing, and no privacy rests on them.

    Parameters
    ----------
    epsilon, delta, domain, alpha, fit_intercept, random_state, public_seed, ledger
        As in `LogisticRegression`; delta must be above 0, and there are two classes.
    radius, keep_probability, curvature_share, proposal
        As in `DropoutRegressor`. The logistic loss is the flatter the longer the weights may be, so that a small
        radius is what makes the data's curvature count. A refused proposal predicts the first class.
    masks : int
        How many masks every row has.

    Examples
    --------
    >>> import numpy as np
    >>> import equipoise as eq
    >>> X = np.array([[0.9, 0.1], [0.8, -0.1], [-0.9, 0.0], [-0.7, 0.2]] * 2500)
    >>> y = np.array([1, 1, 0, 0] * 2500)
    >>> domain = eq.Domain(row_norm=1.0, classes=(0, 1))
    >>> model = eq.DropoutClassifier(epsilon=1.0, delta=1e-6, domain=domain, random_state=0)
    >>> model.fit(X, y).predict([[0.5, 0.0], [-0.5, 0.0]])
    array([1, 0])
    """

    name: ClassVar[str] = "dropout-classifier"
    class_weight: ClassVar[None] = None  # type: ignore[misc] # no parameter here: N2 does not cover its curvature

    _several_classes: ClassVar[bool] = False
    # The data are no more curved than the square of their constant column, so that it must not be low.
    _intercept_share: ClassVar[float] = REGRESSION_INTERCEPT_SHARE

    def _loss_name(self, domain: Domain) -> str:
        if domain.classes not in (None, "observed") and len(domain.classes) != 2:
            remedy = "declare two classes, or use LogisticRegression, which takes more"
            raise InvalidParameter("two classes", f"classes={domain.classes!r}", remedy)
        if self.masks == 0:
            raise InvalidParameter(
                "at least one mask a row", "masks=0, and the logistic loss has no closed form", "pass masks=4"
            )
        return "logistic"

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of both classes."""
        probabilities: Array = np.exp(self.predict_log_proba(X))
        return probabilities

    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithm of the probability of both classes."""
        scores = self._scores(X)
        return -np.hstack([np.logaddexp(0.0, scores), np.logaddexp(0.0, -scores)])
