"""A type that cannot hold what was declared is refused before a row is read."""

import base64

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

import equipoise as eq
from equipoise.data.encoded import check_columns, encoded_rows
from equipoise.data.frames import FrameTable
from equipoise.data.schema import (
    CategoryColumn,
    DateColumn,
    HashedColumn,
    NumberColumn,
    OrderedColumn,
    Schema,
    Target,
    YesNoColumn,
)
from equipoise.errors import InvalidData

COLUMNS = {
    "number": NumberColumn("a", (0, 1)),
    "category": CategoryColumn("a", ("low", "high"), other=True),
    "ordered": OrderedColumn("a", ("low", "high")),
    "yes-no": YesNoColumn("a", yes=("has",), no=("has not",)),
    "date": DateColumn("a", ("month",)),
    "hashed": HashedColumn("a"),
}
FRAMES = {
    "number": pa.table({"a": [1, 2]}),
    "truth": pa.table({"a": [True, False]}),
    "text": pa.table({"a": ["x", "y"]}),
    "date": pa.table({"a": pa.array([1, 2], pa.timestamp("s"))}),
    "day": pa.table({"a": pa.array([1, 2], pa.date32())}),
    "time": pa.table({"a": pa.array([1, 2], pa.time32("s"))}),
    "duration": pa.table({"a": pa.array([1, 2], pa.duration("s"))}),
    "nothing": pa.table({"a": pa.nulls(2)}),
    "unknown": pd.DataFrame({"a": pd.Series(["x", 2], dtype=object)}),
}
# Types that can hold no value of a kind, beside those of which no value is of any kind.
REFUSED = {
    "number": {"text", "date", "day", "time"},
    "category": {"number", "truth", "date", "day", "time"},
    "ordered": {"number", "truth", "date", "day", "time"},
    "yes-no": {"number", "truth", "date", "day", "time"},
    "date": {"number", "truth", "time"},
    "hashed": set(),
}


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("found", FRAMES)
def test_types_are_compared_with_kinds(kind, found):
    schema = Schema(2, (COLUMNS[kind],), Target("y", classes=(0, 1)))
    frame = FRAMES[found]
    raw = FrameTable(frame.assign(y=[0, 1]) if found == "unknown" else frame.append_column("y", pa.array([0, 1])))
    assert raw.kinds["a"] == found
    if found in REFUSED[kind] | {"duration", "nothing"}:
        with pytest.raises(InvalidData, match=f"where the schema says {kind}"):
            check_columns(schema, raw)
    else:
        check_columns(schema, raw)


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("found", FRAMES)
def test_new_rows_are_compared_too_but_may_lack_every_value(kind, found):
    schema = Schema(2, (COLUMNS[kind],), Target("y", classes=(0, 1)))
    if found in REFUSED[kind] | {"duration"}:
        with pytest.raises(InvalidData, match=f"where the schema says {kind}"):
            encoded_rows(schema, FrameTable(FRAMES[found]))
    else:
        encoded_rows(schema, FrameTable(FRAMES[found]))


FITTING = {
    "a truth value is a number": (NumberColumn("a", (0, 1)), "truth"),
    "levels that are truth values": (CategoryColumn("a", (True, False), unknown=False), "truth"),
    "yes and no": (YesNoColumn("a"), "truth"),
    "whole numbers as levels": (CategoryColumn("a", (1, 2), unknown=1), "number"),
    "large numbers as levels": (CategoryColumn("a", (2**53 + 1,), other=True), "number"),
    "days as levels": (OrderedColumn("a", ("2020-01-01", "2021-01-01")), "day"),
    "times as levels": (CategoryColumn("a", ("12:00:00",), other=True), "time"),
    "hours of a time": (DateColumn("a", ("hour", "cyclic hour")), "time"),
    "the month of a day, and its hour": (DateColumn("a", ("hour", "month")), "day"),
    "hours of a date": (DateColumn("a", ("hour", "month")), "date"),
}
UNFIT = {
    "numbers as levels of truth values": (CategoryColumn("a", (0, 1), unknown=0), "truth"),
    "numbers in order": (OrderedColumn("a", (0, 1)), "truth"),
    "truth values as levels of numbers": (CategoryColumn("a", (True, False), unknown=False), "number"),
    "numbers as nobody writes them": (CategoryColumn("a", ("0.0", "1.0", "1e3"), other=True), "number"),
    "spellings of numbers alone": (YesNoColumn("a", yes=("1",), no=("0",)), "truth"),
    "the hour of a day": (DateColumn("a", ("hour", "cyclic hour")), "day"),
    "the month of a time": (DateColumn("a", ("month",)), "time"),
    "a part and the hour of a time, by formats": (DateColumn("a", ("day", "hour"), formats=("%H:%M:%S",)), "time"),
    "days as levels of moments": (CategoryColumn("a", ("2020-01-01",), other=True), "date"),
}


@pytest.mark.parametrize("case", FITTING)
def test_what_can_be_a_value_of_the_type_fits(case):
    column, found = FITTING[case]
    encoded_rows(Schema(2, (column,), Target("y", classes=(0, 1))), FrameTable(FRAMES[found]))


@pytest.mark.parametrize("case", UNFIT)
def test_what_no_value_of_the_type_can_be_is_refused(case):
    column, found = UNFIT[case]
    with pytest.raises(InvalidData, match="where the schema says"):
        encoded_rows(Schema(2, (column,), Target("y", classes=(0, 1))), FrameTable(FRAMES[found]))


def refused(classes: tuple, values) -> bool:
    schema = Schema(2, (NumberColumn("a", (0, 1)),), Target("y", classes=classes))
    try:
        check_columns(schema, FrameTable(values))
    except InvalidData as error:
        return "one of the declared classes" in error.asked
    return False


NUMBERS, TRUTHS, WORDS = (0, 1), (False, True), ("No", "Yes")
# Targets by their types, and classes of which no value of the type can be another than the first.
TARGETS = {
    "text": (pa.array(["No", "Yes"]), [NUMBERS, TRUTHS]),
    "codes of text": (pa.array(["No", "Yes"]).dictionary_encode(), [NUMBERS, TRUTHS]),
    "whole numbers": (pa.array([0, 1]), [WORDS, TRUTHS, ("0.0", "1.0"), ("0", "one")]),
    "real numbers": (pa.array([0.0, 1.0]), [WORDS, TRUTHS, ("0.0", "1.0")]),
    "truth values": (pa.array([True, False]), [WORDS, NUMBERS, ("0", "1"), ("false", "no")]),
    "days": (pa.array([1, 2], pa.date32()), [WORDS, NUMBERS, TRUTHS]),
    "times": (pa.array([1, 2], pa.time32("s")), [WORDS, NUMBERS, TRUTHS]),
    "durations": (pa.array([1, 2], pa.duration("s")), [WORDS, NUMBERS, TRUTHS, ("1", "2")]),
    "nothing": (pa.nulls(2), [WORDS, NUMBERS, TRUTHS]),
}
FITTING_CLASSES = {
    "text": [WORDS, ("other", "Yes")],
    "codes of text": [WORDS],
    "whole numbers": [NUMBERS, ("0", "1"), ("other", "1")],
    "real numbers": [NUMBERS, (0.5, 1.0), ("0", "1")],
    "truth values": [TRUTHS, ("false", "true"), ("other", "true")],
    "days": [("2020-01-01", "2020-01-02")],
    "times": [("12:00:00", "13:00:00")],
}


@pytest.mark.parametrize("found", TARGETS)
def test_classes_that_no_value_of_the_type_can_be_are_refused(found):
    target, wrong = TARGETS[found]
    frame = pa.table({"a": [1, 2], "y": target})
    assert [classes for classes in wrong if not refused(classes, frame)] == []
    assert [classes for classes in FITTING_CLASSES.get(found, []) if refused(classes, frame)] == []


def test_the_type_of_categories_tells_and_no_category_is_looked_at():
    def categorical(values, dtype=None):
        return pd.DataFrame({"a": [1, 2], "y": pd.Series(values, dtype=dtype).astype("category")})

    assert refused(NUMBERS, categorical(["No", "Yes"]))
    assert refused(NUMBERS, categorical([True, False]))
    assert refused(WORDS, categorical([0, 1]))
    assert not refused(WORDS, categorical(["No", "Yes"]))
    assert not refused(NUMBERS, categorical([0, 1]))
    assert not refused(NUMBERS, categorical(["No", 1], object))
    assert refused(NUMBERS, pl.DataFrame({"a": [1, 2], "y": pl.Series(["No", "Yes"], dtype=pl.Categorical)}))
    assert refused(NUMBERS, pl.DataFrame({"a": [1, 2], "y": pl.Series(["No", "Yes"], dtype=pl.Enum(["No", "Yes"]))}))


def test_a_regression_on_a_type_without_numbers_is_refused():
    schema = Schema(2, (NumberColumn("a", (0, 1)),), Target("y", bounds=(0, 1)))
    for target in (
        pa.nulls(2),
        pa.array([1, 2], pa.duration("s")),
        pa.array(["1", "2"]),
        pa.array([1, 2], pa.date32()),
    ):
        with pytest.raises(InvalidData, match="where the schema says number") as refusal:
            check_columns(schema, FrameTable(pa.table({"a": [1, 2], "y": target})))
        assert "target" in refusal.value.remedy or "a number in a stated unit" in refusal.value.remedy
        assert "unused" not in refusal.value.remedy
    check_columns(schema, FrameTable(pa.table({"a": [1, 2], "y": [True, False]})))


TARGET_ARRAYS = {
    "NumPy truth": np.array([True, False]),
    "NumPy durations": np.array([1, 2], dtype="m8[s]"),
    "NumPy dates": np.array([1, 2], dtype="M8[s]"),
    "pandas truth": pd.Series([True, False]),
    "pandas boolean": pd.Series([True, None], dtype="boolean"),
    "pandas categories": pd.Series(["No", "Yes"], dtype="category"),
}


# A domain compares truth values as Python does.
@pytest.mark.parametrize(
    ("case", "through"),
    [
        (case, through)
        for case in TARGET_ARRAYS
        for through in ("schema", "domain")
        if through == "schema" or ("truth" not in case and "boolean" not in case)
    ],
)
def test_a_target_beside_the_table_is_compared_too(case, through):
    frame = pd.DataFrame({"a": [0.1, 0.2]})
    schema = Schema(
        2, (NumberColumn("a", (0, 1)),), Target("y", classes=NUMBERS), vouched_by="A", vouched_on="2026-11-16"
    )
    domain = schema if through == "schema" else eq.Domain(1.0, classes=NUMBERS)
    with pytest.raises(InvalidData, match="whose type can be one of the declared classes"):
        eq.LogisticRegression(epsilon=1.0, domain=domain).fit(frame, TARGET_ARRAYS[case])


@pytest.mark.parametrize("engine", ["memory", "stream", "dask"])
def test_every_engine_compares_types_before_a_row_is_read(tmp_path, engine):
    schema = Schema(2, (NumberColumn("a", (0, 1)),), Target("y", classes=NUMBERS))
    for target in (pa.array([True, False]), pa.nulls(2), pa.array([1, 2], pa.duration("s"))):
        pa.parquet.write_table(pa.table({"a": [1, 2], "y": target}), tmp_path / "rows.parquet")
        with pytest.raises(InvalidData, match="whose type can be one of the declared classes"):
            check_columns(schema, eq.open_table(tmp_path / "rows.parquet", engine=engine))


def test_files_of_a_folder_in_which_one_holds_nothing_have_the_type_of_the_others(tmp_path):
    pa.parquet.write_table(pa.table({"a": [1], "y": [True]}), tmp_path / "1.parquet")
    pa.parquet.write_table(pa.table({"a": [2], "y": pa.nulls(1)}), tmp_path / "2.parquet")
    assert eq.open_table(tmp_path).kinds["y"] == "truth"


NOTES = {
    "no text of base 64": "no schema!",
    "nothing": "",
    "other bytes": base64.b64encode(b"\xff\xff\xff\xff\x10\x00\x00\x00").decode(),
    "half of a schema": base64.b64encode(pa.schema({"a": pa.duration("s")}).serialize().to_pybytes()[:40]).decode(),
}


@pytest.mark.parametrize("note", NOTES)
def test_a_note_that_cannot_be_read_tells_nothing(tmp_path, note):
    table = pa.table({"a": [1, 2]}).replace_schema_metadata({"ARROW:schema": NOTES[note]})
    pa.parquet.write_table(table, tmp_path / "rows.parquet", store_schema=False)
    assert eq.open_table(tmp_path / "rows.parquet").kinds["a"] == "number"
