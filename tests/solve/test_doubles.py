"""What doubles lose, against exact fractions: the model of arithmetic of pages A4 and M4 holds, and is attained."""

import math
from fractions import Fraction

import numpy as np
import pytest

import equipoise as eq
from equipoise.data.rows import Rows

U, TINY = Fraction(1, 2**53), Fraction(1, 2**1075)


def lost(computed: float, exact: Fraction) -> Fraction:
    """Return how far a double is from the exact result."""
    return abs(Fraction(computed) - exact)


def test_one_rounding_costs_a_unit_or_half_of_the_smallest_double_and_no_more():
    # A tie goes to the even neighbour; what is below the smallest double is lost whole.
    assert lost(1.0 + 2.0**-53, 1 + U) == U
    assert lost(5e-324 * 0.5, TINY) == TINY
    generator = np.random.default_rng(0)
    for x, y in generator.normal(size=(2000, 2)) * 10.0 ** generator.uniform(-150, 150, size=(2000, 2)):
        a, b = Fraction(float(x)), Fraction(float(y))
        assert lost(x + y, a + b) <= U * abs(a + b)
        assert lost(x * y, a * b) <= U * abs(a * b) + TINY
        assert lost(x / y, a / b) <= U * abs(a / b) + TINY
        root = Fraction(math.sqrt(abs(x)))
        # |root - sqrt(x)| <= u sqrt(x), squared.
        assert (root / (1 + U)) ** 2 <= abs(a) <= (root / (1 - U)) ** 2


@pytest.mark.parametrize("count", [2, 64, 4097])
def test_a_sum_of_products_loses_as_many_units_as_a_product_goes_through_roundings(count):
    total = 1.0
    for _ in range(count - 1):
        total += 2.0**-53
    # Each addition loses a whole unit: what is lost comes as near to the bound as one likes.
    assert lost(total, 1 + (count - 1) * U) == (count - 1) * U
    generator = np.random.default_rng(count)
    x, y = generator.normal(size=(2, count))
    products = [Fraction(a) * Fraction(b) for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    most = ((1 + U) ** count - 1) * sum(map(abs, products)) + count * TINY * (1 + U) ** count
    assert 0 < lost(float(x @ y), sum(products, Fraction(0))) <= most


def test_clipped_rows_are_as_long_as_m4_says_and_some_are_longer_than_declared():
    generator, longer = np.random.default_rng(3), 0
    declared = Fraction(0.7)
    for dimension in (1, 3, 20):
        X = generator.normal(size=(300, dimension)) * 10.0 ** generator.uniform(-3, 3, size=(300, 1))
        rows = Rows(X, eq.Domain(row_norm=0.7, classes=(0, 1)), 0.0)
        most = (declared * (1 + (Fraction(dimension, 2) + 5) * U)) ** 2
        for row in np.concatenate([block for block, _ in rows.blocks()]).tolist():
            square = sum((Fraction(entry) ** 2 for entry in row), Fraction(0))
            assert square <= most
            longer += square > declared**2
    assert longer > 0
