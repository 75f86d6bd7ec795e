"""Data frames as raw tables: pandas, Polars and PyArrow, by their types alone; no value decides how another is read."""

import importlib.util
from collections.abc import Iterator, Sequence
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from equipoise.data.arrow_columns import with_all_digits
from equipoise.data.arrow_values import (
    Column,
    Kind,
    arrow_batch,
    arrow_kind,
    arrow_values,
    dates_as_text,
    decoded,
    objects,
)
from equipoise.data.entries import entry_equals
from equipoise.data.number_types import NumberType, arrow_number_type
from equipoise.data.raw import (
    BATCH_ROWS,
    RawTable,
    arrow_kinds,
    arrow_number_types,
    check_names,
    constant_failure,
    settled_kinds,
)
from equipoise.data.texts import make_ready
from equipoise.errors import ENDINGS, UNSPENT, InvalidData, MissingExtra


class FrameTable(RawTable):
    """A pandas or Polars data frame or a PyArrow table, unread.

    Parameters
    ----------
    frame : a pandas or Polars data frame, or a PyArrow table
        Lazy frames are refused: collecting one reads rows.
    source : str
        What to call the table in an error.

    Examples
    --------
    >>> import pyarrow
    >>> table = FrameTable(pyarrow.table({"age": [31, None], "town": ["Graz", None]}))
    >>> table.names, table.n_samples, dict(table.kinds)
    (('age', 'town'), 2, {'age': 'number', 'town': 'text'})
    >>> next(table.batches(["age", "town"]))
    {'age': array([31., nan]), 'town': Texts(['Graz', None])}
    """

    def __init__(self, frame: Any, source: str = "the data frame") -> None:
        self.source = source
        self._frame = _eager(frame, source)
        self.names = check_names(list(self._frame.columns), source)
        self.n_samples = len(self._frame)
        if self._frame.implementation.is_pyarrow():
            schema = self._frame.to_native().schema
            self.kinds, self.number_types = arrow_kinds(schema, source), arrow_number_types(schema)
            make_ready()
        else:
            columns = {name: self._frame.get_column(name) for name in self.names}
            found = {name: column_kind(column) for name, column in columns.items()}
            types = {name: column.to_native().dtype for name, column in columns.items()}
            self.kinds = settled_kinds(found, types, source)
            numbers = {name: number_type(column) for name, column in columns.items()}
            self.number_types = {name: kind for name, kind in numbers.items() if kind is not None}

    def batches(self, names: Sequence[str]) -> Iterator[dict[str, Column]]:
        """Yield the rows of these columns, in batches of at most `BATCH_ROWS`."""
        with constant_failure():
            if self._frame.implementation.is_pyarrow():
                for batch in self._frame.to_native().select(list(names)).to_batches(max_chunksize=BATCH_ROWS):
                    yield arrow_batch({name: batch.column(name) for name in names}, self.ids)
                return
            for start in range(0, len(self._frame), BATCH_ROWS):
                rows = slice(start, start + BATCH_ROWS)
                columns = {name: self._frame.get_column(name)[rows] for name in names}
                yield {
                    name: column_ids(column) if name == self.ids else column_values(column)
                    for name, column in columns.items()
                }


def require_arrow(frame: Any) -> None:
    """Refuse what is of Polars where PyArrow is not installed, by which its texts are read: rows are not yet."""
    if type(frame).__module__.partition(".")[0] == "polars" and importlib.util.find_spec("pyarrow") is None:
        raise MissingExtra.of("a Polars frame, whose texts are read by PyArrow", "pyarrow", UNSPENT)


def _eager(frame: Any, source: str) -> "nw.DataFrame[Any]":
    require_arrow(frame)
    asked = f"a pandas or Polars data frame or a PyArrow table as {source}"
    try:
        wrapped = nw.from_native(frame, pass_through=True)
    except nw.exceptions.DuplicateError:
        names = [str(name) for name in getattr(frame, "column_names", None) or frame.columns]
        check_names(names, source)  # tells where
        raise InvalidData(f"columns with different names in {source}", "repeated names", "rename them") from None
    if isinstance(wrapped, nw.LazyFrame):
        remedy = "read it first, for example by frame.collect(), and pass what comes back"
        raise InvalidData(asked, "a lazy frame, whose rows are computed only when asked for", remedy)
    if not isinstance(wrapped, nw.DataFrame):
        remedy = "pass a data frame, or open a CSV, Parquet, Arrow or Excel file by equipoise.open_table(path)"
        raise InvalidData(asked, f"an object of type {type(frame).__name__}", remedy)
    return wrapped


def column_kind(column: "nw.Series[Any]") -> Kind | None:
    """Return the kind of a pandas, Polars or Arrow column by its type, None for a type that is refused.

    Examples
    --------
    >>> import pandas as pd
    >>> column_kind(nw.from_native(pd.Series([1, "a", None], dtype=object), series_only=True))
    'unknown'
    """
    if column.implementation.is_pyarrow():
        return arrow_kind(column.to_native().type)
    native = column.to_native().dtype
    # Narwhals looks at values to name the type of a pandas column of objects: so it is not asked.
    if str(native) == "object":
        return "unknown"
    if hasattr(native, "pyarrow_dtype"):
        return arrow_kind(native.pyarrow_dtype)
    if (categories := _pandas_categories(column)) is not None:
        # Their type is public like that of a column. No category is looked at: pandas may have found them in rows.
        return column_kind(nw.from_native(categories[:0].to_series(), series_only=True))
    kind = column.dtype
    if kind.is_numeric():
        return "number"
    if kind in (nw.String, nw.Categorical, nw.Enum, nw.Binary):
        return "text"
    if str(native) == "Null":
        return "nothing"
    held: tuple[tuple[Any, Kind], ...] = (
        (nw.Boolean, "truth"),
        (nw.Date, "day"),
        (nw.Time, "time"),
        (nw.Duration, "duration"),
        (nw.Object, "unknown"),
    )
    return next((word for other, word in held if kind == other), "date" if kind.is_temporal() else None)


def number_type(column: "nw.Series[Any]") -> NumberType | None:
    """Return which numbers a pandas, Polars or Arrow column's type can hold, None where it does not say so.

    Examples
    --------
    >>> import pandas as pd
    >>> number_type(nw.from_native(pd.Series([1, None], dtype="UInt8"), series_only=True))
    NumberType(name='uint8')
    """
    if column.implementation.is_pyarrow():
        return arrow_number_type(column.to_native().type)
    native = column.to_native().dtype
    if hasattr(native, "pyarrow_dtype"):
        return arrow_number_type(native.pyarrow_dtype)
    # Narwhals would look at objects to name their type; categories of pandas are read one by one, with all digits.
    if str(native) == "object" or _pandas_categories(column) is not None:
        return None
    return NumberType(str(column.dtype).lower()) if column.dtype.is_integer() or column.dtype.is_float() else None


def _pandas_categories(column: "nw.Series[Any]") -> Any:
    """Return the categories of a pandas categorical column, None for any other column."""
    if not column.implementation.is_pandas_like():
        return None
    return getattr(column.to_native().dtype, "categories", None)


def column_values(column: "nw.Series[Any]") -> NDArray[Any]:
    """Return a pandas, Polars or Arrow column, or a batch of one, as an array whose type follows from the column's.

    Examples
    --------
    >>> import pandas as pd
    >>> column_values(nw.from_native(pd.Series([True, None], dtype="boolean"), series_only=True))
    array([True, None], dtype=object)
    """
    native = column.to_native()
    if column.implementation.is_pyarrow():
        return _joined(native)
    # pandas keeps text in Arrow's memory too, and would raise where that is no UTF-8.
    if hasattr(native.dtype, "pyarrow_dtype") or getattr(native.dtype, "storage", None) == "pyarrow":
        import pyarrow  # type: ignore[import-untyped]

        return _joined(pyarrow.array(native))
    if _pandas_categories(column) is not None:
        return _looked_up(native)
    if str(native.dtype) == "object":
        # What does not equal itself is missing: entry by entry, since pandas raises where one cannot be compared.
        entries = native.to_numpy()
        known = np.fromiter((entry_equals(entry, entry) for entry in entries), dtype=bool, count=len(entries))
        return objects(entries, ~known)
    if column.implementation.is_polars() and column.dtype in (nw.String, nw.Categorical, nw.Enum, nw.Time):
        # Polars itself ends in a panic where its text is no UTF-8, and writes times without their fraction.
        return _joined(native.to_arrow())
    missing = np.asarray(column.is_null().to_numpy(), dtype=bool)
    if column.dtype.is_numeric():
        return np.asarray(column.cast(nw.Float64).to_numpy(), dtype=np.float64)
    values = column.to_numpy()
    if values.dtype.kind in "Mm":
        return dates_as_text(values, missing)
    return objects(decoded(values, missing) if column.dtype == nw.Binary else values, missing)


def _looked_up(column: Any) -> NDArray[Any]:
    """Return what the codes of a pandas column stand for: each category by itself, as an entry of a list would be.

    pandas takes one type for all categories from what they are, so that of numbers it would be another than of numbers
    and a text. A code that stands for no category is a missing value.
    """
    import pandas as pd

    categories = pd.Series(column.dtype.categories)
    kind = categories.dtype
    # Text in Arrow's memory need not be UTF-8, and pandas would raise.
    in_arrow = hasattr(kind, "pyarrow_dtype") or getattr(kind, "storage", None) == "pyarrow"
    as_text = in_arrow and pd.api.types.is_string_dtype(kind)
    entries = column_values(nw.from_native(categories, series_only=True)) if as_text else _one_by_one(categories)
    words = np.fromiter((*entries, None), dtype=object, count=len(categories) + 1)
    codes = column.cat.codes.to_numpy(dtype=np.intp)
    return words[np.where((codes >= 0) & (codes < len(categories)), codes, len(categories))]


def _one_by_one(values: Any) -> Iterator[Any]:
    """Yield the entries of a pandas series, None for one that Python has nothing for, such as a year above 9999."""
    for place in range(len(values)):
        try:
            entry = values.iloc[place]
        except ENDINGS:
            raise
        except BaseException:  # a value inside a private row never raises
            entry = None
        yield entry.item() if isinstance(entry, np.generic) and entry.dtype.kind not in "mM" else entry


def column_ids(column: "nw.Series[Any]") -> NDArray[Any]:
    """Return a column of ids: as `column_values`, but whole numbers and decimals as text, with every digit.

    Examples
    --------
    >>> import pandas as pd
    >>> column_ids(nw.from_native(pd.Series([2**53 + 1, None], dtype="Int64"), series_only=True))
    array(['9007199254740993', None], dtype=object)
    """
    native = column.to_native()
    if column.implementation.is_pyarrow():
        return _joined(native, ids=True)
    if hasattr(native.dtype, "pyarrow_dtype"):
        import pyarrow

        return _joined(pyarrow.array(native), ids=True)
    # To name the type of a pandas column of objects, narwhals would look at values.
    if str(native.dtype) == "object" or not (column.dtype.is_integer() or column.dtype.is_decimal()):
        return column_values(column)
    texts = column.cast(nw.String)
    return objects(texts.to_numpy(), np.asarray(column.is_null().to_numpy(), dtype=bool))


def _joined(column: Any, ids: bool = False) -> NDArray[Any]:
    """Return an Arrow array, in one piece or in chunks, as one NumPy array."""
    chunks = getattr(column, "chunks", [column])
    parts = [arrow_values(with_all_digits(part) if ids else part) for part in chunks]
    return np.concatenate(parts) if parts else np.empty(0)
