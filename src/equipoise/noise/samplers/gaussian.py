"""Independent Gaussian noise in every coordinate (D3)."""

import math
from typing import ClassVar

import numpy as np

from equipoise.certify.laws import Law
from equipoise.certify.laws.gaussian import Gaussian
from equipoise.noise.grid import GridNoise, KnownWidth, grid_of, in_steps
from equipoise.noise.numbers import noise_of
from equipoise.noise.samplers.base import Array, Sampler


class GaussianSampler(Sampler):
    """The sum with ideal noise is rounded to a public grid, without an error (D7)."""

    of: ClassVar[type[Law]] = Gaussian

    def noise(self, count: int, scale: float) -> GridNoise:
        """Return independent normal numbers times the scale."""
        exponent = grid_of(scale)
        return noise_of("normal", count, KnownWidth(in_steps(scale, exponent)), exponent)

    def seeded(self, weights: Array, scale: float, generator: np.random.Generator) -> Array:
        """Return the weights plus the generator's normal noise."""
        return weights + generator.normal(scale=scale, size=len(weights))

    def log_density(self, noise: Array, scale: float) -> float:
        """Return the log density of a centred Gaussian with independent coordinates."""
        d = len(noise)
        return -float(noise @ noise) / (2 * scale**2) - d / 2 * math.log(2 * math.pi) - d * math.log(scale)
