"""The three ways to choose the noise that every figure compares: as printed, the paper's bound repaired, and ours."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from equipoise_studies.stability_enhanced_privacy import printed
from equipoise_studies.stability_enhanced_privacy.preparation import Array, Prepared

Shape = tuple[int, ...]


def direct_sensitivity(strength: float, n_rows: int, longest: float) -> float:
    """Return ``L kappa / (lambda gamma n)``: how far one row moves one elastic net (A1, F1).

    Examples
    --------
    >>> round(direct_sensitivity(0.01, 10_000, 1.0), 5)
    0.01176
    """
    return printed.SLOPE * longest / (strength * printed.GAMMA * n_rows)


def spherical(stream: np.random.Generator, shape: Shape, scale: float) -> Array:
    """Return noise with density proportional to ``exp(-norm / scale)`` over all coordinates but the first axis (D1).

    The first axis counts independent draws.
    """
    directions = stream.normal(size=shape)
    size = math.prod(shape[1:])
    norms = np.sqrt((directions**2).sum(axis=tuple(range(1, len(shape))), keepdims=True))
    radii = stream.gamma(size, scale, size=(shape[0], *([1] * (len(shape) - 1))))
    return np.asarray(directions / norms * radii)


@dataclass(frozen=True)
class Noise:
    """A law with a sensitivity.

    Parameters
    ----------
    key, name : str
        What claims call it, and what figures call it.
    moved : callable
        From lambda, n and kappa: how far one row is taken to move one classifier.
    joint : callable
        From the number of classifiers that see the row: the factor for all of them together.
    draw : callable
        Noise of a shape whose first axis counts draws, at a scale.
    spread : callable
        From the number of coordinates: the standard deviation of one, in units of the scale.
    """

    key: str
    name: str
    moved: Callable[[float, int, float], float]
    joint: Callable[[int], float]
    draw: Callable[[np.random.Generator, Shape, float], Array]
    spread: Callable[[int], float]

    def scale(self, rows: Prepared, strength: float, epsilon: float) -> float:
        """Return the scale at which the noise is meant to be epsilon-private.

        Examples
        --------
        >>> [round(each.moved(0.01, 10_000, 1.0) / NOISES[2].moved(0.01, 10_000, 1.0)) for each in NOISES]
        [200, 200, 1]
        """
        return self.joint(rows.outputs) * self.moved(strength, rows.n_rows, rows.longest) / epsilon

    def deviation(self, rows: Prepared, strength: float, epsilon: float) -> float:
        """Return the standard deviation of one coordinate (F3)."""
        size = rows.outputs * (rows.features.shape[1] + 1)
        return self.spread(size) * self.scale(rows, strength, epsilon)


NOISES = (
    # No proof: independent Laplace noise at the L2 sensitivity, and one epsilon for all classifiers.
    Noise(
        "printed", "as printed (not epsilon-DP)", printed.sensitivity, lambda outputs: 1.0, printed.noise,
        lambda size: math.sqrt(2),
    ),
    # Private (D1): for rows of these norms the bound is too large, never too small.
    Noise(
        "bound", "paper's bound, repaired", printed.sensitivity, math.sqrt, spherical, lambda size: math.sqrt(size + 1)
    ),
    # Private (A1, D1).
    Noise("direct", "ours (1/n bound)", direct_sensitivity, math.sqrt, spherical, lambda size: math.sqrt(size + 1)),
)  # fmt: skip
PRINTED, BOUND, DIRECT = NOISES


def proved_epsilon(rows: Prepared) -> float:
    """Return what A1 and D2 prove of the printed noise, in units of its epsilon: L1 sensitivity over its scale.

    All K classifiers of d columns see a row, so the L1 sensitivity is at most ``sqrt(K d)`` times the joint L2 one,
    ``sqrt(K) Delta``. Two mistakes pull against each other: sqrt(n) too much in the bound, ``K sqrt(d)`` too little
    in the mechanism.
    """
    size = rows.outputs * (rows.features.shape[1] + 1)
    joint = math.sqrt(rows.outputs) * direct_sensitivity(1.0, rows.n_rows, rows.longest)
    return math.sqrt(size) * joint / printed.sensitivity(1.0, rows.n_rows, rows.longest)
