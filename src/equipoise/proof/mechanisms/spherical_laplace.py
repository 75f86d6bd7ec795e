"""D1 and D6: noise with density proportional to exp(-||k|| / scale), for an L2 sensitivity."""

import math
from typing import ClassVar

import numpy as np

from equipoise.proof.curves import Curve
from equipoise.proof.mechanisms.base import Array, Mechanism
from equipoise.proof.noise import NoiseSource
from equipoise.proof.spherical_curve import SphericalCurve, largest_ratio
from equipoise.vocabulary.facts import Budget


def rounding_epsilon(dimension: int) -> float:
    """Return what drawing in finite precision and rounding to the grid adds to epsilon (docs/proofs/D1.md)."""
    return dimension * 2.0**-56


class SphericalLaplace(Mechanism):
    """``epsilon = sensitivity / scale``, plus ``d 2^-56`` for the rounding; coordinate deviation ``sqrt(d + 1) scale``.

    With delta > 0 the scale is calibrated to the exact curve of the law, and smaller.

    Examples
    --------
    >>> from equipoise.vocabulary.facts import Budget
    >>> round(SphericalLaplace().scale_for(0.5, 3, Budget(2.0)), 6)
    0.25
    >>> round(SphericalLaplace().scale_for(1.0, 10, Budget(1.0, 1e-5)), 6)
    0.872812
    """

    id: ClassVar[str] = "spherical-laplace"
    citation: ClassVar[str] = (
        "Chaudhuri, Monteleoni and Sarwate 2011; Wu et al. [002] Theorem 8; docs/proofs/D1.md, docs/proofs/D6.md"
    )
    requirement: ClassVar[str] = "epsilon above d 2^-56, the price of rounding"
    rotation_invariant: ClassVar[bool] = True

    def scale_for(self, sensitivity: float, dimension: int, budget: Budget) -> float | None:
        """Return ``sensitivity / (epsilon - rounding)`` for pure privacy, otherwise the smallest scale by the curve."""
        level = budget.epsilon - rounding_epsilon(dimension)
        if level <= 0:
            return None
        pure = math.nextafter(sensitivity / level * (1 + 1e-15), math.inf)
        if budget.delta == 0:
            return pure
        ratio = largest_ratio(budget.epsilon, budget.delta, dimension, rounding_epsilon(dimension))
        scale, step = sensitivity / ratio, 1e-15
        # The last digits of the curve jitter, so the scale grows until the curve of this very scale meets the budget.
        while self.curve(sensitivity, dimension, scale).delta(budget.epsilon) > budget.delta:
            scale, step = scale * (1 + step), 2 * step
        return min(scale, pure)

    def curve(self, sensitivity: float, dimension: int, scale: float) -> Curve:
        """Return the exact curve with the rounding inside."""
        return SphericalCurve(sensitivity / scale, dimension, rounding_epsilon(dimension))

    def deviation(self, scale: float, dimension: int) -> float:
        """Return ``sqrt(d + 1) scale``."""
        return math.sqrt(dimension + 1) * scale

    def release(self, weights: Array, scale: float, source: NoiseSource) -> Array:
        """Add the noise."""
        return source.spherical_laplace(weights, scale)

    def log_density(self, noise: Array, scale: float) -> float:
        """Return ``-||k|| / scale`` minus the log of the normalising constant."""
        d = len(noise)
        sphere = math.log(2) + d / 2 * math.log(math.pi) - math.lgamma(d / 2)
        return -float(np.linalg.norm(noise)) / scale - sphere - math.lgamma(d) - d * math.log(scale)

    def rounding(self, dimension: int) -> str:
        """Say what the rounding cost."""
        return (
            "the spherical noise is drawn in 320-bit arithmetic and the sum rounded to a public grid; "
            f"{rounding_epsilon(dimension):.3g} of epsilon pays for it (D1; it trusts mpmath's functions to 2^-310)"
        )
