"""Independent Laplace noise in every coordinate (D2)."""

import math
from typing import ClassVar

import numpy as np

from equipoise.certify.laws import Law
from equipoise.certify.laws.laplace import Laplace
from equipoise.noise.grid import GridNoise, KnownWidth, grid_of, in_steps
from equipoise.noise.numbers import noise_of
from equipoise.noise.samplers.base import Array, Sampler


class LaplaceSampler(Sampler):
    """The sum with ideal noise is rounded to a public grid, without an error (D7)."""

    of: ClassVar[type[Law]] = Laplace

    def noise(self, count: int, scale: float) -> GridNoise:
        """Return independent exponential numbers with random signs times the scale."""
        exponent = grid_of(scale)
        return noise_of("exponential", count, KnownWidth(in_steps(scale, exponent)), exponent)

    def seeded(self, weights: Array, scale: float, generator: np.random.Generator) -> Array:
        """Return the weights plus the generator's Laplace noise."""
        return weights + generator.laplace(scale=scale, size=len(weights))

    def log_density(self, noise: Array, scale: float) -> float:
        """Return ``-||k||_1 / scale - d log(2 scale)``."""
        return -float(np.abs(noise).sum()) / scale - len(noise) * math.log(2 * scale)
