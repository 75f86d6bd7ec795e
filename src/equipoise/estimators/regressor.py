"""What private regressors share: a public range of the target, and predictions inside it."""

from typing import Any, ClassVar

from sklearn import linear_model

from equipoise.estimators.base import Array, PrivateLinearModel
from equipoise.estimators.scikit_learn import RegressorMixin
from equipoise.estimators.scoring import within_range
from equipoise.vocabulary.facts import Label

# A regression's offset can be anywhere in the target's range, so its constant column is higher (docs/intercept.md).
REGRESSION_INTERCEPT_SHARE = 0.5


class PrivateRegressor(RegressorMixin, PrivateLinearModel):
    """A private linear model whose predictions are numbers in a public range."""

    _domain_line: ClassVar[str] = "Domain(row_norm=1.0, labels=(low, high))"
    _intercept_share: ClassVar[float] = REGRESSION_INTERCEPT_SHARE

    def _keep(self, classes: tuple[Label, ...], coefficients: Array, intercepts: Array) -> None:
        self.coef_ = coefficients[0]
        self.intercept_ = float(intercepts[0])

    def _plain_class(self) -> Any:
        return linear_model.Ridge

    def predict(self, X: Any) -> Array:
        """Return the prediction of each row, inside the target's public range."""
        return within_range(self._scores(X), self._facts.domain, getattr(self, "schema_", None))
