"""Dask: workers on one machine or many, each with some parts of a table; files, and Dask's own data frames.

Retries, lost workers and speculation are Dask's business. Here parts get their places, work goes out under names that
say nothing, and answers are handed on as they come.
"""

import uuid
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self

from equipoise.data.arrow_values import Kind
from equipoise.data.engines.base import Answer, Batch, Engine, PartedTable, Work, count_rows
from equipoise.data.engines.dask_cluster import Cluster, distributed, library
from equipoise.data.engines.dask_persons import DaskPersons
from equipoise.data.engines.dask_work import PartTask, Rows
from equipoise.data.engines.places import CountedTable, Span
from equipoise.data.frames import FrameTable
from equipoise.data.many_files import absolute, open_files, require_files
from equipoise.data.person_runs import PersonRule
from equipoise.data.raw import RawTable, constant_failure, listed
from equipoise.data.schema.file_format import FileFormat
from equipoise.errors import InvalidData

# How often Dask tries work on a part again that has failed, as on a disk that did not answer.
RETRIES = 2


class Dask(Engine):
    """Tables of any length by the workers of a Dask cluster, or by threads of this process where none is named."""

    id: ClassVar[str] = "dask"

    def open(self, path: Any, file: FileFormat, scheduler: str | None) -> RawTable:
        """Return the files as a table whose parts go to workers."""
        distributed()
        return DaskFiles(self.in_pieces(open_files(absolute(path), file)), scheduler)

    def frame_table(self, frame: Any) -> PartedTable | None:
        """Return a Dask data frame as a table."""
        if type(frame).__module__.partition(".")[0] not in ("dask", "dask_expr"):
            return None
        distributed()
        return DaskFrame(frame)


class DaskTable(CountedTable):
    """A table whose parts are gone through by the workers of a cluster."""

    def __init__(self, scheduler: str | None = None) -> None:
        super().__init__()
        self._scheduler = scheduler
        self._cluster: Cluster | None = None

    @abstractmethod
    def _known_counts(self) -> Sequence[int | None]:
        """Return the number of rows of each part, where it is public."""

    @abstractmethod
    def _submitted(
        self, client: Any, tasks: Mapping[int, PartTask[Answer]], names: Sequence[str], beside: Sequence[Any]
    ) -> list[Any]:
        """Send tasks to their parts, each with what lies beside it if anything does; return Dask's futures in order."""

    def _part_kinds(self) -> Mapping[str, Kind]:
        """Return the kinds that parts are compared with."""
        return self.kinds

    def grouped(self, rule: PersonRule) -> PartedTable:
        """Return the kept rows of persons, grouped by the workers."""
        return DaskPersons(self.with_ids(rule.column), rule)

    def ready(self) -> None:
        """Connect, and require workers that have this library and see the files."""
        self.close()
        self._cluster = Cluster(self._scheduler)
        try:
            self._cluster.require_workers(self.files)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let the workers go, and forget how many rows each part has."""
        super().close()
        cluster, self._cluster = self._cluster, None
        if cluster is not None:
            cluster.close()

    def answers(self, work: Work[Answer], names: Sequence[str], n_samples: int | None) -> Iterator[tuple[int, Answer]]:
        """Carry work to every part, by the workers at hand or by those that are found for this pass."""
        held = self._cluster is not None
        if not held:
            self.ready()
        try:
            yield from super().answers(work, names, n_samples)
        finally:
            if not held:
                self.close()

    def _counted(self, names: Sequence[str]) -> Mapping[int, int]:
        """Return the number of rows of each part, counted where no footer tells it."""
        told = dict(enumerate(self._known_counts()))
        # One column is enough to tell.
        task = PartTask(count_rows, Rows(tuple(names[:1]), self._part_kinds(), self.ids))
        unknown = {number: task for number, count in told.items() if count is None}
        known = {number: count for number, count in told.items() if count is not None}
        return known | dict(self.arriving(self.submitted(unknown, names[:1])))

    def _worked(
        self, work: Work[Answer], places: Mapping[int, Span], names: Sequence[str]
    ) -> Iterator[tuple[int, Answer]]:
        tasks = {number: PartTask(work, rows) for number, rows in self.wanted(places, names).items()}
        yield from self.arriving(self.submitted(tasks, names))

    def wanted(self, places: Mapping[int, Span], names: Sequence[str]) -> dict[int, Rows]:
        """Return the rows of every part that has wanted ones, by the part's number."""
        return {
            number: Rows(tuple(names), self._part_kinds(), self.ids, span)
            for number, span in places.items()
            if span.wanted
        }

    def submitted(
        self, tasks: Mapping[int, PartTask[Answer]], names: Sequence[str], beside: Sequence[Any] = ()
    ) -> dict[int, Any]:
        """Send tasks to their parts and return Dask's futures by their numbers."""
        if not tasks:
            return {}
        return dict(zip(tasks, self._submitted(self.cluster.client, tasks, names, beside), strict=True))

    def submit(self, function: Any, *given: Any) -> Any:
        """Return Dask's future of a function of values and of other futures."""
        (name,) = _names_of_work(1)
        return self.cluster.client.submit(function, *given, key=name, retries=RETRIES)

    def arriving(self, futures: Mapping[int, Any]) -> Iterator[tuple[int, Any]]:
        """Yield what futures stand for as it comes, with their numbers."""
        yield from self.cluster.arriving({future: number for number, future in futures.items()})

    @property
    def cluster(self) -> Cluster:
        """The cluster; it is there between `ready` and `close`."""
        if self._cluster is None:
            self.ready()
        assert self._cluster is not None  # noqa: S101 - ready makes one, or raises
        return self._cluster


def _names_of_work(count: int) -> list[str]:
    """Return names for logs and dashboards; Dask's own would be digests of the work, which is private."""
    return [f"equipoise-{uuid.uuid4().hex}" for _ in range(count)]


class DaskFiles(DaskTable):
    """Files in their declared order; parts are files, or row groups of Parquet files."""

    def __init__(self, raw: RawTable, scheduler: str | None = None) -> None:
        super().__init__(scheduler)
        self._raw = raw
        self._parts = raw.parts()
        self.names, self.n_samples, self.number_types = raw.names, raw.n_samples, raw.number_types
        self.kinds, self.source, self.files, self.file = raw.kinds, raw.source, raw.files, raw.file

    def with_ids(self, name: str) -> Self:
        """Return the table with a column of ids in every part."""
        table = super().with_ids(name)
        table._raw = self._raw.with_ids(name)
        table._parts = table._raw.parts()
        return table

    def ready(self) -> None:
        """Refuse files that are no longer there, and connect."""
        require_files(self._raw)
        super().ready()

    def require_same_files(self) -> None:
        """Refuse a folder that has gained or lost a file."""
        self._raw.require_same_files()

    def batches(self, names: Sequence[str]) -> Iterator[Batch]:
        """Yield the rows of these columns, read here."""
        return self._raw.batches(names)

    def _known_counts(self) -> Sequence[int | None]:
        return [part.n_samples for part in self._parts]

    def _submitted(
        self, client: Any, tasks: Mapping[int, PartTask[Answer]], names: Sequence[str], beside: Sequence[Any]
    ) -> list[Any]:
        whole = [task.on(self._parts[number]) for number, task in tasks.items()]
        given = (whole, beside) if beside else (whole,)
        return list(client.map(PartTask.done, *given, key=_names_of_work(len(whole)), retries=RETRIES))


class DaskFrame(DaskTable):
    """A Dask data frame: names and kinds by its declared types, parts are its partitions.

    Every pass computes the partitions again, unless the frame is persisted; they must come with the same rows in the
    same order.
    """

    def __init__(self, frame: Any, scheduler: str | None = None) -> None:
        super().__init__(scheduler)
        self.source = "the Dask data frame"
        if not isinstance(frame, library("dask.dataframe").DataFrame):
            remedy = "pass a Dask data frame with the target among its columns"
            raise InvalidData("a table of columns with names", f"a Dask {type(frame).__name__}", remedy)
        table = FrameTable(frame._meta, self.source)
        self.names, self.n_samples = table.names, None
        self.kinds, self.number_types = table.kinds, table.number_types
        self._frame = frame
        self._categories = [name for name in self.names if str(frame._meta[name].dtype) == "category"]
        _refuse_unknown_categories(frame._meta, self._categories)

    def _part_kinds(self) -> Mapping[str, Kind]:
        """Return the kinds but of categories: a part's rows may decide their type, and they are read one by one."""
        return {**self.kinds, **dict.fromkeys(self._categories, "unknown")}

    def batches(self, names: Sequence[str]) -> Iterator[Batch]:
        """Yield the rows of these columns, partition by partition, computed by Dask's current scheduler."""
        with constant_failure():
            for partition in self._frame[list(names)].partitions:
                yield from FrameTable(partition.compute(), self.source).with_ids(self.ids).batches(names)

    def _known_counts(self) -> Sequence[int | None]:
        return [None] * int(self._frame.npartitions)

    def _submitted(
        self, client: Any, tasks: Mapping[int, PartTask[Answer]], names: Sequence[str], beside: Sequence[Any]
    ) -> list[Any]:
        delayed = library("dask").delayed
        partitions = self._frame[list(names)].to_delayed()
        keys = iter(_names_of_work(len(tasks)))
        pairs: list[tuple[Any, ...]] = [(future,) for future in beside] or [()] * len(tasks)
        lazy = [
            delayed(task, pure=False, traverse=False)(partitions[number], *pair, dask_key_name=next(keys))
            for (number, task), pair in zip(tasks.items(), pairs, strict=True)
        ]
        return list(client.compute(lazy, retries=RETRIES))


def _refuse_unknown_categories(meta: Any, names: Sequence[str]) -> None:
    """Refuse these columns if their categories are known only when rows are read.

    pandas takes one type for all those of a partition. A single fraction among whole numbers makes floats of them,
    which are other numbers above 2^53.
    """
    known = library("dask.dataframe.utils").has_known_categories
    unknown = [name for name in names if not known(meta[name])]
    if unknown:
        raise InvalidData(
            "columns of the Dask data frame whose categories are known before rows are read",
            f"categories that every partition finds for itself: {listed(unknown)}",
            "name them: frame[name].astype(pandas.CategoricalDtype([...])), or leave them as text or numbers, or out",
        )
