"""A toy: regression by a toy loss, with a penalty of choice."""

from typing import ClassVar

from equipoise.estimators.regressor import PrivateRegressor
from equipoise.vocabulary.facts import Domain


class ToyRegressor(PrivateRegressor):
    """Regression by the logarithm of the hyperbolic cosine."""

    name: ClassVar[str] = "toy-regressor"
    penalty: str = "l2"

    def _loss_name(self, domain: Domain) -> str:
        return "toy-log-cosh"

    def _penalty_name(self) -> str:
        return self.penalty
