"""Workers that die, dawdle or fail: the same bits or a failure that tells nothing, and one spend. Slow: clusters start.

A process has one session of Spark at a time, so each test starts and ends its own.
"""

import sys

import numpy as np
import pytest

import equipoise as eq
import person_tables
from equipoise.data.engines import frame_table, open_table, spark_session
from equipoise.data.many_files import open_files
from equipoise.errors import InvalidParameter, PrivateFailure
from equipoise.ledger import Ledger
from spark_sessions import (
    ROWS,
    connect_server,
    faulty,
    free_port,
    numbers,
    schema,
    session,
    skip_without_spark,
    standalone_cluster,
    sums,
    written,
)

skip_without_spark()

# Java's connections are closed when Python forgets them.
pytestmark = [
    pytest.mark.statistics,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

CLUSTER = "local-cluster[2,1,1024]"


@pytest.fixture
def folder(tmp_path):
    return written(tmp_path / "rows")


def test_sums_have_the_same_bits_for_one_and_two_workers_and_by_connect(folder, tmp_path):
    found = []
    for master in ("local[1]", "local[2]", CLUSTER):
        with session(master) as spark:
            frame = spark.read.parquet(*(str(path) for path in sorted(folder.iterdir()))).coalesce(1)
            found.append((tuple(sums(open_table(folder, engine="spark"))), tuple(sums(frame_table(frame)))))
    assert len(set(found)) == 1
    bits = {found[0][0]}
    with connect_server(tmp_path, free_port()) as address:
        table = open_table(folder, engine="spark", scheduler=address)
        table.ready()
        bits.add(tuple(sums(table)))
        # A frame of Connect's own, with its own partitions.
        frame = table.session.read.parquet(str(folder))
        here = numbers(sums(open_table(folder, engine="stream")))
        np.testing.assert_allclose(numbers(sums(frame_table(frame))), here, rtol=1e-13)
        model = eq.LogisticRegression(epsilon=1.0, domain=schema(), mechanism="output", random_state=3)
        np.testing.assert_allclose(
            model.fit(frame).coef_, model.fit(open_table(folder, engine="stream")).coef_, atol=1e-9
        )
        table.session.stop()
    assert len(bits) == 1
    np.testing.assert_allclose(numbers(list(bits.pop())), here, rtol=1e-13)


def test_persons_are_grouped_by_connect(tmp_path):
    cloudpickle = pytest.importorskip("pyspark.cloudpickle")
    cloudpickle.register_pickle_by_value(person_tables)
    table = person_tables.person_table()
    expected = person_tables.kept_in_memory(table)
    with connect_server(tmp_path, free_port()) as address:
        files = open_table(person_tables.written(tmp_path / "rows", table), engine="spark", scheduler=address)
        assert person_tables.same_rows(person_tables.kept_rows(files), expected)
        session_there = spark_session.session_at(address)
        frame = session_there.createDataFrame(table)
        found = person_tables.kept_rows(frame_table(frame))
        session_there.stop()
    assert person_tables.same_rows(found, expected)


@pytest.mark.parametrize("fault", ["kill the process", "kill the executor", "raise"])
def test_a_worker_that_is_lost_in_every_pass_changes_no_bit_and_one_spend_is_kept(folder, tmp_path, fault):
    ledger = f"sqlite:///{tmp_path}/ledger.db#people"
    Ledger(ledger).create(eq.Budget(2.0, 0.0))
    with session(CLUSTER):
        expected = sums(open_table(folder, engine="spark"))
        table = faulty(open_files(folder), CLUSTER, fault, tmp_path / "flags")
        assert sums(table) == expected
        # The fault of each pass, and the task that was tried again.
        assert len(list((tmp_path / "flags").iterdir())) == 4
        again = faulty(open_files(folder), CLUSTER, fault, tmp_path / "others")
        eq.LogisticRegression(epsilon=1.0, domain=schema(), mechanism="output", ledger=ledger).fit(again)
        assert len(list((tmp_path / "others").iterdir())) == 2 * again.passes >= 4
    assert [paid.outcome for paid in Ledger(ledger).releases()] == ["released"]


def test_a_speculative_copy_of_a_slow_part_changes_no_bit(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    settings = {
        **spark_session.ALONE,
        "spark.speculation": "true",
        "spark.speculation.interval": "100ms",
        "spark.speculation.multiplier": "1.1",
        "spark.speculation.quantile": "0.5",
        "spark.speculation.minTaskRuntime": "100ms",
    }
    with standalone_cluster(tmp_path, free_port()) as address, session(address, settings):
        table = open_table(folder, engine="spark", scheduler=address)
        table.ready()
        expected = sums(table)
        slow = faulty(open_files(folder), address, "slow", tmp_path / "flags")
        assert sums(slow) == expected
        # In one pass at least a copy was begun while the first one slept; a busy machine may begin none in the other.
        assert list((tmp_path / "flags").glob("copy*"))


def test_a_worker_that_always_fails_ends_in_the_constant_failure_and_keeps_the_spend(folder, tmp_path):
    ledger = f"sqlite:///{tmp_path}/ledger.db#people"
    Ledger(ledger).create(eq.Budget(2.0, 0.0))
    with session(CLUSTER):
        table = faulty(open_files(folder), CLUSTER, "always raise", tmp_path / "flags")
        model = eq.LogisticRegression(epsilon=1.0, domain=schema(), mechanism="output", ledger=ledger)
        with pytest.raises(PrivateFailure):
            model.fit(table)
    assert [paid.outcome for paid in Ledger(ledger).releases()] == ["failed"]


def test_more_parts_than_come_back_at_once_wait_in_the_cluster(folder, monkeypatch):
    with session("local[2]"):
        expected = sums(open_table(folder, engine="spark"))
        monkeypatch.setattr("equipoise.data.engines.spark_work.AT_ONCE", 2)
        assert sums(open_table(folder, engine="spark")) == expected


@pytest.mark.parametrize("address", ["sc://127.0.0.1:9", "spark://127.0.0.1:9"])
def test_a_scheduler_that_is_not_there_is_missed_before_the_spend(folder, tmp_path, address):
    ledger = f"sqlite:///{tmp_path}/ledger.db#people"
    Ledger(ledger).create(eq.Budget(2.0, 0.0))
    model = eq.LogisticRegression(epsilon=1.0, domain=schema(ROWS), mechanism="output", ledger=ledger)
    with pytest.raises(InvalidParameter, match="no answer from"):
        model.fit(open_table(folder, engine="spark", scheduler=address))
    assert [entry.kind for entry in Ledger(ledger).history()] == ["budget"]
