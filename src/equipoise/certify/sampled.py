"""C3: the privacy curve of noisy mini-batch gradients, each on a fresh secret batch drawn without replacement."""

import math
from functools import lru_cache
from typing import Any

from ..errors import InvalidParameter, MissingExtra
from .curves import Curve, GaussianCurve, log_normal

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
        # The Euclidean norm of one step's masses, to which the error of a Fourier transform is proportional.
        norm = 1 / 8 + math.erf(1 / (math.sqrt(8) * self.noise_multiplier))
        relative, absolute = 1 + self.steps * MASS_ROUNDING, (self.steps + 16) * norm * FOURIER_ROUNDING
        if simple <= absolute:
            return simple
        losses = composed(self.noise_multiplier, self.share, self.steps)
        return min(simple, max(float(losses.get_delta_for_epsilon(epsilon)), 0.0) * relative + absolute)


def _extra() -> Any:
    """Return dp-accounting and the arrays it works on: only a composed distribution of losses needs them."""
    try:
        import numpy
        import scipy.special
        from dp_accounting.pld import pld_pmf, privacy_loss_distribution  # type: ignore[import-untyped]
    except ImportError as error:
        how = 'pip install "equipoise-verify[composition]", or equipoise'
        raise MissingExtra("a composition of losses (C3)", f"{error.name} is not installed, {how}", how) from None
    return numpy, scipy.special, pld_pmf, privacy_loss_distribution


@lru_cache(maxsize=8)
def composed(noise_multiplier: float, share: float, steps: int) -> Any:
    """Return dp-accounting's distribution of the losses of all steps, on the pessimistic side but for rounding."""
    # Its Chernoff bounds pass over what overflows.
    with _extra()[0].errstate(over="ignore"):
        return one_step(noise_multiplier, share, steps).self_compose(steps, tail_mass_truncation=LOST_ABOVE)


def one_step(noise_multiplier: float, share: float, steps: int) -> Any:
    """Return dp-accounting's distribution of one step's loss, on a grid that suits the composition of `steps`."""
    numpy, _, pld_pmf, privacy_loss_distribution = _extra()
    interval, lowest, highest = _grid(noise_multiplier, share, steps)
    dots = numpy.arange(lowest, highest + 1)
    values = profile(dots * interval, noise_multiplier, share)
    masses = pld_pmf.create_pmf_pessimistic_connect_dots(interval, dots, values)
    # Dense from the start: a sparse one composed once would not be cut off as the others are.
    return privacy_loss_distribution.PrivacyLossDistribution(masses.to_dense_pmf())


def profile(losses: Any, noise_multiplier: float, share: float) -> Any:
    """Return one step's profile at an array of losses, none of them negative infinity, rounded up.

    With ``x = E z - 1/(2 z)`` at ``E = ln(1 + (exp(|e|) - 1)/q)``, delta_G is ``phi(x) (M(x) - M(x + 1/z))`` where phi
    is the normal density and M Mills' ratio: one difference without cancellation between large terms.
    """
    numpy, special, *_ = _extra()
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
    numpy, special, *_ = _extra()
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
    """Return an upper bound on the Renyi divergence of one step: every cell of the integral counts its larger end."""
    mu = 1 / noise_multiplier
    end = mu * mu * (order + 1) + mu * math.sqrt(2 * 745 + (mu * order) ** 2)
    total, lower, rise_low = [], 0.0, 0.0
    try:
        for cell in range(1, CELLS + 1):
            upper = end * cell / CELLS
            rise_high = math.log1p(share * math.expm1(upper))
            # The profile falls, so its lower end counts.
            near, far = log_normal(mu / 2 - lower / mu), lower + log_normal(-mu / 2 - lower / mu)
            height = max(math.exp(near) * (1 + 1e-12) - math.exp(far) * (1 - 1e-12), 0.0)
            steeper = math.exp(max((order - 2) * rise_low, (order - 2) * rise_high))
            powers = steeper + math.exp(-(order + 1) * rise_low)
            total.append(math.exp(lower) * math.expm1(upper - lower) * powers * height)
            lower, rise_low = upper, rise_high
        # Beyond the end the integrand, at most 2 g^max(a-1, 1) Phi(mu/2 - ln g/mu) for each exponent, falls faster than
        # exp(-3/2 ln g): what is left is below its value there.
        rest = 2 * math.exp(max(order - 1, 1.0) * end + log_normal(mu / 2 - end / mu))
    except OverflowError:  # too large an order for so little noise says nothing
        return math.inf
    integral = math.fsum(total) * (1 + 1e-9) + rest
    return math.log1p(order * (order - 1) * share**2 * integral) / (order - 1) * (1 + 1e-12)
