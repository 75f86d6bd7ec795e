"""A study: the grid of an ensemble in tiles that fit the memory, streamed to one Parquet file, continued after a stop.

Every finished tile is a file of its own in a folder beside the results, written under another name first and renamed
when it is whole. So a stop at any moment loses the tiles in work and no other. When all are there they are joined into
the one Parquet file: a row a run, with its seed, its dataset and its weights. The file's metadata carries the
configuration and its digest, and nothing is ever added to the results of another configuration.
"""

import functools
import hashlib
import json
import math
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager, nullcontext
from dataclasses import asdict, dataclass
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from equipoise.errors import InvalidParameter, MissingExtra, OutputRefused
from equipoise.lab.ensemble_models import EnsembleError, Neighbours, Training
from equipoise.lab.study_file import FORMAT, KEY, Study, Weights, columns_of, digest_of
from equipoise.lab.tiles import Tile, cut

# So many times in a row workers may die without one tile done before the study gives up.
PATIENCE = 3
# How long a Dask scheduler may take to answer.
ANSWER_SECONDS = 10.0

Report = Callable[[int, int], None]


def engine() -> ModuleType:
    """Return the ensemble engine; JAX is an extra."""
    try:
        from equipoise.lab import ensemble
    except ImportError:
        raise MissingExtra("a study of many runs", "JAX is not installed", 'pip install "equipoise[lab]"') from None
    return ensemble


@dataclass(frozen=True, eq=False)
class Job:
    """What every worker of a study is given once; a tile says which runs of it to do."""

    training: Training
    neighbours: Neighbours
    seeds: tuple[int, ...]
    platform: str
    threads: int

    def run(self, tile: Tile) -> Weights:
        """Train the runs of a tile."""
        seeds, part = self.seeds[tile.seed : tile.last_seed], self.neighbours.part(tile.dataset, tile.last_dataset)
        try:
            trained = engine().train(self.training, part, seeds, backend=self.platform, threads=self.threads)
        except RuntimeError as error:
            if "RESOURCE_EXHAUSTED" not in str(error):
                raise
            found = f"{tile.runs} runs at a time, which do not fit the device"
            raise EnsembleError("tiles that fit the memory", found, "pass a smaller memory=") from None
        weights: Weights = trained.weights
        return weights

    def configuration(self) -> dict[str, Any]:
        """Return what decides the results, as plain data; the arrays by their digest."""
        arrays = hashlib.sha256()
        for name, array in vars(self.neighbours).items():
            arrays.update(f"{name} {array.dtype} {array.shape}".encode())
            arrays.update(np.ascontiguousarray(array).data)
        settings = {
            name: value if isinstance(value, str) or math.isfinite(value) else repr(value)
            for name, value in asdict(self.training).items()
        }
        return {
            "format": FORMAT,
            "training": settings,
            "seeds": list(self.seeds),
            "n_samples": self.neighbours.n_samples,
            "n_features": self.neighbours.n_features,
            "n_datasets": self.neighbours.n_datasets,
            "n_parameters": self.training.n_parameters(self.neighbours.n_features),
            "arrays": arrays.hexdigest(),
            "platform": self.platform,
        }


@contextmanager
def product_errors() -> Iterator[None]:
    """Turn what the engine refuses into an error of the product.

    Examples
    --------
    >>> with product_errors():
    ...     Training(step=0.0)
    Traceback (most recent call last):
    equipoise.errors.InvalidParameter: asked: step above 0 and below inf; found: step=0.0; to do: pass step as a \
number in that range
    """
    try:
        yield
    except EnsembleError as error:
        raise InvalidParameter(*error.args) from None


class _Store:
    """The finished tiles of a study: a folder of parts while it runs, one file when it is done."""

    def __init__(self, path: Path, configuration: Mapping[str, Any]) -> None:
        self.path, self.parts, self.digest = path, path.with_name(path.name + ".parts"), digest_of(configuration)
        self.shape = len(configuration["seeds"]), configuration["n_datasets"]
        metadata = {KEY: json.dumps(configuration, sort_keys=True)}
        self.schema = columns_of(configuration["n_parameters"]).with_metadata(metadata)
        if path.exists():
            self._refuse_another(path, path)
        elif self.parts.is_dir():
            for part in self._part_files():
                self._refuse_another(part, self.parts)

    def _refuse_another(self, file: Path, shown: Path) -> None:
        try:
            found = "the results of another configuration" if Study.open(file).digest != self.digest else ""
        except InvalidParameter:
            # A part is renamed when it is whole, so that one which cannot be read was damaged later: it is done again.
            found = "a file that is not the results of a study" if file == self.path else ""
            if file != self.path:
                file.unlink()
        if found:
            remedy = f"pass another path, or delete {shown} if it is no longer needed"
            raise OutputRefused(f"results of this configuration at {shown}", found, remedy)

    def _part_files(self) -> list[Path]:
        return sorted(self.parts.glob("part-*.parquet"))

    def done(self) -> NDArray[np.bool_]:
        """Return which runs are in a finished part, by the places of their seed and dataset."""
        table = np.zeros(self.shape, np.bool_)
        for part in self._part_files():
            table[self._tile(part).cells] = True
        return table

    @staticmethod
    def _tile(part: Path) -> Tile:
        return Tile(*(int(number) for number in part.stem.split("-")[1:]))

    @contextmanager
    def _whole(self, path: Path) -> Iterator[Any]:
        """Write a file under another name, and rename it when all of it is on the disk."""
        try:
            self.parts.mkdir(exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=self.parts, prefix="unfinished-", delete=False) as file:
                with pq.ParquetWriter(file, self.schema, use_dictionary=False, compression="zstd") as writer:
                    yield writer
                file.flush()
                os.fsync(file.fileno())
            os.replace(file.name, path)
        except OSError as error:
            found = f"{type(error).__name__}: {error.strerror or error}"
            remedy = "make room or pass a path that can be written; what is finished is kept, and the study continues"
            raise OutputRefused(f"results at {path}", found, remedy) from None

    def add(self, tile: Tile, seeds: Sequence[int], weights: Weights) -> None:
        """Write a finished tile."""
        runs, datasets = weights.reshape(tile.runs, -1), np.arange(tile.dataset, tile.last_dataset)
        columns = [
            np.repeat(np.array(seeds, np.int64), len(datasets)),
            np.tile(datasets, len(seeds)),
            np.isfinite(runs).all(1),
            pa.FixedSizeListArray.from_arrays(pa.array(runs.ravel()), runs.shape[1]),
        ]
        name = "-".join(f"{number:06d}" for number in tile)
        with self._whole(self.parts / f"part-{name}.parquet") as writer:
            writer.write_table(pa.Table.from_arrays([pa.array(each) for each in columns], schema=self.schema))

    def join(self) -> None:
        """Join the parts into the one file of results; runs that two parts hold are taken once."""
        taken = np.zeros(self.shape, np.bool_)
        with self._whole(self.path) as writer:
            for part in self._part_files():
                cells = self._tile(part).cells
                table = pq.read_table(part)
                writer.write_table(table.filter(pa.array(~taken[cells].ravel())) if taken[cells].any() else table)
                taken[cells] = True
        shutil.rmtree(self.parts)


class _WorkersLost(Exception):  # noqa: N818 - a signal between two functions here, no error of the product
    """Workers died; the tiles that they had are still to do."""


# In a worker process: the job that it was started for.
_job: list[Job] = []


def _adopt(job: Job) -> None:
    _job[:] = [job]


def _run_tile(tile: Tile) -> Weights:
    return _job[0].run(tile)


Done = Generator[tuple[Tile, Weights], None, None]


def _flow(tiles: list[Tile], width: int, submit: Callable[[Tile], Any], ready: Callable[[Any], Any]) -> Done:
    """Keep `width` tiles in work and yield what is done; a tile leaves `tiles` when it is done, not before."""
    waiting = list(tiles)
    working: dict[Any, Tile] = {}
    while waiting or working:
        while waiting and len(working) < width:
            tile = waiting.pop(0)
            working[submit(tile)] = tile
        for future in ready(list(working)):
            tile = working.pop(future)
            weights = future.result()
            tiles.remove(tile)
            yield tile, weights


def _first_done(futures: list[Future[Weights]]) -> set[Future[Weights]]:
    return wait(futures, return_when=FIRST_COMPLETED).done


def _in_processes(job: Job, tiles: list[Tile], processes: int) -> Done:
    pool = ProcessPoolExecutor(processes, get_context("spawn"), _adopt, (job,))
    try:
        yield from _flow(tiles, 2 * processes, lambda tile: pool.submit(_run_tile, tile), _first_done)
    except BrokenProcessPool:
        raise _WorkersLost from None
    finally:
        pool.shutdown(cancel_futures=True)


def _on_cluster(job: Job, tiles: list[Tile], scheduler: str) -> Done:
    try:
        distributed: Any = import_module("distributed")
    except ImportError:
        raise MissingExtra.of("workers of a Dask cluster", "distributed") from None
    try:
        client = distributed.Client(scheduler, timeout=ANSWER_SECONDS)
    except (OSError, ValueError):
        remedy = "start one by the command: dask scheduler, and pass its address, such as tcp://127.0.0.1:8786"
        raise InvalidParameter("the address of a Dask scheduler", f"no answer from {scheduler!r}", remedy) from None
    with client:
        threads = sum(client.nthreads().values())
        if not threads:
            remedy = f"start one by the command: dask worker {scheduler}"
            raise InvalidParameter("a Dask cluster with workers", f"none at {scheduler}", remedy)
        try:
            (everywhere,) = client.scatter([job], broadcast=True, hash=False)
            submit = functools.partial(client.submit, Job.run, everywhere, pure=False)
            ready = functools.partial(distributed.wait, return_when="FIRST_COMPLETED")
            yield from _flow(tiles, 2 * threads, submit, lambda futures: ready(futures).done)
        except (distributed.KilledWorker, CancelledError, TimeoutError):
            raise _WorkersLost from None


def _persistently(tiles: list[Tile], attempt: Callable[[list[Tile]], Done]) -> Done:
    """Yield finished tiles; those that dead workers left behind are done again."""
    failures = 0
    while tiles:
        left = len(tiles)
        try:
            yield from attempt(tiles)
        except _WorkersLost:
            failures = failures + 1 if len(tiles) == left else 0
            if failures == PATIENCE:
                found = f"workers that died {PATIENCE} times without finishing one; {left} tiles are left"
                remedy = "give them more memory, or pass a smaller memory=; finished tiles are kept"
                raise InvalidParameter("workers that finish their tiles", found, remedy) from None


@contextmanager
def _bar(done: int, total: int) -> Iterator[Report]:
    """Show runs done, runs a second and the time left, on the standard error."""
    columns = (TextColumn("training"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[rate]} runs/s"))
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True)) as progress:
        task, start = progress.add_task("training", total=total, completed=done, rate="-"), time.perf_counter()

        def report(now: int, _: int) -> None:
            progress.update(task, completed=now, rate=f"{(now - done) / (time.perf_counter() - start):,.0f}")

        yield report


def run_study(
    training: Training,
    neighbours: Neighbours,
    seeds: Sequence[int],
    path: str | os.PathLike[str],
    *,
    memory: int = 2**30,
    backend: str = "auto",
    processes: int = 1,
    scheduler: str | None = None,
    progress: bool | Report = False,
) -> Study:
    """Train every seed on every dataset and keep the weights in one Parquet file; continue where a stop left off.

    Parameters
    ----------
    training, neighbours, seeds
        The grid, as `equipoise.lab.ensemble.train` takes it.
    path : path
        Where the results go. A finished study of this configuration there is returned as it is; any other is refused.
    memory : int
        How many bytes the arrays in work may take, on all processes together, or on each thread of a cluster's workers.
    backend : str
        "cpu", "gpu" or "auto".
    processes : int
        Over how many processes of this machine the seeds are spread.
    scheduler : str, optional
        The address of a Dask scheduler, over whose workers they are spread instead.
    progress : bool or callable
        True shows a bar; a callable is told the runs done and all runs, after each tile.
    """
    ensemble = engine()
    if not (memory > 0 and processes > 0) or (processes > 1 and scheduler is not None):
        found = f"memory={memory!r}, processes={processes!r}, scheduler={scheduler!r}"
        raise InvalidParameter("memory, and processes or a scheduler", found, "pass one of the two, above 0")
    with product_errors():
        seeds = tuple(int(seed) for seed in seeds)
        ensemble.check(training, neighbours, seeds)
        platform = ensemble.device(backend).platform
        threads = 1 if scheduler else max(1, ensemble.cores() // processes)
        job = Job(training, neighbours, seeds, platform, threads)
        share = int(memory) // processes
        tiles = cut(
            training, neighbours, len(seeds), memory=share, threads=threads, on_cpu=platform == "cpu", parts=processes
        )
        configuration = job.configuration()
        store = _Store(Path(path), configuration)
        if store.path.exists():
            shutil.rmtree(store.parts, ignore_errors=True)
            return Study(store.path, configuration, store.digest)
        done = store.done()
        tiles = [tile for tile in tiles if not done[tile.cells].all()]
        if scheduler is not None:
            finished = _persistently(tiles, lambda left: _on_cluster(job, left, scheduler))
        elif processes > 1:
            finished = _persistently(tiles, lambda left: _in_processes(job, left, processes))
        else:
            finished = ((tile, job.run(tile)) for tile in tiles)
        bar = _bar if progress is True else lambda *_: nullcontext(progress or (lambda *_: None))
        with bar(int(done.sum()), done.size) as report, closing(finished):
            for tile, weights in finished:
                store.add(tile, seeds[tile.seed : tile.last_seed], weights)
                done[tile.cells] = True
                report(int(done.sum()), done.size)
        store.join()
    return Study(store.path, configuration, store.digest)
