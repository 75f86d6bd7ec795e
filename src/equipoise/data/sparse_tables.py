"""Sparse tables before SciPy computes with them: their structure is checked, and an index is a value like any other.

SciPy's loops trust indices: one that lies outside the table would have them write where nothing is theirs. What says
where rows begin and end, lengths and types are *structure*: a table in which they do not fit is refused. In which
column an entry lies is a *value* of its row: an entry that lies outside the table counts as not stored. What is kept of
one row does not depend on the others.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from equipoise.data.entries import number_of_entry
from equipoise.errors import InvalidData

REMEDY = "make it again from its entries: scipy.sparse.coo_array((values, (rows, columns)), shape=shape)"


def stored_entries(table: Any) -> Callable[[], Any]:
    """Return how to read a sparse table by rows: the entries that lie within it, in order, those of one place added.

    A table without a valid structure is refused. One by rows whose entries are in order is returned as it is, after a
    comparison or two an entry.

    Examples
    --------
    >>> table = scipy.sparse.csr_array(([1.0, 2.0], [0, 7], [0, 1, 2]), shape=(2, 3))
    >>> stored_entries(table)().toarray().tolist()
    [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    if table.format in ("csr", "csc", "bsr"):
        _require_limits(table)
        return lambda: merged(_compressed(table))
    if table.format == "coo":
        fits = {len(table.data)} == {len(axis) for axis in table.coords} and all(map(_is_whole, table.coords))
        _require(fits, "coordinates that do not fit its values")
        return lambda: merged(_coordinates(table))
    if table.format == "dia":
        fits = table.data.ndim == 2 and table.offsets.shape == table.data.shape[:1] and _is_whole(table.offsets)
        _require(
            fits and len(set(table.offsets.tolist())) == len(table.offsets), "offsets that do not fit its diagonals"
        )
        return lambda: merged(_diagonals(table))
    if table.format == "lil":
        _require(table.rows.shape == table.data.shape == table.shape[:1], "lists that do not fit its rows")
        return lambda: merged(_of_entries(_listed(table), table.shape))
    return lambda: merged(_of_entries(_keyed(table), table.shape))


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise InvalidData("a sparse table in a valid form", f"one with {otherwise}", REMEDY)


def _is_whole(numbers: NDArray[Any]) -> bool:
    return bool(numbers.ndim == 1 and numbers.dtype.kind in "iu" and np.can_cast(numbers.dtype, np.int64))


def _block(table: Any) -> tuple[int, int]:
    """Return how many rows and columns one index stands for."""
    return table.data.shape[1:] if table.format == "bsr" else (1, 1)


def _require_limits(table: Any) -> None:
    """Refuse a table whose rows, or columns, do not lie one after the other among its stored entries."""
    _require(_is_whole(table.indptr) and _is_whole(table.indices), "indices that are no whole numbers")
    _require(
        table.data.ndim == (3 if table.format == "bsr" else 1) and 0 not in _block(table), "values of another shape"
    )
    lengths = [divmod(length, size) for length, size in zip(table.shape, _block(table), strict=True)]
    _require(all(rest == 0 for _, rest in lengths), "blocks that do not fill it")
    limits, stored = table.indptr, min(len(table.indices), len(table.data))
    fits = len(limits) == lengths[1 if table.format == "csc" else 0][0] + 1
    fits = fits and limits[0] == 0 and limits[-1] <= stored and bool(np.all(limits[:-1] <= limits[1:]))
    _require(fits, "an indptr that does not rise from 0 to the number of its entries, one step a row")


def _within(indices: NDArray[Any], length: int) -> NDArray[np.bool_] | None:
    """Return which indices are at least 0 and below a length, None where all are: then one pass has told it."""
    # Read without its sign, a negative number is larger than every length.
    plain = indices.dtype.isnative and indices.flags.c_contiguous
    unsigned = indices.view(f"u{indices.dtype.itemsize}") if plain else indices.astype(np.uint64)
    if int(unsigned.max(initial=0)) < length:
        return None
    return (indices >= 0) & (indices < length)


def _compressed(table: Any) -> Any:
    """Return a table by rows, columns or blocks; what is kept of each keeps its order."""
    axis = 0 if table.format == "csc" else 1
    end = table.indptr[-1]
    within = _within(table.indices[:end], table.shape[axis] // _block(table)[axis])
    if within is None:
        return table
    limits = np.concatenate([[0], np.cumsum(within)])[table.indptr]
    return type(table)((table.data[:end][within], table.indices[:end][within], limits), shape=table.shape)


def _coordinates(table: Any) -> Any:
    found = [_within(*axis) for axis in zip(table.coords, table.shape, strict=True)]
    outside = [within for within in found if within is not None]
    if not outside:
        return table
    kept = np.logical_and.reduce(outside)
    return scipy.sparse.coo_array((table.data[kept], tuple(axis[kept] for axis in table.coords)), shape=table.shape)


def _diagonals(table: Any) -> Any:
    """Return a table of diagonals without those that lie outside, which SciPy would count otherwise than it reads."""
    kept = (table.offsets > -table.shape[0]) & (table.offsets < table.shape[1])
    return table if kept.all() else scipy.sparse.dia_array((table.data[kept], table.offsets[kept]), shape=table.shape)


def _listed(table: Any) -> Iterator[tuple[Any, Any, Any]]:
    for row, (columns, values) in enumerate(zip(table.rows, table.data, strict=True)):
        if isinstance(columns, list) and isinstance(values, list):
            # What has no partner is not stored.
            yield from ((row, column, value) for column, value in zip(columns, values, strict=False))


def _keyed(table: Any) -> Iterator[tuple[Any, Any, Any]]:
    for key, value in table.items():
        if isinstance(key, tuple) and len(key) == 2:
            yield *key, value


def _of_entries(entries: Iterator[tuple[Any, Any, Any]], shape: tuple[int, int]) -> Any:
    """Return the entries of Python's own lists and dictionaries that lie within a shape."""
    rows, columns, values = [], [], []
    for row, column, value in entries:
        if _is_place(row, shape[0]) and _is_place(column, shape[1]):
            rows.append(int(row))
            columns.append(int(column))
            values.append(number_of_entry(value))
    return scipy.sparse.coo_array((np.array(values, dtype=np.float64), (rows, columns)), shape=shape)


def _is_place(index: object, length: int) -> bool:
    return isinstance(index, int | np.integer) and 0 <= int(index) < length


def merged(table: Any) -> Any:
    """Return rows whose entries are in the order of their columns, each column once; entries of one place are added.

    They are added in the order in which the table has them. SciPy would sort all rows, and add in another order, where
    one of them is not in order (P1).

    Examples
    --------
    >>> merged(scipy.sparse.csr_array(([1.0, 2.0, 4.0], [1, 0, 1], [0, 3]), shape=(1, 2))).toarray().tolist()
    [[2.0, 5.0]]
    """
    if table.format == "csr":
        # A new object: what SciPy noted about the order of an older one may no longer be true.
        table = scipy.sparse.csr_array((table.data, table.indices, table.indptr), shape=table.shape)
        if table.has_canonical_format:
            return table
    # SciPy knows neither halves nor foreign orders of bytes in every form.
    values = table.astype(np.float64) if table.format == "csr" else _wide(table)
    entries = values.tocoo(copy=False)
    # Sorting is stable: what has one place keeps its order.
    order = np.lexsort((entries.coords[1], entries.coords[0]))
    rows, columns = (axis[order].astype(np.int64) for axis in entries.coords)
    new = np.ones(len(rows), dtype=bool)
    new[1:] = (rows[1:] != rows[:-1]) | (columns[1:] != columns[:-1])
    (starts,) = np.nonzero(new)
    sums = np.add.reduceat(entries.data[order], starts) if len(starts) else entries.data[order]
    limits = np.searchsorted(rows[starts], np.arange(table.shape[0] + 1))
    return scipy.sparse.csr_array((sums, columns[starts], limits), shape=table.shape)


def _wide(table: Any) -> Any:
    """Return a table of another form whose values are doubles."""
    values = np.asarray(table.data, dtype=np.float64)
    if table.format == "coo":
        return scipy.sparse.coo_array((values, table.coords), shape=table.shape)
    if table.format == "dia":
        return scipy.sparse.dia_array((values, table.offsets), shape=table.shape)
    return type(table)((values, table.indices, table.indptr), shape=table.shape)
