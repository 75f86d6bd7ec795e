"""The draws of `lazy`, compiled, on the words of a cryptographic stream: normal and exponential numbers in bulk (D7).

A draw is a whole part, 63 binary digits of a fraction and a sign. Where 32 digits do not decide a comparison, the draw
is not made here but by `lazy`, from the same words. This module is imported when much noise is drawn and not before: it
loads Numba and the cipher.
"""

import math
import secrets
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.kept_loops import compiled
from equipoise.noise.grid import (
    FRACTION_BITS,
    MOST_EXACT,
    MOST_OF_A_WORD,
    MOST_WHOLE,
    GridNoise,
    Width,
    margin_of,
)
from equipoise.noise.lazy import Deviate, Tape, Uniform, fresh_word
from equipoise.noise.stream import CipherStream

Words = NDArray[np.uint32]
Wholes = NDArray[np.int64]
Digits = NDArray[np.uint64]
# A number of 64 bits with or without a sign: of Python's whole numbers Numba would make doubles among them.
Word = Any
Array = NDArray[np.float64]

# A key serves this many numbers, some 2^18 blocks of the cipher (D7, "coins").
NUMBERS_OF_A_KEY = 2**16
# Words are made in pieces that stay in the cache until they are used.
PIECE = 2**15

# What a compiled part can answer instead of yes and no: a comparison that its digits do not decide, or no words left.
NO, YES, UNDECIDED, OUT = 0, 1, 2, 3


class Draws(NamedTuple):
    """Drawn numbers: whole parts, and 63 digits of the fraction with the sign as last bit; a few are known better."""

    wholes: Wholes
    digits: Digits
    known: dict[int, Deviate]

    def at(self, place: int) -> Deviate:
        """Return one of them, to be continued with the operating system's digits; the same one every time."""
        if place not in self.known:
            digits = int(self.digits[place])
            fraction = Uniform(digits >> 1, FRACTION_BITS)
            self.known[place] = Deviate(int(self.wholes[place]), fraction, bool(digits & 1))
        return self.known[place]

    def total(self) -> tuple[int, int]:
        """Return the sum of the digits of all that nothing more is known of, and which place the last digits have."""
        plain = self.wholes >= 0
        fractions = self.digits[plain] >> np.uint64(1)
        upper, lower = (int(part.sum()) for part in (fractions >> np.uint64(32), fractions & np.uint64(0xFFFFFFFF)))
        return (int(self.wholes[plain].sum()) << FRACTION_BITS) + (upper << 32) + lower, FRACTION_BITS

    def negative(self) -> NDArray[np.bool_]:
        """Return which of them are below 0."""
        return (self.digits & np.uint64(1)).astype(np.bool_)


@compiled
def falling_run(words: Words, used: int, last: Word, even: bool) -> tuple[int, int]:
    """Return whether the run of words that fall from `last` on is even, and how many words are used by then."""
    while True:
        if used == len(words):
            return OUT, used
        following = np.int64(words[used])
        used += 1
        if following == last:
            return UNDECIDED, used
        if following > last:
            return (YES if even else NO), used
        last, even = following, not even


@compiled
def half_coin(words: Words, used: int) -> tuple[int, int]:
    """Toss a coin of ``exp(-1/2)``."""
    if used == len(words):
        return OUT, used
    first = np.int64(words[used])
    if first >= 2**31:
        return YES, used + 1
    return falling_run(words, used + 1, first, False)


@compiled
def tilted_coin(words: Words, used: int, whole: int, fraction: Word) -> tuple[int, int]:
    """Toss a coin of ``exp(-x (2k + x) / (2k + 2))``."""
    last, even, sides = fraction, True, 2 * whole + 2
    while True:
        if used + 2 > len(words):
            return OUT, used
        following, share = np.int64(words[used]), np.int64(words[used + 1]) * sides
        used += 1
        if following == last:
            return UNDECIDED, used
        if following > last:
            return (YES if even else NO), used
        used += 1
        side, rest = share >> 32, share & 0xFFFFFFFF
        # The word stands for an interval, `sides` long after the product: it must lie on one side of 2k + x.
        if rest + sides > 2**32 or (side == 2 * whole and rest <= fraction < rest + sides):
            return UNDECIDED, used
        if side > 2 * whole or (side == 2 * whole and rest > fraction):
            return (YES if even else NO), used
        last, even = following, not even


@compiled
def normal_trial(words: Words, used: int) -> tuple[int, int, int, Word]:
    """Return whether a number was found, the words used, its whole part, and the first digits of its fraction."""
    whole = 0
    coin, used = half_coin(words, used)
    while coin == YES:
        whole += 1
        coin, used = half_coin(words, used)
    if coin != NO:
        return coin, used, 0, 0
    for _ in range(whole * (whole - 1)):
        coin, used = half_coin(words, used)
        if coin != YES:
            return coin, used, 0, 0
    if used == len(words):
        return OUT, used, 0, 0
    fraction = np.int64(words[used])
    used += 1
    for _ in range(whole + 1):
        coin, used = tilted_coin(words, used, whole, fraction)
        if coin != YES:
            return coin, used, 0, 0
    return YES, used, whole, fraction


@compiled
def exponential_trial(words: Words, used: int) -> tuple[int, int, int, Word]:
    """Return whether a number below 1 was found, the words used, 0, and its first digits."""
    if used == len(words):
        return OUT, used, 0, 0
    fraction = np.int64(words[used])
    coin, used = falling_run(words, used + 1, fraction, True)
    return coin, used, 0, fraction


@compiled
def fill_normals(words: Words, wholes: Wholes, digits: Digits, filled: int) -> tuple[int, int, bool]:
    """Fill arrays while words last and decide; return how many they hold, the words used, and whether words decided.

    A draw that cannot be ended is not begun.
    """
    used = 0
    while filled < len(wholes):
        coin, here, whole, fraction = normal_trial(words, used)
        while coin == NO:
            coin, here, whole, fraction = normal_trial(words, here)
        if coin != YES or here == len(words):
            return filled, used, coin != UNDECIDED
        wholes[filled], digits[filled] = whole, np.uint64(fraction) << np.uint64(32) | np.uint64(words[here])
        filled, used = filled + 1, here + 1
    return filled, used, True


@compiled
def fill_exponentials(words: Words, wholes: Wholes, digits: Digits, filled: int) -> tuple[int, int, bool]:
    """Fill arrays as `fill_normals` does; the whole part is the number of trials that found nothing."""
    used = 0
    while filled < len(wholes):
        whole = 0
        coin, here, _, fraction = exponential_trial(words, used)
        while coin == NO:
            whole += 1
            coin, here, _, fraction = exponential_trial(words, here)
        if coin != YES or here == len(words):
            return filled, used, coin != UNDECIDED
        wholes[filled], digits[filled] = whole, np.uint64(fraction) << np.uint64(32) | np.uint64(words[here])
        filled, used = filled + 1, here + 1
    return filled, used, True


class Law(NamedTuple):
    """How numbers of a law are drawn: compiled, word by word, and about how many words that takes."""

    fill: Callable[..., tuple[int, int, bool]]
    one: Callable[[Tape], Deviate]
    words: int


LAWS = {
    "normal": Law(fill_normals, Tape.normal, 19),
    "exponential": Law(fill_exponentials, Tape.exponential, 6),
}


def draws(law: str, count: int) -> Draws:
    """Return so many independent numbers of a law, from keys of the operating system that are used for nothing else.

    Examples
    --------
    >>> found = draws("normal", 1000)
    >>> found.wholes.max() < 8, len(found.digits)
    (np.True_, 1000)
    """
    wholes, digits, known = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.uint64), dict[int, Deviate]()
    for first in range(0, count, NUMBERS_OF_A_KEY):
        part = slice(first, min(first + NUMBERS_OF_A_KEY, count))
        stream = CipherStream(secrets.token_bytes(32))
        found = filled_from(LAWS[law], _supply(stream), wholes[part], digits[part])
        known.update({first + place: deviate for place, deviate in found.items()})
    return Draws(wholes, digits, known)


def _supply(stream: CipherStream) -> Callable[[int], Words]:
    return lambda count: stream.words(-(-count // 2)).view(np.uint32)


def filled_from(
    law: Law,
    supply: Callable[[int], Words],
    wholes: Wholes,
    digits: Digits,
    more: Callable[[], int] = fresh_word,
) -> dict[int, Deviate]:
    """Fill arrays with numbers made of a supply of words; return those that 32 digits a word did not decide.

    These are made by `lazy`, from the words where the compiled loop stopped and `more` that continue them.
    """
    filled, words, known = 0, np.empty(0, dtype=np.uint32), dict[int, Deviate]()
    while filled < len(wholes):
        fresh = supply(min(PIECE, law.words * (len(wholes) - filled) + 64))
        words = np.concatenate([words, fresh]) if len(words) else fresh
        filled, used, decided = law.fill(words, wholes, digits, filled)
        while not decided:
            tape = Tape(_continued(words[used:], supply).__next__, more)
            known[filled] = law.one(tape)
            # What the tape took beyond these words is gone.
            filled, words = filled + 1, words[min(used + tape.taken, len(words)) :]
            filled, used, decided = law.fill(words, wholes, digits, filled)
        words = words[used:]
    for place, deviate in known.items():
        # More is known of them than fits here.
        wholes[place], digits[place] = -1, deviate.negative
    return known


def _continued(words: Words, supply: Callable[[int], Words]) -> Iterator[int]:
    yield from words.tolist()
    while True:
        yield from supply(64).tolist()


@compiled
def product(multiple: int, whole: int, fraction: Word) -> tuple[Word, Word]:
    """Return ``multiple (2^63 whole + fraction)`` in two words, the high one first."""
    low, mask = np.uint64(32), np.uint64(0xFFFFFFFF)
    one, two = np.uint64(multiple), np.uint64(fraction)
    upper, lower = one >> low, one & mask
    above, below = two >> low, two & mask
    middle = upper * below + (lower * below >> low)
    crossed = (middle & mask) + lower * above
    high = upper * above + (middle >> low) + (crossed >> low)
    rest = (crossed << low) | (lower * below & mask)
    # Half of the whole part's product goes to the high word, its last bit to the top of the low one.
    more = one * np.uint64(whole)
    total = rest + (more << np.uint64(63))
    return high + (more >> np.uint64(1)) + np.uint64(total < rest), total


@compiled
def spread(
    wholes: Wholes,
    digits: Digits,
    multiple: tuple[int, int, float],
    most: tuple[int, int],
    steps: Array | Wholes,
    parts: Array,
) -> None:
    """Put noise, signed, into `steps`, rounded down, and what is left over into `parts`.

    It is ``(multiple 2^-places + rest) (whole + fraction)``, the rest in doubles, which is below 1. What is too large
    for two words, or for a step, as `most` says, has no number among the parts.
    """
    leading, shift, rest = multiple[0], multiple[1] - 1, multiple[2]
    unit = np.uint64(shift)
    for place in range(len(wholes)):
        parts[place] = np.nan
        if 0 <= wholes[place] < most[0]:
            high, low = product(leading, wholes[place], digits[place] >> np.uint64(1))
            step = np.int64(high >> unit)
            part = math.ldexp(np.float64(high & ((np.uint64(1) << unit) - np.uint64(1))), -shift)
            part += math.ldexp(np.float64(low), -shift - 64)
            part += rest * (wholes[place] + math.ldexp(np.float64(digits[place] >> np.uint64(1)), -63))
            if part >= 1.0:
                step, part = step + 1, part - 1.0
            if step < most[1]:
                negative = digits[place] & np.uint64(1) == np.uint64(1)
                steps[place] = -step - 1 if negative else step
                parts[place] = 1.0 - part if negative else part


def grid_noise(numbers: Draws, width: Width, exponent: int) -> GridNoise:
    """Return drawn numbers times a width as noise on a grid."""
    count, multiple = len(numbers.wholes), width.multiple()
    leading, places, rest = multiple.of_a_word()
    # A wide law, of many weights together, has steps beyond what doubles hold.
    wide = MOST_WHOLE * leading >= MOST_EXACT << places
    steps: Array | Wholes = np.zeros(count, dtype=np.int64) if wide else np.zeros(count)
    parts = np.full(count, np.nan)
    if 1 << places >= MOST_WHOLE:
        most = MOST_WHOLE, MOST_OF_A_WORD if wide else MOST_EXACT
        spread(numbers.wholes, numbers.digits, (leading, places, rest), most, steps, parts)
    return GridNoise(exponent, steps, parts, margin_of(multiple), numbers, width)
