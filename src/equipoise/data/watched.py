"""A raw table that says how many of its rows were read: for an owner's check and for new rows, never for a training."""

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Self

from equipoise.data.arrow_values import Column
from equipoise.data.raw import RawTable


class WatchedTable(RawTable):
    """The rows of another table, with a word after every batch about how many rows have come since the first.

    Parameters
    ----------
    raw : RawTable
        A table of which somebody may know how far it is read.
    report : callable
        Is told the number of rows.

    Examples
    --------
    >>> import pyarrow
    >>> from equipoise.data.frames import FrameTable
    >>> table = WatchedTable(FrameTable(pyarrow.table({"age": [31, 64]})), print)
    >>> [batch["age"].tolist() for batch in table.batches(["age"])]
    2
    [[31.0, 64.0]]
    """

    def __init__(self, raw: RawTable, report: Callable[[int], None]) -> None:
        self._raw = raw
        self._report = report
        self.names, self.n_samples = raw.names, raw.n_samples
        self.kinds, self.number_types = raw.kinds, raw.number_types
        self.source, self.files, self.ids, self.file = raw.source, raw.files, raw.ids, raw.file

    def with_ids(self, name: str) -> Self:
        """Return the table with a column of ids, of which no digit may be lost."""
        table = copy.copy(self)
        table.ids, table._raw = name, self._raw.with_ids(name)
        return table

    def batches(self, names: Sequence[str]) -> Iterator[dict[str, Column]]:
        """Yield the rows of these columns, and tell how many there were."""
        rows = 0
        for batch in self._raw.batches(names):
            yield batch
            rows += max(map(len, batch.values()), default=0)
            self._report(rows)

    def ends_lines_inside_quotes(self) -> bool:
        """Return whether a line of the table's files does."""
        return self._raw.ends_lines_inside_quotes()

    def require_same_files(self) -> None:
        """Refuse, by a constant failure, a folder that holds other files than when it was opened."""
        self._raw.require_same_files()
