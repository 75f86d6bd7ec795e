"""Arrow arrays as NumPy arrays or texts: what comes out follows from the Arrow type alone, never from values."""

import math
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from equipoise.data.arrow_columns import taken, with_all_digits
from equipoise.data.texts import Texts, padded

# Values as they come: an array, or text that was not made into objects.
Column = NDArray[Any] | Texts
# What a type holds. A "day" is a date without a time of day, a "time" the latter alone; "nothing" has no value.
Kind = Literal["number", "truth", "text", "date", "day", "time", "duration", "nothing", "unknown"]


# Units in which moments and times are written with a fraction of a second.
FRACTIONS = ("ms", "us", "ns", "ps", "fs", "as")

# A dictionary of more bytes is unpacked only as far as a batch of rows needs it.
SMALL_DICTIONARY = 2**20


def are_different(first: Kind, second: Kind) -> bool:
    """Return whether one type holds numbers or truth values and the other does not.

    A type that is not known, or that holds nothing, is no difference.

    Examples
    --------
    >>> are_different("number", "date"), are_different("text", "date"), are_different("number", "unknown")
    (True, False, False)
    """
    if {"unknown", "nothing"} & {first, second}:
        return False
    return (first in ("number", "truth")) != (second in ("number", "truth"))


def arrow_kind(arrow_type: Any) -> Kind | None:
    """Return the kind of an Arrow type, None for a type that is refused.

    Examples
    --------
    >>> import pyarrow
    >>> arrow_kind(pyarrow.dictionary(pyarrow.int8(), pyarrow.string()))
    'text'
    """
    import pyarrow  # type: ignore[import-untyped]
    from pyarrow import types

    if isinstance(arrow_type, pyarrow.BaseExtensionType):
        return arrow_kind(arrow_type.storage_type)
    if _is_coded(arrow_type):
        # Codes of codes could unpack to any number of entries for one row, and nobody writes them.
        return None if _is_coded(arrow_type.value_type) else arrow_kind(arrow_type.value_type)
    if types.is_boolean(arrow_type):
        return "truth"
    if any(holds(arrow_type) for holds in (types.is_integer, types.is_floating, types.is_decimal)):
        return "number"
    if _is_text(arrow_type) or _is_bytes(arrow_type):
        return "text"
    held: tuple[tuple[Any, Kind], ...] = (
        (types.is_timestamp, "date"),
        (types.is_date, "day"),
        (types.is_time, "time"),
        (types.is_duration, "duration"),
        (types.is_null, "nothing"),
    )
    return next((kind for holds, kind in held if holds(arrow_type)), None)


def _is_coded(arrow_type: Any) -> bool:
    import pyarrow
    from pyarrow import types

    if isinstance(arrow_type, pyarrow.BaseExtensionType):
        return _is_coded(arrow_type.storage_type)
    return bool(types.is_dictionary(arrow_type) or types.is_run_end_encoded(arrow_type))


def _is_text(arrow_type: Any) -> bool:
    from pyarrow import types

    return any(holds(arrow_type) for holds in (types.is_string, types.is_large_string, types.is_string_view))


def _is_bytes(arrow_type: Any) -> bool:
    from pyarrow import types

    kinds = (types.is_binary, types.is_large_binary, types.is_binary_view, types.is_fixed_size_binary)
    return any(holds(arrow_type) for holds in kinds)


def arrow_batch(columns: Mapping[str, Any], ids: str) -> dict[str, Column]:
    """Return a batch of Arrow arrays as columns; of ids no digit is lost.

    Examples
    --------
    >>> import pyarrow
    >>> arrow_batch({"id": pyarrow.array([2**53 + 1])}, ids="id")
    {'id': Texts(['9007199254740993'])}
    """
    return {name: arrow_column(with_all_digits(column) if name == ids else column) for name, column in columns.items()}


def arrow_column(column: Any) -> Column:
    """Return an Arrow array as a NumPy array, or as texts where it holds text; the Arrow type alone decides.

    Examples
    --------
    >>> import pyarrow
    >>> arrow_column(pyarrow.array(["Graz", None]).dictionary_encode())
    Texts(['Graz', None])
    """
    import pyarrow
    from pyarrow import types

    if isinstance(column.type, pyarrow.BaseExtensionType):
        return arrow_column(column.storage)
    if types.is_dictionary(column.type):
        return _looked_up(column)
    return _texts(column) if _is_text(column.type) or _is_bytes(column.type) else arrow_values(column)


def arrow_values(column: Any) -> NDArray[Any]:
    """Return an Arrow array as a NumPy array whose type follows from the Arrow type.

    Examples
    --------
    >>> import pyarrow
    >>> arrow_values(pyarrow.array([True, None]))
    array([True, None], dtype=object)
    """
    import pyarrow
    from pyarrow import types

    if isinstance(column.type, pyarrow.BaseExtensionType):
        return arrow_values(column.storage)
    if types.is_dictionary(column.type):
        return np.asarray(_looked_up(column))
    if types.is_run_end_encoded(column.type):
        return _run_out(column)
    if arrow_kind(column.type) == "number":
        # A whole number above 2**53 may be rounded: always, and not only in batches with a missing value.
        return np.asarray(column.cast(pyarrow.float64(), safe=False).to_numpy(zero_copy_only=False))
    missing = np.asarray(column.is_null().to_numpy(zero_copy_only=False))
    if types.is_time(column.type):
        column = _times_as_text(column)
    elif types.is_temporal(column.type):
        values = column.to_numpy(zero_copy_only=False)
        # Arrow has two types of days; one of them counts milliseconds.
        return dates_as_text(values.astype("datetime64[D]") if types.is_date(column.type) else values, missing)
    if _is_text(column.type):
        try:
            return objects(column.to_numpy(zero_copy_only=False), missing)
        except (pyarrow.ArrowException, UnicodeDecodeError):
            # Arrow does not check that its text is UTF-8; what is, reads the same on either path.
            column = column.cast(pyarrow.large_binary())
    values = column.to_numpy(zero_copy_only=False)
    return objects(decoded(values, missing) if _is_bytes(column.type) else values, missing)


def _entries(column: Any) -> NDArray[np.intp]:
    """Return the place of each value in the dictionary of an Arrow array, its length for one that stands for none.

    Arrow itself would raise where an index lies outside the dictionary, and an index is a value like any other.
    """
    indices = column.indices
    places = np.asarray(indices.fill_null(0).to_numpy(zero_copy_only=False))
    known = np.asarray(indices.is_valid().to_numpy(zero_copy_only=False))
    known &= (places >= 0) & (places < len(column.dictionary))
    return np.where(known, places, len(column.dictionary)).astype(np.intp)


def _looked_up(column: Any) -> Column:
    """Return the entries that the indices of an Arrow dictionary stand for; one that stands for none is missing."""
    places, words = _entries(column), column.dictionary
    if words.nbytes > SMALL_DICTIONARY:
        # Only the entries that these rows hold: a small batch is not to unpack a whole dictionary.
        used, places = np.unique(places, return_inverse=True)
        words = taken(words, used[used < len(words)])
    found = arrow_column(words)
    if isinstance(found, Texts):
        return found.taken(places)
    nothing = np.array([math.nan if found.dtype.kind == "f" else None], dtype=found.dtype)
    return np.concatenate([found, nothing])[places]


def _run_out(column: Any) -> NDArray[Any]:
    """Return the entries of an Arrow array of runs, each as often as its run is long."""
    first, count = column.find_physical_offset(), column.find_physical_length()
    ends = np.asarray(column.run_ends.slice(first, count))
    rows = np.arange(column.offset, column.offset + len(column))
    return arrow_values(column.values.slice(first, count))[np.searchsorted(ends, rows, side="right")]


def _texts(column: Any) -> Texts:
    """Return an Arrow array of text or bytes as texts: the same bytes, and the places where they lie."""
    import pyarrow

    # Nothing looks at the bytes: Arrow does not check that its text is UTF-8.
    plain = column.cast(pyarrow.large_binary())
    _, offsets, content = plain.buffers()
    limits = np.frombuffer(offsets, dtype=np.int64, count=len(plain) + 1, offset=8 * plain.offset)
    first, last = int(limits[0]), int(limits[-1])
    missing = np.asarray(plain.is_null().to_numpy(zero_copy_only=False))
    starts = np.where(missing, -1, limits[:-1] - first)
    return Texts(padded(content[first:last] if content is not None else b""), starts, limits[1:] - first)


def objects(values: NDArray[Any], missing: NDArray[np.bool_]) -> NDArray[Any]:
    """Return a copy as objects, None where missing."""
    objects = np.array(values, dtype=object)
    objects[missing] = None
    return objects


def dates_as_text(values: NDArray[Any], missing: NDArray[np.bool_]) -> NDArray[Any]:
    """Return dates and moments as NumPy writes them, and durations as whole numbers of their unit.

    A moment has one text, whatever the unit: without zeros at the end of a fraction.

    Examples
    --------
    >>> dates_as_text(np.array(["2020-02-29T14:30:00.500"], dtype="datetime64[ns]"), np.array([False]))
    array(['2020-02-29T14:30:00.5'], dtype=object)
    """
    if values.dtype.kind == "m":
        return objects(values.astype(np.int64).astype(str), missing)
    texts = values.astype(str)
    if np.datetime_data(values.dtype)[0] in FRACTIONS:
        texts = np.strings.rstrip(np.strings.rstrip(texts, "0"), ".")
    return objects(texts, missing)


def _times_as_text(column: Any) -> Any:
    """Return an Arrow array of times of day as texts, without zeros at the end of a fraction."""
    import pyarrow
    from pyarrow import compute

    texts = column.cast(pyarrow.string())
    if column.type.unit not in FRACTIONS:
        return texts
    return compute.utf8_rtrim(compute.utf8_rtrim(texts, characters="0"), characters=".")


def decoded(values: NDArray[Any], missing: NDArray[np.bool_]) -> NDArray[Any]:
    """Return bytes as text; a byte that is no UTF-8 becomes a replacement character, so no value can raise."""
    texts = np.empty(len(values), dtype=object)
    for place in np.flatnonzero(~missing):
        texts[place] = values[place].decode("utf-8", errors="replace")
    return texts
