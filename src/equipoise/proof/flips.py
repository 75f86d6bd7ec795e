"""F2 and F3: how often noise flips the choice of a feature, and where the threshold should be.

A feature is chosen where its released weight is larger than a public threshold T; without noise it would be chosen
where its weight is not zero. Both choices, and how often they differ, are arithmetic on public numbers and hypothetical
weights (docs/proofs/F2.md, docs/proofs/F3.md). Nothing here plays a part in a privacy claim: comparing what was
released with a public number is free.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.special import log_ndtr, ndtri

from equipoise.errors import InvalidParameter
from equipoise.proof.certificate import Certificate
from equipoise.proof.mechanisms import named
from equipoise.vocabulary import losses
from equipoise.vocabulary.numbers import plain, require_number

Array = NDArray[np.float64]

LAWS = ("gaussian", "laplace", "spherical-laplace")

# The trapezoid rule for the spherical law: nodes in units of the width of the integrand's peak. The integrand is
# analytic in a strip and decays at both ends, so that the rule is wrong by less than doubles show (docs/proofs/F2.md).
STEP = 0.25
NODES = np.arange(-45.0, 12.0 + STEP / 2, STEP)
# From here on Stirling's series is exact to the last digit, where log Gamma would cancel.
STIRLING = 30.0
# Distances are worked on in blocks of this many, so that a hundred thousand weights need no gigabyte.
BLOCK = 2048
# The search for a quantile ends here, and is then rounded up until the tail is small enough.
PRECISION = 1e-14


@dataclass(frozen=True, slots=True)
class WeightNoise:
    """The law of the noise in one released weight.

    Parameters
    ----------
    mechanism : str
        The id of the law: "gaussian", "laplace" or "spherical-laplace".
    scale : float
        Its scale.
    dimension : int
        How many numbers carry noise: the spherical law of one coordinate depends on it.
    share : float
        What a weight has of the noise in one free coordinate: 1, and ``sqrt((K - 1)/K)`` for K classes, whose weights
        sum to zero.

    Examples
    --------
    >>> noise = WeightNoise("laplace", 0.7, 2)
    >>> round(float(noise.tail(1.0)), 4), round(noise.deviation, 4)
    (0.1198, 0.9899)
    >>> spherical = WeightNoise("spherical-laplace", 1.0, 1)  # in one dimension the same law
    >>> round(float(spherical.tail(1.0)) - math.exp(-1) / 2, 14)
    0.0
    """

    mechanism: str
    scale: float
    dimension: int
    share: float = 1.0

    def __post_init__(self) -> None:
        """Refuse a law whose marginal is not known here."""
        if self.mechanism not in LAWS:
            raise InvalidParameter(
                f"a law of noise among {', '.join(LAWS)}", f"{self.mechanism!r:.80}", f"pass {LAWS[0]!r}"
            )
        if not (0 < self.scale < math.inf and self.dimension >= 1 and 0 < self.share <= 1):
            allowed = "a positive scale, a dimension of at least 1 and a share in (0, 1]"
            raise InvalidParameter(allowed, repr(self), "pass such numbers")
        if self.share < 1 and not named(self.mechanism).rotation_invariant:
            raise InvalidParameter(
                "the same noise in every direction, since weights of several classes are tied",
                f"{self.mechanism!r}, whose law differs from direction to direction",
                'pass mechanism="spherical-laplace", or "gaussian" with delta > 0',
            )

    @classmethod
    def of(cls, certificate: Certificate) -> "WeightNoise":
        """Return the law that a certificate of noise on the output puts on every weight; others are refused."""
        # The sensitivity itself is not needed: asking for it refuses every release whose noise enters elsewhere.
        _ = certificate.output_sensitivity
        loss, argument = losses.named(certificate.request.loss), certificate.argument
        share = math.sqrt(loss.free_outputs / loss.outputs)
        return cls(argument.mechanism, argument.noise_scale, argument.dimension, share)

    @property
    def deviation(self) -> float:
        """The standard deviation (F3)."""
        return self.share * named(self.mechanism).deviation(self.scale, self.dimension)

    def tail(self, distance: ArrayLike) -> Array:
        """Return the probability that the noise is above each distance, in one direction."""
        places = np.asarray(distance, dtype=np.float64) / (self.share * self.scale)
        above = self._upper(np.abs(places))
        return np.where(places >= 0, above, 1 - above)

    def _upper(self, places: Array) -> Array:
        """Return the tail at places that are not negative, in units of the scale."""
        if self.mechanism == "gaussian":
            return np.asarray(np.exp(log_ndtr(-places)))
        if self.mechanism == "laplace" or self.dimension == 1:
            return np.asarray(np.exp(-places) / 2)
        flat = places.ravel()
        blocks = [_spherical_tail(flat[first : first + BLOCK], self.dimension) for first in range(0, len(flat), BLOCK)]
        return np.concatenate([np.empty(0), *blocks]).reshape(places.shape)

    def quantile(self, probability: float) -> float:
        """Return a distance that the noise exceeds in one direction with at most this probability, below one half.

        Examples
        --------
        >>> round(WeightNoise("gaussian", 1.0, 1).quantile(0.025), 4)
        1.96
        """
        if not 0 < probability < 0.5:
            raise InvalidParameter("a probability in (0, 1/2)", f"{probability!r}", "pass 0.025")
        return _quantile(self, probability)


def _spherical_tail(places: Array, dimension: int) -> Array:
    """Return ``P[k_1 > z]`` for the law with density proportional to ``exp(-||k||)`` in d dimensions.

    One coordinate is normal with variance ``2 g``, g Gamma with shape ``a = (d + 1)/2`` (D1). With ``g = e^v`` the
    integrand is ``exp(a v - e^v) Phi(-z / sqrt(2 e^v)) / Gamma(a)``, whose peak is near ``e^v = (a + h)/2`` and has the
    width ``1/sqrt(h)``, ``h = sqrt(a^2 + z^2)``. Every term is positive, and differences of large numbers are written
    out, so that small probabilities keep their digits.
    """
    shape = (dimension + 1) / 2
    curvature = np.hypot(shape, places)
    # (e^v - a)/a at the peak: half of (h - a)/a.
    excess = places * places / (2 * shape * (curvature + shape))
    height = shape * (np.log1p(excess) - excess) + _log_gamma_gap(shape) - np.log(curvature) / 2
    steps = NODES / np.sqrt(curvature)[:, None]
    # Beyond this the integrand has vanished in any case.
    growth = np.expm1(np.minimum(steps, 700.0))
    peak = (shape * (1 + excess))[:, None]
    with np.errstate(over="ignore"):
        exponents = shape * steps - peak * growth
        arguments = places[:, None] / np.sqrt(2 * peak * np.exp(steps))
    values = np.exp(exponents + log_ndtr(-arguments) + height[:, None])
    return np.asarray(STEP * values.sum(axis=1))


def _log_gamma_gap(shape: float) -> float:
    """Return ``a log a - a - log Gamma(a)``."""
    if shape < STIRLING:
        return shape * math.log(shape) - shape - math.lgamma(shape)
    series = 1 / (12 * shape) - 1 / (360 * shape**3) + 1 / (1260 * shape**5)
    return math.log(shape / (2 * math.pi)) / 2 - series


@lru_cache(maxsize=1024)
def _quantile(noise: WeightNoise, probability: float) -> float:
    unit = noise.share * noise.scale
    if noise.mechanism == "gaussian":
        distance = -unit * float(ndtri(probability))
    elif noise.mechanism == "laplace" or noise.dimension == 1:
        distance = -unit * math.log(2 * probability)
    else:
        far = noise.deviation
        while float(noise.tail(far)) > probability:
            far *= 2
        level = math.log(probability)
        distance = brentq(lambda place: math.log(float(noise.tail(place))) - level, 0.0, far, xtol=PRECISION * far)
    step = 1e-15
    while float(noise.tail(distance)) > probability:
        distance, step = distance * (1 + step), 2 * step
    return distance


def flip_probabilities(weights: ArrayLike, threshold: float, noise: WeightNoise) -> Array:
    """Return for each weight the probability that noise flips its choice: exact, by F2.

    Parameters
    ----------
    weights : array
        The weights before noise.
    threshold : float
        A released weight is chosen where it is larger in size.
    noise : WeightNoise
        The law of the noise in one weight.

    Returns
    -------
    array
        Of the same shape. For a weight of 0 the probability to be chosen, for any other that to be missed.

    Examples
    --------
    >>> flips = flip_probabilities([0.0, 0.4, 3.0], 1.0, WeightNoise("laplace", 0.7, 3))
    >>> flips.round(3).tolist()
    [0.24, 0.72, 0.027]
    """
    limit = require_number("threshold", plain(threshold), above=0.0, remedy="pass the public threshold")
    sizes = np.abs(np.asarray(weights, dtype=np.float64))
    if not np.isfinite(sizes).all():
        raise InvalidParameter("finite weights", "others", "pass the weights as numbers")
    near, far = noise.tail(np.abs(sizes - limit)), noise.tail(sizes + limit)
    missed = np.where(sizes > limit, near - far, 1 - near - far)
    # The choice of a zero weight flips by being made.
    return np.asarray(np.where(sizes == 0, 2 * far, missed))


class Threshold(ABC):
    """A public rule for the threshold: from the law of the noise and the number of weights that are compared."""

    @abstractmethod
    def place(self, noise: WeightNoise, count: int) -> float:
        """Return the threshold."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The rule and its number, as a certificate records them."""

    @abstractmethod
    def words(self, count: int) -> str:
        """Say the rule in a few words."""


@dataclass(frozen=True, slots=True)
class Deviations(Threshold):
    """So many standard deviations of the noise in one weight (F3).

    Examples
    --------
    >>> Deviations(3.0).place(WeightNoise("gaussian", 0.5, 10), 10)
    1.5
    """

    multiple: float

    def __post_init__(self) -> None:
        """Refuse a multiple that is not positive."""
        number = require_number("multiple", plain(self.multiple), above=0.0, remedy="pass 3.0")
        object.__setattr__(self, "multiple", number)

    @property
    def name(self) -> str:
        """The rule and its number."""
        return f"deviations:{self.multiple!r}"

    def place(self, noise: WeightNoise, count: int) -> float:
        """Return the multiple of the deviation."""
        return self.multiple * noise.deviation

    def words(self, count: int) -> str:
        """Say the rule."""
        return f"{self.multiple:g} standard deviations of the noise"


@dataclass(frozen=True, slots=True)
class FamilyWise(Threshold):
    """As high as keeps the probability of any wrong choice among weights of 0 at most at this rate (F3).

    Examples
    --------
    >>> round(FamilyWise(0.05).place(WeightNoise("gaussian", 1.0, 10), 10), 4)
    2.807
    """

    rate: float

    def __post_init__(self) -> None:
        """Refuse a rate outside of (0, 1)."""
        number = require_number("rate", plain(self.rate), above=0.0, remedy="pass 0.05")
        if number >= 1:
            raise InvalidParameter("a family-wise error rate below 1", f"{self.rate!r}", "pass 0.05")
        object.__setattr__(self, "rate", number)

    @property
    def name(self) -> str:
        """The rule and its number."""
        return f"family-wise:{self.rate!r}"

    def place(self, noise: WeightNoise, count: int) -> float:
        """Return the quantile at ``rate / (2 count)`` in one direction: a union bound, whatever the dependence."""
        return noise.quantile(self.rate / (2 * count))

    def words(self, count: int) -> str:
        """Say the rule."""
        weights = "the one weight" if count == 1 else f"any of the {count} weights"
        return f"a probability of at most {self.rate:g} that {weights}, being 0, is selected"


@dataclass(frozen=True, slots=True)
class Fixed(Threshold):
    """A number that was fixed before the data were seen.

    Examples
    --------
    >>> Fixed(0.1).place(WeightNoise("gaussian", 0.5, 10), 10)
    0.1
    """

    value: float

    def __post_init__(self) -> None:
        """Refuse a threshold that is not positive: noise makes every weight differ from 0."""
        number = require_number("threshold", plain(self.value), above=0.0, remedy="pass a positive number")
        object.__setattr__(self, "value", number)

    @property
    def name(self) -> str:
        """The rule and its number."""
        return f"fixed:{self.value!r}"

    def place(self, noise: WeightNoise, count: int) -> float:
        """Return the number."""
        return self.value

    def words(self, count: int) -> str:
        """Say the rule."""
        return "fixed beforehand"
