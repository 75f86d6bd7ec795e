"""What private classifiers share: the public label set, decisions, and the order in which labels are read."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn import linear_model, svm

from equipoise.data.observed_labels import observed_classes
from equipoise.data.schema import Schema
from equipoise.data.unread import Unread
from equipoise.errors import InvalidData, InvalidParameter, LedgerRefused
from equipoise.estimators.base import Array, PrivateLinearModel
from equipoise.estimators.class_weights import asked_weights
from equipoise.estimators.scikit_learn import ClassifierMixin
from equipoise.estimators.scoring import decisions
from equipoise.release.account import inside as inside_account
from equipoise.vocabulary.facts import Domain, Label


class PrivateClassifier(ClassifierMixin, PrivateLinearModel):
    """A private linear model whose decisions are classes of a public label set."""

    class_weight: Mapping[Any, float] | None = None

    _domain_line: ClassVar[str] = "Domain(row_norm=1.0, classes=(0, 1))"
    _several_classes: ClassVar[bool] = True

    def _found_classes(self, target: Unread) -> tuple[Label, ...]:
        """Return three or more observed classes, which the user calls public: their number decides the loss."""
        if self.domain is None or getattr(self.domain, "classes", None) != "observed":
            return ()
        # Both take proved claims alone, and finding classes reads rows.
        if self.ledger is not None or inside_account():
            asked = (
                f"declared classes, since {'a ledger is bound' if self.ledger is not None else 'an account is open'}"
            )
            raise LedgerRefused(asked, 'classes="observed"', "declare the classes in the domain")
        classes = observed_classes(target.read())
        if len(classes) > 2 and not self._several_classes:
            found = f"{len(classes)} classes. Only binary classification is supported."
            raise InvalidData("one or two classes", found, "train on two of them, or on one against the rest")
        return classes if len(classes) > 2 else ()

    def _asked_weights(self, domain: Domain) -> tuple[float, ...] | None:
        """Return the weights of the schema or of the constructor; both would be two answers to one question."""
        declared = self.domain.target.class_weight if isinstance(self.domain, Schema) else domain.class_weights
        if self.class_weight is None:
            return declared
        if declared is not None:
            where = "schema" if isinstance(self.domain, Schema) else "domain"
            remedy = "leave one of them out"
            raise InvalidParameter("class weights in one place", f"class_weight, and weights in the {where}", remedy)
        # Classes that were found in the data are no place for public weights.
        observed = getattr(self.domain, "classes", None) == "observed"
        return asked_weights(self.class_weight, "observed" if observed else domain.classes, domain.prevalence)

    def _plain_class(self) -> Any:
        # Scores with probabilities are log odds.
        return linear_model.LogisticRegression if hasattr(self, "predict_proba") else svm.LinearSVC

    def _keep(self, classes: tuple[Label, ...], coefficients: Array, intercepts: Array) -> None:
        self.classes_ = np.array(classes)
        self.coef_ = coefficients
        self.intercept_ = intercepts

    def decision_function(self, X: Any) -> Array:
        """Return the score of the second class, or of every class if there are more than two."""
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class with the highest score."""
        return decisions(self._scores(X), self.classes_)

    def __sklearn_tags__(self) -> Any:
        """Add whether more than two classes can be told apart."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self._several_classes
        return tags
