"""Whose rows are kept where no place sees all ids: runs of a person's rows, grouped by keyed digests of their ids.

A *run* is rows of one person that follow each other. Ids themselves go nowhere: they are compared as digests of their
texts under a secret key that is drawn for the fit (docs/proofs/N12.md, "Persons"). What comes of grouping all runs of a
person is their *standing*: which rows are kept, and for how much each counts. It is what `equipoise.data.persons.Slots`
finds in memory, row for row.
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.data.schema.text import text_of

Runs = NDArray[Any]
Standings = NDArray[Any]
Array = NDArray[np.float64]
Places = NDArray[np.intp]
# What a part has seen of ids: a secret digest of its runs, the place of its first row and the one after its last.
Told = tuple[bytes, int, int]

DIGEST_BYTES = 24
KEY_BYTES = 32

# A run: the digest of the person's id, the place of its first row in the table, and how many rows it has.
RUN = np.dtype([("id", f"S{DIGEST_BYTES}"), ("first", "<i8"), ("length", "<i8")])
# Its first place, how many of its rows are kept (the first ones), how many are kept of the person in all, the place of
# the person's first row, and how many kept rows of anybody come before.
STANDING = np.dtype([(name, "<i8") for name in ("first", "kept", "rows", "origin", "rank")])


@dataclass(frozen=True, slots=True)
class PersonRule:
    """The public rule by which rows belong to persons: a column of ids, texts that are none, and two numbers."""

    column: str
    missing: frozenset[str]
    n_persons: int
    rows_at_most: int


class RunFinder:
    """Finds the runs of a part of the table, batch by batch; however rows come in batches, the runs are the same.

    Examples
    --------
    >>> finder = RunFinder(PersonRule("id", frozenset(), 9, 9), b"a secret", first=100)
    >>> [run["length"].tolist() for run in (finder.add(["ann", " ann", None]), finder.add(["ben"]), finder.end())]
    [[2], [], [1]]
    """

    def __init__(self, rule: PersonRule, key: bytes, first: int) -> None:
        self._missing, self._key, self._first, self._place = rule.missing, key, first, first
        self._waiting = np.empty(0, RUN)
        self._told = hashlib.blake2b(key=key, digest_size=DIGEST_BYTES, person=b"runs")

    def add(self, ids: Iterable[Any]) -> Runs:
        """Return the runs that have ended by now."""
        digests = self._digests(ids)
        starts = np.flatnonzero(np.append(True, digests[1:] != digests[:-1])) if len(digests) else np.empty(0, np.intp)
        found = np.empty(len(starts), RUN)
        found["id"], found["first"] = digests[starts], self._place + starts
        found["length"] = np.diff(np.append(starts, len(digests)))
        self._place += len(digests)
        if len(self._waiting) and len(found) and found["id"][0] == self._waiting["id"][0]:
            found["first"][0] = self._waiting["first"][0]
            found["length"][0] += self._waiting["length"][0]
            self._waiting = self._waiting[:0]
        found = np.concatenate([self._waiting, found])
        self._waiting, found = found[-1:], found[:-1]
        return self._of_somebody(found)

    def end(self) -> Runs:
        """Return the last run."""
        last, self._waiting = self._waiting, self._waiting[:0]
        return self._of_somebody(last)

    @property
    def told(self) -> Told:
        """What was seen of ids up to the last run that was returned."""
        return self._told.digest(), self._first, self._place

    def _of_somebody(self, runs: Runs) -> Runs:
        found: Runs = runs[runs["id"] != b""]
        self._told.update(found.tobytes())
        return found

    def _digests(self, ids: Iterable[Any]) -> NDArray[Any]:
        """Return the digest of every id, nothing where there is none; each text is digested once a batch."""
        known: dict[str | None, bytes] = dict.fromkeys((None, *self._missing), b"")
        entries = ids.tolist() if hasattr(ids, "tolist") else list(ids)
        found = np.empty(len(entries), f"S{DIGEST_BYTES}")
        for place, entry in enumerate(entries):
            text = text_of(entry)
            digest = known.get(text)
            if digest is None:
                # Half of a letter that takes two is no text by itself, and must not raise.
                content = (text or "").encode("utf-8", "surrogatepass")
                digest = known[text] = hashlib.blake2b(content, key=self._key, digest_size=DIGEST_BYTES).digest()
            found[place] = digest
        return found


def rows_told(told: Iterable[Told]) -> int | None:
    """Return how many rows parts have together, None where one is not there: their places follow each other.

    Examples
    --------
    >>> rows_told([(b"", 2, 5), (b"", 0, 2)]), rows_told([(b"", 2, 5)])
    (5, None)
    """
    reached = 0
    for first, stop in sorted((first, stop) for _, first, stop in told):
        if first != reached:
            return None
        reached = stop
    return reached


class Grouped(NamedTuple):
    """Runs in the order of persons and of places, with how many rows of each are kept, of how many, since where."""

    runs: Runs
    kept: NDArray[np.int64]
    rows: NDArray[np.int64]
    origins: NDArray[np.int64]


def grouped(runs: Runs, rows_at_most: int) -> Grouped:
    """Group the runs of persons; a run that came twice, from a part that was tried again, counts once."""
    runs = runs[np.lexsort((runs["first"], runs["id"]))]
    same = np.append(False, runs["id"][1:] == runs["id"][:-1])[: len(runs)]
    again = same & np.append(False, runs["first"][1:] == runs["first"][:-1])[: len(runs)]
    if (runs["length"][again] != runs["length"][np.flatnonzero(again) - 1]).any():
        raise ValueError("a run came twice and was not the same")
    runs, same = runs[~again], same[~again]
    persons = np.cumsum(~same) - 1
    starts = np.flatnonzero(~same)
    ends = np.cumsum(runs["length"])
    before = ends - runs["length"]
    before = before - before[starts][persons]
    kept = np.clip(rows_at_most - before, 0, runs["length"])
    totals = np.add.reduceat(kept, starts) if len(starts) else kept
    return Grouped(runs, kept, totals[persons], runs["first"][starts][persons])


def without_surplus(runs: Runs, rows_at_most: int) -> Runs:
    """Return the runs of which some row may be kept: what was left out here is left out of the whole table."""
    found = grouped(runs, rows_at_most)
    return found.runs[found.kept > 0]


def standings(runs: Runs, rows_at_most: int) -> Standings:
    """Return the standing of all runs of some persons, in the order of their places.

    Examples
    --------
    >>> runs = np.array([(b"a", 0, 2), (b"b", 2, 1), (b"a", 3, 5)], RUN)
    >>> [tuple(row)[:4] for row in standings(runs, 3).tolist()]
    [(0, 2, 3, 0), (2, 1, 1, 2), (3, 1, 3, 0)]
    """
    found = grouped(runs, rows_at_most)
    stand = np.zeros(len(found.runs), STANDING)
    stand["first"], stand["kept"], stand["rows"], stand["origin"] = (
        found.runs["first"],
        found.kept,
        found.rows,
        found.origins,
    )
    stand = stand[found.kept > 0]
    return stand[np.argsort(stand["first"])]


class KeptRows:
    """Tells, span of places after span, which rows are kept and for how much each counts.

    Examples
    --------
    >>> stand = standings(np.array([(b"a", 0, 2), (b"b", 2, 1), (b"a", 3, 5)], RUN), 4)
    >>> rows = KeptRows(iter([stand]))
    >>> [(places.tolist(), shares.tolist()) for places, shares in (rows.of(0, 4), rows.of(4, 9))]
    [([0, 1, 2, 3], [0.25, 0.25, 1.0, 0.25]), ([0], [0.25])]
    """

    def __init__(self, found: Iterator[Standings]) -> None:
        self._found = found
        self._waiting = next(found, np.empty(0, STANDING))
        # The number of kept rows before the first of these.
        self.rank = int(self._waiting["rank"][0]) if len(self._waiting) else 0

    def of(self, start: int, stop: int) -> tuple[Places, Array]:
        """Return the kept rows' positions from `start` on, and what each counts for: one over its person's rows."""
        while not len(self._waiting) or self._waiting["first"][-1] < stop:
            more = next(self._found, None)
            if more is None:
                break
            self._waiting = np.concatenate([self._waiting, more])
        here = self._waiting[: np.searchsorted(self._waiting["first"], stop)]
        ends = here["first"] + here["kept"]
        begins = np.maximum(here["first"], start)
        lengths = np.maximum(np.minimum(ends, stop) - begins, 0)
        self._waiting = self._waiting[np.count_nonzero(ends <= stop) :]
        # Runs follow each other, so that only the last one may go on.
        steps = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        shares: Array = np.repeat(1.0 / here["rows"], lengths)
        return (np.repeat(begins - start, lengths) + steps).astype(np.intp), shares
