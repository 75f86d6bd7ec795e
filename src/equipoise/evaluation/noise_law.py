"""The known laws of noise on whole numbers: their variances and fourth cumulants."""

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

Array = NDArray[np.float64]


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

    Laplace, as the difference of two geometric numbers with ``r = exp(-1/scale)``: ``2 r (1 + 4 r + r^2) / (1 - r)^4``.
    A rounded Gaussian number has next to none.

    Examples
    --------
    >>> round(fourth_cumulant("laplace", 4.0) / variance("laplace", 4.0) ** 2, 2)
    3.03
    """
    if law != "laplace":
        return 0.0
    ratio = math.exp(-1.0 / scale)
    return 2.0 * ratio * (1.0 + 4.0 * ratio + ratio**2) / (1.0 - ratio) ** 4


def _rounded(numbers: Array, scale: float) -> Array:
    """Return the chances that a normal number of this deviation is rounded to these."""
    return np.asarray(ndtr((numbers + 0.5) / scale) - ndtr((numbers - 0.5) / scale))
