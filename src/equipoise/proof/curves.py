"""Privacy curves: delta as a function of epsilon, always rounded towards less privacy."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache

from scipy.special import log_ndtr

from equipoise.errors import InvalidParameter

# What separates OpenDP's discrete Gaussian on the lattice of 2^-1074 from the continuous one (docs/proofs/D3.md): far
# below this.
LATTICE_DELTA = 2.0**-500


class Curve(ABC):
    """A function epsilon -> delta such that the release is (epsilon, delta)-private for every epsilon."""

    @abstractmethod
    def delta(self, epsilon: float) -> float:
        """Return a delta that holds at this epsilon."""


@dataclass(frozen=True, slots=True)
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

    def delta(self, epsilon: float) -> float:
        """Return the randomised-response delta."""
        _require_epsilon(epsilon)
        if epsilon >= self.level:
            return 0.0
        # Divided by e^level, so that a large level does not overflow.
        return min(1.0, -math.expm1(epsilon - self.level) / (1 + math.exp(-self.level)) * (1 + 1e-12))


@dataclass(frozen=True, slots=True)
class GaussianCurve(Curve):
    """The exact curve of Gaussian noise with ``mu = sensitivity / sigma`` (D3).

    ``delta(epsilon) = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu)``.

    Examples
    --------
    >>> round(1 / largest_mu(1.0, 1e-5), 4)
    3.7306
    """

    mu: float

    def delta(self, epsilon: float) -> float:
        """Return the exact delta, rounded up by what the evaluation can be wrong."""
        _require_epsilon(epsilon)
        first = float(log_ndtr(self.mu / 2 - epsilon / self.mu))
        second = epsilon + float(log_ndtr(-self.mu / 2 - epsilon / self.mu))
        # log_ndtr is good to a few units in the last place, and so is the sum; exponents magnify absolute errors.
        error = 1e-15 * (10 + abs(first) + 2 * epsilon + abs(second - epsilon))
        exact = max(0.0, math.exp(first) * (1 + error) - math.exp(second) * (1 - error))
        return min(1.0, exact + LATTICE_DELTA)


@dataclass(frozen=True, slots=True)
class AfterPure(Curve):
    """The curve of a mechanism that follows a pure one of parameter `level`, by basic composition.

    ``delta(epsilon) = following(epsilon - level)``; below the level nothing is claimed.

    Examples
    --------
    >>> AfterPure(PureCurve(0.75), 0.2).delta(1.0), AfterPure(PureCurve(0.75), 0.2).delta(0.1)
    (0.0, 1.0)
    """

    following: Curve
    level: float

    def delta(self, epsilon: float) -> float:
        """Return the delta of what follows, at what the pure mechanism leaves of epsilon."""
        _require_epsilon(epsilon)
        return 1.0 if epsilon < self.level else self.following.delta(math.nextafter(epsilon - self.level, 0.0))


def _require_epsilon(epsilon: float) -> None:
    if not epsilon >= 0:
        raise InvalidParameter("a point of the curve with epsilon >= 0", f"epsilon={epsilon!r}", "ask at 0 or above")


@lru_cache(maxsize=1024)
def largest_mu(epsilon: float, delta: float) -> float:
    """Return the largest mu whose Gaussian curve is at most delta at epsilon: the private end of a bisection."""
    private, excessive = 1e-9, 1.0
    while GaussianCurve(excessive).delta(epsilon) <= delta:
        private, excessive = excessive, 2 * excessive
    while GaussianCurve(private).delta(epsilon) > delta:
        private, excessive = private / 2, private
        if private < 1e-150:
            return 0.0
    while excessive > private * (1 + 1e-14):
        middle = private + (excessive - private) / 2
        if middle in (private, excessive):
            break
        if GaussianCurve(middle).delta(epsilon) <= delta:
            private = middle
        else:
            excessive = middle
    return private
