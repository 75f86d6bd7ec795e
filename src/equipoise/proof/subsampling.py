"""C3: the privacy curve of noisy mini-batch gradients, each on a fresh secret batch drawn without replacement."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import erfcx, ndtr, ndtri

from equipoise.errors import BudgetImpossible, InvalidParameter
from equipoise.proof.curves import Curve, GaussianCurve, largest_mu

Array = NDArray[np.float64]

# Below this multiplier a batch with the row gives the row away, and the chance of ever drawing the row is the curve.
# With a larger multiplier or more steps than these rounding hides what sampling gains.
SMALLEST_MULTIPLIER, LARGEST_MULTIPLIER, MOST_STEPS = 1 / 16, 1e6, 10**8
# The grid's interval is a fortieth of one step's root mean square loss (docs/proofs/C3.md: below 1 % of delta), or
# coarser where one step would take more dots than this, or all steps together some 17 times as many intervals.
FINENESS, MOST_DOTS = 40, 2**17
# What the grid leaves out: losses above it count as infinite; those below it as its lower end, a relative error.
LOST_ABOVE, LOST_BELOW = 1e-15, 1e-5
# Rounding: of the profile, relative; of a mass of the grid; and of a Fourier coefficient (docs/proofs/C3.md).
PROFILE_ROUNDING, MASS_ROUNDING, FOURIER_ROUNDING = 2.0**-43, 2.0**-38, 2.0**-49
# How far `smallest_multiplier` may stay above the smallest one: about three times this, relative.
PRECISION = 2e-4


@dataclass(frozen=True, slots=True)
class SampledGaussianCurve(Curve):
    """The curve of `steps` noisy gradients, each of a batch with the `share` q = b/n of the rows (C3), never too low.

    `noise_multiplier` is ``z = sigma / sensitivity``, where the sensitivity is the largest distance of the mean
    gradients of two batches of b rows that differ in one row: 2C/b for gradients clipped at C, not C/b. One step
    composes from the profile

    ``h(e) = q delta_G(ln(1 + (exp(e) - 1)/q); 1/z)`` for e >= 0, ``1 - exp(e) + exp(e) h(-e)`` for e < 0,

    which covers both directions of replacing a row; delta_G is the profile of `GaussianCurve`.

    Examples
    --------
    >>> curve = SampledGaussianCurve(1.0, share=0.01, steps=100)
    >>> f"{curve.delta(1.0):.2e}", f"{GaussianCurve(math.sqrt(100) / 1.0).delta(1.0):.2e}"
    ('9.87e-07', '1.00e+00')
    """

    noise_multiplier: float
    share: float
    steps: int

    def __post_init__(self) -> None:
        """Refuse what is no run of noisy gradients."""
        if not (0 < self.noise_multiplier < math.inf and 0 < self.share <= 1 and _is_count(self.steps)):
            allowed = "a positive noise multiplier, a share in (0, 1] and a whole number of steps, at least 1"
            raise InvalidParameter(allowed, repr(self), "pass such numbers")

    def delta(self, epsilon: float) -> float:
        """Return a delta that holds: the smallest of the composition's, that of all rows, and the chance of a draw."""
        whole = GaussianCurve(math.sqrt(self.steps) / self.noise_multiplier * (1 + 2**-51)).delta(epsilon)
        if self.share == 1.0:
            return whole
        drawn = -math.expm1(self.steps * math.log1p(-self.share)) * (1 + 1e-15)
        simple = min(whole, drawn)
        if not SMALLEST_MULTIPLIER <= self.noise_multiplier <= LARGEST_MULTIPLIER or self.steps > MOST_STEPS:
            return simple
        # The Euclidean norm of one step's masses, to which the error of a Fourier transform is proportional.
        norm = 1 / 8 + math.erf(1 / (math.sqrt(8) * self.noise_multiplier))
        relative, absolute = 1 + self.steps * MASS_ROUNDING, (self.steps + 16) * norm * FOURIER_ROUNDING
        if simple <= absolute:
            return simple
        losses = composed(self.noise_multiplier, self.share, self.steps)
        return min(simple, max(0.0, float(losses.get_delta_for_epsilon(epsilon))) * relative + absolute)


@lru_cache(maxsize=1024)
def smallest_multiplier(epsilon: float, delta: float, share: float, steps: int) -> float:
    """Return the smallest noise multiplier, up to 0.1 %, whose own `SampledGaussianCurve` is within the budget.

    Never less than 1/16.

    Examples
    --------
    >>> multiplier = smallest_multiplier(1.0, 1e-5, share=0.01, steps=100)
    >>> round(multiplier, 2), SampledGaussianCurve(multiplier, 0.01, 100).delta(1.0) <= 1e-5
    (0.92, True)
    """
    if not (0 <= epsilon < math.inf and 0 < delta < 1):
        raise InvalidParameter("epsilon >= 0 and delta in (0, 1)", f"{epsilon=}, {delta=}", "pass such a budget")
    SampledGaussianCurve(1.0, share, steps)
    mu = largest_mu(epsilon, delta)
    if mu == 0.0:
        raise BudgetImpossible("noisy gradients within the budget", f"{epsilon=}, {delta=}", "allow a larger delta")

    def excess(logarithm: float) -> float:
        curve = SampledGaussianCurve(math.exp(logarithm), share, steps)
        return math.log(curve.delta(epsilon) / delta)

    # A normal law with mu = share sqrt(steps (exp(1/z^2) - 1)) is the limit of many steps.
    floor, stride = math.log(SMALLEST_MULTIPLIER), 0.1
    low = high = max(floor, -math.log(math.log1p((mu / share) ** 2 / steps)) / 2)
    while excess(high) > 0:
        low, high, stride = high, high + stride, 2 * stride
    while excess(low) <= 0:
        if low == floor:
            return math.exp(floor)
        low, high, stride = max(floor, low - stride), low, 2 * stride
    root = float(brentq(excess, low, high, xtol=PRECISION))
    while excess(root) > 0:
        root += PRECISION
    return math.exp(root)


@lru_cache(maxsize=8)
def composed(noise_multiplier: float, share: float, steps: int) -> Any:
    """Return dp-accounting's distribution of the losses of all steps, on the pessimistic side but for rounding."""
    # Its Chernoff bounds pass over what overflows.
    with np.errstate(over="ignore"):
        return one_step(noise_multiplier, share, steps).self_compose(steps, tail_mass_truncation=LOST_ABOVE)


def one_step(noise_multiplier: float, share: float, steps: int) -> Any:
    """Return dp-accounting's distribution of one step's loss, on a grid that suits the composition of `steps`."""
    # Imported here because it takes seconds.
    from dp_accounting.pld import pld_pmf, privacy_loss_distribution  # type: ignore[import-untyped]

    interval, lowest, highest = _grid(noise_multiplier, share, steps)
    dots = np.arange(lowest, highest + 1)
    values = profile(dots.astype(np.float64) * interval, noise_multiplier, share)
    masses = pld_pmf.create_pmf_pessimistic_connect_dots(interval, dots, values)
    # Dense from the start: a sparse one composed once would not be cut off as the others are.
    return privacy_loss_distribution.PrivacyLossDistribution(masses.to_dense_pmf())


def profile(losses: Array, noise_multiplier: float, share: float) -> Array:
    """Return one step's profile at these losses, none of them negative infinity, rounded up.

    With ``x = E z - 1/(2 z)`` at ``E = ln(1 + (exp(|e|) - 1)/q)``, delta_G is ``phi(x) (M(x) - M(x + 1/z))`` where phi
    is the normal density and M Mills' ratio: one difference without cancellation between large terms.
    """
    size = np.abs(losses)
    with np.errstate(over="ignore"):  # the profile is 0 there
        point = np.log1p(np.expm1(size) / share) * noise_multiplier - 0.5 / noise_multiplier
    mills = (erfcx(point / math.sqrt(2)) - erfcx((point + 1 / noise_multiplier) / math.sqrt(2))) / 2
    positive = share * np.exp(-point * point / 2) * mills * (1 + PROFILE_ROUNDING * (1 + noise_multiplier))
    # expm1: the naive 1 - exp(e) would lose the digits that composition amplifies.
    negative = (-np.expm1(-size) + np.exp(-size) * positive) * (1 + 2**-50)
    values: Array = np.minimum(1.0, np.where(losses >= 0, positive, negative))
    return values


def _grid(noise_multiplier: float, share: float, steps: int) -> tuple[float, int, int]:
    """Return the interval of the losses' grid and the numbers of its first and last dot, from public numbers alone."""
    mu = 1 / noise_multiplier

    def loss(exponent: Array) -> Array:
        return np.logaddexp(math.log1p(-share), math.log(share) + np.maximum(exponent, 0.0))

    # P(X > loss(E)) = q Phi(mu/2 - E/mu) + (1 - q) Phi(-mu/2 - E/mu) for one step's loss X; P(X < -loss(E)) = that Phi.
    exponents = np.linspace(0.0, mu * mu / 2 + 12 * mu, 4001)
    near, far = ndtr(mu / 2 - exponents / mu), ndtr(-mu / 2 - exponents / mu)
    spread = math.sqrt(np.trapezoid(share * near + (2 - share) * far, loss(exponents) ** 2))
    left = float(loss(-mu * mu / 2 - mu * ndtri(LOST_BELOW / steps)))
    right = float(loss(mu * mu / 2 - mu * ndtri(min(0.5, LOST_ABOVE / (steps * share)))))
    # dp-accounting looks for its window with tilts of at least one over the grid's length.
    right = max(right, spread * math.sqrt(steps) / 8)
    interval = max(spread / FINENESS, (left + right) / MOST_DOTS, spread * math.sqrt(steps) / MOST_DOTS)
    return interval, -math.ceil(left / interval) - 1, math.ceil(right / interval) + 1


def _is_count(steps: int) -> bool:
    return isinstance(steps, int) and not isinstance(steps, bool) and steps >= 1
