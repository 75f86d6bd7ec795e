"""What planning knows of any law of noise: by search where nothing better is known."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from equipoise.certify.laws import Law
from equipoise.errors import InvalidParameter
from equipoise.vocabulary.facts import Budget

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    # Arrays are for marginals alone: what is used of laws to check a release loads no NumPy.
    Array = NDArray[np.float64]

# Calibration by search ends when the scale is known to this share, on the private side.
FINENESS = 1e-9

# The search for a quantile ends here, and is then rounded up until the tail is small enough.
PRECISION = 1e-14


class KnownLaw:
    """A law with what plans need of it. A law without a file here is calibrated by bisection, and has no marginals.

    Examples
    --------
    >>> from equipoise.certify import laws
    >>> scale = KnownLaw(laws.named("gaussian")).scale_for(1.0, 3, Budget(1.0, 1e-6))
    >>> round(scale, 4)
    4.2247
    """

    # The law that a subclass knows more about.
    of: ClassVar[type[Law]]
    # What a budget must be for some scale to meet it.
    requirement: ClassVar[str] = "a budget that noise of some scale meets"

    def __init__(self, law: Law) -> None:
        self.law = law

    def scale_for(self, sensitivity: float, dimension: int, budget: Budget) -> float | None:
        """Return the smallest scale that meets the budget, rounded towards more noise, or None when no scale does."""

        def private(scale: float) -> bool:
            return self.law.curve(sensitivity, dimension, scale).delta(budget.epsilon) <= budget.delta

        return smallest_scale(sensitivity / budget.epsilon, private, FINENESS)

    def deviation(self, scale: float, dimension: int) -> float:
        """Return the standard deviation of one coordinate; infinity if unknown, so that no plan prefers the law."""
        return math.inf

    def rounding(self, dimension: int) -> str:
        """Say in one sentence how finite precision was priced."""
        return f"how the {self.law.id} noise is drawn in finite precision is described with its sampler"

    def mean_norm(self, scale: float, dimension: int) -> float:
        """Return the mean length of a noise vector, or a bound on it; infinity if unknown (J5)."""
        return math.inf

    def norm_quantile(self, scale: float, dimension: int, failure: float) -> float:
        """Return a length that the noise exceeds with at most this probability; infinity if unknown (J4)."""
        return math.inf

    def upper(self, places: Array, dimension: int) -> Array:
        """Return how likely one coordinate is beyond each place, which is not negative, in units of the scale."""
        raise self._unknown()

    def between(self, start: Array, width: Array, dimension: int) -> Array:
        """Return how likely one coordinate lies in each interval, in units of the scale, without cancellation."""
        raise self._unknown()

    def quantile(self, probability: float, dimension: int) -> float:
        """Return the place that a coordinate exceeds with this probability, below one half, by search on the tail."""
        import numpy as np
        import scipy.optimize

        far = self.deviation(1.0, dimension)
        while float(self.upper(np.array(far), dimension)) > probability:
            far *= 2
        level = math.log(probability)

        def above(place: float) -> float:
            return math.log(float(self.upper(np.array(place), dimension))) - level

        return float(scipy.optimize.brentq(above, 0.0, far, xtol=PRECISION * far))

    def _unknown(self) -> InvalidParameter:
        return InvalidParameter(
            "a law of noise whose marginals are known", f"{self.law.id!r:.80}", 'pass "gaussian" or "spherical-laplace"'
        )


def smallest_scale(start: float, private: Callable[[float], bool], fineness: float) -> float | None:
    """Return the private end of a bisection for the smallest scale; None when none near the start is private."""
    low, high = start / 2, start
    while not private(high):
        low, high = high, 2 * high
        if high > 2.0**60 * start:
            return None
    while private(low):
        low, high = low / 2, low
        if low < 2.0**-60 * start:
            return high
    while high > low * (1 + fineness):
        middle = low * math.sqrt(high / low)
        low, high = (low, middle) if private(middle) else (middle, high)
    return high
