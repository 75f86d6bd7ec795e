"""The logistic loss's table of gradient diameters is what the rigorous search finds, and the search is rigorous."""

import itertools
import math

import numpy as np
import pytest

from diameter_search import SLOPE_PRODUCT, diameter_between, largest_distance, search_table, slope_in_norm
from equipoise.vocabulary.losses.logistic_table import DIAMETERS, NORMS

# How much too large an entry of the table may be, besides its rounding.
SLACK = 2e-3


def rounded_up(value: float) -> float:
    """Return the value with four decimals, rounded up, as the table prints it."""
    return math.ceil(value * 1e4) / 1e4


def gradients(norm: float, angles: np.ndarray) -> np.ndarray:
    """Return ``sigmoid(norm cos t) (cos t, sin t)`` as complex numbers, written apart from the module under test."""
    return np.exp(1j * angles) / (1 + np.exp(-norm * np.cos(angles)))


def test_table_covers_norms_from_a_tenth_to_a_hundred_in_order():
    assert len(NORMS) == len(DIAMETERS)
    assert (NORMS[0], NORMS[-1]) == pytest.approx((0.1, 100.0), rel=1e-14)
    assert all(low < high for low, high in itertools.pairwise(NORMS))
    assert all(low <= high for low, high in itertools.pairwise(DIAMETERS))
    assert max(DIAMETERS) <= 2.0  # the trivial bound: no gradient of a unit row is longer than 1


# Small, middle and large norms, and neighbours of each other; all entries, the long first one included, are in the slow
# lane.
@pytest.mark.parametrize("position", [1, 2, 60, 61, 119, 160])
def test_an_entry_is_what_the_search_finds(position):
    low = NORMS[position - 1] if position else 0.0
    found = rounded_up(min(2.0, diameter_between(low, NORMS[position], SLACK)))
    # Rounding up and a running maximum commute, so the entry before carries all that came earlier.
    before = DIAMETERS[position - 1] if position else 0.0
    assert DIAMETERS[position] == max(before, found)


@pytest.mark.statistics
def test_every_entry_is_what_the_search_finds():
    found = [rounded_up(diameter) for _, diameter in search_table(NORMS, SLACK)]
    assert found == list(DIAMETERS)


@pytest.mark.parametrize("norm", [1e-6, 0.3, 1.0, 3.0, 10.0, 40.0, 100.0])
def test_largest_distance_is_above_a_dense_grid_and_not_far_above(norm):
    slack = 1e-3
    angles = np.linspace(-math.pi, math.pi, 2401)
    points = gradients(norm, angles)
    upper_half = points[angles >= 0]  # mirror images: one of the two angles may be taken in [0, pi]
    on_grid = max(float(np.abs(chunk[:, None] - points[None, :]).max()) for chunk in np.array_split(upper_half, 8))
    bound = largest_distance(norm, slack)
    assert on_grid <= bound
    # Both angles are within half a mesh of a grid point, and |dp/dt| <= sqrt(1 + k^2/16).
    missed = 2 * (math.pi / 2400) * math.hypot(1.0, norm / 4)
    assert bound <= on_grid + missed + slack + 1e-9


@pytest.mark.parametrize(("low", "high"), [(0.0, 0.1), (0.9, 1.1), (5.0, 6.0), (50.0, 60.0)])
def test_diameter_between_is_above_every_norm_in_between(low, high):
    bound = diameter_between(low, high, 5 * SLACK)  # coarser than the table, and as rigorous: the slack is added
    angles = np.linspace(-math.pi, math.pi, 481)
    for norm in np.linspace(low, high, 21):
        points = gradients(norm, angles)
        assert np.abs(points[:, None] - points[None, :]).max() <= bound


def test_slope_in_norm_bounds_how_gradients_move_with_the_norm():
    # |dp/dk| = |cos t| sigmoid'(k cos t); at x = k cos t it is x sigmoid'(x) / k. The grid is fine enough for 1e-7.
    grid = np.linspace(0.0, 40.0, 400_001)
    product = grid / (2 * np.cosh(grid / 2)) ** 2
    assert SLOPE_PRODUCT - 1e-4 <= product.max() <= SLOPE_PRODUCT
    for norm in (0.0, 0.5, 0.9, 2.0, 30.0):
        for larger in (norm, 1.5 * norm, 4 * norm):
            cosines = np.linspace(-1.0, 1.0, 20_001)
            slopes = np.abs(cosines) / (2 * np.cosh(larger * cosines / 2)) ** 2
            assert slopes.max() <= slope_in_norm(norm)
