"""A study: the grid of an ensemble in tiles that fit the memory, streamed to one Parquet file, continued after a stop.

Every finished tile is a file of its own in a folder beside the results, written under another name first and renamed
when it is whole. So a stop at any moment loses the tiles in work and no other. When all are there they are joined into
the one Parquet file: a row a run, with its seed, its dataset and its weights. The file's metadata carries the
configuration and its digest, and nothing is ever added to the results of another configuration.
"""

import hashlib
import json
import math
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from equipoise.errors import InvalidParameter, MissingExtra, OutputRefused
from equipoise.lab.ensemble_models import EnsembleError, Neighbours, Training

FORMAT = "equipoise study 1"
KEY = b"equipoise-study"
# On a CPU a tile has at most so many seeds a thread: few enough to lose in a stop, enough to keep every core at work.
SEEDS_A_THREAD = 4
# So many times in a row workers may die without one tile done before the study gives up.
PATIENCE = 3

Weights = NDArray[np.float32]
Report = Callable[[int, int], None]


class Tile(NamedTuple):
    """A rectangle of the grid: places of seeds and datasets, from the first up to the last, without it."""

    seed: int
    last_seed: int
    dataset: int
    last_dataset: int

    @property
    def runs(self) -> int:
        """How many runs the tile has."""
        return (self.last_seed - self.seed) * (self.last_dataset - self.dataset)

    @property
    def cells(self) -> tuple[slice, slice]:
        """Where the tile lies in a table of seeds by datasets."""
        return slice(self.seed, self.last_seed), slice(self.dataset, self.last_dataset)


def engine() -> ModuleType:
    """Return the ensemble engine; JAX is an extra."""
    try:
        from equipoise.lab import ensemble
    except ImportError:
        raise MissingExtra("a study of many runs", "JAX is not installed", 'pip install "equipoise[lab]"') from None
    return ensemble


def memory_needed(
    training: Training, n_samples: int, n_features: int, n_seeds: int, n_datasets: int, at_once: int
) -> int:
    """Return how many bytes the arrays of a tile take, `at_once` of its seeds being in work at a time.

    Examples
    --------
    >>> memory_needed(Training(n_steps=3400), 29305, 100, n_seeds=160, n_datasets=160, at_once=2) // 2**20
    228
    """
    width, places = n_features + training.intercept, training.batch_size
    weights = 4 * n_datasets * training.n_parameters(n_features)
    table = 3 * 4 * (n_samples + 1) * (width + 2)
    # Steps are padded to whole sections, and every array is for a while both here and on the device.
    steps = training.n_steps * 17 // 16 + 16
    held = 2 * steps * places * (4 + (width if training.dropout else 0)) + 2 * weights
    batch = 4 * (2 * places + 1) * training.outputs * n_datasets
    ahead = 2 * max(2**21, 4 * places * width) + 4 * 512 * n_datasets
    return table + n_seeds * held + at_once * (6 * weights + 8 * batch + ahead)


def cut(
    training: Training, neighbours: Neighbours, n_seeds: int, *, memory: int, threads: int, on_cpu: bool, parts: int = 1
) -> list[Tile]:
    """Return the tiles of a grid, each of which fits `memory` bytes: whole columns of datasets where they can be.

    Examples
    --------
    >>> data = Neighbours(np.eye(9), np.ones(9), np.arange(9), np.zeros(9), 1.0)
    >>> cut(Training(n_steps=9, batch_size=3), data, 20, memory=2**25, threads=2, on_cpu=True)[-1]
    Tile(seed=16, last_seed=20, dataset=0, last_dataset=9)
    """

    def fits(n_seeds: int, n_datasets: int) -> bool:
        return need(n_seeds, n_datasets) <= memory

    def need(n_seeds: int, n_datasets: int) -> int:
        at_once = min(n_seeds, threads) if on_cpu else n_seeds
        return memory_needed(training, *neighbours.features.shape, n_seeds, n_datasets, at_once)

    def most(largest: int, fitting: Callable[[int], bool]) -> int:
        low, high = 1, largest
        while low < high:
            middle = -(-(low + high) // 2)
            low, high = (middle, high) if fitting(middle) else (low, middle - 1)
        return low

    if not fits(1, 1):
        found = f"memory={memory}, where one run alone takes {need(1, 1)} bytes"
        raise InvalidParameter("memory for one run at least", found, f"pass memory={need(1, 1)} or more")
    datasets = most(neighbours.n_datasets, lambda each: fits(1, each))
    limit = min(-(-n_seeds // parts), SEEDS_A_THREAD * threads if on_cpu else n_seeds)
    seeds = most(limit, lambda each: fits(each, datasets))
    return [
        Tile(seed, min(seed + seeds, n_seeds), dataset, min(dataset + datasets, neighbours.n_datasets))
        for seed in range(0, n_seeds, seeds)
        for dataset in range(0, neighbours.n_datasets, datasets)
    ]


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


@dataclass(frozen=True)
class Study:
    """The results of a finished study: a file, and what its metadata says.

    Examples
    --------
    >>> x, y = np.eye(4), np.array([1, -1, 1, -1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pair = Neighbours(x, y, [-1, 2], x[0], y[0])
    ...     study = run_study(Training(n_steps=5, batch_size=2), pair, range(3), Path(folder) / "runs.parquet")
    ...     study.weights().shape, study.diverged(), Study.open(study.path) == study
    ((3, 2, 5), (), True)
    """

    path: Path
    configuration: Mapping[str, Any]
    digest: str

    @staticmethod
    def open(path: str | os.PathLike[str]) -> "Study":
        """Open a finished study; what is no results file of a study is refused."""
        try:
            found = pq.read_schema(path).metadata or {}
            configuration = json.loads(found[KEY])
        except (OSError, KeyError, ValueError, pa.ArrowException) as error:
            kind = "no such file" if isinstance(error, FileNotFoundError) else "a file that is none"
            raise InvalidParameter(f"the results of a study, {path}", kind, "pass the path of a finished study") from None
        return Study(Path(path), configuration, _digest(configuration))

    def batches(self) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], Weights]]:
        """Yield seeds, datasets and weights (runs, parameters), some thousand runs at a time."""
        for batch in pq.ParquetFile(self.path).iter_batches():
            weights = batch["weights"].flatten().to_numpy().reshape(len(batch), -1)
            yield batch["seed"].to_numpy(), batch["dataset"].to_numpy(), weights

    def weights(self) -> Weights:
        """Return all weights, (seeds, datasets, parameters), in the order in which seeds and datasets were given."""
        seeds = self.configuration["seeds"]
        place = {seed: position for position, seed in enumerate(seeds)}
        shape = (len(seeds), self.configuration["n_datasets"], self.configuration["n_parameters"])
        weights = np.empty(shape, np.float32)
        for seed, dataset, rows in self.batches():
            weights[[place[each] for each in seed.tolist()], dataset] = rows
        return weights

    def diverged(self) -> tuple[tuple[int, int], ...]:
        """Return the runs whose weights are not finite, as (seed, dataset)."""
        table = pq.read_table(self.path, columns=["seed", "dataset"], filters=[("finite", "=", False)])
        return tuple(sorted(zip(table["seed"].to_pylist(), table["dataset"].to_pylist(), strict=True)))

    def require_finite(self) -> None:
        """Refuse results in which a run diverged; the error names the runs."""
        if runs := self.diverged():
            names = ", ".join(f"(seed {seed}, dataset {dataset})" for seed, dataset in runs[:5])
            more = f" and {len(runs) - 5} more" if len(runs) > 5 else ""
            found = f"{len(runs)} runs that diverged: {names}{more}"
            step = self.configuration["training"]["step"]
            raise InvalidParameter("finite weights in every run", found, f"lower the step size (step={step})")


def _digest(configuration: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(configuration, sort_keys=True).encode()).hexdigest()


class _Store:
    """The finished tiles of a study: a folder of parts while it runs, one file when it is done."""

    def __init__(self, path: Path, configuration: Mapping[str, Any]) -> None:
        self.path, self.parts, self.digest = path, path.with_name(path.name + ".parts"), _digest(configuration)
        self.shape = len(configuration["seeds"]), configuration["n_datasets"]
        weights = pa.list_(pa.float32(), configuration["n_parameters"])
        columns = [("seed", pa.int64()), ("dataset", pa.int64()), ("finite", pa.bool_()), ("weights", weights)]
        self.schema = pa.schema(columns, {KEY: json.dumps(configuration, sort_keys=True)})
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
                with pq.ParquetWriter(file, self.schema) as writer:
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


# In a worker process: the job that it was started for.
_job: list[Job] = []


def _run_tile(tile: Tile) -> Weights:
    return _job[0].run(tile)


Submit = Callable[[Tile], "Future[Weights]"]


def _flow(tiles: list[Tile], width: int, submit: Submit, ready: Callable[[Any], Any]) -> Iterator[tuple[Tile, Weights]]:
    """Keep `width` tiles in work and yield what is done; a done tile leaves `tiles`, so that what is lost stays there."""
    waiting, working = list(tiles), {}
    while waiting or working:
        while waiting and len(working) < width:
            tile = waiting.pop(0)
            working[submit(tile)] = tile
        for future in ready(list(working)):
            tile = working.pop(future)
            weights = future.result()
            tiles.remove(tile)
            yield tile, weights


def _in_processes(job: Job, tiles: list[Tile], processes: int) -> Iterator[tuple[Tile, Weights]]:
    """Train tiles in processes of their own; those that a killed process leaves behind go to new processes."""
    start = {"mp_context": get_context("spawn"), "initializer": _job.append, "initargs": (job,)}
    while tiles:
        pool = ProcessPoolExecutor(processes, **start)  # type: ignore[arg-type]
        try:
            submit: Submit = lambda tile, pool=pool: pool.submit(_run_tile, tile)  # type: ignore[misc]
            yield from _flow(tiles, 2 * processes, submit, lambda futures: wait(futures, None, FIRST_COMPLETED).done)
        except BrokenProcessPool:
            yield from ()
        finally:
            pool.shutdown(cancel_futures=True)
