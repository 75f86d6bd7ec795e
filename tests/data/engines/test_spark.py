"""Spark's partitions answer like everybody else's rows; what cannot work is refused before anything is spent."""

import dataclasses
import datetime
import decimal
import re
from contextlib import nullcontext, suppress
from types import SimpleNamespace

import numpy as np
import pyarrow
import pytest

import equipoise as eq
from equipoise.data.engines import frame_table, open_table
from equipoise.data.engines.places import Span, spans
from equipoise.data.engines.spark import ScannedFrame, SparkFrame
from equipoise.data.engines.spark_packed import FEW, PackedFrame, on_packed, packed_part
from equipoise.data.engines.spark_scans import LENIENT
from equipoise.data.engines.spark_work import (
    BATCH_BYTES,
    BATCH_SETTING,
    ROWS_SETTING,
    Errand,
    answers_of,
    bounded_batches,
)
from equipoise.data.frames import FrameTable
from equipoise.data.many_files import open_files
from equipoise.data.schema import NumberColumn
from equipoise.errors import InvalidData, InvalidParameter, PrivateFailure, TableUnreadable
from equipoise.ledger import Ledger
from spark_sessions import LENGTHS, ROWS, faulty, numbers, rows, schema, session, skip_without_spark, sums, written

skip_without_spark()

# Java's connections are closed when Python forgets them.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def spark():
    with session("local[2, 4]") as started:
        yield started


@pytest.fixture
def folder(tmp_path):
    return written(tmp_path / "rows")


def held(spark):
    """The numbers of what Spark holds."""
    return list(spark.sparkContext._jsc.getPersistentRDDs())


def lose(spark):
    """Have Spark lose what it holds, as when a worker is gone."""
    context = spark.sparkContext._jsc.sc()
    assert sum(found.numCachedPartitions() for found in context.getRDDStorageInfo()) > 0
    for number in held(spark):
        context.env().blockManager().master().removeRdd(number, True)


def model(**settings):
    return eq.LogisticRegression(epsilon=1.0, domain=schema(), mechanism="output", **settings)


@pytest.mark.statistics
@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_files_have_the_sums_of_a_stream(spark, tmp_path, ending):
    folder = written(tmp_path / "rows", ending)
    here, there = open_table(folder, engine="stream"), open_table(folder, engine="spark")
    # A block that ends in another part is added up in other pieces.
    np.testing.assert_allclose(numbers(sums(there)), numbers(sums(here)), rtol=1e-13)


def test_a_frame_is_a_table_as_it_is_whatever_its_columns_are_called(spark, folder):
    frame = spark.read.parquet(*(str(folder / f"{number}.parquet") for number in range(len(LENGTHS))))
    # To Spark, a dot is a path, and capitals are no other letters.
    table = frame_table(frame.selectExpr("*", "1.0 as AGE"))
    there = sums(table)
    np.testing.assert_allclose(numbers(there), numbers(sums(open_table(folder, engine="stream"))), rtol=1e-13)
    assert len(held(spark)) == 1
    # What Spark loses of the packed rows it computes again.
    lose(spark)
    assert sums(table) == there
    table.close()
    assert not held(spark)


# What may have other rows than its files, or read them otherwise: `files` is a plain scan of them.
MORE_THAN_FILES = {
    "a filter": lambda spark, files, folder: files.where("age > 30"),
    "a limit": lambda spark, files, folder: files.limit(5),
    "rows twice": lambda spark, files, folder: files.union(files),
    "a file twice": lambda spark, files, folder: spark.read.parquet(*2 * [str(folder / "0.parquet")]),
    "a sample": lambda spark, files, folder: files.sample(0.5),
    "an expression": lambda spark, files, folder: files.selectExpr("age + 1 as age", "ill"),
    "another name": lambda spark, files, folder: files.withColumnRenamed("age", "years"),
    "another type": lambda spark, files, folder: spark.read.schema("age float, ill string").parquet(str(folder)),
    "a column that is not there": lambda spark, files, folder: spark.read.schema("a double").parquet(str(folder)),
    "an option": lambda spark, files, folder: spark.read.option("mergeSchema", "true").parquet(str(folder)),
    "another format": lambda spark, files, folder: spark.read.csv(str(folder)),
    "a view": lambda spark, files, folder: files.createOrReplaceTempView("seen") or spark.table("seen"),
    "what Spark knows of files": lambda spark, files, folder: files.select("age", "_metadata.file_name"),
}


def test_a_frame_that_is_nothing_but_files_is_read_as_files(spark, folder):
    files = spark.read.parquet(str(folder))
    for frame in (files, files.select("ill", "town", "`in.come`", "age"), files.alias("them")):
        table = frame_table(frame)
        assert isinstance(table, ScannedFrame)
        assert table.names == tuple(frame.columns)
        # Rows that are more or fewer than declared have the rule of frames.
        assert table.n_samples is None
    assert sums(table) == sums(open_table(folder, engine="spark"))
    assert not held(spark)
    (folder / "0.parquet").unlink()
    with pytest.raises(InvalidData, match="no file"):
        table.ready()


def test_a_frame_that_may_have_other_rows_than_its_files_is_a_frame(spark, folder):
    files = spark.read.parquet(str(folder))
    for name, make in MORE_THAN_FILES.items():
        assert isinstance(frame_table(make(spark, files, folder)), SparkFrame), name
    for setting in LENIENT:
        spark.conf.set(setting, "true")
        assert isinstance(frame_table(files), SparkFrame), setting
        spark.conf.unset(setting)
    kept = files.cache()
    assert isinstance(frame_table(kept), SparkFrame)
    kept.unpersist()
    assert isinstance(frame_table(spark.read.parquet(str(folder))), ScannedFrame)


@pytest.mark.statistics
def test_columns_that_folders_tell_and_tables_of_a_catalogue_are_frames(spark, folder, tmp_path):
    files = spark.read.parquet(str(folder))
    files.write.partitionBy("town").parquet(str(tmp_path / "towns"))
    assert isinstance(frame_table(spark.read.parquet(str(tmp_path / "towns"))), SparkFrame)
    files.write.saveAsTable("people", path=str(tmp_path / "people"))
    assert isinstance(frame_table(spark.table("people")), SparkFrame)
    spark.sql("drop table people")


def test_the_first_rows_are_copied_once_and_have_the_sums_of_a_stream(spark, folder):
    # Unlike files, which Spark reads in an order of its own, these rows have the order of the stream's.
    table, few = frame_table(spark.createDataFrame(rows())), ROWS // FEW
    expected = sums(open_table(written(folder.parent / "texts", "csv"), engine="stream"), few)
    np.testing.assert_allclose(numbers(sums(table, few)), numbers(expected), rtol=1e-13)
    assert len(held(spark)) == 2
    table.close()
    assert not held(spark)


@pytest.mark.statistics
def test_a_seeded_model_is_the_same_and_predicts_from_a_frame(spark, folder):
    files = spark.read.parquet(str(folder))
    here = model(random_state=7).fit(open_table(folder, engine="stream"))
    for frame in (files, files.where("true")):
        there = model(random_state=7).fit(frame)
        np.testing.assert_allclose(there.coef_, here.coef_, atol=1e-9)
    new = rows(50).drop_columns(["ill"])
    shown = spark.createDataFrame(new.to_pylist(), "age double, `in.come` double, town string, ill string").drop("ill")
    assert there.predict(shown).tolist() == there.predict(new).tolist()


@pytest.mark.statistics
def test_blank_bounds_are_found_as_in_a_stream_and_have_its_certificate(spark, folder):
    blank = [
        dataclasses.replace(column, bounds=None) if isinstance(column, NumberColumn) else column
        for column in schema().columns
    ]
    facts = dataclasses.replace(schema(), columns=tuple(blank)).with_private_bounds(0.5)
    frame = spark.read.parquet(str(folder)).where("true")
    tables = open_table(folder, engine="stream"), open_table(folder, engine="spark"), frame
    fitted = [
        eq.LogisticRegression(epsilon=1.0, domain=facts, mechanism="output", alpha=0.05, random_state=7).fit(table)
        for table in tables
    ]
    claims = {model.certificate_.claim for model in fitted}
    assert len(claims) == 1
    assert claims.pop().of[0].released
    for other in fitted[1:]:
        np.testing.assert_allclose(other.coef_, fitted[0].coef_, atol=1e-9)


@pytest.mark.statistics
@pytest.mark.parametrize("declared", [ROWS - 1600, ROWS + 5000])
def test_surplus_rows_are_left_out_and_those_that_lack_are_the_public_row(spark, folder, declared):
    frame = spark.createDataFrame(rows().to_pylist(), "age double, `in.come` double, town string, ill string").coalesce(
        3
    )
    expected = sums(open_table(written(folder.parent / "texts", "csv"), engine="stream"), declared)
    table = frame_table(frame)
    np.testing.assert_allclose(numbers(sums(table, declared)), numbers(expected), rtol=1e-12)
    table.close()
    assert not held(spark)


def test_a_value_means_what_it_means_in_an_arrow_table(spark):
    when = datetime.datetime(2026, 11, 16, 12, 30, tzinfo=datetime.UTC)
    values = [(1, 2.5, True, "a", b"\xff", decimal.Decimal("1.50"), datetime.date(2026, 1, 2), when), (None,) * 8]
    kinds = "a bigint, b double, c boolean, d string, e binary, f decimal(10,2), g date, h timestamp"
    frame = spark.createDataFrame(values, kinds)
    arrow = FrameTable(frame.toArrow())
    table = frame_table(frame)
    assert isinstance(table, SparkFrame)
    assert (table.names, dict(table.kinds)) == (arrow.names, dict(arrow.kinds))
    for name in table.names:
        found, expected = (np.concatenate([batch[name] for batch in each.batches([name])]) for each in (table, arrow))
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


def test_nested_columns_streams_and_a_plain_domain_are_refused(spark):
    with pytest.raises(InvalidData, match="other types: b"):
        frame_table(spark.createDataFrame([(1.0, [1.0])], "a double, b array<double>"))
    with pytest.raises(InvalidData, match="other types: b"):
        frame_table(spark.sql("select 1.0 as a, make_interval(1) as b"))
    with pytest.raises(InvalidData, match="a stream, which has no end"):
        frame_table(spark.readStream.format("rate").load())
    plain = eq.LogisticRegression(epsilon=1.0, domain=eq.Domain(row_norm=1.0, classes=("no", "yes")))
    with pytest.raises(InvalidData, match="pass a schema as the domain"):
        plain.fit(spark.range(5), [0, 1, 0, 1, 0])


def test_a_session_elsewhere_and_files_that_workers_do_not_see_are_refused(spark, folder):
    with pytest.raises(InvalidParameter, match=re.escape("one at 'local[2, 4]'")):
        open_table(folder, engine="spark", scheduler="local[1]").ready()
    table = open_table(folder, engine="spark")
    table.files = (*table.files, folder / "absent.parquet")
    with pytest.raises(InvalidParameter, match=r"a worker without .*absent\.parquet"):
        table.ready()


@pytest.mark.statistics
@pytest.mark.parametrize("lost", [False, True])
def test_a_frame_whose_rows_are_others_when_it_is_evaluated_again_ends_the_fit_and_keeps_the_spend(
    spark, tmp_path, monkeypatch, lost
):
    from pyspark.sql import functions

    # Spark's own rand() draws its seed once, when the frame is made.
    drawn = functions.udf(lambda: __import__("random").random(), "double").asNondeterministic()
    others = "0.5D as `in.come`", "'Graz' as town", "'no' as ill"
    frame = spark.range(ROWS).selectExpr(*others).withColumn("age", 20 + 40 * drawn())
    ledger = f"sqlite:///{tmp_path}/ledger.db#people"
    Ledger(ledger).create(eq.Budget(2.0, 0.0))
    if lost:
        wanted = PackedFrame.wanted

        def wanted_and_lost(self, places):
            lose(spark)
            return wanted(self, places)

        monkeypatch.setattr(PackedFrame, "wanted", wanted_and_lost)
    # Evaluated once it is a table like any other.
    with pytest.raises(PrivateFailure) if lost else nullcontext():
        model(ledger=ledger).fit(frame)
    assert [paid.outcome for paid in Ledger(ledger).releases()] == ["failed" if lost else "released"]
    assert not held(spark)


@pytest.mark.statistics
def test_a_failure_on_a_worker_is_tried_again_and_leaves_no_trace(spark, folder, tmp_path, capfd):
    expected = sums(open_table(folder, engine="spark"))
    once = faulty(open_files(folder), None, "raise", tmp_path / "once")
    assert sums(once) == expected
    assert len(list((tmp_path / "once").iterdir())) == 4
    always = faulty(open_files(folder), None, "always raise", tmp_path / "always")
    spark.sparkContext.setLogLevel("WARN")
    try:
        with pytest.raises(Exception, match="whose cause is withheld") as caught:
            sums(always)
    finally:
        spark.sparkContext.setLogLevel("OFF")
    printed = "".join(capfd.readouterr()) + str(caught.value)
    assert "PrivateFailure" in printed
    assert "secret" not in printed
    assert "4711" not in printed
    with pytest.raises(PrivateFailure) as caught:
        model().fit(always)
    assert caught.value.__cause__ is None


def test_a_part_that_has_other_rows_than_were_counted_is_refused():
    batches = [{"age": np.arange(3.0)}, {"age": np.arange(2.0)}]

    def taken(count, wanted):
        return [len(batch["age"]) for batch in Span(0, count, wanted).rows(iter(batches))]

    assert taken(5, 5) == [3, 2]
    assert taken(5, 4) == [3, 1]
    assert taken(9, 3) == [3]
    assert taken(9, 0) == []
    for count in (4, 6):
        with pytest.raises(TableUnreadable):
            taken(count, count)
    with pytest.raises(TableUnreadable):
        taken(9, 6)


class Settings(dict):
    """A session's settings."""

    def set(self, name, value):
        self[name] = value


class Fetched:
    """What two parts answered, in rows of ten bytes, or a failure."""

    def __init__(self, fails=False):
        self.sparkSession = SimpleNamespace(conf=Settings({BATCH_SETTING: "its own", ROWS_SETTING: "too"}))
        self.fails, self.seen = fails, None

    def collect(self):
        self.seen = self.sparkSession.conf[BATCH_SETTING]
        if self.fails:
            raise PrivateFailure
        errand = Errand(lambda batches, first: "x" * 95, spans({2: 0, 3: 0}, 0))
        batches = [batch for part in (2, 3) for batch in errand(part, iter(()))]
        return pyarrow.Table.from_batches(batches).to_pylist()


def test_answers_longer_than_a_row_come_back_whole(monkeypatch):
    monkeypatch.setattr("equipoise.data.engines.spark_work.ROW_BYTES", 10)
    assert list(answers_of(Fetched(), 2)) == [(2, "x" * 95), (3, "x" * 95)]


@pytest.mark.parametrize("fails", [False, True])
def test_batches_are_bounded_while_work_is_done_and_a_session_keeps_its_own_setting(fails):
    fetched = Fetched(fails)
    with pytest.raises(PrivateFailure) if fails else nullcontext():
        list(answers_of(fetched, 2))
    assert fetched.seen == str(BATCH_BYTES)
    settings = fetched.sparkSession.conf
    with suppress(KeyError), bounded_batches(fetched.sparkSession, 2000):
        # 16 MiB of decimals of 16 bytes.
        assert settings[ROWS_SETTING] == "524"
        raise KeyError
    assert settings == {BATCH_SETTING: "its own", ROWS_SETTING: "too"}


def test_packed_rows_come_back_in_their_places_and_none_may_be_missing(monkeypatch):
    monkeypatch.setattr("equipoise.data.engines.spark_packed.PACKED_BYTES", 800)
    table = rows(250)
    packed = list(packed_part(3, iter(table.to_batches(max_chunksize=100))))
    assert len(packed) > 9

    def found(sent):
        batches = pyarrow.Table.from_batches(sent).combine_chunks().to_batches()
        seen = on_packed(iter(batches), lambda part, batches: iter([(part, list(batches))]), table.column_names, "")
        return [(part, [value for batch in batches for value in batch["in.come"].tolist()]) for part, batches in seen]

    assert found(packed) == [(3, table["in.come"].to_pylist())]
    # A part without a row answers too.
    assert found([*packed_part(0, iter(())), *packed]) == [(0, []), (3, table["in.come"].to_pylist())]
    for others in ([*packed[:1], *packed[2:]], [packed[1], packed[0], *packed[2:]], [*packed[:2], *packed[1:]]):
        with pytest.raises(TableUnreadable):
            found(others)


def test_what_fails_while_rows_are_packed_says_nothing():
    def batches():
        yield pyarrow.record_batch({"age": [1.0]})
        raise ValueError("the secret of row 4711")

    with pytest.raises(PrivateFailure) as raised:
        list(packed_part(0, batches()))
    assert raised.value.__context__ is None
