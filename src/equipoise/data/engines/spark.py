"""Spark: work goes to the partitions of a DataFrame, or to parts of files, by `mapInArrow`, locally or by Connect.

Where a partition is, how often it is tried and by whom is Spark's business. What it sends back are sums; what goes
wrong there is told by one constant sentence, since Spark prints and keeps what its workers say.
"""

import pickle
import warnings
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, ClassVar

import numpy as np

from equipoise.data.arrow_values import arrow_values
from equipoise.data.engines.base import Answer, Batch, Engine, PartedTable, Work, as_declared, batch_length, count_rows
from equipoise.data.engines.spark_session import library, require_workers, session_at
from equipoise.data.many_files import absolute, open_files, require_files
from equipoise.data.raw import RawTable, arrow_kinds, check_names, constant_failure
from equipoise.errors import InvalidData, PrivateFailure, TableUnreadable

# An answer comes in rows of so many bytes: neither Spark's rows nor Connect's messages may be of any length.
ROW_BYTES = 2**22
ANSWER = "part bigint, answer binary"
# Answers of so many parts come back at once; those of more wait in the cluster and are fetched one after the other.
AT_ONCE = 64


class Spark(Engine):
    """Tables on a cluster of Spark's, or on this machine by a session of its own; DataFrames are tables as they are."""

    id: ClassVar[str] = "spark"

    def open(self, path: Any, delimiter: str, scheduler: str | None) -> RawTable:
        """Return files whose parts are read by workers, with the readers that every engine has."""
        return SparkFiles(open_files(absolute(path), delimiter), scheduler)

    def frame_table(self, frame: Any) -> PartedTable | None:
        """Return a Spark DataFrame as a table."""
        kind = type(frame)
        its_own = kind.__module__.startswith("pyspark.sql.") and kind.__name__ == "DataFrame"
        return SparkFrame(frame) if its_own else None


@dataclass(frozen=True, slots=True)
class Span:
    """Where a part's rows lie in the table: their first place, how many there are, and how many are wanted."""

    first: int
    count: int
    wanted: int


def spans(counts: dict[int, int], n_samples: int | None) -> dict[int, Span]:
    """Return where each part's rows lie, in the order of the parts' numbers; all rows are wanted where none is declared.

    Examples
    --------
    >>> spans({1: 3, 0: 2}, 4)
    {0: Span(first=0, count=2, wanted=2), 1: Span(first=2, count=3, wanted=2)}
    """
    found, first = dict[int, Span](), 0
    for part, count in sorted(counts.items()):
        found[part] = Span(first, count, count if n_samples is None else max(0, min(count, n_samples - first)))
        first += count
    return found


def wanted_rows(batches: Iterator[Batch], span: Span) -> Iterator[Batch]:
    """Yield the wanted rows of a part; a part that has another number of rows than were counted is no longer the same.

    Examples
    --------
    >>> [batch["age"].tolist() for batch in wanted_rows(iter([{"age": np.array([31.0, 52.0])}]), Span(7, 2, 1))]
    [[31.0]]
    """
    left, whole = span.wanted, span.wanted == span.count
    if not left and not whole:
        return
    for batch in batches:
        length = batch_length(batch)
        if length > left and whole:
            raise TableUnreadable
        yield batch if length <= left else {name: values[:left] for name, values in batch.items()}
        left -= length
        if left <= 0 and not whole:
            return
    if left > 0:
        raise TableUnreadable


@dataclass(frozen=True, slots=True, eq=False)
class Errand:
    """What travels to a worker: work, and where the rows of every part lie, once that is known."""

    work: Work[Any]
    spans: dict[int, Span] | None = None

    def __call__(self, part: int, batches: Iterator[Batch]) -> Iterator[Any]:
        """Yield the part's number and its answer, as record batches."""
        import pyarrow  # type: ignore[import-untyped]

        answer = self._answer(part, batches)
        if answer is None:
            # Outside of the handler: no cause, and no line of one, is left in what Spark prints of it.
            raise PrivateFailure
        for start in range(0, len(answer), ROW_BYTES):
            yield pyarrow.RecordBatch.from_pydict(
                {
                    "part": pyarrow.array([part], pyarrow.int64()),
                    "answer": pyarrow.array([answer[start : start + ROW_BYTES]], pyarrow.binary()),
                }
            )

    def _answer(self, part: int, batches: Iterator[Batch]) -> bytes | None:
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

        try:
            # One thread a task: cores are Spark's to share out, and sums keep their bits on workers with more of them.
            with np.errstate(all="ignore"), warnings.catch_warnings(), threadpool_limits(1):
                warnings.simplefilter("ignore")
                if self.spans is None:
                    return pickle.dumps(self.work(batches, 0))
                span = self.spans[part]
                return pickle.dumps(self.work(wanted_rows(batches, span), span.first))
        except Exception:  # whatever it is may depend on rows
            return None


def answers_of(carried: Any, parts: int) -> Iterator[tuple[int, Any]]:
    """Yield the answers that lie in a DataFrame, with their parts' numbers."""
    for part, rows in groupby(_fetched(carried, parts), key=lambda row: int(row["part"])):
        yield part, pickle.loads(b"".join(row["answer"] for row in rows))  # noqa: S301 - from workers of our own


def _fetched(carried: Any, parts: int) -> Iterator[Any]:
    if parts <= AT_ONCE:
        yield from carried.collect()
        return
    # Fetching one after the other would compute one after the other: so all are computed first, and kept.
    kept = carried.persist()
    try:
        kept.count()
        yield from kept.toLocalIterator()
    finally:
        kept.unpersist()


class SparkTable(PartedTable):
    """What frames and files on Spark share: parts are counted once, and then each knows its first place."""

    def __init__(self) -> None:
        self._counts: dict[int, int] | None = None

    def close(self) -> None:
        """Forget how many rows its parts have; the session stays for the next table."""
        self._counts = None

    @abstractmethod
    def _carried(self, errand: Errand, names: Sequence[str]) -> Any:
        """Return what comes of an errand to all parts: a DataFrame of numbers and answers, not yet computed."""

    def _counted(self, names: Sequence[str]) -> dict[int, int]:
        """Return the number of rows of every part; it is private, and so is the pass that finds it."""
        return dict(answers_of(self._carried(Errand(count_rows), names), 0))

    def spans(self, names: Sequence[str], n_samples: int | None) -> dict[int, Span]:
        """Return where the rows of every part lie."""
        if self._counts is None:
            self._counts = self._counted(names)
        return spans(self._counts, n_samples)

    def answers(self, work: Work[Answer], names: Sequence[str], n_samples: int | None) -> Iterator[tuple[int, Answer]]:
        """Carry work to every part by Spark; rows that lack are added up here."""
        self.require_same_files()
        places = self.spans(names, n_samples)
        total = sum(span.count for span in places.values())
        yield from answers_of(self._carried(Errand(work, places), names), len(places))
        if n_samples is not None and total < n_samples:
            lacking = as_declared(iter(()), names, n_samples - total)
            yield max(places, default=-1) + 1, work(lacking, total)
        self.require_same_files()


class SparkFrame(SparkTable):
    """A Spark DataFrame, unread: a row's place is its position in its partition, after those of the ones before.

    Spark evaluates a frame again for every pass, and the rows must then be the same in the same places: a frame that
    draws at random or whose rows come in the order in which a shuffle ends should be written to files first.
    """

    def __init__(self, frame: Any, source: str = "the Spark data frame") -> None:
        super().__init__()
        library()
        self.source, self.n_samples = source, None
        self.names = check_names(list(frame.columns), source)
        self.kinds = arrow_kinds(_arrow_schema(frame.schema, source), source)
        if frame.isStreaming:
            remedy = "write what has come so far to files, and pass spark.read of them"
            raise InvalidData(f"a table of a fixed number of rows as {source}", "a stream, which has no end", remedy)
        self._session = frame.sparkSession
        # Spark reads dots in names as paths, and does not tell capitals from small letters.
        self._frame = frame.toDF(*(f"column{place}" for place in range(len(self.names))))

    def ready(self) -> None:
        """Fail now if its workers do not answer or lack the library."""
        require_workers(self._session)

    def _chosen(self, names: Sequence[str]) -> Any:
        return self._frame.select(*(f"column{self.names.index(name)}" for name in names))

    def _carried(self, errand: Errand, names: Sequence[str]) -> Any:
        def function(batches: Iterator[Any]) -> Iterator[Any]:
            return errand(partition_number(), (named_values(batch, names) for batch in batches))

        return self._chosen(names).mapInArrow(function, ANSWER)

    def batches(self, names: Sequence[str]) -> Iterator[Batch]:
        """Yield the rows of these columns, as Arrow holds them on the workers."""
        import pyarrow

        def function(batches: Iterator[Any]) -> Iterator[Any]:
            return packed(batches)

        with constant_failure():
            for row in self._chosen(names).mapInArrow(function, "rows binary").toLocalIterator(prefetchPartitions=True):
                for batch in pyarrow.ipc.open_stream(bytes(row["rows"])):
                    yield named_values(batch, names)


def _arrow_schema(schema: Any, source: str) -> Any:
    """Return a Spark schema as Arrow's; a type that Arrow lacks is refused like the nested ones."""
    import pyarrow

    types, fields = library("pyspark.sql.pandas.types"), []
    for field in schema.fields:
        try:
            fields.append((field.name, types.to_arrow_type(field.dataType)))
        except Exception:  # of PySpark's own kinds
            found = f"other types: {field.name} ({field.dataType.simpleString()})"
            remedy = "leave these columns out of the table, or write them as numbers or text"
            raise InvalidData(f"columns of numbers or text in {source}", found, remedy) from None
    return pyarrow.schema(fields)


def partition_number() -> int:
    """Return the number of the partition that this task works on."""
    return int(library("pyspark").TaskContext.get().partitionId())


def named_values(batch: Any, names: Sequence[str]) -> Batch:
    """Return a record batch's columns, in their order, under these names."""
    return {name: arrow_values(column) for name, column in zip(names, batch.columns, strict=True)}


def packed(batches: Iterator[Any]) -> Iterator[Any]:
    """Yield each record batch as the bytes of an Arrow stream, in a batch of one row."""
    import pyarrow

    for batch in batches:
        sink = pyarrow.BufferOutputStream()
        with pyarrow.ipc.new_stream(sink, batch.schema) as writer:
            writer.write_batch(batch)
        yield pyarrow.RecordBatch.from_pydict({"rows": pyarrow.array([sink.getvalue().to_pybytes()], pyarrow.binary())})


class SparkFiles(SparkTable):
    """Files whose parts are read by workers: a row's place is its position in the declared order of files."""

    def __init__(self, raw: RawTable, scheduler: str | None) -> None:
        super().__init__()
        library()
        self._raw, self._scheduler = raw, scheduler
        self._session: Any = None
        self.names, self.n_samples = raw.names, raw.n_samples
        self.kinds, self.source, self.files = raw.kinds, raw.source, raw.files
        # Each worker unpacks the part that it reads, and no other.
        parts = raw.parts()
        self._packed = tuple(pickle.dumps(part) for part in parts)
        self._told = [part.n_samples for part in parts]

    def ready(self) -> None:
        """Fail now if the scheduler or its workers do not answer, lack the library, or cannot open the files."""
        require_files(self._raw)
        self._session = session_at(self._scheduler)
        require_workers(self._session, tuple(map(str, self.files)))

    def require_same_files(self) -> None:
        """Refuse a folder that holds other files than when it was opened."""
        self._raw.require_same_files()

    def batches(self, names: Sequence[str]) -> Iterator[Batch]:
        """Yield the rows of these columns, read here."""
        return self._raw.batches(names)

    def _counted(self, names: Sequence[str]) -> dict[int, int]:
        """Return what footers tell about every part, or count where one has none."""
        told = {part: count for part, count in enumerate(self._told) if count is not None}
        return told if len(told) == len(self._told) else super()._counted(names[:1])

    def _carried(self, errand: Errand, names: Sequence[str]) -> Any:
        parts = self._packed

        def function(batches: Iterator[Any]) -> Iterator[Any]:
            return read_parts(batches, parts, errand, names)

        if self._session is None:
            self._session = session_at(self._scheduler)
        count = len(parts)
        return self._session.range(0, count, 1, count).mapInArrow(function, ANSWER)


def read_parts(batches: Iterator[Any], parts: Sequence[bytes], errand: Errand, names: Sequence[str]) -> Iterator[Any]:
    """Yield the answers of the parts whose numbers are in the batches."""
    for batch in batches:
        for part in batch.column(0).to_pylist():
            raw: RawTable = pickle.loads(parts[part])  # noqa: S301 - from a driver of our own
            yield from errand(part, raw.batches(names))
