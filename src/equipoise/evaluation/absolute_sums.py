"""How small a sum of absolute differences may be, each of which was seen with an error."""

from copy import copy
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from equipoise.evaluation.figure import LEVEL

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Places = NDArray[np.intp]

# A difference of fewer deviations may be none at all: errors alone show more in 0.3 % of bins. So many more it takes
# for a fourth cumulant: 4.2 and 3.7 deviations for the noise of one cell, and of two, by Laplace's law.
MAY_BE_NOTHING, HEAVIER = 3.0, 0.4

_HALVINGS = 40
# A difference of so many deviations has its sign for certain: errors add nothing to its absolute value.
_CERTAIN = 8.0
# Parts of a variance are estimated apart, and their sum is no less than this share of that of the noise.
_LEAST = 0.1
# The next term in a fourth cumulant: with it a number of Laplace's law has its mean size, 1/sqrt(2) of a deviation.
_CURVED = 0.03
# Such terms are of numbers that vary. Where a bin has neither rows nor noise to speak of they would grow beyond bounds:
# they count up to twice what a number of Laplace's law has. A lower end, which supposes half a row there, has no more.
_HEAVIEST, _NO_ERROR = 6.0, 1e-150
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
    """Tests of whether sums of absolute differences are so small, where so much was seen.

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
    difference that is nothing, next to none for one whose sign is certain. The chance of less than so large a sum is
    log-concave in the differences, if errors are normal: over all differences of one sum it is smallest at a corner,
    where one difference is all of it and the others are nothing (and smaller yet for a larger sum, Anderson). So it is
    tested there, at the corner that is hardest to refuse; unless the counts leave some differences certain, that is
    larger than `MAY_BE_NOTHING`: those then make up the sum, in the proportions that were seen (as in tests of moment
    inequalities, Andrews and Soares, Econometrica 78, 2010).

    At the differences supposed the sum of absolute values that would be seen has the mean, variance and third cumulant
    of folded normal numbers, with Edgeworth's terms for the fourth cumulant, and its upper tail is that of Cornish and
    Fisher. Errors are not independent: a row of one bin is missing in the others, and rebalancing moves all; a
    covariance of two differences is that of their absolute values times the means of both signs (Price). Where all
    rows lie in bins of certain sign, and are worth the same, sampling so adds nothing at all. A sum over a number of
    rows that is known up to noise is tested as a ratio, by ``sum - hypothesis * rows``. Coverage is measured, not
    proved.

    An upper end (`CalibrationErrors`) is wrong in half of the error at most, and where signs are uncertain hardly ever:
    with what was seen no sum is smaller than a deviation or two below it. What it leaves of the error is the lower
    end's.
    """

    def __init__(self, seen: Array, errors: Errors, rows: Array) -> None:
        self.errors, self.rows, self.size = errors, rows[:, None], np.abs(seen)
        side = np.where(seen < 0.0, -1.0, 1.0)
        self.total, self.leaning, self.with_whole = (
            np.sum(self.size, axis=1),
            side * errors.leaning,
            side * errors.with_whole,
        )

    def _at(self, which: Places) -> "AbsoluteSums":
        """Return the tests of these questions."""
        found = copy(self)
        sampled, drawn, fourth, leaning = (np.broadcast_to(each, self.size.shape)[which] for each in self.errors[:4])
        found.errors = Errors(sampled, drawn, fourth, leaning, self.errors.whole, self.errors.with_whole)
        found.rows, found.size, found.total = self.rows[which], self.size[which], self.total[which]
        found.leaning, found.with_whole = self.leaning[which], self.with_whole[which]
        return found

    def _variances(self, true: Array) -> Array:
        sampled = np.maximum(self.errors.sampled - true**2 / self.rows, 0.0)
        left = _LEFT * (self.errors.sampled + self.errors.drawn) + 1e-9
        return np.asarray(np.maximum(sampled + self.errors.drawn - self.errors.leaning**2, left))

    def _spread(self, true: Array, alone: Array, known: Array) -> Array:
        """Return the deviation of a sum, from variances of its parts `alone` and the means of their signs."""
        spread = np.sum(alone, axis=1)
        for common in (true / np.sqrt(self.rows), self.leaning):
            spread -= np.sum(known * common, axis=1) ** 2 - np.sum((known * common) ** 2, axis=1)
        share = np.sum(true, axis=1) / self.rows[:, 0]
        spread += share**2 * self.errors.whole - 2.0 * share * np.sum(known * self.with_whole, axis=1)
        return np.asarray(np.sqrt(np.maximum(spread, _LEAST * np.sum(self.errors.drawn, axis=1) + 1e-9)))

    def surplus(self, true: Array, error: float | None = None) -> Array:
        """Return by how many deviations the sum that was seen exceeds what these differences would show.

        Less the number of them that it exceeds with a chance of `error` less that of an upper end's, if one is given.
        """
        errors, variances = self.errors, self._variances(true)
        deviations = np.sqrt(variances)
        scaled = np.minimum(true / deviations, _CERTAIN)
        alone = np.maximum(errors.sampled + errors.drawn, _NO_ERROR)
        excess = np.minimum(errors.fourth / alone**2, _HEAVIEST)
        density, known = np.exp(-0.5 * scaled**2) / np.sqrt(2.0 * np.pi), 2.0 * ndtr(scaled) - 1.0
        # With a fourth cumulant the mean of g(x + scaled) has a further g''''/24 of it: for |.| and |.|^3 of densities.
        folded = excess / 12.0 * np.maximum(1.0 - _CURVED * excess, 0.5)
        mean = 2.0 * density + scaled * known + folded * (scaled**2 - 1.0) * density
        cube = (scaled**3 + 3.0 * scaled) * known + (2.0 * (scaled**2 + 2.0) + 0.5 * excess) * density
        third = deviations**3 * (cube - 3.0 * mean * (1.0 + scaled**2) + 2.0 * mean**3)
        spread = self._spread(true, variances * np.maximum(1.0 + scaled**2 - mean**2, _LEAST), known)
        skewed, heavy = (np.sum(third, axis=1) / spread**3, np.sum(known * errors.fourth, axis=1) / spread**4)
        added = np.sum(deviations * (mean - scaled), axis=1)
        apart = (self.total - np.sum(true, axis=1) - added) / spread
        if error is None:
            return np.asarray(apart + skewed / 6.0)
        # An upper end misses this sum where so little is seen, which a normal tail overstates: surpluses are skewed.
        linear = self._spread(true, variances, np.ones_like(true))
        above = np.minimum(ndtr(-(added + float(ndtri(1.0 - 0.5 * error)) * linear) / spread), 0.5 * error)
        level = -ndtri(error - above)
        # What rows have in common makes their fourth cumulant smaller than the sum over bins: it may make a tail
        # longer, and never shorter.
        tail = level + (level**2 - 1.0) / 6.0 * skewed + np.maximum(level**3 - 3.0 * level, 0.0) / 24.0 * heavy
        return np.asarray(apart - tail)

    def nearest(self, threshold: Array) -> Array:
        """Return the differences, in absolute value, that a threshold leaves of those seen."""
        return np.asarray(np.maximum(self.size - threshold[:, None] * self._steps, 0.0))

    @cached_property
    def _steps(self) -> Array:
        """How much each difference has not in common with the sum: so much it moves where another sum is supposed."""
        known = np.asarray(2.0 * ndtr(self.size / np.sqrt(self._variances(self.size))) - 1.0)
        together = self.size * np.sum(known * self.size, axis=1, keepdims=True) / self.rows
        together += self.leaning * np.sum(known * self.leaning, axis=1, keepdims=True)
        alone = self.errors.sampled + self.errors.drawn
        return np.asarray(np.maximum(alone - together, _LEFT * alone + 1e-9))

    def values(self) -> Array:
        """Return the sums of the nearest differences under which what was seen is what was to be expected."""
        low, high = np.zeros(len(self.size)), np.max(self.size / self._steps, axis=1)
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            more = self.surplus(self.nearest(middle)) > 0.0
            low, high = np.where(more, low, middle), np.where(more, middle, high)
        return np.asarray(np.sum(self.nearest(high), axis=1))

    @cached_property
    def _corners(self) -> tuple[Places, Array, "AbsoluteSums"]:
        """Which question each of the corners that are tried belongs to, its share of the sum, and its tests."""
        number = self.size.shape[1]
        variances = self._variances(self.size)
        least = (MAY_BE_NOTHING + HEAVIER * self.errors.fourth / variances**2) * np.sqrt(variances)
        certain = np.where(self.size >= least, self.size, 0.0)
        whole = np.sum(certain, axis=1, keepdims=True)
        some, none = np.flatnonzero(whole[:, 0] > 0.0), np.flatnonzero(whole[:, 0] == 0.0)
        which = np.concatenate([some, np.repeat(none, number)])
        parts = np.concatenate([certain[some] / whole[some], np.tile(np.eye(number), (len(none), 1))])
        return which, parts, self._at(which)

    def too_small(self, sums: Array, error: float = 1.0 - LEVEL) -> Mask:
        """Return whether so much was seen that no differences of these sums would show it.

        That happens, for the true sum, with a chance of `error` less that with which an upper end is below it.
        """
        which, parts, tests = self._corners
        possible = tests.surplus(sums[which, None] * parts, error) <= 0.0
        return np.asarray(np.bincount(which, possible, len(sums)) == 0.0)

    def low(self) -> Array:
        """Return the lower ends of intervals: the least sums that are not too small."""
        low, high = np.zeros(len(self.size)), self.total
        nothing = ~self.too_small(low)
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            more = self.too_small(middle)
            low, high = np.where(more, middle, low), np.where(more, high, middle)
        return np.where(nothing, 0.0, low)
