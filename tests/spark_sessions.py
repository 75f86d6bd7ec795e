"""Spark for the tests of its engine: sessions, and work with planted faults that travels to workers by value."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from types import MappingProxyType
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow
import pytest
from pyarrow import csv, parquet

from equipoise.data.engines import spark_session
from equipoise.data.engines.pieces import EncodedPieces
from equipoise.data.engines.spark import SparkFiles
from equipoise.data.engines.spark_work import Errand
from equipoise.data.schema import CategoryColumn, NumberColumn, Schema, Target
from equipoise.errors import MissingExtra
from equipoise.release.parted_rows import PartedRows
from equipoise.solve.questions import Expansion
from equipoise.vocabulary import losses, penalties
from equipoise.vocabulary.facts import Problem

# Parts that end within blocks, and one that has no row.
LENGTHS = (1500, 5000, 0, 4100, 799)
ROWS = sum(LENGTHS)


def skip_without_spark() -> None:
    """Skip a module where Spark or Java is not installed, with the line that installs it."""
    try:
        spark_session.library("pyspark.sql.connect.session")
        spark_session.require_java()
    except MissingExtra as error:
        pytest.skip(f"{error}; or make .spark/.ready", allow_module_level=True)
    # What tests plant is not installed on workers.
    from pyspark import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules[__name__])


@contextmanager
def session(master: str, settings: Mapping[str, str] = MappingProxyType({})) -> Any:
    """Yield a session of our own kind at a master, ended afterwards; one is enough for a process."""
    with patch.dict(spark_session.OWN, settings):
        started = spark_session.session_at(master)
    try:
        yield started
    finally:
        started.stop()


def schema(n_samples: int = ROWS) -> Schema:
    columns = (
        NumberColumn("age", (20, 60)),
        NumberColumn("in.come", (-3, 3)),
        CategoryColumn("town", ("Graz", "Linz"), "Graz"),
    )
    return Schema(
        n_samples, columns, Target("ill", classes=("no", "yes")), vouched_by="A. Officer", vouched_on=date(2026, 11, 16)
    )


def rows(n_samples: int = ROWS) -> pyarrow.Table:
    coins = np.random.default_rng(19)
    age, income = coins.uniform(20, 60, n_samples), coins.normal(size=n_samples)
    town = coins.choice(["Graz", "Linz", None], n_samples)
    ill = np.where(age + 9 * coins.normal(size=n_samples) > 40, "yes", "no")
    return pyarrow.table(
        {"age": age, "in.come": income, "town": pyarrow.array(list(town), pyarrow.string()), "ill": ill}
    )


def written(folder: Path, ending: str = "parquet") -> Path:
    """The rows as a folder of files."""
    folder.mkdir()
    whole, ends = rows(), np.cumsum([0, *LENGTHS])
    for number, (start, length) in enumerate(zip(ends[:-1], LENGTHS, strict=True)):
        write = csv.write_csv if ending == "csv" else parquet.write_table
        write(whole.slice(start, length), folder / f"{number}.{ending}")
    return folder


def sums(table: Any, n_samples: int = ROWS) -> list[bytes]:
    """The bits of two passes over a table, which must be the same rows."""
    facts = schema(n_samples)
    problem = Problem(losses.named("logistic"), penalties.named("l2", 0.1), facts.domain, 1.0)
    encoding = EncodedPieces(facts, problem, ("no", "yes"))
    parted = PartedRows(table, encoding, n_samples)
    question = Expansion(problem.loss, np.full(encoding.dimension, 0.1), True)
    first, second = parted.sums(question), parted.sums(question)
    assert [part.tobytes() for part in first] == [part.tobytes() for part in second]
    return [part.tobytes() for part in first]


def numbers(bits: list[bytes]) -> np.ndarray:
    return np.concatenate([np.frombuffer(part) for part in bits])


@dataclass(frozen=True)
class Once:
    """Work that meets a fault the first time that a part which begins at a place comes up, then does as told."""

    work: Any
    place: int
    fault: str
    flags: str
    # Which pass it is.
    number: int

    def __call__(self, batches: Any, first: int) -> Any:
        if first == self.place and not self._is_first():
            Path(self.flags, f"copy {self.number}").touch()
        elif first == self.place:
            if self.fault == "raise":
                raise ValueError("the secret of row 4711")
            if self.fault == "kill the process":
                os.kill(os.getpid(), signal.SIGKILL)
            if self.fault == "kill the executor":
                daemon = os.getppid()
                executor = int(Path(f"/proc/{daemon}/stat").read_text().rsplit(")", 1)[1].split()[1])
                os.kill(executor, signal.SIGKILL)
                time.sleep(60)
            if self.fault == "slow":
                time.sleep(8)
        return self.work(batches, first)

    def _is_first(self) -> bool:
        if self.fault == "always raise":
            raise ValueError("the secret of row 4711")
        try:
            os.close(os.open(Path(self.flags, f"{self.fault} {self.number}"), os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return False
        return True


class Faulty(SparkFiles):
    """Files whose workers meet a fault in every pass."""

    fault, flags, passes = "", "", 0

    def _sent(self, errand: Errand, names: Any, count: int) -> Any:
        self.passes += 1
        work = Once(errand.work, LENGTHS[0], self.fault, self.flags, self.passes)
        return super()._sent(replace(errand, work=work), names, count)


def faulty(raw: Any, scheduler: str, fault: str, flags: Path) -> Faulty:
    table = Faulty(raw, scheduler)
    flags.mkdir(exist_ok=True)
    table.fault, table.flags = fault, str(flags)
    return table


@contextmanager
def standalone_cluster(folder: Path, port: int) -> Any:
    """Yield the address of a cluster of two workers with names of their own: Spark copies no task to the same host."""
    import pyspark

    home = Path(pyspark.__file__).parent
    address, settings = f"spark://127.0.0.1:{port}", {**os.environ, "SPARK_HOME": str(home)}
    deploy, program = "org.apache.spark.deploy", str(home / "bin" / "spark-class")
    page = ["--webui-port", "0"]
    commands = [[program, f"{deploy}.master.Master", "--host", "127.0.0.1", "--port", str(port), *page]]
    for host in ("127.0.0.1", "127.0.0.2"):
        limits = ["--cores", "1", "--memory", "1g", "--work-dir", str(folder / host)]
        commands.append([program, f"{deploy}.worker.Worker", "--host", host, *limits, *page, address])
    started = []
    try:
        with open(folder / "cluster.log", "wb") as log:
            for command in commands:
                started.append(
                    subprocess.Popen(command, cwd=folder, env=settings, stdout=log, stderr=log, start_new_session=True)
                )
        deadline = time.monotonic() + 120
        # Both workers must be there before the first task is shared out.
        while (folder / "cluster.log").read_text().count("Successfully registered with master") < 2:
            assert time.monotonic() < deadline, "the cluster did not start"
            time.sleep(0.5)
        yield address
    finally:
        for process in started:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def connect_server(folder: Path, port: int) -> Any:
    """Yield the address of a Spark Connect server in a process of its own."""
    import pyspark

    home = Path(pyspark.__file__).parent
    command = [
        str(home / "bin" / "spark-submit"),
        *("--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "--master", "local[2, 4]"),
        *("--conf", f"spark.connect.grpc.binding.port={port}", "--conf", "spark.ui.enabled=false"),
        *("--conf", "spark.driver.bindAddress=127.0.0.1", "--conf", "spark.driver.host=127.0.0.1", "spark-internal"),
    ]
    settings = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_HOME": str(home)}
    with open(folder / "connect.log", "wb") as log:
        server = subprocess.Popen(command, cwd=folder, env=settings, stdout=log, stderr=log, start_new_session=True)
    try:
        import grpc

        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            grpc.channel_ready_future(channel).result(timeout=180)
        yield f"sc://127.0.0.1:{port}"
    finally:
        with suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGKILL)
        server.wait()
        shutil.rmtree(folder / "artifacts", ignore_errors=True)
