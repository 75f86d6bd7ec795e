"""Spark: work goes to the partitions of a DataFrame, or to parts of files, by `mapInArrow`, locally or by Connect.

Where a partition is, how often it is tried and by whom is Spark's business. What it sends back are sums; what goes
wrong there is told by one constant sentence, since Spark prints and keeps what its workers say.
"""

import pickle
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, ClassVar, Self

from equipoise.data.engines.base import Answer, Batch, Engine, PartedTable, Work, count_rows
from equipoise.data.engines.places import CountedTable, Span
from equipoise.data.engines.spark_packed import PACKED, PackedFrame, on_packed, packed_part, unpacked
from equipoise.data.engines.spark_persons import Carry, SparkPersons
from equipoise.data.engines.spark_scans import scanned_files
from equipoise.data.engines.spark_session import library, require_workers, session_at
from equipoise.data.engines.spark_work import (
    ANSWER,
    Carried,
    Errand,
    answers_of,
    partition_number,
    read_parts,
)
from equipoise.data.many_files import absolute, open_files, require_files
from equipoise.data.person_runs import PersonRule
from equipoise.data.raw import RawTable, arrow_kinds, arrow_number_types, check_names, constant_failure
from equipoise.data.schema.file_format import FileFormat
from equipoise.errors import InvalidData


class Spark(Engine):
    """Tables on a cluster of Spark's, or on this machine by a session of its own; DataFrames are tables as they are."""

    id: ClassVar[str] = "spark"

    def open(self, path: Any, file: FileFormat, scheduler: str | None) -> RawTable:
        """Return files whose parts are read by workers, with the readers that every engine has."""
        return SparkFiles(self.in_pieces(open_files(absolute(path), file)), scheduler)

    def frame_table(self, frame: Any) -> PartedTable | None:
        """Return a Spark DataFrame as a table."""
        kind = type(frame)
        its_own = kind.__module__.startswith("pyspark.sql.") and kind.__name__ == "DataFrame"
        if not its_own:
            return None
        table = SparkFrame(frame)
        files = scanned_files(frame, _arrow_schema(frame.schema, table.source))
        return table if files is None else ScannedFrame(table, files)


class SparkTable(CountedTable):
    """What frames and files on Spark share: errands to all parts, and their answers. The session outlives a table."""

    # Where this table's work goes.
    session: Any

    @abstractmethod
    def carried(self, errand: Carried, names: Sequence[str]) -> Any:
        """Return what comes of an errand to all parts: a DataFrame of numbers and answers, not yet computed."""

    def grouped(self, rule: PersonRule) -> PartedTable:
        """Return the kept rows of persons, grouped by the workers."""
        return SparkPersons(self.with_ids(rule.column), rule)

    @abstractmethod
    def beside(self, held: Any, parts: int, carry: Carry, names: Sequence[str]) -> Any:
        """Return what comes of work on all parts, each with what a DataFrame holds for it by the part's number."""

    def _counted(self, names: Sequence[str]) -> Mapping[int, int]:
        """Return the number of rows of every part; it is private, and so is the pass that finds it."""
        return dict(answers_of(self.carried(Errand(count_rows), names), 0))

    def _worked(
        self, work: Work[Answer], places: Mapping[int, Span], names: Sequence[str]
    ) -> Iterator[tuple[int, Answer]]:
        yield from answers_of(self.carried(Errand(work, places), names), len(places))


class SparkFrame(SparkTable):
    """A Spark DataFrame, unread: a row's place is its position in its partition, after those of the ones before.

    Spark evaluates a frame when it is packed, once a fit, and again what it loses of that; the rows must then be the
    same in the same places: a frame that draws at random or whose rows come in the order in which a shuffle ends should
    be written to files first.
    """

    def __init__(self, frame: Any, source: str = "the Spark data frame") -> None:
        super().__init__()
        library()
        self.source, self.n_samples = source, None
        self.names = check_names(list(frame.columns), source)
        schema = _arrow_schema(frame.schema, source)
        self.kinds, self.number_types = arrow_kinds(schema, source), arrow_number_types(schema)
        if frame.isStreaming:
            remedy = "write what has come so far to files, and pass spark.read of them"
            raise InvalidData(f"a table of a fixed number of rows as {source}", "a stream, which has no end", remedy)
        self.session = frame.sparkSession
        # Spark reads dots in names as paths, and does not tell capitals from small letters.
        self._frame = frame.toDF(*(f"column{place}" for place in range(len(self.names))))
        # Its packed rows, by the columns that were asked for.
        self._packed: dict[tuple[str, ...], PackedFrame] = {}

    def ready(self) -> None:
        """Fail now if its workers do not answer or lack the library."""
        require_workers(self.session)

    def _chosen(self, names: Sequence[str]) -> Any:
        return self._frame.select(*(f"column{self.names.index(name)}" for name in names))

    def _held(self, names: Sequence[str]) -> PackedFrame:
        if tuple(names) not in self._packed:
            numbers = all(self.kinds[name] not in ("text", "unknown") for name in names)
            self._packed[tuple(names)] = PackedFrame(self._chosen(names), len(names) if numbers else 0)
        return self._packed[tuple(names)]

    def close(self) -> None:
        """Have Spark drop the packed rows, and forget how many there are."""
        while self._packed:
            self._packed.popitem()[1].close()
        super().close()

    def _counted(self, names: Sequence[str]) -> Mapping[int, int]:
        """Return the number of rows of every part, which packing tells."""
        return self._held(names).counts()

    def _worked(
        self, work: Work[Answer], places: Mapping[int, Span], names: Sequence[str]
    ) -> Iterator[tuple[int, Answer]]:
        yield from answers_of(self._on(self._held(names).wanted(places), Errand(work, places), names), len(places))

    def carried(self, errand: Carried, names: Sequence[str]) -> Any:
        """Return what comes of an errand to all partitions."""
        return self._on(self._held(names).rows, errand, names)

    def _on(self, rows: Any, errand: Carried, names: Sequence[str]) -> Any:
        """Return what comes of an errand to packed rows."""
        ids = self.ids

        def function(batches: Iterator[Any]) -> Iterator[Any]:
            return on_packed(batches, errand, names, ids)

        return rows.mapInArrow(function, ANSWER)

    def beside(self, held: Any, parts: int, carry: Carry, names: Sequence[str]) -> Any:
        """Return what comes of work on all partitions: their rows are sent, in order, to where standings are."""
        ids = self.ids

        def function(batches: Iterator[Any]) -> Iterator[Any]:
            return carry.on_rows(batches, lambda rows: unpacked(rows, names, ids))

        # Standings come before the first packed rows.
        standings = held.selectExpr("part", "cast(-1 as bigint) as place", "answer")
        ordered = self._held(names).rows.union(standings).repartition(parts, "part")
        return ordered.sortWithinPartitions("part", "place").mapInArrow(function, ANSWER)

    def batches(self, names: Sequence[str]) -> Iterator[Batch]:
        """Yield the rows of these columns, as Arrow holds them on the workers."""

        def function(batches: Iterator[Any]) -> Iterator[Any]:
            return packed_part(partition_number(), batches)

        with constant_failure():
            rows = self._chosen(names).mapInArrow(function, PACKED).toLocalIterator(prefetchPartitions=True)
            for _, part in groupby(rows, key=lambda row: row["part"]):
                yield from unpacked(((row["place"], bytes(row["answer"])) for row in part), names, self.ids)


def _arrow_schema(schema: Any, source: str) -> Any:
    """Return a Spark schema as Arrow's; a type that Arrow lacks is refused like the nested ones."""
    import pyarrow  # type: ignore[import-untyped]

    types, fields = library("pyspark.sql.pandas.types"), []
    for field in schema.fields:
        try:
            fields.append((field.name, types.to_arrow_type(field.dataType)))
        except Exception:  # of PySpark's own kinds
            found = f"other types: {field.name} ({field.dataType.simpleString()})"
            remedy = "leave these columns out of the table, or write them as numbers or text"
            raise InvalidData(f"columns of numbers or text in {source}", found, remedy) from None
    return pyarrow.schema(fields)


class SparkFiles(SparkTable):
    """Files whose parts are read by workers: a row's place is its position in the declared order of files."""

    def __init__(self, raw: RawTable, scheduler: str | None) -> None:
        super().__init__()
        library()
        self._scheduler = scheduler
        self.session = None
        self.names, self.n_samples, self.number_types = raw.names, raw.n_samples, raw.number_types
        self.kinds, self.source, self.files, self.file = raw.kinds, raw.source, raw.files, raw.file
        self._open(raw)

    def _open(self, raw: RawTable) -> None:
        # Each worker unpacks the part that it reads, and no other.
        self._raw, parts = raw, raw.parts()
        self._packed = tuple(pickle.dumps(part) for part in parts)
        self._told = [part.n_samples for part in parts]

    def with_ids(self, name: str) -> Self:
        """Return the table with a column of ids in every part."""
        table = super().with_ids(name)
        table._open(self._raw.with_ids(name))
        return table

    def ready(self) -> None:
        """Fail now if the scheduler or its workers do not answer, lack the library, or cannot open the files."""
        require_files(self._raw)
        self.session = session_at(self._scheduler)
        require_workers(self.session, tuple(map(str, self.files)))

    def require_same_files(self) -> None:
        """Refuse a folder that holds other files than when it was opened."""
        self._raw.require_same_files()

    def batches(self, names: Sequence[str]) -> Iterator[Batch]:
        """Yield the rows of these columns, read here."""
        return self._raw.batches(names)

    def _counted(self, names: Sequence[str]) -> Mapping[int, int]:
        """Return what footers tell about every part, or count where one has none."""
        told = {part: count for part, count in enumerate(self._told) if count is not None}
        return told if len(told) == len(self._told) else super()._counted(names[:1])

    def carried(self, errand: Carried, names: Sequence[str]) -> Any:
        """Return what comes of an errand to all parts, which are read by the workers."""
        return self._sent(errand, names, len(self._packed))

    def _worked(
        self, work: Work[Answer], places: Mapping[int, Span], names: Sequence[str]
    ) -> Iterator[tuple[int, Answer]]:
        # A task costs a fifth of a second whatever it does: parts behind the last wanted row are not asked.
        asked = max((part + 1 for part, span in places.items() if span.wanted), default=0)
        yield from answers_of(self._sent(Errand(work, places), names, asked), asked)

    def _sent(self, errand: Carried, names: Sequence[str], count: int) -> Any:
        """Return what comes of an errand to so many parts, from the first on."""
        parts = self._packed[:count]

        def function(batches: Iterator[Any]) -> Iterator[Any]:
            return read_parts(batches, parts, errand, names)

        if self.session is None:
            self.session = session_at(self._scheduler)
        return self.session.range(0, count, 1, max(1, count)).mapInArrow(function, ANSWER)

    def beside(self, held: Any, parts: int, carry: Carry, names: Sequence[str]) -> Any:
        """Return what comes of work on all parts, each read where its standings are."""
        tables = self._packed

        def function(batches: Iterator[Any]) -> Iterator[Any]:
            return carry.on_files(batches, lambda part: pickle.loads(tables[part]).batches(names))  # noqa: S301

        return held.mapInArrow(function, ANSWER)


class ScannedFrame(SparkFiles):
    """A DataFrame that is nothing but Parquet files: read by the workers of its session, in the order of their names.

    As for every frame the number of rows is not compared with what is declared.
    """

    def __init__(self, frame: SparkFrame, raw: RawTable) -> None:
        super().__init__(raw, None)
        self.names, self.kinds, self.number_types = frame.names, frame.kinds, frame.number_types
        self.source, self.n_samples, self.session = frame.source, None, frame.session

    def ready(self) -> None:
        """Fail now if files are gone, or workers do not answer, lack the library, or cannot open them."""
        require_files(self._raw)
        require_workers(self.session, tuple(map(str, self.files)))
