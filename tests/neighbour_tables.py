"""Tables that differ in one entry, in every container and type that an estimator may be handed.

A container is made from entries and from a declared type alone; what it cannot hold is no cell of the matrix.
"""

import decimal
import functools
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy import sparse

N_SAMPLES, N_FEATURES, PLACE = 20, 3, 7

Entries = list[Any]
Rows = list[Entries]

VALUES: Mapping[str, Any] = {
    "plain": 1,
    "missing": None,
    "pandas missing": pd.NA,
    "NaN": float("nan"),
    "infinite": float("inf"),
    "minus infinite": float("-inf"),
    "subnormal": 5e-324,
    "1e308": 1e308,
    "-1e308": -1e308,
    "whole": 2**63 - 1,
    "beyond 64 bits": 10**30,
    "beyond every float": 10**400,
    "beyond what Python prints": 10**5000,
    "decimal": decimal.Decimal("0.25"),
    "signalling decimal": decimal.Decimal("sNaN"),
    "complex": 1j,
    "wrong text": "a text of some length",
    "number in text": "1",
    "long text": "a text longer than a label" * 100,
    "half a letter": "\ud800",
    "bytes": b"\xff",
    "nested": [1, 2],
    "nested once": [1],
    "nested array": np.zeros(3),
    "unknown label": 7,
    "unknown text": "perhaps",
    "object": object(),
}

# What a library raises where a value does not fit into the declared type.
UNFIT = (
    ValueError,
    TypeError,
    OverflowError,
    NotImplementedError,
    decimal.InvalidOperation,
    pa.ArrowException,
    pl.exceptions.PolarsError,
)


def entries(kind: str = "numbers") -> tuple[Rows, Entries]:
    """Return plain rows and targets: halves and ones, which every type holds in its own way."""
    generator = np.random.default_rng(0)
    rows, targets = generator.integers(0, 2, (N_SAMPLES, N_FEATURES)).tolist(), [0, 1] * (N_SAMPLES // 2)
    if kind == "text":
        targets = ["no" if target == 0 else "yes" for target in targets]
    return rows, targets


def _objects(values: Any, shape: tuple[int, ...]) -> Any:
    array = np.empty(int(np.prod(shape)), dtype=object)
    for place, value in enumerate(values):
        array[place] = value
    return array.reshape(shape)


def _array(rows: Rows, kind: Any) -> Any:
    flat = _objects((entry for row in rows for entry in row), (len(rows), len(rows[0])))
    return flat.astype(kind) if kind is not object else flat


# How types that take no whole numbers hold the plain ones.
SPELLED: Mapping[str, Callable[[int], Any]] = {
    "bool": bool,
    "boolean": bool,
    "text": str,
    "str": str,
    "string": str,
    "bytes": lambda entry: b"%d" % entry,
    "binary": lambda entry: b"%d" % entry,
    "list": lambda entry: [entry],
    "dates": lambda entry: np.datetime64(entry, "s"),
    "decimal": decimal.Decimal,
}


def spelled(column: Entries, name: str) -> Entries:
    """Return a column with its plain whole numbers written as the type of that name has them."""
    spell = SPELLED.get(name.rpartition(" ")[2].lower(), int)
    return [spell(entry) if type(entry) is int and entry < 10 else entry for entry in column]


def _columns(rows: Rows) -> Iterator[tuple[str, Entries]]:
    for place, column in enumerate(zip(*rows, strict=True)):
        yield f"column {place}", list(column)


def _pandas_column(column: Entries, kind: Any) -> Any:
    return pd.Series(_objects(column, (len(column),)) if kind is object else column, dtype=kind)


def _beyond_polars(entry: Any) -> bool:
    if isinstance(entry, decimal.Decimal):
        return not entry.is_finite()
    return isinstance(entry, int) and entry.bit_length() > 127


def _polars_column(column: Entries, kind: Any) -> Any:
    # Polars tells the interpreter, and not its caller, of whole numbers and decimals that it cannot hold.
    if kind != pl.Object and any(_beyond_polars(entry) for entry in column):
        raise OverflowError
    return pl.Series("target", column, dtype=kind, strict=kind != pl.Object)


def _dictionary(column: Entries, kind: Any) -> Any:
    """Return codes for a fixed dictionary; an unknown label is a code outside of it."""
    places = [entry if entry is None or isinstance(entry, int) else int(entry) for entry in column]
    return pa.DictionaryArray.from_arrays(pa.array(places, pa.int8()), pa.array([0, 1], kind), safe=False)


ARROW = {
    "float64": pa.float64(),
    "float32": pa.float32(),
    "int64": pa.int64(),
    "bool": pa.bool_(),
    "decimal": pa.decimal128(38, 2),
    "text": pa.string(),
    "bytes": pa.binary(),
    "list": pa.list_(pa.int64()),
}
PANDAS = {
    "float64": "float64",
    "float32": "float32",
    "int64": "int64",
    "bool": "bool",
    "object": object,
    "Int64": "Int64",
    "Float32": "Float32",
    "boolean": "boolean",
    "str": "str",
    "category": pd.CategoricalDtype([0, 1, 7]),
    "dates": "datetime64[ns]",
    **{f"Arrow {name}": pd.ArrowDtype(kind) for name, kind in ARROW.items()},
}
POLARS = {
    "Float64": pl.Float64,
    "Float32": pl.Float32,
    "Int64": pl.Int64,
    "Int128": pl.Int128,
    "Boolean": pl.Boolean,
    "Decimal": pl.Decimal(38, 2),
    "String": pl.String,
    "Binary": pl.Binary,
    "Object": pl.Object,
    "List": pl.List(pl.Int64),
}
NUMPY = {
    "float64": np.float64,
    "float32": np.float32,
    "float16": np.float16,
    "longdouble": np.longdouble,
    "int64": np.int64,
    "int8": np.int8,
    "bool": np.bool_,
    "object": object,
    "complex": np.complex128,
    "text": "U30",
    "bytes": "S30",
    "dates": "datetime64[s]",
    "structured": [("a", "f8")],
}
SPARSE = ("csr", "csc", "coo", "bsr", "dia", "lil", "dok")


def _indices(rows: Rows, form: str) -> Any:
    """Return a sparse table of ones whose entries are column indices; SciPy looks at none of them."""
    count, places = len(rows) * len(rows[0]), _array(rows, np.int64).ravel()
    shape = len(rows), len(rows[0])
    if form == "csr":
        return sparse.csr_array((np.ones(count), places, np.arange(0, count + 1, shape[1])), shape=shape)
    table = sparse.coo_array((np.ones(count), (np.repeat(np.arange(shape[0]), shape[1]), places * 0)), shape=shape)
    table.coords = (table.coords[0], places)
    return table


def _structured(rows: Rows, kind: Any) -> Any:
    array = np.zeros((len(rows), len(rows[0])), dtype=kind)
    array["a"] = _array(rows, np.float64)
    return array


def _frame(make: Callable[[Any], Any], name: str, column_of: Callable[[Any, Any], Any], kind: Any) -> Any:
    return lambda rows: make({head: column_of(spelled(column, name), kind) for head, column in _columns(rows)})


def _series(name: str, column_of: Callable[[Any, Any], Any], kind: Any) -> Any:
    return lambda column: column_of(spelled(column, name), kind)


TABLES: dict[str, Callable[[Rows], Any]] = {
    "list": lambda rows: [list(row) for row in rows],
    "tuple": lambda rows: tuple(tuple(row) for row in rows),
    "deque": lambda rows: deque(deque(row) for row in rows),
    "list of object arrays": lambda rows: [_objects(row, (len(row),)) for row in rows],
    "NumPy Fortran float64": lambda rows: np.asfortranarray(_array(rows, np.float64)),
    **{
        f"NumPy {name}": lambda rows, name=name, kind=kind: _array([spelled(row, name) for row in rows], kind)
        for name, kind in NUMPY.items()
        if name != "structured"
    },
    "NumPy structured": functools.partial(_structured, kind=NUMPY["structured"]),
    **{f"pandas {name}": _frame(pd.DataFrame, name, _pandas_column, kind) for name, kind in PANDAS.items()},
    **{f"Polars {name}": _frame(pl.DataFrame, name, _polars_column, kind) for name, kind in POLARS.items()},
    **{f"Arrow {name}": _frame(pa.table, name, pa.array, kind) for name, kind in ARROW.items()},
    "Arrow batch": _frame(pa.record_batch, "bool", pa.array, pa.bool_()),
    "Arrow dictionary": lambda rows: pa.table(
        {name: _dictionary(column, pa.float64()) for name, column in _columns(rows)}
    ),
    **{
        f"sparse {form} {name}": lambda rows, form=form, kind=kind: sparse.coo_array(_array(rows, kind)).asformat(form)
        for form in SPARSE
        for name, kind in (("float64", np.float64), ("int64", np.int64), ("complex", np.complex128))
    },
    **{f"sparse {form} indices": functools.partial(_indices, form=form) for form in ("csr", "coo")},
}


def _one(column: Entries) -> Rows:
    return [[entry] for entry in column]


TARGETS: dict[str, Callable[[Entries], Any]] = {
    "list": list,
    "tuple": tuple,
    "deque": deque,
    "list of lists": _one,
    **{
        f"NumPy {name}": lambda column, name=name, kind=kind: _array(_one(spelled(column, name)), kind)[:, 0]
        for name, kind in NUMPY.items()
        if name != "structured"
    },
    "NumPy structured": lambda column: _structured(_one(column), NUMPY["structured"])[:, 0],
    "NumPy column": lambda column: _array(_one(column), np.float64),
    "NumPy column of objects": lambda column: _array(_one(column), object),
    **{f"pandas {name}": _series(name, _pandas_column, kind) for name, kind in PANDAS.items()},
    "pandas array": _series("bool", pd.array, "boolean"),
    "pandas index": _series("Int64", pd.Index, "Int64"),
    "pandas frame": _series("bool", lambda column, kind: pd.Series(column, dtype=kind).to_frame("y"), "boolean"),
    **{f"Polars {name}": _series(name, _polars_column, kind) for name, kind in POLARS.items()},
    **{f"Arrow {name}": _series(name, pa.array, kind) for name, kind in ARROW.items()},
    "Arrow chunks": _series("bool", lambda column, kind: pa.chunked_array([column[:9], column[9:]], kind), pa.bool_()),
    "Arrow dictionary": functools.partial(_dictionary, kind=pa.float64()),
}


def made(make: Callable[[Any], Any], given: Any) -> Any:
    """Return a container, or None where it cannot hold what is given."""
    try:
        # What a library warns of while it makes a container is no matter of ours.
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return make(given)
    except UNFIT:
        return None


def with_value(given: Any, value: Any) -> Any:
    """Return rows with another entry in the middle of one of them, or targets with another one."""
    changed = [list(row) if isinstance(row, list) else row for row in given]
    if isinstance(changed[PLACE], list):
        changed[PLACE][1] = value
    else:
        changed[PLACE] = value
    return changed
