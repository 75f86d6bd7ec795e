"""C3: the privacy curve of noisy mini-batch gradients, each on a fresh secret batch drawn without replacement.

Losses are composed in whole numbers: nothing in it is rounded but upwards, to the next unit.
"""

import math
from bisect import bisect_left, bisect_right
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, ROUND_UP, Context, Decimal, Inexact
from functools import lru_cache
from itertools import accumulate
from statistics import NormalDist

from ..errors import InvalidParameter
from ..vocabulary.facts import Record
from .curves import Curve, GaussianCurve, log_normal

# Below this multiplier a batch with the row gives the row away, and the chance of ever drawing the row is the curve.
# With a larger multiplier or more steps than these sampling gains little.
SMALLEST_MULTIPLIER, LARGEST_MULTIPLIER, MOST_STEPS = 1 / 16, 1e6, 10**8
# The root mean square of the losses so far is at least so many intervals of the finest grid (docs/proofs/C3.md: below
# 1 % of delta). A grid has so many dots on each side of 0, and the next one twice its interval.
FINENESS, DOTS, GRIDS = 160, 1400, 40
# What is left out, of all steps: the highest losses count as infinite; the lowest as higher ones, a relative error.
LOST_ABOVE, LOST_BELOW = 1e-17, 1e-7
# Masses are whole multiples of 10^-30. What a few operations on doubles may be wrong by, relative. Products of whole
# numbers of any length: exact, or an error is raised, whatever contexts the caller's program has.
DIGITS, UNIT, SLACK = 30, 10**30, 2.0**-48
EXACT = Context(MAX_PREC, ROUND_UP, MIN_EMIN, MAX_EMAX, capitals=1, clamp=0, flags=[], traps=[Inexact])

# The cells of the integral behind a Renyi divergence.
CELLS = 4000


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
        whole = type(self.steps) is int and 1 <= self.steps <= 10**18
        if not (0 < self.noise_multiplier < math.inf and 1e-20 <= self.share <= 1 and whole):
            allowed = "a positive noise multiplier, a share in [1e-20, 1] and a whole number of steps, 1 to 10^18"
            raise InvalidParameter(allowed, repr(self), "pass such numbers")

    def at(self, epsilon: float) -> float:
        """Return a delta that holds: the smallest of the composition's, that of all rows, and the chance of a draw."""
        whole = GaussianCurve(math.sqrt(self.steps) / self.noise_multiplier * (1 + 2**-51)).delta(epsilon)
        if self.share == 1.0:
            return whole
        simple = min(whole, -math.expm1(self.steps * math.log1p(-self.share)) * (1 + 4e-15))
        if not SMALLEST_MULTIPLIER <= self.noise_multiplier <= LARGEST_MULTIPLIER or self.steps > MOST_STEPS:
            return simple
        return min(simple, composed(self.noise_multiplier, self.share, self.steps).delta(epsilon))


class Losses(Record):
    """Masses in units at losses that are whole multiples of an interval, and the mass of the infinite loss (C3).

    Losses beyond ``2^k DOTS`` intervals are multiples of ``2^(k+1)`` of them: a grid for every size. What is done to
    losses makes no hockey-stick divergence smaller, and all masses together may exceed 1 a little.
    """

    interval: float
    masses: dict[int, int]
    infinite: int

    def grids(self) -> list[dict[int, int]]:
        """Return the masses of each grid, counted in its own intervals."""
        found = [dict[int, int]() for _ in range(GRIDS)]
        for place, mass in self.masses.items():
            level = (max(abs(place) - 1, 0) // DOTS).bit_length()
            dot, rest = divmod(place, 1 << level)
            assert not rest  # noqa: S101 - every loss is a multiple of what its size asks for
            found[level][dot] = mass
        return found

    def then(self, other: "Losses", part: float) -> "Losses":
        """Return the sums of a loss of each; of all that may be left out this part is left out here."""
        total, total_other = sum(self.masses.values()), sum(other.masses.values())
        infinite = self.infinite * (total_other + other.infinite) + total * other.infinite
        grids, twice = self.grids(), self is other
        masses, found, finer, finer_other = (dict[int, int]() for _ in range(4))
        for level, (grid, grid_other) in enumerate(zip(grids, grids if twice else other.grids(), strict=True)):
            # Pairs of which the coarser loss is of this grid; of losses with themselves, both orders at once.
            found = added(found, product(grid, added(grid_other, finer_other, finer if twice else {})))
            found = added(found, {} if twice else product(finer, grid_other))
            masses = added(masses, {dot << level: mass for dot, mass in found.items() if -DOTS <= dot <= DOTS})
            # What has become too large is of the next grid, where pairs need all that is finer.
            large = {dot: mass for dot, mass in found.items() if not -DOTS <= dot <= DOTS}
            interval = math.ldexp(self.interval, level)
            found, finer = coarser(large, interval), coarser(added(finer, grid), interval)
            finer_other = finer if twice else coarser(added(finer_other, grid_other), interval)
        # The lowest are raised to the first that is kept, the highest are infinite.
        places, (below, above) = sorted(masses), (int(part * lost * UNIT) for lost in (LOST_BELOW, LOST_ABOVE))
        sums = list(accumulate(masses[place] for place in places))
        first, last = bisect_right(sums, below), bisect_left(sums, sums[-1] - above)
        kept = {place: masses[place] for place in places[first : last + 1]} | {places[first]: sums[first]}
        return Losses(self.interval, kept, -(-infinite // UNIT) + sum(found.values()) + sums[-1] - sums[last])

    def delta(self, epsilon: float) -> float:
        """Return the mean of ``(1 - exp(epsilon - X))_+`` over losses X, rounded up."""
        up = self.interval * (1 + SLACK)
        parts = (mass * -math.expm1(min(epsilon - place * up, 0.0)) for place, mass in self.masses.items())
        return (math.fsum(parts) + self.infinite) / UNIT * (1 + SLACK)


def added(first: dict[int, int], *others: dict[int, int]) -> dict[int, int]:
    """Return masses on one grid, all of them together."""
    found = dict(first)
    for other in others:
        for dot, mass in other.items():
            found[dot] = found.get(dot, 0) + mass
    return found


def product(first: dict[int, int], second: dict[int, int]) -> dict[int, int]:
    """Return the masses of sums on one grid: the digits of one product of whole numbers, each sum rounded up."""
    if not first or not second:
        return {}
    # No sum of products has more digits than this, so that none meets its neighbour.
    width = max(len(str((sum(first.values()) + 1) * (sum(second.values()) + 1))), DIGITS + 1)
    lines = [[part.get(dot, 0) for dot in range(min(part), max(part) + 1)] for part in (first, second)]
    texts = ["".join([f"{mass:0{width}d}" for mass in line]) for line in lines]
    digits = str(EXACT.multiply(*map(Decimal, texts))).zfill(sum(map(len, texts)) - width)
    ends = enumerate(range(width, len(digits) + 1, width), min(first) + min(second))
    return {dot: int(digits[end - width : end - DIGITS]) + 1 for dot, end in ends}


def coarser(masses: dict[int, int], interval: float) -> dict[int, int]:
    """Return masses on every second dot; others go to both neighbours, so that both laws keep their total."""
    # Up with probability 1/(1 + exp(-interval)), rather more.
    upwards = math.ceil((1 + SLACK) / (1 + math.exp(-interval)) * 2**60)
    ups = {dot: min(mass, -(-mass * upwards >> 60)) for dot, mass in masses.items() if dot % 2}
    downs = {dot // 2: masses[dot] - up for dot, up in ups.items()}
    kept = {dot // 2: mass for dot, mass in masses.items() if not dot % 2}
    return added(kept, downs, {dot // 2 + 1: up for dot, up in ups.items()})


@lru_cache(maxsize=8)
def composed(noise_multiplier: float, share: float, steps: int) -> Losses:
    """Return the losses of all steps: of twice as many, and one more where the next binary digit says so."""
    step = run = one_step(noise_multiplier, share, steps)
    for left in reversed(range(steps.bit_length() - 1)):
        for other in (run, step)[: 1 + (steps >> left) % 2]:
            run = run.then(other, 0.5**left)
        # Four times as many steps have losses twice as large.
        if (steps >> left).bit_length() % 2:
            run, step = (Losses(2 * it.interval, coarser(it.masses, it.interval), it.infinite) for it in (run, step))
    return run


def one_step(noise_multiplier: float, share: float, steps: int) -> Losses:
    """Return one step's losses: masses at dots, which join to a profile that is nowhere below that of the step."""
    mu, normal = 1 / noise_multiplier, NormalDist()
    # How far the dots reach, and how fine they are (by the mean square of the loss): any numbers are valid.
    places = [mu / 2 - normal.inv_cdf(min(0.5, LOST_ABOVE / (steps * share))), *(at / 50 for at in range(-1000, 1250))]
    highest, *losses = (math.log1p(share * math.expm1(mu * at)) for at in places)
    chances = (share * normal.pdf(at - mu / 2) + (1 - share) * normal.pdf(at + mu / 2) for at in places[1:])
    interval = math.sqrt(math.fsum(map(math.prod, zip(chances, losses, losses, strict=True))) / 50) / FINENESS
    everywhere = {dot << level for level in range(GRIDS) for dot in range(-DOTS, DOTS + 1)}
    dots = sorted((dot for dot in everywhere if abs(dot) * interval <= highest), reverse=True)
    infinite, *values = (profile(dot * interval, noise_multiplier, share) for dot in dots)
    masses, above, discounted = dict[int, int](), 0, 0
    for dot, below, value in zip(dots, [*dots[1:], -math.inf], [*values, UNIT], strict=True):
        # Of a unit of mass so much counts at the dot below, in 2^-96: all of it at minus infinity.
        counts = math.floor(-math.expm1((below - dot) * interval) * (1 - SLACK) * 2**96)
        # Each mass is the least with which the profile at the dot below reaches its value.
        missing = ((value - infinite - above) << 96) + (2**96 - counts) * discounted
        masses[dot] = mass = max(0, -(-missing // counts))
        above, discounted = above + mass, -((counts - 2**96) * (discounted + mass) >> 96)
    return Losses(interval, masses, infinite)


def profile(loss: float, noise_multiplier: float, share: float) -> int:
    """Return one step's profile at a loss in units, rounded up, and a unit more."""
    # The curve falls, so that a smaller argument counts for more.
    exponent = math.log1p(math.expm1(abs(loss)) / share) * (1 - SLACK)
    value = share * GaussianCurve(1 / noise_multiplier * (1 + 2**-51)).delta(exponent)
    # The naive 1 - exp(loss) would lose the digits that composition amplifies.
    return int((value if loss >= 0 else math.exp(loss) * value - math.expm1(loss)) * (1 + SLACK) * UNIT) + 2


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
