"""How far scores are from the shares that they announce, over all bins."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from equipoise.evaluation.absolute_sums import AbsoluteSums, Errors
from equipoise.evaluation.figure import LEVEL, Figure
from equipoise.evaluation.histogram import NoisyCounts
from equipoise.evaluation.inversion import Places
from equipoise.evaluation.means import MeansTest
from equipoise.evaluation.noise_law import fourth_cumulant, variance
from equipoise.evaluation.shares import rebalanced

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

# Bins are joined until there are at most so many, and so many rows for each on average: a bin with less than the size
# of its own error tells nothing of calibration, and every one adds the size of its error to the sum.
MOST_BINS, ROWS_A_BIN = 10, 40

# Half a row may be expected in a bin in which none was seen.
UNSEEN = 0.5

_HALVINGS = 30


def joined(bins: int, n_samples: int) -> NDArray[np.intp]:
    """Return the number of the joined bin that each bin belongs to, a public rule: neighbours, as evenly as may be.

    Examples
    --------
    >>> joined(6, 10_000), joined(6, 100)
    (array([0, 1, 2, 3, 4, 5]), array([0, 0, 0, 1, 1, 1]))
    """
    kept = min(bins, MOST_BINS, max(n_samples // ROWS_A_BIN, 2))
    return np.asarray(np.arange(bins) * kept // bins)


class CalibrationErrors:
    """Calibration errors of several histograms of one shape, each ``sum over bins |rows of class 1 - middle * rows|``.

    Parameters
    ----------
    counts : NoisyCounts
        Says the noise and the numbers of cells and of rows; its counts are not looked at.
    rows : array, worlds x 2 x bins
        Rebalanced counts of the cells that are asked about, summed by bin: those of class 1 are second.
    middles : array
        What the scores of each bin announce.
    cells : array, 2 x bins, or what is broadcast to it
        How many cells were summed. If there are others, how many rows these have is known up to noise.
    halves : array, optional
        How far a score may lie from the middle of its bin. Ends are then those of the errors of the scores themselves;
        by default of scores at the middles.

    Notes
    -----
    With the right sign for every bin the calibration error is a mean over rows, of ``sign * (class - middle)``, and
    with every other choice of signs that mean is no larger. So the signs that were seen give a larger one than the
    right ones: where a mean of so much, and less, is improbable by the test of means (`MeansTest`), so it is with the
    right signs. The upper end is that of this mean. It is above the truth at least as often as the upper end of a mean
    is, whatever the differences are, but for what signs change in the law of a mean (its third cumulant, and what
    rebalancing saves): the law is that of the signs seen. A lower end has to reckon with what errors alone add to a
    sum of absolute values (`AbsoluteSums`).

    A row at either end of its bin moves the sum by half of the bin's width at most. So the high end is that of the mean
    of ``sign * (class - middle) + half``, and the low end is less by the largest half.
    """

    def __init__(
        self, counts: NoisyCounts, rows: Array, middles: Array, cells: Array, halves: Array | float = 0.0
    ) -> None:
        bins = joined(len(middles), counts.n_samples)
        place = np.eye(int(bins[-1]) + 1)[bins]
        cells = np.broadcast_to(cells, rows.shape)

        def summed(first: Array, power: int, sign: float = 1.0) -> Array:
            return np.asarray(((1.0 - middles) ** power * first[:, 1] + sign * middles**power * first[:, 0]) @ place)

        one, number = variance(counts.law, counts.scale), float(np.sum(cells[0]))
        outside = 1.0 - number / counts.counts.size
        self.total = np.maximum(np.sum(rows, axis=(1, 2)), 1.0)
        seen, noise = summed(rows, 1, -1.0), summed(cells, 1, -1.0)
        sampled, drawn = np.maximum(summed(rows, 2), 0.0), summed(cells, 2) * one
        fourth = np.maximum(summed(rows, 4), 0.0) + summed(cells, 4) * fourth_cumulant(counts.law, counts.scale)
        common = noise * np.sqrt(one / counts.counts.size), one * number * outside, one * outside * noise
        self.sums, self.larger = (
            AbsoluteSums(seen, Errors(sampled + unseen, drawn, fourth, *common), self.total) for unseen in (0.0, UNSEEN)
        )
        self.sampling, self.noise = (np.sqrt(np.sum(part, axis=1)) / self.total for part in (sampled, drawn))

        # Rows of other cells add nothing to the mean, but are among those that are public.
        signs = np.where(seen < 0.0, -1.0, 1.0)[:, bins]
        inside, others = np.sum(rows, axis=(1, 2)), counts.counts.size - number
        within = np.append(np.ones(2 * len(middles)), 0.0)

        def apart(which: Places, hypotheses: Array) -> Array:
            of_bins = signs[which]
            of_classes = (halves - middles * of_bins, halves + (1.0 - middles) * of_bins)
            values = np.concatenate([*of_classes, of_bins[:, :1]], axis=1)
            return np.asarray(within * (values - hypotheses[:, None]))

        kinds = np.append(rows.reshape(len(rows), -1), (counts.n_samples - inside)[:, None], axis=1)
        self.hidden = float(np.max(halves))
        self._mean = MeansTest(counts, kinds, apart, np.append(cells[0], others), 0.5 * (1.0 - LEVEL))

    def too_small(self, hypotheses: Array) -> Mask:
        """Return whether calibration errors are refused as too small: they are below the lower ends."""
        # Larger errors explain more of what was seen: they are what a lower end has to reckon with.
        return self.larger.too_small((hypotheses + self.hidden) * self.total)

    def too_large(self, hypotheses: Array) -> Mask:
        """Return whether calibration errors are refused as too large: they are above the upper ends."""
        return np.asarray(self._mean(np.arange(len(hypotheses)), hypotheses)[1] <= 0.5 * (1.0 - LEVEL))

    def intervals(self) -> tuple[Array, Array]:
        """Return the lower and the upper ends."""
        low = np.clip(self.larger.low() / self.total - self.hidden, 0.0, 1.0)
        accepted, refused = np.minimum(self.sums.total / self.total, 1.0), np.ones(len(low))
        # What is seen may be more than there can be: then any sum can be.
        for _ in range(_HALVINGS):
            middle = 0.5 * (accepted + refused)
            more = self.too_large(middle)
            accepted, refused = np.where(more, accepted, middle), np.where(more, middle, refused)
        return low, np.maximum(low, refused)

    def values(self) -> Array:
        """Return estimates: noise alone reads as no error."""
        return np.asarray(np.minimum(self.sums.values() / self.total, 1.0))


def calibration_error(counts: NoisyCounts, ends: Array, groups: Sequence[int]) -> Figure:
    """Return the expected calibration error: the mean over rows of the distance between a bin's score and its share.

    Neighbouring bins are `joined`, so that at most ten are compared. The `ends` are those of all bins.

    Examples
    --------
    >>> counts = NoisyCounts((0.5,), np.array([[[6120, 711], [905, 2270]]]), "laplace", 4.0, 10_000)
    >>> print(calibration_error(counts, np.array([0.0, 0.5, 1.0]), [0]))
    0.0886 [0, 0.346] (sampling 0.0038, noise 0.00063, bins 0.17)
    """
    rows = np.sum(rebalanced(counts)[list(groups)], axis=0)
    return error_of(counts, rows, ends, np.array(float(len(groups))))


def error_of(counts: NoisyCounts, rows: Array, ends: Array, cells: Array) -> Figure:
    """Return the figure of one histogram (2 x bins) with bins of these ends, wherever in them scores lie."""
    middles, halves = 0.5 * (ends[:-1] + ends[1:]), 0.5 * np.diff(ends)
    plain, errors = (CalibrationErrors(counts, rows[None], middles, cells, each) for each in (0.0, halves))
    (low, high), (near, far) = errors.intervals(), plain.intervals()
    found = np.clip(errors.values(), low, high), low, high, errors.sampling, errors.noise
    value, lower, upper, sampling, noise = (float(each[0]) for each in found)
    hidden = max(0.5 * (upper - lower - float(far[0] - near[0])), 0.0)
    return Figure(value, lower, upper, sampling, noise, bins=hidden)
