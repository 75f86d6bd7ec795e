"""Private bounds (Q1): the sensitivity of scores, OpenDP's own privacy map, an audit, and the law of both samplers."""

from dataclasses import replace

import numpy as np
import opendp.prelude as dp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency

import equipoise as eq
from auditing import FAILURE, audit
from equipoise.certify.claims.private_bounds import CANDIDATES, LEVELS, PrivateBounds, ReleasedBounds
from equipoise.errors import InvalidParameter
from equipoise.noise import ExactSource, SeededSource
from equipoise.planning.issue import bounds_claim
from equipoise.planning.request import Bounds
from equipoise.release.carriers.compositions import ordered


def claimed(columns: tuple[str, ...], epsilon: float, n_samples: int = 1000) -> PrivateBounds:
    """Return the claim of bounds for these columns, which was checked."""
    claim = bounds_claim(Bounds(columns, epsilon), n_samples)
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


@pytest.mark.parametrize("source", [ExactSource(), SeededSource(1)], ids=["exact", "seeded"])
def test_with_little_noise_the_quantile_is_the_nearest_candidate(source):
    values = np.linspace(0, 100, 1001)
    assert source.quantile(values, CANDIDATES, 0.5, 1e-3) == 50.0
    assert source.quantile(values, CANDIDATES, 0.99, 1e-3) == 100.0


def test_both_samplers_have_the_same_law():
    values, scale, runs = np.array([0.5] * 3 + [30.0] * 4), 2.0, 400
    exact, seeded = ExactSource(), SeededSource(5)
    drawn = [
        np.searchsorted(
            (-1.0, 0.0, 0.5, 30.0, 100.0), [source.quantile(values, CANDIDATES, 0.5, scale) for _ in range(runs)]
        )
        for source in (exact, seeded)
    ]
    table = np.array([np.bincount(places, minlength=6) for places in drawn])
    assert chi2_contingency(table[:, table.sum(axis=0) > 10]).pvalue > 1e-5


# The worst pair: all values at one end, or one of them at the other; the event is that the far end is released.
FIRST, SECOND = np.full(5, CANDIDATES[0]), np.array([CANDIDATES[0]] * 4 + [CANDIDATES[-1]])
AUDITED = claimed(("age",), 4.0, len(FIRST))


def far_ends(values, scale, runs, seed):
    source = SeededSource(seed)
    return np.array([source.quantile(values, CANDIDATES, 0.5, scale) for _ in range(runs)])


at_both_powers = pytest.mark.parametrize("runs", [4000, pytest.param(20_000, marks=pytest.mark.statistics)])


def observed(scale, runs):
    thresholds = np.array([CANDIDATES[0], 0.0])
    first, second = (far_ends(values, scale, runs, seed) for seed, values in enumerate((FIRST, SECOND)))
    return audit(first, second, 0.0, thresholds, FAILURE).epsilon


@at_both_powers
def test_the_audit_of_a_quantile_stays_below_its_claim(runs):
    assert observed(AUDITED.scale, runs) <= AUDITED.budget.epsilon / 2


@at_both_powers
def test_the_audit_catches_halved_noise(runs):
    assert observed(AUDITED.scale / 2, runs) > AUDITED.budget.epsilon / 2


def test_the_part_for_bounds_must_leave_something():
    with pytest.raises(InvalidParameter, match="whole epsilon"):
        Bounds(("age",), 1.0).left(eq.Budget(1.0))
    with pytest.raises(InvalidParameter, match="once"):
        Bounds(("age", "age"), 0.1)
    with pytest.raises(InvalidParameter, match="once"):
        Bounds((), 0.1)
    with pytest.raises(InvalidParameter, match="epsilon for private bounds"):
        Bounds(("age",), -0.1)


@given(st.sampled_from(CANDIDATES), st.sampled_from(CANDIDATES))
def test_any_two_quantiles_become_bounds_on_the_grid(first, second):
    assert replace(claimed(("age",), 0.1), released=(ordered("age", first, second),)).check() == ()


def test_the_scale_pays_for_every_quantile():
    for epsilon in (0.1, 1 / 3, 2.0):
        for count in (1, 3, 7):
            columns = tuple(f"c{place}" for place in range(count))
            assert 2 * count * (2 / claimed(columns, epsilon).scale) <= epsilon
            total = eq.Budget(epsilon + 1.0)
            assert Bounds(columns, epsilon).left(total).epsilon + epsilon <= total.epsilon


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
