"""The peers' problems: prepared splits, budgets, grids of settings, and what is recorded of a method.

Used by `peers.py`, in the peers' own environment; equipoise is not imported here.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any, TypeVar
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ndtr

Array = NDArray[Any]
Setting = TypeVar("Setting")
Scores = dict[Setting, Array]

EPSILONS = (0.1, 1.0)
# Datasets of more rows than this take fewer settings.
MANY_ROWS = 100_000
# What is measured of a run: the score on all test rows, and on those of either half.
ALL, HALVES = 0, (1, 2)
COLUMNS_AT_ONCE = 64


@dataclass(frozen=True)
class Budget:
    """One privacy budget: pure where delta is 0."""

    epsilon: float
    delta: float

    @property
    def kind(self) -> str:
        """The word for the budget in the records."""
        return "approximate" if self.delta else "pure"


@dataclass(frozen=True)
class Problem:
    """One dataset: splits of equal size, stacked along the first axis, and the draws of noise that each of them gets.

    A run is one split with one draw; runs are ordered by split, then by draw.
    """

    name: str
    regression: bool
    low: float
    high: float
    split_seeds: tuple[int, ...]
    X: Array
    y: Array
    X_test: Array
    y_test: Array
    draws: int

    @property
    def rows(self) -> int:
        """How many training rows a split has."""
        return int(self.X.shape[1])

    @property
    def runs(self) -> int:
        """How many runs there are in all."""
        return len(self.split_seeds) * self.draws

    @property
    def budgets(self) -> list[Budget]:
        """The budgets that the methods are measured at: pure, and with delta 1 over the square of the rows."""
        return [Budget(epsilon, delta) for epsilon, delta in product(EPSILONS, (0.0, 1 / self.rows**2))]

    def digest(self) -> str:
        """Return a digest of all rows."""
        found = hashlib.sha256()
        for part in (self.X, self.y, self.X_test, self.y_test):
            found.update(np.ascontiguousarray(part, dtype=float))
        return found.hexdigest()[:12]

    def first(self, runs: int) -> "Problem":
        """Return the problem with only its first runs, by leaving out splits, or draws where there is one split."""
        if len(self.split_seeds) == 1:
            return replace(self, draws=min(runs, self.draws))
        splits = min(-(-runs // self.draws), len(self.split_seeds))
        kept = {name: getattr(self, name)[:splits] for name in ("split_seeds", "X", "y", "X_test", "y_test")}
        return replace(self, **kept)

    def each_run(self) -> Iterator[tuple[int, int]]:
        """Yield the position of each run's split, and the seed of its noise."""
        for position, split_seed in enumerate(self.split_seeds):
            for draw in range(self.draws):
                yield position, split_seed * self.draws + draw

    def accuracy(self, weights: Array, constant: bool) -> Array:
        """Return the test accuracy of weights (splits, columns, draws, settings).

        An array of runs by settings by 3: on all test rows, on those of the first half, and of the second.
        """
        splits, _, draws, settings = weights.shape
        scores = np.empty((splits, draws * settings, 3))
        for position in range(splits):
            test = with_constant(self.X_test[position], constant).astype(weights.dtype)
            flat = weights[position].reshape(weights.shape[1], -1)
            shares = self.shares(position)
            for start in range(0, flat.shape[1], COLUMNS_AT_ONCE):
                part = slice(start, start + COLUMNS_AT_ONCE)
                right = test @ flat[:, part] > 0
                np.equal(right, (self.y_test[position] == 1)[:, None], out=right)
                scores[position, part] = right.T.astype(weights.dtype) @ shares.astype(weights.dtype)
        return scores.reshape(splits * draws, settings, 3)

    def shares(self, position: int) -> Array:
        """Return what each test row counts in the means over all test rows and over either half, a column a mean.

        A row's half is decided by what stands in it: a row is in the same half of every split that tests on it.
        """
        rows = np.ascontiguousarray(self.X_test[position])
        second = np.array([crc32(row.tobytes()) % 2 for row in rows], dtype=bool)
        counted = np.stack([np.ones(len(rows)), ~second, second], axis=1)
        return np.asarray(counted / counted.sum(axis=0))

    def second_half(self) -> Array:
        """Return the share of the test rows that lie in the second half, a number a run."""
        found = [np.mean(self.shares(position)[:, HALVES[1]] > 0) for position in range(len(self.split_seeds))]
        return np.repeat(found, self.draws)

    def r2(self, position: int, predicted: Array) -> float:
        """Return the coefficient of determination of predictions, clipped to the public range of labels."""
        truth = self.y_test[position]
        return 1 - float(np.mean((np.clip(predicted, self.low, self.high) - truth) ** 2) / np.var(truth))


@dataclass(frozen=True)
class Grids:
    """The settings among which the oracle chooses."""

    inverse_penalties: tuple[float, ...] = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0)
    penalties: tuple[float, ...] = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
    passes: tuple[int, ...] = (5, 10)
    steps: tuple[int, ...] = (5, 10, 20, 50, 100, 200)
    step_sizes: tuple[float, ...] = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
    clips: tuple[float, ...] = (1.0, 0.5)

    def digest(self) -> str:
        """Return a digest of all settings."""
        return hashlib.sha256(str(asdict(self)).encode()).hexdigest()[:12]


MANY_ROWS_GRIDS = Grids(
    inverse_penalties=(0.1, 1.0, 10.0), steps=(5, 10, 20, 50, 100), step_sizes=(2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
)
QUICK_GRIDS = Grids(
    inverse_penalties=(1.0,), penalties=(0.01, 0.1), passes=(1, 2), steps=(5, 10), step_sizes=(1.0, 4.0), clips=(1.0,)
)


@dataclass(frozen=True)
class Record:
    """What one method reached on one dataset at one budget, with the setting that the oracle chose."""

    dataset: str
    epsilon: float
    delta: float
    kind: str
    method: str
    setting: str
    mean: float
    median: float
    deviation: float
    runs: int
    candidates: int


def best_record(
    problem: Problem, budget: Budget, method: str, scores: Scores[Setting], candidates: int | None = None
) -> Record:
    """Return the record of the setting with the largest mean score."""
    setting, best = max(scores.items(), key=lambda entry: float(np.mean(entry[1])))
    return Record(
        dataset=problem.name,
        epsilon=budget.epsilon,
        delta=budget.delta,
        kind=budget.kind,
        method=method,
        setting=str(setting),
        mean=float(np.mean(best)),
        median=float(np.median(best)),
        deviation=float(np.std(best, ddof=1)) if len(best) > 1 else 0.0,
        runs=len(best),
        candidates=candidates or len(scores),
    )


def with_constant(X: Array, constant: bool) -> Array:
    """Return the rows with a constant column of ones at the end, or as they are."""
    return np.concatenate([X, np.ones((*X.shape[:-1], 1))], axis=-1) if constant else X


def signed_rows(problem: Problem, constant: bool) -> Array:
    """Return the rows times +1 or -1 by their label, so that the loss depends on the margin alone."""
    return with_constant(problem.X, constant) * (2.0 * problem.y - 1)[:, :, None]


def gaussian_separation(budget: Budget) -> float:
    """Return the largest mu for which mu-Gaussian privacy gives (epsilon, delta): sensitivity over deviation.

    The exact curve of Balle and Wang (2018) and Dong, Roth and Su (2022).
    """
    epsilon = budget.epsilon

    def excess(mu: float) -> float:
        spent = ndtr(mu / 2 - epsilon / mu) - np.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu)
        return float(spent / budget.delta - 1)

    return float(brentq(excess, 1e-6, 100.0, xtol=1e-14))


def read_problems(folder: Path, only: str, large: int, small: int) -> Iterator[Problem]:
    """Yield the datasets of a folder, one after another, with as many runs as asked for."""
    files: dict[str, list[tuple[int, Path]]] = defaultdict(list)
    for path in sorted(folder.glob("*.npz")):
        with np.load(path) as arrays:
            files[str(arrays["name"])].append((int(arrays["split_seed"]), path))
    for name, entries in files.items():
        if only.casefold() in name.casefold():
            wanted = large if len(entries) == 1 else small
            chosen = sorted(entries)[:wanted]
            yield _read(name, [path for _, path in chosen], max(1, wanted // len(chosen)))


def _read(name: str, paths: list[Path], draws: int) -> Problem:
    """Return one dataset from its splits' files."""
    splits = []
    for path in paths:
        with np.load(path) as arrays:
            splits.append(dict(arrays))
    first = splits[0]
    stacked = {
        part: first[part][None] if len(splits) == 1 else np.stack([split[part] for split in splits])
        for part in ("X", "y", "X_test", "y_test")
    }
    return Problem(
        name=name,
        regression=str(first["task"]) == "regression",
        low=float(first["label_low"]),
        high=float(first["label_high"]),
        split_seeds=tuple(int(split["split_seed"]) for split in splits),
        draws=draws,
        **stacked,
    )
