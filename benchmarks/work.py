"""How long the limit on work is: what a solver's last resort meets in a second, at several shapes of tables.

Prints, for each shape, the hours of one processor that a fit at the limit of `equipoise.planning.work` would take, for
two classes and more, dense rows and sparse ones of which a share of all entries is stored. Processor time, so that
others on the machine count less. Run it with ``OPENBLAS_NUM_THREADS=1 python benchmarks/work.py``; it takes two
minutes.
"""

import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

import equipoise as eq
from equipoise.data.rows import row_source
from equipoise.planning.work import LIMIT, work_of
from equipoise.solve.objective import COLUMNS_A_PASS, Objective
from equipoise.vocabulary import losses, penalties

SECONDS = 1.5


class Shape(NamedTuple):
    """A table: its rows, columns and classes, and the share of entries that is stored, all of them in a dense one."""

    rows: int
    columns: int
    classes: int = 2
    stored: float | None = None

    def objective(self, generator: np.random.Generator) -> Objective:
        """Return a logistic objective on such a table."""
        if self.stored is None:
            X: Any = generator.normal(size=(self.rows, self.columns))
        else:
            X = sparse.random_array((self.rows, self.columns), density=self.stored, format="csr", rng=generator)
        codes = generator.integers(0, self.classes, size=self.rows).astype(np.float64)
        domain = eq.Domain(row_norm=1.0, classes=tuple(range(self.classes)))
        loss = losses.named("logistic" if self.classes == 2 else f"multinomial:{self.classes}")
        targets = 2 * codes - 1 if self.classes == 2 else codes
        return Objective(loss, penalties.named("l2", 0.1), row_source(X, domain, 0.0), targets)


SHAPES = (
    Shape(100, 401),
    Shape(1_000, 5),
    Shape(32_561, 104),
    Shape(300_000, 20),
    Shape(1_000_000, 100),
    *(Shape(20_000, 20, classes) for classes in (3, 10, 100)),
    Shape(1_000, 5, 3),
    Shape(20_000, 200, 10),
    *(Shape(20_000, 100, 2, stored) for stored in (0.1, 0.5, 1.0)),
    Shape(20_000, 5, 2, 1.0),
    Shape(1_000, 5, 2, 1.0),
    Shape(20_000, 100, 10, 0.5),
    Shape(100_000, 2_000, 2, 0.02),
)


def rate(work: float, run: Callable[[], object]) -> float:
    """Return the numbers met in a second of processor time by a run that meets `work` of them."""
    run()
    count, start = 0, time.process_time()
    while time.process_time() - start < SECONDS:
        run()
        count += 1
    return count * work / (time.process_time() - start)


def main() -> None:
    """Print a line a shape: plain passes, passes of sums in small groups, and Hessians."""
    generator = np.random.default_rng(0)
    header = "rows", "columns", "classes", "stored", "hours, fine", "hours, plain", "hours, Hessian"
    print("{:>9} {:>7} {:>7} {:>6} {:>12} {:>13} {:>15}".format(*header))
    for shape in SHAPES:
        objective = shape.objective(generator)
        fine, weights = objective.finely(), np.zeros(objective.size)
        work = work_of(1, shape.rows, shape.columns, objective.loss.outputs)
        hours = [LIMIT / rate(work, partial(run, weights)) / 3600 for run in (fine.gradient, objective.gradient)]
        hessian = "-"
        if objective.compact:
            equal = work * (1 + shape.columns // COLUMNS_A_PASS)
            hessian = f"{LIMIT / rate(equal, partial(objective.expansion, weights)) / 3600:.2f}"
        stored = "dense" if shape.stored is None else f"{shape.stored:.0%}"
        line = f"{shape.rows:>9,} {shape.columns:>7,} {shape.classes:>7} {stored:>6}"
        print(f"{line} {hours[0]:>12.2f} {hours[1]:>13.2f} {hessian:>15}", flush=True)


if __name__ == "__main__":
    main()
