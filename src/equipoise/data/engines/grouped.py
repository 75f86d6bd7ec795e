"""Persons across parts and files: one pass finds whose rows follow each other, and later ones get what is kept of them.

In the first pass runs of rows are dealt to buckets on disk by a keyed digest of their id, so that all of a person are
in one bucket, which is small; each bucket is grouped in memory, and the standings of its runs are put back into the
order of places. A table sorted by person has one run a person. Nothing as long as the table or its persons is held.
"""

import secrets
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import Any, ClassVar, Generic

import numpy as np
from numpy.typing import NDArray

from equipoise.data.engines.base import SHARES, Answer, Batch, PartedTable, Work, batch_length
from equipoise.data.engines.buckets import MOST_BUCKETS, WAITING_BYTES, Buckets
from equipoise.data.person_runs import (
    DIGEST_BYTES,
    KEY_BYTES,
    RUN,
    STANDING,
    KeptRows,
    PersonRule,
    RunFinder,
    Runs,
    Standings,
    Told,
    rows_told,
    standings,
    without_surplus,
)
from equipoise.data.scratch import require_space, scratch_file
from equipoise.errors import PrivateFailure

# About so many runs a bucket has, and so many rows a span of places, where nobody has a surplus of rows.
BUCKET_RUNS = 2**17
# What a run takes while its bucket is grouped: itself, its standing, and orders and sums over them.
RUN_BYTES = 200
# So many standings are read at once.
STANDINGS_AT_ONCE = 2**15


def buckets_for(rows: int, runs: int, most: int) -> int:
    """Return how many buckets keep each at about so many runs, for so many rows.

    Examples
    --------
    >>> buckets_for(1000, runs=2**17, most=2**12), buckets_for(10**8, runs=2**17, most=2**12)
    (1, 763)
    """
    return max(1, min(most, -(-rows // runs)))


def disk_buckets(rows: int) -> int:
    """Return how many buckets on disk so many rows are dealt to."""
    return buckets_for(rows, BUCKET_RUNS, MOST_BUCKETS)


def bucket_of(runs: Runs, buckets: int) -> Any:
    """Return the bucket of each run: by its person's digest, which is as good as drawn at random."""
    words = np.ascontiguousarray(runs["id"]).view("<u4").reshape(len(runs), DIGEST_BYTES // 4)
    return words[:, 0].astype(np.int64) * buckets >> 32


class TableStandings:
    """The standings of all runs of a table, in the order of their places, in a file without a name.

    Attributes
    ----------
    kept : int
        How many rows are kept in all. Private, like everything here.
    """

    def __init__(self) -> None:
        self._file = scratch_file()
        self._count = self.kept = self._persons = 0
        # Whoever first appears here or later comes after as many persons as were declared.
        self._end: int | None = None

    def add(self, found: Standings, n_persons: int) -> None:
        """Add standings that come after all others: the first persons that appear are kept, as many as declared."""
        if self._end is None:
            origins = found["first"][found["first"] == found["origin"]]
            if self._persons + len(origins) > n_persons:
                self._end = int(origins[n_persons - self._persons])
            self._persons += len(origins)
        if self._end is not None:
            found = found[found["origin"] < self._end]
        found["rank"] = self.kept + np.cumsum(found["kept"]) - found["kept"]
        self.kept += int(found["kept"].sum())
        self._count += len(found)
        self._file.write(found.tobytes())

    def since(self, place: int) -> Iterator[Standings]:
        """Yield the standings of runs that begin at a place or later."""
        low, high = 0, self._count
        while low < high:
            middle = (low + high) // 2
            if self._read(middle, 1)["first"][0] < place:
                low = middle + 1
            else:
                high = middle
        for number in range(low, self._count, STANDINGS_AT_ONCE):
            yield self._read(number, STANDINGS_AT_ONCE)

    def _read(self, number: int, count: int) -> Standings:
        self._file.seek(number * STANDING.itemsize)
        return np.frombuffer(self._file.read(min(count, self._count - number) * STANDING.itemsize), STANDING)

    def close(self) -> None:
        """Give the disk back; one that is full has been told of by then."""
        with suppress(OSError):
            self._file.close()


class KeptSlots:
    """Tells whose the kept rows are, row after row: slots of persons, in the order in which their ids appear (N1).

    Holds the place of every person's first row.

    Examples
    --------
    >>> found = np.array([(0, 2, 3, 0, 0), (2, 1, 1, 2, 2), (3, 1, 3, 0, 3)], STANDING)
    >>> slots = KeptSlots(lambda: iter([found[:1], found[1:]]))
    >>> slots.next_rows(1).tolist(), slots.next_rows(3).tolist()
    ([0], [0, 1, 0])
    """

    def __init__(self, found: Callable[[], Iterator[Standings]]) -> None:
        origins = [some["first"][some["first"] == some["origin"]] for some in found()]
        self._origins = np.concatenate([np.empty(0, dtype=np.int64), *origins])
        self._found = found()
        self._slots = self._left = np.empty(0, dtype=np.int64)

    def next_rows(self, count: int) -> NDArray[np.int64]:
        """Return the slots of so many kept rows that come next; ValueError where there are no more."""
        while (waiting := int(self._left.sum())) < count:
            more = next(self._found, None)
            if more is None:
                raise ValueError("more rows than were kept")
            self._slots = np.append(self._slots, np.searchsorted(self._origins, more["origin"]))
            self._left = np.append(self._left, more["kept"])
        taken = np.clip(count - np.cumsum(self._left) + self._left, 0, self._left)
        slots: NDArray[np.int64] = np.repeat(self._slots, taken)
        self._left = self._left - taken
        done = len(taken) if waiting == count else int(np.argmax(self._left > 0))
        self._slots, self._left = self._slots[done:], self._left[done:]
        return slots


@dataclass(frozen=True, slots=True, eq=False)
class Dealing:
    """Work that deals the runs of a part to buckets, and tells what it has seen of ids: a secret digest."""

    rule: PersonRule
    key: bytes
    buckets: Buckets
    count: int

    def __call__(self, batches: Iterator[Batch], first: int) -> Told:
        """Go through the ids of a part."""
        finder = RunFinder(self.rule, self.key, first)
        for batch in batches:
            self._deal(finder.add(batch[self.rule.column]))
        self._deal(finder.end())
        return finder.told

    def _deal(self, runs: Runs) -> None:
        self.buckets.add(runs, bucket_of(runs, self.count))


@dataclass(frozen=True, slots=True, eq=False)
class Keeping(Generic[Answer]):
    """Work on the kept rows of a part; where ids come with them, it tells again what it has seen of ids."""

    work: Work[Answer]
    rule: PersonRule
    key: bytes
    with_ids: bool

    def on(self, batches: Iterator[Batch], first: int, kept: KeptRows) -> tuple[Told, Answer]:
        """Return what was seen of ids, and the work's answer for the kept rows, at their places among kept ones."""
        finder = RunFinder(self.rule, self.key, first)
        answer = self.work(self._kept(batches, first, kept, finder), kept.rank)
        finder.end()
        return finder.told, answer

    def _kept(self, batches: Iterator[Batch], first: int, kept: KeptRows, finder: RunFinder) -> Iterator[Batch]:
        for batch in batches:
            stop = first + batch_length(batch)
            if self.with_ids:
                finder.add(batch[self.rule.column])
            places, shares = kept.of(first, stop)
            if len(places):
                yield {**{name: values[places] for name, values in batch.items()}, SHARES: shares}
            first = stop


class GroupedTable(PartedTable):
    """The kept rows of persons, of a table whose parts tell what they have seen of ids.

    The first pass after rows were grouped sees ids and rows together, and its ids must be those that were grouped: rows
    that have moved in between would count for another person's share. In every later pass rows must be the same (N12).
    """

    def __init__(self, table: PartedTable, rule: PersonRule) -> None:
        self.names, self.kinds, self.source = table.names, table.kinds, table.source
        self.n_samples, self.files = table.n_samples, table.files
        self._table, self._rule = table, rule
        self._key = b""
        # What each part has told of its ids when they were grouped, and whether its rows have come with the same.
        self._told: dict[int, Told] | None = None
        self._attested = False

    @abstractmethod
    def _group(self) -> Iterator[tuple[int, Told]]:
        """Group the rows by the ids of persons, under the key of this fit; yield what each part tells of its ids."""

    @abstractmethod
    def _kept_answers(self, work: Keeping[Answer], names: Sequence[str]) -> Iterator[tuple[int, tuple[Told, Answer]]]:
        """Carry work to the kept rows of every part."""

    @property
    @abstractmethod
    def _kept(self) -> int:
        """How many rows are kept, once they are grouped."""

    def batches(self, names: Sequence[str]) -> Iterator[Batch]:
        """Yield all rows of these columns."""
        return self._table.batches(names)

    def close(self) -> None:
        """Forget whose rows there were."""
        self._key, self._told, self._attested = b"", None, False
        self._table.close()

    def places(self, n_samples: int) -> int:
        """Return how many rows are kept."""
        if self._told is None:
            self._key = secrets.token_bytes(KEY_BYTES)
            self._told = _once(self._group())
            rows = rows_told(self._told.values())
            # A part that was lost would not be missed elsewhere: how many rows persons have is not declared.
            if rows is None or self.n_samples not in (None, rows):
                raise PrivateFailure
        return self._kept

    def answers(self, work: Work[Answer], names: Sequence[str], n_samples: int | None) -> Iterator[tuple[int, Answer]]:
        """Carry work to the kept rows of every part."""
        self.places(n_samples or 0)
        attested, told = self._attested, dict[int, Told]()
        keeping = Keeping(work, self._rule, self._key, with_ids=not attested)
        asked = [*names] if attested else [*names, self._rule.column]
        for part, (seen, answer) in self._kept_answers(keeping, asked):
            if told.setdefault(part, seen) != seen:
                raise PrivateFailure
            yield part, answer
        if not attested and told != self._told:
            raise PrivateFailure
        self._attested = True


def _once(answers: Iterator[tuple[int, Told]]) -> dict[int, Told]:
    """Return what parts have told; one that tells two things is not the same."""
    told = dict[int, Told]()
    for part, seen in answers:
        if told.setdefault(part, seen) != seen:
            raise PrivateFailure
    return told


class GroupedHere(GroupedTable):
    """Rows that are grouped by this process, in a scratch on its disk."""

    comes_here: ClassVar[bool] = True

    _standings: TableStandings | None = None

    def grouping(self) -> int:
        """Return what grouping takes: waiting pages of runs and of standings, and one bucket with its copies.

        A bucket is read until it has four times as many runs as are meant for one, or twice as many as are kept of it.
        """
        rows = self._rule.n_persons * self._rule.rows_at_most
        return 2 * WAITING_BYTES + RUN_BYTES * max(4 * BUCKET_RUNS, 2 * (rows // disk_buckets(rows)))

    def ready(self) -> None:
        """Refuse a disk without room for the declared persons; how many runs their rows have is private."""
        self._table.ready()
        needed = (RUN.itemsize + STANDING.itemsize) * self._rule.n_persons + 2 * WAITING_BYTES
        require_space(needed, f"a fit that groups the rows of {self._rule.n_persons} persons")

    def close(self) -> None:
        """Forget whose rows there were, and give the disk back."""
        found, self._standings = self._standings, None
        if found is not None:
            found.close()
        super().close()

    @property
    def _kept(self) -> int:
        return 0 if self._standings is None else self._standings.kept

    def kept_slots(self) -> KeptSlots:
        """Return what tells whose the kept rows are, once they are grouped."""
        found = self._standings
        return KeptSlots(lambda: iter(()) if found is None else found.since(0))

    def _group(self) -> Iterator[tuple[int, Told]]:
        rule = self._rule
        buckets, rows = disk_buckets(rule.n_persons * rule.rows_at_most), 0
        self._standings = TableStandings()
        with ExitStack() as held:
            runs = held.enter_context(Buckets(RUN, buckets))
            dealing = Dealing(rule, self._key, runs, buckets)
            for part, told in self._table.answers(dealing, [rule.column], None):
                rows = max(rows, told[2])
                yield part, told
            spans = disk_buckets(rows)
            span = -(-rows // spans) or 1
            found = held.enter_context(Buckets(STANDING, spans))
            for number in range(buckets):
                some = standings(_bucket(runs, number, rule.rows_at_most), rule.rows_at_most)
                found.add(some, some["first"] // span)
            runs.close()
            for number in range(spans):
                some = np.concatenate([*found.bucket(number)])
                self._standings.add(some[np.argsort(some["first"])], rule.n_persons)

    def _kept_answers(self, work: Keeping[Answer], names: Sequence[str]) -> Iterator[tuple[int, tuple[Told, Answer]]]:
        found = self._standings

        def on_part(batches: Iterator[Batch], first: int) -> tuple[Told, Answer]:
            return work.on(batches, first, KeptRows(found.since(first) if found is not None else iter(())))

        return self._table.answers(on_part, names, None)


def _bucket(runs: Buckets, number: int, rows_at_most: int) -> Runs:
    """Return the runs of a bucket; those of somebody's surplus rows are left out on the way, however many there are."""
    some, waiting, room = [np.empty(0, RUN)], 0, 4 * BUCKET_RUNS
    for page in runs.bucket(number):
        some.append(page)
        waiting += len(page)
        if waiting > room:
            some = [without_surplus(np.concatenate(some), rows_at_most)]
            waiting = len(some[0])
            room = max(room, 2 * waiting)
    return np.concatenate(some)
