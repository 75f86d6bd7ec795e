"""Steps from 0 that are certain to arrive: with momentum, plain where rounding is too much for it (N10, A4)."""

import math
from abc import ABC, abstractmethod

import numpy as np

from equipoise.errors import PrivateFailure
from equipoise.solve.objective import Objective
from equipoise.solve.solvers.base import Array, Target
from equipoise.vocabulary.work import TEST_EVERY


class LastResort(ABC):
    """Steps ``w <- P(w - grad f(w) / L)``, P being a projection or a penalty's prox."""

    def __init__(self, objective: Objective, target: Target) -> None:
        self.objective = objective.finely()
        self.target = target

    @abstractmethod
    def onward(self, point: Array, gradient: Array) -> Array:
        """Return where one step from a point leads, whose gradient is known."""

    @abstractmethod
    def arrived(self, point: Array, gradient: Array, following: Array, following_gradient: Array) -> bool:
        """Return whether the end of a step is accepted."""

    def weights(self) -> Array:
        """Return accepted weights: nothing else is returned, should the proof that there are any be wrong (M3)."""
        found = self._with_momentum()
        return self._plainly() if found is None else found

    def _with_momentum(self) -> Array | None:
        """Return accepted weights from steps with a constant momentum, or None after as many as N10 asks for."""
        target, gradient = self.target, self.objective.gradient
        root = math.sqrt(target.strong_convexity / max(target.smoothness, target.strong_convexity))
        momentum = (1 - root) / (1 + root)
        start = np.zeros(self.objective.size)
        point = ahead = self.onward(start, gradient(start))
        for count in range(int(target.accelerated_steps)):
            if not target.within(self.objective):
                return None
            if count % TEST_EVERY == 0:
                here = gradient(point)
                end = self.onward(point, here)
                if self.arrived(point, here, end, gradient(end)):
                    return end
            following = self.onward(ahead, gradient(ahead))
            point, ahead = following, following + momentum * (following - point)
        here = gradient(point)
        end = self.onward(point, here)
        return end if self.arrived(point, here, end, gradient(end)) else None

    def _plainly(self) -> Array:
        """Return the first accepted weights of plain steps."""
        point = np.zeros(self.objective.size)
        gradient = self.objective.gradient(point)
        for _ in range(int(self.target.plain_steps)):
            if not self.target.within(self.objective):
                break
            following = self.onward(point, gradient)
            following_gradient = self.objective.gradient(following)
            if self.arrived(point, gradient, following, following_gradient):
                return following
            point, gradient = following, following_gradient
        raise PrivateFailure
