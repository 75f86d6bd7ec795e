"""The noise of many steps on secret batches: the smallest multiplier that each way of accounting asks for (C3)."""

import math
import sys
from bisect import bisect_left
from collections.abc import Callable
from functools import cache, lru_cache

from equipoise.certify.curves import GaussianCurve
from equipoise.certify.sampled import CELLS, LOST_ABOVE, SMALLEST_MULTIPLIER, SampledGaussianCurve
from equipoise.errors import BudgetImpossible, InvalidParameter
from equipoise.planning.laws.gaussian import largest_mu

# How far `smallest_multiplier` may stay above the smallest one, relative, where the first composition is within delta.
PRECISION = 1e-4
# The estimates aim at a delta so much smaller, so that the exact composition is within it (its excess was at most a
# third of this in all runs tried). Estimates of so many times fewer losses come first, then secants of fine ones, at
# most so many: a delta falls with some such power of the multiplier.
AIM, ROUGH, SECANTS, STEEPNESS = 1e-3, 16, 12, 30
# What a composition leaves out is a large part of a delta below this: no composition comes down to it, or only with
# noise that needs none.
LEAST_COMPOSED = 20 * LOST_ABOVE

# Orders of the divergence that are tried.
ORDERS = tuple(1 + 2.0 ** (half / 2) for half in range(-4, 33))

# Beyond this multiplier a step's divergence is below what doubles tell from 0.
LARGEST_RENYI_MULTIPLIER = 1e100


@lru_cache(maxsize=1024)
def smallest_multiplier(epsilon: float, delta: float, share: float, steps: int, sensitivity: float = 1.0) -> float:
    """Return the smallest noise multiplier, up to 0.02 %, whose own `SampledGaussianCurve` is within the budget.

    Never less than 1/16. For deltas below `LEAST_COMPOSED`, 2e-16, it is the one that hides a row which is in every
    batch: nothing is composed there, and Renyi divergences ask for less (`renyi_multiplier`). A check finds it as a
    scale over the sensitivity, which may differ in the last digit: that is what is composed, so that the check composes
    nothing anew.

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

    if delta < LEAST_COMPOSED:
        multiplier = math.sqrt(steps) / mu
        while GaussianCurve(math.sqrt(steps) / multiplier * (1 + 2**-50)).delta(epsilon) > delta * (1 - 1e-9):
            multiplier *= 1 + PRECISION
        return multiplier

    # Loaded where it is used: a check of a release that has no such steps needs no arrays.
    from equipoise.planning.loss_distribution import estimated_delta

    def estimated(logarithm: float, rough: int) -> float:
        # A delta below all doubles is far within any budget.
        found = estimated_delta(math.exp(logarithm), share, steps, epsilon, rough)
        return math.log(max(found, sys.float_info.min)) - math.log(delta) + AIM

    # A normal law with mu = share sqrt(steps (exp(1/z^2) - 1)) is the limit of many steps.
    start = -math.log(math.log1p((mu / share) ** 2 / steps)) / 2
    root = _root(estimated, max(math.log(SMALLEST_MULTIPLIER), start))
    # The curve itself decides: it takes a second or so, and on another machine may differ in its last digits.
    stride, steepness, before, moved = PRECISION, float(STEEPNESS), 0.0, math.inf
    while True:
        multiplier = math.exp(root)
        found = SampledGaussianCurve(sensitivity * multiplier / sensitivity, share, steps).delta(epsilon)
        if found <= delta * (1 - 1e-9):
            return multiplier
        # Estimates that miss by more than ever was seen are made up for in few compositions: what a composition leaves
        # out makes small deltas fall more slowly, and how slowly two compositions tell.
        excess = math.log(found / delta)
        if moved < math.inf:
            steepness = min(steepness, max(1.0, (before - excess) / moved))
        moved = max(stride, excess / steepness)
        root, stride, before = root + moved, 2 * stride, excess


def _root(estimated: Callable[[float, int], float], start: float) -> float:
    """Return where a falling function is 0, or the logarithm of the smallest multiplier: by rough values and a few."""
    import scipy.optimize

    rough, fine = cache(lambda at: estimated(at, ROUGH)), cache(lambda at: estimated(at, 1))
    floor, stride, low, high = math.log(SMALLEST_MULTIPLIER), 0.1, start, start
    while rough(high) > 0:
        low, high, stride = high, high + stride, 2 * stride
    while rough(low) <= 0 and low > floor:
        low, high, stride = max(floor, low - stride), low, 2 * stride
    if rough(low) <= 0:
        return low
    before = float(scipy.optimize.brentq(rough, low, high, xtol=PRECISION))
    # Rough values are too large, so that the root is below.
    at = max(floor, before + fine(before) / STEEPNESS)
    for _ in range(SECANTS):
        if abs(fine(at)) <= AIM / 2 or fine(at) == fine(before):
            break
        at, before = max(floor, at - fine(at) * (at - before) / (fine(at) - fine(before))), at
    return at


@lru_cache(maxsize=4096)
def divergence(noise_multiplier: float, share: float, order: float) -> float:
    """Return the Renyi divergence of one step as `certify` bounds it, all cells of the integral at once."""
    import numpy as np
    import scipy.special

    mu = 1 / noise_multiplier
    end = mu * mu * (order + 1) + mu * math.sqrt(2 * 745 + (mu * order) ** 2)
    slack = max(1e-12, ((order + 1) * end + (end / mu) ** 2) * 2**-51)
    with np.errstate(all="ignore"):
        exponents = np.linspace(0.0, end, CELLS + 1)
        lower, upper = exponents[:-1], exponents[1:]
        rises = exponents + np.log(share + (1 - share) * np.exp(-exponents))
        near, far = scipy.special.log_ndtr(mu / 2 - lower / mu), lower + scipy.special.log_ndtr(-mu / 2 - lower / mu)
        height = near + np.log(1 + slack - np.exp(far - near) * (1 - slack))
        steeper = np.maximum((order - 2) * rises[:-1], (order - 2) * rises[1:])
        powers = np.logaddexp(steeper, -(order + 1) * rises[:-1])
        cells = upper + np.log(-np.expm1(lower - upper)) + powers + height
        rest = math.log(2) + max(order - 1, 1.0) * end + scipy.special.log_ndtr(mu / 2 - end / mu)
        exponent = float(scipy.special.logsumexp(np.append(cells, rest))) + max(1e-9, 2 * slack)
    exponent += math.log(order * (order - 1) * share**2)
    logarithm = math.log1p(math.exp(exponent)) if exponent < 700 else exponent + 1
    return logarithm / (order - 1) * (1 + 1e-12)


def best_order(noise_multiplier: float, share: float, steps: int, epsilon: float) -> tuple[float, float]:
    """Return the order with the least delta at epsilon, and the logarithm of that delta.

    The logarithm is convex in the order, since (a - 1) D_a is, and so are the terms beside it: its rise is looked for.
    """

    def exponent(order: float) -> float:
        return _log_delta(order, steps * divergence(noise_multiplier, share, order), epsilon)

    def rises(place: int) -> bool:
        return exponent(ORDERS[place]) <= exponent(ORDERS[place + 1])

    order = ORDERS[bisect_left(range(len(ORDERS) - 1), True, key=rises)]
    return order, exponent(order)


def _log_delta(order: float, divergence_of_all: float, epsilon: float) -> float:
    return (order - 1) * (divergence_of_all - epsilon + math.log1p(-1 / order)) - math.log(order)


def renyi_multiplier(epsilon: float, delta: float, share: float, steps: int) -> float:
    """Return the smallest noise multiplier, up to a thousandth, whose Renyi divergences meet the budget.

    Infinity where none does: at a small epsilon no order that is tried comes down to delta, however much noise there
    is.

    Examples
    --------
    >>> round(renyi_multiplier(1.0, 1e-6, 1e-3, 10**6), 2), renyi_multiplier(1e-5, 1e-6, 1e-3, 10**6)
    (4.96, inf)
    """

    def within(log_delta: float) -> bool:
        # A billionth is the check's own margin, another one room for its last digits.
        return math.exp(min(0.0, log_delta)) * (1 + 2e-9) <= delta

    def meets(multiplier: float) -> bool:
        return within(best_order(multiplier, share, steps, epsilon)[1])

    if not within(min(_log_delta(order, 0.0, epsilon) for order in ORDERS)):
        return math.inf
    low = high = 1.0
    while not meets(high):
        low, high = high, 2 * high
        if high > LARGEST_RENYI_MULTIPLIER:
            return math.inf
    while meets(low):
        low, high = low / 2, low
    while high > low * 1.001:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if meets(middle) else (middle, high)
    return high
