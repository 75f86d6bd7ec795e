"""From what users hold to arrays: shapes, data types and names are checked here, values are not looked at.

A table stays unread until the door asks for it: a ledger must admit the spend before a data frame is even copied.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
import scipy
from numpy.typing import NDArray

from equipoise.data.arrow_values import Kind
from equipoise.data.entries import (
    is_undeclared,
    length_of,
    listed_shape,
    listed_table,
    listed_target,
    numbers_of_entries,
)
from equipoise.data.frames import column_kind, column_values, number_type, require_arrow
from equipoise.data.number_types import NumberType, require_held
from equipoise.data.raw import RawTable
from equipoise.data.sparse_tables import stored_entries
from equipoise.data.unread import NUMERIC_KINDS, Unread, type_in_words
from equipoise.errors import InvalidData

# Whatever holds them, these come as numbers that mean the same in float64, with or without a missing value.
PLAIN_TYPES = (nw.Int8, nw.Int16, nw.Int32, nw.Int64, nw.UInt8, nw.UInt16, nw.UInt32, nw.UInt64, nw.Float32, nw.Float64)

AS_IT_IS = "declare the classes as the target has them, or convert the target by a public rule"
# A target's labels by its type: what they are, what a class is that can equal one, and what to do without one.
LABELS = {
    "number": ("numbers", "a number", AS_IT_IS),
    "truth": ("truth values", "false or true, 0 or 1", "declare classes=(False, True)"),
    "text": ("text", "a text", AS_IT_IS),
}


class Columns:
    """A data frame's columns, put together into rows only block by block, so that the frame is never copied whole.

    Examples
    --------
    >>> Columns([np.array([1.0, 2.0, 3.0]), np.array([True, False, True])])[1:3]
    array([[2., 0.],
           [3., 1.]])
    """

    def __init__(self, columns: list[NDArray[Any]]) -> None:
        self._columns = columns
        self.shape = (len(columns[0]), len(columns))

    def __getitem__(self, rows: slice | NDArray[np.intp]) -> NDArray[Any]:
        """Return a block of rows, or some of them, in float64."""
        count = len(range(*rows.indices(self.shape[0]))) if isinstance(rows, slice) else len(rows)
        block = np.empty((count, self.shape[1]))
        for position, column in enumerate(self._columns):
            block[:, position] = column[rows]
        return block


def feature_table(X: Any, width: int | None = None) -> Unread:  # noqa: N803 - the field's word for a table
    """Return a table of numbers, unread; an array that already is one will not be copied.

    Raises only for what is visible without a value: dimensions, emptiness, data types and column names. Where the
    number of rows is private, there may be none; a list of no rows then has the planned width.

    Examples
    --------
    >>> feature_table([[1, 2], [3, 4]]).shape, feature_table([], width=2).shape
    ((2, 2), (0, 2))
    """
    given = wrapped(X)
    table = _from_frame(given) if isinstance(given, nw.DataFrame) else _from_array(given, width)
    if len(table.shape) != 2:
        remedy = "Reshape your data to rows and columns: X.reshape(-1, 1) for one column, X.reshape(1, -1) for one row"
        found = f"dim {len(table.shape)}" + (f", shape {table.shape}" if width is None else "")
        raise InvalidData("Expected 2D array of rows and columns", found, remedy)
    for length, what in zip(table.shape, ("sample", "feature"), strict=True):
        if length == 0 and (width is None or what == "feature"):
            found = f"0 {what}(s) (shape={table.shape}) while a minimum of 1 is required."
            raise InvalidData(f"at least one {what}", found, "pass the table's rows and columns")
    return table


def as_frame(given: Any) -> Any:
    """Return what pandas and Arrow call an array, an index or a batch as a series or a table; anything else as it is.

    NumPy would take another type for these where a value is missing.

    Examples
    --------
    >>> import pyarrow
    >>> type(as_frame(pyarrow.array([True, None]))).__name__
    'ChunkedArray'
    """
    require_arrow(given)
    library = type(given).__module__.partition(".")[0]
    if library == "pyarrow":
        import pyarrow  # type: ignore[import-untyped]

        if isinstance(given, pyarrow.RecordBatch):
            return pyarrow.Table.from_batches([given])
        return pyarrow.chunked_array([given]) if isinstance(given, pyarrow.Array) else given
    if library == "pandas":
        import pandas as pd

        if isinstance(given, pd.MultiIndex):
            remedy = "pass one of its levels, as index.get_level_values(0)"
            raise InvalidData("one column", f"an index of {given.nlevels} levels", remedy)
        # A series has neither, and a frame not the latter.
        if isinstance(given, pd.Index | pd.api.extensions.ExtensionArray):
            return pd.Series(given)
    return given


def wrapped(given: Any) -> Any:
    """Return frames and series as narwhals wraps them, and anything else as it is; nothing may be computed here."""
    from equipoise.data.engines import frame_table  # engines make rows of what is declared here

    if isinstance(given, RawTable) or frame_table(given) is not None:
        raise InvalidData(
            "rows in memory, where a domain says what they are",
            f"an object of type {type(given).__name__}, whose rows are read or computed later",
            "pass a schema as the domain, as eq.Schema.from_toml(path), or collect the rows first",
        )
    frame = as_frame(given)
    if any(getattr(kind, "scale", 0) < 0 for kind in _arrow_types(frame)):
        remedy = "cast them to float64"
        raise InvalidData("columns whose types are known here", "decimals of a negative scale", remedy)
    try:
        return nw.from_native(frame, eager_only=True, allow_series=True, pass_through=True)
    except nw.exceptions.DuplicateError:
        raise InvalidData("columns with different names", "repeated names", "rename all but one of each") from None


def _arrow_types(frame: Any) -> list[Any]:
    """Return the Arrow types of a table's columns, or of a column: no value is looked at, and other types are none."""
    library = type(frame).__module__.partition(".")[0]
    if library == "pyarrow":
        return list(frame.schema.types) if hasattr(frame, "schema") else [frame.type]
    if library != "pandas":
        return []
    kinds = list(frame.dtypes) if len(frame.shape) == 2 else [frame.dtype]
    return [kind.pyarrow_dtype for kind in kinds if hasattr(kind, "pyarrow_dtype")]


def _from_frame(frame: "nw.DataFrame[Any]") -> Unread:
    columns = list(frame.iter_columns())
    wrong = [str(column.name) for column in columns if not _is_numeric(column)]
    if wrong:
        raise InvalidData(
            "numeric columns",
            f"non-numeric columns {', '.join(wrong[:8])}{' ...' if len(wrong) > 8 else ''}",
            "encode them by a public rule (levels known beforehand) or leave them out",
        )
    return Unread(frame.shape, True, lambda: Columns([_numbers(column) for column in columns]))


def _is_numeric(column: "nw.Series[Any]") -> bool:
    """Return whether a column's type says that it holds numbers or truth values, and not categories of them."""
    # The kind comes first: to name the type of a pandas column of objects, narwhals looks at values.
    return column_kind(column) in ("number", "truth") and (column.dtype.is_numeric() or column.dtype == nw.Boolean)


def _numbers(column: "nw.Series[Any]") -> NDArray[Any]:
    """Return a column as numbers, without a copy where the frame keeps it as plain numbers.

    A missing value becomes NaN, and NaN becomes the domain's fill: a public rule, so nothing raises.
    """
    if column.dtype in PLAIN_TYPES or isinstance(getattr(column.to_native(), "dtype", None), np.dtype):
        return column.to_numpy()
    values = column_values(column)
    return values if values.dtype.kind in NUMERIC_KINDS else numbers_of_entries(values, len(values))


def plain_array(given: Any) -> NDArray[Any]:
    """Return what is given as an array; a mask, which would be forgotten, is refused by its type."""
    if isinstance(given, np.ma.MaskedArray):
        remedy = "say what stands for what is hidden: array.astype(float).filled(numpy.nan) makes it missing"
        raise InvalidData("an array of values", "a masked array, which hides some of them", remedy)
    return np.asarray(given)


def _from_array(X: Any, width: int | None) -> Unread:  # noqa: N803 - the field's word for a table
    if isinstance(X, nw.Series):
        return Unread(X.shape, False, X.to_native)
    if is_undeclared(X):
        shape = listed_shape(X, width)
        return Unread(shape, True, lambda: listed_table(X, shape))
    matrix = X if scipy.sparse.issparse(X) else plain_array(X)
    if matrix.dtype.kind == "c":
        remedy = "pass the real and imaginary parts as columns"
        raise InvalidData("real numbers", "Complex data not supported", remedy)
    if matrix.dtype.kind not in NUMERIC_KINDS:
        raise InvalidData(
            "an array of numbers",
            f"{type_in_words(matrix.dtype)} in non-numeric columns",
            "convert them by a public rule, or X.astype(float) if every entry is a number",
        )
    if scipy.sparse.issparse(matrix) and len(matrix.shape) == 2:
        return Unread(matrix.shape, True, stored_entries(matrix))
    return Unread(matrix.shape, True, lambda: matrix)


def target_column(y: Any, n_samples: int | None) -> Unread:
    """Return the target, unread, with one entry a row; None where the number of rows is private, and compared later.

    Examples
    --------
    >>> target_column(np.array([0, 1, 1]), 3).read()
    array([0, 1, 1])
    """
    if y is None:
        raise InvalidData("a target", "requires y to be passed, but the target y is None", "pass y as well")
    target = _target(y)
    if len(target.shape) == 2 and target.shape[1] == 1:
        message = "A column-vector y was passed when a 1d array was expected; its one column is taken."
        from sklearn.exceptions import DataConversionWarning  # loaded only where it is needed

        warnings.warn(message, DataConversionWarning, stacklevel=4)
        column = target
        target = replace(column, shape=column.shape[:1], read=lambda: column.read()[:, 0])
    if len(target.shape) != 1:
        shape = f"{len(target.shape)} dimensions" if n_samples is None else f"shape {target.shape}"
        found = f"y should be a 1d array, got an array of {shape} instead."
        raise InvalidData("a 1d array of targets", found, "pass one column")
    if n_samples is not None and target.shape[0] != n_samples:
        found = f"inconsistent numbers of samples: {n_samples} rows, {target.shape[0]} targets"
        raise InvalidData("one target a row", found, "pass X and y of the same table")
    return target


def _target(y: Any) -> Unread:
    if is_undeclared(y):
        # No entry decides: each is a number or a label by itself, or missing.
        return Unread((length_of(y),), True, lambda: listed_target(y))
    given = wrapped(y)
    if isinstance(given, nw.DataFrame) and given.shape[1] == 1:
        only = _target_series(next(given.iter_columns()))
        return replace(only, shape=given.shape, read=lambda: only.read()[:, None])
    if isinstance(given, nw.DataFrame):
        return Unread(given.shape, False, given.to_native)  # its shape will be refused
    if isinstance(given, nw.Series):
        return _target_series(given)
    array = plain_array(y)
    return _plain_target(array.shape, array.dtype, lambda: array)


def _target_series(series: "nw.Series[Any]") -> Unread:
    native = getattr(series.to_native(), "dtype", None)
    if column_kind(series) is None:
        found = f"a target of type {native or series.to_native().type}"
        raise InvalidData("a target of numbers or text", found, "write it as numbers or text")
    if isinstance(native, np.dtype):
        return _plain_target(series.shape, native, series.to_numpy)
    numeric = _is_numeric(series)
    held = number_type(series)
    return Unread(series.shape, numeric, lambda: column_values(series), labels=_labels_in(series), numbers=held)


def _plain_target(shape: tuple[int, ...], kind: "np.dtype[Any]", read: Callable[[], Any]) -> Unread:
    """Return a target that NumPy holds: it compares whole numbers exactly, and real ones in their own precision."""
    held = NumberType(kind.name) if kind.kind in "iu" else None
    return Unread(shape, kind.kind in NUMERIC_KINDS, read, labels=_labels_of(kind), numbers=held)


def _labels_of(kind: "np.dtype[Any]") -> Kind | None:
    """Return what labels an array's type holds; those of objects are what each of them is."""
    if kind.kind in NUMERIC_KINDS:
        return "truth" if kind.kind == "b" else "number"
    return "text" if kind.kind in "UT" else "unknown" if kind.kind == "O" else None


def _labels_in(series: "nw.Series[Any]") -> Kind | None:
    """Return what labels a column's type holds, or its categories' type; None for what can be no label."""
    kind = column_kind(series)
    return kind if kind in ("number", "truth", "text", "unknown") else None


def require_labels(target: Unread, classes: Sequence[object] | str) -> None:
    """Refuse a target whose declared type can equal no class but the first, as which all its rows would count.

    A class that is a number must be one that the type can hold: -1 is none of the numbers of ``uint8``.

    Labels are compared as Python compares them, by which True is 1: unlike those of a schema, which have texts.

    Examples
    --------
    >>> require_labels(target_column(np.array(["no", "yes"]), 2), (0, 1))
    Traceback (most recent call last):
    equipoise.errors.InvalidData: asked: a target whose type can be one of the declared classes; found: text, where \
no class but the first is a text; to do: declare the classes as the target has them, or convert the target by a \
public rule
    """
    asked = "a target whose type can be one of the declared classes"
    if target.labels is None:
        raise InvalidData(asked, "a type that holds no labels, such as dates, bytes or complex numbers", AS_IT_IS)
    if isinstance(classes, str) or target.labels == "unknown":
        return
    held, label_words, remedy = LABELS[target.labels]
    if not any(_can_equal(target.labels, label) for label in classes[1:] or classes):
        raise InvalidData(asked, f"{held}, where no class but the first is {label_words}", remedy)
    require_held(asked, target.numbers, [label for label in classes if not isinstance(label, str)])


def _can_equal(held: Kind, label: object) -> bool:
    """Return whether a value of such a type can equal a class."""
    if isinstance(label, str) or held == "text":
        return isinstance(label, str) and held == "text"
    return held == "number" or label in (0, 1)
