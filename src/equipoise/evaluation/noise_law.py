"""The known laws of noise on whole numbers: their variances and characteristic functions."""

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# From this scale on the sum over frequencies converges faster than the one over whole numbers; both are exact.
_WIDE = 1.0


def variance(law: str, scale: float) -> float:
    """Return the variance of one cell's noise.

    Examples
    --------
    >>> round(variance("laplace", 4.0), 2), round(variance("gaussian", 4.0), 2)
    (31.83, 16.0)
    """
    if law == "laplace":
        ratio = math.exp(-1.0 / scale)
        return 2.0 * ratio / (1.0 - ratio) ** 2
    if scale >= _WIDE:
        # Poisson's summation formula, twice differentiated at zero.
        waves = np.arange(-4, 5)
        heights = np.exp(-2.0 * (math.pi * scale * waves) ** 2)
        return float(scale**2 - scale**4 * np.sum((2.0 * math.pi * waves) ** 2 * heights) / np.sum(heights))
    numbers, chances = _few_numbers(scale)
    return float(np.sum(numbers**2 * chances))


def characteristic(law: str, scale: float, frequencies: Array) -> Array:
    """Return the mean of ``cos(t Z)``: the characteristic function, real because the laws are symmetric.

    Laplace, with ``r = exp(-1/scale)``: ``(1 - r)^2 / (1 - 2 r cos t + r^2)``. Gaussian: the sum over whole numbers, or
    the equal sum of Gaussians around every multiple of ``2 pi``, divided by its value at zero.

    Examples
    --------
    >>> characteristic("laplace", 4.0, np.array([0.0, 0.1])).round(3)
    array([1.   , 0.863])
    """
    if law == "laplace":
        ratio = math.exp(-1.0 / scale)
        # 1 - 2 r cos t + r^2 = (1 - r)^2 + 4 r sin^2(t / 2): no cancellation for wide noise.
        return np.asarray((1.0 - ratio) ** 2 / ((1.0 - ratio) ** 2 + 4.0 * ratio * np.sin(0.5 * frequencies) ** 2))
    if scale >= _WIDE:
        near = np.remainder(frequencies + math.pi, 2.0 * math.pi) - math.pi
        waves = range(-2, 3)
        total = sum(np.exp(-0.5 * (scale * (near + 2.0 * math.pi * wave)) ** 2) for wave in waves)
        return np.asarray(total / sum(math.exp(-2.0 * (math.pi * scale * wave) ** 2) for wave in waves))
    numbers, chances = _few_numbers(scale)
    return np.asarray(
        sum(chance * np.cos(number * frequencies) for number, chance in zip(numbers, chances, strict=True))
    )


def _few_numbers(scale: float) -> tuple[Array, Array]:
    """Return the whole numbers that narrow Gaussian noise can be, and their chances."""
    numbers = np.arange(-12.0, 13.0)
    heights = np.exp(-0.5 * (numbers / scale) ** 2)
    return numbers, heights / np.sum(heights)
