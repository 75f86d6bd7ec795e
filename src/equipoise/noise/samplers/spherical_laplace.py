"""Noise with density proportional to exp(-||k|| / scale) (D1): drawn here, because no library has it."""

import math
import secrets
from typing import Any, ClassVar

import mpmath
import numpy as np

from equipoise.certify.laws import Law
from equipoise.certify.laws.spherical_laplace import SphericalLaplace
from equipoise.noise.samplers.base import Array, Sampler

# The working precision, and the grid that sums are rounded to: 2^-40 of the scale, or a little less.
PRECISION_BITS = 320
GRID_BITS = 40


class SphericalSampler(Sampler):
    """Drawn in extended precision and rounded to a public grid (docs/proofs/D1.md prices that rounding)."""

    of: ClassVar[type[Law]] = SphericalLaplace

    def exact(self, weights: Array, scale: float) -> Array:
        """Return the sum rounded to the grid, each coordinate drawn to within ``2^-100 scale`` (docs/proofs/D1.md).

        The law is a Gaussian with a random variance: ``k = scale sqrt(2 S) (N_1, ..., N_d)`` with S ~ Gamma((d +
        1)/2). That form needs no division, so no small denominator can magnify an error.
        """
        draw = _ExtendedDraws()
        arithmetic = draw.arithmetic
        count = len(weights)
        shape = sum((draw.exponential() for _ in range((count + 1) // 2)), arithmetic.mpf(0))
        if count % 2 == 0:
            shape += draw.normal_pair()[0] ** 2 / 2
        width = arithmetic.mpf(scale) * arithmetic.sqrt(2 * shape)
        normals = [value for _ in range((count + 1) // 2) for value in draw.normal_pair()]
        grid = arithmetic.ldexp(1, int(np.frexp(scale)[1]) - 1 - GRID_BITS)
        sums = (
            arithmetic.mpf(float(weight)) + width * normal for weight, normal in zip(weights, normals, strict=False)
        )
        return np.array([float(arithmetic.floor(total / grid + 0.5) * grid) for total in sums], dtype=np.float64)

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


class _ExtendedDraws:
    """Exponential and normal variables whose absolute error is surely tiny, however far out in the tail they fall."""

    def __init__(self) -> None:
        self.arithmetic: Any = mpmath.MPContext()
        self.arithmetic.prec = PRECISION_BITS

    def fraction(self) -> Any:
        """Return the first 320 binary digits of a uniform variable in [0, 1)."""
        return self.arithmetic.ldexp(secrets.randbits(PRECISION_BITS), -PRECISION_BITS)

    def exponential(self) -> Any:
        """Return ``-ln U``, ``U = 2^-(1 + zeros) (1 + V)``: zeros are drawn until they end, so no tail is cut off."""
        zeros = 0
        while (word := secrets.randbits(64)) == 0:
            zeros += 64
        zeros += (word & -word).bit_length() - 1
        return (zeros + 1) * self.arithmetic.ln2 - self.arithmetic.log(1 + self.fraction())

    def normal_pair(self) -> tuple[Any, Any]:
        """Return two independent standard normal variables (Box and Muller)."""
        length = self.arithmetic.sqrt(2 * self.exponential())
        angle = 2 * self.fraction()
        return length * self.arithmetic.cospi(angle), length * self.arithmetic.sinpi(angle)
