"""Independent Gaussian noise in every coordinate (D3)."""

import math
from typing import ClassVar

import numpy as np

from equipoise.certify.laws import Law
from equipoise.certify.laws.gaussian import Gaussian
from equipoise.noise.exact import opendp, vector_space
from equipoise.noise.samplers.base import Array, Sampler


class GaussianSampler(Sampler):
    """OpenDP samples the law exactly on the lattice that holds every double."""

    of: ClassVar[type[Law]] = Gaussian

    def exact(self, weights: Array, scale: float) -> Array:
        """Return OpenDP's exact Gaussian release."""
        dp = opendp()
        measurement = dp.m.make_gaussian(*vector_space(dp, len(weights), dp.l2_distance(T=float)), scale=scale)
        return np.array(measurement(weights.tolist()), dtype=np.float64)

    def seeded(self, weights: Array, scale: float, generator: np.random.Generator) -> Array:
        """Return the weights plus the generator's normal noise."""
        return weights + generator.normal(scale=scale, size=len(weights))

    def log_density(self, noise: Array, scale: float) -> float:
        """Return the log density of a centred Gaussian with independent coordinates."""
        d = len(noise)
        return -float(noise @ noise) / (2 * scale**2) - d / 2 * math.log(2 * math.pi) - d * math.log(scale)
