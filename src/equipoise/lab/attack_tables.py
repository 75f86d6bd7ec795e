"""The table of an attack: an array or a data frame, whose rows are taken and whose columns are overwritten.

A model is asked in the terms it was trained in: a frame stays a frame of the same library with the same column types,
an array stays an array. So whatever stands before the model in a pipeline sees what it saw in training.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from equipoise.errors import InvalidData, InvalidParameter

Column = str | int


class Table(ABC):
    """Rows by columns, of which copies are made: some rows of it, or all of them with other values in some columns."""

    n_rows: int

    @abstractmethod
    def take(self, rows: NDArray[np.intp]) -> Any:
        """Return these rows in this order, in the table's own type."""

    @abstractmethod
    def column(self, name: Column) -> NDArray[Any]:
        """Return the values of a column, or say which columns there are."""

    @abstractmethod
    def overwritten(self, values: Mapping[Column, Any]) -> Any:
        """Return a copy, in the table's own type, in which each named column holds one value throughout."""


def table_of(X: Any) -> Table:  # noqa: N803 - the field's word for a table
    """Return the table of an attack from a pandas or Polars frame, an Arrow table or an array.

    Examples
    --------
    >>> table = table_of([[1.0, 2.0], [3.0, 4.0]])
    >>> table.overwritten({1: 9.0}).tolist()
    [[1.0, 9.0], [3.0, 9.0]]
    >>> table.column(2)
    Traceback (most recent call last):
    equipoise.errors.InvalidParameter: asked: the column 2; found: columns 0 to 1; to do: name a column by its number
    """
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return _Frame(frame)
    given = None if hasattr(X, "tocsr") else np.asarray(X)
    if given is None or given.ndim != 2 or not given.shape[1]:
        found = "a sparse matrix" if given is None else f"{type(X).__name__} of shape {given.shape}"
        raise InvalidData(
            "a table, rows by columns: an array or an eager data frame", found, "pass X of shape (n, columns)"
        )
    if not len(given):
        raise InvalidData("a table with rows", "none", "pass the rows that are attacked")
    return _Array(given)


class _Array(Table):
    def __init__(self, values: NDArray[Any]) -> None:
        self._values = values
        self.n_rows = len(values)

    def take(self, rows: NDArray[np.intp]) -> Any:
        return self._values[rows]

    def column(self, name: Column) -> NDArray[Any]:
        width = self._values.shape[1]
        if isinstance(name, bool) or not isinstance(name, int | np.integer) or not 0 <= name < width:
            found = f"columns 0 to {width - 1}"
            raise InvalidParameter(f"the column {name!r}", found, "name a column by its number")
        return np.asarray(self._values[:, name])

    def overwritten(self, values: Mapping[Column, Any]) -> Any:
        changed = self._values.copy()
        for name, value in values.items():
            self.column(name)
            place = int(name)
            try:
                changed[:, place] = value
            except (TypeError, ValueError):
                raise _does_not_fit(name, value, changed.dtype) from None
            if not equals(changed[:1, place], value).all():
                raise _does_not_fit(name, value, changed.dtype)
        return changed


class _Frame(Table):
    def __init__(self, frame: nw.DataFrame[Any]) -> None:
        if not len(frame):
            raise InvalidData("a table with rows", "none", "pass the rows that are attacked")
        self._frame = frame
        self.n_rows = len(frame)

    def take(self, rows: NDArray[np.intp]) -> Any:
        return self._frame[rows.tolist()].to_native()

    def column(self, name: Column) -> NDArray[Any]:
        if name not in self._frame.columns:
            # A column's name is public; a long list of them helps nobody.
            shown = ", ".join(map(str, self._frame.columns[:8])) + (", ..." if len(self._frame.columns) > 8 else "")
            raise InvalidParameter(f"the column {name!r}", f"columns {shown}", "name one of the table's columns")
        return np.asarray(self._frame[str(name)].to_numpy())

    def overwritten(self, values: Mapping[Column, Any]) -> Any:
        everywhere = list(range(self.n_rows))
        changed = self._frame
        for name, value in values.items():
            self.column(name)
            old = changed[str(name)]
            try:
                # Overwriting keeps the column's type and its categories; a new column would have types of its own.
                new = old.scatter(everywhere, [value] * self.n_rows)
            except Exception:  # each library of frames refuses a value in its own way
                raise _does_not_fit(name, value, old.dtype) from None
            if new.dtype != old.dtype or not equals(new.head(1).to_numpy(), value).all():
                raise _does_not_fit(name, value, old.dtype)
            changed = changed.with_columns(new)
        return changed.to_native()


def _does_not_fit(name: Column, value: Any, dtype: Any) -> InvalidParameter:
    return InvalidParameter(
        f"a value that the column {name!r} can hold",
        f"{value!r} for a column of type {dtype}",
        "write the level as it stands in the table, or give the table's column the type that holds it",
    )


def equals(column: NDArray[Any], value: Any) -> NDArray[np.bool_]:
    """Return where a column holds a value; numbers may differ by rounding, since one-hot columns are often scaled.

    Examples
    --------
    >>> equals(np.array([0.3, 0.5]), 0.1 + 0.2).tolist()
    [True, False]
    >>> equals(np.array(["A/A", "A/G"], object), "A/A").tolist()
    [True, False]
    """
    if column.dtype.kind in "fiub" and isinstance(value, int | float | np.number | np.bool_):
        return np.isclose(column.astype(np.float64), float(value), rtol=1e-9, atol=1e-12)
    return np.array([bool(held == value) for held in column.tolist()], np.bool_)
