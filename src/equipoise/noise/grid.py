"""Sums of numbers and ideal noise, rounded to a public grid without an error: the release of D7.

Noise is a multiple of drawn numbers of which digits are known (`lazy`). Where the known digits decide to which point of
the grid a sum is rounded, that is the answer; where they do not, more digits are drawn. So what comes out is a function
of the real sum, and whatever the real sum hides stays hidden, however coarse the grid.
"""

import math
import sys
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from equipoise.noise.lazy import Deviate

Array = NDArray[np.float64]

# The grid of released sums: 2^-40 of the scale, or a little less.
GRID_BITS = 40

# Of the multiple so many binary digits are used at first. Those of a word are multiplied exactly, beside whole parts
# below 8, so that products fit two words; for the others doubles are fine enough.
MULTIPLE_BITS, MULTIPLE_OF_A_WORD = 104, 61
MOST_WHOLE = 8
# As many digits of a fraction are known at first.
FRACTION_BITS = 63
# Doubles hold every whole number up to here, and twice as far; of words so much is used, and the sum of two is a word.
MOST_EXACT = 2**52
MOST_OF_A_WORD = 2**61
LAST_DOUBLE = sys.float_info.max
# What sums of a few doubles below 2 may be wrong by, and more.
DOUBLES = 2.0**-49


class Numbers(Protocol):
    """Drawn numbers, each of which can be asked for more digits."""

    def at(self, place: int) -> Deviate:
        """Return one of them; the same one every time."""

    def negative(self) -> NDArray[np.bool_]:
        """Return which of them are below 0."""


@dataclass(slots=True)
class ListedNumbers:
    """Drawn numbers, one by one.

    Examples
    --------
    >>> from equipoise.noise.lazy import Tape
    >>> ListedNumbers([Tape().normal()]).at(0).whole < 40
    True
    """

    numbers: list[Deviate]

    def at(self, place: int) -> Deviate:
        """Return one of them."""
        return self.numbers[place]

    def negative(self) -> NDArray[np.bool_]:
        """Return which of them are below 0."""
        return np.array([number.negative for number in self.numbers], dtype=np.bool_)


@dataclass(slots=True)
class Multiple:
    """A positive number that noise is multiplied with, between ``low`` and ``high`` times ``2^-places``.

    Examples
    --------
    >>> Multiple.exactly(Fraction(3, 4), 10)
    Multiple(low=768, high=768, places=10)
    """

    low: int
    high: int
    places: int

    @classmethod
    def exactly(cls, value: Fraction, places: int) -> "Multiple":
        """Return the enclosure of a known number, which is exact if it has no more binary digits."""
        scaled = value * 2**places
        return cls(math.floor(scaled), math.ceil(scaled), places)

    @classmethod
    def leading(cls, value: Fraction) -> "Multiple":
        """Return the enclosure in so many leading digits as the first look at sums takes."""
        return cls.exactly(value, leading_places(value, MULTIPLE_BITS))

    def of_a_word(self) -> tuple[int, int, float]:
        """Return its lower end as a whole number below ``2^61``, its places, and the rest, a double near it.

        Examples
        --------
        >>> Multiple(2**70 + 3, 2**70 + 4, 10).of_a_word()
        (1152921504606846976, 0, 0.0029296875)
        """
        places = leading_places(Fraction(self.low, 1 << self.places), MULTIPLE_OF_A_WORD)
        cut = max(0, self.places - places)
        leading = self.low >> cut
        return leading, self.places - cut, math.ldexp(float(self.low - (leading << cut)), -self.places)


def leading_places(value: Fraction, bits: int) -> int:
    """Return how many places behind the point a number of so many leading binary digits has, none of its own zeros.

    Examples
    --------
    >>> leading_places(Fraction(5, 2), 61), leading_places(Fraction(2**70), 61)
    (59, 0)
    """
    return max(0, min(bits - math.floor(value).bit_length(), bits - 1))


class Width(Protocol):
    """The multiple of a vector of noise: a number that is known, or one that was drawn."""

    def multiple(self) -> Multiple:
        """Return its leading digits."""

    def bounds(self) -> tuple[Fraction, Fraction]:
        """Return the ends of the interval in which it lies."""

    def extend(self) -> None:
        """Make that interval smaller, if it has a length."""


@dataclass(slots=True)
class KnownWidth:
    """A public scale, in steps of a grid."""

    value: Fraction

    def multiple(self) -> Multiple:
        """Return its leading digits."""
        return Multiple.leading(self.value)

    def bounds(self) -> tuple[Fraction, Fraction]:
        """Return it twice."""
        return self.value, self.value

    def extend(self) -> None:
        """Do nothing: all is known."""


def grid_of(scale: float) -> int:
    """Return the exponent of the grid: the largest power of 2 that is at most ``2^-40 scale``.

    Examples
    --------
    >>> grid_of(1.0), grid_of(3.0)
    (-40, -39)
    """
    return math.frexp(scale)[1] - 1 - GRID_BITS


def in_steps(scale: float, exponent: int) -> Fraction:
    """Return a scale in steps of a grid, exactly."""
    return Fraction(scale) / Fraction(2) ** exponent


def steps_to(value: float, exponent: int, width: Width, deviate: Deviate) -> int:
    """Return ``floor(value / grid + width k + 1/2)`` for a drawn number k, with as many digits as that takes."""
    start = in_steps(value, exponent) + Fraction(1, 2)
    while True:
        (least, most), (near, far) = width.bounds(), deviate.bounds()
        small, large = (-most * far, -least * near) if deviate.negative else (least * near, most * far)
        if math.floor(start + small) == math.floor(start + large):
            return math.floor(start + small)
        # Of the interval's two shares the larger one is made smaller: a drawn width stands behind many sums, and is
        # soon known better than their numbers.
        if (most - least) * far > least * (far - near):
            width.extend()
        else:
            deviate.extend()


def nearest_double(steps: int, exponent: int) -> float:
    """Return the double next to a point of the grid: beyond all doubles it is the last one.

    Examples
    --------
    >>> nearest_double(3, -1), nearest_double(-3, 1023) == -LAST_DOUBLE
    (1.5, True)
    """
    try:
        return float(steps * Fraction(2) ** exponent)
    except OverflowError:
        return LAST_DOUBLE if steps > 0 else -LAST_DOUBLE


@dataclass(slots=True)
class GridNoise:
    """Noise for many sums, in steps of a grid: ``wholes + parts``, each right to `margin`, or no number in `parts`.

    Parameters
    ----------
    exponent : int
        The grid has the spacing ``2^exponent``.
    wholes, parts : array of doubles
        The noise rounded down, and what that left out, in [0, 1]. Whole parts that doubles may not hold are integers.
    margin : float
        What `parts` may be wrong by.
    numbers, width :
        What the noise is the product of.
    """

    exponent: int
    wholes: Array | NDArray[np.int64]
    parts: Array
    margin: float
    numbers: Numbers
    width: Width

    @classmethod
    def of_doubles(cls, noise: Array, scale: float) -> "GridNoise":
        """Return noise of a scale that was drawn in double precision: as it is, it decides every sum.

        Examples
        --------
        >>> GridNoise.of_doubles(np.array([0.25, -1.5]), 1.0).sums(np.ones(2)).tolist()
        [1.25, -0.5]
        """
        exponent = grid_of(scale)
        steps = np.ldexp(noise, -exponent)
        wholes = np.floor(steps)
        return cls(exponent, wholes, steps - wholes, -1.0, ListedNumbers([]), KnownWidth(in_steps(scale, exponent)))

    def sums(self, values: Array) -> Array:
        """Return finite values plus noise, each rounded to the grid and then to a double.

        The noise is drawn already: another call adds the same, and the difference of two such sums has none. So
        whoever releases asks the source for new noise every time.
        """
        with np.errstate(all="ignore"):
            scaled = np.ldexp(values, -self.exponent)
            nearest = np.rint(scaled)
            carried = scaled - nearest + 0.5 + self.parts
            decided = np.abs(carried - np.rint(carried)) > self.margin
            steps: Array = np.asarray(nearest + (self.wholes + np.floor(carried)), dtype=np.float64)
            if self.wholes.dtype == np.int64:
                decided &= np.abs(nearest) < MOST_OF_A_WORD
                near, carries = (np.where(decided, each, 0.0) for each in (nearest, np.floor(carried)))
                # A word holds the sum, and is rounded once.
                steps = (self.wholes + (near.astype(np.int64) + carries.astype(np.int64))).astype(np.float64)
            sums = np.ldexp(steps, self.exponent)
            np.clip(sums, -LAST_DOUBLE, LAST_DOUBLE, out=sums)
        for place in np.flatnonzero(~decided):
            sums[place] = self.settled(int(place), float(values[place]))
        return sums

    def settled(self, place: int, value: float) -> float:
        """Return one of these sums, whatever digits it takes."""
        steps = steps_to(value, self.exponent, self.width, self.numbers.at(place))
        return nearest_double(steps, self.exponent)


def margin_of(multiple: Multiple) -> float:
    """Return what 63 digits and a multiple's interval leave open, for whole parts below 8, and what doubles lose."""
    unknown = multiple.low / 2**FRACTION_BITS + MOST_WHOLE * (multiple.high - multiple.low)
    return math.ldexp(unknown, -multiple.places) + DOUBLES


def listed_noise(numbers: ListedNumbers, width: Width, exponent: int) -> GridNoise:
    """Return numbers that were drawn one by one, times a width, as noise on a grid."""
    multiple, count = width.multiple(), len(numbers.numbers)
    noise = GridNoise(exponent, np.zeros(count), np.full(count, np.nan), margin_of(multiple), numbers, width)
    for place, number in enumerate(numbers.numbers):
        bits = multiple.places + number.fraction.bits
        product = multiple.low * ((number.whole << number.fraction.bits) + number.fraction.value)
        step, part = product >> bits, math.ldexp(float(product & ((1 << bits) - 1)), -bits)
        if number.whole < MOST_WHOLE and step < MOST_EXACT:
            noise.wholes[place] = -step - 1 if number.negative else step
            noise.parts[place] = 1.0 - part if number.negative else part
    return noise
