"""One machine, one pass after the other: rows stream from their files and are never held."""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Self

from equipoise.data.engines.ahead import ahead
from equipoise.data.engines.base import Answer, Batch, Engine, PartedTable, Work, as_declared
from equipoise.data.engines.grouped import GroupedHere
from equipoise.data.many_files import open_files, require_files
from equipoise.data.person_runs import PersonRule
from equipoise.data.raw import RawTable
from equipoise.data.schema.file_format import FileFormat


class Stream(Engine):
    """Tables of any length on one machine, in a memory that does not depend on their length."""

    id: ClassVar[str] = "stream"

    def open(self, path: Any, file: FileFormat, scheduler: str | None) -> RawTable:
        """Return the files as a table that streams."""
        self.require_no_scheduler(scheduler)
        return StreamTable(self.in_pieces(open_files(path, file)))


class StreamTable(PartedTable):
    """Files in their declared order, as one part: a row's place is its position in them.

    Examples
    --------
    >>> import pyarrow
    >>> from equipoise.data.frames import FrameTable
    >>> table = StreamTable(FrameTable(pyarrow.table({"age": [31, 52]})))
    >>> list(table.answers(lambda batches, first: [batch["age"].tolist() for batch in batches], ["age"], 2))
    [(0, [[31.0, 52.0]])]
    """

    comes_here: ClassVar[bool] = True

    def __init__(self, raw: RawTable) -> None:
        self._raw = raw
        self.names, self.n_samples, self.number_types = raw.names, raw.n_samples, raw.number_types
        self.kinds, self.source, self.files, self.file = raw.kinds, raw.source, raw.files, raw.file

    def with_ids(self, name: str) -> Self:
        """Return the table with a column of ids."""
        table = super().with_ids(name)
        table._raw = self._raw.with_ids(name)
        return table

    def grouped(self, rule: PersonRule) -> PartedTable:
        """Return the kept rows of persons, grouped in a scratch on disk."""
        return GroupedHere(self.with_ids(rule.column), rule)

    def ready(self) -> None:
        """Refuse files that are no longer there."""
        require_files(self._raw)

    def batches(self, names: Sequence[str]) -> Iterator[Batch]:
        """Yield the rows of these columns, decoded ahead of their use."""
        return ahead(self._raw.batches(names))

    def answers(self, work: Work[Answer], names: Sequence[str], n_samples: int | None) -> Iterator[tuple[int, Answer]]:
        """Go through all files once."""
        yield 0, work(as_declared(self.batches(names), names, n_samples), 0)
