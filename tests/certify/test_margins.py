"""The two allowances of the trusted base, 1e-9 on bounds and 1e-12 in comparing them, in exact fractions (page M4)."""

import math
from fractions import Fraction

from equipoise.certify.claims.base import AGREEMENT, at_most
from equipoise.certify.theorems.base import ROUNDING_MARGIN

# 4 million weights, the most that are planned.
ETA = (Fraction(4_000_000, 2) + 5) / 2**53
LOST = Fraction(1, 10**14)


def test_the_margin_and_the_agreement_leave_what_m4_says():
    longest = (1 + ETA) ** 3
    assert longest <= 1 + Fraction(7, 10**10)
    widened = (1 + Fraction(ROUNDING_MARGIN)) * (1 - LOST)
    left = widened / Fraction(AGREEMENT) / longest - 1
    assert left >= Fraction(29, 10**11)
    # Without the margin nothing is left: the sum is no formality.
    assert (1 - LOST) / Fraction(AGREEMENT) / longest < 1


def test_a_bound_may_exceed_what_is_recorded_by_the_agreement_and_by_no_more():
    recorded = 0.7
    most = recorded * AGREEMENT
    # What M4_sum grants: the product is rounded, and so is the number.
    assert Fraction(most) <= Fraction(recorded) * (1 + Fraction(11, 10**13))
    assert at_most("A1", most, recorded).holds
    assert not at_most("A1", math.nextafter(most, 1.0), recorded).holds
