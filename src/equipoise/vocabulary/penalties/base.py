"""What every penalty says about itself."""

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Penalty(ABC):
    """A convex function of the weights with its minimum at 0, of a public strength `alpha`.

    It is the same for neighbouring datasets, so it cancels in every stability bound; what counts is its strong
    convexity.
    """

    id: ClassVar[str]
    alpha: float

    @abstractmethod
    def __init__(self, alpha: float) -> None: ...

    @abstractmethod
    def value(self, weights: Array) -> float:
        """Return the penalty."""

    @abstractmethod
    def gradient(self, weights: Array) -> Array:
        """Return its gradient."""

    @abstractmethod
    def add_curvature(self, hessian: Array) -> None:
        """Add its Hessian to `hessian`, in place."""

    @abstractmethod
    def strong_convexity(self) -> float:
        """Return mu such that the penalty minus ``mu/2 ||w||^2`` is still convex."""

    @abstractmethod
    def smoothness(self) -> float:
        """Return the largest eigenvalue of its Hessian."""

    @abstractmethod
    def slope_bound(self, radius: float) -> float:
        """Return the largest norm of its gradient over weights of norm at most `radius`."""

    @abstractmethod
    def largest(self, radius: float) -> float:
        """Return the largest penalty of weights of norm at most `radius`."""
