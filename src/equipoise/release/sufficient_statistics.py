"""Noisy sufficient statistics: sum products of columns, add noise, solve with an adaptive ridge."""

from typing import ClassVar

import numpy as np

from equipoise.learn.products import products, symmetric
from equipoise.proof.mechanisms import named
from equipoise.release.base import Array, Carrier, Task


class NoisyStatistics(Carrier):
    """Only the noisy sums are used after noise was added; eigenvalues and ridge come from them."""

    id: ClassVar[str] = "sufficient-statistics"

    @classmethod
    def carry_out(cls, task: Task) -> Array:
        """Sum, add noise, solve."""
        argument, procedure = task.argument, task.argument.procedure
        squares, moments = products(task.rows, task.targets)
        upper = np.triu_indices(task.rows.dimension)
        # Off the diagonal an entry stands for two, and counts sqrt(2) in the norm of the matrix.
        doubled = np.where(upper[0] == upper[1], 1.0, np.sqrt(2.0))
        sums = np.concatenate([squares[upper] * doubled, procedure.moment_weight * moments])
        noisy = named(argument.mechanism).release(sums, argument.noise_scale, task.source)
        matrix = symmetric(noisy[: len(doubled)] / doubled, task.rows.dimension) / task.rows.n_samples
        vector = noisy[len(doubled) :] / procedure.moment_weight / task.rows.n_samples
        values, vectors = np.linalg.eigh(matrix)
        ridge = max(argument.alpha / 2, procedure.ridge - float(values[0]))
        weights = vectors @ ((vectors.T @ vector) / (values + ridge))
        return within(weights, procedure.reach or 0.0)[None, :]


def within(weights: Array, radius: float) -> Array:
    """Return the weights, projected to the ball."""
    norm = float(np.linalg.norm(weights))
    return weights if norm <= radius else weights * (radius / norm)
