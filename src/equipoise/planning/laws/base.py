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

# The first step of a search for a scale, and how far it goes.
FIRST_STEP = 1.0 + 2.0**-5
FARTHEST = 2.0**60

# Less than any delta that is asked for: logarithms need a number.
TINY = 1e-300

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

        def spent(scale: float) -> float:
            return self.law.curve(sensitivity, dimension, scale).delta(budget.epsilon)

        return smallest_scale(sensitivity / budget.epsilon, spent, budget.delta, FINENESS)

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


def smallest_scale(
    start: float,
    spent: Callable[[float], float],
    allowed: float,
    fineness: float,
    estimate: Callable[[float], float] | None = None,
) -> float | None:
    """Return the smallest scale that spends no more than is allowed, on the private side; None where none does so.

    What a scale spends falls with it, nearly as a power where it is looked at: the root is sought in logarithms, by an
    estimate where there is one, and what was found counts only where this very scale is private. Where nothing is
    allowed, intervals are halved.

    Examples
    --------
    >>> tried = []
    >>> found = smallest_scale(1.0, lambda scale: tried.append(scale) or 2 / scale**3, 1e-6, 1e-9)
    >>> round(found, 6), 2 / found**3 <= 1e-6, len(tried) < 20
    (125.992105, True, True)
    """
    about = estimate or spent
    low, high, growth = start, start, FIRST_STEP
    while about(high) > allowed:
        low, high, growth = high, high * growth, growth * growth
        if high > FARTHEST * start:
            return None
    while low == high or about(low) <= allowed:
        low, high, growth = low / growth, low, growth * growth
        if low < start / FARTHEST:
            return high
    if allowed > 0:
        import scipy.optimize

        # In units of the start, so that another unit finds the same.
        ends = {math.log(low / start): low, math.log(high / start): high}

        def excess(place: float) -> float:
            # At the ends the very scales that were looked at, which logarithms do not bring back to the last digit.
            return _excess(about(ends.get(place, start * math.exp(place))), allowed)

        root = scipy.optimize.brentq(excess, *ends, xtol=fineness / 4) if len(ends) == 2 else math.log(high / start)
        low = start * math.exp(root)
        high = low * (1 + fineness / 4)
        while spent(high) > allowed:
            low, high = high, high * (high / low) ** 2
        return high
    while high > low * (1 + fineness):
        middle = low * math.sqrt(high / low)
        low, high = (low, middle) if about(middle) <= allowed else (middle, high)
    return high


def _excess(spent: float, allowed: float) -> float:
    return math.log(max(spent, TINY) / allowed)
