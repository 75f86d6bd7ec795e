"""Descents on tables that are never held: the same steps as in memory, in a public order that visits every row once."""

import errno
import itertools
import tracemalloc
from collections import Counter, namedtuple
from datetime import date

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

import equipoise as eq
from equipoise.data import scratch
from equipoise.data.encoded import encoded_table
from equipoise.data.engines import piles as piles_module
from equipoise.data.engines.piles import Piles
from equipoise.data.engines.stream import StreamTable
from equipoise.data.rows import coded_targets, row_source
from equipoise.data.schema import NumberColumn, Schema, Target
from equipoise.data.scratch import VARIABLE
from equipoise.errors import InvalidParameter, PrivateFailure
from equipoise.ledger import Ledger
from equipoise.noise import SeededSource
from equipoise.release import door
from equipoise.release.carriers import sgd as sgd_carrier
from equipoise.release.dealt_rows import DealtRows, Turns
from equipoise.solve.descents.stochastic import run_passes
from equipoise.vocabulary.constants import BLOCK_ROWS
from planted_engines import Planted
from planted_engines import schema as planted_schema

ROWS, COLUMNS = BLOCK_ROWS + 1300, 3
SCHEMA = Schema(
    ROWS,
    tuple(NumberColumn(f"c{place}", (-2, 2)) for place in range(COLUMNS)),
    Target("ill", classes=("no", "yes")),
    vouched_by="a test",
    vouched_on=date(2026, 1, 1),
)


@pytest.fixture(autouse=True)
def small_piles(monkeypatch, tmp_path_factory):
    """About six piles of a thousand rows, and fewer rows that wait."""
    a_row = 8 * (COLUMNS + 1) + piles_module.BYTES_BESIDES
    monkeypatch.setattr(piles_module, "PILE_BYTES", 1000 * a_row)
    monkeypatch.setattr(piles_module, "WAITING_BYTES", 300 * a_row)
    monkeypatch.setenv(VARIABLE, str(tmp_path_factory.mktemp("scratch")))


def frame(rows=ROWS):
    coins = np.random.default_rng(0)
    numbers = {f"c{place}": coins.normal(size=rows) for place in range(COLUMNS)}
    return pa.table({**numbers, "ill": np.where(numbers["c0"] + coins.normal(size=rows) > 0, "yes", "no")})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The rows in three uneven files."""
    found = tmp_path_factory.mktemp("parts")
    for number, (start, stop) in enumerate(itertools.pairwise([0, 10, 5000, ROWS])):
        parquet.write_table(frame().slice(start, stop - start), found / f"{number}.parquet", row_group_size=999)
    return found


@pytest.fixture
def before_noise(monkeypatch):
    """What noise is added to, in the order of additions."""
    seen, add = [], SeededSource.add

    def watched(self, law, weights, scale):
        seen.append(weights.copy())
        return add(self, law, weights, scale)

    monkeypatch.setattr(SeededSource, "add", watched)
    return seen


def numbered(n_samples, columns, seed=0):
    """Rows whose target is their place."""
    piles = Piles(n_samples, columns, seed)
    for first in range(0, n_samples, BLOCK_ROWS):
        places = np.arange(first, min(first + BLOCK_ROWS, n_samples), dtype=np.float64)
        piles.add(first, np.zeros((len(places), columns)), places)
    piles.finish()
    return piles


def dealt(piles, seed=0):
    problem = eq.Problem(eq.losses.named("logistic"), eq.penalties.named("none", 0.0), SCHEMA.domain, 0.0)
    return DealtRows(piles, problem, seed)


def public_orders(n_samples, batch, fresh, passes, columns=COLUMNS, seed=0):
    """The places that some passes visit, a list of batches a pass."""
    with numbered(n_samples, columns, seed) as piles:
        orders, places = [], []
        for hand in dealt(piles, seed).passes(batch, fresh):
            places.extend(hand.targets[hand.order].astype(int).tolist())
            if len(places) == n_samples:
                orders.append(np.array(places))
                places = []
            else:
                assert len(hand.order) % batch == 0
            if len(orders) == passes:
                return orders
    raise AssertionError


# --- the order --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch", [1, 64, 1777, ROWS])
@pytest.mark.parametrize("fresh", [False, True])
def test_a_pass_visits_every_row_once_in_whole_batches(batch, fresh):
    orders = public_orders(ROWS, batch, fresh, passes=3)
    for order in orders:
        assert np.sort(order).tolist() == list(range(ROWS))
    alike = [np.array_equal(orders[0], order) for order in orders[1:]]
    assert alike == ([False, False] if fresh else [True, True])


def test_the_order_depends_on_the_public_seed_and_not_on_the_size_of_batches():
    ordered = public_orders(ROWS, 1, False, 1)[0]
    assert np.array_equal(public_orders(ROWS, 777, False, 1)[0], ordered)
    assert not np.array_equal(public_orders(ROWS, 1, False, 1, seed=1)[0], ordered)


def test_every_order_of_few_rows_is_equally_likely(monkeypatch):
    # Two piles for four rows. Chi-square with 23 degrees of freedom exceeds 82 with probability 2e-8.
    monkeypatch.setattr(piles_module, "PILE_BYTES", 2 * (8 * (COLUMNS + 1) + piles_module.BYTES_BESIDES))
    counts = Counter(tuple(public_orders(4, 1, False, 1, seed=seed)[0]) for seed in range(1200))
    assert len(counts) == 24
    assert sum((count - 50) ** 2 for count in counts.values()) / 50 < 82


def test_phases_share_one_pass_and_no_row():
    with numbered(ROWS, COLUMNS) as piles:
        turns, met = Turns(dealt(piles).passes(1, fresh=False)), []
        for rows in (2500, 1, 1250, 600):
            places = [hand.targets[hand.order] for hand in turns.next_rows(rows)]
            met.append(np.concatenate(places))
            assert len(met[-1]) == rows
    assert np.array_equal(np.concatenate(met), public_orders(ROWS, 1, False, 1)[0][:4351])


def test_draws_are_fetched_in_the_order_in_which_they_were_drawn():
    with numbered(ROWS, COLUMNS) as piles:
        _, places = piles.picked(np.arange(ROWS))
        slots = np.random.default_rng(0).integers(ROWS, size=5000)
        hand = dealt(piles).drawn(slots)
    assert hand.targets[hand.order].tolist() == places[slots].tolist()


# --- the same steps ---------------------------------------------------------------------------------------------------


RECIPES = {
    "one order": {"batch_size": 64},
    "single rows": {"batch_size": 1, "passes": 2},
    "fresh orders": {"order": "fresh", "passes": 2.5, "batch_size": 100},
    "batches beyond a pile": {"batch_size": 1777, "passes": 3},
    "decay": {"step": "decay", "alpha": 0.1},
    "corners": {"loss": "hinge", "delta": 1e-6, "clip": 0.5, "radius": 2.0},
    "elastic net": {"l1_ratio": 0.3, "alpha": 0.01},
    "no constant": {"fit_intercept": False},
    "uniform mean": {"average": "uniform", "order": "fresh", "passes": 3},
    "suffix mean": {"average": "suffix"},
}


def in_memory(model, orders, **more):
    """The loops on the same rows in memory, in given orders."""
    claim = model.plan().claim
    table = encoded_table(SCHEMA, frame_table(), ROWS)
    rows = row_source(table.features.read(), claim.problem.domain, claim.problem.intercept)
    targets = coded_targets(table.target.read(), claim.problem, SCHEMA.domain.classes)
    run = sgd_carrier.run_of(claim, claim.recipe.steps(ROWS))
    return run_passes(rows, targets, claim.problem.loss, run, orders, **more)


def frame_table():
    from equipoise.data.frames import FrameTable

    return FrameTable(frame())


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
def test_streamed_steps_are_the_steps_in_memory_in_the_same_order(folder, before_noise, recipe):
    model = eq.SGDClassifier(epsilon=1.0, domain=SCHEMA, random_state=0, **recipe)
    model.fit(eq.open_table(folder, engine="stream"))
    passes = int(np.ceil(recipe.get("passes", 10)))
    orders = public_orders(ROWS, recipe.get("batch_size", 64), recipe.get("order") == "fresh", passes)
    wanted = in_memory(model, orders)
    if "average" not in recipe:
        assert before_noise[0].tobytes() == wanted.tobytes()
    # A mean adds the same weights in other groups: SGD-rounding, part 5.
    assert before_noise[0] == pytest.approx(wanted, rel=1e-12)


def test_masks_and_skips_are_those_of_memory(folder, before_noise, monkeypatch):
    recipe = {"dropout": 0.4, "skip": 0.3, "delta": 1e-6, "batch_size": 8, "passes": 2}
    model = eq.SGDClassifier(epsilon=1.0, domain=SCHEMA, random_state=0, **recipe)
    monkeypatch.setattr(sgd_carrier, "CUT_COLUMNS", 50 * COLUMNS)
    model.fit(eq.open_table(folder, engine="stream"))
    lengths = [len(order) for order in _taken_at_once(ROWS, 8, 2, steps=50)]
    orders = np.split(np.concatenate(public_orders(ROWS, 8, False, 2)), np.cumsum(lengths)[:-1])
    masks = sgd_carrier._masks(0, 0.6, COLUMNS, 50)
    skips = sgd_carrier._skips(0.3, SeededSource(0), 50)
    assert before_noise[0].tobytes() == in_memory(model, orders, masks=masks, skips=skips).tobytes()


def _taken_at_once(n_samples, batch, passes, steps):
    """The pieces in which orders are taken: hands, cut after so many steps."""
    with numbered(n_samples, COLUMNS) as piles:
        left = passes * n_samples
        for hand in dealt(piles).passes(batch, fresh=False):
            for first in range(0, len(hand.order), steps * batch):
                piece = hand.order[first : first + steps * batch]
                left -= len(piece)
                yield piece
            if not left:
                return


def test_phases_are_those_of_memory_in_the_same_order(folder, before_noise, monkeypatch):
    order = public_orders(ROWS, 1, False, 1)[0]
    monkeypatch.setattr("equipoise.release.carriers.phased.public_order", lambda *_: order)
    for engine in ("memory", "stream"):
        eq.PhasedClassifier(epsilon=1.0, domain=SCHEMA, random_state=0).fit(eq.open_table(folder, engine=engine))
    phases = len(before_noise) // 2
    assert phases > 3
    # A start has noise in it, the same in both.
    assert np.array(before_noise[:phases]) == pytest.approx(np.array(before_noise[phases:]), rel=1e-11)


SECRET = {
    "drawn": (eq.SGDClassifier, {"order": "replacement", "batch_size": 16, "passes": 2}),
    "sampled gradients": (eq.LogisticRegression, {"mechanism": "noisy-gradient:100"}),
}


@pytest.mark.parametrize("name", SECRET)
def test_secret_draws_come_from_the_source_of_noise(folder, before_noise, name):
    # The public seed moves where rows lie, and never decides which of them are met.
    make, parameters = SECRET[name]
    for seed in (0, 0, 1):
        model = make(epsilon=1.0, delta=1e-6, domain=SCHEMA, random_state=seed, **parameters)
        model.fit(eq.open_table(folder, engine="stream"))
    first, second, other = np.split(np.array(before_noise), 3)
    assert first.tobytes() == second.tobytes()
    assert np.abs(first[0] - other[0]).max() > 1e-6


def test_noisy_steps_meet_the_subsets_that_were_drawn(folder, monkeypatch):
    drawn, fetched, fetch = [], [], DealtRows.drawn
    integers = SeededSource.integers

    def watched(self, bound, out):
        integers(self, bound, out)
        assert bound == ROWS
        drawn.extend(out.tolist())

    monkeypatch.setattr(SeededSource, "integers", watched)
    monkeypatch.setattr(DealtRows, "drawn", lambda self, slots: fetched.extend(slots) or fetch(self, slots))
    model = eq.NoisySGDClassifier(epsilon=1.0, delta=1e-6, domain=SCHEMA, random_state=0, batch_size=16, passes=2)
    model.fit(eq.open_table(folder, engine="stream"))
    batches = np.array(fetched).reshape(model.certificate_.claim.recipe.steps(ROWS), 16)
    assert all(len(set(batch)) == 16 for batch in batches.tolist())
    # Rejection keeps the order of draws.
    remaining = iter(drawn)
    assert all(slot in remaining for slot in fetched)


def test_exact_noisy_steps_stream(folder):
    model = eq.NoisySGDClassifier(domain=SCHEMA, batch_size=2000, passes=9, epsilon=8.0, delta=1e-6)
    model.fit(eq.open_table(folder, engine="stream"))
    assert not model.certificate_.claim.stream
    assert model.coef_[0, 0] > np.abs(model.coef_[0, 1:]).max()


def test_the_table_is_read_once(folder, monkeypatch):
    passes, answers = [], StreamTable.answers
    monkeypatch.setattr(StreamTable, "answers", lambda self, *given: passes.append(1) or answers(self, *given))
    eq.SGDClassifier(epsilon=1.0, domain=SCHEMA, random_state=0).fit(eq.open_table(folder, engine="stream"))
    assert len(passes) == 1


@pytest.mark.parametrize("rows", [ROWS - 700, ROWS + 99])
def test_lines_that_lack_are_the_public_row_and_surplus_ones_are_left_out(tmp_path, before_noise, rows):
    csv.write_csv(frame(rows), tmp_path / "rows.csv")
    model = eq.SGDClassifier(epsilon=1.0, domain=SCHEMA, random_state=0, passes=1)
    order = public_orders(ROWS, 64, False, 1)[0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sgd_carrier, "public_order", lambda *_: order)
        model.fit(eq.open_table(tmp_path / "rows.csv"))
    model.fit(eq.open_table(tmp_path / "rows.csv", engine="stream"))
    assert before_noise[0] == pytest.approx(before_noise[1], rel=1e-12)


# --- how far one row moves the end ------------------------------------------------------------------------------------

LINEAR = Schema(
    300,
    (NumberColumn("x", (-1, 1)),),
    Target("y", bounds=(-1, 1)),
    vouched_by="a test",
    vouched_on=date(2026, 1, 1),
)


def ends(before_noise, place, folder, **recipe):
    """How far a descent on slopes that never change ends apart, as a share of the certified distance."""
    model = eq.SGDRegressor(
        epsilon=1.0, domain=LINEAR, loss="huber:0.2", step=0.01, fit_intercept=False, random_state=0, **recipe
    )
    for sign in (1.0, -1.0):
        x, y = np.zeros(300), np.zeros(300)
        x[place], y[place] = 1.0, sign
        parquet.write_table(pa.table({"x": x, "y": y}), folder / "rows.parquet")
        model.fit(eq.open_table(folder / "rows.parquet", engine="stream"))
    return float(np.linalg.norm(before_noise[-1] - before_noise[-2])) / model.certificate_.sensitivity


WITNESSES = {
    "B1": {"alpha": 0.0, "batch_size": 5, "passes": 4, "clip": None},
    "B3": {"alpha": 0.5, "batch_size": 5, "passes": 3, "clip": None},
}


@pytest.mark.parametrize("theorem", WITNESSES)
def test_one_row_moves_the_end_as_far_as_certified_and_no_further(tmp_path, before_noise, monkeypatch, theorem):
    monkeypatch.setattr(piles_module, "PILE_BYTES", 50 * (16 + piles_module.BYTES_BESIDES))
    recipe = WITNESSES[theorem]
    order = public_orders(300, 5, False, 1, columns=1)[0]
    found = [ends(before_noise, order[where], tmp_path, **recipe) for where in (0, 150, -1)]
    assert 0.9 < max(found) <= 1
    # An order that meets the last row in place of the first as well is found out.
    honest = DealtRows.passes

    def twice(self, batch, fresh):
        for hand in honest(self, batch, fresh):
            hand.order[0] = hand.order[-1]
            yield hand

    monkeypatch.setattr(DealtRows, "passes", twice)
    last = public_orders_of_first_hand(300)
    assert ends(before_noise, last, tmp_path, **recipe) > 1.2


def public_orders_of_first_hand(n_samples):
    """The row that ends the first pile."""
    with numbered(n_samples, 1) as piles:
        hand = next(iter(dealt(piles).passes(5, fresh=False)))
        return int(hand.targets[hand.order[-1]])


# --- memory, disk, failures -------------------------------------------------------------------------------------------


def long_file(folder, rows):
    facts = {"vouched_by": "a test", "vouched_on": date(2026, 1, 1)}
    coins = np.random.default_rng(0)
    table = pa.table({"c0": coins.normal(size=rows), "ill": coins.integers(0, 2, rows)})
    parquet.write_table(table, folder / f"{rows}.parquet", row_group_size=2**15)
    return Schema(rows, (NumberColumn("c0", (-3, 3)),), Target("ill", classes=("0", "1")), **facts)


LONG = {
    "one order": (eq.SGDClassifier, {"passes": 2}),
    "drawn": (eq.SGDClassifier, {"order": "replacement", "delta": 1e-6, "step": 0.1}),
    "noisy": (eq.NoisySGDClassifier, {"delta": 1e-6, "batch_size": 256, "step": 0.1}),
    "phased": (eq.PhasedClassifier, {}),
}


def test_nothing_as_long_as_the_table_is_held(tmp_path, monkeypatch):
    monkeypatch.setattr(piles_module, "PILE_BYTES", 2**20)
    reading, finish = [], Piles.finish

    def finished(self):
        finish(self)
        # Reading takes more than the descent, and would hide what that holds.
        reading.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.reset_peak()

    monkeypatch.setattr(Piles, "finish", finished)
    lengths = 2**14, 2**17, 2**18
    schemas = {rows: long_file(tmp_path, rows) for rows in lengths}
    for name, (make, parameters) in LONG.items():
        descending = []
        for rows in lengths:  # the first time something is loaded and compiled
            # As many draws for all, so that only the table differs.
            passes = {"passes": 2**14 / rows} if name in ("drawn", "noisy") else {}
            model = make(epsilon=1.0, domain=schemas[rows], random_state=0, **parameters, **passes)
            plan = model.plan()
            # What a check of sampled noise takes depends on public numbers, and is bounded: 50 MB up to 10^8 rows.
            door._faults(plan.digest, plan.terms, plan.claim)
            tracemalloc.start()
            model.fit(eq.open_table(tmp_path / f"{rows}.parquet", engine="stream"))
            descending.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
        # One number a row would be 8 bytes.
        for most in (reading[-3:], descending):
            assert most[2] - most[1] < 2 * (lengths[2] - lengths[1]), (name, most)


def ending(model, table, folder):
    """How a fit ends, and how many spends it leaves in a ledger."""
    ledger = f"sqlite:///{folder}/ledger.db#people"
    Ledger(ledger).create(eq.Budget(10.0, 1e-3), "basic")
    try:
        model.set_params(ledger=ledger).fit(table)
        told = "fitted"
    except (PrivateFailure, InvalidParameter) as error:
        told = f"{type(error).__name__}: {error} {error.__cause__} {error.__context__}"
    return told, len(Ledger(ledger).releases())


def test_a_disk_that_is_full_after_the_spend_is_the_constant_failure(folder, tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    written, write = [], Piles._write

    def full(self, *given):
        written.append(1)
        if len(written) > 3:
            raise OSError(errno.ENOSPC, "12 rows did not fit")
        write(self, *given)

    monkeypatch.setattr(Piles, "_write", full)
    model = eq.SGDClassifier(epsilon=1.0, domain=SCHEMA)
    found = ending(model, eq.open_table(folder, engine="stream"), tmp_path)
    assert found == (f"PrivateFailure: {PrivateFailure()} None None", 1)
    assert [path.name for path in tmp_path.iterdir()] == ["ledger.db"]


def test_a_disk_that_is_too_small_and_a_folder_that_is_not_there_cost_nothing(folder, tmp_path, monkeypatch):
    usage = namedtuple("Usage", "total used free")
    (tmp_path / "small").mkdir()
    with monkeypatch.context() as patch:
        patch.setattr(scratch.shutil, "disk_usage", lambda _: usage(0, 0, 1000))
        model = eq.SGDClassifier(epsilon=1.0, domain=SCHEMA)
        told, spends = ending(model, eq.open_table(folder, engine="stream"), tmp_path / "small")
        assert "GiB free in" in told
        assert spends == 0
    monkeypatch.setenv(VARIABLE, str(tmp_path / "nowhere"))
    told, spends = ending(
        eq.SGDClassifier(epsilon=1.0, domain=SCHEMA), eq.open_table(folder, engine="stream"), tmp_path
    )
    assert "nowhere" in told
    assert VARIABLE in told
    assert spends == 0


def test_neighbouring_tables_end_alike(tmp_path):
    found = []
    for number, value in enumerate((0.5, None, 1e308, float("inf"), float("nan"))):
        (tmp_path / str(number)).mkdir()
        table = frame().set_column(0, "c0", pa.array([value, *frame()["c0"].to_pylist()[1:]]))
        parquet.write_table(table, tmp_path / str(number) / "rows.parquet")
        model = eq.SGDClassifier(epsilon=1.0, domain=SCHEMA, batch_size=1, passes=1)
        rows = eq.open_table(tmp_path / str(number) / "rows.parquet", engine="stream")
        found.append(ending(model, rows, tmp_path / str(number)))
    assert set(found) == {("fitted", 1)}


WITH_WORKERS = {
    "sgd": (eq.SGDClassifier, {}),
    "noisy sgd": (eq.NoisySGDClassifier, {"delta": 1e-6, "passes": 1, "batch_size": 500}),
    "phased": (eq.PhasedClassifier, {}),
    "sampled gradients": (eq.LogisticRegression, {"delta": 1e-6, "mechanism": "noisy-gradient:200"}),
}


@pytest.mark.parametrize("name", WITH_WORKERS)
def test_tables_of_workers_are_refused_before_the_spend_with_a_remedy(tmp_path, name):
    make, parameters = WITH_WORKERS[name]
    told, spends = ending(make(epsilon=1.0, domain=planted_schema(), **parameters), Planted(), tmp_path)
    assert 'engine="stream"' in told
    assert spends == 0


def test_large_batches_are_refused_before_the_spend(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(piles_module, "BATCH_BYTES", 100 * 8 * (COLUMNS + 1))
    model = eq.SGDClassifier(epsilon=1.0, domain=SCHEMA, batch_size=101)
    told, spends = ending(model, eq.open_table(folder, engine="stream"), tmp_path)
    assert "smaller batches" in told
    assert spends == 0
