"""Private bounds by quantiles (Q1), which are recorded and no longer made: their sensitivity, and their check."""

from dataclasses import replace

import numpy as np
import opendp.prelude as dp
import pytest
from hypothesis import given
from hypothesis import strategies as st

import equipoise as eq
from equipoise.certify.claims.private_bounds import CANDIDATES, LEVELS, PrivateBounds, ReleasedBounds


def claimed(columns: tuple[str, ...], epsilon: float, n_samples: int = 1000) -> PrivateBounds:
    """Return the claim of bounds for these columns, as it was planned once, which was checked."""
    scale = len(LEVELS) * len(columns) * 2 / epsilon * (1 + 1e-14)
    claim = PrivateBounds(eq.Budget(epsilon), n_samples, columns, scale)
    assert claim.check() == ()
    return claim


def scores(values, level):
    values = np.asarray(values)
    below = np.array([(values < candidate).sum() for candidate in CANDIDATES])
    above = np.array([(values > candidate).sum() for candidate in CANDIDATES])
    return -np.abs((1 - level) * below - level * above)


def test_the_grid_is_public_ordered_and_symmetric():
    assert list(CANDIDATES) == sorted(set(CANDIDATES))
    assert [-value for value in reversed(CANDIDATES)] == list(CANDIDATES)
    assert len(CANDIDATES) == 229


numbers = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(numbers, min_size=1, max_size=12), numbers, st.sampled_from(LEVELS), st.data())
def test_replacing_a_value_moves_no_score_by_more_than_1(values, other, level, data):
    changed = list(values)
    changed[data.draw(st.integers(0, len(values) - 1))] = other
    assert np.abs(scores(values, level) - scores(changed, level)).max() <= 1 + 1e-9


def test_the_bound_on_a_score_is_attained():
    low, high = [CANDIDATES[0]] * 200, [CANDIDATES[0]] * 199 + [CANDIDATES[-1]]
    assert np.abs(scores(low, 0.99) - scores(high, 0.99)).max() == pytest.approx(1.0)


@pytest.mark.parametrize("n_samples", [1, 2, 10, 1001, 32561])
@pytest.mark.parametrize("level", LEVELS)
def test_opendps_own_map_agrees_with_the_scale(n_samples, level):
    claim = claimed(("age", "height", "weight"), 0.3, n_samples)
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False), size=n_samples), dp.symmetric_distance()
    dp.enable_features("contrib")
    quantile = dp.m.make_private_quantile(*space, dp.max_divergence(), list(CANDIDATES), level, claim.scale)
    # One replaced row is one value taken away and one added.
    assert 0.999 * 0.05 < quantile.map(2) <= 0.05


def test_a_scale_that_pays_for_fewer_quantiles_is_noticed():
    claim = claimed(("age", "height"), 0.2)
    for unsafe in (
        replace(claim, scale=claim.scale * 0.999),
        replace(claim, columns=("age", "height", "weight")),
        replace(claim, budget=eq.Budget(0.19)),
    ):
        assert any("delta(" in fault for fault in unsafe.check())
    assert any("named once" in fault for fault in replace(claim, columns=("age", "age")).check())


def test_bounds_off_the_grid_out_of_order_or_of_other_columns_are_named():
    claim = claimed(("age", "height"), 0.2)
    height = ReleasedBounds("height", 1.0, 2.0)
    for low, high in ((17.0, 100.0), (15.0, 90.0), (100.0, 15.0), (15.0, 15.0)):
        faults = replace(claim, released=(ReleasedBounds("age", low, high), height)).check()
        assert faults == ("private-bounds: the bounds of age lie on the public grid, in order",)
    for released in ((height,), (height, ReleasedBounds("age", 15.0, 100.0))):
        faults = replace(claim, released=released).check()
        assert faults == ("private-bounds: bounds were released for the columns that were paid for",)
    assert replace(claim, released=(ReleasedBounds("age", 15.0, 100.0), height)).check() == ()
