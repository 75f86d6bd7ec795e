"""What every sampler promises."""

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from equipoise.certify.laws import Law
from equipoise.noise.grid import GridNoise

Array = NDArray[np.float64]


class Sampler(ABC):
    """Draws noise of one law: exactly from the operating system's entropy, or fast and repeatably from a generator.

    `log_density` is there for tests and audits: the contract compares it with what is drawn and with what the law's
    curve claims.
    """

    of: ClassVar[type[Law]]

    @abstractmethod
    def noise(self, count: int, scale: float) -> GridNoise:
        """Return exact noise of this scale on so many numbers, to be added on a public grid (D7)."""

    def exact(self, weights: Array, scale: float) -> Array:
        """Return the weights plus exact noise of this scale, rounded to the grid."""
        return self.noise(len(weights), scale).sums(weights)

    @abstractmethod
    def seeded(self, weights: Array, scale: float, generator: np.random.Generator) -> Array:
        """Return the weights plus noise of a generator, in double precision."""

    @abstractmethod
    def log_density(self, noise: Array, scale: float) -> float:
        """Return the log density of a noise vector."""
