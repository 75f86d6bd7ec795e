"""A Dask cluster at hand: reached, checked and let go."""

import contextlib
import gc
import logging
import os
import queue
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from equipoise.data.raw import listed
from equipoise.errors import EquipoiseError, InvalidParameter, MissingExtra, PrivateFailure

# A scheduler that does not answer within so many seconds is not there.
ANSWER_SECONDS = 5
# So long a pass waits for an answer before it looks whether any workers are left; Dask itself would wait for ever.
PATIENCE_SECONDS = 30


def library(name: str) -> Any:
    """Return a module of Dask, which is loaded only where it is used."""
    try:
        return import_module(name)
    except ImportError:
        raise MissingExtra.of("the engine Dask", name) from None


def distributed() -> Any:
    """Return the library that knows Dask's clusters."""
    return library("distributed")


class Cluster:
    """A connection to a scheduler by its address; without one to this process's client, or to threads of this process.

    Threads need no socket, no second interpreter and no copy of what they work on. A pool of processes would run a
    script that has no guard again, with every fit in it and every spend.
    """

    def __init__(self, scheduler: str | None) -> None:
        dask = distributed()
        self._scheduler = scheduler
        self._owned = contextlib.ExitStack()
        self._silence()
        if scheduler is not None:
            self.client = self._connected(dask, scheduler)
        else:
            try:
                self.client = dask.default_client()
            except ValueError:
                self.client = self._threads(dask)

    def _connected(self, dask: Any, scheduler: str) -> Any:
        client = None
        # Whatever answers there instead of a scheduler may be read as anything, a length beyond all memory for one.
        with contextlib.suppress(Exception):
            client = dask.Client(scheduler, timeout=ANSWER_SECONDS, set_as_default=False)
        if client is None:
            self.close()
            # What is left of a client that did not connect would wait, and complain, when the interpreter ends.
            gc.collect()
            remedy = "start one by the command: dask scheduler, and pass its address, such as tcp://127.0.0.1:8786"
            raise InvalidParameter("the address of a Dask scheduler", f"no answer from {scheduler!r}", remedy)
        self._owned.callback(client.close, timeout=ANSWER_SECONDS)
        return client

    def _threads(self, dask: Any) -> Any:
        # What Dask serves by HTTP stays on this machine and has no pages.
        shut = {"protocol": "inproc://", "dashboard": False, "dashboard_address": "127.0.0.1:0"}
        # The memory of threads is this process's: a limit would only stop the work.
        alone = {**shut, "nthreads": os.cpu_count(), "memory_limit": 0}
        routes: dict[str, list[str]] = {"distributed.scheduler.http.routes": [], "distributed.worker.http.routes": []}
        with library("dask").config.set(routes):
            cluster = dask.SpecCluster(
                scheduler={"cls": dask.Scheduler, "options": shut},
                workers={0: {"cls": dask.Worker, "options": alone}},
                silence_logs=logging.CRITICAL,
            )
        self._owned.callback(cluster.close, timeout=ANSWER_SECONDS)
        client = dask.Client(cluster, set_as_default=False)
        self._owned.callback(client.close, timeout=ANSWER_SECONDS)
        return client

    def _silence(self) -> None:
        """Keep workers that are threads of this process from logging why a frame's own work has failed: by values."""
        for name in ("distributed.worker", "distributed.shuffle"):
            logger = logging.getLogger(name)
            self._owned.callback(logger.setLevel, logger.level)
            logger.setLevel(logging.CRITICAL)

    def close(self) -> None:
        """Let go of what was taken hold of here; a cluster that is gone already must not undo what was paid for."""
        with contextlib.suppress(Exception):
            self._owned.close()

    def require_workers(self, files: Sequence[Path]) -> None:
        """Refuse a cluster without workers, or with one that lacks this library or does not see a file."""
        named = self._scheduler or "the current client's scheduler"
        if not self.client.nthreads():
            remedy = f"start one by the command: dask worker {self._scheduler or 'ADDRESS'}"
            raise InvalidParameter("a Dask cluster with workers", f"none at {named}", remedy)
        try:
            # A function of the standard library: a worker that has nothing of ours can say so.
            versions = self.client.run(version, "equipoise", on_error="return")
            wrong = sorted({_told(found) for found in versions.values()} - {version("equipoise")})
            if wrong:
                remedy = f"install the same version on every worker: pip install equipoise=={version('equipoise')}"
                found = f"workers at {named} with {listed(wrong)}"
                raise InvalidParameter(f"workers with Equipoise {version('equipoise')}", found, remedy)
            unseen = sorted({name for names in self.client.run(_unseen, list(files)).values() for name in names})
        except EquipoiseError:
            raise
        except Exception as error:  # of many kinds, whatever a worker lacks
            remedy = "install Equipoise and what it needs in the same versions on every worker, and look into its log"
            found = f"one at {named} that ends in {type(error).__name__}"
            raise InvalidParameter("Dask workers that can load Equipoise", found, remedy) from None
        if unseen:
            remedy = "put the files where every worker has them under the same path, such as a shared disk"
            raise InvalidParameter("files that every worker can read", f"some cannot read {listed(unseen)}", remedy)

    def arriving(self, parts: Mapping[Any, int]) -> Iterator[tuple[int, Any]]:
        """Yield the answers of parts as they come."""
        arrived: queue.SimpleQueue[Any] = queue.SimpleQueue()
        try:
            for future in parts:
                future.add_done_callback(arrived.put)
            for _ in parts:
                future = self._patiently(arrived.get)
                # The worker that had the answer may be gone by now; then another one makes it again.
                yield parts[future], self._patiently(future.result)
                future.release()
        finally:
            for future in parts:
                future.release()

    def _patiently(self, wait: Any) -> Any:
        """Return what is waited for; no answer ever comes from a cluster that has no workers any more."""
        while True:
            with contextlib.suppress(queue.Empty, TimeoutError):
                return wait(timeout=PATIENCE_SECONDS)
            if not self.client.nthreads():
                raise PrivateFailure


def _told(found: Any) -> str:
    """Return a worker's version, or that it has none."""
    return found if isinstance(found, str) else "none"


def _unseen(files: list[Path]) -> list[str]:
    """Return the files that cannot be read here."""
    return [path.name for path in files if not os.access(path, os.R_OK)]
