"""Simulated worlds: rows of a known population, counted with noise of a known law, and whether intervals hold in them.

Cells of the grid have rows, a budget and a share of rare rows: of class 1 of two, of the last of three classes, of a
group, of a regression's outliers. Bins are those of the rule that `eq.evaluate` has.
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit
from scipy.stats import norm

from equipoise.evaluation.calibration import CalibrationErrors, joined
from equipoise.evaluation.explained import ERROR, ExplainedTest, TwoTables
from equipoise.evaluation.histogram import NoisyCounts
from equipoise.evaluation.inversion import HALVINGS, Ends
from equipoise.evaluation.means import Kinds, MeansTest
from equipoise.evaluation.ranking import PairsTest, above, on_its_side, strictly_above
from equipoise.evaluation.regression import Explained, Regression
from equipoise.evaluation.several_classes import mean_of_shares
from equipoise.evaluation.shares import SharesTest
from equipoise.evaluation.two_classes import LEAST_SCORE
from equipoise.planning.evaluation import (
    FURTHER,
    USUAL_RESIDUAL,
    bins,
    bins_of_numbers,
    bins_of_shares,
    cells_of_targets,
    edges_around,
    edges_of_margins,
    noise_on_counts,
)
from equipoise.release.carriers.evaluation import dealt
from equipoise.vocabulary.facts import Budget

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

ROWS, BUDGETS, SHARES = (200, 2000, 10_000, 1_000_000), (0.05, 0.5, 5.0), (0.01, 0.1, 0.5)

# Of how many columns rows are by which margins come about: the rule spaces edges by it.
COLUMNS = 10


@dataclass(frozen=True)
class Cell:
    """A cell of the grid: rows, epsilon, share of rare rows."""

    n: int
    epsilon: float
    share: float

    @property
    def events(self) -> float:
        """Expected rare rows."""
        return self.n * self.share


GRID = [Cell(*each) for each in itertools.product(ROWS, BUDGETS, SHARES)]


@dataclass(frozen=True)
class Population:
    """Chances of the cells of a histogram (groups x classes x outputs), and the public facts of one."""

    template: NoisyCounts
    chances: Array

    def worlds(self, coins: np.random.Generator, number: int) -> NDArray[np.int64]:
        """Worlds x groups x classes x outputs: noisy counts."""
        rows = coins.multinomial(self.template.n_samples, self.chances.ravel(), size=number)
        return noisy(coins, rows, self.template.law, self.template.scale).reshape(number, *self.chances.shape)

    def rebalanced(self, found: NDArray[np.int64]) -> Array:
        """Counts of worlds less each cell's share of all noise, as `rebalanced` has them of one."""
        within = self.template.possible
        total = found.sum(axis=(1, 2, 3), keepdims=True, where=within)
        return np.where(within, found - (total - self.template.n_samples) / within.sum(), 0.0)

    @cached_property
    def middles(self) -> Array:
        """The middles of bins of scores."""
        edges = self.template.edges
        return 0.5 * (np.array([0.0, *edges]) + np.array([*edges, 1.0]))

    @cached_property
    def regression(self) -> Regression:
        """Figures of a regression of this shape, for its middles."""
        return Regression(self.template)


def noisy(coins: np.random.Generator, rows: NDArray[np.int64], law: str, scale: float) -> NDArray[np.int64]:
    """Counts with noise of this law."""
    if law == "laplace":
        kept = 1.0 - math.exp(-1.0 / scale)
        return rows + coins.geometric(kept, rows.shape) - coins.geometric(kept, rows.shape)
    return rows + np.rint(coins.normal(0.0, scale, rows.shape)).astype(np.int64)


@dataclass(frozen=True)
class Dealt(Population):
    """A regression whose rows are counted by their target as well; its variance is that of the rows, not of bins.

    `of_targets` are the chances of cells of the target in each cell of the histogram; `absolute` and `squared` the
    means of sizes and squares of residuals, where they are.
    """

    targets: NoisyCounts
    of_targets: Array
    variance: float
    absolute: float
    squared: float

    def worlds(self, coins: np.random.Generator, number: int) -> NDArray[np.int64]:
        """Worlds x counts: those of the histogram, and the further ones behind them."""
        joint = (self.chances[0, ..., None] * self.of_targets).ravel()
        reached = np.flatnonzero(joint)
        rows = np.zeros((number, len(joint)), dtype=np.int64)
        rows[:, reached] = coins.multinomial(self.template.n_samples, joint[reached], size=number)
        tables = rows.reshape(number, -1, self.of_targets.shape[-1])
        return np.concatenate(
            [
                noisy(coins, tables.sum(axis=2), self.template.law, self.template.scale),
                noisy(coins, tables.sum(axis=1), self.targets.law, self.targets.scale),
            ],
            axis=1,
        )

    def rebalanced(self, found: NDArray[np.int64]) -> Array:
        """Both tables of worlds, each rebalanced by itself."""
        cells = self.chances.size
        first = super().rebalanced(found[:, :cells].reshape(-1, *self.chances.shape)).reshape(len(found), -1)
        further = found[:, cells:]
        surplus = further.sum(axis=1, keepdims=True) - self.template.n_samples
        return np.concatenate([first, further - surplus / further.shape[1]], axis=1)


def two_classes(cell: Cell, groups: tuple[float, ...] = (1.0,), second: float | None = None) -> Population:
    """Two normal populations of margins, 1.5 deviations apart; class 1 is rare, or has the share `second`."""
    noise = noise_on_counts(Budget(cell.epsilon))
    edges = np.array(edges_of_margins(0.0, 6.0, COLUMNS, bins(cell.n // len(groups), 2, noise)))
    laws = [np.diff(np.r_[0.0, norm.cdf(0.8 * edges + 0.6 - shift), 1.0]) for shift in (0.0, 1.5)]
    prevalence = cell.share if second is None else second
    classes = np.stack([(1.0 - prevalence) * laws[0], prevalence * laws[1]])
    chances = np.array(groups)[:, None, None] * classes
    counts = np.zeros(chances.shape, dtype=np.int64)
    return Population(NoisyCounts(tuple(expit(edges).tolist()), counts, noise.law, noise.scale, cell.n), chances)


# Margins of class 0 and of class 1, and how wide either is, that are nothing like those of a usual model.
UNUSUAL = {
    "narrow scores, all wrong": ((2.0, -2.0), 0.2),
    "narrow scores, all right": ((-2.0, 2.0), 0.2),
    "all scores in one bin": ((0.3, 0.3), 0.01),
    "all scores in the last bin": ((5.9, 5.9), 0.01),
    "scores in the outermost bins": ((5.9, -5.9), 0.01),
    "scores around the decision": ((-0.01, 0.01), 0.02),
}


def unusual(name: str, cell: Cell) -> Population:
    """Two classes in few bins, all others empty: a sum of absolute values then has most that errors alone add to it."""
    usual, (middles, width) = two_classes(cell), UNUSUAL[name]
    edges = logit(np.array(usual.template.edges))
    laws = [np.diff(np.r_[0.0, norm.cdf((edges - middle) / width), 1.0]) for middle in middles]
    shares = np.array([1.0 - cell.share, cell.share])
    return Population(usual.template, (shares[:, None] * np.array(laws))[None])


def groups_of_two_classes(cell: Cell) -> Population:
    """Two groups, the second of which is rare; 30 % of either are of class 1."""
    return two_classes(cell, (1.0 - cell.share, cell.share), second=0.3)


def several_classes(cell: Cell) -> Population:
    """Three classes, the last of which is rare; four of five rows are predicted as what they are."""
    noise = noise_on_counts(Budget(cell.epsilon), further=True)
    number = bins(cell.n, 3, noise)
    scores = np.linspace(1.0, 2.0, number)
    right, wrong = scores / scores.sum(), scores[::-1] / scores.sum()
    of_class = np.array([0.6 * (1.0 - cell.share), 0.4 * (1.0 - cell.share), cell.share])
    outputs = [np.r_[[0.8 * right if true == said else 0.1 * wrong for said in range(3)]].ravel() for true in range(3)]
    chances = (of_class[:, None] * np.array(outputs))[None]
    edges = tuple(np.linspace(1 / 3, 1.0, number + 1)[1:-1].tolist())
    return Population(
        NoisyCounts(edges, np.zeros(chances.shape, dtype=np.int64), noise.law, noise.scale, cell.n), chances
    )


def true_shares(cell: Cell) -> Population:
    """Shares of the true class of three, of which margins lie within 12 of each other; those of rare rows are low."""
    noise = noise_on_counts(Budget(cell.epsilon), further=True)
    logits = np.array(edges_around(-math.log(2.0), 12.0, 4.0, bins_of_shares(cell.n, noise)))
    near, far = (np.diff(np.r_[0.0, norm.cdf((logits - middle) / 1.5), 1.0]) for middle in (1.0, -2.0))
    chances = ((1.0 - cell.share) * near + cell.share * far)[None, None]
    counts = np.zeros(chances.shape, dtype=np.int64)
    edges = tuple(expit(logits).tolist())
    return Population(NoisyCounts(edges, counts, noise.law, FURTHER * noise.scale, cell.n), chances)


def numbers(cell: Cell) -> Population:
    """Predictions over the middle of a range of 1, residuals of deviation 0.08; those of rare rows, 0.3."""
    template = _cells_of_numbers(cell)
    predictions, residuals = np.array(template.predictions), np.array(template.edges)
    predicted = np.diff(np.r_[0.0, norm.cdf((predictions - 0.5) / 0.2), 1.0])
    near, far = (np.diff(np.r_[0.0, norm.cdf((residuals + 0.01) / width), 1.0]) for width in (0.08, 0.3))
    chances = np.outer(predicted, (1.0 - cell.share) * near + cell.share * far)[None]
    chances = chances * template.possible
    return Population(template, chances / chances.sum())


def _cells_of_numbers(cell: Cell) -> NoisyCounts:
    noise = noise_on_counts(Budget(cell.epsilon), further=True)
    of_predictions, of_residuals = bins_of_numbers(cell.n, noise)
    return NoisyCounts(
        edges_around(0.0, 1.0, USUAL_RESIDUAL, of_residuals),
        np.zeros((1, of_predictions, of_residuals), dtype=np.int64),
        noise.law,
        noise.scale,
        cell.n,
        tuple(np.linspace(0.0, 1.0, of_predictions + 1)[1:-1].tolist()),
        (0.0, 1.0),
    )


# So many predictions, and as many residuals, stand for a population of numbers.
_FINE = 400


def numbers_and_targets(cell: Cell, uneven: float = 0.0) -> Dealt:
    """The same predictions and residuals, finer than any bin; targets are clipped into the range.

    With `uneven` residuals are wider by this share where a prediction lies in the lower half of its bin, and narrower
    in the upper: what no table can tell.
    """
    template, noise = _cells_of_numbers(cell), noise_on_counts(Budget(cell.epsilon), further=True)
    count = cells_of_targets(cell.n, noise)
    knots = tuple(np.linspace(0.0, 1.0, count - 1).tolist())
    even = (np.arange(_FINE) + 0.5) / _FINE
    predicted = norm.pdf((even - 0.5) / 0.2)
    within = np.where((even * template.counts.shape[1]) % 1.0 < 0.5, 1.0 + uneven, 1.0 - uneven)
    deviations = np.sinh(8.0 * (even - 0.5)) / np.sinh(4.0)
    near, far = (norm.pdf((deviations + 0.01) / width) * np.cosh(8.0 * (even - 0.5)) for width in (0.08, 0.3))
    residual = (1.0 - cell.share) * near / near.sum() + cell.share * far / far.sum()
    chances = np.outer(predicted / predicted.sum(), residual / residual.sum()).ravel()
    first = np.repeat(even, _FINE)
    target = np.clip(first + (within[:, None] * deviations).ravel(), 0.0, 1.0)
    place = np.searchsorted(template.predictions, first) * template.bins
    place += np.searchsorted(template.edges, target - first)
    start, parts = dealt(knots, target)
    joint = np.zeros((template.counts.size, count))
    for step in range(3):
        np.add.at(joint, (place, start + step), chances * parts[:, step])
    of_cells = joint.sum(axis=1)
    mean = chances @ target
    return Dealt(
        template,
        of_cells.reshape(template.counts.shape),
        NoisyCounts(knots, np.zeros((1, 1, count), dtype=np.int64), noise.law, FURTHER * noise.scale, cell.n),
        (joint / np.where(of_cells > 0.0, of_cells, 1.0)[:, None]).reshape(*template.counts.shape[1:], count),
        float(chances @ (target - mean) ** 2),
        float(chances @ np.abs(target - first)),
        float(chances @ (target - first) ** 2),
    )


# A figure: for a population, what its intervals are told of noise, and rebalanced counts of worlds: whether each holds.
Holds = Callable[[Population, NoisyCounts, Array], Mask]


def _accepted(tests: Callable[..., tuple[Array, Array]], truth: float, error: Array | float, worlds: int) -> Mask:
    """What tests accept is in the interval (`intervals`)."""
    large, small = tests(np.arange(worlds), np.full(worlds, truth))
    return np.minimum(large, small) > 0.5 * error


def _share(masks: Callable[[Population], tuple[Mask, Mask]], population: Population, told, rows: Array) -> Mask:
    part, whole = masks(population)
    truth = population.chances[part & whole].sum() / population.chances[whole].sum()
    tests = _shares_test(told, rows, part & whole, whole)
    return _accepted(tests, truth, tests.error, len(rows))


def _shares_test(told: NoisyCounts, rows: Array, part: Mask, whole: Mask) -> SharesTest:
    parts = (part, whole & ~part, ~whole)
    cells = np.tile([float(np.sum(each & told.possible)) for each in parts], (len(rows), 1))
    return SharesTest(told, rows[:, part].sum(axis=1), rows[:, whole].sum(axis=1), cells)


def _places(population: Population) -> tuple[NDArray[np.intp], ...]:
    return tuple(np.indices(population.chances.shape))


def _cut(population: Population) -> int:
    return 1 + int(np.argmin(np.abs(np.array(population.template.edges) - 0.5)))


def _masks_of_two(name: str, population: Population) -> tuple[Mask, Mask]:
    group, true, place = _places(population)
    # Where groups are told apart it is the rare one that is asked about.
    within = group == population.chances.shape[0] - 1
    high, bin_ = place >= _cut(population), population.chances.shape[2] // 2
    return {
        "accuracy": ((true == 1) == high, within),
        "recall": (high, within & (true == 1)),
        "precision": (true == 1, within & high),
        "a bin's share": (true == 1, within & (place == bin_)),
        "a top precision": (true == 1, within & (place >= population.chances.shape[2] - 2)),
    }[name]


def _masks_of_three(name: str, population: Population) -> tuple[Mask, Mask]:
    _, true, output = _places(population)
    said, everything = output // population.template.bins, np.ones_like(true, dtype=bool)
    return {
        "accuracy": (said == true, everything),
        "recall of the rare class": (said == 2, true == 2),
        "precision of the rare class": (true == 2, said == 2),
        "a cell of the confusion matrix": ((true == 2) & (said == 0), everything),
    }[name]


def _pairs(kernel: Callable[[Population], Array], population: Population, told, rows: Array) -> Mask:
    group = population.chances.shape[0] - 1
    laws = population.chances[group] / population.chances[group].sum(axis=1, keepdims=True)
    tests = PairsTest(told, rows[:, group, 1], rows[:, group, 0], kernel(population))
    return _accepted(tests, float(laws[1] @ kernel(population) @ laws[0]), tests.error, len(rows))


def _mean(values: Callable[[Population], Array], within: slice, population: Population, told, rows: Array) -> Mask:
    """The mean of a value that cells stand for, over the rare group or (`within`) bins of predictions."""
    inside = np.zeros(population.chances.shape, dtype=bool)
    inside[-1, within] = True
    kinds = Kinds.of(told, values(population), inside)
    chances = kinds.within * kinds.summed(population.chances.reshape(1, -1))[0]
    tests = MeansTest(told, kinds.summed(rows.reshape(len(rows), -1)), kinds.apart, kinds.cells, 0.5 * 0.05)
    truth = float(np.sum(kinds.values * chances) / np.sum(chances))
    return _accepted(tests, truth, 0.05, len(rows))


def _brier(population: Population) -> Array:
    return np.stack([population.middles**2, (1.0 - population.middles) ** 2])


def _class_less_score(population: Population) -> Array:
    return np.stack([-population.middles, 1.0 - population.middles])


def _log_loss(population: Population) -> Array:
    return -np.log(np.stack([1.0 - population.middles, population.middles]))


def _largest_of_three(population: Population) -> tuple[NDArray[np.intp], Mask, Array]:
    """The bin of the predicted class's share, whether that is the true one, and the middles of bins."""
    _, true, output = _places(population)
    ends = np.array([1 / 3, *population.template.edges, 1.0])
    place = population.template.bins
    return output % place, true == output // place, 0.5 * (ends[:-1] + ends[1:])


def _too_low(population: Population) -> Array:
    place, right, middles = _largest_of_three(population)
    return right - middles[place]


def _log_loss_of_shares(population: Population) -> Array:
    edges = population.template.edges
    ends = np.array([0.5 * edges[0], *edges, 1.0])
    return -np.log(np.maximum(0.5 * (ends[:-1] + ends[1:]), LEAST_SCORE))


def _calibration_error_of_three(population: Population, told: NoisyCounts, rows: Array) -> Mask:
    place, right, middles = _largest_of_three(population)
    sums = np.stack([np.eye(len(middles))[place] * mask[..., None] for mask in (~right, right)], axis=-2)
    of_rows, chances = (np.tensordot(each, sums, 3) for each in (rows, population.chances))
    joint = np.eye(len(middles))[joined(len(middles), population.template.n_samples)]
    truth = np.sum(np.abs((chances[1] - middles * chances.sum(axis=0)) @ joint))
    return _within(CalibrationErrors(told, of_rows, middles, sums.sum(axis=(0, 1, 2))), truth, len(rows))


def _calibration_error(population: Population, told: NoisyCounts, rows: Array) -> Mask:
    middles, n = population.middles, population.template.n_samples
    place = np.eye(len(middles))[joined(len(middles), n)]
    group = population.chances[-1]
    truth = np.sum(np.abs((group[1] - middles * group.sum(axis=0)) @ place)) / np.sum(group)
    return _within(CalibrationErrors(told, rows[:, -1], middles, np.array(1.0)), truth, len(rows))


def _within(errors: CalibrationErrors, truth: float, worlds: int) -> Mask:
    """What is refused neither as too small nor as too large is in the interval."""
    hypotheses = np.full(worlds, truth)
    return ~errors.too_small(hypotheses) & ~errors.too_large(hypotheses)


def _mean_of_recalls(population: Population, told: NoisyCounts, rows: Array) -> Mask:
    """Ends of recalls have to be found, not only tested: halved until where they can still lie decides."""
    _, true, output = _places(population)
    said, found, truth = output // population.template.bins, [], []
    for label in range(3):
        part, whole = (true == label) & (said == label), true == label
        tests = _shares_test(told, rows, part, whole)
        found.append((tests, Ends(tests, len(rows), np.zeros(len(rows)), np.ones(len(rows)), tests.error)))
        truth.append(population.chances[part].sum() / population.chances[whole].sum())

    def holds(side: str) -> Mask:
        ends = [(np.minimum(*getattr(each, side)), np.maximum(*getattr(each, side))) for _, each in found]
        ratios = [tests.ratios(*each) for (tests, _), each in zip(found, ends, strict=True)]
        noise = [tests.noise(tests.values(*each)) for (tests, _), each in zip(found, ends, strict=True)]
        _, low, high = mean_of_shares(np.array(ratios), *np.array(ends).transpose(1, 0, 2), np.array(noise))
        return (low <= np.mean(truth)) & (np.mean(truth) <= high)

    for _ in range(HALVINGS):
        # Shorter intervals of recalls never make that of their mean longer; before ends have passed each other what is
        # accepted from either side says nothing.
        met = np.all([each.accepted[0] <= each.accepted[1] for _, each in found], axis=0)
        undecided = np.flatnonzero(holds("refused") & ~(met & holds("accepted")))
        for _, ends in found:
            ends.halve(undecided)
    return holds("refused")


def _explained(population: Population, told: NoisyCounts, rows: Array) -> Mask:
    figures, inside = population.regression, np.ones(population.chances.size)
    of_rows = partial(Explained, figures.predictions, figures.residuals, inside=inside)
    truth = float(of_rows(rows=1e9 * population.chances.reshape(1, -1)).value[0])
    flat = rows.reshape(len(rows), -1)
    tests = MeansTest(told, flat, of_rows(rows=flat), told.possible.ravel(), 0.5 * 0.05)
    return _accepted(tests, truth, 0.05, len(rows))


def _explained_of_targets(population: Dealt, told: NoisyCounts, rows: Array) -> Mask:
    """Whether the interval from middles of residuals' bins holds one less their mean square over the variance."""
    cells = population.chances.size
    targets = replace(population.targets, scale=FURTHER * told.scale)
    tables = TwoTables(told, targets, rows[:, :cells].reshape(-1, *population.chances.shape), rows[:, cells:])
    errors = np.sum(population.chances * population.regression.residuals**2)
    tests = ExplainedTest(tables, tables.middle)
    return _accepted(tests, float(1.0 - errors / population.variance), ERROR, len(rows))


def _residual_quantile(chance: float, population: Population, told: NoisyCounts, rows: Array) -> Mask:
    """Whether neither edge next to the quantile was left behind."""
    upto = np.cumsum(population.chances.sum(axis=(0, 1)))
    place = int(np.searchsorted(upto, chance))
    holds = np.ones(len(rows), dtype=bool)
    for edge, side in ((place, 1), (place - 1, 0)):
        if 0 <= edge < len(population.template.edges):
            part = np.arange(len(upto)) <= edge
            tests = _shares_test(told, rows, *np.broadcast_arrays(part, np.ones(population.chances.shape, dtype=bool)))
            holds &= tests(np.arange(len(rows)), np.full(len(rows), chance))[side] > 0.5 * tests.error
    return holds


def _quantile_at_an_edge(population: Population, told: NoisyCounts, rows: Array) -> Mask:
    """Whether the edge 0 is in the interval of the quantile that it is."""
    below = population.template.edges.index(0.0)
    upto = np.broadcast_to(np.arange(population.chances.shape[2]) <= below, population.chances.shape)
    return _share(lambda _: (upto, np.ones_like(upto)), population, told, rows)


_SHARES_OF_TWO = ("accuracy", "recall", "precision", "a bin's share", "a top precision")
_SHARES_OF_THREE = (
    "accuracy",
    "recall of the rare class",
    "precision of the rare class",
    "a cell of the confusion matrix",
)

_TWO: dict[str, Holds] = {
    **{name: partial(_share, partial(_masks_of_two, name)) for name in _SHARES_OF_TWO},
    "balanced accuracy": partial(_pairs, lambda each: on_its_side(each.chances.shape[2], _cut(each))),
    "area": partial(_pairs, lambda each: above(each.chances.shape[2])),
    "Brier score": partial(_mean, _brier, slice(None)),
    "log loss": partial(_mean, _log_loss, slice(None)),
    "calibration error": _calibration_error,
    "share less mean score": partial(_mean, _class_less_score, slice(None)),
    "area, ties lost": partial(_pairs, lambda each: strictly_above(each.chances.shape[2])),
}
_THREE: dict[str, Holds] = {
    **{name: partial(_share, partial(_masks_of_three, name)) for name in _SHARES_OF_THREE},
    "balanced accuracy": _mean_of_recalls,
    "calibration error": _calibration_error_of_three,
    "accuracy less mean score": partial(_mean, _too_low, slice(None)),
}
_TRUE_SHARES: dict[str, Holds] = {
    "log loss": partial(_mean, _log_loss_of_shares, slice(None)),
    "mean share": partial(_mean, lambda each: each.middles, slice(None)),
}
_NUMBERS: dict[str, Holds] = {
    "mean absolute error": partial(_mean, lambda each: np.abs(each.regression.residuals), slice(None)),
    "mean squared error": partial(_mean, lambda each: each.regression.residuals**2, slice(None)),
    "R2": _explained,
    "mean residual of a bin": partial(_mean, lambda each: each.regression.residuals, slice(1, 2)),
    "median residual": partial(_residual_quantile, 0.5),
    "90 % quantile of residuals": partial(_residual_quantile, 0.9),
    "quantile at an edge": _quantile_at_an_edge,
}
# Without rows in a bin, or of a class above the threshold, there is no share of them.
_OF_ALL_ROWS = (
    "accuracy",
    "balanced accuracy",
    "area",
    "Brier score",
    "log loss",
    "calibration error",
    "share less mean score",
)
FIGURES: dict[str, tuple[Callable[[Cell], Population], dict[str, Holds]]] = {
    "two classes": (two_classes, _TWO),
    "a rare group": (groups_of_two_classes, _TWO),
    **{name: (partial(unusual, name), {each: _TWO[each] for each in _OF_ALL_ROWS}) for name in UNUSUAL},
    "three classes": (several_classes, _THREE),
    "true shares of three classes": (true_shares, _TRUE_SHARES),
    "numbers": (numbers, _NUMBERS),
    "numbers and targets": (numbers_and_targets, {"R2": _explained_of_targets}),
    "numbers, uneven in bins": (partial(numbers_and_targets, uneven=0.5), {"R2": _explained_of_targets}),
}


def drawn(kind: str, cell: Cell, worlds: int, seed: int, noise: float = 1.0) -> tuple[Population, NoisyCounts, Array]:
    """Rebalanced worlds of a cell, for all figures; intervals are told this multiple of the noise's scale."""
    return drawn_of(FIGURES[kind][0](cell), worlds, seed, noise)


def drawn_of(
    population: Population, worlds: int, seed: int, noise: float = 1.0
) -> tuple[Population, NoisyCounts, Array]:
    """The same of a population."""
    rows = population.rebalanced(population.worlds(np.random.default_rng(seed), worlds))
    return population, replace(population.template, scale=noise * population.template.scale), rows


def covered(kind: str, name: str, cell: Cell, worlds: int, seed: int, noise: float = 1.0) -> float:
    """The share of worlds whose intervals hold the truth, if they are told this multiple of the noise's scale."""
    return float(np.mean(FIGURES[kind][1][name](*drawn(kind, cell, worlds, seed, noise))))
