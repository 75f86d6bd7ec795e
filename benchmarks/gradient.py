"""Noisy gradient descent beside scikit-learn's lbfgs, and what planning takes: exact noise is inside the clock.

python benchmarks/gradient.py [--data FOLDER] [--turns 5] [--largest 100000]
python benchmarks/gradient.py --products [--turns 5]

Processor time of one core, in one process, medians of fits that alternate. Planning is outside the clock and has lines
of its own. A process draws its first 20,000 numbers of noise one by one, since loading the compiled loops takes longer;
they are loaded before the clock starts. A first fit finds modules compiled, as an installation compiles them. Set
OPENBLAS_NUM_THREADS=1. `--products` measures both products of a pass over large tables with several outputs alone:
compiled loops, which fits use, beside BLAS, also in single precision, in turns.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from prepared import mnist_ten
from sklearn.linear_model import LogisticRegression as PlainLogisticRegression

import equipoise as eq
from equipoise.data.view_heights import rows_of_a_view
from equipoise.data.views import ClippedView, CompiledView
from equipoise.noise.numbers import loops

CELLS = ((1_000, 100), (10_000, 100), (10_000, 1_000), (100_000, 1_000))
PRODUCTS = ((60_000, 784, 10), (60_000, 1_500, 10), (464_809, 54, 7))
RATIO = 8.0
MNIST_SECONDS = 12.0
FIRST_FIT, TEN_PLANS = 0.15, 1.0
PLANNING = """
import time, warnings
warnings.simplefilter("ignore")
import numpy as np
from equipoise import Domain, LogisticRegression
X = np.random.default_rng(0).normal(size=(1000, 10)) / 4
y = (X[:, 0] > 0).astype(int)
def model(epsilon):
    return LogisticRegression(epsilon=epsilon, delta=1e-6, domain=Domain(row_norm=1.0, classes=(0, 1)))
start = time.process_time()
model(1.0).fit(X, y)
first = time.process_time()
for epsilon in np.linspace(0.2, 5.0, 10):
    model(float(epsilon)).plan(1000, 10)
print(first - start, time.process_time() - first)
"""


def seconds(action: Callable[[], object]) -> float:
    start = time.process_time()
    action()
    return time.process_time() - start


def made(rows: int, columns: int, classes: int = 2) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return unit rows, and labels that follow them."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(rows, columns))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    weights = 3.0 * generator.normal(size=(columns, classes))
    return X, np.argmax(X @ weights + generator.gumbel(size=(rows, classes)), axis=1)


def fit_times(X: NDArray[Any], y: NDArray[np.int64], turns: int) -> tuple[int, float, float]:
    """Return steps, and seconds of fits in turns: of ours with delta = 1/n^2, and of scikit-learn's as it comes."""
    domain = eq.Domain(row_norm=1.0, classes=tuple(range(int(y.max()) + 1)))
    ours = eq.LogisticRegression(delta=1 / len(y) ** 2, domain=domain, mechanism="noisy-gradient")
    steps, plain = ours.plan(*X.shape).claim.steps, PlainLogisticRegression()
    ours.fit(X, y)
    pairs = [(seconds(lambda: ours.fit(X, y)), seconds(lambda: plain.fit(X, y))) for _ in range(turns)]
    mine, theirs = (statistics.median(column) for column in zip(*pairs, strict=True))
    return steps, mine, theirs


def measure(name: str, X: NDArray[Any], y: NDArray[np.int64], turns: int, limit: float | None = None) -> None:
    """Print a line of the table."""
    steps, mine, theirs = fit_times(X, y, turns)
    met = "" if limit is None else "met" if mine <= limit else "missed"
    goal = met or ("met" if mine / theirs <= RATIO else "missed")
    print(f"| {name} | {steps} | {mine:.3f} s | {theirs:.3f} s | {mine / theirs:.1f} | {goal} |", flush=True)


def planning(turns: int) -> tuple[float, float]:
    """Return the seconds that a first fit takes in a new process, and those of ten more plans."""
    found, command = [], [sys.executable, "-c", PLANNING]
    known = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryDirectory() as compiled:
        for _ in range(1 + turns):
            environment = {**known, "PYTHONPYCACHEPREFIX": compiled}
            done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)  # noqa: S603
            found.append([float(number) for number in done.stdout.split()])
    # The first of them has compiled the modules.
    first, ten = (statistics.median(column) for column in zip(*found[1:], strict=True))
    return first, ten


def products(rows: int, columns: int, outputs: int, turns: int) -> None:
    """Print what both products of a pass take, the least of some turns."""
    generator = np.random.default_rng(0)
    X, weights = generator.random((rows, columns)), generator.random((columns, outputs))
    slopes, height = generator.random((outputs, rows)), rows_of_a_view(columns)

    def a_pass(kind: type[ClippedView], table: NDArray[Any]) -> None:
        first, second = weights.astype(table.dtype), slopes.astype(table.dtype)
        for start in range(0, rows, height):
            part = table[start : start + height]
            if table.dtype == np.float64:
                view = kind(part, np.ones(len(part)), 0.0)
                view @ first, second[:, start : start + height] @ view
            else:
                part @ first, second[:, start : start + height] @ part

    single = X.astype(np.float32)
    ways = [(CompiledView, X), (ClippedView, X), (ClippedView, single)]
    a_pass(*ways[0])
    found = [[seconds(lambda k=kind, t=table: a_pass(k, t)) for kind, table in ways] for _ in range(turns)]
    loop, blas, half = (1000 * min(column) for column in zip(*found, strict=True))
    print(f"| {rows:,} x {columns:,}, {outputs} outputs | {loop:.0f} ms | {blas:.0f} ms | {half:.0f} ms |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("EQUIPOISE_DATA"), help="folder of Parquet files")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--largest", type=int, default=100_000, help="the most rows of a made table")
    parser.add_argument("--products", action="store_true", help="measure the products of a pass alone")
    given = parser.parse_args()
    if given.products:
        print("| table | compiled | BLAS | BLAS, single precision |\n|---|---|---|---|")
        for shape in PRODUCTS:
            products(*shape, given.turns)
        return
    warnings.simplefilter("ignore")
    loops()
    print("| table | steps | fit | scikit-learn's lbfgs | ratio | goal |\n|---|---|---|---|---|---|")
    for rows, columns in CELLS:
        if rows <= given.largest:
            X, y = made(rows, columns)
            measure(f"{rows:,} x {columns:,}", X, y, given.turns)
            if rows <= CELLS[-2][0]:
                measure(f"{rows:,} x {columns:,}, single precision", X.astype(np.float32), y, given.turns)
    measure("20,000 x 100, 40 classes", *made(20_000, 100, 40), given.turns)
    if given.data is not None:
        split = mnist_ten(given.data)
        measure("MNIST, 60,000 x 784, 10 classes", split.X, split.y, min(given.turns, 3), MNIST_SECONDS)
    first, ten = planning(given.turns)
    print(f"\nfirst fit of 1,000 x 10 after the import, planning included: {first:.2f} s (at most {FIRST_FIT})")
    print(f"ten plans for other epsilons: {ten:.2f} s (at most {TEN_PLANS:g})")


if __name__ == "__main__":
    main()
