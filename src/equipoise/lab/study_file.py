"""The results of a study in their one Parquet file: opened only if it is what a study writes, and read in batches."""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
from numpy.typing import NDArray

from equipoise.errors import InvalidParameter

FORMAT = "equipoise study 1"
KEY = b"equipoise-study"

# No ensemble has more datasets, weights or seeds; their product is bounded by what the file says that it holds.
LARGEST_COUNT = 2**31

# Bytes: two million seeds.
LARGEST_CONFIGURATION = 2**24

# So many weights are read at a time, whatever a run has of them.
BATCH_WEIGHTS = 2**24

# What Python raises where a file is not what it says.
_UNFIT = (OSError, LookupError, TypeError, ValueError, ArithmeticError, MemoryError, RecursionError)

Weights = NDArray[np.float32]


def columns_of(n_parameters: int) -> Any:
    """Return the columns of the file, a row a run.

    Examples
    --------
    >>> columns_of(5).names
    ['seed', 'dataset', 'finite', 'weights']
    """
    weights = pa.list_(pa.float32(), n_parameters)
    return pa.schema([("seed", pa.int64()), ("dataset", pa.int64()), ("finite", pa.bool_()), ("weights", weights)])


def digest_of(configuration: Mapping[str, Any]) -> str:
    """Return the digest by which results of one configuration are known.

    Examples
    --------
    >>> digest_of({"seeds": [1]})[:8]
    '55604f71'
    """
    return hashlib.sha256(json.dumps(configuration, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class Study:
    """The results of a finished study: a file, and what its metadata says.

    Examples
    --------
    >>> import tempfile
    >>> from equipoise.lab.study import Neighbours, Training, run_study
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
        with _refusing(path):
            with _parquet(path) as file:
                schema, rows = file.schema_arrow, file.metadata.num_rows
                held = sum(file.metadata.row_group(group).total_byte_size for group in range(file.num_row_groups))
            if len(schema.metadata[KEY]) > LARGEST_CONFIGURATION:
                raise ValueError("a longer text than any configuration")
            configuration = json.loads(schema.metadata[KEY])
            shape = _shape(configuration)
            runs = shape[0] * shape[1]
            # Every weight takes four bytes before it is packed: a file that says it holds less does not hold them.
            fits = 0 < rows <= runs and 4 * rows * shape[2] <= held
            if not fits or not schema.remove_metadata().equals(columns_of(shape[2])):
                raise ValueError("other columns, or more rows")
        return Study(Path(path), configuration, digest_of(configuration))

    def batches(self) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], Weights]]:
        """Yield seeds, datasets and weights (runs, parameters), some thousand runs at a time."""
        width = self.configuration["n_parameters"]
        with _refusing(self.path), _parquet(self.path) as file:
            for batch in file.iter_batches(max(1, min(2**16, BATCH_WEIGHTS // width))):
                if any(column.null_count for column in (*batch.columns, batch["weights"].flatten())):
                    raise ValueError("a missing number")
                weights = batch["weights"].flatten().to_numpy().reshape(len(batch), width)
                yield batch["seed"].to_numpy(), batch["dataset"].to_numpy(), weights

    def weights(self) -> Weights:
        """Return all weights, (seeds, datasets, parameters), in the order in which seeds and datasets were given."""
        place = {seed: position for position, seed in enumerate(self.configuration["seeds"])}
        with _refusing(self.path):
            shape = _shape(self.configuration)
            with _parquet(self.path) as file:
                if file.metadata.num_rows != shape[0] * shape[1]:
                    raise ValueError("a part of a study")
            weights, filled = np.empty(shape, np.float32), np.zeros(shape[:2], np.bool_)
            for seed, dataset, rows in self.batches():
                if dataset.min() < 0:
                    raise ValueError("a dataset before the first")
                cells = [place[each] for each in seed.tolist()], dataset
                weights[cells], filled[cells] = rows, True
            if not filled.all():
                raise ValueError("runs that are missing")
        return weights

    def diverged(self) -> tuple[tuple[int, int], ...]:
        """Return the runs whose weights are not finite, as (seed, dataset)."""
        with _refusing(self.path):
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


def _shape(configuration: Any) -> tuple[int, int, int]:
    """Return how many seeds, datasets and weights a study has; refuse what is no configuration of one."""
    seeds, counts = configuration["seeds"], (configuration["n_datasets"], configuration["n_parameters"])
    known = configuration["format"] == FORMAT and isinstance(configuration["training"]["step"], str | int | float)
    whole = isinstance(seeds, list) and {type(number) for number in (*seeds, *counts)} == {int}
    if (
        not known
        or not whole
        or not 0 < len(set(seeds)) == len(seeds)
        or not all(0 < n < LARGEST_COUNT for n in counts)
    ):
        raise ValueError("no configuration of a study")
    return len(seeds), *counts


def _parquet(path: str | os.PathLike[str]) -> Any:
    # Of a pipe there is no end to be found.
    if os.path.exists(path) and not os.path.isfile(path):
        raise ValueError("no plain file")
    return pq.ParquetFile(path)


@contextmanager
def _refusing(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn whatever a file that is no study's brings about into one refusal."""
    try:
        yield
    except InvalidParameter:
        raise
    except (*_UNFIT, pa.ArrowException) as error:
        kind = "no such file" if isinstance(error, FileNotFoundError) else "a file that is none"
        raise InvalidParameter(f"the results of a study, {path}", kind, "pass the path of a finished study") from None
