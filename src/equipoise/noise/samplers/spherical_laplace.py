"""Noise with density proportional to exp(-||k|| / scale) (D1): drawn here, because no library has it."""

import math
import secrets
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from equipoise.certify.laws import Law
from equipoise.certify.laws.spherical_laplace import SphericalLaplace
from equipoise.noise.grid import MULTIPLE_BITS, GridNoise, Multiple, grid_of, in_steps, leading_places
from equipoise.noise.lazy import Deviate
from equipoise.noise.numbers import in_bulk, listed, loops, noise_of
from equipoise.noise.samplers.base import Array, Sampler

# How many digits are added to every number behind the width where those that are known do not decide.
MORE_BITS = 64
# So many numbers get them at a time.
NUMBERS_AT_ONCE = 2**20


class SphericalSampler(Sampler):
    """A Gaussian with a random variance, ``k = scale sqrt(2 S) (N_1, ..., N_d)`` with S ~ Gamma((d + 1)/2) (D1).

    That form needs no division. The sum is rounded to a public grid, without an error (D7).
    """

    of: ClassVar[type[Law]] = SphericalLaplace

    def noise(self, count: int, scale: float) -> GridNoise:
        """Return independent normal numbers times one random width."""
        exponent = grid_of(scale)
        width = DrawnWidth.of(count, in_steps(scale, exponent))
        return noise_of("normal", count, width, exponent)

    def seeded(self, weights: Array, scale: float, generator: np.random.Generator) -> Array:
        """Return the weights plus a uniform direction times a Gamma(d) radius (D1)."""
        direction = generator.normal(size=len(weights))
        radius = generator.gamma(shape=len(weights), scale=scale)
        return weights + radius / np.linalg.norm(direction) * direction

    def log_density(self, noise: Array, scale: float) -> float:
        """Return ``-||k|| / scale`` minus the log of the normalising constant."""
        d = len(noise)
        sphere = math.log(2) + d / 2 * math.log(math.pi) - math.lgamma(d / 2)
        return -float(np.linalg.norm(noise)) / scale - sphere - math.lgamma(d) - d * math.log(scale)


@dataclass(slots=True)
class DrawnWidth:
    """``scale sqrt(2 S)``, S the sum of exponential numbers and, in even dimensions, of half a normal one squared.

    Parameters
    ----------
    scale : Fraction
        In steps of the grid.
    total, count, bits :
        The known digits of so many exponential numbers, added up: their sum is between ``total`` and ``total + count``
        times ``2^-bits``.
    others : list of Deviate
        Exponential numbers that are known one by one.
    normal : Deviate or None
        The normal number.
    known : pair of Fraction or None
        The ends of the width's interval, once computed from these digits.
    """

    scale: Fraction
    total: int
    count: int
    bits: int
    others: list[Deviate]
    normal: Deviate | None
    known: tuple[Fraction, Fraction] | None = None

    @classmethod
    def of(cls, dimension: int, scale: Fraction) -> "DrawnWidth":
        """Draw the width of noise on so many numbers.

        Examples
        --------
        >>> low, high = DrawnWidth.of(4, Fraction(1)).bounds()
        >>> 0 < low < high < low + 2**-20
        True
        """
        normal = listed("normal", 1).at(0) if dimension % 2 == 0 else None
        count = (dimension + 1) // 2
        if not in_bulk(count):
            return cls(scale, 0, 0, 0, listed("exponential", count).numbers, normal)
        drawn = loops().draws("exponential", count)
        total, bits = drawn.total()
        width = cls(scale, total, count - len(drawn.known), bits, list(drawn.known.values()), normal)
        # It stands behind all sums, and with more digits it leaves none of them open.
        width.extend()
        return width

    def shape(self) -> tuple[Fraction, Fraction]:
        """Return the ends of the interval in which S lies."""
        low, high = (Fraction(self.total + more, 1 << self.bits) for more in (0, self.count))
        for other in self.others:
            near, far = other.bounds()
            low, high = low + near, high + far
        if self.normal is not None:
            near, far = self.normal.bounds()
            low, high = low + near**2 / 2, high + far**2 / 2
        return low, high

    def bounds(self) -> tuple[Fraction, Fraction]:
        """Return the ends of the interval in which the width lies."""
        if self.known is None:
            places = self.bits + 2 * MORE_BITS
            # The root of y is below the next whole number after that of the whole part of y.
            low, high = (math.isqrt(math.floor(2 * end * (self.scale * 2**places) ** 2)) for end in self.shape())
            self.known = Fraction(low, 1 << places), Fraction(high + 1, 1 << places)
        return self.known

    def multiple(self) -> Multiple:
        """Return its leading digits."""
        low, high = self.bounds()
        places = leading_places(high, MULTIPLE_BITS)
        return Multiple(math.floor(low * 2**places), math.ceil(high * 2**places), places)

    def extend(self) -> None:
        """Draw more digits of all numbers behind the width."""
        self.known = None
        self.total, self.bits = self.total << MORE_BITS, self.bits + MORE_BITS
        for first in range(0, self.count, NUMBERS_AT_ONCE):
            size = min(NUMBERS_AT_ONCE, self.count - first)
            words = np.frombuffer(secrets.token_bytes(8 * size), dtype=np.uint32).reshape(-1, 2)
            low, high = (int(column) for column in words.sum(axis=0, dtype=np.uint64))
            self.total += (high << 32) + low
        for number in (*self.others, *([] if self.normal is None else [self.normal])):
            while number.fraction.bits < self.bits:
                number.extend()
