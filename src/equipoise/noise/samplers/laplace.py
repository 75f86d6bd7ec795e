"""Independent Laplace noise in every coordinate (D2)."""

import math
from typing import ClassVar

import numpy as np

from equipoise.certify.laws import Law
from equipoise.certify.laws.laplace import Laplace
from equipoise.noise.exact import opendp, vector_space
from equipoise.noise.samplers.base import Array, Sampler


class LaplaceSampler(Sampler):
    """OpenDP samples the law exactly on the lattice that holds every double."""

    of: ClassVar[type[Law]] = Laplace

    def exact(self, weights: Array, scale: float) -> Array:
        """Return OpenDP's exact Laplace release."""
        dp = opendp()
        measurement = dp.m.make_laplace(*vector_space(dp, len(weights), dp.l1_distance(T=float)), scale=scale)
        return np.array(measurement(weights.tolist()), dtype=np.float64)

    def seeded(self, weights: Array, scale: float, generator: np.random.Generator) -> Array:
        """Return the weights plus the generator's Laplace noise."""
        return weights + generator.laplace(scale=scale, size=len(weights))

    def log_density(self, noise: Array, scale: float) -> float:
        """Return ``-||k||_1 / scale - d log(2 scale)``."""
        return -float(np.abs(noise).sum()) / scale - len(noise) * math.log(2 * scale)
