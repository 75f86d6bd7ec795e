"""The peers that descend: bolt-on SGD, and plain private gradient descent, the strongest rival that could be built.

Used by `peers.py`, in the peers' own environment; equipoise is not imported here.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from peer_problems import (
    ALL,
    HALVES,
    MANY_ROWS,
    Array,
    Budget,
    Grids,
    Problem,
    Record,
    Scores,
    best_record,
    gaussian_separation,
    signed_rows,
)

BATCH = 50
TUNED_CLIP = "noisy gradient descent, clip tuned"
TUNED_APART = "noisy gradient descent, clip tuned on other rows"
# Rows whose margins are held at once, so that they stay in the processor's cache.
ROWS_AT_ONCE = 2048


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
        yield best_record(problem, budget, "bolt-on SGD", scores)


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
    signed = signed_rows(problem, constant)
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
    rows = {constant: signed_rows(problem, constant).astype(np.float32) for constant in (True, False)}
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
            yield best_record(problem, budget, method, found, len(races[race][0]))
        yield best_record(problem, budget, TUNED_APART, dict([_tuned_apart(scores, kept, second)]), len(settings))


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
