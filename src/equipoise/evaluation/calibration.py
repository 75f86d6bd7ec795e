"""How far scores are from the shares that they announce, over all bins."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from equipoise.evaluation.figure import LEVEL, Figure
from equipoise.evaluation.histogram import NoisyCounts
from equipoise.evaluation.noise_law import fourth_cumulant, variance
from equipoise.evaluation.shares import SharesTest, rebalanced

Array = NDArray[np.float64]

# Bins are joined until there are at most so many, and so many rows for each on average: a bin with less than the size
# of its own error tells nothing of calibration, and every one adds the size of its error to the sum.
MOST_BINS, ROWS_A_BIN = 10, 40

# Half a row may be expected in a bin in which none was seen.
UNSEEN = 0.5

_HALVINGS = 50
# An upper end is looked for until each difference is so many deviations larger than it was seen.
_FARTHEST = 60.0


class Errors(NamedTuple):
    """Second and fourth cumulants of the errors of differences (questions x differences)."""

    variance: Array
    fourth: Array


class AbsoluteSums:
    """Intervals for sums of absolute differences, each of which was seen with an error.

    Parameters
    ----------
    seen : array, questions x differences
    errors : Errors
        Of sampling and noise together.
    rows : array
        How many rows were dealt to all differences, which are sums of values of rows.

    Notes
    -----
    What is seen has a larger sum than the truth, because errors that are added to nothing have a size. A hypothesis
    about the sum is tested at the differences that have this sum and are nearest to those seen, in their deviations: at
    ``max(|seen| - threshold deviation^2, 0)``. There the sum of absolute values that would be seen has a mean and a
    variance, those of folded normal numbers with Edgeworth's term for the fourth cumulant, and is taken as normal.
    Coverage is measured, not proved.
    """

    def __init__(self, seen: Array, errors: Errors, rows: Array) -> None:
        self.size, self.deviations = np.abs(seen), np.sqrt(np.maximum(errors.variance, 1e-300))
        self.excess = errors.fourth / self.deviations**4
        self.total, self.rows = np.sum(self.size, axis=1), rows

    def nearest(self, threshold: Array) -> Array:
        """Return the differences, in absolute value, that a threshold leaves."""
        return np.asarray(np.maximum(self.size - threshold[:, None] * self.deviations**2, 0.0))

    def surplus(self, true: Array) -> Array:
        """Return by how many deviations the sum that was seen exceeds what these differences would show."""
        scaled = true / self.deviations
        density = np.exp(-0.5 * scaled**2) / np.sqrt(2.0 * np.pi)
        mean = 2.0 * density + scaled * (2.0 * ndtr(scaled) - 1.0)
        # The mean of |x + scaled| has the fourth derivative 2 density''.
        mean += self.excess / 12.0 * (scaled**2 - 1.0) * density
        spread = np.sum(self.deviations**2 * np.maximum(1.0 + scaled**2 - mean**2, 0.1), axis=1)
        # Rows in one bin are missing in the others: what is certain of the sum does not vary.
        spread = np.maximum(spread - np.sum(true, axis=1) ** 2 / self.rows, 0.1 * spread)
        return np.asarray((self.total - np.sum(self.deviations * mean, axis=1)) / np.sqrt(spread))

    def _reached(self, surplus: float) -> Array:
        """Return the least sum of nearest differences at which what was seen is not so many deviations too large."""
        low = -_FARTHEST / np.min(self.deviations, axis=1)
        high = np.max(self.size / self.deviations**2, axis=1)
        nothing = self.surplus(np.zeros_like(self.size)) <= surplus
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            more = self.surplus(self.nearest(middle)) > surplus
            low, high = np.where(more, low, middle), np.where(more, middle, high)
        return np.where(nothing, 0.0, np.sum(self.nearest(0.5 * (low + high)), axis=1))

    def low(self) -> Array:
        """Return the lower ends of intervals."""
        return self._reached(float(ndtri(0.5 + 0.5 * LEVEL)))

    def high(self) -> Array:
        """Return the upper ends."""
        return self._reached(-float(ndtri(0.5 + 0.5 * LEVEL)))

    def values(self) -> Array:
        """Return the sums under which what was seen is what was to be expected."""
        return self._reached(0.0)


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
        How many cells were summed. If there are others, how many rows these have is known up to noise, and the ends of
        its interval are taken (Berger and Boos, as for shares).
    """

    def __init__(self, counts: NoisyCounts, rows: Array, middles: Array, cells: Array) -> None:
        bins = joined(len(middles), counts.n_samples)
        place = np.eye(int(bins[-1]) + 1)[bins]
        cells = np.broadcast_to(cells, rows.shape)

        def summed(first: Array, power: int) -> Array:
            return np.asarray(((1.0 - middles) ** power * first[:, 1] + middles**power * first[:, 0]) @ place)

        seen = (rows[:, 1] - middles * np.sum(rows, axis=1)) @ place
        sampled, drawn = np.maximum(summed(rows, 2), 0.0), summed(cells, 2) * variance(counts.law, counts.scale)
        fourth = np.maximum(summed(rows, 4), 0.0) + summed(cells, 4) * fourth_cumulant(counts.law, counts.scale)
        number = float(np.sum(cells[0]))
        whole = np.tile([number, 0.0, counts.counts.size - number], (len(rows), 1))
        total = np.sum(rows, axis=(1, 2))
        size = SharesTest(counts, total, total, whole)
        self.total, self.fewest, self.most = (np.maximum(each, 1.0) for each in (size.whole, size.fewest, size.most))
        self.sums, self.larger = (
            AbsoluteSums(seen, Errors(sampled + drawn + unseen, fourth), self.total) for unseen in (0.0, UNSEEN)
        )
        self.sampling, self.noise = (np.sqrt(np.sum(part, axis=1)) / self.total for part in (sampled, drawn))

    def intervals(self) -> tuple[Array, Array]:
        """Return the lower and the upper ends."""
        # Larger errors explain more of what was seen: they are what a lower end has to reckon with.
        low, high = self.larger.low(), self.sums.high()
        return np.minimum(low / self.most, 1.0), np.minimum(high / self.fewest, 1.0)

    def values(self) -> Array:
        """Return estimates: noise alone reads as no error."""
        return np.minimum(self.sums.values() / self.total, 1.0)


def calibration_error(counts: NoisyCounts, middles: Array, groups: Sequence[int]) -> Figure:
    """Return the expected calibration error: the mean over rows of the distance between a bin's score and its share.

    Neighbouring bins are `joined`, so that at most ten are compared.

    Examples
    --------
    >>> counts = NoisyCounts((0.5,), np.array([[[6120, 711], [905, 2270]]]), "laplace", 4.0, 10_000)
    >>> print(calibration_error(counts, np.array([0.25, 0.75]), [0]))
    0.08855 [0.08091, 0.09595] (sampling 0.0038, noise 0.00063)
    """
    rows = np.sum(rebalanced(counts)[list(groups)], axis=0)
    return error_of(CalibrationErrors(counts, rows[None], middles, np.array(float(len(groups)))))


def error_of(errors: CalibrationErrors, hidden: float = 0.0) -> Figure:
    """Return the figure of one histogram; `hidden` is how far a score may lie from the middle of its bin.

    So far at most the error of the scores themselves is from that of the middles, for every row adds no more.
    """
    low, high = errors.intervals()
    found = np.clip(errors.values(), low, high), np.maximum(low - hidden, 0.0), np.minimum(high + hidden, 1.0)
    value, lower, upper, sampling, noise = (float(each[0]) for each in (*found, errors.sampling, errors.noise))
    return Figure(value, lower, upper, sampling, noise, bins=hidden)
