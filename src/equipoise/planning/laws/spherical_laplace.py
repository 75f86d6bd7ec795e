"""What planning knows of spherical Laplace noise (D1, D6)."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

from equipoise.certify.curves import Curve, PureCurve
from equipoise.certify.laws import Law
from equipoise.certify.laws.spherical_laplace import SphericalLaplace, rounding_epsilon
from equipoise.certify.spherical import LARGEST_DIMENSION, LARGEST_GAP, ROUNDING, TINY, AngleLaw, SphericalCurve, rule
from equipoise.planning.gamma_quantile import upper_quantile
from equipoise.planning.laws.base import KnownLaw
from equipoise.vocabulary.facts import Budget

if TYPE_CHECKING:
    from equipoise.planning.laws.base import Array

# An estimate's integrals: so many pieces, over so many widths of the law to either side.
PIECES, WIDTHS = 8, 12

# How near an estimated root is to the one of the curve itself, and nearer.
NEAR = 1e-9

# Marginals are worked on in blocks of this many, so that a hundred thousand weights need no gigabyte.
BLOCK = 512


class KnownSpherical(KnownLaw):
    """Calibrated by its exact curve; for pure privacy ``sensitivity / (epsilon - rounding)``.

    Examples
    --------
    >>> law = KnownSpherical(SphericalLaplace())
    >>> round(law.scale_for(0.5, 3, Budget(2.0)), 6), round(law.scale_for(1.0, 10, Budget(1.0, 1e-5)), 6)
    (0.25, 0.872812)
    """

    of: ClassVar[type[Law]] = SphericalLaplace
    requirement: ClassVar[str] = "epsilon above d 2^-56, the price of rounding"

    def scale_for(self, sensitivity: float, dimension: int, budget: Budget) -> float | None:
        """Return ``sensitivity / (epsilon - rounding)`` for pure privacy, otherwise the smallest scale by the curve."""
        rounding = rounding_epsilon(dimension)
        level = budget.epsilon - rounding
        if level <= 0:
            return None
        pure = math.nextafter(sensitivity / level * (1 + 1e-15), math.inf)
        if budget.delta == 0:
            return pure
        scale, step = sensitivity / largest_ratio(budget.epsilon, budget.delta, dimension, rounding), 1e-15
        # The last digits of the curve jitter, so the scale grows until the curve of this very scale meets the budget.
        while spent(sensitivity / scale, dimension, rounding, budget.epsilon) > budget.delta:
            scale, step = scale * (1 + step), 2 * step
        return min(scale, pure)

    def deviation(self, scale: float, dimension: int) -> float:
        """Return ``sqrt(d + 1) scale``."""
        return math.sqrt(dimension + 1) * scale

    def rounding(self, dimension: int) -> str:
        """Say that nothing had to be paid; the curve still holds what earlier samplers needed."""
        return "the spherical noise is drawn exactly, and the sum rounded to a public grid: no rounding slack (D7)"

    def mean_norm(self, scale: float, dimension: int) -> float:
        """Return ``d scale``, the mean of a Gamma variable."""
        return scale * dimension

    def norm_quantile(self, scale: float, dimension: int, failure: float) -> float:
        """Return the quantile of a Gamma variable."""
        return scale * upper_quantile(dimension, failure)

    def upper(self, places: Array, dimension: int) -> Array:
        """Return the tail of a normal mixture; in one dimension it is Laplace's."""
        import numpy as np

        if dimension == 1:
            return np.asarray(np.exp(-places) / 2)
        return _in_blocks(np.asarray(places, dtype=np.float64), None, dimension)

    def between(self, start: Array, width: Array, dimension: int) -> Array:
        """Return the probability of intervals under that mixture."""
        import numpy as np

        if dimension == 1:
            return np.asarray(-np.exp(-start) * np.expm1(-width) / 2)
        return _in_blocks(start, width, dimension)


def _in_blocks(places: Array, widths: Array | None, dimension: int) -> Array:
    import numpy as np

    from equipoise.planning.marginals import spherical

    flat = places.ravel()
    parts = None if widths is None else widths.ravel()
    cuts = [slice(first, first + BLOCK) for first in range(0, len(flat), BLOCK)]
    blocks = [spherical(flat[cut], None if parts is None else parts[cut], dimension) for cut in cuts]
    return np.concatenate([np.empty(0), *blocks]).reshape(places.shape)


def cautious(ratio: float, dimension: int, rounding: float) -> SphericalCurve:
    """Return the curve with a larger margin than a check takes, so that what follows here follows everywhere."""
    return SphericalCurve(ratio, dimension, rounding, 1.02 * ROUNDING)


class Estimate(Curve):
    """A spherical curve's own integrals (D6) on arrays and without their bounds on errors: for a search, no claim.

    Examples
    --------
    >>> curve = SphericalCurve(1 / 0.872812, 10)
    >>> abs(Estimate(curve).delta(1.0) / curve.delta(1.0) - 1) < 1e-9
    True
    """

    of: SphericalCurve

    def at(self, epsilon: float) -> float:
        """Return about the delta of the curve."""
        level, dimension = self.of.level, self.of.dimension
        pure, gap = PureCurve(level).delta(epsilon), level - max(epsilon, self.of.rounding)
        if pure == 0.0 or dimension > LARGEST_DIMENSION or gap > LARGEST_GAP:
            return pure
        if dimension == 1:
            return -math.expm1(-gap / 2)
        shift = max(epsilon - self.of.rounding, 0.0) + gap
        law, top = AngleLaw.of(dimension, shift / 2), 2 * math.asin(math.sqrt(gap / (2 * shift)))
        # Beyond some widths from where it is largest nothing is left of the law.
        low, high = law.peak - WIDTHS * law.width, law.peak + WIDTHS * law.width
        part = _integral(law, max(0.0, min(low, top - WIDTHS * law.width)), top, folded=False)
        whole = _integral(law, max(low, 0.0), min(high, math.pi / 2), folded=True)
        return min(pure, part / whole)


def _integral(law: AngleLaw, low: float, high: float, folded: bool) -> float:
    """Return what `AngleLaw.integral` returns first; `folded` is the whole law."""
    import numpy as np

    nodes, weights = _rule()
    radius = (high - low) / (2 * PIECES)
    below = radius * (np.arange(1, 2 * PIECES, 2)[:, None] + nodes)
    angle = high - below
    with np.errstate(all="ignore"):
        if folded:
            factor = 1 + np.exp(-2 * law.half * np.cos(angle))
        else:
            factor = -np.expm1(-4 * law.half * np.sin(high - below / 2) * np.sin(below / 2))
        sines = np.sin(angle)
        exponent = 2 * law.half * np.sin((law.peak + angle) / 2) * np.sin((law.peak - angle) / 2)
        exponent += (law.dimension - 2) * (np.log(sines) - math.log(math.sin(law.peak)))
        return radius * float((weights * np.exp(exponent) * (1 + law.share * sines**2) * factor).sum())


@lru_cache(maxsize=1)
def _rule() -> tuple[Array, Array]:
    import numpy as np

    nodes, weights = np.array(rule()).T
    return nodes, weights


@lru_cache(maxsize=4096)
def spent(ratio: float, dimension: int, rounding: float, epsilon: float) -> float:
    """Return the delta of that curve; ratios of many sensitivities to their scales differ in the last digit only."""
    return cautious(ratio, dimension, rounding).delta(epsilon)


@lru_cache(maxsize=4096)
def largest_ratio(epsilon: float, delta: float, dimension: int, rounding: float = 0.0) -> float:
    """Return the largest ``sensitivity / scale``, but for some 1e-9, whose curve is at most delta at epsilon, verified.

    It is 0 where there is none.

    Examples
    --------
    >>> round(1 / largest_ratio(1.0, 1e-5, 10), 6)
    0.872812
    """
    pure = epsilon - rounding
    if not (pure > 0 and 0 <= delta < 1):
        return 0.0

    def beyond(gap: float) -> float:
        return spent(pure + gap, dimension, rounding, epsilon)

    def about(gap: float) -> float:
        return Estimate(cautious(pure + gap, dimension, rounding)).delta(epsilon)

    ratio = pure
    if delta > TINY:
        excessive = 1.0
        while about(excessive) <= delta:
            excessive *= 2
        private = excessive / 2
        while about(private) > delta and private > 1e-15 * epsilon:
            private, excessive = private / 4, private
        if private > 1e-15 * epsilon:
            # delta runs through many orders of magnitude, and so does the gap: the root is sought in logarithms.
            near = _root(about, delta, math.log(private), math.log(excessive), NEAR)
            # A little below it one look at the curve itself, which takes far longer, settles it unless delta is near 1.
            gap = math.exp(near - 2 * NEAR)
            if beyond(gap) > delta:
                gap = math.exp(_root(beyond, delta, near - 2 * NEAR, near + 2 * NEAR, 1e-13))
            ratio += gap
    step = 1e-15
    # Whatever was found counts only where the curve of this very ratio meets the budget.
    while spent(ratio, dimension, rounding, epsilon) > delta:
        ratio, step = ratio * (1 - step), 2 * step
    return ratio


def _root(spent: Callable[[float], float], delta: float, low: float, high: float, precision: float) -> float:
    """Return the logarithm at which a rising curve reaches delta, between two places or, if need be, beyond them."""
    import scipy.optimize

    def above(place: float) -> float:
        return math.log(max(spent(math.exp(place)), TINY) / delta)

    width = high - low
    while above(low) > 0:
        low, high, width = low - width, low, 2 * width
    while above(high) < 0:
        low, high, width = high, high + width, 2 * width
    return float(scipy.optimize.brentq(above, low, high, xtol=precision))
