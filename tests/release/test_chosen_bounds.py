"""Private bounds (N6): how far a row moves scores, the law of the choice, audits that can fail, useful ranges."""

import importlib.util
from dataclasses import replace
from pathlib import Path

import numpy as np
import opendp.prelude as dp
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, chi2_contingency

import equipoise as eq
from auditing import FAILURE, audit
from equipoise.certify.claims.chosen_bounds import LARGEST, MOST_UNITS, SMALLEST, UNITS, ChosenBounds
from equipoise.certify.claims.private_bounds import ReleasedBounds
from equipoise.data.cells import Cells
from equipoise.data.schema import NumberColumn, Schema, Target
from equipoise.errors import InvalidParameter
from equipoise.noise import ExactSource, NoiseSource, SeededSource
from equipoise.planning.kinds.chosen_bounds import ROWS_TO_SCALE, chosen_bounds
from equipoise.planning.request import Bounds
from equipoise.release.carriers import chosen_bounds as carrier
from equipoise.release.carriers.chosen_bounds import chosen
from equipoise.release.intervals import CELLS, PARTS, Intervals, intervals

_spec = importlib.util.spec_from_file_location(
    "private_bounds_benchmark", Path(__file__).parents[2] / "benchmarks" / "private_bounds.py"
)
benchmark = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(benchmark)

GRID = intervals()


def claimed(columns: tuple[str, ...], epsilon: float, n_samples: int = 10**6) -> ChosenBounds:
    """Return the claim of bounds for these columns, which was checked."""
    claim = chosen_bounds(Bounds(columns, epsilon), n_samples)
    assert claim.check() == ()
    return claim


# The grid and its cells


def test_every_interval_is_one_that_the_check_takes_and_none_comes_twice():
    claim = claimed(("age",), 0.1)
    assert all(map(claim.on_grid, GRID.lows.tolist(), GRID.highs.tolist()))
    assert len({*zip(GRID.lows, GRID.highs, strict=True)}) == len(GRID.lows) > 50_000
    # Mirrored, so that no sign is preferred.
    assert {*zip(-GRID.highs, -GRID.lows, strict=True)} == {*zip(GRID.lows, GRID.highs, strict=True)}


def test_wherever_numbers_lie_a_finest_interval_holds_them():
    for value in (0.0, 1e-7, 3.0, -170.0, 1999.0, -1e12, 1e-5):
        held = (GRID.lows <= value) & (value <= GRID.highs)
        width = (GRID.highs - GRID.lows)[held].min()
        assert width <= max(abs(value) * 4 * UNITS / MOST_UNITS, UNITS * 2.0**SMALLEST)


everything = st.one_of(
    st.floats(),
    st.sampled_from([0.0, -0.0, 1.0, -1.0, 512.0, -512.0, 2.0**SMALLEST, 2.0**LARGEST, -(2.0**LARGEST), 5e-324, 1e308]),
    st.integers(-2000, 2000).map(float),
)


@given(st.lists(everything, max_size=30))
def test_counts_in_cells_are_counts_of_numbers(values):
    numbers = np.array(values)
    counts = CELLS.counts(numbers)
    assert counts.sum() == np.count_nonzero(np.isfinite(numbers))
    below = np.concatenate([[0], np.cumsum(counts)])
    places = np.random.default_rng(len(values)).integers(0, len(GRID.lows), 200)
    for place in places:
        low, high = GRID.lows[place], GRID.highs[place]
        found = below[GRID.stop[place]] - below[GRID.first[place]]
        # Ends, and what is nearer to zero than the smallest unit, may count or not: by a public rule for each number.
        near = np.abs(numbers) < 2.0**SMALLEST
        certain = (numbers > low) & (numbers < high) & ~near
        possible = ((numbers >= low) & (numbers <= high)) | near
        assert np.count_nonzero(certain) <= found <= np.count_nonzero(possible)


# The sensitivity


@settings(max_examples=60)
@given(st.lists(everything, min_size=1, max_size=20), everything, st.data())
def test_replacing_a_value_moves_no_score_by_more_than_one_row(values, other, data):
    changed = list(values)
    changed[data.draw(st.integers(0, len(values) - 1))] = other
    before, after = (GRID.scores(CELLS.counts(np.array(numbers))) for numbers in (values, changed))
    assert np.abs(before - after).max() <= PARTS


# The narrowest intervals around 1000 and around -7, neither of which holds the other.
A, B = (int(np.flatnonzero((GRID.lows < value) & (value < GRID.highs))[0]) for value in (1000.0, -7.0))
FIRST, SECOND = np.full(5, 1000.0), np.array([1000.0] * 4 + [-7.0])


def test_the_bound_on_a_score_is_attained_in_both_directions_at_once(witness):
    moved = GRID.scores(CELLS.counts(SECOND)) - GRID.scores(CELLS.counts(FIRST))
    witness("N6", PARTS, -moved[A], "score that the row left")
    witness("N6", PARTS, moved[B], "score that the row entered")
    assert (moved[A], moved[B]) == (-PARTS, PARTS)


def twice(self, numbers):
    """A fault: a number is counted in its cell and in the next one."""
    places = self.places(numbers)
    return np.bincount(np.concatenate([places, places + 1]), minlength=self.count + 1)[: self.count]


def test_a_value_in_two_cells_would_move_a_score_too_far(monkeypatch):
    monkeypatch.setattr(Cells, "counts", twice)
    moved = GRID.scores(CELLS.counts(SECOND)) - GRID.scores(CELLS.counts(FIRST))
    assert np.abs(moved).max() > PARTS


# The choice


def test_opendps_own_map_agrees_with_the_scale():
    dp.enable_features("contrib")
    for columns in (1, 3, 7):
        for epsilon in (0.01, 1 / 3, 2.0):
            claim = claimed(tuple(f"c{place}" for place in range(columns)), epsilon)
            space = dp.vector_domain(dp.atom_domain(T=int), size=9), dp.linf_distance(T=int)
            choice = dp.m.make_noisy_max(*space, dp.max_divergence(), scale=PARTS * claim.scale)
            assert 0.999 * epsilon < columns * choice.map(PARTS) <= epsilon


class LawsAlone(NoiseSource):
    """A source that leaves the choice to the base class."""

    seeded = True

    def __init__(self, seed):
        self._inner = SeededSource(seed)

    def add(self, law, weights, scale):
        return self._inner.add(law, weights, scale)

    def subset(self, count, size):
        raise AssertionError


def test_all_samplers_have_the_same_law():
    scores, runs = np.array([0, 16, -20, 10, 16]), 600
    drawn = [
        [source.largest(scores, 20.0) for _ in range(runs)] for source in (ExactSource(), SeededSource(5), LawsAlone(6))
    ]
    table = np.array([np.bincount(places, minlength=len(scores)) for places in drawn])
    assert chi2_contingency(table).pvalue > 1e-5


@pytest.mark.parametrize("source", [ExactSource(), SeededSource(1)], ids=["exact", "seeded"])
def test_a_release_is_an_interval_of_the_grid_that_fits(source):
    bounds = chosen("height", CELLS.counts(np.random.default_rng(0).normal(170, 10, 5000)), 50.0, source)
    assert replace(claimed(("height",), 0.1), released=(bounds,)).check() == ()
    assert benchmark.is_useful(np.random.default_rng(0).normal(170, 10, 5000), bounds.low, bounds.high)


# The audit, on the pair and the two intervals at which the bound is attained

TWO = Intervals(*(getattr(GRID, name)[[A, B]] for name in ("lows", "highs", "first", "stop")), *np.zeros((3, 0), int))
TWO = replace(TWO, third_first=np.zeros((0, 1), int), third_stop=np.zeros((0, 1), int))
EPSILON = 2.0
at_both_powers = pytest.mark.parametrize("runs", [3000, pytest.param(20_000, marks=pytest.mark.statistics)])


def observed(runs, rows, scale=2 / EPSILON):
    """The lower bound on epsilon from how often the rarer of two intervals is released, on neighbours of few rows."""
    outcomes = []
    for seed, values in enumerate((SECOND[-rows:], FIRST[-rows:])):
        counts, source = CELLS.counts(values), SeededSource(seed)
        released = [chosen("age", counts, scale, source).low == TWO.lows[1] for _ in range(runs)]
        outcomes.append(np.array(released, dtype=float))
    return audit(*outcomes, 0.0, np.array([0.5]), FAILURE).epsilon


@pytest.fixture
def two_intervals(monkeypatch):
    monkeypatch.setattr(carrier, "intervals", lambda: TWO)


@at_both_powers
@pytest.mark.usefixtures("two_intervals")
def test_the_audit_stays_below_the_claim_and_comes_near(runs):
    assert claimed(("age",), EPSILON).scale == pytest.approx(2 / EPSILON)
    assert 0.5 * EPSILON < observed(runs, rows=3) <= EPSILON


def counted_twice(self, numbers):
    """A fault: every row counts twice."""
    return 2 * np.bincount(self.places(numbers), minlength=self.count)


@at_both_powers
@pytest.mark.usefixtures("two_intervals")
def test_the_audit_catches_halved_noise(runs):
    assert observed(runs, rows=2, scale=1 / EPSILON) > EPSILON


@at_both_powers
@pytest.mark.usefixtures("two_intervals")
def test_the_audit_catches_rows_that_count_twice(runs, monkeypatch):
    monkeypatch.setattr(Cells, "counts", counted_twice)
    assert observed(runs, rows=2) > EPSILON


@at_both_powers
@pytest.mark.usefixtures("two_intervals")
def test_the_audit_catches_noise_for_a_row_where_scores_have_sixteenths(runs, monkeypatch):
    monkeypatch.setattr(carrier, "PARTS", 4)
    assert observed(runs, rows=1) > EPSILON


# The claim


def test_the_scale_pays_for_every_column():
    for epsilon in (0.1, 1 / 3, 2.0):
        for count in (1, 3, 7):
            columns = tuple(f"c{place}" for place in range(count))
            assert count * (2 / claimed(columns, epsilon).scale) <= epsilon
            total = eq.Budget(epsilon + 1.0)
            assert Bounds(columns, epsilon).left(total).epsilon + epsilon <= total.epsilon


def test_the_part_for_bounds_must_leave_something():
    with pytest.raises(InvalidParameter, match="whole epsilon"):
        Bounds(("age",), 1.0).left(eq.Budget(1.0))
    with pytest.raises(InvalidParameter, match="once"):
        Bounds(("age", "age"), 0.1)
    with pytest.raises(InvalidParameter, match="once"):
        Bounds((), 0.1)
    with pytest.raises(InvalidParameter, match="epsilon for private bounds"):
        Bounds(("age",), -0.1)


def test_a_scale_that_pays_for_fewer_columns_is_noticed():
    claim = claimed(("age", "height"), 0.2)
    for unsafe in (
        replace(claim, scale=claim.scale * 0.999),
        replace(claim, scale=-claim.scale),
        replace(claim, columns=("age", "height", "weight")),
        replace(claim, budget=eq.Budget(0.19)),
    ):
        assert any("delta(" in fault for fault in unsafe.check())
    assert any("named once" in fault for fault in replace(claim, columns=("age", "age")).check())


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (17.0, 113.0),
        (16.0, 90.0),
        (112.0, 16.0),
        (16.0, 16.0),
        (16.5, 112.5),
        (600.0, 606.0),
        (0.0, 6 * 2.0**-21),
        (0.0, 6 * 2.0**38),
        (0.0, float("inf")),
    ],
)
def test_bounds_off_the_grid_or_out_of_order_are_named(low, high):
    claim = claimed(("age", "height"), 0.2)
    height = ReleasedBounds("height", 128.0, 224.0)
    assert replace(claim, released=(ReleasedBounds("age", 16.0, 112.0), height)).check() == ()
    faults = replace(claim, released=(ReleasedBounds("age", low, high), height)).check()
    assert len(faults) == 1
    assert "the bounds of age lie on the public grid, in order" in faults[0] or "mean nothing" in faults[0]


def test_bounds_of_other_columns_and_of_persons_are_named():
    claim = claimed(("age", "height"), 0.2)
    age, height = ReleasedBounds("age", 16.0, 112.0), ReleasedBounds("height", 128.0, 224.0)
    for released in ((height,), (height, age)):
        faults = replace(claim, released=released).check()
        assert faults == ("chosen-bounds: bounds were released for the columns that were paid for",)
    assert ChosenBounds.units == ("row",)


# When they are worth it


@given(st.integers(1, 40), st.floats(0.001, 5.0), st.floats(0.01, 1.0))
def test_what_a_refusal_tells_to_do_is_enough_and_no_more(columns, epsilon, short):
    names = tuple(f"c{place}" for place in range(columns))
    needed = ROWS_TO_SCALE * 2 * columns / epsilon
    assert chosen_bounds(Bounds(names, epsilon), int(needed) + 2).scale * ROWS_TO_SCALE <= needed + 2
    n_samples = max(1, int(needed * short) - 1)
    with pytest.raises(InvalidParameter) as refusal:
        chosen_bounds(Bounds(names, epsilon), n_samples)
    words = refusal.value.remedy.split()
    enough = float(words[words.index("least") + 1])
    assert chosen_bounds(Bounds(names, enough), n_samples).check() == ()
    assert enough < 1.12 * 2 * columns * ROWS_TO_SCALE / n_samples
    assert chosen_bounds(Bounds(names, epsilon), int(refusal.value.found.split()[-1])).check() == ()
    if "most" in words:
        fewer = int(words[words.index("most") + 1])
        assert chosen_bounds(Bounds(names[:fewer], epsilon), n_samples).check() == ()


def test_a_part_that_would_do_is_told_to_the_digit():
    names = tuple("abcde")
    with pytest.raises(InvalidParameter, match=r"spend at least 0\.2 on bounds"):
        chosen_bounds(Bounds(names, 0.19), 5000)
    assert chosen_bounds(Bounds(names, 0.2), 5000).check() == ()


def test_too_few_rows_are_refused_before_anything_is_read(tmp_path):
    columns = tuple(NumberColumn(name, None) for name in ("age", "dose"))
    facts = Schema(300, columns, Target("ill", classes=("no", "yes")), vouched_by="A", vouched_on="2026-11-16")
    ledger = f"sqlite:///{tmp_path}/ledger.db#people"
    eq.Ledger(ledger).create(eq.Budget(3.0))
    model = eq.LogisticRegression(1.0, domain=facts.with_private_bounds(0.2), ledger=ledger)
    with pytest.raises(InvalidParameter, match=r"spend at least 1\.4 on bounds, declare the bounds in the schema"):
        model.fit(pyarrow.table({"age": [1.0] * 300, "dose": [1.0] * 300, "ill": ["no"] * 300}))
    assert len(eq.Ledger(ledger).history()) == 1


PROMISED = claimed(tuple("abcde"), benchmark.EPSILON, benchmark.ROWS).scale


def test_ranges_of_every_shape_are_of_use_at_the_promised_size():
    """Twenty shapes, ten columns each: where each is of use in 95 % of runs, 26 fail with a chance below 2e-5."""
    assert binom.sf(25, 200, 0.05) < 2e-5
    shares = [
        benchmark.share_useful(shape, benchmark.ROWS, PROMISED, 10, seed)
        for seed, shape in enumerate(benchmark.SHAPES.values())
    ]
    assert len(shares) == 20
    assert sum(10 * (1 - share) for share in shares) <= 25.5


@pytest.mark.parametrize(("rows", "columns", "epsilon"), [(8000, 3, 0.3), (80_000, 1, 0.1)])
def test_what_used_to_fail_gives_useful_ranges(rows, columns, epsilon):
    # Ten ranges: where 95 % are of use, four fail with a chance of 1e-3.
    scale = claimed(tuple(f"c{place}" for place in range(columns)), epsilon, rows).scale
    shape = benchmark.SHAPES["normal N(170, 10)"]
    assert benchmark.share_useful(shape, rows, scale, 10, seed=3) >= 0.7


@pytest.mark.statistics
@pytest.mark.parametrize("name", benchmark.SHAPES)
def test_all_of_five_columns_of_a_shape_are_of_use_in_95_of_100_runs(name):
    """False alarms: 1e-6 a test where the share of a column is the fifth root of 95 %, and the share is larger."""
    assert ROWS_TO_SCALE * PROMISED <= benchmark.ROWS * (1 + 1e-12)
    share = benchmark.share_useful(benchmark.SHAPES[name], benchmark.ROWS, PROMISED, 400, seed=benchmark.ROWS)
    assert round(400 * (1 - share)) <= binom.isf(1e-6, 400, 1 - 0.95 ** (1 / 5))


def test_missing_values_are_no_part_of_a_range():
    values = np.random.default_rng(1).normal(50, 5, 6000)
    values[::2] = np.nan
    bounds = chosen("age", CELLS.counts(values), 10.0, SeededSource(0))
    assert benchmark.is_useful(values[1::2], bounds.low, bounds.high)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e308, 5e-324], ids=str)
def test_a_column_of_nothing_else_still_has_bounds(value):
    bounds = chosen("age", CELLS.counts(np.full(6000, value)), 10.0, SeededSource(0))
    assert replace(claimed(("age",), 0.1), released=(bounds,)).check() == ()
