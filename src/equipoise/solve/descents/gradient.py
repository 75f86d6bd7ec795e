"""Descent on gradients that somebody else provides: momentum, ridge, projection and averaging."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from equipoise.solve.penalties import arrays_of
from equipoise.vocabulary.penalties import Penalty

Array = NDArray[np.float64]


def descend(
    gradient: Callable[[Array], Array],
    penalty: Penalty,
    shape: tuple[int, int],
    *,
    steps: int,
    step: float,
    momentum: float,
    average: bool,
    radius: float,
) -> Array:
    """Return the last iterate, or the mean of all, of ``v <- momentum v + g + r'(w)``, ``w <- Proj(w - step v)``.

    Every number is fixed before the first gradient, and rows are seen through `gradient` alone.

    Examples
    --------
    >>> from equipoise.vocabulary import penalties
    >>> ridge = penalties.named("l2", 1e-9)
    >>> descend(lambda w: w - 1, ridge, (1, 2), steps=50, step=0.5, momentum=0.0, average=False, radius=9.0).round(6)
    array([[1., 1.]])
    """
    weights, speed, total = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    smooth_part = arrays_of(penalty)
    for _ in range(steps):
        speed = momentum * speed + gradient(weights) + smooth_part.gradient(weights.ravel()).reshape(shape)
        weights = weights - step * speed
        norm = float(np.linalg.norm(weights))
        if norm > radius:
            weights *= radius / norm
        total += weights
    return total / steps if average else weights
