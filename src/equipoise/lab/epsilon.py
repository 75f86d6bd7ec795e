"""The epsilon that Gaussian noise would give: by the paper's formula, and by the exact curve."""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_ndtr

from equipoise.errors import InvalidParameter
from equipoise.lab.estimate import Array


def gaussian_factor(delta: float) -> float:
    """Return the paper's ``c = sqrt(2 ln(1.25 / delta))``; its listings print ``sqrt(2 ln(1.25) / delta)``, a misprint.

    Examples
    --------
    >>> [round(gaussian_factor(1 / n), 2) for n in (10397, 378783, 29305)]
    [4.35, 5.11, 4.58]
    """
    if not 0 < delta < 1:
        raise InvalidParameter("a delta above 0 and below 1", repr(delta), "pass delta=1/n_samples")
    return math.sqrt(2 * math.log(1.25 / delta))


def quotient(sensitivity: ArrayLike, sigma: ArrayLike) -> Array:
    """Return ``mu = Delta / sigma``: without noise any difference shows, and no difference shows nothing.

    Examples
    --------
    >>> quotient([0.0, 1.0, 1.0], [0.0, 0.0, 2.0]).tolist()
    [0.0, inf, 0.5]
    """
    above, below = np.broadcast_arrays(np.asarray(sensitivity, np.float64), np.asarray(sigma, np.float64))
    if not ((above >= 0).all() and (below >= 0).all()):
        raise InvalidParameter("a sensitivity and a sigma from 0 up", "a negative or missing one", "pass positive ones")
    return np.asarray(np.divide(above, below, out=np.where(above > 0, math.inf, 0.0), where=below > 0))


def paper_epsilon(mu: Array, delta: float) -> Array:
    """Return ``c mu`` for each mu."""
    return np.asarray(gaussian_factor(delta) * mu)


def gaussian_epsilon(mu: Array, delta: float) -> Array:
    """Return the root of the Gaussian curve (D3) for each mu, by bisection; the curve itself is in `certify.curves`."""
    gaussian_factor(delta)
    found = np.where(np.isinf(mu), math.inf, 0.0)
    some = np.isfinite(mu) & (mu > 0)
    ratio = mu[some]
    # From the tail bound Phi(-t) <= exp(-t^2 / 2): the root is not above `high`.
    low, high = np.zeros_like(ratio), ratio * (ratio / 2 + math.sqrt(-2 * math.log(delta)))
    for _ in range(64):
        middle = (low + high) / 2
        first = log_ndtr(ratio / 2 - middle / ratio)
        # Never above the first term; where both are huge numbers, rounding may say otherwise.
        second = np.minimum(first, middle + log_ndtr(-ratio / 2 - middle / ratio))
        excessive = np.exp(first) - np.exp(second) > delta
        low, high = np.where(excessive, middle, low), np.where(excessive, high, middle)
    # Where delta is met at 0 already, bisection ends at a number that is 0 but for its last halving.
    at_zero = np.exp(log_ndtr(ratio / 2)) - np.exp(log_ndtr(-ratio / 2)) <= delta
    found[some] = np.where(at_zero, 0.0, high)
    return found


def intrinsic_epsilon(sensitivity: float, sigma: float, delta: float) -> float:
    """Return the paper's intrinsic epsilon, ``c Delta / sigma``.

    The formula is a theorem for epsilon < 1 only, and the paper applies it up to 7.9; `intrinsic_epsilon_gaussian` is
    exact. Neither is a guarantee.

    Examples
    --------
    >>> round(intrinsic_epsilon(0.1641, 0.108, 1 / 29305), 2)
    6.97
    """
    return float(paper_epsilon(quotient(sensitivity, sigma), delta))


def intrinsic_epsilon_gaussian(sensitivity: float, sigma: float, delta: float) -> float:
    """Return the epsilon of Gaussian noise of that sigma by its exact curve (D3).

    Examples
    --------
    >>> round(intrinsic_epsilon_gaussian(0.1641, 0.108, 1 / 29305), 2)
    6.72
    """
    return float(gaussian_epsilon(np.atleast_1d(quotient(sensitivity, sigma)), delta)[0])
