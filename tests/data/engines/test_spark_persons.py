"""Persons on Spark: rows and shares of the memory, in whatever order the shuffle brings runs and standings."""

import pickle
import sys

import numpy as np
import pyarrow
import pytest

import equipoise as eq
from equipoise.data.engines import frame_table, open_table, shuffled, spark_persons
from equipoise.data.engines.grouped import Keeping
from equipoise.data.engines.places import spans
from equipoise.data.engines.shuffled import FindingRuns, KeptWork, Summarising
from equipoise.data.engines.spark_packed import packed_part, unpacked
from equipoise.data.engines.spark_persons import Carry, RunsErrand, grouped_rows, standing_rows
from equipoise.data.engines.spark_work import answer_row
from equipoise.data.frames import FrameTable
from equipoise.errors import PrivateFailure
from equipoise.ledger import Ledger
from person_tables import (
    PERSONS,
    Seen,
    in_parts,
    kept_in_memory,
    kept_rows,
    person_schema,
    person_table,
    rule,
    same_rows,
    written,
)
from spark_sessions import session, skip_without_spark

KEY = b"a secret of the fit"
# Java's connections are closed when Python forgets them.
slow = [
    pytest.mark.statistics,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def loaded(answer):
    return pickle.loads(answer)  # noqa: S301 - written a moment ago


def rows_of(batches):
    return [tuple(column[0].as_py() for column in batch.columns) for batch in batches]


@pytest.mark.parametrize("way", ["files", "rows"])
def test_runs_and_standings_may_come_in_any_order(monkeypatch, way):
    # What Spark's workers do, without Spark.
    monkeypatch.setattr(shuffled, "BUCKET_RUNS", 200)
    monkeypatch.setattr(spark_persons, "ROW_BYTES", 500)
    coins, table = np.random.default_rng(0), person_table()
    parts = [FrameTable(part).with_ids("patient") for part in in_parts(table)]
    places = spans({number: part.n_samples for number, part in enumerate(parts)}, None)

    def shuffle(rows):
        return [rows[place] for place in coins.permutation(len(rows))]

    sent = [
        row
        for number, part in enumerate(parts)
        for row in RunsErrand(FindingRuns(rule(), KEY), places)(number, part.batches(["patient"]))
    ]
    runs = [row for row in sent if row.column(0)[0].as_py() != spark_persons.TOLD]
    assert len({row.column(0)[0].as_py() for row in runs}) > 3
    firsts = {part: span.first for part, span in places.items()}
    buckets = sorted({row.column(0)[0].as_py() for row in runs})
    held = [answer_row(number, b"") for number in places]
    for bucket in buckets:
        mine = [row for row in runs if row.column(0)[0].as_py() == bucket]
        held += grouped_rows(iter(shuffle(mine)), rule(), firsts)
    summaries = dict(rows_of(standing_rows(iter(shuffle(held)), Summarising(None))))
    kept = {part: loaded(summary).kept for part, summary in summaries.items()}
    ranks = {part: sum(kept[other] for other in range(part)) for part in kept}
    carry = Carry({part: KeptWork(Keeping(Seen(), rule(), KEY, True), None, ranks[part]) for part in kept}, places)
    names, found = ["age", "patient"], {}
    if way == "files":
        answers = carry.on_files(iter(shuffle(held)), lambda part: parts[part].batches(names))
    else:
        ordered = []
        for number, part in enumerate(in_parts(table)):
            mine = [(number, -1, row) for other, row in rows_of(shuffle(held)) if other == number]
            batches = part.select(names).to_batches(max_chunksize=90)
            ordered += [*mine, *rows_of(packed_part(number, iter(batches)))]
        columns = pyarrow.table(dict(zip(("part", "place", "answer"), zip(*ordered, strict=True), strict=True)))
        answers = carry.on_rows(
            iter(columns.to_batches(max_chunksize=7)),
            lambda rows: unpacked(rows, names, "patient"),
        )
    told = {}
    for part, answer in rows_of(answers):
        told[part], (first, ages, shares) = loaded(answer)
        found.update({first + place: row for place, row in enumerate(zip(ages, shares, strict=True))})
    expected = dict(loaded(row.column(1)[0].as_py()) for row in sent if row not in runs)
    assert told == expected
    assert same_rows([found[place] for place in sorted(found)], kept_in_memory(table))


@pytest.mark.parametrize(
    "act",
    [
        lambda: list(grouped_rows(iter([answer_row(0, b"SECRET")]), rule(), {0: 0})),
        lambda: list(standing_rows(iter([answer_row(0, b"")]), lambda part, found: 1 / 0)),
    ],
)
def test_what_fails_on_a_worker_says_nothing(act):
    with pytest.raises(PrivateFailure) as raised:
        act()
    assert str(raised.value) == str(PrivateFailure())
    assert raised.value.__context__ is None


@pytest.fixture(scope="module")
def spark():
    skip_without_spark()
    from pyspark import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules["person_tables"])
    with session("local[2, 4]") as started:
        yield started


class TestOnSpark:
    pytestmark = slow

    @pytest.mark.parametrize("ending", ["parquet", "csv"])
    def test_files_keep_the_rows_of_the_memory(self, spark, tmp_path, ending):
        table = person_table()
        files = open_table(written(tmp_path / "rows", table, ending), engine="spark")
        for persons in (PERSONS, 40):
            assert same_rows(kept_rows(files, persons), kept_in_memory(table, persons))

    def test_a_frame_keeps_the_rows_of_the_memory(self, spark):
        frame = spark.createDataFrame(person_table())
        assert frame.rdd.getNumPartitions() > 1
        assert same_rows(kept_rows(frame_table(frame)), kept_in_memory(person_table()))

    def test_a_fit_has_the_model_of_the_memory(self, spark, tmp_path):
        path = written(tmp_path / "rows", person_table())
        held, there = (
            eq.LogisticRegression(1.0, domain=person_schema(), random_state=0).fit(open_table(path, engine=engine))
            for engine in ("memory", "spark")
        )
        assert there.coef_ == pytest.approx(held.coef_, rel=1e-9)

    def test_a_frame_whose_rows_move_ends_the_fit_and_keeps_the_spend(self, spark, tmp_path):
        ledger = f"sqlite:///{tmp_path}/ledger.db#people"
        Ledger(ledger).create(eq.Budget(10.0))
        from pyspark.sql import functions

        # Spark's own rand() draws its seed once, when the frame is made.
        drawn = functions.udf(lambda: __import__("random").choice("abc"), "string").asNondeterministic()
        moving = spark.createDataFrame(person_table()).withColumn("patient", drawn())
        with pytest.raises(PrivateFailure) as raised:
            eq.LogisticRegression(1.0, domain=person_schema(), ledger=ledger).fit(moving)
        assert str(raised.value) == str(PrivateFailure())
        assert [paid.outcome for paid in Ledger(ledger).releases()] == ["failed"]
