"""Persons on Dask: parts answer with runs by bucket, buckets with standings by part, and parts hold their own.

Who computes what, where, and how often is Dask's business: what a lost worker held is made again from the same rows
under the same key, with the same bits.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from equipoise.data.engines.base import Answer
from equipoise.data.engines.dask_work import PartTask, Quiet
from equipoise.data.engines.grouped import Keeping
from equipoise.data.engines.shuffled import (
    FindingRuns,
    Found,
    PartRuns,
    ShuffledTable,
    bucket_standings,
    part_standings,
    shuffle_buckets,
)
from equipoise.data.person_runs import RUN, STANDING, PersonRule, Standings, Told

if TYPE_CHECKING:
    from equipoise.data.engines.dask import DaskTable


class DaskPersons(ShuffledTable):
    """The kept rows of persons, of files or a data frame on Dask."""

    def __init__(self, table: "DaskTable", rule: PersonRule) -> None:
        super().__init__(table, rule)
        self._dask = table
        # Dask's futures of the standings of every part, which its workers hold.
        self._standings: dict[int, Any] = {}

    def ready(self) -> None:
        """Connect, and require workers that have this library and see the files."""
        self._dask.ready()

    def close(self) -> None:
        """Let the workers go."""
        self._standings = {}
        super().close()

    def _shuffle(self) -> Iterator[tuple[int, Told]]:
        names, rule, buckets = [self._rule.column], self._rule, range(shuffle_buckets(self._rule))
        parts = self._dask.wanted(self._dask.spans(names, None), names)
        tasks = {number: PartTask(FindingRuns(rule, self._key), rows) for number, rows in parts.items()}
        runs = self._dask.submitted(tasks, names)
        yield from self._dask.arriving({number: self._done(_told, part) for number, part in runs.items()})
        firsts = {number: rows.first for number, rows in parts.items()}
        found = [
            self._done(bucket_standings, [self._done(_bucket, part, bucket) for part in runs.values()], rule, firsts)
            for bucket in buckets
        ]
        self._standings = {
            number: self._done(part_standings, [self._done(_part, bucket, number) for bucket in found])
            for number in runs
        }

    def _done(self, function: Callable[..., Any], *given: Any) -> Any:
        """Return Dask's future of a function of what other futures stand for."""
        return self._dask.submit(Quiet(function), *given)

    def _of_standings(self, function: Callable[[int, Standings], Found]) -> dict[int, Found]:
        futures = {number: self._done(function, number, found) for number, found in self._standings.items()}
        return dict(self._dask.arriving(futures))

    def _kept_answers(self, work: Keeping[Answer], names: Sequence[str]) -> Iterator[tuple[int, tuple[Told, Answer]]]:
        parts = self._dask.wanted(self._dask.spans(names, None), names)
        tasks = {number: PartTask(kept, parts[number]) for number, kept in self._kept_work(work).items()}
        beside = [self._standings[number] for number in tasks]
        self._dask.require_same_files()
        yield from self._dask.arriving(self._dask.submitted(tasks, names, beside))
        self._dask.require_same_files()


def _told(runs: PartRuns) -> Told:
    return runs.told


def _bucket(runs: PartRuns, bucket: int) -> Any:
    return runs.buckets.get(bucket, np.empty(0, RUN))


def _part(found: dict[int, Standings], number: int) -> Any:
    return found.get(number, np.empty(0, STANDING))
