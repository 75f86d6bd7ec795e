"""Columns of Arrow files before their values are looked at: whether they lie in their buffers, how long texts are.

What says where values lie for many rows together is *structure*: buffers, offsets, run ends. Where it is damaged no row
can be told from the next, and the file is unreadable. What one row alone holds is a *value*: a number, a text, an index
into a dictionary, a view of a text. Whatever it is, it never raises; an index or a view that leads nowhere is a missing
value.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

# A view of text: its length, four of its bytes, the buffer it lies in, and where. Short ones hold the text themselves.
_VIEW = np.dtype([("length", "<i4"), ("prefix", "<i4"), ("buffer", "<i4"), ("place", "<i4")])
_SHORT = 12


def undamaged(column: Any) -> Any:
    """Return the column if all of its structure lies within its buffers: reading others would end the process.

    Nothing else is checked: text that is no UTF-8 or a time of 25 o'clock is a value, and values never raise.
    """
    import pyarrow  # type: ignore[import-untyped]
    from pyarrow import types

    column.validate()
    if isinstance(column.type, pyarrow.BaseExtensionType):
        return undamaged(column.storage)
    if types.is_dictionary(column.type):
        # Indices outside of the dictionary count as missing where they are looked up.
        words = undamaged(column.dictionary)
        return pyarrow.DictionaryArray.from_arrays(column.indices, words, safe=False)
    if types.is_run_end_encoded(column.type):
        values = undamaged(column.values)
        pyarrow.RunEndEncodedArray.from_arrays(column.run_ends, pyarrow.nulls(len(values))).validate(full=True)
        return _coded(column, values)
    if types.is_string(column.type):
        column.view(pyarrow.binary()).validate(full=True)
    elif types.is_large_string(column.type):
        column.view(pyarrow.large_binary()).validate(full=True)
    elif _is_view(column.type):
        return _with_views_inside(column)
    elif types.is_binary(column.type) or types.is_large_binary(column.type):
        column.validate(full=True)
    return column


def _coded(column: Any, values: Any) -> Any:
    """Return a column of runs as codes of these values, one a run: to make runs of them PyArrow would look at each."""
    import pyarrow

    first, count = column.find_physical_offset(), column.find_physical_length()
    ends = np.asarray(column.run_ends.slice(first, count))
    rows = np.arange(column.offset, column.offset + len(column))
    codes = pyarrow.array(first + np.searchsorted(ends, rows, side="right"), pyarrow.int64())
    return pyarrow.DictionaryArray.from_arrays(codes, values, safe=False)


def _views(column: Any) -> NDArray[Any]:
    if not len(column):
        return np.empty(0, dtype=_VIEW)
    return np.frombuffer(column.buffers()[1], dtype=_VIEW, count=column.offset + len(column))[column.offset :]


def _with_views_inside(column: Any) -> Any:
    """Return a column of views in which those that lie in none of its buffers are missing."""
    views, texts = _views(column), column.buffers()[2:]
    sizes = np.array([*(text.size for text in texts), 0])
    # The last size is that of no buffer: what does not lie in one has no room.
    buffers = np.where((views["buffer"] >= 0) & (views["buffer"] < len(texts)), views["buffer"], len(texts))
    ends = views["place"].astype(np.int64) + views["length"]
    inside = (views["place"] >= 0) & (ends <= sizes[buffers])
    known = (views["length"] >= 0) & ((views["length"] <= _SHORT) | inside)
    return column if known.all() else _of_views(column, views, known & _valid(column))


def _valid(column: Any) -> NDArray[Any]:
    return np.asarray(column.is_valid().to_numpy(zero_copy_only=False))


def _of_views(column: Any, views: NDArray[Any], valid: NDArray[Any]) -> Any:
    """Return an array of these views of a column's texts."""
    import pyarrow

    bits = pyarrow.py_buffer(np.packbits(valid, bitorder="little").tobytes())
    kept = pyarrow.py_buffer(np.where(valid, views, np.zeros(1, dtype=_VIEW)).tobytes())
    return pyarrow.Array.from_buffers(column.type, len(views), [bits, kept, *column.buffers()[2:]])


def taken(column: Any, places: NDArray[Any]) -> Any:
    """Return the entries at some places of an Arrow array; PyArrow takes none out of views.

    Examples
    --------
    >>> import pyarrow
    >>> taken(pyarrow.array(["x", None, "z"], pyarrow.string_view()), np.array([2, 1])).to_pylist()
    ['z', None]
    """
    import pyarrow

    if _is_view(column.type):
        return _of_views(column, _views(column)[places], _valid(column)[places])
    return column.take(pyarrow.array(places))


def _is_view(arrow_type: Any) -> bool:
    from pyarrow import types

    return bool(types.is_string_view(arrow_type) or types.is_binary_view(arrow_type))


def with_all_digits(column: Any) -> Any:
    """Return a column of ids: whole numbers and decimals as text, which a float would round, and others as they are.

    Examples
    --------
    >>> import pyarrow
    >>> with_all_digits(pyarrow.array([2**53 + 1, None]).dictionary_encode()).to_pylist()
    ['9007199254740993', None]
    """
    import pyarrow
    from pyarrow import types

    if isinstance(column.type, pyarrow.BaseExtensionType):
        return with_all_digits(column.storage)
    if types.is_dictionary(column.type):
        words = with_all_digits(column.dictionary)
        return pyarrow.DictionaryArray.from_arrays(column.indices, words, safe=False)
    if types.is_run_end_encoded(column.type):
        return _coded(column, with_all_digits(column.values))
    exact = types.is_integer(column.type) or types.is_decimal(column.type)
    return column.cast(pyarrow.string()) if exact else column


def text_of_a_row(column: Any) -> int:
    """Return how much text a row of an undamaged column has, in bytes: the longest where it may stand for many rows.

    Texts that stand for one row each are counted by their mean: together they are no longer than the column is.

    Examples
    --------
    >>> import pyarrow
    >>> text_of_a_row(pyarrow.array(["a text", "x"])), text_of_a_row(pyarrow.array([1.0, 2.0]))
    (7, 8)
    """
    from pyarrow import types

    if types.is_dictionary(column.type):
        return text_of_a_row(column.indices) + _longest(column.dictionary)
    if types.is_run_end_encoded(column.type):
        return _longest(column.values)
    if _is_view(column.type):
        return _longest(column)
    return int(column.nbytes) // max(1, len(column))


def _longest(column: Any) -> int:
    """Return the length of the longest text of a column, in bytes; entries of other types have one size."""
    from pyarrow import compute, types

    if _is_view(column.type):
        lengths = _views(column)["length"][_valid(column)]
        return int(lengths.max(initial=0))
    kinds = (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)
    if any(holds(column.type) for holds in kinds):
        return compute.max(compute.binary_length(column)).as_py() or 0
    return int(column.nbytes) // max(1, len(column))
