"""What every penalty does with arrays of weights."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from equipoise.vocabulary.penalties import Penalty

Array = NDArray[np.float64]


class PenaltyArrays(ABC):
    """The arithmetic of a penalty: a smooth part, met through `gradient`, and a kinked part, met through `prox`."""

    of: ClassVar[type[Penalty]]

    def __init__(self, penalty: Any) -> None:
        self.penalty = penalty

    @abstractmethod
    def value(self, weights: Array) -> float:
        """Return the whole penalty."""

    @abstractmethod
    def gradient(self, weights: Array) -> Array:
        """Return the gradient of the smooth part."""

    @abstractmethod
    def add_curvature(self, hessian: Array) -> None:
        """Add the Hessian of the smooth part to `hessian`, in place."""

    def prox(self, weights: Array, step: float) -> Array:
        """Return ``argmin_v ||v - w||^2 / (2 step) + kinked part(v)``; w itself where there is no kinked part."""
        return weights
