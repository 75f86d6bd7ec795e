"""What travels to a worker of a cluster: work on one part, which fails there without a word about the rows."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic

from equipoise.data.arrow_values import Kind, are_different
from equipoise.data.engines.base import Answer, Batch, quietly
from equipoise.data.engines.places import Span
from equipoise.data.frames import FrameTable
from equipoise.data.raw import RawTable
from equipoise.errors import PrivateFailure


@dataclass(frozen=True, slots=True)
class Rows:
    """Which columns and rows of a part are asked for.

    `kinds` are what the table's types said when it was opened; `ids` is the column of ids, if there is one; `span` is
    None where the number of rows is not known yet.
    """

    names: tuple[str, ...]
    kinds: Mapping[str, Kind]
    ids: str = ""
    span: Span | None = None

    @property
    def first(self) -> int:
        """The place of the first row in the table."""
        return 0 if self.span is None else self.span.first

    def of(self, part: Any) -> Iterator[Batch]:
        """Yield the rows of a part: a table or a data frame."""
        table = part if isinstance(part, RawTable) else FrameTable(part).with_ids(self.ids)
        # Types of a frame's part that are not those of the frame would have other rows read in another way.
        if any(are_different(table.kinds[name], self.kinds[name]) for name in self.names):
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

    work: Callable[..., Answer]
    rows: Rows
    part: RawTable | None = None

    def on(self, part: RawTable | None) -> "PartTask[Answer]":
        """Return the same work with its part."""
        return replace(self, part=part)

    def done(self, *beside: Any) -> Answer:
        """Do the work on the part that came with it."""
        return self(self.part, *beside)

    def __call__(self, part: Any, *beside: Any) -> Answer:
        """Return the work's answer for a part, with what lies beside it if anything does."""
        return quietly(lambda: self.work(self.rows.of(part), self.rows.first, *beside))

    def __repr__(self) -> str:
        """Return a constant."""
        return "<work on a part>"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Quiet(Generic[Answer]):
    """Work on what other work has answered; it fails, and is shown, by constants.

    Examples
    --------
    >>> Quiet(len), Quiet(len)([1, 2])
    (<work on answers>, 2)
    """

    function: Callable[..., Answer]

    def __call__(self, *given: Any) -> Answer:
        """Return the answer."""
        return quietly(lambda: self.function(*given))

    def __repr__(self) -> str:
        """Return a constant."""
        return "<work on answers>"
