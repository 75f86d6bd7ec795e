"""What planning knows of Laplace noise (D2)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

from equipoise.certify.laws import Law
from equipoise.certify.laws.laplace import Laplace
from equipoise.planning.gamma_quantile import upper_quantile
from equipoise.planning.laws.base import KnownLaw
from equipoise.vocabulary.facts import Budget

if TYPE_CHECKING:
    from equipoise.planning.laws.base import Array


class KnownLaplace(KnownLaw):
    """Closed forms: ``sqrt(d) sensitivity / epsilon``, tails ``exp(-z)/2``.

    Examples
    --------
    >>> round(KnownLaplace(Laplace()).scale_for(0.5, 4, Budget(2.0)), 6)
    0.5
    """

    of: ClassVar[type[Law]] = Laplace
    requirement: ClassVar[str] = "any epsilon > 0"

    def scale_for(self, sensitivity: float, dimension: int, budget: Budget) -> float | None:
        """Return ``sqrt(d) sensitivity / epsilon``, rounded up."""
        return math.nextafter(math.sqrt(dimension) * sensitivity / budget.epsilon * (1 + 1e-15), math.inf)

    def deviation(self, scale: float, dimension: int) -> float:
        """Return ``sqrt(2) scale``."""
        return math.sqrt(2) * scale

    def rounding(self, dimension: int) -> str:
        """Say that nothing had to be paid."""
        return "the Laplace noise is drawn exactly, and the sum rounded to a public grid: no rounding slack (D7)"

    def mean_norm(self, scale: float, dimension: int) -> float:
        """Return a bound: the smaller of the mean L1 norm and the root of the mean square."""
        return scale * min(float(dimension), math.sqrt(2 * dimension))

    def norm_quantile(self, scale: float, dimension: int, failure: float) -> float:
        """Return the smaller of two bounds: the L1 norm, which is Gamma, and Cantelli's on the squared length."""
        spread = math.sqrt(2 * dimension + math.sqrt(20 * dimension * (1 - failure) / failure))
        return scale * min(upper_quantile(dimension, failure), spread)

    def upper(self, places: Array, dimension: int) -> Array:
        """Return ``exp(-z)/2``."""
        import numpy as np

        return np.asarray(np.exp(-places) / 2)

    def between(self, start: Array, width: Array, dimension: int) -> Array:
        """Return the difference of two tails."""
        import numpy as np

        return np.asarray(-np.exp(-start) * np.expm1(-width) / 2)

    def quantile(self, probability: float, dimension: int) -> float:
        """Return ``-ln(2 p)``."""
        return -math.log(2 * probability)
