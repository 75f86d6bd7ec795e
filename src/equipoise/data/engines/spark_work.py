"""What travels to a worker of Spark, and how rows and answers are written for the way.

What goes wrong there is told by one constant sentence, since Spark prints and keeps what its workers say.
"""

import pickle
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from equipoise.data.arrow_values import arrow_batch
from equipoise.data.engines.base import Batch, Work
from equipoise.data.engines.places import Span
from equipoise.data.engines.spark_session import library
from equipoise.data.raw import BATCH_ROWS, RawTable
from equipoise.errors import ENDINGS, PrivateFailure

# An answer comes in rows of so many bytes: neither Spark's rows nor Connect's messages may be of any length.
ROW_BYTES = 2**22
ANSWER = "part bigint, answer binary"
# Answers of so many parts come back at once; those of more wait in the cluster and are fetched one after the other.
AT_ONCE = 64
# A worker holds a batch of so many bytes, or one row.
BATCH_SETTING, BATCH_BYTES = "spark.sql.execution.arrow.maxBytesPerBatch", 2**24
ROWS_SETTING = "spark.sql.execution.arrow.maxRecordsPerBatch"
# What Spark takes for no bound on bytes, and the longest entry of fixed length (a decimal number).
UNBOUNDED, NUMBER_BYTES = 2**31 - 1, 16


# What travels to a worker: it is told a part's number and its batches, and yields record batches of numbers and bytes.
Carried = Callable[[int, Iterator[Batch]], Iterator[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class Errand:
    """What travels to a worker: work, and where the rows of every part lie, once that is known."""

    work: Work[Any]
    spans: Mapping[int, Span] | None = None

    def __call__(self, part: int, batches: Iterator[Batch]) -> Iterator[Any]:
        """Yield the part's number and its answer, as record batches."""
        answer = self._answer(part, batches)
        if answer is None:
            # Outside of the handler: no cause, and no line of one, is left in what Spark prints of it.
            raise PrivateFailure
        for start in range(0, len(answer), ROW_BYTES):
            yield answer_row(part, answer[start : start + ROW_BYTES])

    def _answer(self, part: int, batches: Iterator[Batch]) -> bytes | None:
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

        try:
            # One thread a task: cores are Spark's to share out, and sums keep their bits on workers with more of them.
            with np.errstate(all="ignore"), warnings.catch_warnings(), threadpool_limits(1):
                warnings.simplefilter("ignore")
                if self.spans is None:
                    return pickle.dumps(self.work(batches, 0))
                span = self.spans[part]
                return pickle.dumps(self.work(span.rows(batches), span.first))
        except ENDINGS:
            raise
        except BaseException:  # whatever it is may depend on rows
            return None


def answer_row(part: int, answer: bytes) -> Any:
    """Return a part's number and its answer as a record batch of one row."""
    import pyarrow  # type: ignore[import-untyped]

    return pyarrow.RecordBatch.from_pydict(
        {"part": pyarrow.array([part], pyarrow.int64()), "answer": pyarrow.array([answer], pyarrow.binary())}
    )


def answers_of(carried: Any, parts: int) -> Iterator[tuple[int, Any]]:
    """Yield the answers that lie in a DataFrame, with their parts' numbers."""
    for part, rows in groupby(_fetched(carried, parts), key=lambda row: int(row["part"])):
        yield part, pickle.loads(b"".join(row["answer"] for row in rows))  # noqa: S301 - from workers of our own


def _fetched(carried: Any, parts: int) -> Iterator[Any]:
    if parts <= AT_ONCE:
        with bounded_batches(carried.sparkSession):
            found = carried.collect()
        yield from found
        return
    # Fetching one after the other would compute one after the other: so all are computed first, and kept.
    kept = carried.persist()
    try:
        with bounded_batches(carried.sparkSession):
            kept.count()
        yield from kept.toLocalIterator()
    finally:
        kept.unpersist()


@contextmanager
def bounded_batches(session: Any, columns: int = 0) -> Iterator[None]:
    """Let a session send batches of bounded length to its workers: by itself it sends 256 MB, or 10,000 long rows.

    Where rows have so many columns of fixed length and no others, by their number: Spark would add up a batch's bytes
    after every row, more than a third of the price of one.
    """
    by_bytes, by_rows = (session.conf.get(name) for name in (BATCH_SETTING, ROWS_SETTING))
    if columns:
        session.conf.set(BATCH_SETTING, str(UNBOUNDED))
        session.conf.set(ROWS_SETTING, str(max(1, min(BATCH_ROWS, BATCH_BYTES // (NUMBER_BYTES * columns)))))
    else:
        session.conf.set(BATCH_SETTING, str(BATCH_BYTES))
    try:
        yield
    finally:
        session.conf.set(BATCH_SETTING, by_bytes)
        session.conf.set(ROWS_SETTING, by_rows)


def partition_number() -> int:
    """Return the number of the partition that this task works on."""
    return int(library("pyspark").TaskContext.get().partitionId())


def named_values(batch: Any, names: Sequence[str], ids: str = "") -> Batch:
    """Return a record batch's columns, in their order, under these names; of ids no digit is lost."""
    return arrow_batch(dict(zip(names, batch.columns, strict=True)), ids)


def read_parts(batches: Iterator[Any], parts: Sequence[bytes], errand: Carried, names: Sequence[str]) -> Iterator[Any]:
    """Yield the answers of the parts whose numbers are in the batches."""
    for batch in batches:
        for part in batch.column(0).to_pylist():
            raw: RawTable = pickle.loads(parts[part])  # noqa: S301 - from a driver of our own
            yield from errand(part, raw.batches(names))
