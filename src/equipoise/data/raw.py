"""Raw tables, unread: names, kinds and, where the format tells, the number of rows; values come in batches on request.

The type of a batch's array follows from the column's type alone, never from its values: otherwise one missing value
could change how another row is read, and neighbouring tables would no longer differ in one row.
"""

import contextlib
import copy
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from equipoise.data.arrow_values import (
    Column,
    Kind,
    arrow_kind,
)
from equipoise.data.names import column_numbers, reads_as_a_value
from equipoise.data.number_types import NumberType, arrow_number_type
from equipoise.data.schema.file_format import FileFormat
from equipoise.errors import ENDINGS, InvalidData, TableUnreadable

BATCH_ROWS = 65_536


@contextlib.contextmanager
def constant_failure() -> Iterator[None]:
    """Turn every failure while rows are read into one whose text says nothing about them."""
    try:
        yield
    except ENDINGS:
        raise
    except BaseException:  # files that are damaged or vanish raise errors of many kinds, and some name values
        raise TableUnreadable from None


def cannot_open(location: Path, fault: Exception) -> InvalidData:
    """Return what to say of a file that is there and does not open."""
    reason = getattr(fault, "strerror", None) or type(fault).__name__
    found = f"{location} cannot be opened: {reason}"
    return InvalidData("a file that can be read", found, "check the path and your permission to read it")


class RawTable(ABC):
    """A table of which only public facts are known, until `batches` is asked for its rows.

    Attributes
    ----------
    names : tuple of str
        The columns, in order.
    n_samples : int or None
        The number of rows where the format tells it, None elsewhere (CSV).
    kinds : mapping of str to `Kind`
        What a column's type says; "unknown" where only values would tell.
    number_types : mapping of str to `NumberType`
        Which numbers a column's type can hold, where it says so.
    source : str
        What to call the table in an error.
    files : tuple of paths
        The files that hold it, if there are any.
    ids : str
        The column that holds ids, empty if none does.
    file : FileFormat or None
        How its text is written, where it comes from CSV files, and which sheet of a workbook it is; None for formats
        that know that themselves.
    """

    names: tuple[str, ...]
    n_samples: int | None
    kinds: Mapping[str, Kind]
    number_types: Mapping[str, NumberType] = {}
    source: str
    files: tuple[Path, ...] = ()
    ids: str = ""
    file: FileFormat | None = None

    @abstractmethod
    def batches(self, names: Sequence[str]) -> Iterator[dict[str, Column]]:
        """Yield the rows of these columns, in batches of at most `BATCH_ROWS`.

        Numbers come as float64 with NaN where missing; text, truth values and objects as objects with None where
        missing, or as `Texts`, which stand for such objects. Whole numbers of a column of ids come as text.
        """

    def with_ids(self, name: str) -> Self:
        """Return the table with a column of ids, of which no digit may be lost."""
        table = copy.copy(self)
        table.ids = name
        return table

    def parts(self) -> "Sequence[RawTable]":
        """Return tables that hold these rows one after the other, for workers to read side by side: itself, if one."""
        return (self,)

    def followed(self) -> Self:
        """Return the table as one after which rows of another file come: no value of its last row may move those."""
        return self

    def ends_lines_inside_quotes(self) -> bool:
        """Return whether a line of text ends inside quotes: private, for the owner's diagnosis alone."""
        return False

    def require_same_files(self) -> None:  # noqa: B027 - most tables have no folder
        """Refuse, by a constant failure, a folder that holds other files than when it was opened."""


def check_names(names: Sequence[object], source: str) -> tuple[str, ...]:
    """Return column names that are text, not empty and all different; refuse others by their places alone.

    What stands there may be somebody's: a first row that a program took for names.

    Examples
    --------
    >>> check_names(["age", "income"], "people.csv")
    ('age', 'income')
    """
    asked = f"columns with different names in {source}"
    if not names:
        raise InvalidData(asked, "no columns", "pass a table with at least one column besides the target")
    texts = [name for name in names if isinstance(name, str)]
    if len(texts) < len(names):
        place, other = next((place, name) for place, name in enumerate(names, 1) if not isinstance(name, str))
        found = f"a name of type {type(other).__name__} at {positions([place])}"
        raise InvalidData(asked, found, "name every column by text, for example frame.columns = ['age', 'income']")
    empty = [str(place) for place, name in enumerate(texts, start=1) if not name.strip()]
    if empty:
        found = f"no name for column {listed(empty)}"
        raise InvalidData(asked, found, "name every column; pandas writes a file without its index by index=False")
    if repeated := repeated_places(texts):
        found = f"one name several times, at {positions(repeated)}"
        raise InvalidData(asked, found, "rename or leave out all but one of each")
    return tuple(texts)


def repeated_places(names: Sequence[str]) -> list[int]:
    """Return the places, from 1 on, of names that stand more than once.

    Examples
    --------
    >>> repeated_places(["a", "b", "a"])
    [1, 3]
    """
    counts = Counter(names)
    return [place for place, name in enumerate(names, start=1) if counts[name] > 1]


def positions(places: Sequence[int]) -> str:
    """Return places as a sentence lists them.

    Examples
    --------
    >>> positions([1]), positions([1, 3])
    ('position 1', 'positions 1, 3')
    """
    return f"{'position' if len(places) == 1 else 'positions'} {listed([str(place) for place in places])}"


def listed(names: Sequence[str]) -> str:
    """Return the first few names as a sentence lists them.

    Examples
    --------
    >>> listed(["a", "b"])
    'a, b'
    """
    # A name may hold what would move a terminal's cursor or cannot be written at all.
    plain = [name if name.isprintable() else ascii(name) for name in names[:8]]
    shown = ", ".join(name if len(name) <= 80 else f"{name[:77]}..." for name in plain)
    return f"{shown} and {len(names) - 8} more" if len(names) > 8 else shown


def settled_kinds(found: Mapping[str, Kind | None], types: Mapping[str, object], source: str) -> dict[str, Kind]:
    """Return the kinds of all columns; refuse if there are columns whose type holds neither numbers nor text (None).

    Whoever wrote a file may have taken a first row for names: where one of them reads as a value, none is shown.
    """
    places = [place for place, kind in enumerate(found.values(), start=1) if kind is None]
    if places:
        names = list(found)
        row = any(map(reads_as_a_value, {*names} - column_numbers(names)))
        wrong = [f"{positions([at]) if row else names[at - 1]} ({types[names[at - 1]]})" for at in places]
        remedy = "leave these columns out of the table, or write them as numbers or text"
        raise InvalidData(f"columns of numbers or text in {source}", f"other types: {listed(wrong)}", remedy)
    return {name: kind for name, kind in found.items() if kind is not None}


def arrow_kinds(schema: Any, source: str) -> dict[str, Kind]:
    """Return the kind of every column of an Arrow schema; refuse nested columns.

    Examples
    --------
    >>> import pyarrow
    >>> arrow_kinds(pyarrow.schema({"age": pyarrow.int8(), "born": pyarrow.date32()}), "people.parquet")
    {'age': 'number', 'born': 'day'}
    """
    types = {field.name: field.type for field in schema}
    return settled_kinds({name: arrow_kind(kind) for name, kind in types.items()}, types, source)


def arrow_number_types(schema: Any) -> dict[str, NumberType]:
    """Return which numbers the columns of an Arrow schema can hold, where their types say so.

    Examples
    --------
    >>> import pyarrow
    >>> arrow_number_types(pyarrow.schema({"age": pyarrow.int8(), "born": pyarrow.date32()}))
    {'age': NumberType(name='int8')}
    """
    found = {field.name: arrow_number_type(field.type) for field in schema}
    return {name: kind for name, kind in found.items() if kind is not None}
