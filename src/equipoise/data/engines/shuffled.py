"""Persons of a table whose rows are with workers: runs go from parts to buckets and come back as standings.

What a part or a bucket does is written once here; how it travels is the engine's own shuffle. The process that asks
sees no id and nothing as long as the table: what each part tells of its ids in a digest, how many persons begin in it
and how many of its rows are kept. All of it is private, and is forgotten when the fit ends.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from equipoise.data.engines.base import Answer, Batch, PartedTable
from equipoise.data.engines.grouped import GroupedTable, Keeping, bucket_of, buckets_for
from equipoise.data.person_runs import (
    RUN,
    STANDING,
    KeptRows,
    PersonRule,
    RunFinder,
    Runs,
    Standings,
    Told,
    standings,
    without_surplus,
)

Found = TypeVar("Found")

# About so many runs a bucket has where nobody has a surplus of rows; it is grouped in a worker's memory. Every part
# sends something to every bucket, so there are not too many of them.
BUCKET_RUNS = 2**20
MOST_BUCKETS = 256


def shuffle_buckets(rule: PersonRule) -> int:
    """Return how many buckets the runs of a table are dealt to, by public numbers.

    Examples
    --------
    >>> shuffle_buckets(PersonRule("id", frozenset(), n_persons=10**6, rows_at_most=100))
    96
    """
    return buckets_for(rule.n_persons * rule.rows_at_most, BUCKET_RUNS, MOST_BUCKETS)


class PartRuns(NamedTuple):
    """What a part tells of its ids, and its runs by the bucket that they go to."""

    told: Told
    buckets: dict[int, Runs]


@dataclass(frozen=True, slots=True, eq=False)
class FindingRuns:
    """Work on the ids of a part: its runs, without those of a person of whom the part has more rows than are kept."""

    rule: PersonRule
    key: bytes

    def __call__(self, batches: Iterator[Batch], first: int) -> PartRuns:
        """Return the runs of a part."""
        finder = RunFinder(self.rule, self.key, first)
        found = [finder.add(batch[self.rule.column]) for batch in batches]
        runs = without_surplus(np.concatenate([*found, finder.end()]), self.rule.rows_at_most)
        buckets = bucket_of(runs, shuffle_buckets(self.rule))
        return PartRuns(finder.told, {int(number): runs[buckets == number] for number in np.unique(buckets)})


def bucket_standings(several: Sequence[Runs], rule: PersonRule, firsts: Mapping[int, int]) -> dict[int, Standings]:
    """Return the standings of a bucket's runs by the part in which each lies; `firsts` are the parts' first places.

    Examples
    --------
    >>> several = [np.array([(b"a", 0, 2)], RUN), np.array([(b"a", 2, 2)], RUN)]
    >>> found = bucket_standings(several, PersonRule("id", frozenset(), 9, 3), {0: 0, 1: 2})
    >>> {part: some["kept"].tolist() for part, some in found.items()}
    {0: [2], 1: [1]}
    """
    found = standings(np.concatenate([np.empty(0, RUN), *several]), rule.rows_at_most)
    parts, places = np.array([*firsts]), np.array([*firsts.values()])
    order = np.lexsort((parts, places))
    # Parts without rows begin where the next one does, which is the one that has them.
    among = parts[order][np.searchsorted(places[order], found["first"], side="right") - 1]
    return {int(part): found[among == part] for part in np.unique(among)}


def part_standings(several: Sequence[Standings]) -> Standings:
    """Return the standings of a part's runs, which come from all buckets, in the order of their places."""
    found = np.concatenate([np.empty(0, STANDING), *several])
    return found[np.argsort(found["first"])]


class Summary(NamedTuple):
    """How many persons first appear in a part, and how many of its rows are kept."""

    persons: int
    kept: int


@dataclass(frozen=True, slots=True)
class Summarising:
    """Sums up the standings of a part, of persons who first appear before some place if one is given."""

    end: int | None

    def __call__(self, part: int, found: Standings) -> Summary:
        """Return the summary."""
        found = _before(found, self.end)
        return Summary(int(np.count_nonzero(found["first"] == found["origin"])), int(found["kept"].sum()))


@dataclass(frozen=True, slots=True)
class Appearing:
    """Finds where a person first appears: the one of this number, from 0, among those who do in one part."""

    part: int
    number: int

    def __call__(self, part: int, found: Standings) -> int:
        """Return the place, 0 for other parts."""
        return int(found["first"][found["first"] == found["origin"]][self.number]) if part == self.part else 0


def _before(found: Standings, end: int | None) -> Standings:
    return found if end is None else found[found["origin"] < end]


@dataclass(frozen=True, slots=True, eq=False)
class KeptWork(Generic[Answer]):
    """Work on the kept rows of a part, whose standings come with it."""

    keeping: Keeping[Answer]
    end: int | None
    rank: int

    def __call__(self, batches: Iterator[Batch], first: int, found: Standings) -> tuple[Told, Answer]:
        """Return what was seen of ids, and the work's answer."""
        found = _before(found, self.end).copy()
        found["rank"] = self.rank + np.cumsum(found["kept"]) - found["kept"]
        return self.keeping.on(batches, first, KeptRows(iter([found])))


class ShuffledTable(GroupedTable):
    """Rows of persons that workers group among themselves."""

    def __init__(self, table: PartedTable, rule: PersonRule) -> None:
        super().__init__(table, rule)
        self._end: int | None = None
        self._parts: dict[int, Summary] = {}

    @abstractmethod
    def _shuffle(self) -> Iterator[tuple[int, Told]]:
        """Have the standings of every part made and held by the workers; yield what parts tell of their ids."""

    @abstractmethod
    def _of_standings(self, function: Callable[[int, Standings], Found]) -> dict[int, Found]:
        """Return what a function makes of each part's number and standings, where they are."""

    def close(self) -> None:
        """Forget whose rows there were."""
        self._end, self._parts = None, {}
        super().close()

    def _group(self) -> Iterator[tuple[int, Told]]:
        yield from self._shuffle()
        self._parts = self._of_standings(Summarising(None))
        wanted = self._rule.n_persons
        # The first persons that appear are kept, as many as declared.
        if sum(part.persons for part in self._parts.values()) > wanted:
            for number, part in sorted(self._parts.items()):
                if part.persons > wanted:
                    self._end = self._of_standings(Appearing(number, wanted))[number]
                    break
                wanted -= part.persons
            self._parts = self._of_standings(Summarising(self._end))

    @property
    def _kept(self) -> int:
        return sum(part.kept for part in self._parts.values())

    def _kept_work(self, keeping: Keeping[Answer]) -> dict[int, KeptWork[Answer]]:
        """Return the work of each part, which knows how many rows are kept before its own."""
        found, rank = dict[int, KeptWork[Answer]](), 0
        for number, part in sorted(self._parts.items()):
            found[number] = KeptWork(keeping, self._end, rank)
            rank += part.kept
        return found
