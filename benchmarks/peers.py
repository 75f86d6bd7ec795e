"""What other methods reach on the benchmarks' splits: diffprivlib, bolt-on SGD, plain private descent and AdaSSP.

Run in an environment of its own (``benchmarks/requirements-peers.lock``), because diffprivlib 0.6.6 does not work with
scikit-learn above 1.7.2; equipoise is not imported here. ::

    python benchmarks/peers.py SPLITS_FOLDER [--seeds-large 20] [--seeds-small 200] [--only NAME] [--again] [--quick]

Results are stored in ``benchmarks/results/peers.json``; a dataset that is stored with these rows, runs and settings is
not measured again.

The folder holds one ``.npz`` file a split. Whoever writes it calls, for every split, ::

    np.savez(path, X=X, y=y, X_test=X_test, y_test=y_test, name=name, task=task,
             label_low=low, label_high=high, split_seed=seed)

with rows of norm at most 1, ``task`` either "classification" (labels 0 and 1) or "regression" (labels inside the public
range from ``label_low`` to ``label_high``; 0 and 1 for a classification). Files that carry the same name are splits of
one dataset and must have as many rows each; file names do not matter. A dataset of one file is a large one, measured
with ``--seeds-large`` draws of noise; a dataset of several files is a small one, measured with ``--seeds-small`` runs,
spread evenly over its files.

Every method's settings are chosen by the mean score on the test rows: an oracle that no user has, and that flatters the
peers. The strongest of them is measured a second time with an oracle that sees no row it is scored on. Neighbours
differ in one replaced row, but for AdaSSP, which is published for one row added or removed.
"""

import os

os.environ["OMP_NUM_THREADS"] = "1"
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from diffprivlib import __version__ as diffprivlib
from diffprivlib.models import LinearRegression, LogisticRegression
from peer_descents import bolt_on, noisy_descent
from peer_problems import (
    MANY_ROWS,
    MANY_ROWS_GRIDS,
    QUICK_GRIDS,
    Budget,
    Grids,
    Problem,
    Record,
    Scores,
    best_record,
    read_problems,
    with_constant,
)
from stored import Store, rounded

# Of datasets of many rows diffprivlib, which needs seconds a fit there, has its C chosen on the first of these numbers
# of runs and then measured on the second.
MANY_ROWS_TRIALS, MANY_ROWS_RUNS = 2, 10


# diffprivlib


@dataclass(frozen=True)
class Perturbed:
    """A setting of diffprivlib's logistic regression."""

    inverse_penalty: float
    intercept: bool

    def __str__(self) -> str:
        """Return the setting as the records say it."""
        return f"C={self.inverse_penalty:g}, {_intercept_word(self.intercept)}"


def _intercept_word(intercept: bool) -> str:
    """Return how the records say whether diffprivlib fitted an intercept."""
    return "intercept" if intercept else "no intercept"


def diffprivlib_logistic(problem: Problem, grids: Grids) -> Iterator[Record]:
    """Measure diffprivlib's LogisticRegression (pure): its default C of 1, and the best C.

    Its theorem does not cover the intercept, which its objective leaves without a penalty; both are measured.
    """
    for budget, intercept in product(problem.budgets, (True, False)):
        if budget.delta:
            continue
        measure = _perturbed_scores(budget)
        settings = [Perturbed(inverse_penalty, intercept) for inverse_penalty in grids.inverse_penalties]
        default = Perturbed(1.0, intercept)
        if problem.rows > MANY_ROWS:
            trial = measure(problem.first(MANY_ROWS_TRIALS), settings)
            winner = max(settings, key=lambda setting: float(np.mean(trial[setting])))
            scores = measure(problem.first(MANY_ROWS_RUNS), [default, winner])
        else:
            scores = measure(problem, settings)
        name = f"diffprivlib LogisticRegression, {_intercept_word(intercept)}"
        yield best_record(problem, budget, f"{name}, C=1", {default: scores[default]})
        yield best_record(problem, budget, f"{name}, best C", scores, len(settings))


def _perturbed_scores(budget: Budget) -> Callable[[Problem, Sequence[Perturbed]], Scores[Perturbed]]:
    """Return what measures settings of diffprivlib's logistic regression at a budget, and each of their runs once."""
    known: dict[tuple[Perturbed, int, int], float] = {}

    def accuracy(problem: Problem, setting: Perturbed, position: int, seed: int) -> float:
        if (setting, position, seed) not in known:
            known[setting, position, seed] = _perturbed_run(problem, budget, setting, position, seed)
        return known[setting, position, seed]

    def measure(problem: Problem, settings: Sequence[Perturbed]) -> Scores[Perturbed]:
        return {
            setting: np.array([accuracy(problem, setting, *run) for run in problem.each_run()]) for setting in settings
        }

    return measure


def _perturbed_run(problem: Problem, budget: Budget, setting: Perturbed, position: int, seed: int) -> float:
    """Return the test accuracy of one run."""
    model = LogisticRegression(
        epsilon=budget.epsilon,
        data_norm=1.0,
        C=setting.inverse_penalty,
        fit_intercept=setting.intercept,
        max_iter=1000,
        random_state=seed,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(problem.X[position], problem.y[position])
    return float(model.score(problem.X_test[position], problem.y_test[position]))


def diffprivlib_linear(problem: Problem) -> Iterator[Record]:
    """Measure diffprivlib's LinearRegression (pure), on labels brought to [-1, 1] by their public range."""
    middle, half = (problem.low + problem.high) / 2, (problem.high - problem.low) / 2
    for budget, intercept in product(problem.budgets, (True, False)):
        if budget.delta:
            continue
        scores = []
        for position, seed in problem.each_run():
            model = LinearRegression(
                epsilon=budget.epsilon,
                bounds_X=(-1.0, 1.0),
                bounds_y=(-1.0, 1.0),
                fit_intercept=intercept,
                random_state=seed,
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model.fit(problem.X[position], (problem.y[position] - middle) / half)
            scores.append(problem.r2(position, middle + half * model.predict(problem.X_test[position])))
        word = _intercept_word(intercept)
        yield best_record(problem, budget, f"diffprivlib LinearRegression, {word}", {word: np.array(scores)})


# AdaSSP


def adassp(problem: Problem) -> Iterator[Record]:
    """Measure AdaSSP (Wang 2018, algorithm 2) as published: for one row added or removed, approximate budgets only.

    Labels are brought to [-1, 1] by their public range; rows come with a constant column, or without an intercept.
    """
    for budget in problem.budgets:
        if budget.delta:
            scores: Scores[str] = {}
            for constant, word in ((True, "constant column"), (False, "no intercept")):
                scores[word] = np.array(
                    [_adassp_run(problem, budget, constant, position, seed) for position, seed in problem.each_run()]
                )
            yield best_record(problem, budget, "AdaSSP (add or remove)", scores)


def _adassp_run(problem: Problem, budget: Budget, constant: bool, position: int, seed: int) -> float:
    """Return the test R2 of one run of AdaSSP."""
    generator = np.random.default_rng([4, round(1000 * budget.epsilon), constant, seed])
    middle, half = (problem.low + problem.high) / 2, (problem.high - problem.low) / 2
    X, y = with_constant(problem.X[position], constant), (problem.y[position] - middle) / half
    columns, row_norm = X.shape[1], np.sqrt(2.0) if constant else 1.0
    logarithm, failure = np.log(6 / budget.delta), 0.05
    noise = np.sqrt(logarithm) / (budget.epsilon / 3)
    products = X.T @ X
    smallest = np.linalg.eigvalsh(products)[0] + noise * row_norm**2 * generator.standard_normal()
    smallest = max(smallest - logarithm / (budget.epsilon / 3) * row_norm**2, 0.0)
    ridge = max(0.0, noise * np.sqrt(columns * np.log(2 * columns**2 / failure)) * row_norm**2 - smallest)
    upper = np.triu(generator.standard_normal((columns, columns)))
    products = products + noise * row_norm**2 * (upper + np.triu(upper, 1).T)
    moments = X.T @ y + noise * row_norm * generator.standard_normal(columns)
    weights = np.linalg.solve(products + ridge * np.eye(columns), moments)
    return problem.r2(position, middle + half * (with_constant(problem.X_test[position], constant) @ weights))


# The command


def measurements(problem: Problem, grids: Grids) -> Iterator[Record]:
    """Yield the records of every method that fits the dataset's task."""
    if problem.regression:
        yield from diffprivlib_linear(problem)
        yield from adassp(problem)
    else:
        yield from diffprivlib_logistic(problem, grids)
        yield from bolt_on(problem, grids)
        yield from noisy_descent(problem, grids)


def main() -> None:
    """Measure the peers on every dataset of a folder and write the records as JSON."""
    parser = argparse.ArgumentParser(description="Measure other methods on prepared splits.")
    parser.add_argument("splits", type=Path, help="folder of .npz files, one a split")
    parser.add_argument("--seeds-large", type=int, default=20, help="runs of a dataset with one split")
    parser.add_argument("--seeds-small", type=int, default=200, help="runs of a dataset with several splits")
    parser.add_argument("--only", default="", help="datasets whose name contains this")
    parser.add_argument("--again", action="store_true", help="measure also what is stored")
    parser.add_argument("--quick", action="store_true", help="two runs and tiny grids, to see that everything works")
    chosen = parser.parse_args()
    large, small = (2, 2) if chosen.quick else (chosen.seeds_large, chosen.seeds_small)
    store, found = Store("peers"), False
    begin = time.monotonic()
    for problem in read_problems(chosen.splits, chosen.only, large, small):
        found = True
        grids = QUICK_GRIDS if chosen.quick else MANY_ROWS_GRIDS if problem.rows > MANY_ROWS else Grids()
        key = {"rows": problem.digest(), "runs": problem.runs, "grids": grids.digest(), "diffprivlib": diffprivlib}
        known = [record for record in store.records if record["name"]["data"] == problem.name]
        if known and all(record["key"] == key for record in known) and not chosen.again:
            print(f"{problem.name}: stored", file=sys.stderr, flush=True)
            continue
        with np.errstate(over="ignore"):
            records = []
            for record in measurements(problem, grids):
                records.append(record)
                _tell(record, time.monotonic() - begin)
        # Only when all of a dataset is there: what is stored is known to be whole.
        if not chosen.quick:
            keep(store, key, records)
    if not found:
        parser.error(f"no splits of a dataset named like {chosen.only!r} in {chosen.splits}")


def keep(store: Store, key: dict[str, Any], records: list[Record]) -> None:
    """Store what was found of one dataset."""
    for record in records:
        figures = asdict(record)
        name = {part: figures.pop(part) for part in ("dataset", "epsilon", "kind", "method")}
        name = {"data": name["dataset"], "epsilon": name["epsilon"], "privacy": name["kind"], "method": name["method"]}
        store.put(name, key, rounded(figures))


def _tell(record: Record, seconds: float) -> None:
    """Show a record as a line of progress."""
    print(
        f"{seconds:6.0f} s  {record.dataset}  epsilon={record.epsilon:g} {record.kind}  {record.method}: "
        f"{record.mean:.4f} +- {record.deviation:.4f} ({record.setting}; {record.runs} runs)",
        file=sys.stderr,
        flush=True,
    )


if __name__ == "__main__":
    main()
