"""Privacy curves: delta as a function of epsilon, always rounded towards less privacy."""

import math
from abc import ABC, abstractmethod
from fractions import Fraction
from functools import lru_cache

from ..errors import InvalidParameter
from ..vocabulary.facts import Budget, Record

# What separates OpenDP's discrete Gaussian on the lattice of 2^-1074 from the continuous one (docs/proofs/D3.md): far
# below this.
LATTICE_DELTA = 2.0**-500

# What an evaluation of the Gaussian curve may be wrong by, relative to its exponents (docs/proofs/D3.md). Whoever plans
# takes twice as much, so that what follows on one machine also follows on every other.
ERROR = 5e-16


class Curve(Record, ABC):
    """A function epsilon -> delta such that the release is (epsilon, delta)-private for every epsilon."""

    def delta(self, epsilon: float) -> float:
        """Return a delta that holds at this epsilon; below 0 nothing is asked."""
        if not epsilon >= 0:
            raise InvalidParameter("a point of a curve with epsilon >= 0", f"epsilon={epsilon!r}", "ask at 0 or above")
        # What is no number between 0 and 1 promises nothing.
        return found if 0 <= (found := self.at(epsilon)) <= 1 else 1.0

    @abstractmethod
    def at(self, epsilon: float) -> float:
        """Return that delta."""


class PureCurve(Curve):
    """The curve of any mechanism with pure parameter `level`: randomised response is the worst of them.

    ``delta(epsilon) = (e^level - e^epsilon) / (e^level + 1)`` below the level, 0 from there on.

    Examples
    --------
    >>> PureCurve(1.0).delta(1.0)
    0.0
    >>> round(PureCurve(1.0).delta(0.0), 4) == round(math.tanh(0.5), 4)
    True
    """

    level: float

    def at(self, epsilon: float) -> float:
        """Return the randomised-response delta."""
        if 0 <= self.level <= epsilon:
            return 0.0
        # Divided by e^level, so that a large level does not overflow.
        return min(1.0, -math.expm1(epsilon - self.level) / (1 + math.exp(-self.level)) * (1 + 1e-12))


def log_normal(place: float) -> float:
    """Return the logarithm of the standard normal distribution function, right to a few last digits everywhere.

    Examples
    --------
    >>> round(log_normal(0.0), 6), round(log_normal(-40.0), 6)
    (-0.693147, -804.608442)
    """
    if place > -1:
        return math.log1p(-math.erfc(place / math.sqrt(2)) / 2)
    if place > -5:
        return math.log(math.erfc(-place / math.sqrt(2)) / 2)
    # Mills' ratio 1/(t + 1/(t + 2/(t + ...))) in its continued fraction: this far out 60 terms are all digits.
    tail = -place
    for count in range(60, 0, -1):
        tail = -place + count / tail
    return -place * place / 2 - math.log(2 * math.pi) / 2 - math.log(tail)


class GaussianCurve(Curve):
    """The exact curve of Gaussian noise with ``mu = sensitivity / sigma`` (D3); the lattice costs a little a release.

    ``delta(epsilon) = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu)``.

    Examples
    --------
    >>> round(GaussianCurve(1 / 3.7306).delta(1.0), 8)
    1e-05
    """

    mu: float
    releases: int = 1
    error: float = ERROR

    def at(self, epsilon: float) -> float:
        """Return the exact delta, rounded up by what the evaluation can be wrong."""
        first = log_normal(self.mu / 2 - epsilon / self.mu)
        second = epsilon + log_normal(-self.mu / 2 - epsilon / self.mu)
        # Logarithms are good to a few units in the last place, and so is the sum; exponents magnify absolute errors.
        error = self.error * (10 + abs(first) + 2 * epsilon + abs(second - epsilon))
        exact = math.exp(first) * (1 + error) - math.exp(second) * (1 - error)
        # Of numbers beyond doubles nothing is left: then it is no number, and stays none.
        return min(max(exact, 0.0) + self.releases * LATTICE_DELTA, 1.0)


class SumCurve(Curve):
    """``delta(epsilon) = sum of factor * curve.delta(epsilon - price)``: corners, averages, what follows a spend.

    Below a price nothing is claimed. `added` is a delta on top.

    Examples
    --------
    >>> SumCurve(((1.0, PureCurve(0.75), 0.2),)).delta(1.0), SumCurve(((1.0, PureCurve(0.75), 0.2),)).delta(0.1)
    (0.0, 1.0)
    """

    parts: tuple[tuple[float, Curve, float], ...]
    added: float = 0.0

    def at(self, epsilon: float) -> float:
        """Return the sum, rounded up; 1 where a price exceeds epsilon."""
        if any(epsilon < price for _, _, price in self.parts):
            return 1.0
        total = math.fsum(factor * curve.delta(_left(epsilon, price)) for factor, curve, price in self.parts)
        return min(1.0, total * (1 if len(self.parts) == 1 else 1 + 1e-14) + self.added)


def _left(epsilon: float, price: float) -> float:
    """Return what a price leaves of epsilon, rounded down."""
    return epsilon if price == 0 else math.nextafter(epsilon - price, 0.0)


class LargestCurve(Curve):
    """The largest of several curves, and of a delta: disjoint rows, whichever part a row belongs to (N3)."""

    parts: tuple[Curve, ...]
    floor: float = 0.0

    def at(self, epsilon: float) -> float:
        """Return the largest delta."""
        return max(self.floor, *(part.delta(epsilon) for part in self.parts))


class PointCurve(Curve):
    """All that is known of a composition by adding up: delta from the budget's epsilon on, nothing before."""

    budget: Budget

    def at(self, epsilon: float) -> float:
        """Return the budget's delta from its epsilon on, and 1 below."""
        return self.budget.delta if epsilon >= self.budget.epsilon else 1.0


class WholeCurve(Curve):
    """The curve of a whole release: what its claim says, and what follows from that where the claim says less (N7).

    A release that is (e, d)-private has ``delta(epsilon) <= d + (1 - d) pure(epsilon)``, where pure is the curve of the
    level e. Of the points up to the claimed epsilon, `last`, one with the smallest bound at 0 is best below all.

    Examples
    --------
    >>> claimed = SumCurve(((1.0, PureCurve(1.0), 1e-9),))
    >>> claimed.delta(0.0), round(WholeCurve(claimed, 1.0 + 2e-9).delta(0.0), 3)
    (1.0, 0.462)
    """

    claimed: Curve
    last: float

    def at(self, epsilon: float) -> float:
        """Return the smaller of what is claimed and what follows, rounded up."""
        points = points_of(self.claimed, self.last)
        # The bound at 0 is 1 less twice what is compared here.
        level, delta = max(points, key=lambda point: (1 - point[1]) / (1 + math.exp(min(point[0], 700.0))))
        follows = (delta + (1 - delta) * PureCurve(level).delta(epsilon)) * (1 + 1e-15)
        return min(self.claimed.delta(epsilon), follows)


# So many steps from 0 to the claimed epsilon: what lies between two of them would gain less than 0.5 %.
STEPS = 32


@lru_cache(maxsize=16)
def points_of(curve: Curve, last: float) -> tuple[tuple[float, float], ...]:
    """Return points (epsilon, delta) of a curve, from 0 to the claimed epsilon; each of them holds."""
    return tuple((last * step / STEPS, curve.delta(last * step / STEPS)) for step in range(STEPS + 1))


def add_up(shares: tuple[Budget, ...], budget: Budget) -> bool:
    """Return whether shares add up to no more than a budget, in exact arithmetic.

    Examples
    --------
    >>> add_up((Budget(0.5), Budget(0.5)), Budget(1.0)), add_up((Budget(0.1), Budget(0.2)), Budget(0.3))
    (True, False)
    """
    epsilon = sum((Fraction(share.epsilon) for share in shares), Fraction(0))
    delta = sum((Fraction(share.delta) for share in shares), Fraction(0))
    return epsilon <= Fraction(budget.epsilon) and delta <= Fraction(budget.delta)
