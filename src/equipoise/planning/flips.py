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

from equipoise.certify import laws
from equipoise.certify.certificate import Certificate
from equipoise.certify.claims import Trained
from equipoise.certify.claims.private_bounds import PrivateBounds
from equipoise.errors import InvalidParameter
from equipoise.planning.kinds import planner_of
from equipoise.planning.kinds.base import free_share
from equipoise.planning.laws import KnownLaw, known
from equipoise.vocabulary.numbers import plain, require_number

Array = NDArray[np.float64]

# Beyond so many scales no law leaves a double of probability, and squares do not overflow.
FARTHEST = 1e100


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
        """Refuse a law that does not exist, and numbers that mean nothing."""
        if self.mechanism not in laws.members():
            names = ", ".join(sorted(laws.members()))
            raise InvalidParameter("a law of noise", f"{self.mechanism!r:.80}", f"pass one of {names}")
        numbers = (self.scale, self.dimension, self.share)
        real = all(isinstance(plain(number), int | float) for number in numbers)
        if not (real and 0 < self.scale < math.inf and self.dimension >= 1 and 0 < self.share <= 1):
            allowed = "a positive scale, a dimension of at least 1 and a share in (0, 1]"
            raise InvalidParameter(allowed, repr(self), "pass such numbers")
        if self.share < 1 and not self.law.law.rotation_invariant:
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
        claim = certificate.claim.trained
        if any(isinstance(node, PrivateBounds) for node in certificate.claim.nodes()):
            raise InvalidParameter(
                "columns that are encoded by public facts, so that a weight means the same for every table",
                "private bounds, so that the encoding depends on rows",
                "declare the bounds in the schema",
            )
        noise = planner_of(claim).noise_of_a_weight(claim) if isinstance(claim, Trained) else None
        if not isinstance(claim, Trained) or noise is None:
            by_parameter = isinstance(claim, Trained) and planner_of(claim).minimises
            other = "use ElasticNetClassifier or SGDClassifier, for a number ElasticNet or SGDRegressor"
            raise InvalidParameter(
                "noise that is added to the weights, with one law that public facts tell",
                f"a release of {claim.kind!r}, whose weights carry noise of no known law",
                'pass mechanism="output"' if by_parameter else other,
            )
        return cls(noise.law, noise.scale, noise.dimension, free_share(claim))

    @property
    def law(self) -> KnownLaw:
        """What is known of the law."""
        return known(self.mechanism)

    @property
    def deviation(self) -> float:
        """The standard deviation (F3)."""
        return self.share * self.law.deviation(self.scale, self.dimension)

    def tail(self, distance: ArrayLike) -> Array:
        """Return the probability that the noise is above each distance, in one direction."""
        places = self._places(np.asarray(distance, dtype=np.float64))
        above = self.law.upper(np.abs(places), self.dimension)
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
        return self.law.between(start, length, self.dimension)

    def _places(self, distance: Array) -> Array:
        """Return distances in units of the scale; farther than any probability reaches, they are all the same."""
        with np.errstate(over="ignore"):
            return np.asarray(np.clip(distance / (self.share * self.scale), -FARTHEST, FARTHEST))

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


@lru_cache(maxsize=1024)
def _quantile(noise: WeightNoise, probability: float) -> float:
    distance = noise.share * noise.scale * noise.law.quantile(probability, noise.dimension)
    step = 1e-15
    # Rounded up until the tail is small enough.
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
