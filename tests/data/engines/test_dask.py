"""Dask's workers answer like everybody else, whoever they are; what cannot work is refused before anything is spent."""

import logging
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
import pandas as pd
import psutil
import pyarrow
import pytest
from pyarrow import parquet

import equipoise as eq
from equipoise.data.engines import dask_cluster, frame_table, open_table
from equipoise.data.engines.base import count_rows
from equipoise.data.engines.dask_work import PartTask, Rows
from equipoise.data.engines.places import Span
from equipoise.errors import InvalidData, InvalidParameter, MissingExtra, PrivateFailure, TableUnreadable
from equipoise.release.parted_rows import PartedRows
from equipoise.solve.questions import Expansion, Products
from equipoise.vocabulary.constants import BLOCK_ROWS
from planted_engines import LENGTHS, ROWS, Telling, encoding, parts, schema, written

distributed = pytest.importorskip("distributed")
frames = pytest.importorskip("dask.dataframe")


def workers(count):
    return distributed.LocalCluster(
        n_workers=count,
        threads_per_worker=1,
        processes=False,
        dashboard_address="127.0.0.1:0",
        silence_logs=logging.CRITICAL,
    )


def sums(table, n_samples=ROWS, question=None):
    rows = PartedRows(table, encoding(n_samples), n_samples)
    return rows.sums(question or Expansion(encoding().problem.loss, np.full(3, 0.1), True))


def bits(answer):
    return [part.tobytes() for part in answer]


def rows_of(table, n_samples=ROWS):
    """Every row that the workers see, by its place."""
    found = {}
    for _, (first, ages) in table.answers(Ages(), ["age"], n_samples):
        found.update({first + place: age for place, age in enumerate(ages)})
    assert sorted(found) == list(range(n_samples))
    return [found[place] for place in range(n_samples)]


class Ages:
    def __call__(self, batches, first):
        return first, [None if age is None else float(age) for batch in batches for age in batch["age"]]


@pytest.fixture
def folder(tmp_path):
    return written(tmp_path / "rows", "parquet")


def test_any_number_of_workers_gives_the_same_bits_and_the_stream_differs_by_rounding_only(folder):
    found = []
    for count in (1, 2, 7):
        with workers(count) as cluster:
            table = open_table(folder, engine="dask", scheduler=cluster.scheduler_address)
            found.append(sums(table, question=Products()))
    assert bits(found[0]) == bits(found[1]) == bits(found[2])
    streamed = sums(open_table(folder, engine="stream"), question=Products())
    # No entry of a row is above 1, and a term passes at most so many additions (N12).
    depth = BLOCK_ROWS + 20
    for ours, theirs in zip(found[0], streamed, strict=True):
        assert np.abs(ours - theirs).max() <= 2 * depth * 2.0**-53 * ROWS


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_rows_have_the_places_of_the_declared_order(tmp_path, ending):
    table = open_table(written(tmp_path / "rows", ending), engine="dask")
    assert rows_of(table) == pyarrow.concat_tables(parts())["age"].to_pylist()


@pytest.mark.parametrize("declared", [1, 1500, 1501, ROWS - 1, ROWS + 1, ROWS + 3 * BLOCK_ROWS])
def test_surplus_lines_are_left_out_and_lacking_ones_are_missing(tmp_path, declared):
    ages = [*pyarrow.concat_tables(parts())["age"].to_pylist(), *[None] * (4 * BLOCK_ROWS)]
    found = rows_of(open_table(written(tmp_path / "rows", "csv"), engine="dask"), declared)
    assert found == ages[:declared]


def test_footers_that_tell_another_number_of_rows_are_refused_unread(folder):
    with pytest.raises(InvalidData, match=f"{ROWS}"):
        eq.LogisticRegression(epsilon=1.0, domain=schema(ROWS + 1)).fit(open_table(folder, engine="dask"))


def test_a_frame_is_a_table_as_it_is(folder):
    whole = pyarrow.concat_tables(parts()).to_pandas()
    frame = frames.from_pandas(whole, npartitions=3)
    table = frame_table(frame)
    assert table.names == ("age", "dose", "ill")
    assert dict(table.kinds) == {"age": "number", "dose": "number", "ill": "text"}
    assert table.n_samples is None
    assert rows_of(table) == whole["age"].tolist()
    assert rows_of(table, ROWS + 2) == [*whole["age"].tolist(), None, None]
    fits = [
        eq.LogisticRegression(epsilon=1.0, domain=schema(), random_state=1).fit(rows)
        for rows in (frame, open_table(folder, engine="stream"))
    ]
    assert np.allclose(fits[0].coef_, fits[1].coef_, rtol=1e-9)
    assert (fits[0].predict(frame) == fits[1].predict(whole)).all()


def test_kinds_of_a_frame_follow_from_its_declared_types():
    frame = frames.from_pandas(
        pd.DataFrame(
            {
                "object": pd.Series([1, "a"], dtype=object),
                "words": pd.Categorical(["a", "b"]),
                "numbers": pd.Categorical([1, 2]),
                "truth": [True, False],
            }
        ),
        npartitions=1,
    )
    # Of categories their type is declared; which there are may be told by rows, and nobody looks.
    kinds = frame_table(frame).kinds
    assert [kinds[name] for name in ("words", "numbers", "truth")] == ["text", "number", "truth"]


def test_the_type_of_a_partitions_categories_decides_nothing():
    whole = pd.DataFrame({"age": pd.Categorical([1, 2])})
    (rows,) = frame_table(frames.from_pandas(whole, npartitions=1)).wanted({0: Span(0, 2, 2)}, ["age"]).values()
    for part in (whole, pd.DataFrame({"age": pd.Categorical(["1", "2"])})):
        assert PartTask(count_rows, rows)(part) == 2


def test_categories_that_every_partition_finds_for_itself_are_refused():
    # Whole numbers with a fraction, or with a text, among them would be read as other numbers.
    frame = frames.from_pandas(pd.DataFrame({"age": pd.Categorical([1, 2]), "town": ["a", "b"]}), npartitions=1)
    unknown = frame.assign(age=frame["age"].cat.as_unknown())
    with pytest.raises(InvalidData, match=r"categories that every partition finds for itself: age; to do: name them"):
        frame_table(unknown)
    named = unknown.assign(age=unknown["age"].astype(pd.CategoricalDtype([1, 2])))
    assert [batch["age"].tolist() for batch in frame_table(named).batches(["age"])] == [[1, 2]]


def test_a_frame_whose_plan_computes_rows_is_not_planned_before_the_spend():
    read = []

    def part(number):
        read.append(number)
        return pd.DataFrame({"age": [float(number), 2.0]})

    frame = frames.from_map(part, range(3), meta=pd.DataFrame({"age": [1.0]})).sort_values("age")
    read.clear()
    table = frame_table(frame)
    table.ready()
    table.close()
    assert not read
    # Dask looks for quantiles where it plans.
    frame.to_delayed()
    assert read


def test_partitions_of_other_types_than_the_frame_end_in_a_constant():
    frame = frames.from_pandas(pd.DataFrame({"age": [1.0, 2.0]}), npartitions=1)
    lying = frame.map_partitions(lambda part: part.assign(age=["x", "y"]), meta=frame._meta)
    with pytest.raises(PrivateFailure):
        list(frame_table(lying).answers(count_rows, ["age"], 2))


def test_what_a_frame_s_own_work_says_about_rows_goes_nowhere(capfd, caplog):
    frame = frames.from_pandas(pd.DataFrame({"age": [1.0, 2.0]}), npartitions=1)
    failing = frame.map_partitions(lambda part: part.assign(age=int("SECRET")), meta=frame._meta)
    with caplog.at_level(0), pytest.raises(Exception, match="SECRET"):
        # The door makes a constant of it.
        list(frame_table(failing).answers(count_rows, ["age"], 2))
    assert "SECRET" not in caplog.text + "".join(capfd.readouterr())


def test_threads_of_this_process_serve_nobody_else():
    cluster = dask_cluster.Cluster(None)
    listening = [found.laddr.ip for found in psutil.Process().net_connections() if found.status == "LISTEN"]
    cluster.close()
    assert set(listening) <= {"127.0.0.1"}


def test_a_frame_needs_a_schema_and_its_target_inside():
    frame = frames.from_pandas(pd.DataFrame({"age": [1.0, 2.0], "ill": ["no", "yes"]}), npartitions=1)
    # Nothing may be computed: where it was, before the ledger was asked, this raises.
    guarded = frame.map_partitions(lambda part: 1 / 0, meta=frame._meta)
    domain = eq.Domain(row_norm=1.0, classes=("no", "yes"))
    with pytest.raises(InvalidData, match=r"pass a schema as the domain"):
        eq.LogisticRegression(epsilon=1.0, domain=domain).fit(guarded[["age"]], ["no", "yes"])
    with pytest.raises(InvalidData, match="a Dask Series"):
        eq.LogisticRegression(epsilon=1.0, domain=domain).fit([[1.0], [2.0]], guarded["ill"])
    with pytest.raises(InvalidData, match="leave y out"):
        eq.LogisticRegression(epsilon=1.0, domain=schema(2)).fit(guarded, ["no", "yes"])
    with pytest.raises(InvalidData, match="a Dask Series"):
        eq.LogisticRegression(epsilon=1.0, domain=schema(2)).fit(guarded["age"])


def test_a_table_that_is_never_held_has_its_target_inside(folder):
    with pytest.raises(InvalidData, match="leave y out"):
        eq.LogisticRegression(epsilon=1.0, domain=schema()).fit(open_table(folder, engine="stream"), ["no"] * ROWS)


def test_a_missing_library_is_named_with_the_line_that_installs_it(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtra, match=r'pip install "equipoise\[dask\]"'):
        open_table(folder, engine="dask")


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense://here", ""])
def test_a_scheduler_that_is_not_there_is_refused(folder, monkeypatch, address):
    monkeypatch.setattr(dask_cluster, "ANSWER_SECONDS", 0.5)
    with pytest.raises(InvalidParameter, match=f"no answer from '{address}'"):
        open_table(folder, engine="dask", scheduler=address).ready()


def test_a_cluster_without_workers_is_refused(folder):
    with workers(0) as cluster, pytest.raises(InvalidParameter, match="with workers; found: none at"):
        open_table(folder, engine="dask", scheduler=cluster.scheduler_address).ready()


class Said:
    """A client whose workers answer as they are told."""

    def __init__(self, *answers):
        self._answers = iter(answers)

    def nthreads(self):
        return {"here": 1, "there": 1}

    def run(self, *_, **__):
        answer = next(self._answers)
        if isinstance(answer, Exception):
            raise answer
        return answer


@pytest.mark.parametrize(
    ("answers", "found"),
    [
        ([{"here": version("equipoise"), "there": PackageNotFoundError()}], "with none"),
        ([{"here": version("equipoise"), "there": "0.0.1"}], r"with 0\.0\.1"),
        ([dict.fromkeys("ab", version("equipoise")), ModuleNotFoundError("numpy")], "ends in ModuleNotFoundError"),
        ([dict.fromkeys("ab", version("equipoise")), {"a": [], "b": ["0.parquet"]}], r"cannot read 0\.parquet"),
    ],
)
def test_workers_that_could_not_do_the_work_are_refused(answers, found):
    cluster = object.__new__(dask_cluster.Cluster)
    cluster._scheduler, cluster.client = "tcp://there:8786", Said(*answers)
    with pytest.raises(InvalidParameter, match=found):
        cluster.require_workers([Path("0.parquet")])


@pytest.mark.parametrize("engine", ["stream", "dask"])
def test_files_that_are_gone_or_have_company_are_refused_before_the_spend(folder, engine):
    gone, joined = open_table(folder, engine=engine), open_table(folder, engine=engine)
    (folder / "1.parquet").rename(folder / "_1.parquet")
    with pytest.raises(InvalidData, match=r"no file 1\.parquet"):
        gone.ready()
    (folder / "_1.parquet").rename(folder / "1.parquet")
    written(folder.parent / "others", "csv")
    (folder.parent / "others" / "0.csv").rename(folder / "9.csv")
    with pytest.raises(InvalidData, match="gained or lost files"):
        joined.ready()


def test_a_folder_that_gains_a_file_between_passes_is_noticed(folder):
    table = open_table(folder, engine="dask")
    table.ready()
    try:
        sums(table)
        parquet.write_table(parts()[0], folder / "9.parquet")
        with pytest.raises(TableUnreadable):
            sums(table)
    finally:
        table.close()


def test_a_part_of_another_schema_is_refused_when_it_is_opened(folder):
    parquet.write_table(pyarrow.table({"age": [1.0]}), folder / "7.parquet")
    with pytest.raises(InvalidData, match="differs in dose, ill"):
        open_table(folder, engine="dask")


def test_a_part_that_is_damaged_ends_in_a_constant_and_says_nothing(folder, capfd):
    table = open_table(folder, engine="dask")
    whole = (folder / "3.parquet").read_bytes()
    (folder / "3.parquet").write_bytes(whole[:4] + bytes(len(whole) // 2) + whole[4 + len(whole) // 2 :])
    with pytest.raises(PrivateFailure) as caught:
        sums(table)
    assert caught.value.args == PrivateFailure().args
    assert capfd.readouterr() == ("", "")


def test_a_part_that_fails_takes_no_row_and_no_trace_along():
    task = PartTask(Telling(), Rows(("age",), {"age": "number"}))
    assert repr(task) == "<work on a part>"
    with pytest.raises(PrivateFailure) as caught:
        task(pd.DataFrame({"age": [77.0]}))
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None


def test_what_was_counted_is_forgotten_when_the_fit_ends(tmp_path):
    table = open_table(written(tmp_path / "rows", "csv"), engine="dask")
    table.ready()
    sums(table)
    assert table._counts == dict(enumerate(LENGTHS))
    table.close()
    assert table._counts is None
    assert not [value for value in vars(table).values() if isinstance(value, distributed.Client)]


def test_a_cluster_that_lost_its_workers_ends_the_fit(folder, monkeypatch):
    monkeypatch.setattr(dask_cluster, "PATIENCE_SECONDS", 0.2)
    with workers(1) as cluster:
        table = open_table(folder, engine="dask", scheduler=cluster.scheduler_address)
        table.ready()
        cluster.scale(0)
        cluster.sync(cluster._correct_state)
        with pytest.raises(PrivateFailure):
            sums(table)
        table.close()
