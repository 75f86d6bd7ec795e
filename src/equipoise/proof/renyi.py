"""C3 by Renyi divergences: a curve for more noisy steps than a grid of losses can follow, looser and never too low."""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from equipoise.proof.curves import Curve

Array = NDArray[np.float64]

# Orders of the divergence that are tried, and the cells of the integral over exponents.
ORDERS = tuple(1 + 2.0 ** (half / 2) for half in range(-4, 25))
CELLS = 4000


@dataclass(frozen=True, slots=True)
class RenyiSampledCurve(Curve):
    """The curve of `steps` noisy gradients of secret batches with the `share` q of the rows, by Renyi divergences (C3).

    Of order a, one step has divergence at most ``ln(1 + a (a - 1) q^2 I) / (a - 1)`` with ``I`` the integral over
    g >= 1 of ``(g'^(a-2) + g'^(-a-1)) delta_G(ln g; 1/z)``, ``g' = 1 + q (g - 1)``; divergences add up over steps.

    Examples
    --------
    >>> RenyiSampledCurve(5.0, share=1e-3, steps=10**6).delta(1.0) < 1e-5
    True
    """

    noise_multiplier: float
    share: float
    steps: int

    def delta(self, epsilon: float) -> float:
        """Return the least delta over the orders: ``exp((a-1)(D - epsilon)) (1 - 1/a)^(a-1) / a`` (Canonne et al.)."""
        found = 0.0
        for order in ORDERS:
            divergence = self.steps * one_step(self.noise_multiplier, self.share, order)
            exponent = (order - 1) * (divergence - epsilon + math.log1p(-1 / order)) - math.log(order)
            found = min(found, exponent)
        return min(1.0, math.exp(found) * (1 + 1e-9))


def best_order(noise_multiplier: float, share: float, steps: int, epsilon: float) -> float:
    """Return the order with the least delta at epsilon."""

    def exponent(order: float) -> float:
        divergence = steps * one_step(noise_multiplier, share, order)
        return (order - 1) * (divergence - epsilon + math.log1p(-1 / order)) - math.log(order)

    return min(ORDERS, key=exponent)


@lru_cache(maxsize=4096)
def one_step(noise_multiplier: float, share: float, order: float) -> float:
    """Return an upper bound on the Renyi divergence of one step: every cell of the integral counts its larger end."""
    mu = 1 / noise_multiplier
    end = mu * mu * (order + 1) + mu * math.sqrt(2 * 745 + (mu * order) ** 2)
    exponents = np.linspace(0.0, end, CELLS + 1)
    lower, upper = exponents[:-1], exponents[1:]
    # Too large an order for so little noise overflows, and says nothing.
    with np.errstate(over="ignore", invalid="ignore"):
        # g' at both ends; the profile falls, so its lower end counts.
        rise_low, rise_high = (np.log1p(share * np.expm1(side)) for side in (lower, upper))
        first, second = log_ndtr(mu / 2 - lower / mu), lower + log_ndtr(-mu / 2 - lower / mu)
        profile = np.maximum(0.0, np.exp(first) * (1 + 1e-12) - np.exp(second) * (1 - 1e-12))
        steeper = np.maximum((order - 2) * rise_low, (order - 2) * rise_high)
        powers = np.exp(steeper) + np.exp(-(order + 1) * rise_low)
        integral = float(((np.exp(upper) - np.exp(lower)) * powers * profile).sum()) * (1 + 1e-9)
        # Beyond the end the integrand, at most 2 g^max(a-1, 1) Phi(mu/2 - ln g/mu) for each exponent, falls faster than
        # exp(-3/2 ln g): what is left is below its value there.
        integral += 2 * float(np.exp(max(order - 1, 1.0) * end + log_ndtr(mu / 2 - end / mu)))
    if not math.isfinite(integral):
        return math.inf
    return math.log1p(order * (order - 1) * share**2 * integral) / (order - 1) * (1 + 1e-12)


def renyi_multiplier(epsilon: float, delta: float, share: float, steps: int) -> float:
    """Return the smallest noise multiplier, up to a thousandth, whose Renyi curve meets the budget.

    Examples
    --------
    >>> round(renyi_multiplier(1.0, 1e-6, 1e-3, 10**6), 2)
    4.96
    """

    def meets(multiplier: float) -> bool:
        return RenyiSampledCurve(multiplier, share, steps).delta(epsilon) <= delta

    low = high = 1.0
    while not meets(high):
        low, high = high, 2 * high
    while meets(low):
        low, high = low / 2, low
    while high > low * 1.001:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if meets(middle) else (middle, high)
    return high
