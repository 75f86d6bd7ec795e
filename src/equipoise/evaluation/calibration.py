"""How far scores are from the shares that they announce, over all bins."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from equipoise.evaluation.figure import LEVEL, Figure
from equipoise.evaluation.histogram import NoisyCounts
from equipoise.evaluation.noise_law import fourth_cumulant, variance
from equipoise.evaluation.shares import rebalanced

Array = NDArray[np.float64]

# Bins are joined until there are at most so many, and so many rows for each on average: a bin with less than the size
# of its own error tells nothing of calibration, and every one adds the size of its error to the sum.
MOST_BINS, ROWS_A_BIN = 10, 40

# Half a row may be expected in a bin in which none was seen.
UNSEEN = 0.5

# A difference of fewer deviations may be none at all: Laplace noise alone shows more in 1.4 % of bins.
MAY_BE_NOTHING = 3.0

_HALVINGS = 50
# An upper end is looked for until each difference is so many deviations larger than it was seen.
_FARTHEST = 60.0
# A difference of so many deviations has its sign for certain: errors add nothing to its absolute value.
_CERTAIN = 8.0
# Parts of a variance are estimated apart, and their sum is no less than this share of that of the noise.
_LEAST = 0.1
# What rows have in common leaves a difference at least so much of the sum of squares of its rows, and of noise.
_LEFT = 0.001


class Errors(NamedTuple):
    """Errors of differences, each a sum over rows and noise (questions x differences, if nothing else is said).

    Parameters
    ----------
    sampled : array
        The sum of squares of the values of rows in each.
    drawn : array
        The variance of the noise in each.
    fourth : array
        The fourth cumulant of both.
    leaning : array
        By how much each moves with a deviation of what rebalancing takes off all cells.
    whole : float
        The variance of the noise in the number of rows, which is 0 where that is public.
    with_whole : array
        The covariance of that noise and each difference's.
    """

    sampled: Array
    drawn: Array
    fourth: Array
    leaning: Array
    whole: float
    with_whole: Array


class AbsoluteSums:
    """Intervals for sums of absolute differences, each of which was seen with an error.

    Parameters
    ----------
    seen : array, questions x differences
    errors : Errors
    rows : array
        How many rows were dealt to all differences, which are sums of values of rows.

    Notes
    -----
    What is seen has a larger sum than the truth, because errors that are added to nothing have a size. A hypothesis
    about the sum says nothing of how it is made up, on which this surplus depends: about 0.8 deviations for every
    difference that is nothing, next to none for one whose sign is certain. So it is tested where it is hardest to
    refuse among what the counts leave possible:

    - *from below* (is the truth so small, where so much was seen?) the surplus counts, and is the larger the more
      differences are nothing: all that `MAY_BE_NOTHING` are, and the others make up the sum (as in tests of moment
      inequalities, Andrews and Soares, Econometrica 78, 2010);
    - *from above* at the differences that have this sum and are nearest to those seen, where those of uncertain sign
      are larger than they were seen, and have little surplus.

    There the sum of absolute values that would be seen has the mean, variance and third cumulant of folded normal
    numbers, with Edgeworth's terms for the fourth cumulant, and its tails are those of Cornish and Fisher. Errors are
    not independent: a row of one bin is missing in the others, and rebalancing moves all; a covariance of two
    differences is that of their absolute values times the means of both signs (Price). Where all rows lie in bins of
    certain sign, and are worth the same, sampling so adds nothing at all. A sum over a number of rows that is known up
    to noise is tested as a ratio, by ``sum - hypothesis * rows``. Coverage is measured, not proved.
    """

    def __init__(self, seen: Array, errors: Errors, rows: Array) -> None:
        self.errors, self.rows, self.size = errors, rows[:, None], np.abs(seen)
        side = np.where(seen < 0.0, -1.0, 1.0)
        self.total, self.leaning, self.with_whole = (
            np.sum(self.size, axis=1),
            side * errors.leaning,
            side * errors.with_whole,
        )
        deviations = np.sqrt(self._variances(self.size))
        self.nothing = self.size < MAY_BE_NOTHING * deviations
        known = np.asarray(2.0 * ndtr(self.size / deviations) - 1.0)
        # How much each difference has in common with the sum: so much it moves where another sum is supposed.
        together = self.size * np.sum(known * self.size, axis=1, keepdims=True) / self.rows
        together += self.leaning * np.sum(known * self.leaning, axis=1, keepdims=True)
        alone = errors.sampled + errors.drawn
        self.steps = np.maximum(alone - together, _LEFT * alone + 1e-9)

    def _variances(self, true: Array) -> Array:
        sampled = np.maximum(self.errors.sampled - true**2 / self.rows, 0.0)
        left = _LEFT * (self.errors.sampled + self.errors.drawn) + 1e-9
        return np.asarray(np.maximum(sampled + self.errors.drawn - self.errors.leaning**2, left))

    def nearest(self, threshold: Array) -> Array:
        """Return the differences, in absolute value, that a threshold leaves."""
        return np.asarray(np.maximum(self.size - threshold[:, None] * self.steps, 0.0))

    def emptiest(self, threshold: Array) -> Array:
        """Return differences of the same sum, of which all that may be nothing are."""
        nearest = self.nearest(threshold)
        kept = np.where(self.nothing, 0.0, nearest)
        left, whole = (np.sum(each, axis=1, keepdims=True) for each in (kept, nearest))
        return np.where(left > 0.0, kept * whole / np.where(left > 0.0, left, 1.0), nearest)

    def surplus(self, true: Array, level: float) -> Array:
        """Return by how many deviations the sum that was seen exceeds what these differences would show.

        Where a normal number is above `level` with some chance, this is with about the same.
        """
        errors, variances = self.errors, self._variances(true)
        deviations = np.sqrt(variances)
        scaled, excess = np.minimum(true / deviations, _CERTAIN), errors.fourth / variances**2
        density, known = np.exp(-0.5 * scaled**2) / np.sqrt(2.0 * np.pi), 2.0 * ndtr(scaled) - 1.0
        # With a fourth cumulant the mean of g(x + scaled) has a further g''''/24 of it: for |.| and |.|^3 of densities.
        mean = 2.0 * density + scaled * known + excess / 12.0 * (scaled**2 - 1.0) * density
        cube = (scaled**3 + 3.0 * scaled) * known + (2.0 * (scaled**2 + 2.0) + 0.5 * excess) * density
        third = deviations**3 * (cube - 3.0 * mean * (1.0 + scaled**2) + 2.0 * mean**3)
        spread = np.sum(variances * np.maximum(1.0 + scaled**2 - mean**2, _LEAST), axis=1)
        for common in (true / np.sqrt(self.rows), self.leaning):
            spread -= np.sum(known * common, axis=1) ** 2 - np.sum((known * common) ** 2, axis=1)
        share = np.sum(true, axis=1) / self.rows[:, 0]
        spread += share**2 * errors.whole - 2.0 * share * np.sum(known * self.with_whole, axis=1)
        spread = np.sqrt(np.maximum(spread, _LEAST * np.sum(errors.drawn, axis=1) + 1e-9))
        skewed, heavy = (np.sum(third, axis=1) / spread**3, np.sum(known * errors.fourth, axis=1) / spread**4)
        apart = self.total - np.sum(true + deviations * (mean - scaled), axis=1)
        return np.asarray(apart / spread - (level**2 - 1.0) / 6.0 * skewed - (level**3 - 3.0 * level) / 24.0 * heavy)

    def _reached(self, level: float, supposed: Callable[[Array], Array]) -> Array:
        """Return the least sum of the differences supposed at which what was seen is not above `level`."""
        low = -_FARTHEST / np.sqrt(np.min(self.steps, axis=1))
        high = np.max(self.size / self.steps, axis=1)
        nothing = self.surplus(np.zeros_like(self.size), level) <= level
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            more = self.surplus(supposed(middle), level) > level
            low, high = np.where(more, low, middle), np.where(more, middle, high)
        return np.where(nothing, 0.0, np.sum(supposed(0.5 * (low + high)), axis=1))

    def low(self) -> Array:
        """Return the lower ends of intervals."""
        return self._reached(float(ndtri(0.5 + 0.5 * LEVEL)), self.emptiest)

    def high(self) -> Array:
        """Return the upper ends."""
        return self._reached(-float(ndtri(0.5 + 0.5 * LEVEL)), self.nearest)

    def values(self) -> Array:
        """Return the sums under which what was seen is what was to be expected."""
        return self._reached(0.0, self.nearest)


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
    """

    def __init__(self, counts: NoisyCounts, rows: Array, middles: Array, cells: Array) -> None:
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

    def intervals(self) -> tuple[Array, Array]:
        """Return the lower and the upper ends."""
        # Larger errors explain more of what was seen: they are what a lower end has to reckon with.
        low, high = self.larger.low(), self.sums.high()
        return np.minimum(low / self.total, 1.0), np.minimum(high / self.total, 1.0)

    def values(self) -> Array:
        """Return estimates: noise alone reads as no error."""
        return np.asarray(np.minimum(self.sums.values() / self.total, 1.0))


def calibration_error(counts: NoisyCounts, middles: Array, groups: Sequence[int]) -> Figure:
    """Return the expected calibration error: the mean over rows of the distance between a bin's score and its share.

    Neighbouring bins are `joined`, so that at most ten are compared.

    Examples
    --------
    >>> counts = NoisyCounts((0.5,), np.array([[[6120, 711], [905, 2270]]]), "laplace", 4.0, 10_000)
    >>> print(calibration_error(counts, np.array([0.25, 0.75]), [0]))
    0.0886 [0.08034, 0.09592] (sampling 0.0038, noise 0.00063)
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
