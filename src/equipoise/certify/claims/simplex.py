"""G5: which of p columns of zeros and ones has the fewest ones, chosen by dropout coins alone.

Every one is kept with probability 1/2, and the column with the fewest kept ones is released. The coins are the noise:
a column with nu ones is blurred by about sqrt(nu)/2. That is private only where every column has enough ones, which is
tested first (G4). After Algorithm 2 of [003], with the threshold that its claim needs.
"""

from bisect import bisect_left
from functools import lru_cache

from ...vocabulary.facts import Budget, Conditions
from ..curves import Curve, add_up
from ..statistic import NoisyStatistic
from .base import Claim, holds

_BITS = 160

# Beyond this epsilon delta is claimed as it is there, which is more.
LARGEST_EXPONENT = 700.0
# No table has columns of more ones; counting further would take too long.
MOST_ONES = 10**7


@lru_cache(maxsize=4096)
def column_delta(ones: int, epsilon: float) -> float:
    """Return ``max_t F_nu(t) - e^epsilon F_{nu+1}(t - 1)`` for nu = `ones` and fair binomial laws, rounded up (G5).

    The difference grows while ``e^epsilon (nu + 1) t <= 2 (nu - t + 1) (nu - t + 2)`` and falls from there on, so that
    its place is known. Of the sum ``S`` below that place only a part is added up; what is left out would lower delta.

    Examples
    --------
    >>> float(f"{column_delta(221, 1.0):.3g}"), column_delta(0, 1.0)
    (9.52e-09, 1.0)
    """
    import mpmath  # slow to load, and wanted here alone

    arithmetic = mpmath.MPContext()
    arithmetic.prec = _BITS
    growth = arithmetic.exp(arithmetic.mpf(min(epsilon, LARGEST_EXPONENT))) * (1 - arithmetic.ldexp(1, 8 - _BITS))
    # The last t at which the difference has grown; at a tie, which rounding may miss, both are equal.
    rate = float(growth) * (ones + 1)
    place = bisect_left(range(1, ones + 1), True, key=lambda t: rate * t > 2 * (ones - t + 1) * (ones - t + 2))
    # Terms C(nu, i) over C(nu, place), from the place downwards.
    term, total = arithmetic.mpf(1), arithmetic.mpf(0)
    least, below = arithmetic.ldexp(1, -_BITS), arithmetic.mpf(place) / (ones - place + 1)
    for i in range(place, -1, -1):
        total += term
        term *= arithmetic.mpf(i) / (ones - i + 1)
        if term < least:
            break
    logarithm = arithmetic.loggamma(ones + 1) - arithmetic.loggamma(place + 1) - (ones + 1) * arithmetic.ln2
    logarithm -= arithmetic.loggamma(ones - place + 1)
    difference = 2 * total - growth * (2 * total - 2 - below)
    return min(max(float(arithmetic.exp(logarithm) * difference), 0.0) * (1 + 1e-12), 1.0)


class CountCurve(Curve):
    """The curve of the coins where every column has at least so many ones: ``p column_delta`` (G5)."""

    columns: int
    ones: int

    def at(self, epsilon: float) -> float:
        """Return the sum over the columns; what holds for at least so many ones holds for more than can be counted."""
        return min(1.0, self.columns * column_delta(min(self.ones, MOST_ONES), epsilon) * (1 + 1e-15))


class Simplex(Claim):
    """`test` pays for whether every column has `ones` ones, `coins` for the column that coins choose if it passed."""

    kind = "simplex"
    draws = "laplace"
    theorem = "G4+G5"

    n_features: int
    test: Budget
    coins: Budget
    ones: int
    released: bool | None = None

    def noisy(self) -> NoisyStatistic:
        """Return the fewest ones of any column when any row is left out: one replaced row moves it by at most 1."""
        return NoisyStatistic(1.0, self.test)

    def threshold(self) -> float:
        """Return what the noisy count must exceed."""
        return self.ones + self.noisy().margin

    def curve(self) -> Curve:
        """Return the curve of the coins, after the test."""
        return self.noisy().after_test(CountCurve(self.n_features, self.ones))

    def conditions(self) -> Conditions:
        """Yield that coins hide a row where the test passes, and that test and coins are within the budget."""
        yield holds("columns have a number of ones that can be counted", 0 < self.ones <= MOST_ONES)
        hidden = CountCurve(self.n_features, self.ones).delta(self.coins.epsilon) <= self.coins.delta
        yield holds(f"coins hide a row where every column has {self.ones} ones (G5)", hidden)
        # Of the deltas the larger one counts (G4).
        larger = Budget(self.coins.epsilon, max(self.coins.delta, self.test.delta))
        yield holds("test and coins are within the budget", add_up((Budget(self.test.epsilon), larger), self.budget))
        yield self.meets()
