"""Persons on Spark: runs go to buckets and standings to parts by Spark's own shuffle; files are read where those are.

A DataFrame has no places by which a second one could be joined to it without moving rows: the rows of a partition are
sent, packed and in order, to where its standings are.
"""

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equipoise.data.engines.base import Answer, Batch, quietly
from equipoise.data.engines.grouped import Keeping
from equipoise.data.engines.places import Span
from equipoise.data.engines.shuffled import (
    FindingRuns,
    Found,
    KeptWork,
    ShuffledTable,
    bucket_standings,
    part_standings,
    shuffle_buckets,
)
from equipoise.data.engines.spark_work import ANSWER, ROW_BYTES, Errand, answer_row, answers_of, bounded_batches
from equipoise.data.person_runs import RUN, STANDING, PersonRule, Standings, Told

if TYPE_CHECKING:
    from equipoise.data.engines.spark import SparkTable

# Among buckets' numbers: what a part tells of its ids.
TOLD = -1


class SparkPersons(ShuffledTable):
    """The kept rows of persons, of files or a DataFrame on Spark."""

    def __init__(self, table: "SparkTable", rule: PersonRule) -> None:
        super().__init__(table, rule)
        self._spark = table
        # The standings of every part, which Spark holds.
        self._held: Any = None

    def ready(self) -> None:
        """Fail now if workers do not answer, lack the library, or cannot open the files."""
        self._spark.ready()

    def close(self) -> None:
        """Have Spark drop what it holds; a session that is gone already must not undo what was paid for."""
        held, self._held = self._held, None
        with suppress(Exception):
            if held is not None:
                held.unpersist()
        super().close()

    def _shuffle(self) -> Iterator[tuple[int, Told]]:
        names, rule, buckets = [self._rule.column], self._rule, shuffle_buckets(self._rule)
        self._spark.require_same_files()
        spans = self._spark.spans(names, None)
        firsts = {part: span.first for part, span in spans.items()}

        def function(batches: Iterator[Any]) -> Iterator[Any]:
            return grouped_rows(batches, rule, firsts)

        runs = self._spark.carried(RunsErrand(FindingRuns(rule, self._key), spans), names).persist()
        try:
            with bounded_batches(self._spark.session):
                told = runs.where(f"part = {TOLD}").collect()
            yield from (pickle.loads(row["answer"]) for row in told)  # noqa: S301
            found = runs.where(f"part <> {TOLD}").repartition(buckets, "part").mapInArrow(function, ANSWER)
            # Every part is there, those without a row of anybody too.
            everywhere = self._spark.session.range(0, len(spans), 1, 1)
            marks = everywhere.selectExpr("id as part", "cast('' as binary) as answer")
            self._held = found.union(marks).repartition(max(1, len(spans)), "part").persist()
            with bounded_batches(self._spark.session):
                self._held.count()
        finally:
            runs.unpersist()

    def _of_standings(self, function: Callable[[int, Standings], Found]) -> dict[int, Found]:
        def on_parts(batches: Iterator[Any]) -> Iterator[Any]:
            return standing_rows(batches, function)

        return dict(answers_of(self._held.mapInArrow(on_parts, ANSWER), len(self._parts)))

    def _kept_answers(self, work: Keeping[Answer], names: Sequence[str]) -> Iterator[tuple[int, tuple[Told, Answer]]]:
        self._spark.require_same_files()
        carry = Carry(self._kept_work(work), self._spark.spans(names, None))
        parts = max(1, len(carry.spans))
        yield from answers_of(self._spark.beside(self._held, parts, carry, names), parts)
        self._spark.require_same_files()


@dataclass(frozen=True, slots=True, eq=False)
class RunsErrand:
    """What travels to a part for its runs."""

    work: FindingRuns
    spans: dict[int, Span]

    def __call__(self, part: int, batches: Iterator[Batch]) -> Iterator[Any]:
        """Yield what the part tells of its ids, and its runs with the numbers of their buckets."""
        span = self.spans[part]
        told, buckets = quietly(lambda: self.work(span.rows(batches), span.first))
        yield answer_row(TOLD, pickle.dumps((part, told)))
        for bucket, runs in buckets.items():
            yield from record_rows(bucket, runs)


def record_rows(number: int, records: NDArray[Any]) -> Iterator[Any]:
    """Yield records as rows of bytes, each with a whole number of records: rows may come back in any order."""
    count = max(1, ROW_BYTES // records.dtype.itemsize)
    for start in range(0, len(records), count):
        yield answer_row(number, records[start : start + count].tobytes())


def _rows(batches: Iterator[Any]) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of record batches."""
    for batch in batches:
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def grouped_rows(batches: Iterator[Any], rule: PersonRule, firsts: dict[int, int]) -> Iterator[Any]:
    """Yield the standings of the runs in some buckets, with the numbers of their parts."""
    found = quietly(lambda: bucket_standings([np.frombuffer(runs, RUN) for _, runs in _rows(batches)], rule, firsts))
    for part, standings in found.items():
        yield from record_rows(part, standings)


def _standings(rows: Iterable[bytes]) -> Standings:
    return part_standings([np.frombuffer(row, STANDING) for row in rows])


def _by_part(batches: Iterator[Any]) -> Iterator[tuple[int, Standings]]:
    """Yield the parts whose standings are here, which are few."""
    found: dict[int, list[bytes]] = {}
    for part, row in _rows(batches):
        found.setdefault(int(part), []).append(row)
    for part in sorted(found):
        yield part, _standings(found[part])


def standing_rows(batches: Iterator[Any], function: Callable[[int, Standings], Any]) -> Iterator[Any]:
    """Yield what a function makes of the standings of every part that is here."""
    answers = quietly(lambda: {part: function(part, found) for part, found in _by_part(batches)})
    for part, answer in answers.items():
        yield answer_row(part, pickle.dumps(answer))


@dataclass(frozen=True, slots=True, eq=False)
class Carry:
    """What travels to where the standings of parts are: work on the kept rows of each."""

    works: dict[int, KeptWork[Any]]
    spans: dict[int, Span]

    def on_files(self, batches: Iterator[Any], read: Callable[[int], Iterator[Batch]]) -> Iterator[Any]:
        """Yield the answers of parts that are read here."""
        for part, found in quietly(lambda: list(_by_part(batches))):
            yield from self._answer(part, found, read(part))

    def on_rows(
        self, batches: Iterator[Any], read: Callable[[Iterable[tuple[int, bytes]]], Iterator[Batch]]
    ) -> Iterator[Any]:
        """Yield the answers of parts whose standings, and then their rows, come in order."""
        for part, rows in groupby(_rows(batches), key=lambda row: int(row[0])):
            standings, others = [], chain[Any]()
            for _, place, row in rows:
                if place >= 0:
                    others = chain([(place, row)], ((place, row) for _, place, row in rows))
                    break
                standings.append(row)
            yield from self._answer(part, _standings(standings), read(others))

    def _answer(self, part: int, found: Standings, batches: Iterator[Batch]) -> Iterator[Any]:
        work = self.works[part]
        return Errand(lambda rows, first: work(rows, first, found), self.spans)(part, batches)
