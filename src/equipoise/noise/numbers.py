"""Which loops numbers come from: compiled ones, or for a few numbers those of `lazy`, whose laws are the same (D7)."""

import sys
from fractions import Fraction
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from equipoise.noise.grid import GridNoise, KnownWidth, ListedNumbers, Width, listed_noise
from equipoise.noise.lazy import Tape, fresh_words

COMPILED = "equipoise.noise.draws"
# So many are drawn one by one in less time than a compiler takes to load; that they were drawn before is public, too.
FEW = 20_000
# Whole numbers of noise are exact below this, and cut off here: doubles hold all of them.
MOST_NOISE = 2**53


class OneByOne:
    """How many numbers this process has drawn one by one."""

    drawn: ClassVar[int] = 0


def loops() -> ModuleType:
    """Return the compiled loops, loaded once they are asked for."""
    from equipoise.noise import draws

    return draws


def listed(kind: str, count: int) -> ListedNumbers:
    """Return normal or exponential numbers, drawn one by one.

    Examples
    --------
    >>> len(listed("exponential", 3).numbers)
    3
    """
    OneByOne.drawn += count
    tape = Tape(fresh_words().__next__)
    return ListedNumbers([Tape.normal(tape) if kind == "normal" else Tape.exponential(tape) for _ in range(count)])


def in_bulk(count: int) -> bool:
    """Return whether so many numbers are drawn by compiled loops, and load them: that is public, as is what is there.

    They are loaded once more than `FEW` numbers are drawn in all, so that waiting for them never takes the larger part
    of the time. Where they cannot be loaded, `lazy` draws any number of numbers: of the same law, and slowly (D7).
    """
    if COMPILED in sys.modules:
        return True
    if OneByOne.drawn + count <= FEW:
        return False
    try:
        loops()
    except (ImportError, OSError):
        return False
    return True


def noise_of(kind: str, count: int, width: Width, exponent: int) -> GridNoise:
    """Return so many independent numbers times a width, as noise on the grid of ``2^exponent``.

    Examples
    --------
    >>> noise = noise_of("normal", 3, KnownWidth(Fraction(2**40)), -40)
    >>> noise.sums(np.zeros(3)).shape
    (3,)
    """
    if not in_bulk(count):
        return listed_noise(listed(kind, count), width, exponent)
    found: GridNoise = loops().grid_noise(loops().draws(kind, count), width, exponent)
    return found


def whole_numbers(scale: float, count: int) -> NDArray[np.int64]:
    """Return independent whole numbers k with probability proportional to ``exp(-|k| / scale)`` (D7).

    The size of an exponential number, rounded down, is geometric, and of the two zeros one is drawn again. Numbers of
    ``2^53`` and more are cut off there, or at the number before it.

    Examples
    --------
    >>> whole_numbers(0.001, 5).tolist()
    [0, 0, 0, 0, 0]
    """
    found: list[NDArray[Any]] = []
    while (left := count - sum(map(len, found))) > 0:
        noise = noise_of("exponential", left, KnownWidth(Fraction(scale)), 0)
        negative = noise.numbers.negative()
        # Rounded down, and up where it is negative: an exponential number is whole with probability 0.
        whole = noise.sums(np.full(left, -0.5)) + negative
        found.append(whole[(whole != 0) | ~negative])
    numbers: NDArray[np.float64] = np.concatenate([np.empty(0), *found])
    return numbers.clip(-MOST_NOISE, MOST_NOISE).astype(np.int64)
