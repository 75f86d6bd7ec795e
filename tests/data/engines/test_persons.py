"""Persons of tables that are never held whole: rows, shares and models of the memory, whatever the order of rows."""

import contextlib
import os
import shutil
import tempfile
import tracemalloc

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet
from sklearn.base import clone

import equipoise as eq
from equipoise.data import frames
from equipoise.data.diagnosis import check_table
from equipoise.data.engines import buckets, dask_persons, grouped, open_table, pieces, shuffled
from equipoise.data.engines.base import PartedTable
from equipoise.data.engines.stream import StreamTable
from equipoise.data.frames import FrameTable
from equipoise.data.person_runs import RUN, PersonRule, RunFinder, standings, without_surplus
from equipoise.errors import InvalidData, InvalidParameter, PrivateFailure
from equipoise.ledger import Ledger
from equipoise.release import memory
from equipoise.release.parted_rows import PartedRows
from equipoise.solve.questions import Expansion
from equipoise.vocabulary.constants import BLOCK_ROWS
from observing import differences, observed
from person_tables import (
    COUNTS,
    MOST,
    PERSONS,
    kept_in_memory,
    kept_rows,
    person_schema,
    person_table,
    rule,
    same_rows,
    written,
)

ENGINES = ("stream", "dask")


@pytest.fixture
def small(monkeypatch):
    """Buckets, pages and batches so small that a little table has many of each."""
    monkeypatch.setattr(grouped, "BUCKET_RUNS", 32)
    monkeypatch.setattr(grouped, "STANDINGS_AT_ONCE", 5)
    monkeypatch.setattr(shuffled, "BUCKET_RUNS", 200)
    monkeypatch.setattr(buckets, "PAGE_BYTES", 256)
    monkeypatch.setattr(frames, "BATCH_ROWS", 97)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("order", ["sorted", "shuffled"])
@pytest.mark.parametrize("persons", [PERSONS, PERSONS + 50, PERSONS - 1, 10, 1], ids=lambda count: f"{count} declared")
def test_a_stream_keeps_the_rows_and_shares_of_the_memory(order, persons):
    table = person_table(order)
    assert same_rows(kept_rows(StreamTable(FrameTable(table)), persons), kept_in_memory(table, persons))


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("engine", ENGINES)
def test_persons_may_be_spread_over_files(tmp_path, monkeypatch, ending, engine):
    if engine == "dask":
        pytest.importorskip("distributed")
        monkeypatch.setattr(shuffled, "BUCKET_RUNS", 200)
    table = person_table()
    files = open_table(written(tmp_path / "rows", table, ending), engine=engine)
    for persons in (PERSONS, 40):
        assert same_rows(kept_rows(files, persons), kept_in_memory(table, persons))


def test_partitions_of_a_dask_frame_keep_the_same_rows():
    frames = pytest.importorskip("dask.dataframe")
    table = person_table()
    frame = frames.from_pandas(table.to_pandas(), npartitions=4)
    assert same_rows(kept_rows(eq.data.engines.frame_table(frame)), kept_in_memory(table))


@pytest.mark.parametrize("way", ["stream", "dask", "frame"])
def test_no_digit_of_an_id_is_lost(tmp_path, way):
    # Doubles cannot tell these ids apart; two rows have each.
    table = person_table().slice(0, 8)
    table = table.set_column(1, "patient", pyarrow.array(2**53 + np.arange(8) // 2))
    if way == "stream":
        rows = StreamTable(FrameTable(table))
    elif way == "dask":
        pytest.importorskip("distributed")
        parquet.write_table(table, tmp_path / "rows.parquet")
        rows = open_table(tmp_path / "rows.parquet", engine="dask")
    else:
        frames = pytest.importorskip("dask.dataframe")
        rows = eq.data.engines.frame_table(frames.from_pandas(table.to_pandas(), npartitions=2))
    assert [share for _, share in kept_rows(rows)] == [0.5] * 8


class Flaky:
    """Grouping that fails once, wherever it is: a file says that it did."""

    def __init__(self, function, flag):
        self.function, self.flag = function, flag

    def __call__(self, *given):
        with contextlib.suppress(FileExistsError):
            self.flag.touch(exist_ok=False)
            raise ValueError("SECRET")
        return self.function(*given)


@pytest.mark.parametrize("name", ["bucket_standings", "part_standings", "_bucket"])
def test_work_that_dask_tries_again_changes_no_row(tmp_path, monkeypatch, name):
    pytest.importorskip("distributed")
    table, flag = person_table(), tmp_path / "failed"
    monkeypatch.setattr(dask_persons, name, Flaky(getattr(dask_persons, name), flag))
    files = open_table(written(tmp_path / "rows", table), engine="dask")
    assert same_rows(kept_rows(files), kept_in_memory(table))
    assert flag.exists()


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("rows", [0, 1, 4])
def test_tables_of_no_row_or_of_nobody_s_have_sums_of_nothing(rows):
    table = person_table("sorted")
    nobody = table.slice(len(table) - rows)
    assert kept_rows(StreamTable(FrameTable(nobody))) == []
    models = [
        eq.LogisticRegression(1.0, domain=person_schema(), random_state=0).fit(StreamTable(FrameTable(some)))
        for some in (nobody, table.slice(0, 0))
    ]
    assert models[0].coef_.tobytes() == models[1].coef_.tobytes()


@pytest.mark.parametrize(
    "parameters",
    [
        {"mechanism": "output"},
        {"mechanism": "objective", "delta": 1e-6},
        {"mechanism": "noisy-gradient", "delta": 1e-6, "alpha": 0.1},
    ],
    ids=lambda parameters: parameters["mechanism"],
)
def test_the_model_and_the_certificate_are_those_of_the_memory(tmp_path, parameters):
    path = written(tmp_path / "rows", person_table())
    model = eq.LogisticRegression(epsilon=1.0, domain=person_schema(), random_state=0, **parameters)
    held, streamed = (clone(model).fit(open_table(path, engine=engine)) for engine in ("memory", "stream"))
    assert streamed.certificate_.digest == held.certificate_.digest
    assert streamed.certificate_.adjacency == "replace-one-person"
    assert streamed.coef_ == pytest.approx(held.coef_, rel=1e-9)


@pytest.mark.parametrize("at_once", [pieces.BYTES_AT_ONCE, 4 * 8 * 3], ids=["whole blocks", "pieces of four rows"])
def test_sums_are_shared_and_have_the_same_bits_however_rows_are_cut(tmp_path, monkeypatch, at_once):
    monkeypatch.setattr(pieces, "BYTES_AT_ONCE", at_once)
    table, bits = person_table(), []
    schema = person_schema()
    model = eq.LogisticRegression(1.0, domain=schema, mechanism="output").plan()
    question = Expansion(model.claim.problem.loss, np.array([0.3, -0.2, 0.1]), True)
    for source in (StreamTable(FrameTable(table)), open_table(written(tmp_path / "a", table, "csv"), engine="stream")):
        encoded = eq.data.encoded.encoded_table(schema, source, PERSONS).features.parts
        rows = PartedRows(encoded.table, encoded.pieces(model.claim.problem, ("no", "yes"), None), PERSONS)
        sums = rows.sums(question)
        bits.append([part.tobytes() for part in sums])
        encoded.table.close()
    assert bits[0] == bits[1]
    # Every person counts once: the losses of all add up to the sum over persons of means.
    in_memory = eq.data.encoded.encoded_table(schema, FrameTable(table), PERSONS)
    features, persons = in_memory.features.read(), in_memory.persons.read()
    signs = np.where(in_memory.target.read() == "yes", 1.0, -1.0)
    intercept = model.claim.problem.intercept
    losses = np.log1p(np.exp(-signs * (features @ [0.3, -0.2] + 0.1 * intercept)))
    expected = sum(losses[persons == person].mean() for person in range(PERSONS))
    assert float(sums[0][0]) == pytest.approx(expected, rel=(BLOCK_ROWS + 40) * 2.0**-53)


def test_a_digest_notices_another_share():
    rows, shares = np.ones((3, 2)), np.array([0.5, 0.5, 1.0])
    found = set()
    for given in (None, shares, shares[::-1].copy(), np.ones(3)):
        digest = pieces.Digest(1)
        digest.add(0, rows, np.ones(3), given)
        found.add(digest.value)
    assert len(found) == 4


def test_rows_of_persons_that_come_without_shares_are_no_answer():
    encoded = eq.data.encoded.encoded_table(person_schema(), StreamTable(FrameTable(person_table())), PERSONS)
    problem = eq.LogisticRegression(1.0, domain=person_schema(), mechanism="output").plan().claim.problem
    batches = FrameTable(person_table()).batches(["age", "dose", "ill"])
    with pytest.raises(KeyError):
        next(encoded.features.parts.pieces(problem, ("no", "yes"), None).pieces(batches, 0))


# --- whose rows: runs and standings -----------------------------------------------------------------------------------


def test_runs_do_not_depend_on_how_rows_come_in_batches():
    ids = ["a", "a", None, "a", "b", "b", "b", 7, 7.0, "7", "c"]
    found = set()
    for cut in range(len(ids)):
        finder = RunFinder(rule(), b"a key", 5)
        runs = np.concatenate([finder.add(ids[:cut]), finder.add(ids[cut:]), finder.end()])
        found.add((runs.tobytes(), finder.told))
    assert len(found) == 1
    assert runs["length"].tolist() == [2, 1, 3, 3, 1]
    assert runs["first"].tolist() == [5, 8, 9, 12, 15]


def test_ids_are_seen_by_nobody_and_have_other_digests_in_every_fit():
    digests = []
    for key in (b"one", b"two"):
        finder = RunFinder(rule(), key, 0)
        runs = np.concatenate([finder.add(["Ann", "\ud800", b"\xff"]), finder.end()])
        digests.append(runs["id"].tolist())
        assert b"Ann" not in runs.tobytes()
    assert not set(digests[0]) & set(digests[1])


def test_a_run_that_comes_twice_counts_once_and_one_that_differs_is_no_answer():
    runs = np.array([(b"a", 0, 2), (b"b", 2, 1), (b"a", 3, 5)], RUN)
    assert standings(np.concatenate([runs, runs[::-1]]), 4).tobytes() == standings(runs, 4).tobytes()
    with pytest.raises(ValueError, match="twice"):
        standings(np.concatenate([runs, np.array([(b"a", 0, 3)], RUN)]), 4)


def test_leaving_out_surplus_on_the_way_changes_no_standing():
    coins = np.random.default_rng(5)
    ids, lengths = coins.integers(0, 9, 400), coins.integers(1, 5, 400)
    runs = np.zeros(400, RUN)
    runs["id"], runs["length"] = ids.astype("S1"), lengths
    runs["first"] = np.cumsum(lengths) - lengths
    some = np.concatenate([without_surplus(runs[:250], 20), runs[250:]])
    assert len(some) < 300
    assert standings(some, 20).tobytes() == standings(runs, 20).tobytes()


# --- what it takes, and what is left ----------------------------------------------------------------------------------


def grouping_memory(rows):
    """The most that is held while rows are grouped: two of each person, far from each other."""
    ids = np.random.default_rng(rows).permutation(np.arange(rows) // 2)
    table = StreamTable(FrameTable(pyarrow.table({"patient": ids})))
    tracemalloc.start()
    kept = table.grouped(PersonRule("patient", frozenset(), rows // 2, 2))
    assert kept.places(0) == rows
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    kept.close()
    return most


def test_memory_does_not_grow_with_rows_or_persons(monkeypatch):
    monkeypatch.setattr(grouped, "BUCKET_RUNS", 2**9)
    monkeypatch.setattr(buckets, "WAITING_BYTES", 2**18)
    monkeypatch.setattr(frames, "BATCH_ROWS", 2**10)
    grouping_memory(2**11)  # what is loaded once does not count
    few, many = (grouping_memory(rows) for rows in (2**13, 2**16))
    # Digests of all persons would take 24 bytes each, and those of all runs as much again.
    assert many < few + 24 * 2**15 / 2


def test_one_person_with_any_number_of_runs_takes_no_more_memory(monkeypatch):
    monkeypatch.setattr(grouped, "BUCKET_RUNS", 2**8)
    with buckets.Buckets(RUN, 1) as runs:
        some = np.zeros(2**16, RUN)
        some["id"], some["first"], some["length"] = b"a", 2 * np.arange(2**16), 1
        runs.add(some, np.zeros(2**16, dtype=np.int64))
        tracemalloc.start()
        found = grouped._bucket(runs, 0, 5)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert most < some.nbytes / 2
    assert standings(found, 5)["kept"].sum() == 5


def test_a_bucket_takes_what_the_rule_for_memory_counts():
    count = 2**15
    some = np.zeros(count, RUN)
    some["id"], some["length"] = np.random.default_rng(0).integers(0, 2**12, count).astype("S24"), 1
    some["first"] = np.arange(count)
    with buckets.Buckets(RUN, 1) as runs:
        runs.add(some, np.zeros(count, dtype=np.int64))
        tracemalloc.start()
        standings(grouped._bucket(runs, 0, 100), 100)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert 0.9 * grouped.RUN_BYTES * count < most < grouped.RUN_BYTES * count


def test_nothing_is_left_on_disk_and_nothing_there_has_a_name(tmp_path, monkeypatch):
    monkeypatch.setenv("EQUIPOISE_SCRATCH", str(tmp_path))
    monkeypatch.setattr(grouped, "BUCKET_RUNS", 64)
    seen, answers = [], StreamTable.answers

    def watched(self, *arguments):
        yield from answers(self, *arguments)
        seen.append([path.name for path in tmp_path.iterdir()])

    monkeypatch.setattr(StreamTable, "answers", watched)
    table = StreamTable(FrameTable(person_table()))
    eq.LogisticRegression(1.0, domain=person_schema(), random_state=0).fit(table)
    assert len(seen) > 2
    assert not any(seen)
    assert not list(tmp_path.iterdir())


# --- how a fit ends ---------------------------------------------------------------------------------------------------


def account(folder):
    address = f"sqlite:///{folder}/ledger.db#patients"
    Ledger(address).create(eq.Budget(30.0, 1e-2), "basic")
    return address, lambda: len(Ledger(address).releases())


def test_a_disk_without_room_for_the_declared_persons_is_refused_before_the_spend(tmp_path, monkeypatch):
    address, spends = account(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(2**30, 2**30, 2**20))
    table = StreamTable(FrameTable(person_table()))
    with pytest.raises(InvalidParameter, match=r"0.125 GiB of disk.*EQUIPOISE_SCRATCH"):
        eq.LogisticRegression(1.0, domain=person_schema(), ledger=address).fit(table)
    assert spends() == 0


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
@pytest.mark.usefixtures("small")
def test_a_disk_that_is_full_after_the_spend_is_the_constant_failure(tmp_path, monkeypatch):
    address, spends = account(tmp_path)
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **_: open("/dev/full", "r+b"))  # noqa: SIM115
    with pytest.raises(PrivateFailure) as raised:
        eq.LogisticRegression(1.0, domain=person_schema(), ledger=address).fit(StreamTable(FrameTable(person_table())))
    assert str(raised.value) == str(PrivateFailure())
    assert spends() == 1


class Plain(PartedTable):
    """A table whose engine knows nothing of persons."""

    def __init__(self):
        table = FrameTable(person_table())
        self.names, self.kinds, self.n_samples, self.source = table.names, table.kinds, None, "a table"

    def batches(self, names):
        raise AssertionError("nothing may be read")

    def answers(self, work, names, n_samples):
        raise AssertionError("nothing may be read")


@pytest.mark.parametrize(
    ("model", "engine", "remedy"),
    [
        (eq.LinearSVC(1.0, loss="hinge", alpha=10.0), "stream", 'open the table with engine="memory"'),
        (eq.LinearSVC(1.0, loss="hinge", alpha=10.0), "dask", 'round the corner off with loss="smooth-hinge"'),
        (eq.PhasedClassifier(1e3, loss="hinge"), "stream", 'round the corner off with loss="smooth-hinge"'),
        (eq.LogisticRegression(1.0, 1e-6, mechanism="noisy-gradient:10"), "dask", 'its files with engine="stream"'),
        (eq.SGDClassifier(1.0), "dask", 'its files with engine="stream"'),
        (eq.NoisySGDClassifier(1.0, 1e-6, batch_size=10), "dask", 'its files with engine="stream"'),
        (eq.PhasedClassifier(1.0, 1e-6), "dask", 'its files with engine="stream"'),
    ],
    ids=["corners of a stream", "corners", "corners in phases", "batches", "sgd", "noisy sgd", "phased"],
)
def test_kinds_that_need_more_than_sums_are_refused_before_the_spend(tmp_path, model, engine, remedy):
    address, spends = account(tmp_path)
    table = open_table(written(tmp_path / "rows", person_table()), engine=engine)
    with pytest.raises(InvalidParameter, match=remedy):
        clone(model).set_params(domain=person_schema(), ledger=address).fit(table)
    assert spends() == 0


def test_persons_who_cannot_be_grouped_in_the_memory_of_a_fit_are_refused_before_the_spend(tmp_path, monkeypatch):
    address, spends = account(tmp_path)
    table = StreamTable(FrameTable(person_table()))
    monkeypatch.setenv("EQUIPOISE_MEMORY_LIMIT", "300")  # more than the same rows of nobody take
    with pytest.raises(InvalidParameter, match=rf"the rows of {PERSONS} persons, {PERSONS * MOST} at most; .*a person"):
        eq.LogisticRegression(1.0, domain=person_schema(), ledger=address).fit(table)
    assert spends() == 0


def test_a_fit_counts_what_its_persons_take():
    table = StreamTable(FrameTable(person_table()))
    few, many = (table.grouped(PersonRule("patient", frozenset(), persons, 100)).grouping() for persons in (10, 10**9))
    assert memory.bytes_needed(10**3, 21, 463, few) < memory.budget() < memory.bytes_needed(10**11, 21, 463, many)


def test_an_engine_that_does_not_group_is_refused_before_the_spend(tmp_path):
    address, spends = account(tmp_path)
    with pytest.raises(InvalidData, match='engine="stream"'):
        eq.LogisticRegression(1.0, domain=person_schema(), ledger=address).fit(Plain())
    assert spends() == 0


def test_the_owner_s_check_counts_persons_of_a_stream():
    found = check_table(person_schema(), StreamTable(FrameTable(person_table()))).persons
    assert found.persons == PERSONS
    assert found.rows_without_id == 4
    assert found.persons_with_more == sum(count > MOST for count in COUNTS.values())


def test_tables_that_differ_in_one_person_look_alike(tmp_path):
    rows = person_table().to_pandas()
    one = rows["patient"].str.strip() == "two"
    others = {
        "as it is": rows,
        "nobody": rows[~one],
        "no ids": rows.assign(patient=rows["patient"].where(~one, None)),
        "another": rows.assign(patient=rows["patient"].where(~one, "eve")),
        "unreadable": rows.assign(ill=rows["ill"].where(~one, "perhaps"), age=rows["age"].where(~one, np.inf)),
        "many rows": rows.loc[np.repeat(rows.index, np.where(one, 700, 1))],
        "everything": rows[one],
    }
    seen = {}
    for name, table in others.items():
        kept = pyarrow.Table.from_pandas(table, schema=person_table().schema, preserve_index=False)
        written(tmp_path / name, pyarrow.concat_tables([kept.slice(0, 0), kept]), "csv")
        model = eq.LogisticRegression(1.0, 1e-4, person_schema(), random_state=0)
        seen[name] = observed(lambda model=model, name=name: model.fit(open_table(tmp_path / name, engine="stream")))
    for name, neighbour in seen.items():
        assert not differences(seen["as it is"], neighbour), name
    assert seen["as it is"].ending == "answer"
