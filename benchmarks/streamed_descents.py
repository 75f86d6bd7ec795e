"""One pass of SGD over a Parquet file that is never held, against scikit-learn's `partial_fit` on the same batches.

python benchmarks/streamed_descents.py [--rows 2000000] [--columns 20] [--turns 3]

Both read the same file and end with one model. Ours encodes and clips every row by a schema, keeps the rows in a
scratch, takes them in a random order of the whole table, and adds noise; scikit-learn takes them as they come, shuffled
batch by batch. They take turns in one process: ratios of processor time and of elapsed time. Memory is what Python's
allocators see; Arrow's are not counted.
"""

import argparse
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from datetime import date
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet
from sklearn.linear_model import SGDClassifier

import equipoise as eq
from equipoise.data.schema import NumberColumn, Schema, Target

BATCH_ROWS = 65_536


def written(path: Path, rows: int, columns: int) -> None:
    coins = np.random.default_rng(0)
    names = [f"c{place}" for place in range(columns)]
    kinds = pa.schema([*((name, pa.float64()) for name in names), ("ill", pa.int64())])
    with parquet.ParquetWriter(path, kinds) as file:
        for first in range(0, rows, 2**17):
            count = min(2**17, rows - first)
            numbers = coins.uniform(-1, 1, size=(columns, count))
            ill = (numbers[0] + coins.normal(size=count) > 0).astype(np.int64)
            file.write_table(pa.table([*numbers, ill], schema=kinds))


def ours(path: Path, schema: Schema, batch: int) -> None:
    model = eq.SGDClassifier(epsilon=1.0, domain=schema, passes=1, batch_size=batch, alpha=1e-3, random_state=0)
    model.fit(eq.open_table(path, engine="stream"))


def peers(path: Path, columns: int) -> None:
    model = SGDClassifier(loss="log_loss", alpha=1e-3, random_state=0)
    for batch in parquet.ParquetFile(path).iter_batches(BATCH_ROWS):
        numbers = np.column_stack([column.to_numpy(zero_copy_only=False) for column in batch.columns[:columns]])
        model.partial_fit(numbers, batch.columns[columns].to_numpy(zero_copy_only=False), classes=[0, 1])


def measured(work: Callable[[], None]) -> tuple[float, float]:
    busy, clock = time.process_time(), time.perf_counter()
    work()
    return time.process_time() - busy, time.perf_counter() - clock


def traced(work: Callable[[], None]) -> float:
    tracemalloc.start()
    work()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--turns", type=int, default=3)
    given = parser.parse_args()
    schema = Schema(
        given.rows,
        tuple(NumberColumn(f"c{place}", (-1, 1)) for place in range(given.columns)),
        Target("ill", classes=("0", "1")),
        vouched_by="a benchmark",
        vouched_on=date(2026, 11, 17),
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.parquet")
        written(path, given.rows, given.columns)
        works: dict[str, Callable[[], None]] = {
            "scikit-learn": lambda: peers(path, given.columns),
            "batches of 1": lambda: ours(path, schema, 1),
            "batches of 64": lambda: ours(path, schema, 64),
        }
        memory = {name: traced(work) for name, work in works.items()}  # and everything is loaded and compiled
        turns = [{name: measured(work) for name, work in works.items()} for _ in range(given.turns)]
    print(f"{given.rows:,} rows of {given.columns} columns, {path.name}, medians of {given.turns} turns")
    for name in works:
        busy, clock = np.median([turn[name] for turn in turns], axis=0)
        ratios = np.median([np.divide(turn[name], turn["scikit-learn"]) for turn in turns], axis=0)
        print(
            f"{name:>14}: {busy:6.2f} s of processor ({ratios[0]:.2f}), {clock:6.2f} s elapsed ({ratios[1]:.2f}), "
            f"{memory[name]:.0f} MiB traced"
        )


if __name__ == "__main__":
    main()
