"""What every output-perturbation mechanism says about itself."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from equipoise.proof.curves import Curve
from equipoise.proof.noise import NoiseSource
from equipoise.vocabulary.facts import Budget

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Calibration:
    """A mechanism with its noise scale and the standard deviation of one coordinate."""

    mechanism: str
    scale: float
    deviation: float


class Mechanism(ABC):
    """Turns an L2 sensitivity into noise that hides it, and says what curve results.

    Scales are rounded towards more noise. `log_density` is there for tests and audits: the contract compares it with
    what `release` draws and with what `curve` claims.
    """

    id: ClassVar[str]
    citation: ClassVar[str]
    requirement: ClassVar[str]
    # Whether the noise has the same law in every direction.
    rotation_invariant: ClassVar[bool]

    @abstractmethod
    def scale_for(self, sensitivity: float, dimension: int, budget: Budget) -> float | None:
        """Return the smallest scale that meets the budget, or None when no scale does."""

    @abstractmethod
    def curve(self, sensitivity: float, dimension: int, scale: float) -> Curve:
        """Return the privacy curve of this scale."""

    @abstractmethod
    def deviation(self, scale: float, dimension: int) -> float:
        """Return the standard deviation of one coordinate."""

    @abstractmethod
    def release(self, weights: Array, scale: float, source: NoiseSource) -> Array:
        """Return the noisy weights."""

    @abstractmethod
    def log_density(self, noise: Array, scale: float) -> float:
        """Return the log density of a noise vector."""

    @abstractmethod
    def rounding(self, dimension: int) -> str:
        """Say in one sentence how finite precision was priced."""
