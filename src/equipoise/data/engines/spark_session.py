"""Sessions of Spark: found or started, and asked for an answer while nothing is spent yet."""

import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from equipoise.errors import InvalidParameter, MissingExtra

INSTALL = 'pip install "equipoise[spark]"'
INSTALL_JAVA = "install it, on Debian by apt-get install openjdk-17-jre-headless, or let JAVA_HOME name its folder"
OLDEST_SPARK, OLDEST_JAVA = 4, 17
# A scheduler that is there answers at once; a worker may have to be started first.
SCHEDULER_SECONDS, WORKER_SECONDS = 10, 120
# So many tasks look for the library: every worker of a small cluster gets some.
LOOKS = 16

# All that a session of ours does is private: no page counts its rows, no line of its log tells of their tasks. A task
# whose process is lost is tried again, on one machine as on a cluster.
OWN = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.log.level": "OFF"}
# Nobody else's machine has to reach one that works alone.
ALONE = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
THIS_MACHINE = "local[*, 4]"


def library(name: str = "pyspark") -> Any:
    """Return PySpark, or one of its modules; refuse to go on without it.

    Examples
    --------
    >>> library("no_such_library")
    Traceback (most recent call last):
    ...
    equipoise.errors.MissingExtra: asked: the engine 'spark'; found: PySpark, or what its Connect needs, is not \
installed; to do: pip install "equipoise[spark]"
    """
    try:
        pyspark, module = import_module("pyspark"), import_module(name)
    except ImportError:
        found = "PySpark, or what its Connect needs, is not installed"
        raise MissingExtra("the engine 'spark'", found, INSTALL) from None
    if int(pyspark.__version__.split(".")[0]) < OLDEST_SPARK:
        raise MissingExtra(f"PySpark {OLDEST_SPARK} or newer", f"PySpark {pyspark.__version__}", INSTALL)
    return module


def session_at(scheduler: str | None) -> Any:
    """Return a session at an address: the one that is there, or one that is started; on this machine without any."""
    pyspark = library()
    if scheduler is not None and scheduler.startswith("sc://"):
        return _connected(scheduler)
    sessions = library("pyspark.sql").SparkSession
    running = pyspark.SparkContext._active_spark_context
    if running is not None:
        if scheduler not in (None, running.master):
            remedy = "leave the scheduler out to use that session, or end it first by spark.stop()"
            raise InvalidParameter(f"a Spark session at {scheduler!r}", f"one at {running.master!r}", remedy)
        return sessions.builder.getOrCreate()
    master = THIS_MACHINE if scheduler is None else scheduler
    require_scheduler(master)
    require_java()
    builder = sessions.builder.master(master).appName("equipoise")
    alone = master.startswith("local")
    for key, value in {**OWN, **(ALONE if alone else {})}.items():
        builder = builder.config(key, value)
    try:
        with _own_python(alone):
            return builder.getOrCreate()
    except Exception as fault:  # Java's and PySpark's own kinds; no row was read
        found = f"none could be started: {type(fault).__name__}"
        raise InvalidParameter(f"a Spark session at {master!r}", found, "check the address and Java's output") from None


def require_scheduler(master: str) -> None:
    """Refuse an address that is none, or where nobody listens.

    Examples
    --------
    >>> require_scheduler("tcp://127.0.0.1:8786")
    Traceback (most recent call last):
    ...
    equipoise.errors.InvalidParameter: asked: the address of a Spark cluster; found: scheduler='tcp://127.0.0.1:8786'; \
to do: pass sc://HOST:PORT for Connect, spark://HOST:PORT, yarn, k8s://..., or leave it out for this machine
    """
    if re.fullmatch(r"local(-cluster)?(\[[^\]]*\])?|yarn|k8s://.+", master):
        return
    if not re.fullmatch(r"spark://[^:,]+:\d+(,[^:,]+:\d+)*", master):
        raise InvalidParameter(
            "the address of a Spark cluster",
            f"scheduler={master!r}",
            "pass sc://HOST:PORT for Connect, spark://HOST:PORT, yarn, k8s://..., or leave it out for this machine",
        )
    if not any(_listens(*address.split(":")) for address in master.removeprefix("spark://").split(",")):
        # Spark itself would try for a minute.
        raise _no_answer(master)


def _listens(host: str, port: str) -> bool:
    try:
        with socket.create_connection((host, int(port)), timeout=SCHEDULER_SECONDS):
            return True
    except (OSError, OverflowError):
        return False


def _no_answer(scheduler: str) -> InvalidParameter:
    remedy = "start it, and check host and port; nothing was read and nothing was spent"
    return InvalidParameter("a Spark scheduler that answers", f"no answer from {scheduler!r}", remedy)


def require_java() -> None:
    """Refuse to start without a Java that Spark runs on."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else shutil.which("java")
    asked = f"Java {OLDEST_JAVA} or newer, on which Spark runs"
    try:
        told = subprocess.run([java or "java", "-version"], capture_output=True, text=True, timeout=60, check=True)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        raise MissingExtra(asked, f"no Java in {home}" if home else "no Java", INSTALL_JAVA) from None
    number = re.search(r'version "(\d+)', told.stderr + told.stdout)
    if number is None or int(number[1]) < OLDEST_JAVA:
        raise MissingExtra(asked, f"Java {number[1] if number else 'of no version'}", INSTALL_JAVA)


@contextmanager
def _own_python(alone: bool) -> Iterator[None]:
    """Let workers of this machine run the Python that runs here, unless somebody said otherwise."""
    if not alone or "PYSPARK_PYTHON" in os.environ:
        yield
        return
    os.environ["PYSPARK_PYTHON"] = sys.executable
    try:
        yield
    finally:
        del os.environ["PYSPARK_PYTHON"]


def _connected(address: str) -> Any:
    sessions = library("pyspark.sql.connect.session").SparkSession
    client, grpc = library("pyspark.sql.connect.client"), library("grpc")
    try:
        with client.DefaultChannelBuilder(address).toChannel() as channel:
            # Spark itself would try for ten minutes.
            grpc.channel_ready_future(channel).result(timeout=SCHEDULER_SECONDS)
    except grpc.FutureTimeoutError:
        raise _no_answer(address) from None
    except Exception as fault:  # of PySpark's own kinds, for an address that it cannot read; no row was read
        found = f"{type(fault).__name__}: {address!r}"
        raise InvalidParameter("the address of a Spark Connect server", found, "write sc://HOST:PORT") from None
    return sessions.builder.remote(address).getOrCreate()


def require_workers(session: Any, locations: tuple[str, ...] = ()) -> None:
    """Refuse a session whose workers do not answer, lack this version of the library, or cannot open the files."""

    def look(batches: Iterator[Any]) -> Iterator[Any]:
        from equipoise.data.engines.spark_session import looked

        return looked(batches, locations)

    asked, here = "Spark workers that can work on the table", version("equipoise")
    tag, too_late = f"equipoise-{uuid.uuid4()}", threading.Event()

    def interrupt() -> None:
        too_late.set()
        session.interruptTag(tag)

    # Spark itself would wait for workers for ever.
    alarm = threading.Timer(WORKER_SECONDS, interrupt)
    session.addTag(tag)
    alarm.start()
    try:
        found = session.range(0, LOOKS, 1, LOOKS).mapInArrow(look, "version string, absent string").collect()
    except Exception as fault:  # of many kinds; no row was read, so what workers say about themselves may be told
        if too_late.is_set():
            remedy = "start workers, or free some of their cores; nothing was read and nothing was spent"
            raise InvalidParameter(asked, f"no answer within {WORKER_SECONDS} seconds", remedy) from None
        raise _unfit(asked, fault, here) from None
    finally:
        alarm.cancel()
        session.removeTag(tag)
    others = sorted({row["version"] for row in found} - {here})
    if others:
        remedy = f"install the same version everywhere: pip install equipoise=={here}"
        raise MissingExtra(asked, f"Equipoise {others[0]} on a worker, {here} here", remedy)
    absent = sorted({row["absent"] for row in found} - {""})
    if absent:
        remedy = "put the files where every worker can read them under the same path"
        raise InvalidParameter(asked, f"a worker without {absent[0]}", remedy)


def looked(batches: Iterator[Any], locations: tuple[str, ...]) -> Iterator[Any]:
    """Yield what a worker has: the library's version, and the first of the files that it cannot open."""
    import pyarrow  # type: ignore[import-untyped]

    for _ in batches:
        absent = next((place for place in locations if not os.access(place, os.R_OK)), "")
        yield pyarrow.RecordBatch.from_pydict({"version": [version("equipoise")], "absent": [absent]})


def _unfit(asked: str, fault: Exception, here: str) -> MissingExtra | InvalidParameter:
    text = str(fault)
    if absent := re.search(r"No module named '([\w.]+)'", text):
        remedy = f"pip install equipoise=={here} on every worker, in the Python that PYSPARK_PYTHON names"
        return MissingExtra(asked, f"no module {absent[1]} on a worker", remedy)
    if "PYTHON_VERSION_MISMATCH" in text:
        remedy = "let PYSPARK_PYTHON name the same Python on every worker as here"
        return MissingExtra(asked, "another version of Python on a worker", remedy)
    return InvalidParameter(asked, f"a failure: {type(fault).__name__}", "look at the logs of Spark; nothing was spent")
