"""From what users hold to arrays: shapes, data types and names are checked here, values are not looked at.

A table stays unread until the door asks for it: a ledger must admit the spend before a data frame is even copied.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import DataConversionWarning

from equipoise.errors import InvalidData

NUMERIC_KINDS = "fiub"


class Matrix(Protocol):
    """What the objective needs of a table: its shape, and blocks of rows."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""

    def __getitem__(self, rows: slice | NDArray[np.intp], /) -> NDArray[Any]:
        """Return a block of rows."""


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


@dataclass(frozen=True, slots=True)
class Unread:
    """Data whose shape and type are known and whose values are fetched only by `read`."""

    shape: tuple[int, ...]
    numeric: bool
    read: Callable[[], Any]


def feature_table(X: Any) -> Unread:  # noqa: N803 - the field's word for a table
    """Return a table of numbers, unread; an array that already is one will not be copied.

    Raises only for what is visible without a value: dimensions, emptiness, data types and column names.

    Examples
    --------
    >>> feature_table([[1, 2], [3, 4]]).shape
    (2, 2)
    """
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    table = _from_frame(frame) if isinstance(frame, nw.DataFrame) else _from_array(X)
    if len(table.shape) != 2:
        remedy = "Reshape your data to rows and columns: X.reshape(-1, 1) for one column, X.reshape(1, -1) for one row"
        found = f"dim {len(table.shape)}, shape {table.shape}"
        raise InvalidData("Expected 2D array of rows and columns", found, remedy)
    for length, what in zip(table.shape, ("sample", "feature"), strict=True):
        if length == 0:
            found = f"0 {what}(s) (shape={table.shape}) while a minimum of 1 is required."
            raise InvalidData(f"at least one {what}", found, "pass the table's rows and columns")
    return table


def _from_frame(frame: "nw.DataFrame[Any]") -> Unread:
    wrong = [name for name, kind in frame.schema.items() if not (kind.is_numeric() or kind == nw.Boolean)]
    if wrong:
        raise InvalidData(
            "numeric columns",
            f"non-numeric columns {', '.join(map(str, wrong[:8]))}{' ...' if len(wrong) > 8 else ''}",
            "encode them by a public rule (levels known beforehand) or leave them out",
        )
    return Unread(frame.shape, True, lambda: Columns([_numbers(column) for column in frame.iter_columns()]))


def _numbers(column: "nw.Series[Any]") -> NDArray[Any]:
    """Return a column as numbers, without a copy where the frame keeps it as plain numbers."""
    array = column.to_numpy()
    # A missing value becomes NaN, and NaN becomes the domain's fill: a public rule, so nothing raises.
    return array if array.dtype.kind in NUMERIC_KINDS else column.cast(nw.Float64).to_numpy()


def _from_array(X: Any) -> Unread:  # noqa: N803 - the field's word for a table
    try:
        matrix = X if sparse.issparse(X) else np.asarray(X)
    except ValueError:
        raise InvalidData("a table of numbers", "rows of different lengths", "pass rows of one length") from None
    if matrix.dtype.kind == "c":
        remedy = "pass the real and imaginary parts as columns"
        raise InvalidData("real numbers", "Complex data not supported", remedy)
    if matrix.dtype.kind not in NUMERIC_KINDS:
        raise InvalidData(
            "an array of numbers",
            f"data type {matrix.dtype} of non-numeric columns",
            "convert them by a public rule, or X.astype(float) if every entry is a number",
        )
    return Unread(matrix.shape, True, lambda: matrix)


def target_column(y: Any, n_samples: int) -> Unread:
    """Return the target, unread, with one entry a row.

    Examples
    --------
    >>> target_column([0, 1, 1], 3).read()
    array([0, 1, 1])
    """
    if y is None:
        raise InvalidData("a target", "requires y to be passed, but the target y is None", "call fit(X, y)")
    series = nw.from_native(y, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(series, nw.Series):
        target = Unread(series.shape, series.dtype.is_numeric() or series.dtype == nw.Boolean, series.to_numpy)
    else:
        array = np.asarray(y)
        target = Unread(array.shape, array.dtype.kind in NUMERIC_KINDS, lambda: array)
    if len(target.shape) == 2 and target.shape[1] == 1:
        message = "A column-vector y was passed when a 1d array was expected; its one column is taken."
        warnings.warn(message, DataConversionWarning, stacklevel=4)
        column = target
        target = Unread(column.shape[:1], column.numeric, lambda: column.read()[:, 0])
    if len(target.shape) != 1:
        found = f"y should be a 1d array, got an array of shape {target.shape} instead."
        raise InvalidData("a 1d array of targets", found, "pass one column")
    if target.shape[0] != n_samples:
        found = f"inconsistent numbers of samples: {n_samples} rows, {target.shape[0]} targets"
        raise InvalidData("one target a row", found, "pass X and y of the same table")
    return target
