"""C3: the privacy curve of noisy mini-batch gradients, each on a fresh secret batch drawn without replacement.

Losses are composed in whole numbers: nothing in it is rounded but upwards, to the next unit.
"""

import math
from collections import Counter
from decimal import MAX_EMAX, MAX_PREC, Context, Decimal, Inexact
from functools import lru_cache
from itertools import pairwise
from statistics import NormalDist

from ..errors import InvalidParameter
from ..vocabulary.facts import Record
from .curves import Curve, GaussianCurve, log_normal

# Below this multiplier a batch with the row gives the row away, and the chance of ever drawing the row is the curve.
# With a larger multiplier or more steps than these sampling gains little.
SMALLEST_MULTIPLIER, LARGEST_MULTIPLIER, MOST_STEPS = 1 / 16, 1e6, 10**8
# The root mean square of all losses so far is this many intervals of the finest grid, times the root of the number of
# doublings (docs/proofs/C3.md: below 1 % of delta). A grid reaches REACH times as far; the next has twice its interval.
FINENESS, REACH, GRIDS = 64, 8, 40
# What is left out, of all steps: the highest losses count as infinite; the lowest as higher ones, a relative error.
LOST_ABOVE, LOST_BELOW = 1e-17, 1e-7
# Masses are whole multiples of 10^-32. Whole numbers of any length are multiplied without an error, or it is raised.
DIGITS = 32
UNIT, EXACT = 10**DIGITS, Context(prec=MAX_PREC, Emax=MAX_EMAX, traps=[Inexact])
# What a few operations on doubles may be wrong by, relative.
SLACK = 2.0**-48

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
        return min(simple, composed(self.noise_multiplier, self.share, self.steps).delta(epsilon))


class Losses(Record):
    """Masses of losses in units, ``grids[k][i]`` at the loss ``2^k i interval``, and of the infinite one (C3).

    What is done to losses never makes a hockey-stick divergence smaller. The masses may exceed 1 a little.
    """

    interval: float
    grids: tuple[Counter[int], ...]
    infinite: int

    def then(self, other: "Losses", most: int) -> "Losses":
        """Return the losses of both, one after the other; a grid has the dots from -most to most."""
        total = other.infinite + sum(grid.total() for grid in other.grids)
        infinite = self.infinite * total + other.infinite * sum(grid.total() for grid in self.grids)
        grids, carried, finer, finer_other, interval = [], Counter[int](), Counter[int](), Counter[int](), self.interval
        for grid, grid_other in zip(self.grids, other.grids, strict=True):
            # Pairs of losses of which the coarser is of this grid, and what became too large for the one before.
            carried.update(product(finer, grid_other))
            finer.update(grid)
            finer_other.update(grid_other)
            carried.update(product(grid, finer_other))
            grids.append(Counter({dot: mass for dot, mass in carried.items() if -most <= dot <= most}))
            carried = coarser(Counter({dot: mass for dot, mass in carried.items() if not -most <= dot <= most}), interval)
            finer, finer_other, interval = coarser(finer, interval), coarser(finer_other, interval), 2 * interval
        return Losses(self.interval, tuple(grids), -(-infinite // UNIT) + carried.total())

    def without(self, below: float, above: float) -> "Losses":
        """Return the losses with the highest, of a mass up to `above`, as infinite, and the lowest ones raised."""
        grids, infinite, low = [Counter(grid) for grid in self.grids], self.infinite, 0
        places = sorted((dot << level, level) for level, grid in enumerate(grids) for dot in grid)
        allowed = self.infinite + int(above * UNIT)
        while infinite + grids[places[-1][1]][places[-1][0] >> places[-1][1]] <= allowed:
            place, level = places.pop()
            infinite += grids[level].pop(place >> level)
        for place, level in places:
            low += grids[level].pop(place >> level)
            if low > below * UNIT:
                grids[level][place >> level] = low
                break
        return Losses(self.interval, tuple(grids), infinite)

    def on_coarser_grids(self) -> "Losses":
        """Return the losses without the finest grid."""
        first, second, *others = self.grids
        return Losses(2 * self.interval, (coarser(first, self.interval) + second, *others, Counter()), self.infinite)

    def delta(self, epsilon: float) -> float:
        """Return the mean of ``(1 - exp(epsilon - X))_+`` over losses X, rounded up."""
        parts = [self.infinite / UNIT]
        for level, grid in enumerate(self.grids):
            for dot, mass in grid.items():
                loss = math.ldexp(self.interval, level) * dot * (1 + math.copysign(SLACK, dot))
                parts.append(mass / UNIT * -math.expm1(min(epsilon - loss, 0.0)))
        return math.fsum(parts) * (1 + SLACK)


def product(first: Counter[int], second: Counter[int]) -> Counter[int]:
    """Return the masses of sums of two losses on one grid: the digits of one product of whole numbers, rounded up."""
    if not first or not second:
        return Counter()
    # No sum of products has more digits than this, so that none meets its neighbour.
    width = max(len(str((first.total() + 1) * (second.total() + 1))), DIGITS + 1)
    spans = [range(min(masses), max(masses) + 1) for masses in (first, second)]
    texts = ("".join(f"{masses[dot]:0{width}d}" for dot in span) for masses, span in zip((first, second), spans, strict=True))
    count = len(spans[0]) + len(spans[1]) - 1
    digits = str(EXACT.multiply(*map(Decimal, texts))).zfill(count * width)
    ends = enumerate(range(width, count * width + 1, width), spans[0][0] + spans[1][0])
    return Counter({dot: int(digits[end - width : end - DIGITS]) + 1 for dot, end in ends})


def coarser(masses: Counter[int], interval: float) -> Counter[int]:
    """Return masses on every second dot; others go to both neighbours, so that both laws keep their total."""
    # Up with probability 1/(1 + exp(-interval)), and rather more.
    upwards, kept = math.ceil((1 + SLACK) / (1 + math.exp(-interval)) * 2**60), Counter[int]()
    for dot, mass in masses.items():
        if dot % 2:
            up = min(mass, -(-mass * upwards >> 60))
            kept[dot // 2 + 1] += up
            mass -= up
        kept[dot // 2] += mass
    return kept


@lru_cache(maxsize=8)
def composed(noise_multiplier: float, share: float, steps: int) -> Losses:
    """Return the losses of all steps: twice as many, and one more where the next binary digit says so."""
    fineness = FINENESS * math.sqrt(steps.bit_length())
    spread, ends = _extent(noise_multiplier, share, steps)
    most = math.ceil(REACH * fineness)
    step = run = one_step(noise_multiplier, share, spread / fineness, most, ends)
    count = 1
    for digit in f"{steps:b}"[1:]:
        run, count = run.then(run, most), 2 * count + int(digit)
        if digit == "1":
            run = run.then(step, most)
        run = run.without(LOST_BELOW * count / steps, LOST_ABOVE * count / steps)
        while run.interval * 2 * fineness < spread * math.sqrt(count):
            run, step = run.on_coarser_grids(), step.on_coarser_grids()
    return run


def one_step(noise_multiplier: float, share: float, interval: float, most: int, ends: tuple[float, float]) -> Losses:
    """Return one step's losses: masses at dots, which join to a profile that is nowhere below that of the step (C3)."""
    grids = tuple(Counter[int]() for _ in range(GRIDS))
    places = [
        (dot << level, level)
        for level in range(GRIDS)
        for dot in range(-most, most + 1)
        if ends[0] <= math.ldexp(interval, level) * dot <= ends[1] and (level == 0 or 2 * abs(dot) > most)
    ]
    places.sort(reverse=True)
    infinite = above = discounted = 0
    values = [units(profile(place * interval, noise_multiplier, share)) for place, _ in places]
    infinite = values[0]
    for (place, level), lower, value in zip(places, (*places[1:], None), (*values[1:], UNIT), strict=True):
        # What the masses above lose on the way to the next dot, in 2^-96; all of it where that is minus infinity.
        fall = 1.0 if lower is None else -math.expm1((lower[0] - place) * interval) * (1 - SLACK)
        loses = math.floor(fall * 2**96)
        # From the top, each mass is the least with which the next profile reaches its value.
        missing = ((value - infinite - above) << 96) + (2**96 - loses) * discounted
        mass = max(0, -(-missing // loses))
        above += mass
        discounted = -((loses - 2**96) * (discounted + mass) >> 96)
        grids[level][place >> level] = mass
    return Losses(interval, grids, infinite)


def units(number: float) -> int:
    """Return a number of at least 0 in units, rounded up."""
    return math.ceil(number * (1 + SLACK) * UNIT) + 1


def profile(loss: float, noise_multiplier: float, share: float) -> float:
    """Return one step's profile at a loss, rounded up."""
    size = abs(loss)
    # The curve falls, so that a smaller argument counts for more.
    exponent = math.log1p(math.expm1(size) / share) * (1 - SLACK)
    positive = share * GaussianCurve(1 / noise_multiplier * (1 + 2**-51)).delta(exponent)
    return positive if loss >= 0 else -math.expm1(-size) + math.exp(-size) * positive


def _extent(noise_multiplier: float, share: float, steps: int) -> tuple[float, tuple[float, float]]:
    """Return the root mean square of one step's loss, and how far below and above 0 its grids reach, roughly."""
    mu, normal = 1 / noise_multiplier, NormalDist()

    def loss(exponent: float) -> float:
        return math.log1p(share * math.expm1(max(exponent, 0.0)))

    # P(X > loss(E)) = q Phi(mu/2 - E/mu) + (1 - q) Phi(-mu/2 - E/mu) for one step's loss X; P(X < -loss(E)) = that Phi.
    exponents = [(mu * mu / 2 + 12 * mu) * cell / 1000 for cell in range(1001)]
    square = 0.0
    for low, high in pairwise(exponents):
        tail = share * normal.cdf(mu / 2 - low / mu) + (2 - share) * normal.cdf(-mu / 2 - low / mu)
        square += tail * (loss(high) ** 2 - loss(low) ** 2)
    left = loss(-mu * mu / 2 - mu * normal.inv_cdf(LOST_BELOW / steps))
    right = loss(mu * mu / 2 - mu * normal.inv_cdf(min(0.5, LOST_ABOVE / (steps * share))))
    return math.sqrt(square), (-left, right)


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
