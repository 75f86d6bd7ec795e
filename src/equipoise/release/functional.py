"""The functional mechanism: Laplace noise on the coefficients of the sum of squares, then its minimum."""

from typing import ClassVar

import numpy as np

from equipoise.learn.products import products, symmetric
from equipoise.proof.mechanisms import named
from equipoise.release.base import Array, Carrier, Task
from equipoise.release.sufficient_statistics import within


class NoisyCoefficients(Carrier):
    """The noisy quadratic may open downwards: directions with no positive curvature left are dropped, for free."""

    id: ClassVar[str] = "functional"

    @classmethod
    def carry_out(cls, task: Task) -> Array:
        """Sum, add noise, regularise, trim the spectrum, minimise."""
        argument, procedure = task.argument, task.argument.procedure
        squares, moments = products(task.rows, task.targets)
        upper = np.triu_indices(task.rows.dimension)
        doubled = np.where(upper[0] == upper[1], 1.0, 2.0)
        coefficients = np.concatenate([squares[upper] * doubled, -2 * moments])
        noisy = named(argument.mechanism).release(coefficients, argument.noise_scale, task.source)
        matrix = symmetric(noisy[: len(doubled)] / doubled, task.rows.dimension) / task.rows.n_samples
        values, vectors = np.linalg.eigh(matrix)
        values = values + procedure.ridge + argument.alpha / 2
        slopes = vectors.T @ (noisy[len(doubled) :] / task.rows.n_samples)
        weights = vectors @ np.where(values > 0, -slopes / (2 * np.where(values > 0, values, 1.0)), 0.0)
        return within(weights, procedure.reach or 0.0)[None, :]
