"""Algorithms 1 and 2 of the paper on the hinge loss: projected, with replacement, averaged, with or without noise."""

from collections.abc import Sequence
from dataclasses import dataclass

import numba
import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from equipoise.lab.estimate import Estimate
from equipoise_studies.nonsmooth_stability.populations import Population

Array = NDArray[np.float64]

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Plan:
    """What is run: training rows, the updates after which averages are looked at, step, noise, and how many times."""

    n_samples: int
    updates: tuple[int, ...]
    step: float
    noise: float
    repetitions: int


@dataclass(frozen=True)
class Runs:
    """Generalisation gaps and excess risks of averaged iterates, (repetitions, looks)."""

    plan: Plan
    gaps: Array
    excesses: Array


def measure(population: Population, plan: Plan, seed: Sequence[int]) -> Runs:
    """Train on samples of the population, and return gaps and excess risks, both exact for the weights reached.

    Examples
    --------
    >>> from equipoise_studies.nonsmooth_stability.populations import a_column_each
    >>> runs = measure(a_column_each(8), Plan(8, (8, 64), 0.05, 0.0, 3), (0,))
    >>> runs.gaps.shape, bool((runs.excesses > 0).all())
    ((3, 2), True)
    """
    gaps = np.empty((plan.repetitions, len(plan.updates)))
    excesses = np.empty_like(gaps)
    looks = np.asarray(plan.updates, np.int64)
    for repetition in range(plan.repetitions):
        draws = np.random.default_rng((*seed, plan.n_samples, repetition))
        rows = population.draw(plan.n_samples, draws)
        weights = _averages(rows, looks, plan.step, population.radius, plan.noise, draws)
        risks = population.risk(weights)
        gaps[repetition] = risks - np.maximum(0.0, 1 - weights @ rows.T).mean(1)
        excesses[repetition] = risks - population.least
    return Runs(plan, gaps, excesses)


@numba.njit(cache=True, fastmath=True)
def _averages(
    rows: Array, looks: NDArray[np.int64], step: float, radius: float, noise: float, draws: np.random.Generator
) -> Array:
    n_samples, n_columns = rows.shape
    weights, total = np.zeros(n_columns), np.zeros(n_columns)
    found = np.zeros((len(looks), n_columns))
    noted = 0
    for update in range(looks[-1]):
        row = rows[draws.integers(0, n_samples)]
        margin, square = 0.0, 0.0
        for column in range(n_columns):
            total[column] += weights[column]  # the average holds the start, not the last iterate
            margin += weights[column] * row[column]
        slope = step if margin < 1 else 0.0
        for column in range(n_columns):
            move = slope * row[column]
            if noise > 0:
                move -= step * noise * draws.standard_normal()
            weights[column] += move
            square += weights[column] ** 2
        if square > radius**2:
            weights *= radius / np.sqrt(square)
        if looks[noted] == update + 1:
            found[noted] = total / (update + 1)
            noted += 1
    return found


def mean(values: Array) -> Estimate:
    """Return the mean of independent repetitions with its interval by Student's law.

    Examples
    --------
    >>> print(mean(np.array([1.0, 2.0, 3.0])))
    2 [-0.4841, 4.484]
    """
    centre, count = float(values.mean()), len(values)
    reach = float(student.ppf((1 + CONFIDENCE) / 2, count - 1) * values.std(ddof=1) / np.sqrt(count))
    return Estimate(centre, centre - reach, centre + reach, CONFIDENCE)


def slope(sizes: Sequence[int], samples: Sequence[Array], replicates: int = 500) -> Estimate:
    """Return the slope of the logarithm of means over that of sizes; its interval is from repetitions drawn anew.

    Examples
    --------
    >>> samples = [np.array([1.0, 1.0]), np.array([0.5, 0.5])]
    >>> print(slope([10, 100], samples))
    -0.301 [-0.301, -0.301]
    """
    across = np.log(np.asarray(sizes, np.float64))
    across = across - across.mean()

    def fitted(means: Array) -> Array:
        found: Array = np.log(means) @ across / (across @ across)
        return found

    draws = np.random.default_rng(0)
    means = np.stack([each[draws.integers(0, len(each), (replicates, len(each)))].mean(1) for each in samples], axis=1)
    value = float(fitted(np.array([each.mean() for each in samples])))
    return Estimate.of(value, fitted(means), CONFIDENCE)
