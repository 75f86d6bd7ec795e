"""D3: the analytic Gaussian mechanism."""

import math
from typing import ClassVar

from equipoise.proof.curves import LATTICE_DELTA, Curve, GaussianCurve, largest_mu
from equipoise.proof.mechanisms.base import Array, Mechanism
from equipoise.proof.noise import NoiseSource
from equipoise.vocabulary.facts import Budget


class Gaussian(Mechanism):
    """Gaussian noise calibrated by its exact curve, for any epsilon > 0 and delta > 0.

    Examples
    --------
    >>> from equipoise.vocabulary.facts import Budget
    >>> round(Gaussian().scale_for(1.0, 3, Budget(1.0, 1e-6)), 4)
    4.2247
    """

    id: ClassVar[str] = "gaussian"
    citation: ClassVar[str] = "Balle and Wang 2018, Theorem 8; docs/proofs/D3.md"
    requirement: ClassVar[str] = "delta > 0"
    rotation_invariant: ClassVar[bool] = True

    def scale_for(self, sensitivity: float, dimension: int, budget: Budget) -> float | None:
        """Return ``sensitivity / mu`` for the largest private mu, rounded up; None for pure privacy."""
        if budget.delta <= LATTICE_DELTA:
            return None
        mu = largest_mu(budget.epsilon, budget.delta)
        if mu == 0:
            return None
        scale, step = sensitivity / mu, 1e-15
        # The last digits of the curve jitter, so the scale grows until the curve of this very scale meets the budget.
        while self.curve(sensitivity, dimension, scale).delta(budget.epsilon) > budget.delta:
            scale, step = scale * (1 + step), 2 * step
        return scale

    def curve(self, sensitivity: float, dimension: int, scale: float) -> Curve:
        """Return the exact Gaussian curve."""
        return GaussianCurve(sensitivity / scale)

    def deviation(self, scale: float, dimension: int) -> float:
        """Return the scale."""
        return scale

    def release(self, weights: Array, scale: float, source: NoiseSource) -> Array:
        """Add the noise."""
        return source.gaussian(weights, scale)

    def log_density(self, noise: Array, scale: float) -> float:
        """Return the log density of a centred Gaussian with independent coordinates."""
        d = len(noise)
        return -float(noise @ noise) / (2 * scale**2) - d / 2 * math.log(2 * math.pi) - d * math.log(scale)

    def rounding(self, dimension: int) -> str:
        """Say what the lattice cost."""
        return "the Gaussian noise is sampled exactly by OpenDP on the lattice of 2^-1074; 2^-500 of delta pays (D3)"
