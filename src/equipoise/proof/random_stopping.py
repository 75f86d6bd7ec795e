"""E6: the best of a random number of runs. How that number is drawn, and what the best of so many runs costs."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import mpmath

from equipoise.errors import BudgetImpossible
from equipoise.proof.curves import LATTICE_DELTA, Curve, largest_mu
from equipoise.vocabulary.facts import Budget

# A number of runs is found by one uniform number of so many binary digits (docs/proofs/E6.md).
DRAW_BITS = 186

# What the law of the drawn number of runs may differ from its formula costs far less epsilon than this.
DRAW_EPSILON = 1e-10

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


def mean_of(shape: int, gamma: float) -> float:
    """Return the mean number of runs: ``1/gamma``, or ``(1/gamma - 1)/ln(1/gamma)`` for shape 0.

    Examples
    --------
    >>> mean_of(1, 0.5), round(mean_of(0, 0.5), 4)
    (2.0, 1.4427)
    """
    return 1 / gamma if shape == 1 else (1 / gamma - 1) / -math.log(gamma)


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
    arithmetic: Any = mpmath.MPContext()
    arithmetic.prec = 2 * DRAW_BITS
    exact = arithmetic.mpf(gamma)
    return int(arithmetic.floor(arithmetic.ldexp((1 - exact) / -arithmetic.log(exact), DRAW_BITS)))


@dataclass(frozen=True, slots=True)
class SelectedCurve(Curve):
    """The curve of the best of a random number of runs, each with the divergences ``a mu^2/2`` of a Gaussian (E6).

    Examples
    --------
    >>> SelectedCurve(0.2, 0, 0.05).delta(1.5) < 1e-4 < SelectedCurve(0.4, 0, 0.05).delta(1.5)
    True
    """

    mu: float
    shape: int
    gamma: float

    def delta(self, epsilon: float) -> float:
        """Return the least delta over orders: ``exp((a-1)(D - epsilon)) (1 - 1/a)^(a-1) / a`` (Canonne et al.)."""
        rate, logarithm = self.mu**2 / 2, -math.log(self.gamma)
        # (1 - 1/b) b mu^2/2 + ln(1/gamma)/b, at its smallest over orders b >= 1.
        other = math.sqrt(2 * logarithm) * self.mu - rate if self.mu**2 < 2 * logarithm else logarithm
        fixed = (1 + self.shape) * other
        mean = math.log(mean_of(self.shape, self.gamma))
        centre = max((epsilon - fixed - rate) / (2 * rate), 1e-3)
        exponents = [0.0]
        for factor in _ORDERS:
            above = centre * factor
            order = 1 + above
            value = above * (rate * order + fixed - epsilon + math.log(above / order)) + mean - math.log(order)
            # Terms may cancel: each is good to a few units in its last place.
            exponents.append(value + 1e-14 * above * (rate * order + fixed + epsilon + 1))
        return min(1.0, math.exp(min(exponents)) * (1 + 1e-9))


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
        return mu > 0 and SelectedCurve(mu, shape, gamma).delta(budget.epsilon) <= budget.delta

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
