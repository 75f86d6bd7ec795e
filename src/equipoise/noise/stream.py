"""A cryptographic stream of random words, and whole numbers made of it.

AES-256 in counter mode under a key of the operating system: whoever does not know the key cannot tell the words from
coin tosses (D7, "coins"). Noise is made of them in `draws`.

This module is imported when noise is drawn and not before: it loads Numba and the cipher.
"""

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from equipoise.kept_loops import compiled

Words = NDArray[np.uint64]

# Words are made in pieces that stay in the cache until they are used.
PIECE = 2**14
BLOCK_BYTES = 16


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
