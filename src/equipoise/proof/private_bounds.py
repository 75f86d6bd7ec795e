"""Bounds of columns that nobody could vouch for, paid for: two private quantiles a column (Q1).

Each quantile is chosen from a public grid by the number of rows on either side of it, with exponential noise on the
counts (OpenDP's sampler). The grid spans eighteen orders of magnitude, so that it tells nothing about the data.
"""

import math
from dataclasses import dataclass

from equipoise.errors import InvalidParameter
from equipoise.vocabulary.facts import Budget
from equipoise.vocabulary.numbers import require_number

LEVELS = (0.01, 0.99)

_MANTISSAS = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)
_POSITIVE = tuple(float(f"{mantissa}e{exponent}") for exponent in range(-6, 13) for mantissa in _MANTISSAS)
CANDIDATES = (*(-value for value in reversed(_POSITIVE)), 0.0, *_POSITIVE)


@dataclass(frozen=True, slots=True)
class PrivateBounds:
    """Which columns get private bounds, and the part of the budget that pays for all of them together.

    Examples
    --------
    >>> bounds = PrivateBounds(("age", "height"), 0.2)
    >>> bounds.scale, bounds.left(Budget(1.0)).epsilon
    (40.00000000000005, 0.7999999999999999)
    """

    columns: tuple[str, ...]
    epsilon: float

    def __post_init__(self) -> None:
        """Refuse an empty list, a column named twice and an epsilon that is none."""
        remedy = "pass the part of epsilon that private bounds may cost, for example 0.1"
        require_number("epsilon for private bounds", self.epsilon, above=0.0, remedy=remedy)
        if not self.columns or len(set(self.columns)) != len(self.columns):
            raise InvalidParameter(
                "different columns that need bounds", f"{len(self.columns)} names", "name each column once"
            )

    @property
    def scale(self) -> float:
        """The scale of the noise on counts: 2 over a quantile's share of epsilon, rounded up (Q1)."""
        share = self.epsilon / (len(LEVELS) * len(self.columns))
        return math.nextafter(2 / share * (1 + 1e-15), math.inf)

    def left(self, budget: Budget) -> Budget:
        """Return what remains of a budget for the model, rounded down."""
        rest = math.nextafter(budget.epsilon - self.epsilon, 0.0)
        if rest <= 0:
            raise InvalidParameter(
                "private bounds that cost less than the whole epsilon",
                f"{self.epsilon:g} of {budget.epsilon:g}",
                "raise epsilon, or spend less of it on bounds",
            )
        return Budget(rest, budget.delta)


@dataclass(frozen=True, slots=True)
class ReleasedBounds:
    """The bounds that were released for one column; everything computed from them is post-processing."""

    column: str
    low: float
    high: float

    def faults(self) -> tuple[str, ...]:
        """Return what cannot be true of them: they lie on the public grid, in order."""
        found = [f"{end!r} is not on the public grid" for end in (self.low, self.high) if end not in CANDIDATES]
        return tuple(found if self.low < self.high else [*found, f"{self.low!r} is not below {self.high!r}"])


def ordered(column: str, first: float, second: float) -> ReleasedBounds:
    """Return two noisy quantiles as bounds: in order, and one step apart on either side where they are equal.

    Examples
    --------
    >>> ordered("age", 100.0, 20.0), ordered("flag", 0.0, 0.0)
    (ReleasedBounds(column='age', low=20.0, high=100.0), ReleasedBounds(column='flag', low=-1e-06, high=1e-06))
    """
    low, high = sorted((first, second))
    if low == high:
        place = CANDIDATES.index(low)
        low, high = CANDIDATES[max(place - 1, 0)], CANDIDATES[min(place + 1, len(CANDIDATES) - 1)]
    return ReleasedBounds(column, low, high)
