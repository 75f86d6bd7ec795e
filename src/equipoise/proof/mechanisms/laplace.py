"""D2: independent Laplace noise in every coordinate, with the sqrt(d) that an L2 sensitivity needs."""

import math
from typing import ClassVar

import numpy as np

from equipoise.proof.curves import Curve, PureCurve
from equipoise.proof.mechanisms.base import Array, Mechanism
from equipoise.proof.noise import NoiseSource
from equipoise.vocabulary.facts import Budget


class Laplace(Mechanism):
    """``epsilon = sqrt(d) sensitivity / scale``, since ``||v||_1 <= sqrt(d) ||v||_2``; deviation ``sqrt(2) scale``.

    Examples
    --------
    >>> from equipoise.vocabulary.facts import Budget
    >>> round(Laplace().scale_for(0.5, 4, Budget(2.0)), 6)
    0.5
    """

    id: ClassVar[str] = "laplace"
    citation: ClassVar[str] = "Dwork, McSherry, Nissim and Smith 2006; docs/proofs/D2.md"
    requirement: ClassVar[str] = "any epsilon > 0"
    rotation_invariant: ClassVar[bool] = False

    def scale_for(self, sensitivity: float, dimension: int, budget: Budget) -> float | None:
        """Return ``sqrt(d) sensitivity / epsilon``, rounded up."""
        return math.nextafter(math.sqrt(dimension) * sensitivity / budget.epsilon * (1 + 1e-15), math.inf)

    def curve(self, sensitivity: float, dimension: int, scale: float) -> Curve:
        """Return the pure curve."""
        return PureCurve(math.sqrt(dimension) * sensitivity / scale)

    def deviation(self, scale: float, dimension: int) -> float:
        """Return ``sqrt(2) scale``."""
        return math.sqrt(2) * scale

    def release(self, weights: Array, scale: float, source: NoiseSource) -> Array:
        """Add the noise."""
        return source.laplace(weights, scale)

    def log_density(self, noise: Array, scale: float) -> float:
        """Return ``-||k||_1 / scale - d log(2 scale)``."""
        return -float(np.abs(noise).sum()) / scale - len(noise) * math.log(2 * scale)

    def rounding(self, dimension: int) -> str:
        """Say that nothing had to be paid."""
        return "the Laplace noise is sampled exactly by OpenDP on the lattice of 2^-1074: no rounding slack (D2)"
