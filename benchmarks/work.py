"""How long the limit on work is: what a solver's last resort meets in a second, at several shapes of tables.

Prints, for each shape, the hours that a fit at the limit of `equipoise.planning.work` would take. Run it with
``python benchmarks/work.py``; it takes half a minute.
"""

import time
from collections.abc import Callable
from functools import partial

import numpy as np

import equipoise as eq
from equipoise.data.rows import row_source
from equipoise.planning.work import LIMIT, work_of
from equipoise.solve.objective import COLUMNS_A_PASS, Objective

SHAPES = ((100, 401), (1_000, 5), (32_561, 104), (300_000, 20), (1_000_000, 100))
SECONDS = 2.0


def rate(work: float, run: Callable[[], object]) -> float:
    """Return the numbers met in a second by a run that meets `work` of them."""
    count, start = 0, time.perf_counter()
    while time.perf_counter() - start < SECONDS:
        run()
        count += 1
    return count * work / (time.perf_counter() - start)


def main() -> None:
    """Print a line a shape: plain passes, passes of sums in small groups, and Hessians."""
    generator = np.random.default_rng(0)
    print(f"{'rows':>9} {'columns':>7} {'hours, fine':>12} {'hours, plain':>13} {'hours, Hessian':>15}")
    for n_samples, n_features in SHAPES:
        X = generator.normal(size=(n_samples, n_features))
        y = np.where(X[:, 0] > 0, 1.0, -1.0)
        domain = eq.Domain(row_norm=1.0, classes=(0, 1))
        model = eq.LogisticRegression(alpha=0.1, mechanism="output", domain=domain, fit_intercept=False)
        claim = model.plan(n_samples, n_features).claim.main
        objective = Objective(claim.problem.loss, claim.problem.penalty, row_source(X, domain, 0.0), y)
        fine, weights = objective.finely(), np.zeros(n_features)
        work = work_of(1, n_samples, n_features)
        hours = [LIMIT / rate(work, partial(run, weights)) / 3600 for run in (fine.gradient, objective.gradient)]
        hessian = "-"
        if objective.compact:
            equal = work * (1 + n_features // COLUMNS_A_PASS)
            hessian = f"{LIMIT / rate(equal, partial(objective.expansion, weights)) / 3600:.2f}"
        print(f"{n_samples:>9,} {n_features:>7} {hours[0]:>12.2f} {hours[1]:>13.2f} {hessian:>15}")


if __name__ == "__main__":
    main()
