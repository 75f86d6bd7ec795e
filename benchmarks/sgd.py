"""Speed of the compiled loops of stochastic descent, every ratio measured in one run, turn by turn.

python benchmarks/sgd.py --data FOLDER --out docs

Times are processor time on one core, medians of several turns: waiting for a busy machine does not count, its crowded
memory does. Compiling is left out of them and printed apart; so is the making of the orders, which are public.
"""

import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import altair as alt
import numpy as np
import pyarrow.parquet as parquet
from numpy.typing import NDArray
from prepared import COVERTYPE_HIGH, COVERTYPE_LOW, unit_rows
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import SGDClassifier
from study import options, table_rows

import equipoise as eq
from equipoise.data.rows import RowSource, row_source
from equipoise.noise import ExactSource, SeededSource
from equipoise.noise.numbers import loops
from equipoise.release.carriers.sgd import fresh_runs, public_order
from equipoise.solve.descents.stochastic import Run, run_noisy, run_passes

Array = NDArray[np.float64]

TURNS, NOISY_TURNS = 7, 3
RIDGE, STEP = 1e-4, 0.1
LOGISTIC = eq.losses.named("logistic")


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def medians(works: dict[str, Callable[[], float]], rounds: int = TURNS) -> dict[str, float]:
    """Return the median of each work's answers; the works take turns, so that a busy machine slows all of them."""
    turns = [{name: work() for name, work in works.items()} for _ in range(rounds)]
    return {name: float(np.median([turn[name] for turn in turns])) for name in works}


def peer_pass(X: object, y: Array, passes: int) -> float:
    """Return scikit-learn's time for a pass: many passes less one, so that what a fit costs besides falls out."""

    def fit(count: int) -> None:
        SGDClassifier(
            loss="log_loss",
            alpha=RIDGE,
            learning_rate="constant",
            eta0=STEP,
            shuffle=True,
            tol=None,
            max_iter=count,
            random_state=0,
        ).fit(X, y)

    return (seconds(lambda: fit(1 + passes)) - seconds(lambda: fit(1))) / passes


def our_pass(rows: RowSource, y: Array, batch: int, orders: list[NDArray[np.int64]]) -> float:
    """Return our time for a pass, in the same way; the orders are made before."""

    def fit(count: int) -> None:
        run = Run(batch, count * -(-rows.n_samples // batch), STEP, ridge=RIDGE)
        run_passes(rows, y, LOGISTIC, run, orders[:count])

    return (seconds(lambda: fit(len(orders))) - seconds(lambda: fit(1))) / (len(orders) - 1)


def fresh_orders(n_samples: int, passes: int) -> list[NDArray[np.int64]]:
    coins = np.random.default_rng(0)
    return [coins.permutation(n_samples) for _ in range(passes)]


def covertype_rows(folder: Path) -> tuple[Array, Array]:
    """Return all rows of Covertype, class 2 against the others: public ranges to [-1, 1], unit rows."""
    frame = parquet.read_table(folder / "covertype.parquet").to_pandas()
    y = np.where(frame.pop("cover_type").to_numpy() == 2, 1.0, -1.0)
    X = frame.to_numpy(float)
    X[:, :10] = 2 * (X[:, :10] - COVERTYPE_LOW) / (COVERTYPE_HIGH - COVERTYPE_LOW) - 1
    return unit_rows(X), y


def dense(folder: Path) -> list[list[str]]:
    X, y = covertype_rows(folder)
    X = np.ascontiguousarray(X)
    rows = row_source(X, eq.Domain(1.0, classes=(-1, 1)), intercept=0.5)
    orders = fresh_orders(len(y), 6)
    compiling = seconds(lambda: our_pass(rows, y, 1, orders[:2]))
    our_pass(rows, y, 256, orders[:2])
    destination = np.empty_like(X)
    dealt = row_source(np.take(X, public_order(len(y), 0), axis=0), eq.Domain(1.0, classes=(-1, 1)), intercept=0.5)
    coins = np.random.default_rng(1)
    in_runs = [fresh_runs(coins, len(y)) for _ in orders]
    one_order = [np.arange(len(y))] * len(orders)
    found = medians(
        {
            "batch 1": lambda: our_pass(rows, y, 1, orders),
            "scikit-learn": lambda: peer_pass(X, y, 3),
            "jumping": lambda: our_pass(rows, y, 256, orders),
            "one order": lambda: our_pass(dealt, y, 256, one_order),
            "fresh orders": lambda: our_pass(dealt, y, 256, in_runs),
            "dealing": lambda: seconds(lambda: np.take(X, orders[0], axis=0, out=destination, mode="clip")),
            "copy": lambda: float(np.median([seconds(lambda: np.copyto(destination, X)) for _ in range(5)])),
            "order": lambda: seconds(lambda: fresh_orders(len(y), 1)),
        }
    )
    shape = f"Covertype, {X.shape[0]:,} x {X.shape[1]}"
    return [
        [
            shape,
            "pass, batch 1",
            f"{found['batch 1'] * 1e3:.0f} ms",
            "scikit-learn",
            ratio(found, "batch 1", "scikit-learn"),
        ],
        *(
            [shape, words, f"{found[name] * 1e3:.0f} ms", "copy", ratio(found, name, "copy")]
            for name, words in (
                ("one order", "pass, batch 256, one order (dealt rows)"),
                ("fresh orders", "pass, batch 256, fresh orders (dealt rows, in runs)"),
                ("dealing", "dealing the rows once, from the third pass on"),
                ("jumping", "pass, batch 256, without dealing"),
                ("order", "a fresh order of single rows"),
            )
        ),
        [shape, "first call, compiling or loading included", f"{compiling:.1f} s", "", ""],
    ]


def ratio(found: dict[str, float], ours: str, theirs: str) -> str:
    return f"{found[ours] / found[theirs]:.2f} of {found[theirs] * 1e3:.0f} ms"


def newsgroups(folder: Path) -> list[list[str]]:
    frame = parquet.read_table(folder / "newsgroups20_bydate_6groups.parquet").to_pandas()
    X = TfidfVectorizer(min_df=2).fit_transform(frame["text"])
    y = np.where(frame["group"].str.startswith("sci"), 1.0, -1.0)
    rows = row_source(X, eq.Domain(1.0, classes=(-1, 1)), intercept=0.5)
    orders = fresh_orders(len(y), 41)
    our_pass(rows, y, 1, orders[:2])
    found = medians({"ours": lambda: our_pass(rows, y, 1, orders), "scikit-learn": lambda: peer_pass(X, y, 20)})
    shape = f"newsgroups, {X.shape[0]:,} x {X.shape[1]:,}, {X.nnz / X.shape[0]:.0f} a row"
    time_of_pass = f"{found['ours'] * 1e3:.1f} ms"
    return [[shape, "pass, batch 1", time_of_pass, "scikit-learn", ratio(found, "ours", "scikit-learn")]]


def noisy(n_samples: int = 1_000, n_features: int = 50) -> list[list[str]]:
    """Time as many noisy steps as the square of the rows, as a fit takes them: with exact noise, and with seeded."""
    coins, exact, seeded = np.random.default_rng(0), ExactSource(), SeededSource(0)
    X = unit_rows(coins.normal(size=(n_samples, n_features)))
    y = np.sign(X[:, 0])
    rows = row_source(X, eq.Domain(1.0, classes=(-1, 1)), intercept=0.0)

    def descend(steps: int, source: ExactSource | SeededSource) -> None:
        run = Run(1, steps, 1e-3, average="uniform", radius=10.0)
        run_noisy(
            rows,
            y,
            LOGISTIC,
            run,
            lambda out: source.integers(n_samples, out),
            lambda count: source.noise("gaussian", count, 5.0),
        )

    loops()
    compiling = seconds(lambda: [descend(10, source) for source in (exact, seeded)])
    numbers, steps = 2**16, n_samples**2
    found = medians(
        {
            "exact": lambda: seconds(lambda: descend(steps, exact)),
            "seeded": lambda: seconds(lambda: descend(steps, seeded)),
            "drawing": lambda: seconds(lambda: exact.noise("gaussian", numbers, 5.0)),
        },
        NOISY_TURNS,
    )
    shape, each = f"noisy SGD, {n_samples:,} x {n_features}", 1e6 / steps
    words = f"{steps:,} steps of one row"
    return [
        [shape, f"{words}, exact noise", f"{found['exact']:.1f} s", "seeded noise", ratio(found, "exact", "seeded")],
        [shape, "a step with exact noise", f"{each * found['exact']:.1f} microseconds", "", ""],
        [shape, "a step with seeded noise", f"{each * found['seeded']:.1f} microseconds", "", ""],
        [shape, "first call, compiling or loading included", f"{compiling:.1f} s", "", ""],
        ["exact noise", "normal numbers", f"{numbers / found['drawing'] / 1e6:.1f} million/s", "", ""],
    ]


def cost(sizes: Iterable[int] = (10_000, 100_000, 1_000_000, 10_000_000)) -> list[dict[str, float]]:
    """Return the time of runs over tables of ten columns, for several numbers of rows and passes."""
    coins, records = np.random.default_rng(0), []
    for size in sizes:
        X = coins.normal(size=(size, 10))
        y = np.sign(X[:, 0])
        rows = row_source(X, eq.Domain(1.0, classes=(-1, 1)), intercept=0.5)
        orders = fresh_orders(size, 5)
        for batch in (1, 256):
            for passes in (1, 2, 5):
                run = Run(batch, passes * -(-size // batch), STEP, ridge=RIDGE)
                work = partial(run_passes, rows, y, LOGISTIC, run, orders)
                turns = [seconds(work) for _ in range(3)]
                records.append({"rows": size, "batch": batch, "passes": passes, "seconds": float(np.median(turns))})
    return records


def picture(records: list[dict[str, float]], path: str) -> None:
    chart = (
        alt.Chart(alt.Data(values=records))
        .mark_line(point=True)
        .encode(
            x=alt.X("rows:Q", title="rows of ten columns").scale(type="log"),
            y=alt.Y("seconds:Q", title="processor seconds").scale(type="log"),
            color=alt.Color("passes:N", title="passes"),
            strokeDash=alt.StrokeDash("batch:N", title="batch"),
        )
        .properties(width=360, height=260)
        .configure(font="sans-serif", background="white")
    )
    chart.save(path)


if __name__ == "__main__":
    chosen = options(__doc__ or "")
    header = ["data", "work", "time", "against", "ratio"]
    print(table_rows(header, [*dense(chosen.data), *newsgroups(chosen.data), *noisy()]))
    records = cost()
    picture(records, str(chosen.out / "sgd-cost.svg"))
    print()
    lines = [
        [
            f"{r['rows']:,}",
            str(r["batch"]),
            str(r["passes"]),
            f"{r['seconds']:.4f}",
            f"{1e9 * r['seconds'] / r['rows'] / r['passes']:.0f}",
        ]
        for r in records
    ]
    print(table_rows(["rows", "batch", "passes", "seconds", "ns a row and pass"], lines))
