"""Marginals of laws of noise, as arrays: how likely one coordinate lies where (docs/proofs/F2.md)."""

import math

import numpy as np
import scipy  # its parts are loaded where they are used first: `equipoise verify` uses few
from numpy.typing import NDArray

Array = NDArray[np.float64]

# The trapezoid rule for the spherical law: nodes in units of the width of the integrand's peak. The integrand is
# analytic in a strip and decays at both ends, so that the rule is wrong by less than doubles show (docs/proofs/F2.md).
STEP = 0.25
NODES = np.arange(-45.0, 12.0 + STEP / 2, STEP)
# From here on Stirling's series is exact to the last digit, where log Gamma would cancel.
STIRLING = 30.0
# Gauss and Legendre's points and weights on [0, 1]: wrong by less than 1e-15 for the hazard of the normal law over at
# most one deviation, since its poles are more than three deviations away (docs/proofs/F2.md).
POINTS, SHARES = (np.polynomial.legendre.leggauss(8)[0] + 1) / 2, np.polynomial.legendre.leggauss(8)[1] / 2


def spherical(places: Array, widths: Array | None, dimension: int) -> Array:
    """Return ``P[z < k_1]``, or ``P[z < k_1 < z + u]``, under the density proportional to ``exp(-||k||)`` in d numbers.

    One coordinate is normal with variance ``2 g``, g Gamma with shape ``a = (d + 1)/2`` (D1). With ``g = e^v`` the
    integrand is ``exp(a v - e^v) Phi(-z / sqrt(2 e^v)) / Gamma(a)``, whose peak is near ``e^v = (a + h)/2`` and has the
    width ``1/sqrt(h)``, ``h = sqrt(a^2 + z^2)``. Every term is positive, and differences of large numbers are written
    out, so that small probabilities keep their digits.
    """
    shape = (dimension + 1) / 2
    curvature = np.hypot(shape, places)
    # (e^v - a)/a at the peak: half of (h - a)/a.
    excess = places * places / (2 * shape * (curvature + shape))
    height = shape * (np.log1p(excess) - excess) + _log_gamma_gap(shape) - np.log(curvature) / 2
    steps = NODES / np.sqrt(curvature)[:, None]
    # Beyond this the integrand has vanished in any case.
    growth = np.expm1(np.minimum(steps, 700.0))
    peak = (shape * (1 + excess))[:, None]
    with np.errstate(over="ignore"):
        exponents = shape * steps - peak * growth
        deviations = np.sqrt(2 * peak * np.exp(steps))
    near = places[:, None] / deviations
    normal = scipy.special.log_ndtr(-near) if widths is None else log_between(near, widths[:, None] / deviations)
    values = np.exp(exponents + normal + height[:, None])
    return np.asarray(STEP * values.sum(axis=1))


def log_between(near: Array, width: Array) -> Array:
    """Return ``log P[z < N < z + u]`` of a standard normal for ``z, u >= 0``, exact where the interval is tiny as well.

    It is ``log Q(z) + log(1 - exp(-D))``, D the integral of the hazard ``phi/Q`` over the interval. Over a short one
    Gauss and Legendre's rule gives D, where a difference of logarithms would cancel.
    """
    upper = scipy.special.log_ndtr(-near)
    fall = np.array(upper - scipy.special.log_ndtr(-(near + width)))
    short = width <= 1
    first, length = near[short], width[short]
    # erfcx(x) = exp(x^2) erfc(x): the hazard at t is sqrt(2/pi) / erfcx(t/sqrt(2)).
    hazard = math.sqrt(2 / math.pi) / scipy.special.erfcx((first[:, None] + length[:, None] * POINTS) / math.sqrt(2))
    fall[short] = length * (hazard @ SHARES)
    with np.errstate(divide="ignore"):
        return np.asarray(upper + np.log(-np.expm1(-fall)))


def _log_gamma_gap(shape: float) -> float:
    """Return ``a log a - a - log Gamma(a)``."""
    if shape < STIRLING:
        return shape * math.log(shape) - shape - math.lgamma(shape)
    series = 1 / (12 * shape) - 1 / (360 * shape**3) + 1 / (1260 * shape**5)
    return math.log(shape / (2 * math.pi)) / 2 - series
