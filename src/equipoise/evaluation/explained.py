"""R2 from two tables of the same rows: squared residuals by the one, the target's variance by the other (N4).

Coins deal each target to a cell so that the cell's place f and its square g are kept in the mean: ``E f = E y`` and
``E g = E y^2``. So the variance of the target is that of a mean over cells, and no bin hides any of it. Where R2 is
``rho`` and the mean of the target is ``mu``,

    D = sum over cells of the target of (1 - rho) (g - 2 mu f + mu^2)  -  sum over residuals of their squares

has mean zero. The noise of both tables is known and independent. Both see the same rows, and how residual and target go
together is not counted: it is estimated from what the first table tells of targets, fitted to both tables. That, and
so the coverage of intervals, is measured and not proved. The mean lies in an interval of its own, but for a chance of
`NUISANCE`, which is taken off the error; the largest tail over that interval counts, as for shares (Berger and Boos).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from equipoise.evaluation.figure import LEVEL, Figure
from equipoise.evaluation.histogram import NoisyCounts
from equipoise.evaluation.inversion import Places, intervals
from equipoise.evaluation.means import between, estimated_chances, tilted
from equipoise.evaluation.noise_law import fourth_cumulant, variance
from equipoise.evaluation.shares import NUISANCE, rebalanced
from equipoise.evaluation.tails import CellNoise, Rows, tails
from equipoise.release.carriers.evaluation import dealt

Array = NDArray[np.float64]

# An R2 below this is reported as this.
LEAST_R2 = -1.0
ERROR = 1.0 - LEVEL - NUISANCE
# Deviations on either side of a normal number but for the chance of `NUISANCE`.
_SIDES = 3.090232306167814

# Places in a bin of predictions, and in one of residuals, at which rows are imagined; rounds of fitting both tables;
# the share of rows that are imagined anywhere, so that no cell of the target is out of reach.
_PREDICTIONS, _RESIDUALS, _ROUNDS, _ANYWHERE = 8, 3, 12, 1e-6


class TwoTables:
    """Rows by prediction and residual, and by target: several pairs of such tables, of one shape.

    Everything is in units of half the declared range, from its middle.

    Parameters
    ----------
    counts, targets : NoisyCounts
        Say the noise, the cells and the number of rows; their counts are not looked at.
    rows : array, questions x groups x bins of predictions x bins of residuals
        Rebalanced counts.
    further : array, questions x cells of the target
        The same of the further counts.
    """

    def __init__(self, counts: NoisyCounts, targets: NoisyCounts, rows: Array, further: Array) -> None:
        low, high = targets.edges[0], targets.edges[-1]
        self.half = 0.5 * (high - low)
        knots = (np.array(targets.edges) - 0.5 * (low + high)) / self.half
        padded = np.array([knots[0], *knots, knots[-1]])
        self.means, self.products = 0.5 * (padded[:-1] + padded[1:]), padded[:-1] * padded[1:]
        self.counts, self.targets, self.further = counts, targets, further
        ends = np.array([-2.0, *(np.array(counts.edges) / self.half), 2.0])
        predictions = (np.array([low, *counts.predictions, high]) - 0.5 * (low + high)) / self.half
        near, far = np.sort(np.abs([ends[:-1], ends[1:]]), axis=0)
        middle = 0.5 * (near + far)
        # Bins of residuals of one size, which are those of either sign, are one kind.
        sizes, place = np.unique(np.round([near, middle, far], 12), axis=1, return_inverse=True)
        self.near, self.middle, self.far = sizes**2
        of_kinds = np.eye(sizes.shape[1])[place.ravel()]
        self.rows, self.cells = rows.sum(axis=(1, 2)) @ of_kinds, counts.possible.sum(axis=(0, 1)) @ of_kinds
        of_cells = imagined(predictions, ends, knots)
        chances = estimated_chances(rows.reshape(len(rows), -1)).reshape(rows.shape).sum(axis=1)
        self.joint = together(
            np.einsum("qak,akj,ku->quj", chances, of_cells, of_kinds, optimize=True), self.rows, further
        )
        self.mean = np.clip(further @ self.means / counts.n_samples, -1.0, 1.0)
        margin = self._margins()
        self.tried = (self.mean, np.clip(self.mean - margin, -1.0, 1.0), np.clip(self.mean + margin, -1.0, 1.0))

    def _margins(self) -> Array:
        """Return how far the mean may lie from the estimated one: so many deviations, more where noise has tails."""
        law, scale, n = self.targets.law, self.targets.scale, self.counts.n_samples
        chances, weights = estimated_chances(self.further), self.means - np.mean(self.means)
        sampled = n * np.maximum(chances @ self.means**2 - (chances @ self.means) ** 2, 0.0)
        spread = sampled + np.sum(weights**2) * variance(law, scale)
        tails_of_noise = np.sum(weights**4) * fourth_cumulant(law, scale) / spread**2
        # The first term of Cornish and Fisher that a symmetric law has.
        deviations = _SIDES + (_SIDES**3 - 3.0 * _SIDES) / 24.0 * tails_of_noise
        return np.asarray(deviations * np.sqrt(spread) / n)

    def squares(self, mean: Array) -> Array:
        """Return what cells of the target stand for: squared distances from these means (questions x cells)."""
        return np.asarray(self.products - 2.0 * mean[:, None] * self.means + mean[:, None] ** 2)

    @property
    def spread(self) -> Array:
        """The target's estimated variance."""
        found = np.sum(self.squares(self.mean) * self.further, axis=1) / self.counts.n_samples
        return np.asarray(np.maximum(found, 1e-12))


@dataclass(frozen=True, eq=False)
class ExplainedTest:
    """Tests of what R2 is, if residuals of each kind have these squares."""

    tables: TwoTables
    sizes: Array

    def __call__(self, which: Places, hypotheses: Array) -> tuple[Array, Array]:
        """Return how likely so large, and so small, a sum of deviations is, if the hypotheses are true."""
        large, small = np.zeros(len(which)), np.zeros(len(which))
        for mean in self.tables.tried:
            found = self._tails(which, hypotheses, mean[which])
            large, small = np.maximum(large, found[0]), np.maximum(small, found[1])
        return large, small

    def _tails(self, which: Places, hypotheses: Array, mean: Array) -> tuple[Array, Array]:
        tables, questions = self.tables, len(which)
        unexplained = (1.0 - hypotheses)[:, None] * tables.squares(mean)
        values = (unexplained[:, None, :] - self.sizes[:, None]).reshape(questions, -1)
        chances = tilted(values, tables.joint[which].reshape(questions, -1))
        weights = np.tile(centred(-self.sizes, tables.cells), (questions, 1))
        noise = CellNoise(tables.counts.law, tables.counts.scale, weights, np.tile(tables.cells, (questions, 1)))
        weights = unexplained - np.mean(unexplained, axis=1, keepdims=True)
        further = CellNoise(tables.targets.law, tables.targets.scale, weights, np.ones_like(weights))
        reached = np.sum(unexplained * tables.further[which], axis=1) - tables.rows[which] @ self.sizes
        rows = Rows(np.full(questions, float(tables.counts.n_samples)), values, chances)
        return tails([rows], noise, reached, further=further)


def explained(counts: NoisyCounts, targets: NoisyCounts) -> Figure:
    """Return R2 of all rows; for the ends of its interval residuals are as long as bins allow, and as short.

    Examples
    --------
    >>> table = np.array([[[303, 2520, 290], [710, 2450, 695], [320, 2390, 322]]])
    >>> counts = NoisyCounts((-0.2, 0.2), table, "laplace", 4.0, 10_000, (1.0, 2.0), (0.0, 3.0))
    >>> further = NoisyCounts((0.0, 1.0, 2.0, 3.0), np.array([[[850, 2290, 3760, 2180, 920]]]), "laplace", 32.0, 10_000)
    >>> explained(counts, further).told
    False
    """
    tables = TwoTables(counts, targets, rebalanced(counts)[None], rebalanced(targets).reshape(1, -1))
    return between(*(_figure(tables, sizes) for sizes in (tables.far, tables.middle, tables.near)))


def _figure(tables: TwoTables, sizes: Array) -> Figure:
    n, spread = tables.counts.n_samples, float(tables.spread[0])
    value = 1.0 - float(tables.rows[0] @ sizes) / n / spread
    ends = np.array([LEAST_R2]), np.array([1.0]), np.array([ERROR])
    low, high = (float(end[0]) for end in intervals(ExplainedTest(tables, sizes), 1, *ends))
    within = min(max(value, LEAST_R2), 1.0)
    squares = (1.0 - within) * tables.squares(tables.mean)[0] / spread
    rows, chances = squares - sizes[:, None] / spread, tables.joint[0]
    sampled = float(np.sum(chances * rows**2) - np.sum(chances * rows) ** 2)
    drawn = sum(
        float(np.sum(cells * centred(weights, cells) ** 2)) * variance(table.law, table.scale)
        for table, weights, cells in (
            (tables.counts, sizes / spread, tables.cells),
            (tables.targets, squares, np.ones(len(squares))),
        )
    )
    parts = float(np.sqrt(max(sampled, 0.0) / n)), float(np.sqrt(drawn)) / n
    return Figure(min(max(value, low), high), low, high, *parts, LEAST_R2, 1.0)


def centred(weights: Array, cells: Array) -> Array:
    """Return weights less their mean over cells: rebalancing takes it off the noise."""
    return np.asarray(weights - np.sum(weights * cells) / np.sum(cells))


def imagined(predictions: Array, residuals: Array, knots: Array) -> Array:
    """Return with which chances rows of each cell of the first table are dealt to cells of the target.

    Predictions and residuals are imagined evenly in their bins, of which the ends are given.

    Examples
    --------
    >>> found = imagined(np.array([-1.0, 0.0, 1.0]), np.array([-2.0, 0.0, 2.0]), np.array([-1.0, 0.0, 1.0]))
    >>> found.shape, found.sum(axis=2).round(9).tolist()
    ((2, 2, 4), [[1.0, 1.0], [1.0, 1.0]])
    """
    first, second = (
        ends[:-1, None] + np.diff(ends)[:, None] * (np.arange(number) + 0.5) / number
        for ends, number in ((predictions, _PREDICTIONS), (residuals, _RESIDUALS))
    )
    target = (first[:, None, :, None] + second[None, :, None, :]).ravel()
    places, chances = dealt(tuple(knots.tolist()), target)
    every = np.zeros((len(target), len(knots) + 1))
    np.put_along_axis(every, places[:, None] + np.arange(3), chances, axis=1)
    shape = len(first), len(second), _PREDICTIONS * _RESIDUALS, len(knots) + 1
    return np.asarray((1.0 - _ANYWHERE) * every.reshape(shape).mean(axis=2) + _ANYWHERE / shape[3])


def together(joint: Array, rows: Array, further: Array) -> Array:
    """Return chances of residuals and targets together (questions x kinds x cells), in proportion until both fit.

    Counts of a kind have less noise than the cells that they are sums of, and so fewer of them are below zero.

    Examples
    --------
    >>> found = together(np.array([[[0.5, 0.1], [0.1, 0.3]]]), np.array([[60.0, 40.0]]), np.array([[50.0, 50.0]]))
    >>> found.sum(axis=1).round(3), found.sum(axis=2).round(3)
    (array([[0.5, 0.5]]), array([[0.6, 0.4]]))
    """
    of_residuals, of_targets, joint = estimated_chances(rows), estimated_chances(further), joint.copy()
    for _ in range(_ROUNDS):
        joint *= (of_targets / np.maximum(joint.sum(axis=1), 1e-300))[:, None, :]
        joint *= (of_residuals / np.maximum(joint.sum(axis=2), 1e-300))[:, :, None]
    return np.asarray(joint)
