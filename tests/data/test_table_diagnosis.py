"""The owner's diagnosis of a table: counts of what a schema's rules change, stamped, and nothing but counts."""

import json
from dataclasses import FrozenInstanceError, replace
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

from equipoise.data.diagnosis import HEAD, STAMP, ColumnDiagnosis, check_rows, check_table
from equipoise.data.files import open_table
from equipoise.data.frames import FrameTable
from equipoise.data.raw import RawTable
from equipoise.data.schema import CategoryColumn, DateColumn, FileFormat, NumberColumn, Schema, Target
from equipoise.errors import InvalidData, SchemaInvalid
from equipoise.vocabulary.facts import Domain

SCHEMA = Schema(
    6,
    (
        NumberColumn("age", (17, 90), indicator=True),
        CategoryColumn("job", ("none", "nurse", "?"), unknown="none"),
    ),
    Target("income", classes=("low", "high")),
    unused=("id",),
    missing=("", "NA", "?", "-999"),
)
LINES = [
    "17,nurse,high,1",
    "16.9,clown,low,2",
    "-999,?,medium,3",
    "young,,,4",
    "inf,NA,HIGH,5",
    '"a stray quote',
    "NAN,none,low,6",
    ",NA,,7",
]


def table_of(tmp_path: Path, lines: list[str]) -> RawTable:
    path = tmp_path / "people.csv"
    path.write_text("\n".join(["age,job,income,id", *lines]), encoding="utf-8")
    return open_table(path)


def test_every_count_is_that_of_its_rule(tmp_path):
    found = check_table(SCHEMA, table_of(tmp_path, LINES))
    assert (found.rows, found.declared_rows, found.clipped) == (8, 6, 0)
    assert found.unusable_rows == 2
    assert found.columns == (
        # -999, the stray quote, NAN and nothing are missing; young and inf cannot be read; 16.9 is too low.
        ColumnDiagnosis("age", missing=4, unreadable=2, outside_bounds=1),
        # "?" is a missing text and a level: then it is the level.
        ColumnDiagnosis("job", missing=4, unknown_levels=1),
    )
    assert found.target == ColumnDiagnosis("income", missing=3, unknown_levels=2)


def test_the_target_of_a_regression_is_counted_as_a_number(tmp_path):
    schema = replace(SCHEMA, target=Target("income", bounds=(0, 10)))
    lines = ["1,none,10,1", "1,none,10.5,2", "1,none,,3", "1,none,much,4", "1,none,-1,5"]
    target = check_table(schema, table_of(tmp_path, lines)).target
    assert target == ColumnDiagnosis("income", missing=1, unreadable=1, outside_bounds=2)


def test_frames_are_counted_like_files(tmp_path):
    frame = pd.DataFrame({"age": [17, 16.9, None], "job": ["nurse", "clown", None], "income": ["high", "?", "low"]})
    lines = ["17,nurse,high,1", "16.9,clown,?,1", ",,low,1"]
    for raw in (FrameTable(frame), FrameTable(pa.Table.from_pandas(frame)), FrameTable(frame.astype(object))):
        assert check_table(SCHEMA, raw) == check_table(SCHEMA, table_of(tmp_path, lines))


@pytest.mark.parametrize(("row_norm", "clipped"), [(None, 0), (1.42, 0), (1.41, 1), (1.0, 2), (0.5, 3)])
def test_rows_longer_than_the_row_norm_are_counted(row_norm, clipped):
    columns = (NumberColumn("a", (-1, 1)), NumberColumn("b", (-1, 1)))
    schema = Schema(3, columns, Target("y", classes=(0, 1)), row_norm=row_norm)
    # Of lengths 1.4142 (after -9 is clipped into its bounds), 1.005 and 0.67.
    frame = pa.table({"a": [1.0, 1.0, 0.6], "b": [-9.0, 0.1, 0.3], "y": [0, 1, 0]})
    assert check_table(schema, FrameTable(frame)).clipped == clipped


def test_a_row_exactly_as_long_as_allowed_is_not_clipped():
    columns = tuple(NumberColumn(name, (-1, 1)) for name in "abc")
    schema = Schema(1, columns, Target("y", classes=(0, 1)), row_norm=3**0.5)
    assert check_table(schema, FrameTable(pa.table({"a": [1], "b": [1], "c": [1], "y": [0]}))).clipped == 0


def test_the_text_is_stamped_and_says_what_becomes_of_rows_beyond_or_below_the_declared_number(tmp_path):
    text = str(check_table(SCHEMA, table_of(tmp_path, LINES)))
    assert text.startswith(STAMP)
    assert "6 (the last 2 of the table are left out)" in text
    assert "6 (the 5 that lack count as rows without any value)" in str(
        check_table(SCHEMA, table_of(tmp_path, LINES[:1]))
    )
    exact = str(check_table(SCHEMA, table_of(tmp_path, LINES[:6])))
    assert "left out" not in exact
    assert "lack" not in exact
    assert "income (target)" in exact
    assert "not declared" in str(check_table(replace(SCHEMA, n_samples=None), table_of(tmp_path, LINES)))


def test_a_long_name_does_not_break_the_text():
    name = "n" * 200
    schema = Schema(1, (NumberColumn(name, (0, 1)),), Target("y", classes=(0, 1)))
    text = str(check_table(schema, FrameTable(pa.table({name: [0.5], "y": [1]}))))
    assert max(map(len, text.splitlines())) < 120


def test_plain_data_is_stamped_and_can_be_written_as_json(tmp_path):
    found = check_table(SCHEMA, table_of(tmp_path, LINES))
    plain = json.loads(json.dumps(found.to_plain()))
    assert next(iter(plain)) == "stamp"
    assert plain["stamp"] == STAMP
    assert (plain["rows"], plain["declared_rows"], plain["unusable_rows"]) == (8, 6, 2)
    assert plain["columns"][0] == {
        "name": "age",
        "missing": 4,
        "unreadable": 2,
        "outside_bounds": 1,
        "unknown_levels": None,
    }
    assert plain["target"]["unknown_levels"] == 2


def test_no_value_of_a_row_is_told(tmp_path):
    found = check_table(SCHEMA, table_of(tmp_path, LINES))
    told = str(found) + json.dumps(found.to_plain())
    assert not any(value in told for value in ("clown", "medium", "young", "16.9", "stray"))


def test_a_diagnosis_cannot_be_changed(tmp_path):
    found = check_table(SCHEMA, table_of(tmp_path, LINES))
    with pytest.raises(FrozenInstanceError):
        found.rows = 1


def test_a_table_without_rows_has_counts_of_nothing(tmp_path):
    found = check_table(SCHEMA, table_of(tmp_path, []))
    assert (found.rows, found.unusable_rows, found.clipped) == (0, 0, 0)
    assert found.target == ColumnDiagnosis("income", missing=0, unknown_levels=0)


class Awkward:
    """An object that raises whatever is asked of it."""

    def __repr__(self) -> str:
        raise RuntimeError("no")

    __eq__ = __str__ = __hash__ = __bool__ = __float__ = __repr__


def test_odd_objects_are_counted_and_do_not_raise():
    frame = pd.DataFrame(
        {name: pd.Series([Awkward(), [1], b"x", 10**400], dtype=object) for name in ("age", "job", "income")}
    )
    found = check_table(SCHEMA, FrameTable(frame))
    assert found.rows == 4
    for column in (*found.columns, found.target):
        assert column.missing + (column.unreadable or 0) + (column.unknown_levels or 0) == 4


def test_a_table_that_does_not_fit_is_refused_but_another_number_of_rows_is_reported():
    frame = pa.table({"age": [1], "job": ["none"], "income": ["low"]})
    assert check_table(SCHEMA, FrameTable(frame)).rows == 1
    with pytest.raises(InvalidData, match="no column job"):
        check_table(SCHEMA, FrameTable(frame.drop_columns(["job"])))
    with pytest.raises(InvalidData, match="does not mention: more"):
        check_table(SCHEMA, FrameTable(frame.append_column("more", [[1]])))


def test_a_schema_with_blanks_cannot_count():
    schema = replace(SCHEMA, columns=(NumberColumn("age", None), *SCHEMA.columns[1:]))
    frame = pa.table({"age": [1], "job": ["none"], "income": ["low"]})
    with pytest.raises(SchemaInvalid, match=r"columns\.age\.bounds"):
        check_table(schema, FrameTable(frame))


def of_two_classes(lines: list[str]) -> list[str]:
    return [lines[0].replace("low", "high"), *lines[1:]]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["30 years,none,low,1"] * 6, 'age: most values are no numbers; they are with unit = "..."'),
        (['"1,5 years",none,low,1'] * 6, 'with decimal = "," in the schema\'s [file], and unit = "..."'),
        (["young,none,low,1"] * 6, 'age: most values are no numbers; is it a kind = "category" or "date"?'),
        (["30,NURSE,low,1"] * 6, "job: all values are none of the declared levels or spellings"),
        (["30,none,low,1", "30,none,HIGH,2"] * 3, "income: many labels are a class but for capital letters"),
        (["30,none,low,1", ""] * 2 + ["30,none,low,1"], "many rows are without any value"),
        (["30,none,low,1"] * 2, "n: the table has far fewer rows than declared"),
        (["30,none,low,1"] * 500, "n: the table has far more rows than declared"),
    ],
)
def test_what_shows_that_the_schema_describes_another_table_is_said_with_its_remedy(tmp_path, lines, said):
    found = check_table(SCHEMA, table_of(tmp_path, of_two_classes(lines))).mismatches
    assert [said in mismatch for mismatch in found] == [True]


MARKS = {
    # How numbers are written, those of the file, and what the advice says first and after that.
    "thousands that were forgotten": ((",", ""), ["999", "1.234", "5.678"], 'with thousands = "."', 'decimal = "."'),
    "a comma that can be either": ((".", ""), ["1,234", "5,678"], 'with thousands = ","', 'with decimal = ","'),
    "thousands and decimals": ((",", ""), ["1.234,5", "5.678"], 'they are with thousands = "."', None),
    "decimals alone": ((".", ""), ["1,5", "2,25"], 'they are with decimal = ","', None),
    "points that were called thousands": ((",", "."), ["1.5", "2.25"], 'with decimal = "." and thousands = ""', None),
}


@pytest.mark.parametrize("case", MARKS)
def test_numbers_that_can_be_read_in_two_ways_are_told_so(tmp_path, case):
    (decimal, thousands), values, first, second = MARKS[case]
    file = FileFormat(delimiter=";", decimal=decimal, thousands=thousands)
    (tmp_path / "rows.csv").write_text("\n".join(["a;y", *(f"{value};no" for value in values)]), encoding="utf-8")
    schema = Schema(3, (NumberColumn("a", (0, 10)),), Target("y", classes=("no", "yes")), file=file)
    said = check_table(schema, open_table(tmp_path / "rows.csv", file=file)).mismatches[0]
    assert first in said
    assert ("ambiguous" in said) is (second is not None)
    assert second is None or said.index(first) < said.index(second)


@pytest.mark.parametrize(
    "lines",
    [
        ["30,NURSE,low,1"] * 5 + ["30,nurse,low,1"],  # one level is known
        ["30,none,low,1", "30,none,other,2"] * 3,  # a class against all others
        ["30,none,low,1"] * 4 + ["", "30,none,low,2"],  # one blank line
        ["30,none,low,1"] * 3,  # half of the rows
        ["30 years,none,low,1", "30,none,low,1"] * 3,  # half of the values
    ],
)
def test_what_may_be_so_on_purpose_passes(tmp_path, lines):
    assert check_table(SCHEMA, table_of(tmp_path, of_two_classes(lines))).mismatches == ()


NUMBERS = Schema(100, (NumberColumn("a", (0, 10)),), Target("y", bounds=(0, 10)))
CLASSES = replace(NUMBERS, target=Target("y", classes=("no", "yes")))
HALVES = ["no", "yes"] * 50
HOURS = replace(CLASSES, columns=(DateColumn("a", ("hour", "cyclic hour")),))
DATES = replace(CLASSES, columns=(DateColumn("a", ("hour", "month")),))
# Of each: the column a, the target, and what is said of whom.
WASTED = {
    "a target without a value": (CLASSES, [5] * 100, [None] * 100, "y: nearly all targets are missing"),
    "a target of one value": (CLASSES, [5] * 100, ["yes", *[None] * 99], "y: nearly all targets are missing"),
    "a target of missing and unknown labels": (CLASSES, [5] * 100, [*["nay"] * 9, *[None] * 91], "y: nearly all"),
    "a regression without a target": (NUMBERS, [5] * 100, [None] * 100, "y: no row has a value"),
    "a regression out of range": (NUMBERS, [5] * 100, [500] * 100, "y: nearly all values lie outside"),
    "a regression nearly out of range": (NUMBERS, [5] * 100, [5, *[500] * 99], "y: nearly all values lie outside"),
    "a regression of nothing usable": (NUMBERS, [5] * 100, [*[None] * 98, 500, 5], "y: nearly all targets"),
    "a class that is spelt otherwise": (CLASSES, [5] * 100, ["no", "ja"] * 50, "y: no row has another class than"),
    "one class alone": (CLASSES, [5] * 100, ["no"] * 100, "y: no row has another class than the first"),
    "days of which the hour counts": (HOURS, ["2020-01-01", "2020-02-29"] * 50, HALVES, "a: no value has a time of"),
    "numbers without a value": (CLASSES, [None] * 100, HALVES, "a: no row has a value"),
    "numbers of another unit": (CLASSES, [500] * 100, HALVES, "a: nearly all values lie outside"),
    "numbers of another unit where there are any": (CLASSES, [None, 500] * 50, HALVES, "a: nearly all values"),
}
KEPT = {
    "a rare number": (CLASSES, [5, *[None] * 99], HALVES),
    "many that are clipped": (CLASSES, [5, 5, *[500] * 98], HALVES),
    "a class against all others": (CLASSES, [5] * 100, ["yes", "yes", *["nay"] * 98]),
    "a rare class": (CLASSES, [5] * 100, ["yes", *["no"] * 99]),
    "a rare hour": (HOURS, ["2020-01-01 07:00", *["2020-01-01"] * 99], HALVES),
    "days of which the hour counts too": (DATES, ["2020-01-01"] * 100, HALVES),
    "some targets": (NUMBERS, [5] * 100, [5, 5, *[None] * 98]),
}


def files_of(tmp_path: Path, column: list, target: list) -> list[RawTable]:
    cells = [["" if value is None else str(value) for value in values] for values in (column, target)]
    lines = [",".join(row) for row in zip(*cells, strict=True)]
    (tmp_path / "rows.csv").write_text("\n".join(["a,y", *lines]), encoding="utf-8")
    frame = pd.DataFrame({"a": column, "y": target}, dtype=object)
    return [open_table(tmp_path / "rows.csv"), FrameTable(frame)]


@pytest.mark.parametrize("case", WASTED)
def test_a_column_that_would_waste_the_budget_is_told(tmp_path, case):
    schema, column, target, said = WASTED[case]
    for raw in files_of(tmp_path, column, target):
        (mismatch,) = check_table(schema, raw).mismatches
        assert mismatch.startswith(said)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([None], "no row has a value; correct missing = [...], or name the column that holds the target"),
        (["much", "little"], "most values are no numbers; declare target.classes"),
        (["5 kg", "7 kg"], "most values are no numbers; they are with nothing beside them in the data"),
    ],
)
def test_what_is_said_of_a_regressions_target_can_be_done_to_a_target(tmp_path, values, said):
    for raw in files_of(tmp_path, [5] * 100, (values * 100)[:100]):
        assert check_table(NUMBERS, raw).mismatches == (f"y: {said}",)


@pytest.mark.parametrize("case", KEPT)
def test_few_usable_values_are_enough(tmp_path, case):
    schema, column, target = KEPT[case]
    assert [check_table(schema, raw).mismatches for raw in files_of(tmp_path, column, target)] == [(), ()]


@pytest.mark.parametrize("case", [*WASTED, *KEPT])
def test_what_is_said_of_targets_is_the_same_without_a_schema(tmp_path, case):
    schema, _, target = (WASTED | KEPT)[case][:3]
    facts = {"labels": (0.0, 10.0)} if schema.task == "regression" else {"classes": ("no", "yes")}
    said = HEAD in str(check_rows([[0.0]] * 100, target, Domain(1.0, **facts)))
    schema = replace(schema, columns=NUMBERS.columns)
    found = check_table(schema, files_of(tmp_path, [5] * 100, target)[0]).mismatches
    assert said == bool(found)
