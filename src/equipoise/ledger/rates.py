"""N5: what a release adds to a sum that may be spent in portions chosen along the way, in currencies that add up.

A cost is an amount of the currency and a delta beside it: but for events of that probability the release costs the
amount. docs/proofs/N5.md proves that costs add up, whatever decided about them, and every formula below.
"""

import math
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from statistics import NormalDist

from equipoise.certify.curves import ERROR, LATTICE_DELTA, Curve, GaussianCurve, PureCurve, log_normal
from equipoise.vocabulary.facts import Budget
from equipoise.vocabulary.records import Of, Record

# More than all that rounding can take away from an amount (docs/proofs/N5.md).
MARGIN = 1 + 1e-9
# A curve is read at so many places, where its epsilons lie in this range; beyond it the pure figure serves, as it does
# where exponentials of an order would overflow.
CELLS, SMALLEST_EPSILON, LARGEST_EPSILON, LARGEST_EXPONENT = 128, 1e-7, 300.0, 700.0

# Epsilons with what a curve asks for there, from 0 up to where it asks for nothing.
Points = tuple[tuple[float, float], ...]


class Cost(Record):
    """What a release costs in a currency: an amount of it, and a delta beside.

    Examples
    --------
    >>> Cost(0.5, 1e-7) + Cost(0.25)
    Cost(amount=0.75, delta=1e-07)
    """

    amount: float
    delta: float = 0.0

    def __add__(self, other: "Cost") -> "Cost":
        """Return the cost of two releases of the same rows."""
        return Cost(self.amount + other.amount, self.delta + other.delta)


def largest(costs: tuple[Cost, ...]) -> Cost:
    """Return the cost of releases of disjoint rows: a replaced row is in one of them (N3)."""
    return Cost(max(cost.amount for cost in costs), max(cost.delta for cost in costs))


class Rate(Record):
    """What releases cost in a currency: here ``mu^2`` of a Gaussian whose curve lies above theirs; others override.

    Gaussian noise costs ``factor mu^2 / 2``. `order` is that of the Renyi divergence that is counted, if one is.

    Examples
    --------
    >>> [round(rate.pure(1.0), 4) for rate in (RenyiRate(2.0), ConcentratedRate(), Rate())]
    [0.7353, 0.4621, 1.5179]
    """

    factor, order = 2.0, 0.0

    def pure(self, epsilon: float) -> float:
        """Return the amount of any pure release: randomised response is the worst of them."""
        return pure_mu(epsilon) ** 2

    def below(self, points: Points) -> float:
        """Return the amount of any release whose curve lies below the chords: that of a Gaussian above them."""
        low, high = 0.0, pure_mu(points[-1][0])
        for _ in range(16):
            middle = (low + high) / 2
            low, high = (low, middle) if hidden_by(points, middle) else (middle, high)
        return self.factor * high**2 / 2

    def of(self, curve: Curve, budget: Budget, divergence: Callable[[float], Cost | None] = lambda _: None) -> Cost:
        """Return the cost of a release by its curve, which is within the budget, or by a divergence that is known.

        Examples
        --------
        >>> RenyiRate(8.0).of(GaussianCurve(0.25), Budget(1.0, 1e-4)).amount
        0.25000000025
        """
        if isinstance(curve, GaussianCurve):
            return Cost(self.factor * curve.mu**2 / 2 * MARGIN, curve.releases * LATTICE_DELTA)
        if isinstance(curve, PureCurve):
            return Cost(self.pure(curve.level) * MARGIN)
        if self.order and (known := divergence(self.order)) and known.amount <= self.pure(budget.epsilon):
            return Cost(known.amount * MARGIN, known.delta)
        end, delta, points = read(curve, budget)
        read_off = self.below(points) if points and self.order * end < LARGEST_EXPONENT else math.inf
        found, simple = min(self.pure(end), read_off), self.pure(budget.epsilon)
        return Cost(found * MARGIN, delta) if found <= simple else Cost(simple * MARGIN, budget.delta)


class ConcentratedRate(Rate):
    """``rho``: the divergence of every order a is at most ``a rho`` (zCDP)."""

    factor = 1.0

    def pure(self, epsilon: float) -> float:
        """Return ``epsilon tanh(epsilon / 2)``."""
        return epsilon * math.tanh(epsilon / 2)


class RenyiRate(Rate):
    """The Renyi divergence of one order above 1, in both directions."""

    order: float
    factor = Of[float]("order")

    def pure(self, epsilon: float) -> float:
        """Return ``ln(cosh((a - 1/2) epsilon) / cosh(epsilon / 2)) / (a - 1)``, written without cancellation."""
        order, half = self.order, epsilon / 2
        if order * epsilon >= LARGEST_EXPONENT:
            return epsilon
        return math.log1p(2 * math.sinh(order * half) * math.sinh((order - 1) * half) / math.cosh(half)) / (order - 1)

    def below(self, points: Points) -> float:
        """Return ``ln(1 + a (a - 1) I) / (a - 1)``: I integrates ``(g^(a-2) + g^(-a-1)) chord(ln g)`` from 1 on."""
        order, cells = self.order, []
        for (lower, above), (upper, under) in pairwise(points):
            width, fall = math.exp(lower) * math.expm1(upper - lower), max(above - under, 0.0) / 2
            for power in (order - 1, -order):
                weight = math.exp(power * lower) * math.expm1(power * (upper - lower)) / power
                cells.append(under * weight + fall * width * math.exp((power - 1) * (upper if power > 1 else lower)))
        return math.log1p(order * (order - 1) * math.fsum(cells)) / (order - 1)


@lru_cache(maxsize=256)
def read(curve: Curve, budget: Budget) -> tuple[float, float, Points]:
    """Return an epsilon from which on the curve asks for at most the delta beside, and ``(curve - delta)/(1 - delta)``.

    That delta is half of the budget's, if three times its epsilon is enough for it, so that releases whose deltas add
    up to a total fill no more than half of it. No points where the epsilon is out of range.
    """
    tries = ((budget.epsilon * (1 + part / 16), budget.delta / 2) for part in range(33 if budget.delta else 1))
    reached = (point for point in tries if curve.delta(point[0]) <= point[1])
    end, delta = next(reached, (budget.epsilon, budget.delta))
    places = [end * cell / CELLS for cell in range(CELLS) if SMALLEST_EPSILON <= end <= LARGEST_EPSILON]
    # No release that is private at the end asks for more than the pure one, and none for anything beyond it.
    most = PureCurve(end).delta
    asked = ((place, min(max(curve.delta(place) - delta, 0.0) / (1 - delta), most(place))) for place in places)
    return end, delta, (*asked, (end, 0.0)) if places else ()


def pure_mu(epsilon: float) -> float:
    """Return ``2 Phi^-1(e^epsilon / (1 + e^epsilon))``, or what is above it where that has few digits (N5).

    Examples
    --------
    >>> round(pure_mu(1.0), 4), round(pure_mu(1e-9) / 1e-9, 4)
    (1.232, 1.2533)
    """
    if 1e-3 < epsilon < LARGEST_EXPONENT:
        return -2 * NormalDist().inv_cdf(1 / (1 + math.exp(epsilon)))
    return min(math.sqrt(math.pi / 2) * epsilon, math.sqrt(8 * epsilon))


def hidden_by(points: Points, mu: float) -> bool:
    """Return whether the Gaussian curve of this mu lies above the chords: its tangent in every cell's middle does."""
    least = GaussianCurve(mu, 0, -ERROR)
    for (lower, above), (upper, under) in pairwise(points):
        half = math.exp(lower) * math.expm1(upper - lower) / 2
        middle = math.log(math.exp(lower) + half)
        height, slope = least.at(middle), math.exp(log_normal(-mu / 2 - middle / mu)) * half
        if above > height + slope * (1 - 1e-6) or under > height - slope * (1 + 1e-6):
            return False
    return True
