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
import hashlib
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any, TypeVar
from zlib import crc32

import numpy as np
from diffprivlib import __version__ as diffprivlib
from diffprivlib.models import LinearRegression, LogisticRegression
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ndtr
from stored import Store, rounded

Array = NDArray[Any]
Setting = TypeVar("Setting")
Scores = dict[Setting, Array]

EPSILONS = (0.1, 1.0)
# Datasets of more rows than this take fewer settings; diffprivlib, which needs seconds a fit there, has its C chosen
# on the first of these numbers of runs and then measured on the second.
MANY_ROWS = 100_000
MANY_ROWS_TRIALS, MANY_ROWS_RUNS = 2, 10
BATCH = 50
TUNED_CLIP = "noisy gradient descent, clip tuned"
TUNED_APART = "noisy gradient descent, clip tuned on other rows"
# What is measured of a run: the score on all test rows, and on those of either half.
ALL, HALVES = 0, (1, 2)
# Rows whose margins are held at once, so that they stay in the processor's cache.
ROWS_AT_ONCE = 2048
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
            test = _with_constant(self.X_test[position], constant).astype(weights.dtype)
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


def _record(
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


def _with_constant(X: Array, constant: bool) -> Array:
    """Return the rows with a constant column of ones at the end, or as they are."""
    return np.concatenate([X, np.ones((*X.shape[:-1], 1))], axis=-1) if constant else X


def _signed_rows(problem: Problem, constant: bool) -> Array:
    """Return the rows times +1 or -1 by their label, so that the loss depends on the margin alone."""
    return _with_constant(problem.X, constant) * (2.0 * problem.y - 1)[:, :, None]


def gaussian_separation(budget: Budget) -> float:
    """Return the largest mu for which mu-Gaussian privacy gives (epsilon, delta): sensitivity over deviation.

    The exact curve of Balle and Wang (2018) and Dong, Roth and Su (2022).
    """
    epsilon = budget.epsilon

    def excess(mu: float) -> float:
        spent = ndtr(mu / 2 - epsilon / mu) - np.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu)
        return float(spent / budget.delta - 1)

    return float(brentq(excess, 1e-6, 100.0, xtol=1e-14))


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
        yield _record(problem, budget, f"{name}, C=1", {default: scores[default]})
        yield _record(problem, budget, f"{name}, best C", scores, len(settings))


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
        yield _record(problem, budget, f"diffprivlib LinearRegression, {word}", {word: np.array(scores)})


# Bolt-on SGD


def bolt_on(problem: Problem, grids: Grids) -> Iterator[Record]:
    """Measure bolt-on SGD (Wu et al. 2017): strongly convex permutation SGD, then noise on its last iterate.

    Its sensitivity is 2 L / (lambda n) for any batch size: L is that of the loss alone, since the penalty is the same
    for both neighbours. Pure budgets add noise of Gamma-distributed norm, others the exactly calibrated Gaussian.
    """
    trained = {constant: _permutation_descent(problem, grids, constant) for constant in (True, False)}
    for budget in problem.budgets:
        scores: Scores[str] = {}
        for constant, checkpoints in trained.items():
            generator = np.random.default_rng([2, round(1000 * budget.epsilon), bool(budget.delta), constant])
            lipschitz = np.sqrt(2.0) if constant else 1.0
            sensitivity = 2 * lipschitz / (np.array(grids.penalties) * problem.rows)
            for passes, weights in checkpoints.items():
                released = weights + sensitivity * _unit_noise(weights.shape, budget, generator)
                accuracy = problem.accuracy(released.transpose(0, 2, 1, 3), constant)[:, :, ALL]
                for penalty, column in zip(grids.penalties, accuracy.T, strict=True):
                    word = "constant column" if constant else "no intercept"
                    scores[f"lambda={penalty:g}, passes={passes}, {word}"] = column
        yield _record(problem, budget, "bolt-on SGD", scores)


def _unit_noise(shape: tuple[int, ...], budget: Budget, generator: np.random.Generator) -> Array:
    """Return noise (splits, draws, columns, settings) that hides vectors at distance 1 from each other."""
    normal = generator.standard_normal(shape)
    if budget.delta:
        return normal / gaussian_separation(budget)
    splits, draws, columns, settings = shape
    length = generator.gamma(columns, 1 / budget.epsilon, size=(splits, draws, 1, settings))
    noise: Array = normal / np.linalg.norm(normal, axis=2, keepdims=True) * length
    return noise


def _permutation_descent(problem: Problem, grids: Grids, constant: bool) -> dict[int, Array]:
    """Return the weights (splits, draws, columns, penalties) after each number of passes.

    One permutation a run serves all its passes; its end is filled with rows of zeros up to a whole batch, which leaves
    the sensitivity as it is. Steps are min(1 / beta, 1 / (lambda t)).
    """
    signed = _signed_rows(problem, constant)
    splits, rows, columns = signed.shape
    signed = np.concatenate([signed, np.zeros((splits, 1, columns))], axis=1)
    order = np.full((splits, problem.draws, -(-rows // BATCH) * BATCH), rows)
    for run, (_, seed) in enumerate(problem.each_run()):
        order[*divmod(run, problem.draws), :rows] = np.random.default_rng([1, seed]).permutation(rows)
    split = np.arange(splits)[:, None, None]
    penalties = np.array(grids.penalties)
    smoothness = (0.5 if constant else 0.25) + penalties
    weights = np.zeros((splits, problem.draws, columns, len(penalties)))
    checkpoints, step = {}, 0
    for number in range(1, max(grids.passes) + 1):
        for start in range(0, order.shape[2], BATCH):
            step += 1
            batch = signed[split, order[:, :, start : start + BATCH]]
            slope = -1 / (1 + np.exp(batch @ weights))
            gradient = batch.swapaxes(2, 3) @ slope / BATCH + penalties * weights
            weights -= np.minimum(1 / smoothness, 1 / (penalties * step)) * gradient
        if number in grids.passes:
            checkpoints[number] = weights.copy()
    return checkpoints


# Plain private gradient descent


@dataclass(frozen=True)
class Descent:
    """A setting of plain private gradient descent."""

    steps: int
    clip: float
    constant: bool
    step_size: float

    def __str__(self) -> str:
        """Return the setting as the records say it."""
        word = "constant column" if self.constant else "no intercept"
        return f"steps={self.steps}, step size={self.step_size:g}, clip={self.clip:g}, {word}"


def noisy_descent(problem: Problem, grids: Grids) -> Iterator[Record]:
    """Measure plain private gradient descent (approximate): full batches, clipped rows, the last iterate, no penalty.

    The Gaussian noise of all steps is composed exactly: mu = sqrt(steps) times 2 clip / (n sigma). Once with the clip
    at the largest gradient there is, once with the clip chosen on the test rows as well, and once with everything
    chosen on rows and noise that it is not scored with.

    Every setting is measured on a fifth of the runs, and on all of them only those that did best.
    """
    rows = {constant: _signed_rows(problem, constant).astype(np.float32) for constant in (True, False)}
    keep = 6 if problem.rows > MANY_ROWS else max(12, problem.runs // 5)
    settings = [Descent(*values) for values in product(grids.steps, grids.clips, (True, False), grids.step_sizes)]
    plain = [setting for setting in settings if setting.clip == grids.clips[0]]
    second = problem.second_half()
    for budget in problem.budgets:
        if not budget.delta:
            continue
        measure = _descent_scores(rows, budget)
        trial = measure(problem.first(max(3, problem.runs // 5)), settings)
        races = {"plain": (plain, ALL), "all": (settings, ALL), **{half: (settings, half) for half in HALVES}}
        kept = {race: _best(trial, entrants, column)[:keep] for race, (entrants, column) in races.items()}
        scores = measure(problem, list(dict.fromkeys(setting for race in kept.values() for setting in race)))
        for method, race in (("plain noisy gradient descent", "plain"), (TUNED_CLIP, "all")):
            found = {setting: scores[setting][:, ALL] for setting in kept[race]}
            yield _record(problem, budget, method, found, len(races[race][0]))
        yield _record(problem, budget, TUNED_APART, dict([_tuned_apart(scores, kept, second)]), len(settings))


def _tuned_apart(scores: Scores[Descent], kept: dict[Any, list[Descent]], second: Array) -> tuple[str, Array]:
    """Return the settings that were chosen, and every run's score, by knowledge of other rows and other noise alone.

    A half of the test rows in every other run is scored with what did best on the other half in the other runs.
    """
    found, chosen = np.zeros(len(second)), []
    share = dict(zip(HALVES, (1 - second, second), strict=True))
    for turn, (here, there) in product((0, 1), (HALVES, HALVES[::-1])):
        known = {setting: scores[setting][1 - turn :: 2] for setting in kept[there]}
        chosen.append(_best(known, kept[there], there)[0])
        found[turn::2] += share[here][turn::2] * scores[chosen[-1]][turn::2, here]
    return "; ".join(dict.fromkeys(str(setting) for setting in chosen)), found


def _best(scores: Scores[Descent], settings: Sequence[Descent], column: int) -> list[Descent]:
    """Return the settings by their mean score in a column, the best first."""
    return sorted(settings, key=lambda setting: -float(np.mean(scores[setting][:, column])))


def _descent_scores(rows: dict[bool, Array], budget: Budget) -> Callable[[Problem, Sequence[Descent]], Scores[Descent]]:
    """Return what measures settings of plain private descent at a budget."""

    def measure(problem: Problem, settings: Sequence[Descent]) -> Scores[Descent]:
        sizes: dict[Descent, list[float]] = defaultdict(list)
        for setting in settings:
            sizes[replace(setting, step_size=0.0)].append(setting.step_size)
        scores: Scores[Descent] = {}
        for plan, step_sizes in sizes.items():
            splits = len(problem.split_seeds)
            weights = _descend(rows[plan.constant][:splits], problem.draws, plan, step_sizes, budget)
            accuracy = problem.accuracy(weights, plan.constant)
            for place, step_size in enumerate(step_sizes):
                scores[replace(plan, step_size=step_size)] = accuracy[:, place]
        return scores

    return measure


def _descend(rows: Array, draws: int, plan: Descent, step_sizes: Sequence[float], budget: Budget) -> Array:
    """Return the last iterates (splits, columns, draws, step sizes) of all runs at once."""
    splits, count, columns = rows.shape
    # The number of runs is in the seed: what did best on the first of them meets new noise on all.
    generator = np.random.default_rng(
        [3, round(1000 * budget.epsilon), plan.steps, round(100 * plan.clip), plan.constant, splits * draws]
    )
    deviation = np.sqrt(plan.steps) * 2 * plan.clip / (count * gaussian_separation(budget))
    lengths = np.maximum(np.linalg.norm(rows, axis=2, keepdims=True), 1e-12)
    largest = (plan.clip / lengths).astype(np.float32)
    pace = np.tile(np.array(step_sizes, dtype=np.float32), draws)
    weights = np.zeros((splits, columns, draws * len(step_sizes)), dtype=np.float32)
    for _ in range(plan.steps):
        noise = generator.standard_normal(weights.shape, dtype=np.float32) * np.float32(deviation)
        for position in range(splits):
            noise[position] += _clipped_gradient(rows[position], weights[position], largest[position])
        weights -= pace * noise
    return weights.reshape(splits, columns, draws, len(step_sizes))


def _clipped_gradient(rows: Array, weights: Array, largest: Array) -> Array:
    """Return the mean of clipped logistic gradients; `largest` is the slope at which each row's gradient is clipped."""
    total = np.zeros_like(weights)
    for start in range(0, len(rows), ROWS_AT_ONCE):
        part = rows[start : start + ROWS_AT_ONCE]
        slope = part @ weights
        np.exp(slope, out=slope)
        slope += 1
        np.reciprocal(slope, out=slope)
        np.minimum(slope, largest[start : start + ROWS_AT_ONCE], out=slope)
        total -= part.T @ slope
    return total / np.float32(len(rows))


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
            yield _record(problem, budget, "AdaSSP (add or remove)", scores)


def _adassp_run(problem: Problem, budget: Budget, constant: bool, position: int, seed: int) -> float:
    """Return the test R2 of one run of AdaSSP."""
    generator = np.random.default_rng([4, round(1000 * budget.epsilon), constant, seed])
    middle, half = (problem.low + problem.high) / 2, (problem.high - problem.low) / 2
    X, y = _with_constant(problem.X[position], constant), (problem.y[position] - middle) / half
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
    return problem.r2(position, middle + half * (_with_constant(problem.X_test[position], constant) @ weights))


# The command


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
