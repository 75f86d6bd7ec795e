"""What every mechanism of the study makes: a linear dosing model, and the least-squares problem behind it."""

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from equipoise_studies.private_regression.preparation import CENTRE, HALF_RANGE, Rows

Array = NDArray[np.float64]
# A bracket of the ball's multiplier is halved so often that nothing is left of it.
HALVINGS = 60


@dataclass(frozen=True, eq=False)
class Linear:
    """A model of the scaled target, with predictions of the square root of the weekly dose.

    Parameters
    ----------
    weights : array of shape (n_features,)
        One weight a column.
    offset : float
        The intercept, on the scale of the target.
    kept_in_range : bool
        Whether predictions are clipped to the public range of the target. It is free, and the paper does not do it.

    Examples
    --------
    >>> Linear(np.array([2.0]), 0.0, kept_in_range=True).predict(np.array([[0.25], [9.0]])).tolist()
    [7.5, 9.5]
    """

    weights: Array
    offset: float = 0.0
    kept_in_range: bool = False

    def predict(self, features: Array) -> Array:
        """Return the square root of the weekly dose."""
        score = features @ self.weights + self.offset
        return CENTRE + HALF_RANGE * (np.clip(score, -1, 1) if self.kept_in_range else score)


@dataclass(frozen=True, eq=False)
class Squares:
    """The sums of a least-squares problem: `w' gram w - 2 moment' w`, averages over the rows."""

    gram: Array
    moment: Array
    n_rows: int

    @classmethod
    def of(cls, rows: Rows) -> "Squares":
        """Return the averages over some rows."""
        count = len(rows)
        return cls(rows.features.T @ rows.features / count, rows.features.T @ rows.target / count, count)

    @functools.cached_property
    def spectrum(self) -> tuple[Array, Array]:
        """The eigenvalues and eigenvectors of the gram matrix."""
        values, vectors = np.linalg.eigh(self.gram)
        return np.maximum(values, 0.0), vectors

    def solve(self, ridge: float, radius: float, tilt: Array | None = None) -> Array:
        """Return the minimiser of the mean square plus `ridge/2 |w|^2` plus `tilt' w`, inside the ball of the radius.

        Examples
        --------
        >>> plain = Squares(np.eye(2), np.array([3.0, 4.0]), 10)
        >>> plain.solve(0.0, 100.0).tolist(), plain.solve(0.0, 1.0).round(6).tolist()
        ([3.0, 4.0], [0.6, 0.8])
        """
        values, vectors = self.spectrum
        pulled = vectors.T @ (self.moment if tilt is None else self.moment - tilt / 2)
        low = ridge / 2
        weights = pulled / np.maximum(values + low, 1e-300)
        if np.linalg.norm(weights) > radius:
            high = low + float(np.linalg.norm(pulled)) / radius
            for _ in range(HALVINGS):
                middle = (low + high) / 2
                too_long = np.linalg.norm(pulled / (values + middle)) > radius
                low, high = (middle, high) if too_long else (low, middle)
            weights = pulled / (values + high)
        return np.asarray(vectors @ weights)


def spherical(stream: np.random.Generator, size: int, scale: float) -> Array:
    """Return noise of density proportional to `exp(-norm / scale)`.

    Examples
    --------
    >>> float(np.linalg.norm(spherical(np.random.default_rng(0), 14, 0.0)))
    0.0
    """
    direction = stream.normal(size=size)
    return np.asarray(direction / np.linalg.norm(direction) * stream.gamma(size, scale) if scale else 0 * direction)
