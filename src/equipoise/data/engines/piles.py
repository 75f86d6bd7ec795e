"""Piles in a scratch: rows in their domain, dealt by public coins into piles that fit into memory.

A table that is never held is read once and written here, so that a descent can take rows one by one, in a random order.
Which pile a row lies in follows from its place and the public seed, never from a value.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Self

import numpy as np
from numpy.typing import NDArray

from equipoise.data.scratch import require_space, scratch_file
from equipoise.errors import InvalidParameter
from equipoise.vocabulary.constants import BLOCK_ROWS

Array = NDArray[np.float64]
Slots = NDArray[np.int64]

# A pile, what waits to be dealt, and a batch are at most so long: together they stay far below the 512 MiB that a
# streamed fit may take. A row counts with its numbers, its target and what orders and factors take besides.
PILE_BYTES = 2**26
WAITING_BYTES = 2**25
BATCH_BYTES = 2**26
BYTES_BESIDES = 64

# Chosen rows that lie within so many bytes of each other are read together.
WINDOW_BYTES = 2**18

# The public seed's streams that deal rows, and that order piles and what is in them; others drive orders and masks.
DEALING = 7
PILE_ORDERS = 8


def rows_within(size: int, columns: int) -> int:
    """Return how many rows fit into a number of bytes, at least one.

    Examples
    --------
    >>> rows_within(1000, columns=3)
    10
    """
    return max(1, size // (8 * (columns + 1) + BYTES_BESIDES))


def pile_order(public_seed: int, number: int, what: int, length: int) -> Slots:
    """Return a pass's order of the piles (0) or of what is in a pile (1 and on)."""
    return np.random.default_rng([public_seed, PILE_ORDERS, number, what]).permutation(length)


def bytes_needed(n_samples: int, columns: int) -> int:
    """Return how long the file becomes: a double for every number of the table and for every target."""
    return 8 * n_samples * (columns + 1)


def require_piles(n_samples: int, columns: int, batch: int) -> None:
    """Refuse, before the spend, batches that memory does not hold, and a folder that cannot take the rows.

    Examples
    --------
    >>> require_piles(1000, columns=10, batch=64)
    """
    most = rows_within(BATCH_BYTES, columns)
    if batch > most:
        raise InvalidParameter(
            f"batches that memory holds, for a table that is never held: at most {most} rows of {columns} columns",
            f"batches of {batch} rows",
            'take smaller batches, or open the table with engine="memory"; nothing was read',
        )
    require_space(bytes_needed(n_samples, columns), "the rows of a fit that takes them one by one")


class Piles:
    """A nameless file of rows and targets, in piles that each hold a random share of the table.

    Every row goes to a pile by a coin of its own, so piles read one after the other, each in a random order, are the
    rows in a uniformly random order. A row's *slot* is where it lies: pile by pile, in a pile by place.

    Parameters
    ----------
    n_samples, columns : int
        How many rows will be added, and how many numbers each has.
    public_seed : int
        Drives the coins.

    Examples
    --------
    >>> with Piles(2, 3, public_seed=0) as piles:
    ...     piles.add(0, np.eye(2, 3), np.array([1.0, -1.0]))
    ...     piles.finish()
    ...     piles.picked(np.array([1]))
    (array([[0., 1., 0.]]), array([-1.]))
    """

    def __init__(self, n_samples: int, columns: int, public_seed: int) -> None:
        self.n_samples = n_samples
        self.columns = columns
        self._seed = public_seed
        # So many rows are in memory at once: a pile has about as many.
        self.rows_at_once = rows_within(PILE_BYTES, columns)
        self._count = -(-n_samples // self.rows_at_once)
        self.sizes = self._dealt_sizes()
        self._starts = np.concatenate([[0], np.cumsum(self.sizes)])
        # Where each pile's next row will lie.
        self._next = self._starts[:-1].copy()
        self._reached = 0
        waiting = min(n_samples, rows_within(WAITING_BYTES, columns))
        self._waiting = _Waiting(np.empty((waiting, columns)), np.empty(waiting), np.empty(waiting, dtype=np.int64))
        # Unbuffered: rows go from arrays to the system and back.
        self._file = scratch_file(buffering=0)

    def __enter__(self) -> Self:
        """Return the piles."""
        return self

    def __exit__(self, *_: object) -> None:
        """Give the file back to the system."""
        self._file.close()

    def _piles(self, block: int) -> Slots:
        """Return the pile of every row of a block."""
        return _dealt(self._seed, block, self._count)

    def _dealt_sizes(self) -> Slots:
        """Return how many rows each pile will have: coins alone decide."""
        sizes = np.zeros(self._count, dtype=np.int64)
        for first in range(0, self.n_samples, BLOCK_ROWS):
            piles = self._piles(first // BLOCK_ROWS)[: self.n_samples - first]
            sizes += np.bincount(piles, minlength=self._count)
        return sizes

    def add(self, place: int, rows: Array, targets: Array) -> None:
        """Add the rows from a place on, which lie in one block, in the order of their places and each once."""
        block, begin = divmod(place, BLOCK_ROWS)
        if place != self._reached or begin + len(rows) > BLOCK_ROWS or place + len(rows) > self.n_samples:
            raise ValueError("rows of piles came in another order")
        self._reached += len(rows)
        piles = self._piles(block)[begin : begin + len(rows)]
        while len(rows):
            taken = self._waiting.take(rows, targets, piles)
            rows, targets, piles = rows[taken:], targets[taken:], piles[taken:]
            if self._waiting.full:
                self._deal()

    def finish(self) -> None:
        """Deal what waits; ValueError where rows are missing."""
        if self._reached != self.n_samples:
            raise ValueError("rows of piles are missing")
        self._deal()
        # Reading needs the memory for something else.
        del self._waiting

    def _deal(self) -> None:
        for pile, rows, targets in self._waiting.by_pile():
            slot = int(self._next[pile])
            self._write(rows, 8 * slot * self.columns)
            self._write(targets, 8 * (self.n_samples * self.columns + slot))
            self._next[pile] += len(targets)

    def read_pile(self, pile: int, rows: Array, targets: Array) -> int:
        """Read a pile to the beginning of two arrays, and return how many rows it has."""
        first, count = int(self._starts[pile]), int(self.sizes[pile])
        self._read(first, rows[:count], targets[:count])
        return count

    def picked(self, slots: Slots) -> tuple[Array, Array]:
        """Return copies of the rows in some slots, given in rising order and each once, with their targets."""
        rows, targets = np.empty((len(slots), self.columns)), np.empty(len(slots))
        window = max(1, WINDOW_BYTES // (8 * self.columns))
        cuts = np.flatnonzero(np.diff(slots // window)) + 1
        near, near_targets = np.empty((window, self.columns)), np.empty(window)
        for begin, end in zip([0, *cuts], [*cuts, len(slots)], strict=True):
            first, count = int(slots[begin]), int(slots[end - 1] - slots[begin]) + 1
            self._read(first, near[:count], near_targets[:count])
            inside = slots[begin:end] - first
            rows[begin:end], targets[begin:end] = near[inside], near_targets[inside]
        return rows, targets

    def _read(self, first: int, rows: Array, targets: Array) -> None:
        """Read consecutive slots into contiguous arrays."""
        self._fill(rows, 8 * first * self.columns)
        self._fill(targets, 8 * (self.n_samples * self.columns + first))

    def _fill(self, numbers: Array, offset: int) -> None:
        self._file.seek(offset)
        left = _bytes_of(numbers)
        while left:
            count = self._file.readinto(left)
            if not count:
                raise OSError("the scratch ended early")
            left = left[count:]

    def _write(self, numbers: Array, offset: int) -> None:
        self._file.seek(offset)
        left = _bytes_of(numbers)
        while left:
            left = left[self._file.write(left) :]


def _bytes_of(numbers: Array) -> memoryview:
    return numbers.data.cast("B") if numbers.size else memoryview(b"")


class _Waiting:
    """Rows that wait to be written, so that a pile gets many at once."""

    def __init__(self, rows: Array, targets: Array, piles: Slots) -> None:
        self._rows, self._targets, self._piles, self._count = rows, targets, piles, 0

    @property
    def full(self) -> bool:
        return self._count == len(self._targets)

    def take(self, rows: Array, targets: Array, piles: Slots) -> int:
        """Take as many rows as there is room for, and return how many these are."""
        where = slice(self._count, min(self._count + len(rows), len(self._targets)))
        taken = where.stop - where.start
        self._rows[where], self._targets[where], self._piles[where] = rows[:taken], targets[:taken], piles[:taken]
        self._count = where.stop
        return taken

    def by_pile(self) -> Iterator[tuple[int, Array, Array]]:
        """Yield the rows of each pile, in their order, and wait for others."""
        order = np.argsort(self._piles[: self._count], kind="stable")
        rows, targets, piles = self._rows[order], self._targets[order], self._piles[order]
        self._count = 0
        cuts = np.flatnonzero(np.diff(piles)) + 1
        for begin, end in zip([0, *cuts], [*cuts, len(order)], strict=True):
            if begin < end:
                yield int(piles[begin]), rows[begin:end], targets[begin:end]


# The pieces of a block come one after the other.
@lru_cache(maxsize=1)
def _dealt(public_seed: int, block: int, count: int) -> Slots:
    if count == 1:
        return np.zeros(BLOCK_ROWS, dtype=np.int64)
    return np.random.default_rng([public_seed, DEALING, block]).integers(count, size=BLOCK_ROWS)
