"""What an attacker gains from a release, at most: whatever method, computing power and knowledge of other rows (N7).

The attacker knows two candidate records, one of which was in the table, and all others; sees the release; names one.
"""

import math

from ..vocabulary.records import Record
from .curves import Curve, GaussianCurve, WholeCurve, points_of

# False-positive rates at which attacks are compared.
RATES = (0.001, 0.01, 0.1)


class Gains(Record):
    """The most that an attacker can gain, each number rounded up.

    `advantage` is the largest difference of true and false positive rate, `guess` the largest chance to name the right
    one of two candidates that are equally likely, ``(1 + advantage) / 2``. `true_positive_rates` has the largest true
    positive rate for each rate of false positives. `mu` is the parameter of a release with Gaussian noise alone.
    """

    advantage: float
    guess: float
    true_positive_rates: tuple[tuple[float, float], ...]
    mu: float | None = None


def true_positive_rate(curve: Curve, last: float, false: float) -> float:
    """Return the largest true positive rate at a rate of false positives above 0, from a curve up to an epsilon `last`.

    The smallest of ``e^epsilon false + delta`` and ``1 - e^-epsilon (1 - delta - false)`` over points of the curve.

    Examples
    --------
    >>> from .curves import PureCurve
    >>> round(true_positive_rate(PureCurve(1.0), 1.0, 0.01), 6)
    0.027183
    """
    found = 1.0
    for epsilon, delta in points_of(curve, last):
        less = math.exp(-epsilon)
        # expm1: the other form as it is written would lose the digits of small rates.
        found = min(found, false / less + delta if less else 1.0, less * (delta + false) - math.expm1(-epsilon))
    return min(1.0, found * (1 + 1e-12))


def gains_of(curve: Curve, last: float) -> Gains:
    """Return what an attacker gains from a release of this curve that claims an epsilon of `last`."""
    advantage = WholeCurve(curve, last).delta(0.0)
    rates = tuple((false, true_positive_rate(curve, last, false)) for false in RATES)
    # A curve's own mu is a quotient, or a product with a root, of doubles.
    mu = curve.mu * (1 + 1e-15) if isinstance(curve, GaussianCurve) else None
    return Gains(advantage, min(1.0, (1 + advantage) / 2 * (1 + 1e-15)), rates, mu)
