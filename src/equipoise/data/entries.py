"""Lists and other sequences without a declared type: every entry is read by itself, by a public rule.

NumPy would choose one type for all entries from what it finds among them: a single text turns every number into text,
and tables that differ in one row would differ in all of them, or end in another way. So it is never asked. A number
(`int`, `float`, `bool` or one of NumPy's real types) is that number; everything else is missing, and so is a whole
number that no float holds. What is read of a table before a spend is its shape.
"""

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from equipoise.errors import ENDINGS, InvalidData

Array = NDArray[np.float64]

# What NumPy takes an array's type from; without one of these it looks at values.
_DECLARING = ("__array__", "__array_interface__", "__array_struct__")


def is_undeclared(given: object) -> bool:
    """Return whether this is a sequence whose entries have no declared type: a list, a tuple, a deque.

    Examples
    --------
    >>> [is_undeclared(given) for given in ([1, 2], (), "text", np.zeros(2), {"a": 1})]
    [True, True, False, False, False]
    """
    kind = type(given)
    if issubclass(kind, str | bytes | bytearray | memoryview | Mapping) or scipy.sparse.issparse(given):
        return False
    return all(hasattr(kind, name) for name in ("__len__", "__getitem__")) and not _declares(kind)


def _declares(kind: type) -> bool:
    return any(hasattr(kind, name) for name in _DECLARING)


def number_of_entry(entry: object) -> float:
    """Return an entry as a number, NaN for everything that is none.

    Examples
    --------
    >>> [number_of_entry(entry) for entry in (3, 2.5, True, np.int8(7), "3", None, [3], 10**400)]
    [3.0, 2.5, 1.0, 7.0, nan, nan, nan, nan]
    """
    try:
        # NumPy counts durations among its whole numbers.
        if isinstance(entry, int | float | np.integer | np.floating | np.bool_) and not isinstance(
            entry, np.timedelta64
        ):
            return float(entry)
    except ENDINGS:
        raise
    except BaseException:  # a value inside a private row never raises
        return math.nan
    return math.nan


def entry_equals(entry: object, label: object) -> bool:
    """Return whether an entry is a label.

    Examples
    --------
    >>> [entry_equals(entry, 1) for entry in (1.0, True, "1", np.zeros(2))]
    [True, True, False, False]
    """
    try:
        return bool(entry == label)
    except ENDINGS:
        raise
    except BaseException:  # a value inside a private row never raises
        return False


def numbers_of_entries(entries: Iterable[object], count: int) -> Array:
    """Return so many entries as numbers.

    Examples
    --------
    >>> numbers_of_entries(["a", 1, None, 2.0], 4)
    array([nan,  1., nan,  2.])
    """
    return np.fromiter(map(number_of_entry, entries), dtype=np.float64, count=count)


def listed_shape(rows: Any, width: int | None = None) -> tuple[int, ...]:
    """Return the shape of a table given as a list of rows; refuse rows of different lengths, in constant words.

    An entry that is no row has no say: it is the row "every value missing". Where no entry is a row the table has the
    declared width, if there is one, and else no columns.

    Examples
    --------
    >>> listed_shape([[1, 2], ("a", None), None, "text"]), listed_shape([1, 2, 3]), listed_shape([], width=2)
    ((4, 2), (3,), (0, 2))
    """
    count, widths = length_of(rows), {_width(row) for row in _entries(rows)} - {None}
    if len(widths) > 1:
        raise InvalidData("a table of numbers", "rows of different lengths", "pass rows of one length")
    found = widths.pop() if widths else width
    return (count,) if found is None else (count, found)


def length_of(given: Any) -> int:
    """Return how long a sequence is; a class of the user's own that is a list is as long as that list.

    What its methods say or raise is not asked for, here and in `_entries`.

    Examples
    --------
    >>> length_of([1, 2]), length_of(range(3))
    (2, 3)
    """
    if isinstance(given, list):
        return list.__len__(given)
    return tuple.__len__(given) if isinstance(given, tuple) else len(given)


def _entries(given: Any) -> Iterator[Any]:
    if isinstance(given, list):
        return list.__iter__(given)
    return tuple.__iter__(given) if isinstance(given, tuple) else iter(given)


def _is_row(row: object) -> bool:
    return is_undeclared(row) or (_declares(type(row)) and len(getattr(row, "shape", ())) == 1)


def _width(row: object) -> int | None:
    """Return how many entries a row has, None for what is no row and for one whose own code fails."""
    try:
        return length_of(row) if _is_row(row) else None
    except ENDINGS:
        raise
    except BaseException:  # a private row never raises
        return None


def listed_table(rows: Any, shape: tuple[int, ...]) -> Array:
    """Return a list of rows of that shape as numbers; a row that yields more, fewer or none is missing.

    Examples
    --------
    >>> listed_table([[1, 2], ("a", None)], (2, 2))
    array([[ 1.,  2.],
           [nan, nan]])
    """
    read = (_row(row, shape[1]) for row in _entries(rows))
    return numbers_of_entries(itertools.chain.from_iterable(read), math.prod(shape)).reshape(shape)


def _row(row: Any, width: int) -> list[Any]:
    try:
        # One more than there should be, since what follows may have no end.
        found = list(itertools.islice(_entries(row), width + 1)) if _width(row) == width else []
    except ENDINGS:
        raise
    except BaseException:  # a private row never raises
        found = []
    return found if len(found) == width else [None] * width


def listed_target(entries: Any) -> NDArray[Any]:
    """Return the entries of a list as objects; the only entry of a list of one stands for that list.

    Examples
    --------
    >>> listed_target([1.0, "no", [3], [4, 5]])
    array([1.0, 'no', 3, list([4, 5])], dtype=object)
    """
    found = np.empty(length_of(entries), dtype=object)
    for place, entry in enumerate(_entries(entries)):
        found[place] = _only(entry)
    return found


def _only(entry: Any) -> object:
    """Return the one entry of a row, so that a column may come as a list of rows; anything else as it is."""
    try:
        return next(_entries(entry)) if _width(entry) == 1 else entry
    except ENDINGS:
        raise
    except BaseException:  # a value inside a private row never raises
        return None
