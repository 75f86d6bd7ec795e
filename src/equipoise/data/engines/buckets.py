"""Buckets in a scratch: records are dealt to them by number, as many as come, and read back bucket by bucket."""

import contextlib
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from equipoise.data.scratch import scratch_file

# What waits in memory for pages to be full, whatever is dealt, and how long a page may be.
WAITING_BYTES = 2**26
PAGE_BYTES = 2**16
MOST_BUCKETS = 2**16

# In front of a page's records stands the number of the bucket's next page. The last page of a bucket stays in memory.
HEAD = np.dtype("<i8")


class Buckets:
    """Buckets of records of one type, each a chain of pages in one file; in memory is one page a bucket.

    Examples
    --------
    >>> with Buckets(np.dtype("<i8"), 2) as buckets:
    ...     buckets.add(np.arange(5), np.arange(5) % 2)
    ...     [np.concatenate([*buckets.bucket(number)]).tolist() for number in range(2)]
    [[0, 2, 4], [1, 3]]
    """

    def __init__(self, record: "np.dtype[Any]", buckets: int) -> None:
        self._file = scratch_file()
        size = min(PAGE_BYTES, WAITING_BYTES // buckets)
        self._room = max(1, (size - HEAD.itemsize) // record.itemsize)
        self._size = HEAD.itemsize + self._room * record.itemsize
        self._waiting = np.empty((buckets, self._room), record)
        self._counts = [0] * buckets
        # The page that each bucket writes next, and the first of each.
        self._pages = list(range(buckets))
        self._new = buckets

    def add(self, records: NDArray[Any], buckets: NDArray[Any]) -> None:
        """Deal records to the buckets with these numbers; a bucket has them in the order in which they came."""
        if not len(records):
            return
        order = np.argsort(buckets, kind="stable")
        numbers, starts = np.unique(buckets[order], return_index=True)
        for number, some in zip(numbers.tolist(), np.split(order, starts[1:]), strict=True):
            self._append(number, records[some])

    def _append(self, number: int, records: NDArray[Any]) -> None:
        while len(records):
            count = self._counts[number]
            fitting = records[: self._room - count]
            self._waiting[number, count : count + len(fitting)] = fitting
            self._counts[number] = count + len(fitting)
            records = records[len(fitting) :]
            if self._counts[number] == self._room:
                self._write(number)

    def _write(self, number: int) -> None:
        """Write a bucket's page, which is full, and begin another."""
        self._file.seek(self._pages[number] * self._size)
        self._file.write(np.array(self._new, HEAD).tobytes() + self._waiting[number].tobytes())
        self._pages[number], self._new = self._new, self._new + 1
        self._counts[number] = 0

    def bucket(self, number: int) -> Iterator[NDArray[Any]]:
        """Yield what a bucket has, page by page; at least one, which may be empty."""
        page = number
        while page != self._pages[number]:
            self._file.seek(page * self._size)
            content = self._file.read(self._size)
            page = int(np.frombuffer(content, HEAD, 1)[0])
            yield np.frombuffer(content, self._waiting.dtype, offset=HEAD.itemsize)
        yield self._waiting[number, : self._counts[number]].copy()

    def close(self) -> None:
        """Give the disk back; one that is full has been told of by then."""
        with contextlib.suppress(OSError):
            self._file.close()
        self._waiting = self._waiting[:0]

    def __enter__(self) -> Self:
        """Return the buckets."""
        return self

    def __exit__(self, *_: object) -> None:
        """Give the disk back."""
        self.close()
