"""Normal and exponential numbers whose digits are drawn as they are asked for: the laws of D7, word by word.

A uniform number is a row of random digits, of which only those exist that something was compared with; so is a drawn
number, a whole part and a uniform fraction. Nothing here rounds and no function is evaluated: all that is ever done to
random numbers is to compare them. The compiled loops (`draws`) do the same on words of 32 bits, and what these cannot
decide is done again here. Short vectors are drawn here altogether, since loading a compiler takes longer.
"""

import secrets
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction

# How many digits of a uniform number are drawn at a time, unless told otherwise.
WORD_BITS = 32
BLOCK_WORDS = 128


def fresh_word() -> int:
    """Return a word of the operating system's random bits."""
    return secrets.randbits(WORD_BITS)


def fresh_words() -> Iterator[int]:
    """Yield words of the operating system's random bits, fetched in blocks: each fetch is a call of the system."""
    while True:
        block = secrets.token_bytes(BLOCK_WORDS * WORD_BITS // 8)
        yield from (entry[0] for entry in struct.iter_unpack("<I", block))


@dataclass(slots=True)
class Uniform:
    """A uniform number in [0, 1): its first `bits` binary digits, and words that continue them.

    Examples
    --------
    >>> words = iter([5, 6])
    >>> half, more = Uniform(3, 3, lambda: next(words), 3), Uniform(3, 3, lambda: next(words), 3)
    >>> half < more, half.value, more.value
    (True, 29, 30)
    """

    value: int
    bits: int = WORD_BITS
    word: Callable[[], int] = fresh_word
    word_bits: int = WORD_BITS

    def extend(self) -> None:
        """Draw another word of digits."""
        self.value = self.value << self.word_bits | self.word()
        self.bits += self.word_bits

    def __lt__(self, other: "Uniform") -> bool:
        """Return whether this number is the smaller one, drawing digits of both until they differ."""
        while True:
            while self.bits < other.bits:
                self.extend()
            while other.bits < self.bits:
                other.extend()
            if self.value != other.value:
                return self.value < other.value
            self.extend()

    def bounds(self) -> tuple[Fraction, Fraction]:
        """Return the ends of the interval that the digits leave."""
        return Fraction(self.value, 1 << self.bits), Fraction(self.value + 1, 1 << self.bits)


@dataclass(slots=True)
class Deviate:
    """A drawn number, ``whole + fraction`` or less that, as far as it is known."""

    whole: int
    fraction: Uniform
    negative: bool

    def bounds(self) -> tuple[Fraction, Fraction]:
        """Return the ends of the interval in which its size lies."""
        low, high = self.fraction.bounds()
        return self.whole + low, self.whole + high

    def extend(self) -> None:
        """Draw more digits."""
        self.fraction.extend()


@dataclass(slots=True)
class Tape:
    """Words that uniform numbers begin with, in their order, and words of another source that continue them.

    Parameters
    ----------
    word, more : callable
        Return the next word.
    bits : int
        The digits in a word.

    Examples
    --------
    >>> words = iter([0, 1, 1, 1])
    >>> Tape(lambda: next(words), fresh_word, 1).exponential().whole  # a run of one, then a sign
    0
    """

    word: Callable[[], int] = fresh_word
    more: Callable[[], int] = fresh_word
    bits: int = WORD_BITS
    taken: int = field(default=0)

    def uniform(self) -> Uniform:
        """Return a number that begins with the next word."""
        self.taken += 1
        return Uniform(self.word(), self.bits, self.more, self.bits)

    def half_coin(self) -> bool:
        """Return True with probability ``exp(-1/2)``: the longest run ``1/2 > U_1 > U_2 > ...`` is even (D7, lemma)."""
        last, even = self.uniform(), True
        if last.value >> (self.bits - 1):
            return True
        while True:
            following, even = self.uniform(), not even
            if not following < last:
                return even
            last = following

    def tilted_coin(self, whole: int, fraction: Uniform) -> bool:
        """Return True with probability ``exp(-x (2k + x) / (2k + 2))`` for the whole part k and the fraction x."""
        last, even = fraction, True
        while True:
            following = self.uniform()
            if not following < last or not _below_share(self.uniform(), whole, fraction):
                return even
            last, even = following, not even

    def whole_part(self) -> int | None:
        """Return k with probability ``(1 - exp(-1/2)) exp(-k^2 / 2)``, and None otherwise."""
        whole = 0
        while self.half_coin():
            whole += 1
        return whole if all(self.half_coin() for _ in range(whole * (whole - 1))) else None

    def normal_trial(self) -> tuple[int, Uniform] | None:
        """Return ``k + x`` with density ``(1 - exp(-1/2)) exp(-(k + x)^2 / 2)``, and None otherwise."""
        whole = self.whole_part()
        if whole is None:
            return None
        fraction = self.uniform()
        return (whole, fraction) if all(self.tilted_coin(whole, fraction) for _ in range(whole + 1)) else None

    def normal(self) -> Deviate:
        """Return a standard normal number (Karney 2016, algorithm N)."""
        found = self.normal_trial()
        while found is None:
            found = self.normal_trial()
        return self._signed(*found)

    def exponential_trial(self) -> Uniform | None:
        """Return x in [0, 1) with density ``exp(-x)``, and None otherwise: the run ``x > U_2 > ...`` has odd length."""
        fraction = self.uniform()
        last, odd = fraction, True
        while True:
            following = self.uniform()
            if not following < last:
                return fraction if odd else None
            last, odd = following, not odd

    def exponential(self) -> Deviate:
        """Return an exponential number with a random sign: Laplace's law (von Neumann 1951)."""
        whole = 0
        while (fraction := self.exponential_trial()) is None:
            whole += 1
        return self._signed(whole, fraction)

    def _signed(self, whole: int, fraction: Uniform) -> Deviate:
        """Return the number with the sign that the last digit of a word says; its other digits continue the number."""
        word = self.uniform().value
        if fraction.bits == self.bits:
            fraction.value, fraction.bits = fraction.value << (self.bits - 1) | word >> 1, 2 * self.bits - 1
        return Deviate(whole, fraction, bool(word & 1))


def _below_share(share: Uniform, whole: int, fraction: Uniform) -> bool:
    """Return whether ``r < (2k + x) / (2k + 2)``, drawing digits until it is decided."""
    sides = 2 * whole + 2
    while True:
        while share.bits < fraction.bits:
            share.extend()
        while fraction.bits < share.bits:
            fraction.extend()
        low, limit = sides * share.value, (2 * whole << fraction.bits) + fraction.value
        if low + sides <= limit:
            return True
        if low > limit:
            return False
        share.extend()
