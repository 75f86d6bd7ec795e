"""What every engine promises: work goes to all parts of a table, each of which knows the place of its first row."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any, ClassVar, TypeVar

import numpy as np

from equipoise.data.arrow_values import Column
from equipoise.data.excel_table import WORKBOOKS
from equipoise.data.person_runs import PersonRule
from equipoise.data.raw import BATCH_ROWS, RawTable, listed
from equipoise.data.schema.file_format import FileFormat
from equipoise.errors import ENDINGS, InvalidData, InvalidParameter, PrivateFailure

Answer = TypeVar("Answer")
Batch = dict[str, Column]

# What a row of a person counts for, beside its columns: no column has an empty name.
SHARES = ""

# Work on one part: its batches, and the place of its first row in the table.
Work = Callable[[Iterator[Batch], int], Answer]


class PartedTable(RawTable):
    """A table that is gone through part by part, as often as it is asked, and never held whole."""

    # Whether work on a part is done in this process, part after part by place, each once.
    comes_here: ClassVar[bool] = False

    @abstractmethod
    def answers(self, work: Work[Answer], names: Sequence[str], n_samples: int | None) -> Iterator[tuple[int, Answer]]:
        """Carry work to every part and yield what it returns, with the part's number; in any order.

        Together the parts have the declared number of rows: what is beyond it is left out, and the rows that lack are
        the public row "every value missing". None stands for all rows that there are. A part may answer more than once.
        """

    def places(self, n_samples: int) -> int:
        """Return how many rows answer: the declared number; of persons as many as are kept, which is private."""
        return n_samples

    def grouped(self, rule: PersonRule) -> "PartedTable":
        """Return the kept rows of persons as a table, with `SHARES` among their columns; nothing is read yet."""
        raise InvalidData(
            f"rows of persons in {self.source}",
            "a table whose engine does not group its rows by the ids of persons",
            'open its files by open_table(path, engine="stream"); nothing was read',
        )

    def grouping(self) -> int:
        """Return how many bytes of this process grouping takes at most, by public numbers; none where there is none."""
        return 0

    def ready(self) -> None:
        """Refuse, before the spend, whatever would fail for a public reason: files, schedulers, workers."""

    def close(self) -> None:
        """Let go of what `ready` took hold of, and forget what passes have told about the rows."""


class Engine(ABC):
    """A way to go through tables that lie in files; frames of an engine of their own are tables as they are."""

    id: ClassVar[str]

    @abstractmethod
    def open(self, path: Any, file: FileFormat, scheduler: str | None) -> RawTable:
        """Open one file, a folder of parts or a list of files; only headers and footers are read."""

    def frame_table(self, frame: Any) -> PartedTable | None:
        """Return a data frame of this engine's own as a table, None for anything else; types alone decide."""
        return None

    def require_no_scheduler(self, scheduler: str | None) -> None:
        """Refuse a scheduler where nothing is scheduled."""
        if scheduler is not None:
            raise InvalidParameter(
                f"no scheduler for the engine {self.id!r}",
                f"scheduler={scheduler!r}",
                'leave it out, or pass engine="dask" or engine="spark"',
            )

    def in_pieces(self, raw: RawTable) -> RawTable:
        """Return a table that is read anew in every pass; refuse workbooks, of which every pass would be slow."""
        workbooks = [path.name for path in raw.files if path.suffix.lower() in WORKBOOKS]
        if workbooks:
            raise InvalidData(
                f"a table for the engine {self.id!r}",
                f"workbooks of Excel, which are slow to read again and again: {listed(workbooks)}",
                'leave engine out, which reads them once, or save the sheet as "CSV UTF-8" or as Parquet',
            )
        return raw


def batch_length(batch: Batch) -> int:
    """Return the number of rows of a batch."""
    return len(next(iter(batch.values())))


def count_rows(batches: Iterator[Batch], first: int) -> int:
    """Return the number of rows of a part: work like any other, where no footer tells it.

    Examples
    --------
    >>> count_rows(iter([{"age": np.array([31.0, 52.0])}]), 0)
    2
    """
    return sum(map(batch_length, batches))


def as_declared(batches: Iterator[Batch], names: Sequence[str], n_samples: int | None) -> Iterator[Batch]:
    """Yield the first rows, as many as declared, and missing ones for those that are not there; by None all there are.

    Examples
    --------
    >>> [batch["age"].tolist() for batch in as_declared(iter([{"age": np.array([31.0, 52.0])}]), ["age"], 3)]
    [[31.0, 52.0], [None]]
    """
    return batches if n_samples is None else first_rows(chain(batches, missing_rows(names)), n_samples)


def first_rows(batches: Iterator[Batch], count: int) -> Iterator[Batch]:
    """Yield at most so many rows.

    Examples
    --------
    >>> [batch["age"].tolist() for batch in first_rows(iter([{"age": np.array([31.0, 52.0])}]), 1)]
    [[31.0]]
    """
    if count <= 0:
        return
    for batch in batches:
        length = batch_length(batch)
        yield batch if length <= count else {name: values[:count] for name, values in batch.items()}
        count -= length
        if count <= 0:
            return


def missing_rows(names: Sequence[str]) -> Iterator[Batch]:
    """Yield batches of the public row "every value missing", without end."""
    batch: Batch = dict.fromkeys(names, np.full(BATCH_ROWS, None, dtype=object))
    while True:
        yield batch


def quietly(work: Callable[[], Answer]) -> Answer:
    """Return what work returns; whatever goes wrong is told by a constant, which has no cause and no context."""
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return work()
    except ENDINGS:
        raise
    except BaseException:  # noqa: S110 - it is raised below, where no trace of it is left
        pass
    raise PrivateFailure
