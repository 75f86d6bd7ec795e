"""The known laws of noise on whole numbers: their variances and characteristic functions."""

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

Array = NDArray[np.float64]

# From this scale on the sum over waves is exact with five of them; below it, that over few whole numbers is.
_WIDE = 1.0


def variance(law: str, scale: float) -> float:
    """Return the variance of one cell's noise.

    Examples
    --------
    >>> round(variance("laplace", 4.0), 2), round(variance("gaussian", 4.0), 2)
    (31.83, 16.08)
    """
    if law == "laplace":
        ratio = math.exp(-1.0 / scale)
        return 2.0 * ratio / (1.0 - ratio) ** 2
    numbers = np.arange(-math.ceil(9.0 * scale) - 1.0, math.ceil(9.0 * scale) + 2.0)
    return float(np.sum(numbers**2 * _rounded(numbers, scale)))


def fourth_cumulant(law: str, scale: float) -> float:
    """Return the fourth cumulant of one cell's noise: its fourth moment less three times the square of its variance.

    Laplace, as the difference of two geometric numbers with ``r = exp(-1/scale)``: ``2 r (1 + 4 r + r^2) / (1 - r)^4``. A
    rounded Gaussian number has next to none.

    Examples
    --------
    >>> round(fourth_cumulant("laplace", 4.0) / variance("laplace", 4.0) ** 2, 2)
    3.03
    """
    if law != "laplace":
        return 0.0
    ratio = math.exp(-1.0 / scale)
    return 2.0 * ratio * (1.0 + 4.0 * ratio + ratio**2) / (1.0 - ratio) ** 4


def characteristic(law: str, scale: float, frequencies: Array) -> Array:
    """Return the mean of ``cos(t Z)``: the characteristic function, real because the laws are symmetric.

    Laplace, with ``r = exp(-1/scale)``: ``(1 - r)^2 / (1 - 2 r cos t + r^2)``. Rounded Gaussian: the sum over
    whole numbers, or, by Poisson's formula, that of the characteristic functions of a normal number plus a uniform one
    of width 1 around every multiple of ``2 pi``.

    Examples
    --------
    >>> characteristic("laplace", 4.0, np.array([0.0, 0.1])).round(3)
    array([1.   , 0.863])
    """
    if law == "laplace":
        ratio = math.exp(-1.0 / scale)
        # 1 - 2 r cos t + r^2 = (1 - r)^2 + 4 r sin^2(t / 2): no cancellation for wide noise.
        return np.asarray((1.0 - ratio) ** 2 / ((1.0 - ratio) ** 2 + 4.0 * ratio * np.sin(0.5 * frequencies) ** 2))
    if scale < _WIDE:
        numbers = np.arange(-9.0, 10.0)
        chances = zip(numbers, _rounded(numbers, scale), strict=True)
        return np.asarray(sum(chance * np.cos(number * frequencies) for number, chance in chances))
    near = np.remainder(frequencies + math.pi, 2.0 * math.pi) - math.pi
    waves = (near + 2.0 * math.pi * wave for wave in range(-2, 3))
    return np.asarray(sum(np.exp(-0.5 * (scale * each) ** 2) * np.sinc(each / (2.0 * math.pi)) for each in waves))


def _rounded(numbers: Array, scale: float) -> Array:
    """Return the chances that a normal number of this deviation is rounded to these."""
    return np.asarray(ndtr((numbers + 0.5) / scale) - ndtr((numbers - 0.5) / scale))
