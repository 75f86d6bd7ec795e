"""A toy: Gaussian noise whose scale is half its deviation."""

from typing import ClassVar

import numpy as np

from equipoise.certify.laws import Law
from equipoise.certify.laws.toy_gaussian import ToyGaussian
from equipoise.noise.grid import GridNoise
from equipoise.noise.samplers.base import Array, Sampler
from equipoise.noise.samplers.gaussian import GaussianSampler


class ToyGaussianSampler(Sampler):
    """The Gaussian sampler at twice the scale."""

    of: ClassVar[type[Law]] = ToyGaussian

    def noise(self, count: int, scale: float) -> GridNoise:
        """Return exact Gaussian noise of twice the scale."""
        return GaussianSampler().noise(count, 2 * scale)

    def seeded(self, weights: Array, scale: float, generator: np.random.Generator) -> Array:
        """Return the weights plus the generator's normal noise."""
        return GaussianSampler().seeded(weights, 2 * scale, generator)

    def log_density(self, noise: Array, scale: float) -> float:
        """Return the log density of a centred Gaussian."""
        return GaussianSampler().log_density(noise, 2 * scale)
