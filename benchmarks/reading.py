"""Rows a second of CSV read and encoded on one core, and predictions, as ratios within one run, in processor time.

python benchmarks/reading.py --data FOLDER
"""

import os
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

# Before the libraries are loaded: one core.
os.environ.update(OPENBLAS_NUM_THREADS="1", POLARS_MAX_THREADS="1")

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from prepared import ADULT_SCALES
from sklearn.linear_model import LogisticRegression as PlainLogisticRegression
from study import options

import equipoise as eq
from equipoise.data.encoded import encoded_rows, encoded_table
from equipoise.data.frames import FrameTable
from equipoise.data.schema import CategoryColumn, NumberColumn, Schema, Target

ROWS = 1_000_000
REPETITIONS = 9
SHAPES = ((1_000_000, 20), (100_000, 100))


def fastest(*actions: Callable[[], object]) -> list[float]:
    """Return the least processor time of each, taken in turn."""
    found = [float("inf")] * len(actions)
    for _ in range(REPETITIONS):
        for place, action in enumerate(actions):
            start = time.process_time()
            action()
            found[place] = min(found[place], time.process_time() - start)
    return found


def exhaust(batches: Iterable[object]) -> None:
    for _ in batches:
        pass


def adult_like(folder: Path) -> tuple[pa.Table, Schema]:
    """Return Adult's 15 columns, repeated to a million rows, as text and numbers, and a schema of them."""
    adult = pa.parquet.read_table(folder / "adult.parquet").drop(["split"])
    names = [name for name in adult.column_names if name not in ADULT_SCALES]
    adult = adult.cast(
        pa.schema([(name, pa.string() if name in names else pa.float64()) for name in adult.column_names])
    )
    columns = []
    for name in adult.column_names[:-1]:
        if name in ADULT_SCALES:
            columns.append(NumberColumn(name, (0, ADULT_SCALES[name])))
        else:
            levels = tuple(sorted(set(adult[name].to_pylist())))
            columns.append(CategoryColumn(name, levels, unknown=levels[0]))
    table = pa.concat_tables([adult] * (ROWS // len(adult) + 1)).slice(0, ROWS)
    return table, Schema(ROWS, tuple(columns), Target("income", classes=("<=50K", ">50K")))


def reading(folder: Path) -> None:
    table, schema = adult_like(folder)
    whole = pa.table({name: pa.array(table[name]).cast(pa.int64()) for name in ADULT_SCALES})
    written = pa.table({name: whole[name] if name in ADULT_SCALES else table[name] for name in table.column_names})
    with tempfile.TemporaryDirectory() as name:
        plain, quoted = Path(name, "plain.csv"), Path(name, "quoted.csv")
        pa.csv.write_csv(written, plain, pa.csv.WriteOptions(quoting_style="none"))
        pa.csv.write_csv(written, quoted)
        one_core = pa.csv.ReadOptions(use_threads=False)
        times = fastest(
            lambda: exhaust(encoded_rows(schema, eq.open_table(plain))),
            lambda: exhaust(encoded_rows(schema, eq.open_table(quoted))),
            lambda: exhaust(eq.open_table(plain).batches(written.column_names)),
            lambda: encoded_table(schema, eq.open_table(plain), ROWS).features.read(),
            lambda: np.empty((ROWS, schema.n_features)).fill(0.0),
            lambda: pa.csv.read_csv(plain, read_options=one_core),
            lambda: pl.read_csv(plain),
            lambda: exhaust(encoded_rows(schema, FrameTable(table))),
        )
    names = ("CSV read and encoded", "the same, texts in quotes", "CSV read", "CSV read, encoded and held")
    names += ("(memory of the held rows touched)", "PyArrow reads", "Polars reads", "Arrow columns encoded")
    for what, seconds in zip(names, times, strict=True):
        print(f"{what:34} {ROWS / seconds:>12,.0f} rows/s")
    print(f"CSV {ROWS / times[0]:,.0f} rows/s read and encoded (at least 1,000,000)")
    print(f"RATIO to PyArrow reading alone {times[0] / times[5]:.2f}, to Polars {times[0] / times[6]:.2f}")


def predictions() -> None:
    generator = np.random.default_rng(0)
    for n_samples, n_features in SHAPES:
        # Norms about a quarter, where no row is clipped, and about 1, where every second is.
        for length in (0.25, 1.0):
            X = generator.normal(scale=length / n_features**0.5, size=(n_samples, n_features))
            y = (X[:, 0] > 0).astype(int)
            ours = eq.LogisticRegression(epsilon=1.0, domain=eq.Domain(1.0, classes=(0, 1)), alpha=0.1)
            ours.fit(X[:10_000], y[:10_000])
            plain = PlainLogisticRegression().fit(X[:10_000], y[:10_000])
            found = fastest(*(lambda m=m: m.predict(X) for m in (ours, plain)), lambda: ours.decision_function(X))  # noqa: B023
            print(
                f"{n_samples:>9,} x {n_features:<3} norms about {length}: PREDICTION RATIO {found[0] / found[1]:.2f}, "
                f"of scores {found[2] / found[1]:.2f} (at most 1.2; scikit-learn {1e3 * found[1]:.1f} ms)"
            )


if __name__ == "__main__":
    reading(options(__doc__ or "").data)
    predictions()
