import csv
import itertools
import secrets
import threading
import tracemalloc
from datetime import date

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather, parquet
from sklearn.base import clone

import equipoise as eq
from equipoise.data.engines import pieces
from equipoise.data.engines.ahead import ahead
from equipoise.data.engines.base import PartedTable
from equipoise.data.engines.stream import StreamTable
from equipoise.data.many_files import open_files
from equipoise.data.schema import CategoryColumn, NumberColumn, Schema, Target
from equipoise.data.unpacked import LARGEST_BATCH
from equipoise.errors import InvalidData, InvalidParameter, PrivateFailure, UnknownName
from equipoise.release import memory
from equipoise.release.carriers import base as carriers
from equipoise.release.parted_rows import in_groups
from equipoise.solve.places import PlaceSums
from equipoise.vocabulary.constants import BLOCK_ROWS

ROWS = 3 * BLOCK_ROWS + 500
COLUMNS = tuple(NumberColumn(f"c{place}", (-3, 3)) for place in range(3))
SCHEMA = Schema(
    ROWS,
    (*COLUMNS, CategoryColumn("town", ("Graz", "Linz"), unknown="Graz")),
    Target("ill", classes=("no", "yes")),
    vouched_by="a test",
    vouched_on=date(2026, 1, 1),
)


def frame(rows=ROWS, seed=0):
    coins = np.random.default_rng(seed)
    numbers = {column.name: coins.normal(size=rows) for column in COLUMNS}
    ill = np.where(numbers["c0"] + coins.normal(size=rows) > 0, "yes", "no")
    return pa.table({**numbers, "town": coins.choice(["Graz", "Linz", "Wien"], rows), "ill": ill})


def written(table, path, kind):
    if kind == "parquet":
        parquet.write_table(table, path.with_suffix(".parquet"), row_group_size=3000)
    elif kind == "arrow":
        feather.write_feather(table, path.with_suffix(".arrow"), chunksize=999)
    else:
        with open(path.with_suffix(".csv"), "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(table.column_names)
            writer.writerows(zip(*(column.to_pylist() for column in table.columns), strict=True))


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """The same rows as a folder of uneven parts, in every format."""
    table, found = frame(), {}
    for kind in ("parquet", "arrow", "csv"):
        found[kind] = tmp_path_factory.mktemp(kind)
        for number, (start, stop) in enumerate(itertools.pairwise([0, 10, 5000, ROWS])):
            written(table.slice(start, stop - start), found[kind] / f"part-{number}", kind)
    return found


def fitted(table, **parameters):
    return eq.LogisticRegression(epsilon=1.0, domain=SCHEMA, random_state=0, **parameters).fit(table)


@pytest.mark.parametrize("kind", ["parquet", "arrow", "csv"])
@pytest.mark.parametrize(
    "parameters",
    [{"mechanism": "output"}, {"mechanism": "objective", "delta": 1e-6}, {"mechanism": "output", "delta": 1e-6}],
)
def test_a_stream_gives_the_model_and_the_certificate_of_the_memory(folders, kind, parameters):
    held = fitted(eq.open_table(folders[kind]), **parameters)
    streamed = fitted(eq.open_table(folders[kind], engine="stream"), **parameters)
    assert streamed.certificate_.digest == held.certificate_.digest
    assert streamed.coef_ == pytest.approx(held.coef_, rel=1e-9)


def test_noisy_gradients_stream(folders):
    parameters = {"epsilon": 1.0, "delta": 1e-6, "mechanism": "noisy-gradient", "random_state": 0, "alpha": 0.1}
    models = [
        eq.LogisticRegression(domain=SCHEMA, **parameters).fit(eq.open_table(folders["parquet"], engine=engine))
        for engine in ("memory", "stream")
    ]
    assert models[1].coef_ == pytest.approx(models[0].coef_, rel=1e-9)


@pytest.mark.parametrize("mechanism", ["sufficient-statistics", "functional"])
def test_noisy_sums_stream(tmp_path, mechanism):
    coins = np.random.default_rng(0)
    table = pa.table({"age": coins.uniform(20, 60, 6000), "dose": coins.uniform(0, 9, 6000)})
    parquet.write_table(table, tmp_path / "people.parquet")
    facts = {"vouched_by": "a test", "vouched_on": date(2026, 1, 1)}
    schema = Schema(6000, (NumberColumn("age", (20, 60)),), Target("dose", bounds=(0, 9)), **facts)
    delta = 0.0 if mechanism == "functional" else 1e-6
    model = eq.Ridge(epsilon=1.0, delta=delta, domain=schema, mechanism=mechanism, random_state=0)
    models = [
        clone(model).fit(eq.open_table(tmp_path / "people.parquet", engine=engine)) for engine in ("memory", "stream")
    ]
    assert models[1].coef_ == pytest.approx(models[0].coef_, rel=1e-9)


def test_files_may_come_as_a_list_in_a_declared_order(folders):
    files = sorted(folders["parquet"].iterdir())
    table = eq.open_table(files, engine="stream")
    assert table.n_samples == ROWS
    firsts = [next(iter(table.batches(["c0"])))["c0"][0] for table in (table, eq.open_table(files[::-1]))]
    assert firsts[0] == frame()["c0"][0].as_py() != firsts[1]


def test_how_rows_are_cut_into_files_and_batches_changes_no_bit(folders, tmp_path):
    parquet.write_table(frame(), tmp_path / "whole.parquet")
    whole = fitted(eq.open_table(tmp_path / "whole.parquet", engine="stream"), mechanism="output")
    for kind in ("parquet", "arrow"):
        parts = fitted(eq.open_table(folders[kind], engine="stream"), mechanism="output")
        assert parts.coef_.tobytes() == whole.coef_.tobytes()


def test_pass_after_pass_nothing_as_long_as_the_table_is_held(tmp_path):
    rows = 2**20
    facts = {"vouched_by": "a test", "vouched_on": date(2026, 1, 1)}
    schema = Schema(rows, COLUMNS[:1], Target("ill", classes=("0", "1")), **facts)
    coins = np.random.default_rng(0)
    table = pa.table({"c0": coins.normal(size=rows), "ill": coins.integers(0, 2, rows)})
    parquet.write_table(table, tmp_path / "long.parquet", row_group_size=2**15)
    model = eq.LogisticRegression(epsilon=1.0, domain=schema, mechanism="output", random_state=0, alpha=0.1)
    most = {}
    for engine in ("memory", "stream", "stream"):  # what is loaded and compiled once does not count
        tracemalloc.start()
        clone(model).fit(eq.open_table(tmp_path / "long.parquet", engine=engine))
        most[engine] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    # One number a row takes 8 bytes.
    assert most["stream"] < 8 * rows * 1.5 < 8 * rows * 4 < most["memory"], most


class Changing(PartedTable):
    """A table whose rows are others from some pass on."""

    def __init__(self, tables, wrong_from):
        self._tables, self._wrong_from, self.passes = tables, wrong_from, 0
        first = tables[0]
        self.names, self.kinds, self.n_samples, self.source = first.names, first.kinds, first.n_samples, "a table"

    def batches(self, names):
        return self._tables[0].batches(names)

    def answers(self, work, names, n_samples):
        self.passes += 1
        table = self._tables[1 if self.passes >= self._wrong_from else 0]
        yield from StreamTable(table).answers(work, names, n_samples)


@pytest.mark.parametrize("wrong_from", [2, 3])
def test_rows_that_change_between_passes_end_the_fit_by_a_constant(tmp_path, wrong_from):
    table = frame()
    for name, rows in (("a", table), ("b", table.set_column(0, "c0", pa.array(table["c0"].to_numpy() + 1e-9)))):
        parquet.write_table(rows, tmp_path / f"{name}.parquet")
    files = [eq.open_table(tmp_path / f"{name}.parquet") for name in "ab"]
    with pytest.raises(PrivateFailure) as raised:
        fitted(Changing(files, wrong_from), mechanism="output")
    assert str(raised.value) == str(PrivateFailure())
    assert fitted(Changing(files, 10**6), mechanism="output").coef_.shape == (1, 5)


def test_a_file_that_is_written_again_between_passes_is_noticed(tmp_path, monkeypatch):
    parquet.write_table(frame(), tmp_path / "a.parquet")
    table, answers, passes = eq.open_table(tmp_path / "a.parquet", engine="stream"), StreamTable.answers, [0]

    def spoiled(self, *arguments):
        yield from answers(self, *arguments)
        passes[0] += 1
        if passes[0] == 2:
            other = frame().set_column(1, "c1", pa.array(frame()["c1"].to_numpy() * 1.5))
            parquet.write_table(other, tmp_path / "a.parquet")

    monkeypatch.setattr(StreamTable, "answers", spoiled)
    with pytest.raises(PrivateFailure):
        fitted(table, mechanism="output")


def test_a_folder_that_has_gained_a_file_is_refused_before_the_spend(folders, tmp_path):
    for path in folders["csv"].iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    table = eq.open_table(tmp_path, engine="stream")
    (tmp_path / "part-9.csv").write_bytes((tmp_path / "part-0.csv").read_bytes())
    with pytest.raises(InvalidData, match="gained or lost"):  # nothing is spent yet
        fitted(table, mechanism="output")


def test_a_folder_that_gains_a_file_between_passes_ends_the_fit_by_a_constant(folders, tmp_path, monkeypatch):
    for path in folders["csv"].iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    answers = StreamTable.answers

    def joined(self, *arguments):
        yield from answers(self, *arguments)
        (tmp_path / "part-9.csv").write_bytes((tmp_path / "part-0.csv").read_bytes())

    monkeypatch.setattr(StreamTable, "answers", joined)
    with pytest.raises(PrivateFailure):
        fitted(eq.open_table(tmp_path, engine="stream"), mechanism="output")


def test_lines_that_lack_are_the_public_row_and_surplus_ones_are_left_out(tmp_path):
    rows = frame()
    for name, some in (("short", rows.slice(0, ROWS - 700)), ("long", pa.concat_tables([rows, rows.slice(0, 99)]))):
        written(some, tmp_path / name, "csv")
        models = [
            fitted(eq.open_table(tmp_path / f"{name}.csv", engine=engine), mechanism="output")
            for engine in ("memory", "stream")
        ]
        assert models[0].coef_ == pytest.approx(models[1].coef_, rel=1e-9)


def test_what_cannot_stream_is_refused_before_the_spend(folders, tmp_path):
    url = f"sqlite:///{tmp_path}/ledger.db#people"
    eq.Ledger(url).create(eq.Budget(9.0, 1e-3), "basic")
    table = eq.open_table(folders["parquet"], engine="stream")
    for model in (
        eq.LinearSVC(epsilon=1.0, domain=SCHEMA, loss="hinge", alpha=0.1, ledger=url),
        eq.DropoutClassifier(epsilon=1.0, delta=1e-6, domain=SCHEMA, ledger=url),
        eq.PhasedClassifier(epsilon=1.0, domain=SCHEMA, loss="hinge", ledger=url),
    ):
        with pytest.raises(InvalidParameter, match='engine="memory"'):
            model.fit(table)
    assert eq.Ledger(url).balance().epsilon_left == 9


@pytest.mark.parametrize(
    ("make", "found"),
    [
        (lambda folder: (folder / "b.parquet").write_bytes(b"PAR1 no more"), "b.parquet"),
        (lambda folder: parquet.write_table(frame(9).drop_columns("c1"), folder / "b.parquet"), "c1"),
        (
            lambda folder: parquet.write_table(
                frame(9).set_column(1, "c1", pa.array(["text"] * 9)), folder / "b.parquet"
            ),
            "c1",
        ),
        (lambda folder: (folder / "notes.txt").write_text("no table"), "notes.txt"),
    ],
)
def test_a_part_that_does_not_fit_is_refused_by_name(tmp_path, make, found):
    parquet.write_table(frame(20), tmp_path / "a.parquet")
    make(tmp_path)
    with pytest.raises(InvalidData, match=found):
        eq.open_table(tmp_path, engine="stream")


def test_bad_addresses_of_tables_are_refused(tmp_path):
    with pytest.raises(InvalidData, match="no file in"):
        eq.open_table(tmp_path, engine="stream")
    with pytest.raises(InvalidData, match="empty list"):
        eq.open_table([], engine="stream")
    with pytest.raises(UnknownName, match="memory"):
        eq.open_table(tmp_path, engine="steam")
    with pytest.raises(InvalidParameter, match="scheduler"):
        eq.open_table(tmp_path, engine="stream", scheduler="tcp://nowhere:1")


def test_an_empty_part_has_no_rows(tmp_path):
    parquet.write_table(frame(), tmp_path / "a.parquet")
    parquet.write_table(frame(0), tmp_path / "b.parquet")
    table = eq.open_table(tmp_path, engine="stream")
    assert fitted(table, mechanism="output").coef_.shape == (1, 5)


def test_noise_is_drawn_once_however_often_rows_are_read(folders, monkeypatch):
    drawn = []
    add = carriers.NoiseSource.__subclasses__()[0].add
    monkeypatch.setattr(
        carriers.NoiseSource.__subclasses__()[0], "add", lambda self, *given: drawn.append(given) or add(self, *given)
    )
    fitted(eq.open_table(folders["parquet"], engine="stream"), mechanism="output")
    assert len(drawn) == 1


def test_reading_ahead_passes_on_failures_and_stops_with_its_user():
    def broken():
        yield 1
        raise OSError("damaged")

    items = ahead(broken())
    assert next(items) == 1
    with pytest.raises(OSError, match="damaged"):
        next(items)
    closed = threading.Event()

    def endless():
        try:
            while True:
                yield secrets.token_bytes(8)
        finally:
            closed.set()

    items = ahead(endless())
    next(items)
    items.close()
    assert closed.wait(5)


@pytest.mark.parametrize("at_once", [1, 8 * 6, 2**10, 2**14])
def test_pieces_of_few_rows_give_the_sums_of_whole_blocks(folders, monkeypatch, at_once):
    whole = fitted(eq.open_table(folders["parquet"], engine="stream"), mechanism="output")
    monkeypatch.setattr(pieces, "BYTES_AT_ONCE", at_once)
    cut = fitted(eq.open_table(folders["parquet"], engine="stream"), mechanism="output")
    assert cut.coef_ == pytest.approx(whole.coef_, rel=1e-9)


@pytest.mark.parametrize("rows", [1, 2, 32, 64, 4096])
def test_a_term_passes_few_additions_however_small_pieces_are(rows):
    """Depths stand for sums: an addition is one deeper than the deeper of its two sides (N12, 1)."""

    class Depth:
        def __init__(self, depth):
            self.depth = depth

        def __add__(self, other):
            return Depth(1 + max(self.depth, other.depth))

    n_samples = 3 * BLOCK_ROWS + 500
    starts = range(0, n_samples, rows)
    fine = max(0, min(rows, 64) - 1) + max(0, rows // 64 - 1)
    answers = ((start, min(start + rows, n_samples), (np.array([Depth(fine)]),)) for start in starts)
    sums = PlaceSums(n_samples)
    for start, stop, answer in in_groups(answers):
        sums.add(start, stop, answer)
    assert fine < sums.total()[0][0].depth <= 64 + 64 + 2


def test_a_parquet_file_is_read_as_it_is_used_and_never_held(tmp_path):
    rows = 2**21
    coins = np.random.default_rng(0)
    columns = {f"c{place}": coins.normal(size=rows) for place in range(2)}
    parquet.write_table(pa.table(columns), tmp_path / "long.parquet", row_group_size=rows)
    size, before, most = (tmp_path / "long.parquet").stat().st_size, pa.total_allocated_bytes(), 0
    for _ in eq.open_table(tmp_path / "long.parquet").batches(list(columns)):
        most = max(most, pa.total_allocated_bytes() - before)
    assert most < size / 2


def test_batches_of_many_columns_have_fewer_rows(tmp_path):
    names = [f"c{place}" for place in range(2000)]
    parquet.write_table(pa.table(dict.fromkeys(names, np.arange(5000.0))), tmp_path / "wide.parquet")
    batches = list(eq.open_table(tmp_path / "wide.parquet").batches(names))
    assert max(sum(column.nbytes for column in batch.values()) for batch in batches) <= LARGEST_BATCH
    assert sum(len(batch["c0"]) for batch in batches) == 5000


def test_a_fit_that_may_need_more_memory_than_the_budget_is_refused_before_the_spend(folders, monkeypatch, tmp_path):
    parquet.write_table(frame(), tmp_path / "people.parquet")
    monkeypatch.setenv("EQUIPOISE_MEMORY_LIMIT", "128")
    monkeypatch.setattr(StreamTable, "batches", None)  # no row is read
    with pytest.raises(InvalidParameter, match="MiB"):
        fitted(eq.open_table(tmp_path / "people.parquet", engine="stream"), mechanism="output")


def test_how_large_the_pages_of_a_file_are_decides_nothing(monkeypatch, tmp_path):
    # A page holds what rows hold: one long text, or the many rows of one person, would otherwise end a fit.
    monkeypatch.setenv("EQUIPOISE_MEMORY_LIMIT", "193")
    for name, size in (("small", 10), ("large", 2**14)):
        parquet.write_table(frame(), tmp_path / f"{name}.parquet", data_page_size=size, use_dictionary=False)
        table = eq.open_table(tmp_path / f"{name}.parquet", engine="stream")
        assert fitted(table, mechanism="output").coef_ is not None


def test_sums_of_products_are_refused_where_columns_are_many_and_slopes_are_not():
    depth = 10**9
    wide = memory.numbers_of_a_sum(10_001, 1, squares=False)
    assert memory.bytes_needed(depth, 10_001, wide) < memory.budget()
    assert memory.bytes_needed(depth, 10_001, memory.numbers_of_a_sum(10_001, 1, squares=True)) > memory.budget()
    # The widest rows that a schema can declare.
    assert memory.bytes_needed(10**11, 120_001, memory.numbers_of_a_sum(120_001, 1, squares=False)) < memory.budget()


@pytest.mark.parametrize("twice", ["a list", "a link"])
def test_a_file_that_stands_twice_is_refused(tmp_path, twice):
    for name in ("0.csv", "1.csv"):
        (tmp_path / name).write_text("age\n31\n")
    paths = [tmp_path / "0.csv", tmp_path / "1.csv"]
    assert open_files(paths).files == tuple(paths)
    if twice == "a link":
        (tmp_path / "2.csv").symlink_to(paths[0])
    with pytest.raises(InvalidData, match="one file twice"):
        open_files(tmp_path if twice == "a link" else [*paths, f"{tmp_path}/./0.csv"])
