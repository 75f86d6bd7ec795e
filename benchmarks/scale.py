"""Tables larger than memory: time and memory of streamed passes, of Dask and of Spark, every ratio within one run.

python benchmarks/scale.py all --folder FOLDER              # 50 million rows: some 9 GB of files, about 20 minutes
python benchmarks/scale.py pass --folder FOLDER --rows 5e6  # one measurement on fewer rows

`make` draws the rows, `pass` holds a pass against PyArrow reading the same columns, `linear` fits growing tables,
`memory` looks at wide rows, `engines` compares stream, Dask and Spark, `partial-fit` races scikit-learn, `page` writes
the figure and the tables. What was measured is kept in build/scale.json, and not measured again unless it is asked for
by --again.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
from scale_rows import COLUMNS, NAMES, draw, files, model, wide_rows
from study import table_rows

RESULTS = Path("build/scale.json")
MEBIBYTE = 2**20
BATCH = 65_536
TURNS = 3
SIZES = (100_000, 1_000_000, 5_000_000, 10_000_000, 50_000_000)
WIDTHS = ((20, 1), (1_000, 1), (5_000, 1), (100, 100), (99, 1_000), (9, 11_000))
TEST_ROWS = 200_000
NEAR = 1.001
LIMITS = {"pass": 1.5, "dask": 1.3, "spark": 2.0, "spark frames": 2.0, "spark packed frames": 2.0}


def known() -> dict[str, Any]:
    """Return what was measured so far."""
    return json.loads(RESULTS.read_text()) if RESULTS.exists() else {}


def measured(what: str, key: object, again: bool, work: Callable[[], Any]) -> Any:
    """Return a measurement, from the file if it is there."""
    found = known()
    if again or str(key) not in found.get(what, {}):
        print(f"{what} {key} ...", flush=True)
        answer = work()
        found = known()
        found.setdefault(what, {})[str(key)] = answer
        found["machine"] = {"cores": os.cpu_count(), "system": platform.platform(), "load": os.getloadavg()[0]}
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(found, indent=1))
    print(f"{what} {key}: {json.dumps(found[what][str(key)])}", flush=True)
    return found[what][str(key)]


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def median(numbers: list[float]) -> float:
    return float(np.median(numbers))


# --- one process for a measurement: its memory is its own ------------------------------------------------------------


def child(*arguments: object) -> Any:
    """Run a hidden command of this script in a process of its own, and return what it measured."""
    command = [sys.executable, __file__, *map(str, arguments)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)  # noqa: S603
    return json.loads(done.stdout.splitlines()[-1])


def resident(field: str) -> int:
    """Return a number of bytes that the system tells about this process: VmRSS now, VmHWM at its highest."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(field))


def highest() -> int:
    """Return the most memory that this process had since it asked last, or since it began."""
    found = resident("VmHWM")
    Path("/proc/self/clear_refs").write_text("5")
    return found


def read_by_pyarrow(paths: list[Path]) -> None:
    """Read the same columns in the same batches, and do nothing."""
    from pyarrow import parquet

    for path in paths:
        with parquet.ParquetFile(path) as file:
            for _ in file.iter_batches(batch_size=BATCH, columns=NAMES):
                pass


def scan_by_pyarrow(paths: list[Path]) -> None:
    """Read the same by PyArrow's scanner, which reads several files at once."""
    from pyarrow import dataset

    for _ in dataset.dataset(paths).to_batches(columns=NAMES, batch_size=BATCH):
        pass


def counted(paths: list[Path]) -> Any:
    """Return the files as a table that streams and counts its passes."""
    from equipoise.data.engines.stream import StreamTable
    from equipoise.data.many_files import open_files

    class Counted(StreamTable):
        passes = 0.0

        def answers(self, work: Any, names: Any, count: int) -> Any:
            # The first rows alone are a share of a pass.
            self.passes += count / self.n_samples
            return super().answers(work, names, count)

    return Counted(open_files(paths))


def warm(found: dict[str, Any]) -> None:
    """Load libraries and compiled loops, by a fit of two rows in memory; note the memory that this process then has."""
    import equipoise as eq
    from equipoise.data.texts import make_ready

    make_ready()
    eq.LogisticRegression(domain=eq.Domain(1.0, classes=(0, 1))).fit(np.eye(2), np.array([0, 1]))
    model(SIZES[0]).plan(SIZES[0], COLUMNS)
    found["baseline"] = resident("VmRSS")


def times(work: Callable[[], object]) -> list[float]:
    """Return the seconds that work takes, by the clock and of all cores."""
    start = time.process_time()
    return [seconds(work), time.process_time() - start]


def fit_once(folder: Path, rows: int, turns: int) -> dict[str, Any]:
    """Fit a stream and read by PyArrow, in turns; the memory is that of a fit."""
    paths, found = files(folder, rows), {"rows": rows, "fits": [], "bare": []}
    warm(found)
    highest()
    for _ in range(turns):
        table = counted(paths)
        found["fits"].append(times(lambda: model(rows).fit(table)))  # noqa: B023 - called at once
        # Of the first fit: PyArrow keeps for later what its reading below takes.
        found.setdefault("highest", highest())
        found["bare"].append(times(lambda: read_by_pyarrow(paths)))
        found["passes"] = table.passes
    found["scan"] = [times(lambda: scan_by_pyarrow(paths))]
    for place, name in enumerate(("ratio", "ratio of cores")):
        fits, bare = ([pair[place] for pair in found[what]] for what in ("fits", "bare"))
        found[name] = median(fits) / found["passes"] / median(bare)
    return found


def fit_wide(folder: Path, columns: int, levels: int) -> dict[str, Any]:
    """Fit a few rows of many columns, numbers or texts of many levels, and return the memory that it takes."""
    import equipoise as eq

    path, domain = wide_rows(folder, columns, levels)
    found = {"columns": columns, "levels": levels, "width": domain.n_features}
    warm(found)
    # A ridge so strong that few passes suffice: memory is what is looked at.
    wide_model = eq.LogisticRegression(epsilon=1.0, domain=domain, mechanism="output", alpha=1.0, random_state=0)
    table = counted([path])
    found["opened"] = highest()
    found["seconds"] = seconds(lambda: wide_model.fit(table))
    return found | {"highest": highest(), "passes": table.passes}


# --- engines ----------------------------------------------------------------------------------------------------------


def fit_stream(paths: list[Path], rows: int) -> float:
    import equipoise as eq

    return seconds(lambda: model(rows).fit(eq.open_table(paths, engine="stream")))


def in_turns(paths: list[Path], rows: int, others: dict[str, Callable[[], object]]) -> dict[str, Any]:
    """Time the stream and others, turn by turn, each once before."""
    for work in others.values():
        work()
    found: dict[str, Any] = {"rows": rows, "stream": []}
    for _ in range(TURNS):
        found["stream"].append(fit_stream(paths, rows))
        for name, work in others.items():
            found.setdefault(name, []).append(seconds(work))
    for name in others:
        found[f"{name} ratio"] = median(found[name]) / median(found["stream"])
    return found


def with_dask(folder: Path, rows: int) -> dict[str, Any]:
    """Two worker processes of one thread each."""
    from distributed import LocalCluster

    import equipoise as eq

    warm({})
    paths = files(folder, rows)
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, memory_limit=0) as cluster:
        address = cluster.scheduler_address
        return in_turns(
            paths,
            rows,
            {"dask": lambda: model(rows).fit(eq.open_table(paths, engine="dask", scheduler=address))},
        )


def with_spark(folder: Path, rows: int) -> dict[str, Any]:
    """Two workers of this machine: files, a DataFrame that is nothing but these files, and one that is more."""
    import equipoise as eq
    from equipoise.data.engines.spark_session import session_at

    warm({})
    paths = files(folder, rows)
    session = session_at("local[2]")
    try:
        frame = session.read.parquet(*map(str, paths))
        works = {
            "spark": lambda: model(rows).fit(eq.open_table(paths, engine="spark")),
            "spark frames": lambda: model(rows).fit(frame),
            "spark packed frames": lambda: model(rows).fit(frame.where("true")),
        }
        return in_turns(paths, rows, works)
    finally:
        session.stop()


# --- scikit-learn's partial_fit ---------------------------------------------------------------------------------------


def log_loss(scores: Any, classes: Any) -> float:
    return float(np.mean(np.logaddexp(0.0, np.where(classes == 1, -scores, scores))))


def race(folder: Path, rows: int, passes: int = 3) -> dict[str, Any]:
    """Stream both over the same batches until the test loss is within 0.1 % of the non-private minimum.

    The minimum is that of scikit-learn's Newton on two million other rows. Columns come standardised, as stochastic
    steps like them, and the time of scoring is left out. Ours is private (epsilon 1), and is timed to its end.
    """
    import pandas as pd
    from pyarrow import parquet
    from sklearn.linear_model import LogisticRegression, SGDClassifier

    import equipoise as eq

    warm({})
    paths = files(folder, rows)
    held, held_classes = draw(2_000_000, seed=10**6)
    columns, classes = draw(TEST_ROWS, seed=10**6 + 1)
    plain = LogisticRegression(C=np.inf, solver="newton-cholesky").fit(held.T, held_classes)
    lowest = log_loss(plain.decision_function(columns.T), classes)
    ours = model(rows)
    found: dict[str, Any] = {"rows": rows, "lowest": lowest}
    found["ours seconds"] = seconds(lambda: ours.fit(eq.open_table(paths, engine="stream")))
    frame = pd.DataFrame(dict(zip(NAMES, columns, strict=False)))
    found["ours loss"] = log_loss(ours.decision_function(frame), classes)
    for rate, settings in {
        "optimal": {"alpha": 1e-6},
        "constant, averaged": {"alpha": 1e-9, "learning_rate": "constant", "eta0": 0.01, "average": True},
        "as it comes": {},
    }.items():
        peer, clock, reached = SGDClassifier(loss="log_loss", random_state=0, **settings), 0.0, None
        for turn in range(passes):
            for number, path in enumerate(paths):
                start = time.perf_counter()
                with parquet.ParquetFile(path) as file:
                    for batch in file.iter_batches(batch_size=BATCH, columns=NAMES):
                        arrays = [column.to_numpy() for column in batch.columns]
                        peer.partial_fit(np.column_stack(arrays[:-1]), arrays[-1], classes=[0, 1])
                clock += time.perf_counter() - start
                loss = log_loss(peer.decision_function(columns.T), classes)
                if loss <= NEAR * lowest:
                    reached = (turn * len(paths) + number + 1) / len(paths)
                    break
            if reached is not None:
                break
        found[f"SGD, {rate}"] = {"seconds": clock, "passes to 0.1 %": reached, "loss": loss}
    return found


# --- the page ---------------------------------------------------------------------------------------------------------


def clock(record: dict[str, Any], what: str) -> float:
    """Return the seconds of a pass, or of PyArrow's reading, by the clock."""
    return median([pair[0] for pair in record[what]]) / (record["passes"] if what == "fits" else 1)


def picture(records: list[dict[str, Any]], path: Path) -> None:
    values = [
        {"rows": record["rows"], "seconds": number, "what": what}
        for record in records
        for what, number in (("a pass of a fit", clock(record, "fits")), ("PyArrow reads", clock(record, "bare")))
    ]
    chart = (
        alt.Chart(alt.Data(values=values))
        .mark_line(point=True)
        .encode(
            x=alt.X("rows:Q", title=f"rows of {COLUMNS} columns").scale(type="log"),
            y=alt.Y("seconds:Q", title="seconds").scale(type="log"),
            color=alt.Color("what:N", title=None),
        )
        .properties(width=360, height=260)
        .configure(font="sans-serif", background="white")
    )
    chart.save(str(path))


def page(out: Path) -> None:
    """Print the tables of docs/scale.md and save its figure."""
    found = known()
    fits = sorted({**found.get("linear", {}), **found.get("pass", {})}.values(), key=lambda record: record["rows"])
    lines = [
        [
            f"{record['rows']:,}",
            f"{record['passes']:.2f}",
            f"{clock(record, 'fits') * record['passes']:.2f}",
            f"{1e9 * clock(record, 'fits') / record['rows']:.0f}",
            f"{1e9 * clock(record, 'bare') / record['rows']:.0f}",
            f"{record['ratio']:.2f}",
            f"{record['ratio of cores']:.2f}",
            f"{(record['highest'] - record['baseline']) / MEBIBYTE:.0f}",
            f"{record['highest'] / MEBIBYTE:.0f}",
        ]
        for record in fits
    ]
    header = ["rows", "passes", "fit, s", "pass, ns a row", "PyArrow, ns a row", "ratio", "of all cores"]
    header += ["MiB above", "MiB in all"]
    print(table_rows(header, lines), end="\n\n")
    wide = [
        [
            f"{record['columns']:,} numbers"
            if record["levels"] == 1
            else f"{record['columns']:,} x {record['levels']:,}",
            f"{record['width']:,}",
            f"{(record['highest'] - record['baseline']) / MEBIBYTE:.0f}",
            f"{(record['opened'] - record['baseline']) / MEBIBYTE:.0f}",
        ]
        for record in found.get("memory", {}).values()
    ]
    print(table_rows(["columns", "encoded", "MiB above, of a fit", "of opening"], wide), end="\n\n")
    for name in ("dask", "spark"):
        for record in found.get(name, {}).values():
            print(json.dumps(record))
    for record in found.get("partial-fit", {}).values():
        print(json.dumps(record))
    picture(fits, out / "scale.svg")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = ("make", "pass", "linear", "memory", "engines", "partial-fit", "page", "all")
    parser.add_argument("command", choices=[*commands, "one-fit", "one-width", "one-dask", "one-spark", "one-race"])
    parser.add_argument("--folder", type=Path, help="where the rows lie")
    parser.add_argument("--rows", type=lambda text: int(float(text)), default=SIZES[-1], help="how many of them")
    parser.add_argument("--turns", type=int, default=2, help="fits that a pass is the median of")
    parser.add_argument("--width", type=int, nargs=2, default=WIDTHS[0], help="columns, and levels of each")
    parser.add_argument("--again", action="store_true", help="measure what was measured already")
    parser.add_argument("--out", type=Path, default=Path("docs"), help="folder for the figure")
    chosen = parser.parse_args()
    if chosen.folder is None and chosen.command != "page":
        parser.error("say where the rows lie: --folder FOLDER")
    folder, rows, again = chosen.folder, chosen.rows, chosen.again
    # A fifth of the rows is enough to compare engines.
    fewer = max(SIZES[1], rows // 5 // SIZES[1] * SIZES[1])
    place = ("--folder", folder)
    hidden: dict[str, Callable[[], Any]] = {
        "one-fit": lambda: fit_once(folder, rows, chosen.turns),
        "one-width": lambda: fit_wide(folder, *chosen.width),
        "one-dask": lambda: with_dask(folder, rows),
        "one-spark": lambda: with_spark(folder, rows),
        "one-race": lambda: race(folder, rows),
    }
    if chosen.command in hidden:
        print(json.dumps(hidden[chosen.command]()))
        return
    for command in commands[:-1] if chosen.command == "all" else (chosen.command,):
        if command == "make":
            files(folder, rows)
        elif command == "pass":
            turns = chosen.turns
            measured(command, rows, again, lambda: child("one-fit", *place, "--rows", rows, "--turns", turns))  # noqa: B023
        elif command == "linear":
            for size in (size for size in SIZES if size < rows):
                measured(
                    command,
                    size,
                    again,
                    lambda size=size: child("one-fit", *place, "--rows", size, "--turns", TURNS),
                )
        elif command == "memory":
            for width in WIDTHS:
                wide_rows(folder, *width)
                measured(
                    command,
                    "x".join(map(str, width)),
                    again,
                    lambda width=width: child("one-width", *place, "--width", *width),
                )
        elif command == "engines":
            for name in ("dask", "spark"):
                measured(name, fewer, again, lambda name=name: child(f"one-{name}", *place, "--rows", fewer))
        elif command == "partial-fit":
            measured(command, fewer, again, lambda: child("one-race", *place, "--rows", fewer))
        else:
            page(chosen.out)


if __name__ == "__main__":
    main()
