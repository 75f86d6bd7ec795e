"""Every figure about a regression, from noisy counts of predictions by residuals."""

import copy
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from equipoise.evaluation.explained import LEAST_R2, explained
from equipoise.evaluation.figure import Curve, Figure
from equipoise.evaluation.histogram import NoisyCounts
from equipoise.evaluation.inversion import Places
from equipoise.evaluation.means import MeansTest, between, figure_of, mean_between
from equipoise.evaluation.prediction_sets import conformal_level, require_share
from equipoise.evaluation.shares import Share, rebalanced, shares

Array = NDArray[np.float64]


class Regression:
    """Figures of a regression; each is computed when it is first asked for.

    The middle of a bin stands for the predictions and residuals in it, and the declared range bounds both. What is
    finer than a bin is not seen, so intervals of means reach from rows at the near ends of their bins to rows at the
    far ends. A residual is the true number less the predicted one.

    Parameters
    ----------
    counts : NoisyCounts
        Groups x bins of predictions x bins of residuals, with ``predictions`` and ``range``.
    groups : sequence of int, optional
        The groups whose rows the figures are about; all by default.
    targets : NoisyCounts, optional
        The same rows by their target, all groups together, from which R2 can be told far better.

    Examples
    --------
    >>> table = np.array([[[303, 2520, 290], [710, 2450, 695], [320, 2390, 322]]])
    >>> counts = NoisyCounts((-0.5, 0.5), table, "laplace", 4.0, 10_000, (1.0, 2.0), (0.0, 3.0))
    >>> figures = Regression(counts)
    >>> print(figures.mean_absolute_error)
    0.5 [0.5, 1.182] (sampling 0.0077, noise 0.0014, bins 0.33)
    """

    def __init__(
        self, counts: NoisyCounts, groups: Sequence[int] | None = None, targets: NoisyCounts | None = None
    ) -> None:
        least, greatest = counts.range if counts.range is not None else (0.0, 1.0)
        self.counts, self.targets = counts, targets
        within = list(range(len(counts.counts))) if groups is None else list(groups)
        self._all = np.zeros(counts.counts.shape, dtype=bool)
        self._all[within] = True
        width = greatest - least
        self.predictions = _middles(np.array([least, *counts.predictions, greatest]))
        self.ends = np.array([-width, *counts.edges, width])
        self.residuals = _middles(self.ends)
        # The smallest and the largest size of a residual in each bin: 0 is an edge.
        sizes = np.abs(np.array([self.ends[:-1], self.ends[1:]]))
        self.near, self.far = np.min(sizes, axis=0), np.max(sizes, axis=0)

    @cached_property
    def mean_squared_error(self) -> Figure:
        """The mean of squared residuals."""
        return mean_between(self.counts, (self.near**2, self.residuals**2, self.far**2), self._all)

    @cached_property
    def mean_absolute_error(self) -> Figure:
        """The mean of absolute residuals."""
        return mean_between(self.counts, (self.near, np.abs(self.residuals), self.far), self._all)

    @cached_property
    def mean_residual(self) -> Figure:
        """The mean of residuals: above 0 predictions are too low."""
        return mean_between(self.counts, (self.ends[:-1], self.residuals, self.ends[1:]), self._all)

    @cached_property
    def r2(self) -> Figure:
        """One less the ratio of the squared error to the target's variance.

        That is known from counts by the target where there are any (`explained`). Otherwise targets lie where bins of
        predictions and residuals say. To first order the mean of a target does not matter to its variance, so that a
        hypothesis is one about the mean of ``(1 - hypothesis) (target - mean)^2 - residual^2``, which is zero if it is
        true. For the ends of its interval residuals are as long as bins allow and targets as near to their mean, and
        the other way round. An R2 below `LEAST_R2` is reported as that, and the figure says so.
        """
        if self.targets is not None:
            return replace(explained(self.counts, self.targets), clipped=True)
        rows = rebalanced(self.counts).reshape(1, -1)
        inside = self._all.ravel().astype(float)
        middle = Explained(self.predictions, self.residuals, rows, inside)
        spread = _half_widths(np.array([*(self.counts.range or (0.0, 1.0)), *self.counts.predictions]))
        room = np.broadcast_to(spread[:, None] + _half_widths(self.ends), self.counts.counts.shape).ravel()
        worst, best = middle.shifted(self.far, -room), middle.shifted(self.near, room)
        return replace(between(*(self._ratio(each) for each in (worst, middle, best))), clipped=True)

    def _ratio(self, ratio: "Explained") -> Figure:
        value = float(ratio.value[0])
        influence = ratio(np.zeros(1, dtype=np.intp), np.array([value]))[0] * self.counts.n_samples / ratio.around[0]
        rows, cells = rebalanced(self.counts).reshape(1, -1), self.counts.possible.ravel().astype(float)
        return figure_of(MeansTest(self.counts, rows, ratio, cells), (LEAST_R2, 1.0), value, influence)

    def residual_quantile(self, chance: float) -> Figure:
        """Return the residual below which this share of rows lies; the interval's ends are edges of bins.

        From the lowest edge on, edges are left behind as long as the share of rows up to them is, by its interval, less
        than the one asked for; likewise from above. An end is wrong only if the edge next to the quantile was left
        behind wrongly: one event on either side, so that no union over edges is needed.
        """
        chance = require_share("a chance", chance, "ask for 0.5, the median, say")
        edges, width = self.counts.edges, float(self.ends[-1])
        upto = [self._all & (np.arange(self.counts.bins) <= place) for place in range(len(edges))]
        found = shares(self.counts, [Share(each, self._all) for each in upto])
        below = [share.high >= chance for share in found]
        above = [share.low <= chance for share in found][::-1]
        low = float(self.ends[below.index(True) if True in below else len(edges)])
        high = float(self.ends[::-1][above.index(True) if True in above else len(edges)])
        cumulated = np.maximum.accumulate([0.0, *(share.value for share in found), 1.0])
        value = float(np.interp(chance, cumulated, self.ends))
        nearest = found[int(np.argmin([abs(share.value - chance) for share in found]))]
        slope = (high - low) / max(nearest.high - nearest.low, 1e-300)
        spread = nearest.sampling * slope, nearest.noise * slope
        return Figure(min(max(value, low), high), low, high, spread[0], spread[1], -width, width)

    @cached_property
    def calibration(self) -> Curve:
        """For every bin of predictions, the mean residual: zero where predictions are right in the mean."""
        rows = np.arange(len(self.predictions))[:, None]
        ends = self.ends[:-1], self.residuals, self.ends[1:]
        found = [mean_between(self.counts, ends, self._all & (rows == place)) for place in range(len(rows))]
        bounds = self.counts.range or (0.0, 1.0)
        return Curve.of(tuple(self.predictions.tolist()), found, (bounds[0], *self.counts.predictions, bounds[1]))

    def prediction_intervals(self, coverage: float) -> tuple[float, float]:
        """Return what to add to a prediction so that the interval holds the truth with at least this chance (N4-sets).

        Levels are bins of residuals by how far they reach from zero; a level holds every bin that reaches no further.
        They are in whole or not at all: an interval asks no coin.
        """
        levels = np.broadcast_to(self.levels, self.counts.counts.shape[1:])
        return self.upto(int(conformal_level(self.counts, levels, coverage, parts=1)) - 1)

    @property
    def levels(self) -> NDArray[np.intp]:
        """The level of each bin of residuals."""
        reach = np.maximum(np.abs(self.ends[:-1]), np.abs(self.ends[1:])).round(12)
        return np.unique(reach, return_inverse=True)[1]

    def upto(self, level: int) -> tuple[float, float]:
        """Return the ends of the residuals on levels up to this one."""
        inside = np.flatnonzero(self.levels <= level)
        return float(self.ends[inside[0]]), float(self.ends[inside[-1] + 1])


class Explained:
    """What cells deviate from hypotheses about R2, for several histograms of one shape.

    Parameters
    ----------
    predictions, residuals : array
        The middles of their bins.
    rows : array, questions x cells
        Rebalanced counts.
    inside : array, cells
        1 for the cells whose rows are asked about, 0 for others.
    """

    def __init__(self, predictions: Array, residuals: Array, rows: Array, inside: Array) -> None:
        shape = (len(inside) // (len(predictions) * len(residuals)), len(predictions), len(residuals))
        self._shape = shape
        target = np.broadcast_to(predictions[:, None] + residuals, shape).ravel()
        self.inside, self.kept = inside, rows * inside
        total = np.maximum(np.sum(self.kept, axis=1), 1.0)
        self.distances = np.abs(target - (self.kept @ target / total)[:, None])
        self._measure(np.broadcast_to(residuals**2, shape).ravel(), self.distances**2)

    def _measure(self, squared: Array, apart: Array) -> None:
        self.squared, self.apart = squared, apart
        self.around = np.maximum(np.sum(self.kept * apart, axis=1), 1e-12 * np.max(self.distances**2, axis=1))
        self.value = 1.0 - self.kept @ squared / self.around

    def shifted(self, sizes: Array, room: Array) -> "Explained":
        """Return the same of residuals of these sizes, with targets further from their mean by the room, or nearer.

        The mean itself lies within the mean room of the one that the middles have: so much less is the variance.
        """
        made = copy.copy(self)
        apart = np.maximum(self.distances + room, 0.0) ** 2
        total = np.maximum(np.sum(self.kept, axis=1), 1.0)
        off = np.where(np.all(room < 0.0), (self.kept @ room / total) ** 2, 0.0)
        made._measure(np.broadcast_to(sizes**2, self._shape).ravel(), apart - off[:, None])
        return made

    def __call__(self, which: Places, hypotheses: Array) -> Array:
        """Return ``(1 - hypothesis) (target - mean)^2 - residual^2`` for each cell."""
        return np.asarray(self.inside * ((1.0 - hypotheses)[:, None] * self.apart[which] - self.squared))


def _half_widths(ends: Array) -> Array:
    return np.asarray(0.5 * np.diff(np.sort(ends)))


def _middles(ends: Array) -> Array:
    return np.asarray(0.5 * (ends[:-1] + ends[1:]))
