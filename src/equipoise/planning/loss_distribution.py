"""C3: the privacy curve of noisy mini-batch gradients, each on a fresh secret batch drawn without replacement."""

import math
from bisect import bisect_left
from functools import lru_cache
from typing import Any

from equipoise.errors import InvalidParameter, MissingExtra
from equipoise.certify.curves import Curve, GaussianCurve, log_normal

# Below this multiplier a batch with the row gives the row away, and the chance of ever drawing the row is the curve.
# With a larger multiplier or more steps than these rounding hides what sampling gains.
SMALLEST_MULTIPLIER, LARGEST_MULTIPLIER, MOST_STEPS = 1 / 16, 1e6, 10**8
# The grid's interval is a fortieth of one step's root mean square loss (docs/proofs/C3.md: below 1 % of delta), or
# coarser where one step would take more dots than this, or all steps together some 17 times as many intervals.
FINENESS, MOST_DOTS = 40, 2**17
# What the grid leaves out: losses above it count as infinite; those below it as its lower end, a relative error.
LOST_ABOVE, LOST_BELOW = 1e-15, 1e-5
# Masses are multiplied by exp(tilt loss) before they are composed, so that rounding is relative to a small delta (N11).
TILTS = 0.0, *(math.pow(2.0, half / 2) for half in range(-8, 25))
# Rounding: of the profile, relative; of a mass of the grid; and of a Fourier coefficient (docs/proofs/C3.md).
PROFILE_ROUNDING, MASS_ROUNDING, FOURIER_ROUNDING = 2.0**-43, 2.0**-38, 2.0**-49

# The cells of the integral behind a Renyi divergence.
CELLS = 4000


class SampledGaussianCurve(Curve):
    """The curve of `steps` noisy gradients, each of a batch with the `share` q = b/n of the rows (C3), never too low.

    `noise_multiplier` is ``z = sigma / sensitivity``, where the sensitivity is the largest distance of the mean
    gradients of two batches of b rows that differ in one row: 2C/b for gradients clipped at C, not C/b. One step
    composes from the profile

    ``h(e) = q delta_G(ln(1 + (exp(e) - 1)/q); 1/z)`` for e >= 0, ``1 - exp(e) + exp(e) h(-e)`` for e < 0,

    which covers both directions of replacing a row; delta_G is the profile of `GaussianCurve`. dp-accounting composes.

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
        whole = type(self.steps) is int and self.steps >= 1
        if not (0 < self.noise_multiplier < math.inf and 0 < self.share <= 1 and whole):
            allowed = "a positive noise multiplier, a share in (0, 1] and a whole number of steps, at least 1"
            raise InvalidParameter(allowed, repr(self), "pass such numbers")

    def at(self, epsilon: float) -> float:
        """Return a delta that holds: the smallest of the composition's, that of all rows, and the chance of a draw."""
        whole = GaussianCurve(math.sqrt(self.steps) / self.noise_multiplier * (1 + 2**-51)).delta(epsilon)
        if self.share == 1.0:
            return whole
        simple = min(whole, -math.expm1(self.steps * math.log1p(-self.share)) * (1 + 1e-15))
        if not SMALLEST_MULTIPLIER <= self.noise_multiplier <= LARGEST_MULTIPLIER or self.steps > MOST_STEPS:
            return simple
        run = self.noise_multiplier, self.share, self.steps
        return min(simple, delta_of_losses(*run, tilt_for(*run, epsilon), epsilon))


def _extra() -> Any:
    """Return dp-accounting and the arrays it works on: only a composed distribution of losses needs them."""
    try:
        import numpy
        import scipy.special
        from dp_accounting.pld import common  # type: ignore[import-untyped]
    except ImportError as error:
        how = 'pip install "equipoise-verify[composition]", or equipoise'
        raise MissingExtra("a composition of losses (C3)", f"{error.name} is not installed, {how}", how) from None
    return numpy, scipy.special, common


def tilt_for(noise_multiplier: float, share: float, steps: int, epsilon: float) -> float:
    """Return the largest tilt at which the mean loss of all steps is below epsilon: any is valid, it loses little."""

    def mean(tilt: float) -> float:
        losses, masses, _ = tilted(noise_multiplier, share, steps, tilt)
        return steps * float(losses @ masses)

    return TILTS[max(bisect_left(TILTS, epsilon, key=mean) - 1, 0)]


def delta_of_losses(noise_multiplier: float, share: float, steps: int, tilt: float, epsilon: float) -> float:
    """Return delta at epsilon of all steps' losses, composed under a tilt: an upper bound, rounding included (N11)."""
    numpy, *_ = _extra()
    losses, masses, log_mass, error = composed(noise_multiplier, share, steps, tilt)
    beyond = numpy.maximum(losses - epsilon, 0.0)
    counted = float(-numpy.expm1(-beyond) * numpy.exp(-tilt * beyond) @ masses)
    # No loss has a larger weight than 1/(1 + tilt).
    tail = max(counted, 0.0) * (1 + steps * MASS_ROUNDING) + error / (1 + tilt)
    infinite = -math.expm1(steps * math.log1p(-one_step(noise_multiplier, share, steps)[2]))
    return math.exp(min(log_mass - tilt * epsilon, 700.0)) * tail + infinite


@lru_cache(maxsize=8)
def composed(noise_multiplier: float, share: float, steps: int, tilt: float) -> tuple[Any, Any, float, float]:
    """Return the losses of all steps, their masses under a tilt, the logarithm of what those stand for, and an error.

    dp-accounting composes; its errors are proportional to the Euclidean norm of one step's masses.
    """
    numpy, _, common = _extra()
    _, masses, log_mass = tilted(noise_multiplier, share, steps, tilt)
    # Its Chernoff bounds pass over what overflows.
    with numpy.errstate(over="ignore"):
        first, together = common.self_convolve(masses, steps, LOST_ABOVE)
    interval, lowest, _ = _grid(noise_multiplier, share, steps)
    sums = (numpy.arange(len(together)) + (first + steps * lowest)) * interval
    rounding = (steps + 16) * (1 / 8 + float(numpy.linalg.norm(masses))) * FOURIER_ROUNDING
    return sums, together, steps * log_mass, LOST_ABOVE + rounding


def tilted(noise_multiplier: float, share: float, steps: int, tilt: float) -> tuple[Any, Any, float]:
    """Return one step's losses, their masses times exp(tilt loss) as shares of the sum, and the sum's logarithm."""
    numpy, *_ = _extra()
    losses, masses, _ = one_step(noise_multiplier, share, steps)
    weights = masses * numpy.exp(tilt * (losses - losses[-1]))
    total = float(weights.sum())
    return losses, weights / total, math.log(total) + tilt * losses[-1]


@lru_cache(maxsize=8)
def one_step(noise_multiplier: float, share: float, steps: int) -> tuple[Any, Any, float]:
    """Return one step's losses, their masses and what counts as infinite, on a grid that suits `steps` of them."""
    numpy, *_ = _extra()
    interval, lowest, highest = _grid(noise_multiplier, share, steps)
    losses = numpy.arange(lowest, highest + 1) * interval
    values = numpy.minimum.accumulate(profile(losses, noise_multiplier, share))
    rises = numpy.diff(values)
    # The bends of the straight lines that join the dots, each times exp(loss); none is negative but for rounding.
    left = numpy.append(1 - values[0], rises / math.expm1(-interval))
    right = numpy.append(rises / math.expm1(interval), 0.0)
    return losses, numpy.maximum(left + right, 0.0), float(values[-1])


def profile(losses: Any, noise_multiplier: float, share: float) -> Any:
    """Return one step's profile at an array of losses, none of them negative infinity, rounded up.

    With ``x = E z - 1/(2 z)`` at ``E = ln(1 + (exp(|e|) - 1)/q)``, delta_G is ``phi(x) (M(x) - M(x + 1/z))`` where phi
    is the normal density and M Mills' ratio: one difference without cancellation between large terms.
    """
    numpy, special, _ = _extra()
    size = numpy.abs(losses)
    with numpy.errstate(over="ignore"):  # the profile is 0 there
        point = numpy.log1p(numpy.expm1(size) / share) * noise_multiplier - 0.5 / noise_multiplier
    ends = special.erfcx(point / math.sqrt(2)), special.erfcx((point + 1 / noise_multiplier) / math.sqrt(2))
    mills = (ends[0] - ends[1]) / 2
    positive = share * numpy.exp(-point * point / 2) * mills * (1 + PROFILE_ROUNDING * (1 + noise_multiplier))
    # expm1: the naive 1 - exp(e) would lose the digits that composition amplifies.
    negative = (-numpy.expm1(-size) + numpy.exp(-size) * positive) * (1 + 2**-50)
    return numpy.minimum(1.0, numpy.where(losses >= 0, positive, negative))


def _grid(noise_multiplier: float, share: float, steps: int) -> tuple[float, int, int]:
    """Return the interval of the losses' grid and the numbers of its first and last dot, from public numbers alone."""
    numpy, special, _ = _extra()
    mu = 1 / noise_multiplier

    def loss(exponent: Any) -> Any:
        return numpy.logaddexp(math.log1p(-share), math.log(share) + numpy.maximum(exponent, 0.0))

    # P(X > loss(E)) = q Phi(mu/2 - E/mu) + (1 - q) Phi(-mu/2 - E/mu) for one step's loss X; P(X < -loss(E)) = that Phi.
    exponents = numpy.linspace(0.0, mu * mu / 2 + 12 * mu, 4001)
    near, far = special.ndtr(mu / 2 - exponents / mu), special.ndtr(-mu / 2 - exponents / mu)
    spread = math.sqrt(numpy.trapezoid(share * near + (2 - share) * far, loss(exponents) ** 2))
    left = float(loss(-mu * mu / 2 - mu * special.ndtri(LOST_BELOW / steps)))
    right = float(loss(mu * mu / 2 - mu * special.ndtri(min(0.5, LOST_ABOVE / (steps * share)))))
    # dp-accounting looks for its window with tilts of at least one over the grid's length.
    right = max(right, spread * math.sqrt(steps) / 8)
    interval = max(spread / FINENESS, (left + right) / MOST_DOTS, spread * math.sqrt(steps) / MOST_DOTS)
    return interval, -math.ceil(left / interval) - 1, math.ceil(right / interval) + 1


class RenyiSampledCurve(Curve):
    """The same curve by the Renyi divergence of one order: looser, for any number of steps, in plain arithmetic (C3).

    Of order a, one step has divergence at most ``ln(1 + a (a - 1) q^2 I) / (a - 1)`` with ``I`` the integral over
    g >= 1 of ``(g'^(a-2) + g'^(-a-1)) delta_G(ln g; 1/z)``, ``g' = 1 + q (g - 1)``; divergences add up over steps.

    Examples
    --------
    >>> RenyiSampledCurve(5.0, share=1e-3, steps=10**6, order=23.6).delta(1.0) < 1e-5
    True
    """

    noise_multiplier: float
    share: float
    steps: int
    order: float

    def at(self, epsilon: float) -> float:
        """Return ``exp((a-1)(D - epsilon)) (1 - 1/a)^(a-1) / a`` (Canonne et al.)."""
        divergence = self.steps * divergence_of_a_step(self.noise_multiplier, self.share, self.order)
        exponent = (self.order - 1) * (divergence - epsilon + math.log1p(-1 / self.order)) - math.log(self.order)
        return math.exp(exponent) * (1 + 1e-9) if exponent < 0 else 1.0


@lru_cache(maxsize=1024)
def divergence_of_a_step(noise_multiplier: float, share: float, order: float) -> float:
    """Return an upper bound on the Renyi divergence of one step: every cell of the integral counts its larger end.

    In logarithms, so that no order is too large for little noise (N11).
    """
    mu = 1 / noise_multiplier
    end = mu * mu * (order + 1) + mu * math.sqrt(2 * 745 + (mu * order) ** 2)
    # No logarithm below is larger than this, and each is wrong in its last digits.
    slack = max(1e-12, ((order + 1) * end + (end / mu) ** 2) * 2**-51)
    cells, lower, rise_low = [], 0.0, 0.0
    for cell in range(1, CELLS + 1):
        upper = end * cell / CELLS
        rise_high = upper + math.log(share + (1 - share) * math.exp(-upper))
        # The profile falls, so its lower end counts.
        near, far = log_normal(mu / 2 - lower / mu), lower + log_normal(-mu / 2 - lower / mu)
        height = near + math.log(1 + slack - math.exp(far - near) * (1 - slack))
        steeper, flatter = max((order - 2) * rise_low, (order - 2) * rise_high), -(order + 1) * rise_low
        powers = steeper + math.log1p(math.exp(flatter - steeper))
        cells.append(upper + math.log(-math.expm1(lower - upper)) + powers + height)
        lower, rise_low = upper, rise_high
    # Beyond the end the integrand, at most 2 g^max(a-1, 1) Phi(mu/2 - ln g/mu) for each exponent, falls faster than
    # exp(-3/2 ln g): what is left is below its value there.
    cells.append(math.log(2) + max(order - 1, 1.0) * end + log_normal(mu / 2 - end / mu))
    top = max(cells)
    factor = order * (order - 1) * share**2 * math.fsum(math.exp(cell - top) for cell in cells)
    exponent = top + math.log(factor) + max(1e-9, 2 * slack)
    return (math.log1p(math.exp(exponent)) if exponent < 700 else exponent + 1) / (order - 1) * (1 + 1e-12)
