"""Rows are clipped to a sum of absolute values beside their norm, by every way that rows take (E2d)."""

import math

import numpy as np
import pytest
import scipy

import equipoise as eq
from equipoise.data.encoder import Encoder
from equipoise.data.engines.pieces import clipped_in_place
from equipoise.data.projection import directions, projected_rows
from equipoise.data.rows import row_source
from equipoise.data.schema import CategoryColumn, NumberColumn, Schema, Target
from equipoise.data.schema.kinds.date import DateColumn
from equipoise.errors import InvalidParameter

# As during a fit, in which no value may raise.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

SUMMED = eq.Domain(row_norm=2.0, classes=(0, 1), row_sum=3.0)
COUNT, COLUMNS = 5000, 12


def hostile_rows() -> np.ndarray:
    """Return rows inside both bounds, beyond one of them, beyond both, and such that hold what no factor can clip."""
    coins = np.random.default_rng(7)
    rows = coins.normal(size=(COUNT, COLUMNS)) * np.exp(coins.normal(size=(COUNT, 1)) * 2 - 2)
    rows[::7, 2:] = 0.0
    rows[3], rows[4], rows[5], rows[6] = np.nan, np.inf, 1e200, 0.0
    rows[8, 0] = -np.inf
    rows[9] = 2.0 / math.sqrt(COLUMNS)  # of the norm exactly, and of more than the sum
    return rows


def assert_inside(rows: np.ndarray) -> None:
    assert np.linalg.norm(rows, axis=1).max() <= 2.0 * (1 + 1e-13)
    assert np.abs(rows).sum(axis=1).max() <= 3.0 * (1 + 1e-13)
    # Both bounds are met by some row, and a row inside both is left as it is.
    assert np.linalg.norm(rows, axis=1).max() >= 2.0 * (1 - 1e-13)
    assert np.abs(rows).sum(axis=1).max() >= 3.0 * (1 - 1e-13)


@pytest.mark.parametrize("kind", ["dense", "columns first", "sparse"])
def test_every_source_of_rows_clips_both(kind):
    given = hostile_rows()
    table = {"dense": given, "columns first": np.asfortranarray(given), "sparse": scipy.sparse.csr_array(given)}[kind]
    source = row_source(table, SUMMED, intercept=0.5)
    blocks = [block.toarray() if scipy.sparse.issparse(block) else block.copy() for block, _ in source.blocks()]
    rows = np.vstack(blocks)
    assert_inside(rows[:, :-1])
    assert (rows[:, -1] == 0.5).all()
    small = np.flatnonzero((np.linalg.norm(given, axis=1) < 1.9) & (np.abs(given).sum(axis=1) < 2.9))
    assert len(small) > 100
    assert (rows[small, :-1] == given[small]).all()
    weights = np.linspace(-1, 1, COLUMNS + 1)
    assert source.predictions(weights) == pytest.approx(rows @ weights, abs=1e-12)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_rows_for_compiled_loops_are_clipped_to_both(kind):
    found = row_source(hostile_rows().astype(kind), SUMMED, intercept=0.0).arrays()
    rows = found.matrix.astype(np.float64) * found.factors[:, None]
    assert_inside(np.where(np.isfinite(rows), rows, 0.0))


def test_what_a_row_becomes_depends_on_no_other_row_however_far_apart_norm_and_sum_are():
    domain = eq.Domain(row_norm=9e54, classes=(0, 1), row_sum=1e-100)
    given = np.tile([9.4e153, 9e153], (10, 1))
    tables = []
    for last in (0.0, np.nan):
        given[-1] = last
        tables.append(np.vstack([block.copy() for block, _ in row_source(given, domain, intercept=0.0).blocks()]))
    assert (tables[0] == tables[1]).all()
    assert np.abs(tables[0][0]).sum() == pytest.approx(1e-100)


def test_pieces_and_directions_are_clipped_to_both():
    given = hostile_rows()
    expected = np.vstack([block.copy() for block, _ in row_source(given, SUMMED, intercept=0.0).blocks()])
    assert (clipped_in_place(given.copy(), SUMMED, 0.0) == expected).all()
    columns = directions(COLUMNS, 4, public_seed=0)
    assert_inside(np.vstack([block.copy() for block, _ in projected_rows(given, SUMMED, 0.0, columns).blocks()]))


def test_rows_of_a_schema_keep_to_its_sum_and_some_come_near():
    levels = tuple("abcdefgh")
    columns = (
        NumberColumn("dose", (0, 1), indicator=True),
        CategoryColumn("ward", levels, unknown="a"),
        CategoryColumn("sort", levels, unknown="a"),
        DateColumn("day", parts=("cyclic month", "weekday")),
    )
    for row_norm in (None, 1.5):
        schema = Schema(2, columns, Target("ill", classes=("no", "yes")), row_norm=row_norm)
        count = 2000
        coins = np.random.default_rng(3)
        days = [f"2020-{month:02}-17" for month in coins.integers(1, 13, count)]
        raw = {
            "dose": np.where(coins.random(count) < 0.2, np.nan, coins.integers(-3, 4, count)),
            "ward": coins.choice(np.array(levels, dtype=object), count),
            "sort": coins.choice(np.array(levels, dtype=object), count),
            "day": np.array(days, dtype=object),
        }
        sums = np.abs(Encoder(schema).encode(raw, count)).sum(axis=1)
        largest = schema.domain.row_sum or 0.0
        assert 0.8 * largest < sums.max() <= largest * (1 - 1e-10)


def test_a_schema_says_nothing_about_sums_where_every_row_of_its_length_keeps_to_them():
    columns = tuple(NumberColumn(name, (0, 1)) for name in "abc")
    assert Schema(2, columns, Target("ill", classes=("no", "yes"))).domain.row_sum is None


@pytest.mark.parametrize("row_sum", [0.0, -1.0, math.nan, math.inf, "4", True])
def test_a_sum_that_is_none_is_refused(row_sum):
    with pytest.raises(InvalidParameter, match="row_sum"):
        eq.Domain(1.0, classes=(0, 1), row_sum=row_sum)


def test_sums_make_the_noise_smaller_where_rows_have_few_entries():
    few, any_row = (eq.Domain(1.0, classes=(0, 1), row_sum=summed) for summed in (2.0, None))
    deviations = {
        domain: eq.LogisticRegression(epsilon=1.0, domain=domain, alpha=1.0).plan(10_000, 100).claim.noise
        for domain in (few, any_row)
    }
    assert deviations[few].law == "laplace"
    assert deviations[any_row].law == "spherical-laplace"
    # sqrt(2) times a sum of 2.2 against sqrt(102) times a length of 1.02, but for the price of the determinant.
    quieter = math.sqrt(2) * deviations[few].scale / (math.sqrt(102) * deviations[any_row].scale)
    assert quieter == pytest.approx(math.sqrt(2) * 2.2 / (math.sqrt(102) * math.hypot(1, 0.2)), rel=1e-3)
