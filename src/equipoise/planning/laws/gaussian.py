"""What planning knows of Gaussian noise (D3)."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

from equipoise.certify.curves import ERROR, LATTICE_DELTA, GaussianCurve
from equipoise.certify.laws import Law
from equipoise.certify.laws.gaussian import Gaussian
from equipoise.planning.gamma_quantile import upper_quantile
from equipoise.planning.laws.base import KnownLaw
from equipoise.vocabulary.facts import Budget

if TYPE_CHECKING:
    from equipoise.planning.laws.base import Array

# Logarithms of Gamma lose digits for more weights than this; sqrt(d) is then at most 2.5e-5 too much.
MOST_EXACT_CHI = 10_000


class KnownGaussian(KnownLaw):
    """Calibrated by its exact curve, for any epsilon > 0 and delta > 0.

    Examples
    --------
    >>> round(KnownGaussian(Gaussian()).scale_for(1.0, 3, Budget(1.0, 1e-6)), 4)
    4.2247
    """

    of: ClassVar[type[Law]] = Gaussian
    requirement: ClassVar[str] = "delta > 0"

    def scale_for(self, sensitivity: float, dimension: int, budget: Budget) -> float | None:
        """Return ``sensitivity / mu`` for the largest private mu, rounded up; None for pure privacy."""
        if budget.delta <= LATTICE_DELTA:
            return None
        mu = largest_mu(budget.epsilon, budget.delta)
        return None if mu == 0 else settled_scale(sensitivity, mu, 1, budget)

    def deviation(self, scale: float, dimension: int) -> float:
        """Return the scale."""
        return scale

    def rounding(self, dimension: int) -> str:
        """Say that the grid cost nothing."""
        return "the Gaussian noise is drawn exactly, and the sum rounded to a public grid: no rounding slack (D7)"

    def mean_norm(self, scale: float, dimension: int) -> float:
        """Return the mean of a chi variable, or its bound sqrt(d) for very many weights."""
        if dimension > MOST_EXACT_CHI:
            return scale * math.sqrt(dimension)
        return scale * math.sqrt(2) * math.exp(math.lgamma((dimension + 1) / 2) - math.lgamma(dimension / 2))

    def norm_quantile(self, scale: float, dimension: int, failure: float) -> float:
        """Return the quantile of a chi variable."""
        return scale * math.sqrt(2 * upper_quantile(dimension / 2, failure))

    def upper(self, places: Array, dimension: int) -> Array:
        """Return the normal tail."""
        import numpy as np
        import scipy.special

        return np.asarray(np.exp(scipy.special.log_ndtr(-places)))

    def between(self, start: Array, width: Array, dimension: int) -> Array:
        """Return the normal probability of intervals."""
        import numpy as np

        from equipoise.planning.marginals import log_between

        return np.asarray(np.exp(log_between(start, width)))

    def quantile(self, probability: float, dimension: int) -> float:
        """Return the normal quantile."""
        import scipy.special

        return -float(scipy.special.ndtri(probability))


def cautious(mu: float, releases: int = 1) -> GaussianCurve:
    """Return the curve with twice the margin that a check takes, so that what follows here follows everywhere."""
    return GaussianCurve(mu, releases, 2 * ERROR)


def settled_scale(sensitivity: float, mu: float, releases: int, budget: Budget) -> float:
    """Return the noise of one of so many releases, raised until the curve of this very scale meets the budget."""
    scale, growth = math.sqrt(releases) * sensitivity / mu, 1e-15
    # The last digits of the curve jitter.
    while cautious(math.sqrt(releases) * sensitivity / scale, releases).delta(budget.epsilon) > budget.delta:
        scale, growth = scale * (1 + growth), 2 * growth
    return scale


@lru_cache(maxsize=1024)
def largest_mu(epsilon: float, delta: float) -> float:
    """Return the largest mu whose Gaussian curve is at most delta at epsilon: the private end of a bisection.

    Examples
    --------
    >>> round(1 / largest_mu(1.0, 1e-5), 4)
    3.7306
    """
    private, excessive = 1e-9, 1.0
    while cautious(excessive).delta(epsilon) <= delta:
        private, excessive = excessive, 2 * excessive
    while cautious(private).delta(epsilon) > delta:
        private, excessive = private / 2, private
        if private < 1e-150:
            return 0.0
    while excessive > private * (1 + 1e-14):
        middle = private + (excessive - private) / 2
        if middle in (private, excessive):
            break
        private, excessive = (middle, excessive) if cautious(middle).delta(epsilon) <= delta else (private, middle)
    return private
