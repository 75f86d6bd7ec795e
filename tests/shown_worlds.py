"""Whether the intervals that are shown hold: those of figures of scores and residuals themselves, which bins hide.

`noisy_worlds` tests figures of scores at the middles of their bins. Here the truth is that of the scores where they
are, by many points in every bin, and an interval reaches from the low end of the least that bins leave open to the high
end of the most, as `between` makes it.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import norm

from equipoise.evaluation.calibration import CalibrationErrors
from equipoise.evaluation.explained import ERROR, ExplainedTest, TwoTables
from equipoise.evaluation.histogram import NoisyCounts
from equipoise.evaluation.means import Kinds, MeansTest
from equipoise.evaluation.ranking import PairsTest, at_least, strictly_above
from equipoise.evaluation.two_classes import LEAST_SCORE
from equipoise.planning.evaluation import FURTHER
from noisy_worlds import (
    Cell,
    Dealt,
    Holds,
    Population,
    drawn_of,
    groups_of_two_classes,
    joined,
    numbers_and_targets,
    two_classes,
)

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Losses = Callable[[Population, Array], Array]

_POINTS = 200_000


@cache
def _margins() -> Array:
    """Margins of either class of `two_classes` (2 x points), each point as likely as the others."""
    even = norm.ppf((np.arange(_POINTS) + 0.5) / _POINTS)
    return np.stack([(shift - 0.6 + even) / 0.8 for shift in (0.0, 1.5)])


# The chance that the margin of a row of class 1 is above that of one of class 0, 1.5 deviations apart.
AREA = float(norm.cdf(1.5 / np.sqrt(2.0)))


def _held(least: Callable, most: Callable, truth: float, error: Array | float, worlds: int) -> Mask:
    """What is refused neither as too small for the least nor as too large for the most is in the interval."""
    asked = np.arange(worlds), np.full(worlds, truth)
    return (least(*asked)[0] > 0.5 * error) & (most(*asked)[1] > 0.5 * error)


def _area(population: Population, told: NoisyCounts, rows: Array) -> Mask:
    kernels = [kernel(rows.shape[3]) for kernel in (strictly_above, at_least)]
    least, most = (PairsTest(told, rows[:, -1, 1], rows[:, -1, 0], kernel) for kernel in kernels)
    return _held(least, most, AREA, least.error, len(rows))


def _ends(population: Population) -> Array:
    return np.array([0.0, *population.template.edges, 1.0])


def _prevalence(population: Population) -> float:
    group = population.chances[-1]
    return float(group[1].sum() / group.sum())


def _mean(values: tuple[Array, Array], truth: float, shape: tuple[int, ...], told: NoisyCounts, rows: Array) -> Mask:
    """Whether the interval of a mean over the last group holds, of values that lie between these of each cell."""
    inside = np.zeros(shape, dtype=bool)
    inside[-1] = True
    tests = []
    for each in values:
        kinds = Kinds.of(told, each, inside)
        tests.append(MeansTest(told, kinds.summed(rows.reshape(len(rows), -1)), kinds.apart, kinds.cells, 0.5 * 0.05))
    return _held(*tests, truth, 0.05, len(rows))


def _loss(losses: Losses, population: Population, told: NoisyCounts, rows: Array) -> Mask:
    """Whether the interval of a mean loss holds, of shares of the true class (2 x scores)."""
    ends, prevalence, scores = _ends(population), _prevalence(population), expit(_margins())
    below, above = (losses(population, np.stack([1.0 - each, each])) for each in (ends[:-1], ends[1:]))
    of_classes = losses(population, np.stack([1.0 - scores[0], scores[1]])).mean(axis=1)
    truth = (1.0 - prevalence) * of_classes[0] + prevalence * of_classes[1]
    sides = np.minimum(below, above), np.maximum(below, above)
    return _mean(sides, float(truth), population.chances.shape, told, rows)


def _brier(_: Population, scores: Array) -> Array:
    return (1.0 - scores) ** 2


def _log_loss(population: Population, scores: Array) -> Array:
    # No row counts as more than the middle of an outermost bin costs.
    least = np.maximum([1.0 - population.middles[-1], population.middles[0]], LEAST_SCORE)
    return -np.log(np.maximum(scores, least[:, None]))


def _in_the_large(population: Population, told: NoisyCounts, rows: Array) -> Mask:
    ends, prevalence = _ends(population), _prevalence(population)
    mean = expit(_margins()).mean(axis=1)
    truth = prevalence - (1.0 - prevalence) * mean[0] - prevalence * mean[1]
    sides = tuple(np.stack([-each, 1.0 - each]) for each in (ends[1:], ends[:-1]))
    return _mean(sides, float(truth), population.chances.shape, told, rows)


def _calibration_error(population: Population, told: NoisyCounts, rows: Array) -> Mask:
    ends, prevalence = _ends(population), _prevalence(population)
    bins = joined(len(ends) - 1, told.n_samples)
    apart = np.zeros(int(bins[-1]) + 1)
    for label, share in enumerate((1.0 - prevalence, prevalence)):
        scores = expit(_margins()[label])
        place = bins[np.searchsorted(told.edges, scores)]
        apart += share * np.bincount(place, label - scores, len(apart)) / _POINTS
    truth = np.full(len(rows), np.abs(apart).sum())
    errors = CalibrationErrors(told, rows[:, -1], population.middles, np.array(1.0), 0.5 * np.diff(ends))
    return ~errors.too_small(truth) & ~errors.too_large(truth)


def _residuals(power: int, population: Dealt, told: NoisyCounts, rows: Array) -> Mask:
    figures, cells = population.regression, population.chances.size
    truth = (population.absolute, population.squared)[power - 1]
    sides = figures.near**power, figures.far**power
    return _mean(sides, truth, population.chances.shape, told, rows[:, :cells].reshape(-1, *population.chances.shape))


def _explained(population: Dealt, told: NoisyCounts, rows: Array) -> Mask:
    cells = population.chances.size
    targets = replace(population.targets, scale=FURTHER * told.scale)
    tables = TwoTables(told, targets, rows[:, :cells].reshape(-1, *population.chances.shape), rows[:, cells:])
    # Of the longest residuals R2 is the least.
    least, most = (ExplainedTest(tables, sizes) for sizes in (tables.far, tables.near))
    return _held(least, most, 1.0 - population.squared / population.variance, ERROR, len(rows))


_SCORES: dict[str, Holds] = {
    "area": _area,
    "Brier score": partial(_loss, _brier),
    "log loss": partial(_loss, _log_loss),
    "calibration error": _calibration_error,
    "share less mean score": _in_the_large,
}
SHOWN: dict[str, tuple[Callable[[Cell], Population], dict[str, Holds]]] = {
    "two classes, scores themselves": (two_classes, _SCORES),
    "a rare group, scores themselves": (groups_of_two_classes, _SCORES),
    "numbers, residuals themselves": (
        numbers_and_targets,
        {
            "mean absolute error": partial(_residuals, 1),
            "mean squared error": partial(_residuals, 2),
            "R2": _explained,
        },
    ),
}


def covered_as_shown(kind: str, name: str, cell: Cell, worlds: int, seed: int) -> float:
    """The share of worlds whose intervals, as they are shown, hold the truth."""
    make, figures = SHOWN[kind]
    return float(np.mean(figures[name](*drawn_of(make(cell), worlds, seed))))
