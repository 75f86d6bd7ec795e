"""The column by which rows of an evaluation are told apart, and the group of each encoded row."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.data.schema import Column, Schema
from equipoise.data.schema.kinds.base import PlacedColumn
from equipoise.errors import InvalidParameter

# Numbers that the sign of an entry tells apart, however much its row was shortened.
_SIGNS = {-1.0, 0.0, 1.0}


def levels_of(schema: Schema | None, name: str) -> Column:
    """Return the column that a schema declares under this name, if its values are levels that encoded rows tell."""
    columns = () if schema is None else schema.columns
    choices = [
        column.name
        for column in columns
        if column.groups() and not _lost(schema, column) and not _named_twice(column.groups())
    ]
    if name in choices:
        return next(column for column in columns if column.name == name)
    found = next((column for column in columns if column.name == name), None)
    words = f"no column {name!r:.80}"
    if found is not None:
        why = "which has no levels"
        if found.groups():
            why = "whose levels are told by numbers, which row_norm shortens in long rows"
        if twice := _named_twice(found.groups()):
            why = f"one of whose levels is called {twice!r}, as all values that are no level are"
        words = f"{name!r:.80}, of kind {found.kind}, {why}"
    remedy = f"choose from {', '.join(choices)}" if choices else "train with a schema that declares one"
    raise InvalidParameter("by=, a column of levels of the model's schema: category, yes-no or ordered", words, remedy)


def _named_twice(groups: tuple[str, ...]) -> str | None:
    """Return a name that two groups have: that of a level, and of the values that are none."""
    return next((name for name in groups if groups.count(name) > 1), None)


def groups_of(rows: Any, schema: Schema, by: Column) -> NDArray[np.int64]:
    """Return the place among the column's groups of each encoded row: exactly one, whatever the row holds.

    Entries of a row are divided by its length, or by the row norm if that is larger. Which of several levels is marked
    they tell all the same, and so does a sign; other numbers are multiplied by that divisor again.

    Examples
    --------
    >>> from equipoise.data.schema import Target, YesNoColumn
    >>> schema = Schema(3, (YesNoColumn("smokes"),), Target("ill", classes=(0, 1)), row_norm=0.5)
    >>> groups_of(np.array([[-1.0], [0.0], [0.3]]), schema, schema.columns[0]).tolist()
    [0, 2, 1]
    """
    entries = rows[:, _start(schema, by) :][:, : by.width]
    if not isinstance(by, PlacedColumn):
        places: NDArray[np.int64] = entries.argmax(axis=1)
        return places
    numbers = np.array(list(by.places()))
    told = np.sign(entries[:, 0]) if set(by.places()) <= _SIGNS else entries[:, 0] * _lengths(rows, schema)
    nearest: NDArray[np.int64] = np.abs(told[:, None] - numbers).argmin(axis=1)
    return nearest


def _start(schema: Schema, by: Column) -> int:
    return sum(column.width for column in schema.columns[: schema.columns.index(by)])


def _marked(schema: Schema) -> Column | None:
    """Return a column of which every row has one entry of 1, before rows are divided."""
    return next((column for column in schema.columns if column.spread), None)


def _lengths(rows: Any, schema: Schema) -> Any:
    """Return what the entries of each row were divided by."""
    marked = _marked(schema)
    if marked is not None:
        return 1.0 / rows[:, _start(schema, marked) :][:, : marked.width].max(axis=1)
    return schema.row_norm or schema.longest_row


def _lost(schema: Schema | None, column: Column) -> bool:
    """Return whether what divided a row, and with it the number of a level, cannot be told from encoded rows."""
    if schema is None or not isinstance(column, PlacedColumn) or set(column.places()) <= _SIGNS:
        return False
    return _marked(schema) is None and schema.row_norm is not None and schema.row_norm < schema.longest_row
