"""Dask's workers as processes that are killed, lose their scheduler, or lack the library."""

import logging
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import equipoise as eq
import person_tables
from equipoise.data.engines import dask_cluster, dask_persons, open_table
from equipoise.data.engines.dask import DaskFiles
from equipoise.data.many_files import open_files
from equipoise.errors import PrivateFailure
from equipoise.ledger import Ledger
from equipoise.release.parted_rows import PartedRows
from equipoise.solve.questions import Expansion
from planted_engines import ROWS, Deadly, Telling, encoding, schema, written

distributed = pytest.importorskip("distributed")


def processes(count, **options):
    return distributed.LocalCluster(
        n_workers=count,
        threads_per_worker=1,
        processes=True,
        dashboard_address="127.0.0.1:0",
        silence_logs=logging.CRITICAL,
        **options,
    )


@pytest.fixture(scope="module")
def cluster():
    with processes(2) as found:
        yield found


@pytest.fixture
def folder(tmp_path):
    return written(tmp_path / "rows", "parquet")


class DeadlyFiles(DaskFiles):
    """Files that end one of their workers in every pass, for as many passes as they are told."""

    def __init__(self, folder, scheduler, passes):
        super().__init__(open_files(folder), scheduler)
        self._folder, self._left = folder.parent, passes

    def answers(self, work, names, n_samples):
        if self._left:
            self._left -= 1
            work = Deadly(work, self._folder / f"killed-{self._left}")
        yield from super().answers(work, names, n_samples)


def two_passes(table):
    rows = PartedRows(table, encoding(), ROWS)
    question = Expansion(encoding().problem.loss, np.full(3, 0.1), True)
    table.ready()
    try:
        return [part.tobytes() for _ in range(2) for part in rows.sums(question)]
    finally:
        table.close()


def ending(table, folder):
    """How a fit ends, with the spends that it left in a ledger."""
    ledger = f"sqlite:///{folder}/ledger.db#people"
    Ledger(ledger).create(eq.Budget(10.0, 1e-3), "basic")
    try:
        eq.LogisticRegression(epsilon=1.0, domain=schema(), mechanism="output", ledger=ledger).fit(table)
        told = "fitted"
    except eq.errors.EquipoiseError as error:
        told = str(error)
    return told, len(Ledger(ledger).releases())


def test_a_worker_that_is_killed_in_a_pass_changes_no_bit(cluster, folder):
    found = two_passes(DeadlyFiles(folder, cluster.scheduler_address, passes=1))
    assert (folder.parent / "killed-0").exists()
    assert found == two_passes(open_table(folder, engine="dask"))


@pytest.mark.parametrize("name", ["bucket_standings", pytest.param("part_standings", marks=pytest.mark.statistics)])
def test_a_worker_that_is_killed_while_persons_are_grouped_changes_no_row(cluster, tmp_path, monkeypatch, name):
    table, killed = person_tables.person_table(), tmp_path / "killed"
    folder = person_tables.written(tmp_path / "rows", table)
    monkeypatch.setattr(dask_persons, name, Deadly(getattr(dask_persons, name), killed))
    found = person_tables.kept_rows(open_table(folder, engine="dask", scheduler=cluster.scheduler_address))
    assert killed.exists()
    assert person_tables.same_rows(found, person_tables.kept_in_memory(table))


def test_work_that_fails_on_a_worker_leaves_nothing_but_a_constant(cluster, folder, capfd):
    table = open_table(folder, engine="dask", scheduler=cluster.scheduler_address)
    with pytest.raises(PrivateFailure) as caught:
        list(table.answers(Telling(), ["age"], ROWS))
    assert caught.value.args == PrivateFailure().args
    with distributed.Client(cluster, set_as_default=False) as client:
        logged = str(client.get_worker_logs()) + str(client.get_scheduler_logs())
    assert "Compute Failed" in logged
    assert "SECRET" not in logged + "".join(capfd.readouterr())


@pytest.mark.statistics
def test_a_fit_whose_workers_are_killed_in_every_pass_ends_in_a_model_with_one_spend(cluster, folder, tmp_path):
    assert ending(DeadlyFiles(folder, cluster.scheduler_address, passes=4), tmp_path) == ("fitted", 1)
    assert len(list(tmp_path.glob("killed-*"))) > 1


@pytest.mark.statistics
def test_processes_give_the_same_bits_however_many_they_are(folder):
    found = []
    for count in (1, 2, 7):
        with processes(count) as cluster:
            found.append(two_passes(open_table(folder, engine="dask", scheduler=cluster.scheduler_address)))
    assert found[0] == found[1] == found[2]


# What a worker is told when it starts, so that it does not find the library.
UNINSTALLED = """
import importlib.metadata as metadata
def found(name, present=metadata.Distribution.from_name, absent=metadata.PackageNotFoundError):
    if name == "equipoise":
        raise absent(name)
    return present(name)
metadata.Distribution.from_name = found
"""
BROKEN = """
import sys
sys.modules["equipoise"] = None
"""


@pytest.mark.statistics
@pytest.mark.parametrize(("hidden", "found"), [(UNINSTALLED, "with none"), (BROKEN, "Dask workers that can load")])
def test_a_worker_without_the_library_is_refused_before_the_spend(folder, tmp_path, hidden, found):
    with processes(1, preload=[hidden]) as cluster:
        told, spends = ending(open_table(folder, engine="dask", scheduler=cluster.scheduler_address), tmp_path)
    assert found in told
    assert spends == 0


@pytest.mark.statistics
def test_a_scheduler_that_dies_during_the_fit_ends_it_with_a_constant_and_one_spend(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(dask_cluster, "PATIENCE_SECONDS", 2)
    code = (
        "import distributed, sys, time\n"
        "if __name__ == '__main__':\n"
        "    options = dict(n_workers=1, processes=False, protocol='tcp://', dashboard_address='127.0.0.1:0')\n"
        "    cluster = distributed.LocalCluster(**options)\n"
        "    print(cluster.scheduler_address, flush=True)\n"
        "    time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as scheduler:
        address = scheduler.stdout.readline().decode().strip()

        class Dying(DaskFiles):
            def answers(self, work, names, n_samples):
                passed = super().answers(work, names, n_samples)
                yield next(passed)
                os.kill(scheduler.pid, signal.SIGKILL)
                scheduler.wait()
                yield from passed
                yield from super().answers(work, names, n_samples)

        assert ending(Dying(open_files(folder), address), tmp_path) == (str(PrivateFailure()), 1)


def test_a_scheduler_that_is_not_there_costs_nothing(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(dask_cluster, "ANSWER_SECONDS", 0.5)
    told, spends = ending(open_table(folder, engine="dask", scheduler="tcp://127.0.0.1:9"), tmp_path)
    assert "no answer from 'tcp://127.0.0.1:9'" in told
    assert spends == 0
