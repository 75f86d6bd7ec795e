"""Encoded tables: what names, kinds and n tell before a row is read, and the rows that every format gives alike."""

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import equipoise as eq
from equipoise.data.cells import Cells
from equipoise.data.encoded import EncodedTable, encoded_rows, encoded_table
from equipoise.data.files import open_table
from equipoise.data.frames import FrameTable
from equipoise.data.joined import raw_table
from equipoise.data.raw import RawTable
from equipoise.data.schema import CategoryColumn, NumberColumn, Schema, Target
from equipoise.errors import InvalidData, InvalidParameter, SchemaInvalid
from equipoise.ledger import Ledger

COLUMNS = (
    NumberColumn("age", (17, 90), fill=40, indicator=True),
    NumberColumn("hours", (0, 100)),
    CategoryColumn("job", ("none", "nurse", "pilot"), unknown="none", fill="pilot"),
    CategoryColumn("rooms", ("1", "2", "3"), unknown="3"),
)
CLASSIFICATION = Schema(6, COLUMNS, Target("income", classes=("low", "high")), unused=("id",))
REGRESSION = Schema(6, COLUMNS, Target("income", bounds=(0, 400)), unused=("id",))
ROWS = {
    "age": [25, 17, None, 200, 90, 41],
    "hours": [0.5, 99.25, 50.0, None, -3.0, 12.0],
    "job": ["nurse", "pilot", "none", "clown", None, "nurse"],
    "rooms": [1, 2, 3, 4, None, 2],
    "id": [1, 2, 3, 4, 5, 6],
}


class Guarded(RawTable):
    """A table whose rows nobody may ask for."""

    def __init__(self, raw: RawTable, **facts: Any) -> None:
        self.names = facts.get("names", raw.names)
        self.n_samples = facts.get("n_samples", raw.n_samples)
        self.kinds = {**dict.fromkeys(self.names, "unknown"), **raw.kinds, **facts.get("kinds", {})}
        self.source = "people"

    def batches(self, names: Sequence[str]) -> Iterator[dict[str, NDArray[Any]]]:
        raise AssertionError("a row was read")


class Counted(RawTable):
    """A table that counts how often its rows are read, and gives other rows each time."""

    def __init__(self, raw: RawTable) -> None:
        self.names, self.n_samples, self.kinds, self.source = raw.names, raw.n_samples, raw.kinds, raw.source
        self._raw = raw
        self.readings = 0

    def batches(self, names: Sequence[str]) -> Iterator[dict[str, NDArray[Any]]]:
        self.readings += 1
        for batch in self._raw.batches(names):
            yield batch if self.readings == 1 else {name: values[::-1] for name, values in batch.items()}


def people(income: Sequence[object] = ("low", "high", "high", "low", None, "?")) -> pa.Table:
    return pa.table({**ROWS, "income": pa.array(income)})


def csv_table(tmp_path: Path, lines: Sequence[str], header: str = "age,hours,job,rooms,id,income") -> RawTable:
    path = tmp_path / "people.csv"
    path.write_text("\n".join([header, *lines]), encoding="utf-8")
    return open_table(path)


def read(table: EncodedTable) -> tuple[list[list[float]], list[object]]:
    return table.features.read().tolist(), table.target.read().tolist()


# A line is a row, encoded too

NUMBERS = (b"1", b"42.5", b" 7", b"1e3", b"0.12345678901234567", b"1_0", b"NA", b"", b"99999999999999999999")
WORDS = (
    b"nurse",
    b" pilot ",
    b'"nurse"',
    b'"a ""b"""',
    b"\xff",
    "\u00a0high".encode(),
    b"low",
    b"2",
    b'"',
    b"\r",
    b"\0",
)
ODD_LINES = st.lists(st.sampled_from(NUMBERS + WORDS), min_size=5, max_size=7).map(b",".join)


@given(st.lists(ODD_LINES, min_size=1, max_size=6), ODD_LINES, st.data())
@settings(max_examples=200, deadline=None)
def test_changing_a_line_moves_no_bit_of_another_encoded_row(body, other, data):
    spot = data.draw(st.integers(0, len(body) - 1))
    found = []
    for version in (body, [*body[:spot], other, *body[spot + 1 :]]):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "people.csv")
            path.write_bytes(b"\n".join([b"age,hours,job,rooms,id,income", *version, b"40,40,nurse,2,1,high"]))
            table = encoded_table(CLASSIFICATION, open_table(path), len(body) + 1)
            rows, targets = table.features.read(), table.target.read()
            found.append([(row.tobytes(), target) for row, target in zip(rows, targets, strict=True)])
    assert [place for place, (one, two) in enumerate(zip(*found, strict=True)) if one != two] in ([], [spot])


# Formats


def write_csv(table: pa.Table, path: Path) -> None:
    pa.csv.write_csv(table, path)


def write_packed(table: pa.Table, path: Path) -> None:
    with pa.CompressedOutputStream(str(path), "gzip") as stream:
        pa.csv.write_csv(table, stream)


WRITERS = {
    "people.csv": write_csv,
    "people.csv.gz": write_packed,
    "people.tsv": lambda table, path: pa.csv.write_csv(table, path, pa.csv.WriteOptions(delimiter="\t")),
    "people.parquet": pa.parquet.write_table,
    "people.feather": lambda table, path: pa.feather.write_feather(table, str(path)),
}
FRAMES = {
    "pandas": lambda table: table.to_pandas(),
    "pandas objects": lambda table: table.to_pandas().astype(object),
    "pandas codes": lambda table: table.to_pandas().astype({"job": "category", "rooms": "category"}),
    "Polars": pl.from_arrow,
    "Arrow": lambda table: table,
    "coded Arrow": lambda table: table.set_column(2, "job", table["job"].dictionary_encode()),
}


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("name", [*WRITERS, *FRAMES])
def test_the_same_table_gives_the_same_encoded_rows_in_every_format(tmp_path, name, task):
    schema = CLASSIFICATION if task == "classification" else REGRESSION
    source = people() if task == "classification" else people([0, 400, 100.5, -7, None, 999])
    if name in WRITERS:
        WRITERS[name](source, tmp_path / name)
        raw = open_table(tmp_path / name)
    else:
        raw = FrameTable(FRAMES[name](source))
    table = encoded_table(schema, raw, 6)
    features, target = read(table)
    root = 5**0.5  # two numbers, one indicator, two categories
    assert np.allclose(
        np.array(features) * root,
        [
            [2 * 8 / 73 - 1, 0, -0.99, 0, 1, 0, 1, 0, 0],
            [-1, 0, 0.985, 0, 0, 1, 0, 1, 0],
            [2 * 23 / 73 - 1, 1, 0, 1, 0, 0, 0, 0, 1],
            [1, 0, 0, 1, 0, 0, 0, 0, 1],
            [1, 0, -1, 0, 0, 1, 0, 0, 1],
            [2 * 24 / 73 - 1, 0, -0.76, 0, 1, 0, 0, 1, 0],
        ],
        rtol=0,
        atol=1e-15,
    )
    if task == "classification":
        assert target == ["low", "high", "high", "low", "low", "low"]
    else:
        assert np.allclose(target, [-1, 1, -0.4975, -1, 0, 1], rtol=0, atol=1e-15)
    # Bit by bit, and not only nearly, as in memory.
    assert (features, target) == read(encoded_table(schema, FrameTable(source), 6))


def test_many_rows_are_encoded_alike_whatever_the_batches_of_the_format(tmp_path):
    rng = np.random.default_rng(3)
    count = 70_000
    source = pa.table({"a": rng.normal(size=count), "b": rng.integers(9, size=count), "y": rng.integers(2, size=count)})
    columns = (NumberColumn("a", (-2, 2)), CategoryColumn("b", tuple(map(str, range(8))), unknown="0"))
    schema = Schema(count, columns, Target("y", classes=(0, 1)), row_norm=1.1)
    pa.csv.write_csv(source, tmp_path / "t.csv")
    pa.parquet.write_table(source, tmp_path / "t.parquet", row_group_size=999)
    memory = encoded_table(schema, FrameTable(source), count)
    for name in ("t.csv", "t.parquet"):
        table = encoded_table(schema, open_table(tmp_path / name), count)
        assert np.array_equal(table.features.read(), memory.features.read())
        assert np.array_equal(table.target.read(), memory.target.read())


# Before a row is read


def test_nothing_but_names_kinds_and_the_number_of_rows_is_asked_for_before_reading():
    table = encoded_table(CLASSIFICATION, Guarded(FrameTable(people())), 6)
    assert (table.features.shape, table.features.numeric) == ((6, 9), True)
    assert (table.target.shape, table.target.numeric) == ((6,), False)
    assert encoded_table(REGRESSION, Guarded(FrameTable(people([1.0] * 6))), 6).target.numeric
    blank = replace(CLASSIFICATION, columns=(NumberColumn("age", None), *COLUMNS[1:])).with_private_bounds(0.1)
    bounded = encoded_table(blank, Guarded(FrameTable(people())), 6).with_bounds({"age": (0.0, 1.0)})
    assert bounded.features.shape == (6, 8)
    encoded_rows(CLASSIFICATION, Guarded(FrameTable(people())))
    with pytest.raises(AssertionError, match="a row was read"):
        table.features.read()


@pytest.mark.parametrize(
    ("facts", "says"),
    [
        ({"names": ("age", "hours", "job", "id", "income")}, "no column rooms"),
        ({"names": ("age", "hours", "job", "rooms", "id")}, "no column income"),
        ({"names": ("Age", "hours", "job", "rooms", "id", "income")}, "is 'Age' what the schema calls 'age'?"),
        (
            {"names": ("age", "hours", "job", "rooms", "id", "income", "zip code", "x")},
            '[columns."zip code"] with kind = "unused"; [columns.x] with kind = "unused"',
        ),
        ({"kinds": {"hours": "text", "age": "text"}}, "columns of text: age, hours"),
        ({"n_samples": 7}, "asked: the declared 6 rows; found: 7 rows in people"),
        ({"n_samples": 5}, "asked: the declared 6 rows; found: 5 rows in people"),
    ],
    ids=["no feature", "no target", "a name spelt otherwise", "surplus", "text for numbers", "more rows", "fewer rows"],
)
def test_a_table_that_does_not_fit_the_schema_is_refused_before_a_row_is_read(facts, says):
    with pytest.raises(InvalidData) as refusal:
        encoded_table(CLASSIFICATION, Guarded(FrameTable(people()), **facts), 6)
    assert says in str(refusal.value)


def test_a_regression_needs_a_target_that_is_no_text_and_classes_of_text_one_that_is():
    text = Guarded(FrameTable(people()))
    with pytest.raises(InvalidData, match="columns of text: income"):
        encoded_table(REGRESSION, text, 6)
    with pytest.raises(InvalidData, match="numbers, and no class but the first can be one of them"):
        encoded_table(CLASSIFICATION, Guarded(FrameTable(people([1.0] * 6))), 6)


@pytest.mark.parametrize("count", [0, -1, 2.5, True, "6", None])
def test_the_declared_number_of_rows_is_a_whole_number(count):
    with pytest.raises(InvalidParameter, match="n_samples"):
        encoded_table(CLASSIFICATION, Guarded(FrameTable(people())), count)


def test_an_unused_column_may_be_absent():
    frame = people().drop_columns(["id"])
    assert encoded_table(CLASSIFICATION, FrameTable(frame), 6).features.read().shape == (6, 9)


# The n rule


LINES = ["25,10,nurse,1,1,high", "30,20,pilot,2,2,low", "35,30,none,3,3,high"]


def test_surplus_lines_are_left_out(tmp_path):
    all_three = encoded_table(CLASSIFICATION, csv_table(tmp_path, LINES), 3)
    features, target = read(all_three)
    assert read(encoded_table(CLASSIFICATION, csv_table(tmp_path, LINES), 2)) == (features[:2], target[:2])


def test_lines_that_lack_are_the_row_in_which_every_value_is_missing(tmp_path):
    features, target = read(encoded_table(CLASSIFICATION, csv_table(tmp_path, LINES), 5))
    unusable = csv_table(tmp_path, [*LINES, "no row at all", ",,,,,"])
    assert (features, target) == read(encoded_table(CLASSIFICATION, unusable, 5))
    assert features[3] == features[4]
    assert target[3:] == ["low", "low"]


def test_a_file_without_lines_is_read_as_public_rows(tmp_path):
    table = encoded_table(REGRESSION, csv_table(tmp_path, []), 4)
    features, target = read(table)
    assert features == [features[0]] * 4
    assert target == [0.0] * 4


def test_reading_stops_at_the_declared_number_of_rows_and_closes_the_file(tmp_path):
    closed = []

    class Closing(Guarded):
        def batches(self, names):
            try:
                for _ in range(3):
                    yield next(FrameTable(people()).batches(names))
            finally:
                closed.append(True)

    table = encoded_table(CLASSIFICATION, Closing(FrameTable(people()), n_samples=None), 7)
    assert len(table.features.read()) == 7
    assert closed == [True]


lines = st.one_of(
    st.text(alphabet='17,"x\r\0 .-e\u2028', max_size=20).map(str.encode),
    st.binary(max_size=24).map(lambda content: content.replace(b"\n", b"")),
    st.sampled_from(
        [b"25,nurse,high", b'"25","nurse","high"', b"", b"\r", b'"', b"1e999,,", b"nan,?,high", b"25,nurse"]
    ),
)
SMALL = Schema(
    4,
    (NumberColumn("age", (17, 90), indicator=True), CategoryColumn("job", ("none", "nurse"), unknown="none")),
    Target("income", classes=("low", "high")),
)


@given(st.lists(lines, max_size=6), lines, st.data(), st.sampled_from([1, 3, 6]))
@settings(max_examples=300, deadline=None)
def test_files_that_differ_in_one_line_differ_in_one_encoded_row_at_most(body, other, data, declared):
    spot = data.draw(st.integers(0, max(len(body) - 1, 0)))
    changed = [*body[:spot], other, *body[spot + 1 :]] if body else []
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for version in (body, changed):
            path = Path(folder, "people.csv")
            path.write_bytes(b"age,job,income\n" + b"\n".join(version))
            table = encoded_table(SMALL, open_table(path), declared)
            found.append(np.column_stack([table.features.read(), table.target.read() == "high"]).astype(float))
    assert found[0].shape == found[1].shape == (declared, 5)
    differ = np.flatnonzero((found[0] != found[1]).any(axis=1))
    assert set(differ) <= {spot}
    assert all(np.linalg.norm(rows[:, :4], axis=1).max() <= 1 + 1e-12 for rows in found)


# Reading once


def test_rows_and_targets_are_read_together_and_once():
    raw = Counted(FrameTable(people()))
    table = encoded_table(CLASSIFICATION, raw, 6)
    expected = read(encoded_table(CLASSIFICATION, FrameTable(people()), 6))
    assert (read(table), read(table)) == (expected, expected)
    assert raw.readings == 1


BLANK = replace(
    REGRESSION, columns=(NumberColumn("age", None, fill=40, indicator=True), *COLUMNS[1:]), target=Target("income")
).with_private_bounds(0.1)


CELLS = Cells(-2, 10, bits=8)


def test_private_bounds_and_the_rows_that_they_encode_come_from_one_reading():
    income = [0, 400, 100.5, -7, None, 999]
    raw = Counted(FrameTable(people(income)))
    table = encoded_table(BLANK, raw, 6)
    age, hours, income_counts = table.counts(("age", "hours", "income"), CELLS)
    assert np.array_equal(age, CELLS.counts(np.array([25.0, 17, 200, 90, 41])))
    assert np.array_equal(hours, CELLS.counts(np.array([0.5, 99.25, 50, -3, 12])))
    assert np.array_equal(income_counts, CELLS.counts(np.array([0, 400, 100.5, -7, 999])))
    bounded = table.with_bounds({"age": (17.0, 90.0), "income": (0.0, 400.0)})
    assert read(bounded) == read(encoded_table(REGRESSION, FrameTable(people(income)), 6))
    assert raw.readings == 1


def test_numbers_of_text_are_parsed_and_as_many_as_declared(tmp_path):
    raw = csv_table(tmp_path, ["25,10,nurse,1,1,7", " 30 ,x,pilot,2,2,NA", "not a row", "1e999,,,,,"])
    table = encoded_table(BLANK, raw, 5)
    age, income = table.counts(("age", "income"), CELLS)
    assert np.array_equal(age, CELLS.counts(np.array([25.0, 30.0])))
    assert np.array_equal(income, CELLS.counts(np.array([7.0])))
    bounds = {"age": (17.0, 90.0), "income": (0.0, 400.0)}
    assert read(table.with_bounds(bounds)) == read(encoded_table(BLANK, raw, 5).with_bounds(bounds))
    assert np.array_equal(encoded_table(BLANK, raw, 1).counts(("age",), CELLS)[0], CELLS.counts(np.array([25.0])))


def test_counts_are_those_of_number_columns_alone():
    table = encoded_table(CLASSIFICATION, Guarded(FrameTable(people())), 6)
    for name in ("job", "income", "id", "nobody"):
        with pytest.raises(InvalidParameter, match="choose from age, hours"):
            table.counts((name,), CELLS)


# Prediction


def test_rows_to_predict_need_the_features_alone_and_are_not_counted(tmp_path):
    training = encoded_table(CLASSIFICATION, csv_table(tmp_path, LINES), 3).features.read()
    raw = csv_table(
        tmp_path, ["1,25,Ann,10,nurse", "2,30,Ben,20,pilot", "3,35,Cid,30,none"], "rooms,age,name,hours,job"
    )
    assert np.array_equal(np.concatenate(list(encoded_rows(CLASSIFICATION, raw))), training)
    assert list(encoded_rows(CLASSIFICATION, csv_table(tmp_path, [], "age,hours,job,rooms"))) == []


def test_rows_to_predict_without_a_feature_or_with_text_for_numbers_are_refused_at_once():
    frame = people().to_pandas()
    with pytest.raises(InvalidData, match="no column rooms"):
        encoded_rows(CLASSIFICATION, FrameTable(frame.drop(columns="rooms")))
    with pytest.raises(InvalidData, match="columns of text: hours"):
        encoded_rows(CLASSIFICATION, FrameTable(frame.astype({"hours": "str"})))


# What is told before a fit is paid for


@pytest.mark.parametrize(
    ("facts", "blank"),
    [
        ({"target": Target("income", classes=())}, "target.classes"),
        ({"columns": (NumberColumn("age", None), *COLUMNS[1:])}, "columns.age.bounds"),
        ({"columns": (*COLUMNS[:3], CategoryColumn("rooms", (), None))}, "columns.rooms.levels"),
    ],
    ids=["classes", "bounds", "levels"],
)
def test_a_schema_with_blanks_is_refused_before_a_row_is_read(facts, blank):
    with pytest.raises(SchemaInvalid, match=blank):
        encoded_table(replace(CLASSIFICATION, **facts), Guarded(FrameTable(people())), 6)


def test_a_number_of_rows_that_no_memory_holds_is_refused_before_a_row_is_read(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age,hours,job,rooms,income\n")
    table = encoded_table(CLASSIFICATION, Guarded(open_table(path)), 10**15)
    with pytest.raises(InvalidData, match="1000000000000000 rows of 9 encoded columns"):
        table.features.read()


# A target that comes apart from its table

AGES = pd.DataFrame({"age": [20.0, 30.0, 40.0, 50.0]})
TRUTH = Schema(4, (NumberColumn("age", (0, 100)),), Target("ill", classes=(False, True)))
DIGITS = Schema(4, (NumberColumn("age", (0, 100)),), Target("ill", classes=(0, 1)))
DOSE = Schema(4, (NumberColumn("age", (0, 100)),), Target("ill", bounds=(0, 10)))
labels = st.sampled_from(
    [0, 1, 0.0, 1.0, True, False, "1", "1.0", "true", "x", "", None, np.nan, 2.5, 2**70, b"1", (1,)]
)


def labels_of(schema, y):
    return encoded_table(schema, raw_table(AGES, "ill", y), 4).target.read().tolist()


@given(st.lists(labels, min_size=4, max_size=4), labels, st.integers(0, 3), st.sampled_from([TRUTH, DIGITS, DOSE]))
@settings(max_examples=200, deadline=None)
def test_lists_of_targets_that_differ_in_one_entry_differ_in_one_label_at_most(y, other, place, schema):
    neighbour = [*y[:place], other, *y[place + 1 :]]
    if all(isinstance(entry, tuple) for entry in y) or all(isinstance(entry, tuple) for entry in neighbour):
        return  # a list of rows is a table, and its shape is public
    pairs = zip(labels_of(schema, y), labels_of(schema, neighbour), strict=True)
    assert [spot for spot, (one, two) in enumerate(pairs) if one != two or type(one) is not type(two)] in ([], [place])


@pytest.mark.parametrize("y", [[1.0, 0.0, 1.0, "x"], (1, 0, True, "x"), [1, 0, 1, [2]]], ids=["text", "tuple", "list"])
def test_one_odd_entry_of_a_list_leaves_the_other_labels_alone(y):
    assert labels_of(DIGITS, y)[:2] == [1, 0]


TARGETS = {
    "list": lambda values: values,
    "array": np.array,
    "objects": lambda values: np.array(values, dtype=object),
    "pandas": pd.Series,
    "pandas nullable": lambda values: pd.Series(values, dtype="Int64"),
    "polars": pl.Series,
    "arrow": lambda values: pa.chunked_array([values[:1], values[1:]]),
}


@pytest.mark.parametrize("name", TARGETS)
def test_a_target_beside_the_table_is_read_like_a_column_of_it(name):
    table = encoded_table(DIGITS, raw_table(AGES, "ill", TARGETS[name]([1, 0, 1, 7])), 4)
    inside = encoded_table(DIGITS, FrameTable(AGES.assign(ill=[1, 0, 1, 7])), 4)
    assert read(table) == read(inside)


def test_the_type_of_a_series_decides_how_it_is_read_and_not_a_missing_value():
    full, holed = (raw_table(AGES, "ill", pd.Series([2**53 + 1, 0, 1, last], dtype="Int64")) for last in (1, None))
    (one,), (two,) = (list(raw.batches(["ill"])) for raw in (full, holed))
    assert one["ill"].dtype == two["ill"].dtype
    assert np.array_equal(one["ill"][:3], two["ill"][:3])


TEXTS = ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    "y", [np.array(TEXTS), pd.Series(TEXTS, dtype="str"), pl.Series(TEXTS)], ids=["array", "pd", "pl"]
)
def test_a_regression_beside_its_table_refuses_text_by_its_type(y):
    with pytest.raises(InvalidData, match="columns of text: ill"):
        encoded_table(DOSE, raw_table(AGES, "ill", y), 4)


@pytest.mark.parametrize("y", [np.array([[1, 2]] * 4), [1, 0, 1]], ids=["two columns", "short"])
def test_a_target_of_another_shape_is_refused(y):
    with pytest.raises(InvalidData):
        raw_table(AGES, "ill", y)


def test_a_nested_entry_of_a_list_is_a_value_and_no_shape():
    nested, missing = (
        encoded_table(DIGITS, raw_table(AGES, "ill", [[1], entry, [1], 1]), 4) for entry in ([0, 1], None)
    )
    assert read(nested) == read(missing)


def test_a_target_beside_a_table_takes_the_place_of_its_namesake_and_follows_its_batches():
    count = 150_000
    frame = pa.table({"age": pa.chunked_array([range(70_000), range(70_000, count)]), "ill": ["old"] * count})
    raw = raw_table(frame, "ill", np.arange(count))
    assert (raw.names, raw.n_samples, raw.kinds["ill"]) == (("age", "ill"), count, "number")
    batches = list(raw.batches(["ill", "age"]))
    assert len(batches) > 2
    assert all(np.array_equal(batch["age"], batch["ill"]) for batch in batches)
    assert sum(len(batch["ill"]) for batch in raw.batches(["ill"])) == count
    assert all(list(batch) == ["age"] for batch in raw.batches(["age"]))


def test_a_target_beside_a_file_whose_rows_are_not_counted_is_refused(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age\n20\n")
    with pytest.raises(InvalidData, match="leave y out"):
        raw_table(open_table(path), "ill", [1])


def test_joining_a_target_reads_no_row():
    raw = raw_table(Guarded(FrameTable(AGES)), "ill", [1, 0, 1, 1])
    assert encoded_table(DIGITS, raw, 4).features.shape == (4, 1)


# No machine has an address for each of so many numbers.
TOO_MANY = 10**15


@pytest.mark.parametrize("mechanism", ["functional", "output"])
def test_memory_that_the_declared_rows_lack_is_missed_before_the_spend(tmp_path, monkeypatch, mechanism):
    monkeypatch.setenv("EQUIPOISE_WORK_LIMIT", "1e30")
    (tmp_path / "one.csv").write_text("age,dose\n31,5\n")
    schema = Schema(
        TOO_MANY,
        (NumberColumn("age", (0, 100)),),
        Target("dose", bounds=(0, 10)),
        vouched_by="A. Officer",
        vouched_on="2026-11-16",
    )
    ledger = f"sqlite:///{tmp_path}/ledger.db#people"
    Ledger(ledger).create(eq.Budget(2.0))
    model = eq.Ridge(domain=schema, alpha=1.0, mechanism=mechanism, ledger=ledger)
    model.plan()
    with pytest.raises(InvalidData, match=f"too little for {TOO_MANY} rows of 1 encoded columns; to do: check n"):
        model.fit(open_table(tmp_path / "one.csv"))
    assert len(Ledger(ledger).history()) == 1


def test_room_that_was_taken_is_what_rows_are_read_into():
    schema = Schema(2, (NumberColumn("age", None),), Target("ill", classes=("no", "yes"))).with_private_bounds(0.1)
    table = encoded_table(schema, FrameTable(pa.table({"age": [20, 40], "ill": ["yes", "no"]})), 2)
    table.features.ready()
    room = table._room
    bounded = table.with_bounds({"age": (0.0, 40.0)})
    assert bounded.features.read() is room[0]
    assert bounded.features.read().tolist() == [[0.0], [1.0]]
    assert table._room is bounded._room is None
