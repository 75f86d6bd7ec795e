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
from scipy.special import erfcx, log_ndtr, ndtri

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
BLOCK = 512
# Beyond so many scales no law leaves a double of probability, and squares do not overflow.
FARTHEST = 1e100
# Gauss and Legendre's points and weights on [0, 1]: wrong by less than 1e-15 for the hazard of the normal law over at
# most one deviation, since its poles are more than three deviations away (docs/proofs/F2.md).
POINTS, SHARES = (np.polynomial.legendre.leggauss(8)[0] + 1) / 2, np.polynomial.legendre.leggauss(8)[1] / 2
# The places of noise after which a released weight is the weight before noise and noise of one law.
ON_THE_WEIGHTS = ("output", "sgd")
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
        numbers = (self.scale, self.dimension, self.share)
        real = all(isinstance(plain(number), int | float) for number in numbers)
        if not (real and 0 < self.scale < math.inf and self.dimension >= 1 and 0 < self.share <= 1):
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
        """Return the law of the noise that a certificate puts on every weight; where no such law is known, refuse.

        Noise is added to the weights that a solver or a descent ends at. Where meetings of rows are random (M1), the
        curve is an average over them, and the noise has one scale all the same.
        """
        request, argument = certificate.request, certificate.argument
        if request.private_bounds is not None:
            raise InvalidParameter(
                "columns that are encoded by public facts, so that a weight means the same for every table",
                "private bounds, so that the encoding depends on rows",
                "declare the bounds in the schema",
            )
        if argument.route not in ON_THE_WEIGHTS:
            remedy = 'pass mechanism="output"'
            if request.recipe is not None or request.dropout is not None:
                remedy = "use ElasticNetClassifier or SGDClassifier, for a number ElasticNet or SGDRegressor"
            raise InvalidParameter(
                "noise that is added to the weights, with one law that public facts tell",
                f"a release of {argument.route!r}, whose weights carry noise of no known law",
                remedy,
            )
        loss, recipe = losses.named(request.loss), argument.recipe
        share = math.sqrt(loss.free_outputs / loss.outputs)
        # Masked columns count for what predictions see of them, after the noise was added (B6).
        kept = 1.0 if recipe is None else 1 - recipe.dropout
        return cls(argument.mechanism, kept * argument.noise_scale, argument.dimension, share)

    @property
    def deviation(self) -> float:
        """The standard deviation (F3)."""
        return self.share * named(self.mechanism).deviation(self.scale, self.dimension)

    def tail(self, distance: ArrayLike) -> Array:
        """Return the probability that the noise is above each distance, in one direction."""
        places = self._places(np.asarray(distance, dtype=np.float64))
        above = self._upper(np.abs(places))
        return np.where(places >= 0, above, 1 - above)

    def between(self, near: ArrayLike, width: ArrayLike) -> Array:
        """Return the probability that the noise lies in each interval from `near >= 0` on, without cancellation.

        Examples
        --------
        >>> float(WeightNoise("laplace", 1.0, 1).between(0.0, 2e-30))  # the density at 0 is 1/2
        1e-30
        """
        ends = np.broadcast_arrays(np.asarray(near, dtype=np.float64), np.asarray(width, dtype=np.float64))
        start, length = (self._places(end) for end in ends)
        if self.mechanism == "gaussian":
            return np.asarray(np.exp(_log_between(start, length)))
        if self.mechanism == "laplace" or self.dimension == 1:
            return np.asarray(-np.exp(-start) * np.expm1(-length) / 2)
        return self._in_blocks(start, length)

    def _places(self, distance: Array) -> Array:
        """Return distances in units of the scale; farther than any probability reaches, they are all the same."""
        with np.errstate(over="ignore"):
            return np.asarray(np.clip(distance / (self.share * self.scale), -FARTHEST, FARTHEST))

    def _upper(self, places: Array) -> Array:
        """Return the tail at places that are not negative, in units of the scale."""
        if self.mechanism == "gaussian":
            return np.asarray(np.exp(log_ndtr(-places)))
        if self.mechanism == "laplace" or self.dimension == 1:
            return np.asarray(np.exp(-places) / 2)
        return self._in_blocks(places, None)

    def _in_blocks(self, places: Array, widths: Array | None) -> Array:
        flat = places.ravel()
        parts = None if widths is None else widths.ravel()
        cuts = [slice(first, first + BLOCK) for first in range(0, len(flat), BLOCK)]
        blocks = [_spherical(flat[cut], None if parts is None else parts[cut], self.dimension) for cut in cuts]
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


def _spherical(places: Array, widths: Array | None, dimension: int) -> Array:
    """Return ``P[z < k_1]``, or ``P[z < k_1 < z + u]``, under the density proportional to ``exp(-||k||)`` in d numbers.

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
        deviations = np.sqrt(2 * peak * np.exp(steps))
    near = places[:, None] / deviations
    normal = log_ndtr(-near) if widths is None else _log_between(near, widths[:, None] / deviations)
    values = np.exp(exponents + normal + height[:, None])
    return np.asarray(STEP * values.sum(axis=1))


def _log_between(near: Array, width: Array) -> Array:
    """Return ``log P[z < N < z + u]`` of a standard normal for ``z, u >= 0``, exact where the interval is tiny as well.

    It is ``log Q(z) + log(1 - exp(-D))``, D the integral of the hazard ``phi/Q`` over the interval. Over a short one
    Gauss and Legendre's rule gives D, where a difference of logarithms would cancel.
    """
    upper = log_ndtr(-near)
    fall = np.array(upper - log_ndtr(-(near + width)))
    short = width <= 1
    first, length = near[short], width[short]
    # erfcx(x) = exp(x^2) erfc(x): the hazard at t is sqrt(2/pi) / erfcx(t/sqrt(2)).
    hazard = math.sqrt(2 / math.pi) / erfcx((first[:, None] + length[:, None] * POINTS) / math.sqrt(2))
    fall[short] = length * (hazard @ SHARES)
    with np.errstate(divide="ignore"):
        return np.asarray(upper + np.log(-np.expm1(-fall)))


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
    sizes = np.abs(real_numbers(weights))
    # A weight that is not 0 is missed where the noise brings it to between -T and T: an interval of noise, which holds
    # 0 where the weight is there already. Sums of two probabilities, never differences (docs/proofs/F2.md).
    inside = np.clip(limit - sizes, 0.0, None)
    missed = np.where(
        sizes > limit,
        noise.between(np.clip(sizes - limit, 0.0, None), 2 * limit),
        noise.between(0.0, inside) + noise.between(0.0, limit + sizes),
    )
    # The choice of a zero weight flips by being made.
    return np.asarray(np.where(sizes == 0, 2 * noise.tail(limit), np.minimum(missed, 1.0)))


def real_numbers(weights: ArrayLike) -> Array:
    """Return weights as an array of finite real numbers, and refuse what is none.

    Examples
    --------
    >>> real_numbers([1, 0.5]).tolist()
    [1.0, 0.5]
    """
    remedy = "pass the weights as an array of real numbers"
    try:
        values = np.asarray(weights)
    except ValueError:
        raise InvalidParameter("weights in rows of one length", "rows of several lengths", remedy) from None
    if values.dtype.kind not in "fiu":
        raise InvalidParameter("weights that are real numbers", f"values of type {values.dtype.name}", remedy)
    numbers: Array = values.astype(np.float64)
    if not np.isfinite(numbers).all():
        raise InvalidParameter("finite weights", "others", remedy)
    return numbers


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
