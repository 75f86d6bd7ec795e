"""A cryptographic stream of random words, and normal and whole numbers made of it, for runs with noise in every step.

AES-256 in counter mode under a key of the operating system: whoever does not know the key cannot tell the words from
coin tosses. An exact sampler takes a thousand times as long. What comes out is in double precision: normal numbers are
multiples of a spacing that grows with their size, so a release of sums of them carries that caveat.

This module is imported when noise is drawn and not before: it loads Numba and the cipher.
"""

import math
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

Array = NDArray[np.float64]
Words = NDArray[np.uint64]
Compiled = TypeVar("Compiled", bound=Callable[..., Any])

# Words are made in pieces that stay in the cache until they are used.
PIECE = 2**14
BLOCK_BYTES = 16

# Where the tail begins in a ziggurat of 256 layers of one area (Marsaglia and Tsang 2000).
LAYERS = 256
TAIL = 3.6541528853610088


def compiled(function: Compiled) -> Compiled:
    """Compile a function, and keep the result on disk where a folder can be written."""
    try:
        made = numba.njit(cache=True, error_model="numpy")(function)
    except RuntimeError:  # no folder for the cache: compile in every process
        made = numba.njit(error_model="numpy")(function)
    return cast(Compiled, made)


def layer_widths() -> Array:
    """Return the half-widths of the layers, from the widest, which the tail lengthens, to 0 at the top.

    Layer i reaches from height ``f(x_i)`` to ``f(x_{i+1})``, ``f(x) = exp(-x^2 / 2)``, and every layer has the area of
    the lowest, ``TAIL f(TAIL)`` and the tail.

    Examples
    --------
    >>> layer_widths()[[0, 1, 255, 256]].round(4).tolist()
    [3.9108, 3.6542, 0.2152, 0.0]
    """
    edge = math.exp(-(TAIL**2) / 2)
    area = TAIL * edge + math.sqrt(math.pi / 2) * math.erfc(TAIL / math.sqrt(2))
    widths = [area / edge, TAIL]
    while len(widths) < LAYERS:
        widths.append(math.sqrt(-2 * math.log(area / widths[-1] + math.exp(-(widths[-1] ** 2) / 2))))
    return np.array([*widths, 0.0])


WIDTHS = layer_widths()


@compiled
def fraction(word: int) -> float:
    """Return the middle of one of 2^53 intervals between 0 and 1."""
    return (np.float64(np.int64(np.uint64(word) >> np.uint64(11))) + 0.5) * 2.0**-53


@compiled
def fill_normals(words: Words, widths: Array, out: Array, filled: int) -> tuple[int, int]:
    """Fill `out` with normal numbers while the words last; return how many it holds and how many words were used.

    A draw whose words run out is not begun: its words are there again, with more behind them, in the next call.
    """
    used = 0
    while filled < len(out) and used < len(words):
        word = words[used]
        layer = np.int64(word & np.uint64(255))
        value = fraction(word) * widths[layer]
        taken = 1
        if value >= widths[layer + 1]:
            if layer == 0:
                # The tail beyond TAIL, by an exponential number that is rejected.
                excess, height = 0.0, -1.0
                while 2.0 * height <= excess * excess:
                    if used + taken + 2 > len(words):
                        return filled, used
                    excess = -math.log(fraction(words[used + taken])) / TAIL
                    height = -math.log(fraction(words[used + taken + 1]))
                    taken += 2
                value = TAIL + excess
            else:
                if used + taken + 1 > len(words):
                    return filled, used
                # Under the curve, seen from its height at the value?
                low = math.exp((value * value - widths[layer] * widths[layer]) / 2.0)
                high = math.exp((value * value - widths[layer + 1] * widths[layer + 1]) / 2.0)
                accepted = low + fraction(words[used + taken]) * (high - low) < 1.0
                taken += 1
                if not accepted:
                    used += taken
                    continue
        used += taken
        out[filled] = -value if word & np.uint64(256) else value
        filled += 1
    return filled, used


@compiled
def fill_integers(words: Words, bound: int, mask: int, out: NDArray[np.int64], filled: int) -> tuple[int, int]:
    """Fill `out` with low bits of words that are below the bound; return how many it holds and how many words went."""
    used = 0
    while filled < len(out) and used < len(words):
        value = np.int64(words[used] & np.uint64(mask))
        used += 1
        if value < bound:
            out[filled] = value
            filled += 1
    return filled, used


class CipherStream:
    """The key stream of AES-256 in counter mode, from counter 0, as words of 64 bits.

    Parameters
    ----------
    key : bytes
        32 bytes that were never used before and are known to nobody, as `secrets.token_bytes` makes them.

    Examples
    --------
    >>> stream, again = CipherStream(bytes(32)), CipherStream(bytes(32))
    >>> np.array_equal(np.append(stream.words(3), stream.words(5)), again.words(8))
    True
    """

    def __init__(self, key: bytes) -> None:
        self._encryptor = Cipher(algorithms.AES(key), modes.CTR(bytes(BLOCK_BYTES))).encryptor()
        self._left = np.empty(0, dtype=np.uint64)

    def words(self, count: int) -> Words:
        """Return the next words of the stream; none is ever returned twice."""
        # The cipher wants room for a block more than it writes.
        room = np.empty(8 * count + BLOCK_BYTES, dtype=np.uint8)
        self._encryptor.update_into(bytes(8 * count), room.data)
        return room[: 8 * count].view("<u8").astype(np.uint64, copy=False)

    def normals(self, out: Array) -> None:
        """Fill an array with independent standard normal numbers, in double precision (ziggurat, Marsaglia and Tsang).

        53 random bits a number; the tail is drawn by its own law and reaches beyond 13.
        """
        flat, filled = out.reshape(-1), 0
        while filled < len(flat):
            # 3 words in a hundred go into the corners of layers and the tail.
            words = self._next_words(len(flat) - filled + (len(flat) - filled) // 32 + 8)
            filled, used = fill_normals(words, WIDTHS, flat, filled)
            self._left = words[used:]

    def integers(self, bound: int, out: NDArray[np.int64]) -> None:
        """Fill an array with independent whole numbers from 0 to ``bound - 1``, every one equally likely.

        As many bits as `bound` has are taken from a word, and numbers that are too large are drawn again.
        """
        flat, filled, mask = out.reshape(-1), 0, (1 << (bound - 1).bit_length()) - 1
        while filled < len(flat):
            words = self._next_words(2 * (len(flat) - filled))
            filled, used = fill_integers(words, bound, mask, flat, filled)
            self._left = words[used:]

    def _next_words(self, count: int) -> Words:
        """Return the words that are left over, with new ones behind them; a piece at most."""
        fresh = self.words(min(PIECE, max(8, count - len(self._left))))
        return np.append(self._left, fresh) if len(self._left) else fresh
