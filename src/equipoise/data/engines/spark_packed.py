"""The rows of a DataFrame, packed once a fit: Spark turns its rows into Arrow's columns for a high price, paid here.

Each part becomes a few rows of many bytes, which Spark holds on its workers' disks until the fit ends. What it loses of
them it computes again from the DataFrame, so that whether these are the same rows is still for the digests to say.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from typing import Any

from equipoise.data.engines.base import Batch, quietly
from equipoise.data.engines.places import Span
from equipoise.data.engines.spark_session import library
from equipoise.data.engines.spark_work import Carried, bounded_batches, named_values, partition_number
from equipoise.errors import TableUnreadable

# A part's number, the place within the part of the first row that is packed, and the packed rows. The last of a part
# has none, and its place is the number of rows.
PACKED = "part bigint, place bigint, answer binary"
# About so many bytes are packed together: Java copies them several times, and has no good place for more.
PACKED_BYTES = 2**20
# The first rows of a table are copied, and go through no other part, where they are at most one of so many.
FEW = 8
# A task goes through about so many of them.
TASK_ROWS = 2**20
# Arrow's arrays begin at such addresses.
ALIGNMENT = 8


class PackedFrame:
    """Some columns of a DataFrame, packed part by part when first asked for, and held until they are let go."""

    def __init__(self, chosen: Any, columns: int) -> None:
        # How many columns there are, 0 where some have entries of any length.
        self._columns = columns

        def function(batches: Iterator[Any]) -> Iterator[Any]:
            return packed_part(partition_number(), batches)

        self.rows = _held(chosen.mapInArrow(function, PACKED))
        # Copies of the first rows, by how many these are.
        self._first: dict[int, Any] = {}

    def counts(self) -> dict[int, int]:
        """Return the number of rows of every part."""
        with bounded_batches(self.rows.sparkSession, self._columns):
            return {int(row[0]): int(row[1]) for row in self.rows.groupBy("part").max("place").collect()}

    def wanted(self, spans: Mapping[int, Span]) -> Any:
        """Return the packed rows of all parts, or a copy of those with wanted rows where these are few."""
        limits = {part: span.wanted for part, span in spans.items()}
        wanted = sum(limits.values())
        if FEW * wanted >= sum(span.count for span in spans.values()):
            return self.rows
        if wanted not in self._first:
            # Spark logs conditions of its own: these tell how many rows a part has.
            def function(batches: Iterator[Any]) -> Iterator[Any]:
                return first_packed(batches, limits)

            # A task costs a tenth of a second whatever it does, and what lies on disk is read before it is left out.
            few = self.rows.mapInArrow(function, PACKED).repartition(1 + wanted // TASK_ROWS, "part")
            self._first[wanted] = _held(few.sortWithinPartitions("part", "place"))
        return self._first[wanted]

    def close(self) -> None:
        """Have Spark drop what it holds; a session that is gone already must not undo what was paid for."""
        held, self._first = [*self._first.values(), self.rows], {}
        for rows in held:
            with suppress(Exception):
                rows.unpersist()


def _held(rows: Any) -> Any:
    """Return rows that Spark keeps once they are computed: on disk, where they take nobody's memory."""
    return rows.persist(library("pyspark").StorageLevel.DISK_ONLY)


def packed_part(part: int, batches: Iterator[Any]) -> Iterator[Any]:
    """Yield the record batches of a part, each as one row or more of packed ones, and a row that ends the part."""
    place = 0
    while (batch := quietly(lambda: next(batches, None))) is not None:
        for piece in _pieces(batch):
            yield _packed_row(part, place, quietly(lambda: _stream(piece)))  # noqa: B023 - called at once
            place += len(piece)
    yield _packed_row(part, place, b"")


def first_packed(batches: Iterator[Any], limits: Mapping[int, int]) -> Iterator[Any]:
    """Yield those of the packed rows that begin before the limit of their part.

    Examples
    --------
    >>> import pyarrow
    >>> rows = packed_part(7, iter([pyarrow.record_batch({"column0": [31, 52]})] * 3))
    >>> [row["place"].to_pylist() for row in first_packed(rows, {7: 3})]
    [[0], [2], [], []]
    """
    import pyarrow  # type: ignore[import-untyped]

    for batch in batches:
        parts, places = (column.to_pylist() for column in batch.columns[:2])
        yield batch.filter(
            pyarrow.array([place < limits.get(part, 0) for part, place in zip(parts, places, strict=True)])
        )


def _pieces(batch: Any) -> Iterator[Any]:
    count = max(1, len(batch) * PACKED_BYTES // max(1, batch.nbytes))
    for start in range(0, len(batch), count):
        yield batch.slice(start, count)


def _stream(batch: Any) -> bytes:
    import pyarrow

    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue())


def _packed_row(part: int, place: int, answer: bytes) -> Any:
    import pyarrow

    numbers = {"part": pyarrow.array([part], pyarrow.int64()), "place": pyarrow.array([place], pyarrow.int64())}
    return pyarrow.RecordBatch.from_pydict({**numbers, "answer": pyarrow.array([answer], pyarrow.binary())})


def unpacked(rows: Iterable[tuple[int, Any]], names: Sequence[str], ids: str) -> Iterator[Batch]:
    """Yield the rows of a part under their columns' names, from packed ones with their places; none may be missing.

    Examples
    --------
    >>> import pyarrow
    >>> rows = packed_part(7, iter([pyarrow.record_batch({"column0": [31, 52]})]))
    >>> [list(batch) for batch in unpacked(((row[1][0].as_py(), row[2][0].as_py()) for row in rows), ["age"], "")]
    [['age']]
    """
    import pyarrow

    reached = 0
    for place, row in rows:
        if place != reached:
            raise TableUnreadable
        buffer = pyarrow.py_buffer(row)
        if buffer.size:
            aligned = buffer.address % ALIGNMENT == 0
            for batch in pyarrow.ipc.open_stream(buffer if aligned else bytes(buffer)):
                reached += len(batch)
                yield named_values(batch, names, ids)


def on_packed(batches: Iterator[Any], errand: Carried, names: Sequence[str], ids: str) -> Iterator[Any]:
    """Yield the answers of the parts whose packed rows come here, one part after the other."""
    # What an errand leaves of a part is taken all the same: Spark ends a worker that has not read all of its rows.
    for part, rows in groupby(_numbered(batches), key=lambda row: row[0]):
        yield from errand(part, unpacked(((place, row) for _, place, row in rows), names, ids))


def _numbered(batches: Iterator[Any]) -> Iterator[tuple[int, int, Any]]:
    for batch in batches:
        parts, places, rows = batch.columns
        for part, place, row in zip(parts.to_pylist(), places.to_pylist(), rows, strict=True):
            yield part, place, row.as_buffer()
