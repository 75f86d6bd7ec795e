"""A value decides how its own row is read, and no other: categories, objects, and text that is none."""

import decimal

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import equipoise as eq
from equipoise.data.encoder import Encoder
from equipoise.data.entries import listed_table, number_of_entry
from equipoise.data.frames import FrameTable, column_ids, column_kind, column_values
from equipoise.data.persons import id_column
from equipoise.data.raw import constant_failure
from equipoise.data.rows import class_codes
from equipoise.data.schema import CategoryColumn, NumberColumn, Schema, Target
from equipoise.data.schema.text import number_of, text_of
from equipoise.data.tables import feature_table, target_column
from equipoise.errors import InvalidData, PrivateFailure, TableUnreadable
from observing import differences, observed

LARGE = 2**53 + 1
ODD = {
    "text": "three",
    "fraction": 2.5,
    "missing": None,
    "NaN": float("nan"),
    "decimal": decimal.Decimal("NaN"),
    "signalling decimal": decimal.Decimal("sNaN"),
    "beyond every float": 10**400,
    "pair": (1, 2),
    "time": pd.Timestamp("2020-01-01"),
    "bytes": b"\xff",
    "half a letter": "\ud800",
}


def series(values, dtype):
    return nw.from_native(pd.Series(values, dtype=dtype), series_only=True)


def categories(odd):
    """Categories that hold one odd value, in the type that holds them all; pandas would choose one by looking."""
    kept = pd.Index([LARGE, 5, odd], dtype=object)
    return pd.Series(pd.Categorical.from_codes([0, 0, 1, -1, 2], categories=kept))


# pandas takes no missing value as a category, nor what cannot be compared.
@pytest.mark.parametrize("name", ["text", "fraction", "beyond every float", "pair", "time", "bytes", "half a letter"])
def test_an_odd_category_changes_how_no_other_row_is_read(name):
    schema = Schema(5, (CategoryColumn("x", ("none", str(LARGE)), unknown="none"),), Target("t", classes=("n", "y")))
    plain = pd.Series(pd.Categorical.from_codes([0, 0, 1, -1, 1], categories=[LARGE, 5]))
    assert plain.dtype.categories.dtype == "int64"
    read = [
        Encoder(schema).encode({"x": column_values(nw.from_native(given, series_only=True))}, 5)
        for given in (plain, categories(ODD[name]))
    ]
    np.testing.assert_array_equal(read[0], read[1])
    assert read[0][0].tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    ("kind", "found"),
    [
        ("int64", [LARGE, 5]),
        ("Int64", [LARGE, 5]),
        ("float64", [float(LARGE), 5.0]),
        ("object", [LARGE, 5]),
        ("str", [str(LARGE), "5"]),
        (pd.ArrowDtype(pa.int64()), [LARGE, 5]),
        (pd.ArrowDtype(pa.string()), [str(LARGE), "5"]),
    ],
    ids=str,
)
def test_categories_of_every_type_are_read_one_by_one(kind, found):
    given = nw.from_native(
        pd.Series(pd.Categorical.from_codes([1, -1, 0], categories=pd.Index([LARGE, 5]).astype(kind))), series_only=True
    )
    assert column_kind(given) == ("unknown" if kind == "object" else "text" if isinstance(found[0], str) else "number")
    assert column_values(given).tolist() == [found[1], None, found[0]]
    assert column_ids(given).tolist() == [found[1], None, found[0]]
    np.testing.assert_array_equal(class_codes(target_column(given.to_native(), 3).read(), (0, found[1])), [1, -1, -1])


@pytest.mark.parametrize("name", ODD)
def test_an_odd_entry_of_a_column_of_objects_ends_no_fit(name):
    schema = Schema(
        4, (NumberColumn("x", (0, 1)),), Target("t", classes=("n", "y")), vouched_by="A", vouched_on="2026-11-16"
    )
    model = eq.LogisticRegression(domain=schema, alpha=1.0, mechanism="output", random_state=0)
    zero = decimal.Decimal(0)
    fits = [
        observed(lambda row=row: model.fit(pd.DataFrame({"x": pd.Series([zero] * 3 + [row], dtype=object), "t": "n"})))
        for row in (decimal.Decimal(1), ODD[name])
    ]
    assert fits[0].ending == "answer"
    assert not differences(*fits)


def text_in_polars(*texts):
    """Text of Polars that nobody has checked, as it comes out of Arrow's memory."""
    limits = np.cumsum([0, *map(len, texts)], dtype=np.int32)
    buffers = [None, pa.py_buffer(limits), pa.py_buffer(b"".join(texts))]
    return pl.from_arrow(pa.table({"x": pa.Array.from_buffers(pa.string(), len(texts), buffers)}))


def test_text_of_polars_that_is_no_utf_8_ends_no_fit():
    rows = [np.eye(6), *(text_in_polars(*b"y y n n y".split(), last)["x"] for last in (b"n", b"\xff"))]
    model = eq.LogisticRegression(
        domain=eq.Domain(1.0, classes=("n", "y")), alpha=1.0, mechanism="output", random_state=0
    )
    fits = [observed(lambda y=y: model.fit(rows[0], y)) for y in rows[1:]]
    assert fits[0].ending == "answer"
    assert not differences(*fits)


def test_text_of_polars_is_read_as_that_of_arrow():
    frame = text_in_polars(b"Graz", b"\xff", b"Wien")
    read = {
        "table": next(FrameTable(frame).batches(["x"]))["x"].tolist(),
        "ids": id_column(frame["x"]).read().tolist(),
        "Arrow": next(FrameTable(frame.to_arrow()).batches(["x"]))["x"].tolist(),
    }
    assert all(texts == ["Graz", "\N{REPLACEMENT CHARACTER}", "Wien"] for texts in read.values())
    for kind in (pl.Categorical, pl.Enum(["a", "b"])):
        assert column_values(nw.from_native(pl.Series(["b", None], dtype=kind), series_only=True)).tolist() == [
            "b",
            None,
        ]


class Panic(BaseException):
    """What a library in another language may raise, beside `Exception`."""


class Panicking:
    def __eq__(self, other):
        raise Panic

    def __float__(self):
        raise Panic

    __hash__ = None

    @property
    def shape(self):
        raise Panic

    def __array__(self):
        raise Panic


class Interrupted(float):
    def __float__(self):
        raise KeyboardInterrupt


def test_a_guard_on_rows_stops_what_is_no_exception_but_not_an_interruption():
    assert text_of(Panicking()) is None
    assert np.isnan(number_of(Panicking()))
    assert class_codes(target_column([Panicking(), 1], 2).read(), (0, 1)).tolist() == [-1, 1]
    np.testing.assert_array_equal(listed_table([[1], Panicking()], (2, 1)), [[1.0], [np.nan]])
    with pytest.raises(TableUnreadable), constant_failure():
        raise Panic
    with pytest.raises(KeyboardInterrupt):
        number_of_entry(Interrupted(1))
    with pytest.raises(KeyboardInterrupt), constant_failure():
        raise KeyboardInterrupt


def test_a_panic_behind_the_door_is_a_constant(monkeypatch):
    def panic(*_):
        raise Panic("a value")

    monkeypatch.setattr("equipoise.release.door.carriers.carry_out", panic)
    with pytest.raises(PrivateFailure):
        eq.LogisticRegression(domain=eq.Domain(1.0, classes=(0, 1)), random_state=0).fit(np.eye(4), [0, 1, 0, 1])


@pytest.mark.parametrize("unit", ["s", "ms", "us"])
def test_a_year_that_python_has_no_date_for_is_one_missing_category(unit):
    days = pd.Series(np.array(["2021-01-01", "12021-01-01", "2022-01-01"], dtype=f"datetime64[{unit}]"))
    for column in (
        days.dt.tz_localize("UTC"),
        days.dt.tz_localize("UTC").astype(f"timestamp[{unit}, tz=UTC][pyarrow]"),
    ):
        read = column_values(nw.from_native(column.astype("category"), series_only=True))
        assert len(read) == 3
        assert [str(value)[:4] for value in read[[0, 2]]] == ["2021", "2022"]


def test_a_list_without_any_row_is_missing_rows_of_the_planned_width():
    model = eq.LogisticRegression(domain=eq.Domain(1.0, classes=(0, 1)), alpha=0.1, mechanism="output", random_state=0)
    model.plan(4, 2)
    assert model.fit([None] * 4, [0, 1, 0, 1]).coef_.shape == (1, 2)


@pytest.mark.parametrize("held", ["Arrow table", "Arrow column", "pandas frame", "pandas series"])
def test_decimals_of_a_negative_scale_are_refused_by_their_type(held):
    column = pa.chunked_array([pa.array([1000, 2000], pa.decimal128(38, -3))])
    series = pd.Series(column, dtype=pd.ArrowDtype(column.type))
    given = {"Arrow table": pa.table({"a": column}), "pandas frame": pd.DataFrame({"a": series})}
    given |= {"Arrow column": column, "pandas series": series}
    with pytest.raises(InvalidData, match="decimals of a negative scale"):
        (feature_table if held in ("Arrow table", "pandas frame") else target_of_two)(given[held])


def target_of_two(given):
    return target_column(given, 2)
