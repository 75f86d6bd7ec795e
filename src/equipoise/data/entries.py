"""Lists and other sequences without a declared type: every entry is read by itself, by a public rule.

NumPy would choose one type for all entries from what it finds among them: a single text turns every number into text,
and tables that differ in one row would differ in all of them, or end in another way. So it is never asked. A number
(`int`, `float`, `bool` or one of NumPy's real types) is that number; everything else is missing, and so is a whole
number that no float holds. What is read of a table before a spend is its shape.
"""

import itertools
import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equipoise.errors import InvalidData

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
    if issubclass(kind, str | bytes | bytearray | memoryview | Mapping) or sparse.issparse(given):
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
    except Exception:  # a value inside a private row never raises
        return math.nan
    return math.nan


def numbers_of_entries(entries: Iterable[object], count: int) -> Array:
    """Return so many entries as numbers.

    Examples
    --------
    >>> numbers_of_entries(["a", 1, None, 2.0], 4)
    array([nan,  1., nan,  2.])
    """
    return np.fromiter(map(number_of_entry, entries), dtype=np.float64, count=count)


def listed_shape(rows: Any) -> tuple[int, ...]:
    """Return the shape of a table given as a list of rows; refuse rows of different lengths, in constant words.

    Examples
    --------
    >>> listed_shape([[1, 2], ("a", None), np.array([0.5, 0.6])]), listed_shape([1, 2, 3])
    ((3, 2), (3,))
    """
    widths = {len(row) if _is_row(row) else -1 for row in rows}
    if widths <= {-1}:
        return (len(rows),)
    if len(widths) > 1:
        raise InvalidData("a table of numbers", "rows of different lengths", "pass rows of one length")
    return len(rows), widths.pop()


def _is_row(row: object) -> bool:
    return is_undeclared(row) or (_declares(type(row)) and len(getattr(row, "shape", ())) == 1)


def listed_table(rows: Any, shape: tuple[int, ...]) -> Array:
    """Return a list of rows of that shape as numbers.

    Examples
    --------
    >>> listed_table([[1, 2], ("a", None)], (2, 2))
    array([[ 1.,  2.],
           [nan, nan]])
    """
    return numbers_of_entries(itertools.chain.from_iterable(rows), math.prod(shape)).reshape(shape)


def listed_target(entries: Any) -> NDArray[Any]:
    """Return the entries of a list as objects; the only entry of a list of one stands for that list.

    Examples
    --------
    >>> listed_target([1.0, "no", [3], [4, 5]])
    array([1.0, 'no', 3, list([4, 5])], dtype=object)
    """
    found = np.empty(len(entries), dtype=object)
    for place, entry in enumerate(entries):
        found[place] = _only(entry)
    return found


def _only(entry: Any) -> object:
    """Return the one entry of a row, so that a column may come as a list of rows; anything else as it is."""
    try:
        return entry[0] if _is_row(entry) and len(entry) == 1 else entry
    except Exception:  # a value inside a private row never raises
        return None
