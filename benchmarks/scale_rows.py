"""The rows of the benchmarks of scale: drawn part by part, each by its own seed, so that an interrupted run goes on.

Twenty normal columns and a class drawn by a logistic model of them, in Parquet files of a million rows as PyArrow
writes them by itself. Bounds are four standard deviations, a public guess. The public limit on work is raised: it
counts the worst rows that there could be, which need thousands of passes, and refuses more than ten million rows.
"""

import os
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import parquet

import equipoise as eq
from equipoise.data.schema import CategoryColumn, NumberColumn, Schema, Target

Array = NDArray[np.float64]

os.environ.setdefault("EQUIPOISE_WORK_LIMIT", "1e20")

COLUMNS = 20
PART = 1_000_000
NAMES = [*(f"c{place}" for place in range(COLUMNS)), "y"]
TRUTH = np.random.default_rng(0).normal(scale=0.5, size=COLUMNS)


def draw(rows: int, seed: int) -> tuple[Array, NDArray[np.int8]]:
    """Return columns, each in a row of the first array, and classes."""
    coins = np.random.default_rng([1, seed])
    columns = coins.normal(size=(COLUMNS, rows))
    return columns, (coins.random(rows) < 1 / (1 + np.exp(-(TRUTH @ columns)))).astype(np.int8)


def write(path: Path, rows: int, seed: int) -> None:
    """Write rows to a file, unless it is there; a file is there only when it is whole."""
    if path.exists():
        return
    columns, classes = draw(rows, seed)
    parquet.write_table(pa.table([*columns, classes], names=NAMES), path.with_suffix(".part"))
    path.with_suffix(".part").rename(path)


def files(folder: Path, rows: int) -> list[Path]:
    """Return files that together have so many rows, written if they are not there; of a million each, or one."""
    folder.mkdir(parents=True, exist_ok=True)
    if rows < PART:
        found = [folder / f"single-{rows}.parquet"]
        write(found[0], rows, seed=rows)
        return found
    if rows % PART:
        raise SystemExit(f"a number of rows below {PART:,}, or a multiple of it, and not {rows:,}")
    found = [folder / f"part-{number:04}.parquet" for number in range(rows // PART)]
    for number, path in enumerate(found):
        if not path.exists():
            print(f"drawing part {number + 1} of {len(found)}", flush=True)
        write(path, PART, seed=number)
    return found


def schema(rows: int) -> Schema:
    """Return the public facts about the first so many rows."""
    columns = tuple(NumberColumn(name, (-4.0, 4.0)) for name in NAMES[:-1])
    facts = {"vouched_by": "the benchmark that draws them", "vouched_on": date(2026, 11, 17)}
    return Schema(rows, columns, Target("y", classes=(0, 1)), **facts)


def wide_rows(folder: Path, columns: int, levels: int) -> tuple[Path, Schema]:
    """Return a few rows of many columns, written if they are not there: numbers, or texts of so many levels."""
    rows, coins, path = 4_000, np.random.default_rng(0), folder / f"wide-{columns}-{levels}.parquet"
    names = [f"c{place}" for place in range(columns)]
    if levels == 1:
        wide = [NumberColumn(name, (-4.0, 4.0)) for name in names]
    else:
        texts = tuple(map(str, range(levels)))
        wide = [CategoryColumn(name, texts, unknown="0") for name in names]
    if not path.exists():
        drawn = coins.normal(size=(columns, rows)) if levels == 1 else coins.integers(0, levels, (columns, rows))
        arrays = [pa.array(column) if levels == 1 else pa.array(column).cast(pa.string()) for column in drawn]
        table = pa.table([*arrays, coins.integers(0, 2, rows)], names=[*names, "y"])
        # A page of every column is open at once: wide tables need small row groups.
        parquet.write_table(table, path, row_group_size=1_000)
    return path, replace(schema(rows), columns=tuple(wide))


def model(rows: int) -> eq.LogisticRegression:
    """Return the model that every engine fits; its noise is seeded, so that all of them find the same weights."""
    return eq.LogisticRegression(epsilon=1.0, domain=schema(rows), mechanism="output", random_state=0)
