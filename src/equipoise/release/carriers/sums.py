"""Least squares from noisy sums: sum products of columns, add noise, solve."""

from typing import ClassVar

import numpy as np

from equipoise.certify.claims import Claim
from equipoise.certify.claims.sums import Functional, Products
from equipoise.release.carriers.base import TrainedCarrier, within
from equipoise.release.job import Array, Task
from equipoise.solve.products import symmetric


class ProductsCarrier(TrainedCarrier[Products]):
    """Only the noisy sums are used after noise was added; eigenvalues and ridge come from them."""

    claim: ClassVar[type[Claim]] = Products
    squares = True

    def sums_suffice(self, claim: Products) -> bool:
        """Return True: sums are what it releases."""
        return True

    def weights(self, task: Task[Products]) -> Array:
        """Sum, add noise, solve with an adaptive ridge."""
        claim, rows = task.claim, task.rows
        squares, moments = task.products()
        upper = np.triu_indices(rows.dimension)
        # Off the diagonal an entry stands for two, and counts sqrt(2) in the norm of the matrix.
        doubled = np.where(upper[0] == upper[1], 1.0, np.sqrt(2.0))
        sums = np.concatenate([squares[upper] * doubled, claim.moment_weight * moments])
        noisy = task.source.add(claim.law, sums, claim.scale)
        matrix = symmetric(noisy[: len(doubled)] / doubled, rows.dimension) / rows.n_samples
        vector = noisy[len(doubled) :] / claim.moment_weight / rows.n_samples
        values, vectors = np.linalg.eigh(matrix)
        ridge = max(claim.alpha / 2, claim.procedure.ridge - float(values[0]))
        weights = vectors @ ((vectors.T @ vector) / (values + ridge))
        return within(weights, claim.procedure.radius)[None, :]


class FunctionalCarrier(TrainedCarrier[Functional]):
    """The noisy quadratic may open downwards: directions with no positive curvature left are dropped, for free."""

    claim: ClassVar[type[Claim]] = Functional
    squares = True

    def sums_suffice(self, claim: Functional) -> bool:
        """Return True: sums are what it releases."""
        return True

    def weights(self, task: Task[Functional]) -> Array:
        """Sum, add noise, regularise, trim the spectrum, minimise."""
        claim, rows = task.claim, task.rows
        squares, moments = task.products()
        upper = np.triu_indices(rows.dimension)
        doubled = np.where(upper[0] == upper[1], 1.0, 2.0)
        coefficients = np.concatenate([squares[upper] * doubled, -2 * moments])
        noisy = task.source.add(claim.law, coefficients, claim.scale)
        matrix = symmetric(noisy[: len(doubled)] / doubled, rows.dimension) / rows.n_samples
        values, vectors = np.linalg.eigh(matrix)
        values = values + claim.procedure.ridge + claim.alpha / 2
        slopes = vectors.T @ (noisy[len(doubled) :] / rows.n_samples)
        weights = vectors @ np.where(values > 0, -slopes / (2 * np.where(values > 0, values, 1.0)), 0.0)
        return within(weights, claim.procedure.radius)[None, :]
