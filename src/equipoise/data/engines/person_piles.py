"""Persons in a scratch: all kept rows of a person together, at the place that the person was dealt to in secret.

A table that is never held is read once and its kept rows are dealt to piles of neighbouring places; each pile is put
into the order of places and written after the others. So a descent takes persons one after the other, pile by pile, or
fetches those that were drawn. Which place a person has follows from secret coins and never from a value
(docs/proofs/N1.md, part (vii)); where piles end follows from public numbers.
"""

import contextlib
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from equipoise.data.engines.buckets import MOST_BUCKETS, WAITING_BYTES, Buckets
from equipoise.data.engines.piles import PILE_BYTES, rows_within
from equipoise.data.scratch import require_space, scratch_file
from equipoise.errors import InvalidParameter

Array = NDArray[np.float64]
Places = NDArray[np.int64]

# What a person takes while places are dealt: keys and their order, the first row of each, where rows begin.
PERSON_BYTES = 40
# Beside its numbers a row has its person's place, its target and its share.
BESIDES = 3


class PersonRows(NamedTuple):
    """Kept rows of persons who follow each other: those of the k-th lie from ``starts[k]`` to ``starts[k + 1]``."""

    rows: Array
    targets: Array
    shares: Array
    starts: Places


def persons_at_once(columns: int, rows_at_most: int) -> int:
    """Return how many persons fit into a pile, whatever rows they have.

    Examples
    --------
    >>> persons_at_once(columns=20, rows_at_most=100)
    2706
    """
    return rows_within(PILE_BYTES, columns + BESIDES - 1) // rows_at_most


def require_person_piles(n_persons: int, rows_at_most: int, columns: int, batch: int) -> None:
    """Refuse, before the spend, batches that memory does not hold, too many piles, and a disk without room.

    How many rows persons have is private: the disk is asked for one row of each.

    Examples
    --------
    >>> require_person_piles(1000, rows_at_most=100, columns=10, batch=64)
    """
    most = persons_at_once(columns, rows_at_most)
    if batch > most:
        raise InvalidParameter(
            f"batches that memory holds, for a table that is never held: at most {most} persons of up to "
            f"{rows_at_most} rows of {columns} columns",
            f"batches of {batch} persons",
            'take smaller batches, declare fewer rows a person, or open the table with engine="memory"; '
            "nothing was read",
        )
    piles, most = -(-n_persons // _persons_of_a_pile(columns, rows_at_most, batch)), _most_piles(columns)
    if piles > most:
        raise InvalidParameter(
            f"at most {most} piles of persons for rows of {columns} columns that are never held",
            f"{piles} for {n_persons} persons of up to {rows_at_most} rows",
            'declare fewer rows a person, or open the table with engine="memory"; nothing was read',
        )
    require_space(2 * 8 * n_persons * (columns + BESIDES), "the rows of a fit that takes persons one by one")


def descending_bytes(n_persons: int) -> int:
    """Return what dealing persons to places takes besides reading their rows: pages of piles, and numbers a person."""
    return WAITING_BYTES + PERSON_BYTES * n_persons


def _persons_of_a_pile(columns: int, rows_at_most: int, batch: int) -> int:
    """Return how many persons a pile has: whole batches."""
    return max(1, persons_at_once(columns, rows_at_most) // batch) * batch


def _most_piles(columns: int) -> int:
    """Return how many piles may wait in memory with one row each."""
    return min(MOST_BUCKETS, WAITING_BYTES // (8 * (columns + BESIDES)))


class PersonPiles:
    """A nameless file of the kept rows of persons, in the order of their places.

    Parameters
    ----------
    places : array
        The place of every slot: each number below the number of persons once. Secret.
    rows_at_most, columns : int
        How many rows a person has at most, and how many numbers a row.
    batch : int
        Piles hold whole batches of so many persons, but for the last.

    Examples
    --------
    >>> with PersonPiles(np.array([2, 0, 1]), rows_at_most=2, columns=1, batch=1) as piles:
    ...     piles.add(np.array([0, 2, 0]), np.array([[5.0], [7.0], [6.0]]), np.ones(3), np.array([0.5, 1.0, 0.5]))
    ...     piles.finish()
    ...     found = piles.between(1, 3)
    >>> found.rows.tolist(), found.starts.tolist()
    ([[7.0], [5.0], [6.0]], [0, 1, 3])
    """

    def __init__(self, places: Places, rows_at_most: int, columns: int, batch: int) -> None:
        self.n_persons, self.columns = len(places), columns
        self.persons_at_once = max(1, persons_at_once(columns, rows_at_most))
        # The last place of each pile, and one more.
        self.ends = np.append(
            np.arange(0, self.n_persons, _persons_of_a_pile(columns, rows_at_most, batch))[1:], self.n_persons
        )
        self._places = places
        self._record = np.dtype([("place", "<i8"), ("numbers", "<f8", (columns + BESIDES - 1,))])
        self._dealt = Buckets(self._record, len(self.ends))
        # Unbuffered: rows go from arrays to the system and back.
        self._file = scratch_file(buffering=0)
        self._starts = np.zeros(self.n_persons + 1, dtype=np.int64)

    def __enter__(self) -> Self:
        """Return the piles."""
        return self

    def __exit__(self, *_: object) -> None:
        """Give the files back to the system."""
        self._dealt.close()
        with contextlib.suppress(OSError):
            self._file.close()

    def add(self, slots: Places, rows: Array, targets: Array, shares: Array) -> None:
        """Add kept rows of the persons in these slots, after all of theirs that were added before."""
        some = np.empty(len(slots), self._record)
        some["place"] = self._places[slots]
        numbers = some["numbers"]
        numbers[:, : self.columns], numbers[:, self.columns], numbers[:, self.columns + 1] = rows, targets, shares
        self._dealt.add(some, np.searchsorted(self.ends, some["place"], side="right"))

    def finish(self) -> None:
        """Write the piles one after the other, each in the order of places."""
        self._places = self._places[:0]
        first = 0
        for pile, stop in enumerate(self.ends.tolist()):
            some = np.concatenate([*self._dealt.bucket(pile)])
            order = np.argsort(some["place"], kind="stable")
            self._starts[first + 1 : stop + 1] = np.bincount(some["place"] - first, minlength=stop - first)
            first = stop
            # A person's rows stay in the order of the table.
            left = np.ascontiguousarray(some["numbers"][order]).reshape(-1).view(np.uint8).data
            del some
            while left:
                left = left[self._file.write(left) :]
        np.cumsum(self._starts, out=self._starts)
        self._dealt.close()

    def between(self, first: int, stop: int) -> PersonRows:
        """Return the rows of the persons at the places from `first` on, up to `stop`."""
        starts = self._starts[first : stop + 1]
        return self._parted(self._read(int(starts[0]), int(starts[-1] - starts[0])), starts - starts[0])

    def picked(self, places: Places) -> PersonRows:
        """Return the rows of the persons at some places, each asked for once."""
        found = [self._read(int(self._starts[place]), self._count(place)) for place in places]
        return self._parted(np.concatenate(found), np.append(0, np.cumsum([len(rows) for rows in found])))

    def _count(self, place: Any) -> int:
        return int(self._starts[place + 1] - self._starts[place])

    def _parted(self, numbers: Array, starts: Places) -> PersonRows:
        rows = np.ascontiguousarray(numbers[:, : self.columns])
        return PersonRows(rows, numbers[:, self.columns].copy(), numbers[:, self.columns + 1].copy(), starts)

    def _read(self, first: int, count: int) -> Array:
        numbers = np.empty((count, self.columns + BESIDES - 1))
        self._file.seek(first * numbers.strides[0])
        left = numbers.reshape(-1).view(np.uint8).data
        while left:
            read = self._file.readinto(left)
            if not read:
                raise OSError("the scratch ended early")
            left = left[read:]
        return numbers
