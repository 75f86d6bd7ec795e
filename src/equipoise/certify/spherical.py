"""D6: the exact privacy curve of noise with density proportional to exp(-||k|| / scale)."""

import math
from functools import cache

from ..errors import InvalidParameter
from ..vocabulary.records import Record
from .curves import Curve, PureCurve

# Beyond these the curve of a pure mechanism answers, which holds as well. In more dimensions the law is hardly quieter
# than Gaussian noise (0.013 % at 20,000) and slow to draw; a level 50,000 above epsilon hides nothing.
LARGEST_DIMENSION, LARGEST_GAP = 20_000, 5e4

# The Gauss-Legendre rule of a piece, and the ellipse on which the integrand is bounded, by the sum of its half-axes in
# half lengths of the piece. The rule is wrong by at most half the length times QUADRATURE times that bound; rounding
# changes delta by a relative ROUNDING (100 + d + gap) at most (docs/proofs/D6.md); whoever plans takes a little more.
POINTS, ELLIPSE = 32, 4.0
QUADRATURE = 8 * ELLIPSE ** (1 - 2 * POINTS) / (ELLIPSE - 1)
ROUNDING = 5e-14
# More than underflow can hide.
TINY = 1e-290


@cache
def rule() -> tuple[tuple[float, float], ...]:
    """Return the nodes and weights of the rule on [-1, 1], by Newton's method on Legendre's polynomial."""
    found = []
    for count in range(POINTS):
        node = math.cos(math.pi * (count + 0.75) / (POINTS + 0.5))
        for _ in range(8):
            before, here = 1.0, node
            for degree in range(2, POINTS + 1):
                before, here = here, ((2 * degree - 1) * node * here - (degree - 1) * before) / degree
            room = (1 - node) * (1 + node)
            slope = POINTS * (before - node * here) / room
            node -= here / slope
        found.append((node, 2 / (room * slope**2)))
    return tuple(found)


class SphericalCurve(Curve):
    """The exact curve of the spherical law with ``ratio = sensitivity / scale``, never below the truth (D6).

    With ``z = ratio / 2``, ``cos T = epsilon / ratio`` and ``W(t) = sin(t)^(d-2) (1 + c sin(t)^2)``,

    ``delta(epsilon) = int_0^T W(t) (e^(z cos t) - e^(epsilon - z cos t)) dt / int_0^pi W(t) e^(z cos t) dt``,

    where ``c = z K_{d/2-1}(z) / ((d - 1) K_{d/2}(z))`` with Bessel's functions. In one dimension it is
    ``1 - e^((epsilon - ratio)/2)``. It vanishes from ``epsilon = ratio`` on. `rounding` is what finite precision adds
    to epsilon (D1); with it the curve is ``e^rounding`` times the one above at ``epsilon - rounding``.

    Examples
    --------
    >>> curve = SphericalCurve(1 / 0.872812, 10)
    >>> f"{curve.delta(1.0):.4g}", f"{PureCurve(curve.ratio).delta(1.0):.4g}", curve.delta(1.2)
    ('1e-05', '0.1029', 0.0)
    """

    ratio: float
    dimension: int
    rounding: float = 0.0
    error: float = ROUNDING

    def __post_init__(self) -> None:
        """Refuse a law that does not exist."""
        if not (0 < self.ratio < math.inf and self.dimension >= 1 and 0 <= self.rounding <= 1):
            allowed = "a positive ratio, a dimension of at least 1 and a rounding in [0, 1]"
            raise InvalidParameter(allowed, repr(self), "pass such numbers")

    @property
    def level(self) -> float:
        """The epsilon from which on delta is 0: two doubles up, for the quotient behind `ratio` and for this sum."""
        return math.nextafter(math.nextafter(self.ratio + self.rounding, math.inf), math.inf)

    def at(self, epsilon: float) -> float:
        """Return the exact delta, rounded up by what the evaluation can be wrong; never more than the pure curve."""
        pure = PureCurve(self.level).delta(epsilon)
        gap = self.level - max(epsilon, self.rounding)
        if pure == 0.0 or self.dimension > LARGEST_DIMENSION or gap > LARGEST_GAP:
            return pure
        profile = _profile(max(epsilon - self.rounding, 0.0), gap, self.dimension)
        # Below its own price, rounding is paid with delta.
        spent = math.exp(self.rounding) * (profile + max(self.rounding - epsilon, 0.0))
        return min(pure, spent * (1 + self.error * (100 + self.dimension + gap)) + TINY)


def _profile(epsilon: float, gap: float, dimension: int) -> float:
    """Return an upper bound, but for rounding, of the profile under a shift of ``epsilon + gap`` scales."""
    if dimension == 1:
        return -math.expm1(-gap / 2)
    shift = epsilon + gap
    law = AngleLaw.of(dimension, shift / 2)
    pieces = math.ceil(2 + math.sqrt(dimension) + math.sqrt(gap) + gap / 8)
    part, error = law.integral(0.0, 2 * math.asin(math.sqrt(gap / (2 * shift))), epsilon, pieces)
    # The integrand of the whole is positive, so any stretch is a lower bound: 12 widths hold all but 1e-15.
    low, high = max(law.peak - 12 * law.width, 0.0), min(law.peak + 12 * law.width, math.pi / 2)
    whole, loss = law.integral(low, high, None, math.ceil(16 + 3 * law.width * law.half * math.sin(law.peak)))
    return (part + error) / (whole - loss) if loss < whole else 1.0


class AngleLaw(Record):
    """The law ``W(t) e^(z cos t)`` on (0, pi), W as in `SphericalCurve`: of the angle whose cosine is loss / ratio."""

    dimension: int
    half: float  # z, half the ratio
    share: float  # c
    peak: float  # where sin(t)^(d-1) e^(z cos t) is largest
    width: float  # and the standard deviation of the normal law that touches it there

    @classmethod
    def of(cls, dimension: int, half: float) -> "AngleLaw":
        """Return the law of half a ratio."""
        degree = dimension - 1
        total = degree + math.hypot(degree, 2 * half)
        cosine, squared_sine = 2 * half / total, 2 * degree / total
        width = 1 / math.sqrt(degree / squared_sine + half * cosine)
        share = half / (degree * bessel_ratio(dimension, half))
        return cls(dimension, half, share, math.atan2(math.sqrt(squared_sine), cosine), width)

    def integral(self, low: float, high: float, epsilon: float | None, pieces: int) -> tuple[float, float]:
        """Return the integral of ``W(t) (e^(z cos t) - e^(epsilon - z cos t))`` up to its root `high`, and its error.

        For epsilon None, that of ``W(t) (e^(z cos t) + e^(-z cos t))``: the whole law, folded at pi/2. Both are in
        units of the law near its peak, so that they do not overflow. Nodes are measured from `high`, where the
        difference vanishes, and differences of cosines are products of sines, so that nothing cancels.
        """
        radius, half, highest = (high - low) / (2 * pieces), self.half, _log_sine(self.peak)
        terms, errors = [], []
        for piece in range(1, 2 * pieces, 2):
            for node, weight in rule():
                below = radius * piece + radius * node
                angle = high - below
                if epsilon is None:
                    factor = 1 + math.exp(-2 * half * math.cos(angle))
                else:
                    factor = -math.expm1(-4 * half * math.sin(high - below / 2) * math.sin(below / 2))
                exponent = 2 * half * math.sin((self.peak + angle) / 2) * math.sin((self.peak - angle) / 2)
                exponent += (self.dimension - 2) * (_log_sine(angle) - highest)
                terms.append(weight * math.exp(exponent) * (1 + self.share * math.sin(angle) ** 2) * factor)
            errors.append(self._largest(high - radius * piece, radius, epsilon or 0.0))
        return radius * math.fsum(terms), radius * QUADRATURE * math.fsum(errors)

    def _largest(self, centre: float, radius: float, epsilon: float) -> float:
        """Return what the modulus of the integrand can be on the ellipse of a piece, each factor by itself."""
        across, upward = radius * (ELLIPSE + 1 / ELLIPSE) / 2, radius * (ELLIPSE - 1 / ELLIPSE) / 2
        first, last = max(centre - across, 0.0), centre + across
        squared_sine = math.sin(min(last, math.pi / 2)) ** 2 + math.sinh(upward) ** 2
        rising = self.half * math.cos(first) * math.cosh(upward)
        falling = epsilon - self.half * math.cos(last) * (math.cosh(upward) if last > math.pi / 2 else 1.0)
        power = (self.dimension - 2) * (math.log(squared_sine) / 2 - math.log(math.sin(self.peak)))
        # The 1 is for the rounding of these exponents. Beyond e^700 the error is above 1 in any case.
        exponent = power + max(rising, falling) - self.half * math.cos(self.peak) + 1
        return 2 * math.exp(min(exponent, 700.0)) * (1 + self.share * squared_sine)


def _log_sine(angle: float) -> float:
    """Return ``log sin t`` without losing digits where the sine is nearly 1."""
    cosine = abs(math.cos(angle))
    return math.log1p(-(cosine**2)) / 2 if cosine < 0.7 else math.log(math.sin(angle))


def bessel_ratio(dimension: int, argument: float) -> float:
    """Return ``K_{d/2}(z) / K_{d/2-1}(z)`` by the recurrence ``r(k) = 2 k / z + 1 / r(k - 1)``, all terms positive.

    Examples
    --------
    >>> bessel_ratio(3, 2.0), bessel_ratio(5, 2.0)  # 1 + 1/z, and 3/z + 1 / (1 + 1/z)
    (1.5, 2.1666666666666665)
    """
    order, ratio = (0.0, _first_ratio(argument)) if dimension % 2 == 0 else (-0.5, 1.0)
    while order < dimension / 2 - 1:
        order += 1
        ratio = 2 * order / argument + 1 / ratio
    return ratio


def _first_ratio(argument: float) -> float:
    """Return ``K_1(z) / K_0(z)`` by the trapezoid rule on ``int exp(-z cosh t) cosh(k t) dt``, all terms positive.

    The integrand is analytic in a strip of half-width pi/2 and falls faster than any power, so that with steps of
    ``h <= 0.2`` the rule is wrong by less than ``exp(-pi^2 / h)``, far below a double's last digit.
    """
    step = min(0.2, 0.5 / math.sqrt(argument))
    above, below = [0.5], [0.5]
    for count in range(1, 10_000):
        # cosh t - 1 = 2 sinh(t/2)^2, without cancellation.
        rise = 2 * math.sinh(count * step / 2) ** 2
        if argument * rise > 45:
            break
        weight = math.exp(-argument * rise)
        above.append((1 + rise) * weight)
        below.append(weight)
    return math.fsum(above) / math.fsum(below)
