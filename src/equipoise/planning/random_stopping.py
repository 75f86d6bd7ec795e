"""E6: the best of a random number of runs. How that number is drawn, and what the best of so many runs costs."""

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any

from equipoise.certify.claims.choice import DRAW_EPSILON, ChosenCurve, mean_of
from equipoise.certify.curves import LATTICE_DELTA
from equipoise.errors import BudgetImpossible
from equipoise.planning.laws.gaussian import largest_mu
from equipoise.vocabulary.facts import Budget

# A number of runs is found by one uniform number of so many binary digits (docs/proofs/E6.md).
DRAW_BITS = 186

# The orders of the divergence that are tried, as multiples of the one that would be best without logarithms.
_ORDERS = tuple(1.05**power for power in range(-80, 81))


def stopping_chance(shape: int, mean_runs: float) -> float:
    """Return gamma for which the number of runs has this mean: geometric for shape 1, logarithmic for shape 0.

    Examples
    --------
    >>> stopping_chance(1, 20.0), round(mean_of(0, stopping_chance(0, 20.0)), 9)
    (0.05, 20.0)
    """
    if shape == 1:
        return 1 / mean_runs
    low, high = 1e-12, 1.0
    while high > low * (1 + 1e-14):
        middle = math.sqrt(low * high)
        if middle in (low, high):
            break
        low, high = (middle, high) if mean_of(0, middle) > mean_runs else (low, middle)
    return low


def run_count(number: int, shape: int, gamma: float) -> int:
    """Return the number of runs that a uniform whole number below ``2^DRAW_BITS`` stands for.

    ``P[K = k + 1] = P[K = k] (1 - gamma) (k + shape)/(k + 1)``, in whole numbers rounded down; what rounding leaves
    over stands for one run.

    Examples
    --------
    >>> run_count(0, 1, 0.5), run_count(2 ** (DRAW_BITS - 1), 1, 0.5), run_count(2**DRAW_BITS - 1, 1, 0.5)
    (1, 2, 1)
    """
    more = 1 - Fraction(gamma)
    weight = _first_weight(shape, gamma)
    count = 1
    while weight > 0:
        if number < weight:
            return count
        number -= weight
        weight = weight * more.numerator * (count + shape) // (more.denominator * (count + 1))
        count += 1
    return 1


@lru_cache(maxsize=64)
def _first_weight(shape: int, gamma: float) -> int:
    """Return P[K = 1] in units of ``2^-DRAW_BITS``, rounded down: gamma, or ``(1 - gamma)/ln(1/gamma)``."""
    if shape == 1:
        return int(Fraction(gamma) * 2**DRAW_BITS)
    import mpmath  # slow to load, and wanted here alone

    arithmetic: Any = mpmath.MPContext()
    arithmetic.prec = 2 * DRAW_BITS
    exact = arithmetic.mpf(gamma)
    return int(arithmetic.floor(arithmetic.ldexp((1 - exact) / -arithmetic.log(exact), DRAW_BITS)))


def best_order(mu: float, shape: int, gamma: float, epsilon: float) -> float:
    """Return the order of the divergence with the least delta at epsilon."""
    rate, logarithm = mu**2 / 2, -math.log(gamma)
    other = math.sqrt(2 * logarithm) * mu - rate if mu**2 < 2 * logarithm else logarithm
    centre = max((epsilon - (1 + shape) * other - rate) / (2 * rate), 1e-3)
    orders = (1 + centre * factor for factor in _ORDERS)
    return min(orders, key=lambda order: ChosenCurve(mu, shape, gamma, order).delta(epsilon))


def pure_run(epsilon: float, shape: int) -> float:
    """Return the epsilon of one run, if the best of all is to be pure with `epsilon`: a share ``1/(2 + shape)``.

    Examples
    --------
    >>> 0.4999 < pure_run(1.0, 0) < 0.5
    True
    """
    if epsilon < 10 * DRAW_EPSILON:
        remedy = f"pass epsilon >= {10 * DRAW_EPSILON:g}"
        raise BudgetImpossible("an epsilon above the rounding of the draws", f"epsilon={epsilon!r}", remedy)
    return (epsilon - DRAW_EPSILON) / (2 + shape) * (1 - 1e-14)


@lru_cache(maxsize=1024)
def gaussian_run(budget: Budget, shape: int, gamma: float) -> Budget:
    """Return the budget of one Gaussian run, at the same delta, whose best of all meets the whole budget.

    Examples
    --------
    >>> run = gaussian_run(Budget(1.0, 1e-6), 0, 0.05)
    >>> 0.5 < run.epsilon < 0.7, run.delta
    (True, 1e-06)
    """
    if budget.delta <= LATTICE_DELTA:
        raise BudgetImpossible("a delta that Gaussian runs can meet", f"delta={budget.delta!r}", "pass delta=1e-6")

    def meets(epsilon: float) -> bool:
        mu = largest_mu(epsilon, budget.delta)
        if mu == 0:
            return False
        # Noise on weights is settled a few last digits beyond this mu.
        order = best_order(mu, shape, gamma, budget.epsilon)
        return ChosenCurve(mu * (1 + 1e-11), shape, gamma, order).delta(budget.epsilon) <= budget.delta

    low = high = budget.epsilon
    while not meets(low):
        low, high = low / 2, low
        if low < budget.epsilon * 1e-6:
            remedy = "pass a larger epsilon or delta, or fewer mean_runs"
            raise BudgetImpossible("runs that leave room for choosing", f"{budget!r}", remedy)
    while high > low * (1 + 1e-9):
        middle = (low + high) / 2
        low, high = (middle, high) if meets(middle) else (low, middle)
    return Budget(low, budget.delta)
