"""What travels to a worker of a cluster: work on one part, which fails there without a word about the rows."""

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic

import numpy as np

from equipoise.data.arrow_values import Kind
from equipoise.data.engines.base import Answer, Batch, Work
from equipoise.data.engines.places import Span
from equipoise.data.raw import FrameTable, RawTable
from equipoise.errors import ENDINGS, PrivateFailure


@dataclass(frozen=True, slots=True)
class Rows:
    """Which columns and rows of a part are asked for.

    `span` is None where the number of rows is not known yet; `kinds` are what the table's types said when it was
    opened.
    """

    names: tuple[str, ...]
    kinds: Mapping[str, Kind]
    span: Span | None = None

    @property
    def first(self) -> int:
        """The place of the first row in the table."""
        return 0 if self.span is None else self.span.first

    def of(self, part: Any) -> Iterator[Batch]:
        """Yield the rows of a part: a table or a data frame."""
        table = part if isinstance(part, RawTable) else FrameTable(part)
        # Types of a frame's part that are not those of the frame would have other rows read in another way.
        if any({table.kinds[name], self.kinds[name]} == {"number", "text"} for name in self.names):
            raise PrivateFailure
        batches = table.batches(self.names)
        return batches if self.span is None else self.span.rows(batches)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PartTask(Generic[Answer]):
    """Work on the rows of a part. Schedulers log what they could not do, so it has a constant representation.

    Examples
    --------
    >>> import pyarrow
    >>> from equipoise.data.engines.base import count_rows
    >>> task = PartTask(count_rows, Rows(("age",), {"age": "number"}))
    >>> task, task(FrameTable(pyarrow.table({"age": [31, 52]})))
    (<work on a part>, 2)
    >>> task(FrameTable(pyarrow.table({"town": ["Graz"]})))
    Traceback (most recent call last):
    equipoise.errors.PrivateFailure: asked: a private model; found: a failure after the rows were read, whose cause \
is withheld because it may depend on them; to do: the budget, if one was bound, is spent; run the fit in a debugger on \
public data of the same shape
    """

    work: Work[Answer]
    rows: Rows
    part: RawTable | None = None

    def on(self, part: RawTable | None) -> "PartTask[Answer]":
        """Return the same work with its part."""
        return replace(self, part=part)

    def done(self) -> Answer:
        """Do the work on the part that came with it."""
        return self(self.part)

    def __call__(self, part: Any) -> Answer:
        """Return the work's answer; whatever goes wrong is told by a constant, which has no cause and no context."""
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return self.work(self.rows.of(part), self.rows.first)
        except ENDINGS:
            raise
        except BaseException:  # noqa: S110 - it is raised below, where no trace of it is left
            pass
        raise PrivateFailure

    def __repr__(self) -> str:
        """Return a constant."""
        return "<work on a part>"
