"""The curve of C3 by Fourier transforms, in doubles: quick, for searches. No claim rests on it.

`certify.sampled` composes the same losses in whole numbers, where nothing is measured.
"""

import math
from bisect import bisect_left
from functools import lru_cache
from typing import Any

import numpy as np
import scipy  # its parts are loaded where they are used first: `equipoise verify` uses few

from equipoise.certify.curves import GaussianCurve
from equipoise.certify.sampled import LARGEST_MULTIPLIER, MOST_STEPS, SMALLEST_MULTIPLIER

# The grid's interval is a fortieth of one step's root mean square loss, or coarser where one step would take more dots
# than this, or all steps together some 17 times as many intervals. `rough` allows so many times fewer.
FINENESS, MOST_DOTS = 40, 2**17
# What the grid leaves out: losses above it count as infinite; those below it as its lower end, a relative error.
LOST_ABOVE, LOST_BELOW = 1e-15, 1e-5
# Masses are multiplied by exp(tilt loss) before they are composed, so that rounding is relative to a small delta (N11).
TILTS = 0.0, *(math.pow(2.0, half / 2) for half in range(-8, 25))
# Rounding, as measured: of the profile, relative; of a mass of the grid; and of a Fourier coefficient.
PROFILE_ROUNDING, MASS_ROUNDING, FOURIER_ROUNDING = 2.0**-43, 2.0**-38, 2.0**-49


def estimated_delta(noise_multiplier: float, share: float, steps: int, epsilon: float, rough: int = 1) -> float:
    """Return what `SampledGaussianCurve` says at epsilon, up to a few thousandths where it is not rough.

    Examples
    --------
    >>> f"{estimated_delta(1.0, 0.01, 100, 1.0):.2e}"
    '9.87e-07'
    """
    whole = GaussianCurve(math.sqrt(steps) / noise_multiplier).delta(epsilon)
    simple = whole if share == 1.0 else min(whole, -math.expm1(steps * math.log1p(-share)))
    composes = SMALLEST_MULTIPLIER <= noise_multiplier <= LARGEST_MULTIPLIER and steps <= MOST_STEPS
    if share == 1.0 or not composes:
        return simple
    run = noise_multiplier, share, steps
    return min(simple, delta_of_losses(*run, tilt_for(*run, epsilon, rough), epsilon, rough))


def tilt_for(noise_multiplier: float, share: float, steps: int, epsilon: float, rough: int = 1) -> float:
    """Return the largest tilt at which the mean loss of all steps is below epsilon."""

    def mean(tilt: float) -> float:
        losses, masses, _ = tilted(noise_multiplier, share, steps, tilt, rough)
        return steps * float(losses @ masses)

    return TILTS[max(bisect_left(TILTS, epsilon, key=mean) - 1, 0)]


def delta_of_losses(
    noise_multiplier: float, share: float, steps: int, tilt: float, epsilon: float, rough: int = 1
) -> float:
    """Return delta at epsilon of all steps' losses, composed under a tilt, with measured rounding (N11)."""
    losses, masses, log_mass, error = composed(noise_multiplier, share, steps, tilt, rough)
    beyond = np.maximum(losses - epsilon, 0.0)
    counted = float(-np.expm1(-beyond) * np.exp(-tilt * beyond) @ masses)
    # No loss has a larger weight than 1/(1 + tilt).
    tail = max(counted, 0.0) * (1 + steps * MASS_ROUNDING) + error / (1 + tilt)
    infinite = -math.expm1(steps * math.log1p(-one_step(noise_multiplier, share, steps, rough)[2]))
    return math.exp(min(log_mass - tilt * epsilon, 700.0)) * tail + infinite


@lru_cache(maxsize=8)
def composed(
    noise_multiplier: float, share: float, steps: int, tilt: float, rough: int
) -> tuple[Any, Any, float, float]:
    """Return the losses of all steps, their masses under a tilt, the logarithm of what those stand for, and an error.

    dp-accounting composes; its errors are proportional to the Euclidean norm of one step's masses.
    """
    from dp_accounting.pld import common  # type: ignore[import-untyped]  # slow to load

    _, masses, log_mass = tilted(noise_multiplier, share, steps, tilt, rough)
    # Its Chernoff bounds pass over what overflows.
    with np.errstate(over="ignore"):
        first, together = common.self_convolve(masses, steps, LOST_ABOVE)
    interval, lowest, _ = _grid(noise_multiplier, share, steps, rough)
    sums = (np.arange(len(together)) + (first + steps * lowest)) * interval
    rounding = (steps + 16) * (1 / 8 + float(np.linalg.norm(masses))) * FOURIER_ROUNDING
    return sums, together, steps * log_mass, LOST_ABOVE + rounding


def tilted(noise_multiplier: float, share: float, steps: int, tilt: float, rough: int) -> tuple[Any, Any, float]:
    """Return one step's losses, their masses times exp(tilt loss) as shares of the sum, and the sum's logarithm."""
    losses, masses, _ = one_step(noise_multiplier, share, steps, rough)
    weights = masses * np.exp(tilt * (losses - losses[-1]))
    total = float(weights.sum())
    return losses, weights / total, math.log(total) + tilt * losses[-1]


@lru_cache(maxsize=8)
def one_step(noise_multiplier: float, share: float, steps: int, rough: int) -> tuple[Any, Any, float]:
    """Return one step's losses, their masses and what counts as infinite, on a grid that suits `steps` of them."""
    interval, lowest, highest = _grid(noise_multiplier, share, steps, rough)
    losses = np.arange(lowest, highest + 1) * interval
    values = np.minimum.accumulate(profile(losses, noise_multiplier, share))
    rises = np.diff(values)
    # The bends of the straight lines that join the dots, each times exp(loss); none is negative but for rounding.
    left = np.append(1 - values[0], rises / math.expm1(-interval))
    right = np.append(rises / math.expm1(interval), 0.0)
    return losses, np.maximum(left + right, 0.0), float(values[-1])


def profile(losses: Any, noise_multiplier: float, share: float) -> Any:
    """Return one step's profile at an array of losses, none of them negative infinity.

    With ``x = E z - 1/(2 z)`` at ``E = ln(1 + (exp(|e|) - 1)/q)``, delta_G is ``phi(x) (M(x) - M(x + 1/z))`` where phi
    is the normal density and M Mills' ratio: one difference without cancellation between large terms.
    """
    size = np.abs(losses)
    with np.errstate(over="ignore"):  # the profile is 0 there
        point = np.log1p(np.expm1(size) / share) * noise_multiplier - 0.5 / noise_multiplier
    ends = scipy.special.erfcx(point / math.sqrt(2)), scipy.special.erfcx((point + 1 / noise_multiplier) / math.sqrt(2))
    mills = (ends[0] - ends[1]) / 2
    positive = share * np.exp(-point * point / 2) * mills * (1 + PROFILE_ROUNDING * (1 + noise_multiplier))
    # expm1: the naive 1 - exp(e) would lose the digits that composition amplifies.
    negative = (-np.expm1(-size) + np.exp(-size) * positive) * (1 + 2**-50)
    return np.minimum(1.0, np.where(losses >= 0, positive, negative))


def _grid(noise_multiplier: float, share: float, steps: int, rough: int = 1) -> tuple[float, int, int]:
    """Return the interval of the losses' grid and the numbers of its first and last dot, from public numbers alone."""
    mu = 1 / noise_multiplier

    def loss(exponent: Any) -> Any:
        return np.logaddexp(math.log1p(-share), math.log(share) + np.maximum(exponent, 0.0))

    # P(X > loss(E)) = q Phi(mu/2 - E/mu) + (1 - q) Phi(-mu/2 - E/mu) for one step's loss X; P(X < -loss(E)) = that Phi.
    exponents = np.linspace(0.0, mu * mu / 2 + 12 * mu, 4001)
    near, far = scipy.special.ndtr(mu / 2 - exponents / mu), scipy.special.ndtr(-mu / 2 - exponents / mu)
    spread = math.sqrt(np.trapezoid(share * near + (2 - share) * far, loss(exponents) ** 2))
    left = float(loss(-mu * mu / 2 - mu * scipy.special.ndtri(LOST_BELOW / steps)))
    right = float(loss(mu * mu / 2 - mu * scipy.special.ndtri(min(0.5, LOST_ABOVE / (steps * share)))))
    # dp-accounting looks for its window with tilts of at least one over the grid's length.
    right = max(right, spread * math.sqrt(steps) / 8)
    most = MOST_DOTS // rough
    interval = max(spread / FINENESS, (left + right) / most, spread * math.sqrt(steps) / most)
    return interval, -math.ceil(left / interval) - 1, math.ceil(right / interval) + 1
