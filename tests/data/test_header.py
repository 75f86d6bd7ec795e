"""The first line of a CSV file: what may be a person's row is refused, by its place alone, whoever reads it."""

import gzip
from dataclasses import replace
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import equipoise as eq
from equipoise.data import files
from equipoise.data.joined import raw_table
from equipoise.data.names import reads_as_a_value
from equipoise.data.schema import CategoryColumn, FileFormat, NumberColumn, Schema, Target
from equipoise.errors import InvalidData

# First lines of files without a header, and the places at which that shows. Each holds a name that must not be told.
PERSONS = {
    "a number": ("Smith,31", "position 2"),
    "a number with a decimal comma": ('Smith,"3,5"', "position 2"),
    "a number with thousands": ("Smith,1'234", "position 2"),
    "an exponent": ("Smith,1e5", "position 2"),
    "a number that is none": ("Smith,NaN", "position 2"),
    "a missing value": ("Smith,NA", "position 2"),
    "no value": ("Smith,,x", "position 2"),
    "a date": ("Smith,2020-02-29", "position 2"),
    "a date as Europeans write it": ("Smith,29.02.2020", "position 2"),
    "a date as Americans write it": ("Smith,2/29/20", "position 2"),
    "a date with a month's name": ("Smith,29-Feb-2020", "position 2"),
    "a moment": ("Smith,2020-02-29T12:30:00Z", "position 2"),
    "a time": ("Smith,12:30", "position 2"),
    "a sum of money": ("Smith,$ 12.50", "position 2"),
    "a share": ("Smith,45 %", "position 2"),
    "two numbers": ("31,Smith,7", "positions 1, 3"),
    "a value twice": ("Smith,x,Smith", "positions 1, 3"),
}


@pytest.mark.parametrize("case", PERSONS)
def test_a_first_line_that_may_be_a_person_is_refused_by_its_place_alone(tmp_path, case):
    line, places = PERSONS[case]
    (tmp_path / "rows.csv").write_text(f"{line}\n{line}\n", encoding="utf-8")
    with pytest.raises(InvalidData, match=f"{places}$|{places};") as refusal:
        eq.open_table(tmp_path / "rows.csv")
    assert "--no-header" in refusal.value.remedy
    said = f"{refusal.value.asked} {refusal.value.found}"
    assert not [value for value in ("Smith", *line.split(",")) if len(value) > 1 and value in said]


@pytest.mark.parametrize("engine", ["memory", "stream", "dask", "spark"])
@pytest.mark.parametrize("name", ["rows.csv", "rows.csv.gz", "folder"])
def test_every_engine_refuses_it(tmp_path, engine, name):
    path = tmp_path / name
    if name == "folder":
        path.mkdir()
        path /= "part.csv"
    path.write_bytes(gzip.compress(b"31,Smith\n") if name.endswith("gz") else b"31,Smith\n")
    with pytest.raises(InvalidData, match="position 1"):
        eq.open_table(tmp_path / name, engine=engine)


# One cell each of rows that were taken for headers.
VALUES = {
    "dates": (
        *(
            "1/2/2020 3:45:00 PM",
            "2020-01-02 3:45 PM",
            "3 p.m.",
            "12.05.2020",
            "20200101T120000",
            "2020-02-29T12:30:00Z",
        ),
        *("5. Mai 1970", "12-Mai-2020", "3rd May 2020", "March 5th, 2020", "May 5 70", "Jan 2020", "Jan2020"),
        *("5 de mayo de 2020", "12 février 2020", "Dienstag, 17.11.2026", "17. Nov. 2026 um 14:30 Uhr", "2020年1月2日"),
        *("2020-02", "02/2020", "1/2/20", "1.2.20", "9:05", "Feb 29, 20", "29 Feb '20"),
        *("Tue Nov 17 18:39:25 UTC 2026", "2020-01-01 00:00:00.000 +0000"),
        *("5 May", "May 5", "March 5th", "the 5th of May", "Friday 13", "12 set 2020", "17. Mai", "Mo, 25.12.", "5 pm"),
    ),
    "numbers": (
        *(
            "72 kg",
            "72kg",
            "37.5 °C",
            "120 mg/dl",
            "12 m²",
            "90 km/h",
            "(12.5)",
            "[3]",
            "<5",
            "\u22125",
            "+49 171 123",
        ),
        *("¥500", "1 200,50 EUR", "1\u00a0200,50\u202f€", "EUR 12", "US$ 5", "R$5", "1,5 Mio.", "10k"),
        *("1/2", "120/80", "18-24", "18\u201324", "65+", "1-3", "12.5.", "5'11\"", "#1"),
        *("45 years", "3 days", "12 min", "60 min", "24h", "48 h", "30 Tage", "50 Euro", "Euro 50", "20 dollars"),
        *("0171/1234567", "123-45-6789", "-$5", "5 %", "# 7"),
        *("31\u200b", "\ufeff31", "\uff13\uff11", "٣١", "1e5", "inf", "45 %"),
    ),
    "beginnings with a digit": (
        *("1 200 zł", "Rs. 500", "Rs 500", ">100 U/L", "120/80 mmHg", "45+ years", "45 yo", "45yo", "19:30h"),
        *("2020-W05", "2020Q1", "0x1F", "12 Main Street", "2 children", "US$ 5 m", "(3) severe", "\u00bd cup"),
        *("1st", "1st visit", "2nd degree", "1a", "2020 income", "24h urine", "2020_Jan_05", "72_kg"),
    ),
    "numerals of other scripts": ("五", "三十一", "五 "),
    "answers and addresses": ("yes", "No", "TRUE", "False", "smith@example.org", "J.Smith@mail.example.org"),
    "missing values": ("N/A", "NULL", "None", "?", "-", "--", ".", "NA", "nan", "#N/A", "<NA>", "NaT", "\u200b"),
}
NAMES = (
    *("age", "Q1", "age at 31", "x1", "T1", "t0", "May", "März", "no. 5", "é", "in", "Z", "nos", "truth", "noon"),
    *("income 2020", "sales 2019", "Q1 2020", "age>50", "PM2.5", "PM10", "OCT4", "MARCH1", "Na", "B12"),
    *("day 3", "visit 1", "urine 24h", "m2", "height (cm)", "column 1", "R2", "yes_count", "一般", "contact @ work"),
    *("rs7412", "rs429358", "FEV 1", "FEV1", "Set 1", "gen 1", "out 1", "Mag 5", "SAT 1", "SEPT9", "Mar2"),
    *("q1", "bp 120", "income_2019", "day 30", "age 18-24", "age 65+", "BMI 25-30", "over 80 years"),
    *("1st_visit", "2hr_glucose", "24h_urine", "2020_income", "1stFlrSF", "25th_percentile"),
)


@pytest.mark.parametrize("value", [value for values in VALUES.values() for value in values], ids=ascii)
def test_values_are_not_taken_as_names(value):
    assert reads_as_a_value(value)


@pytest.mark.parametrize("name", NAMES)
def test_names_are_taken_as_names(name):
    assert not reads_as_a_value(name)


WRITTEN = {
    "rows.parquet": lambda table, path: pa.parquet.write_table(table, path),
    "rows.feather": lambda table, path: pa.feather.write_feather(table, str(path)),
}


@pytest.mark.parametrize("engine", ["memory", "stream", "dask"])
@pytest.mark.parametrize("file", WRITTEN)
def test_names_that_a_file_with_types_has_are_looked_at_too(tmp_path, file, engine):
    WRITTEN[file](pa.table({"Smith": ["a"], "31": [1], "2020-01-01": [2]}), tmp_path / file)
    with pytest.raises(InvalidData, match="positions 2, 3") as refusal:
        eq.open_table(tmp_path / file, engine=engine)
    assert "rename" in refusal.value.remedy
    assert "2020-01-01" not in str(refusal.value)


@pytest.mark.parametrize("start", [0, 1])
def test_the_numbers_of_all_columns_tell_nothing(tmp_path, start):
    table = pa.table({str(start): [1], str(start + 1): [2]})
    pa.parquet.write_table(table, tmp_path / "rows.parquet")
    assert eq.open_table(tmp_path / "rows.parquet").names == (str(start), str(start + 1))
    raw_table(table)


@pytest.mark.parametrize(
    "names",
    [["1", "Graz", "2"], ["0", "1", "ill"], ["1", "Graz"], ["Smith", "1"], ["0", "2", "y"], ["7", "8"], ["1", "0"]],
)
def test_small_numbers_beside_words_may_be_a_person(tmp_path, names):
    table = pa.table({name: [1] for name in names})
    pa.parquet.write_table(table, tmp_path / "rows.parquet")
    for read in (lambda: eq.open_table(tmp_path / "rows.parquet"), lambda: raw_table(table)):
        with pytest.raises(InvalidData, match="position") as refusal:
            read()
        assert "Graz" not in str(refusal.value)


def test_names_of_a_data_frame_are_looked_at_too():
    schema = Schema(1, (NumberColumn("31", (0, 100)),), Target("ill", classes=("no", "yes")), (), "A", "2026-11-16")
    for frame in (pd.DataFrame({"31": [1.0], "ill": ["no"]}), pl.DataFrame({"31": [1.0], "ill": ["no"]})):
        with pytest.raises(InvalidData, match="position 1"):
            eq.LogisticRegression(epsilon=1.0, domain=schema).fit(frame)


NESTED = {"Smith": [[1]], "31": [[2]]}


def test_names_beside_types_that_are_refused_are_told_only_if_none_may_be_a_value(tmp_path):
    pa.parquet.write_table(pa.table(NESTED), tmp_path / "rows.parquet")
    reads = (
        lambda: eq.open_table(tmp_path / "rows.parquet"),
        lambda: raw_table(pa.table(NESTED)),
        lambda: raw_table(pl.DataFrame(NESTED)),
    )
    for read in reads:
        with pytest.raises(InvalidData, match="position 2") as refusal:
            read()
        assert "Smith" not in str(refusal.value)
        assert "31" not in str(refusal.value)
    with pytest.raises(InvalidData, match="visits"):
        raw_table(pa.table({"visits": [[1]]}))


def opened(path: Path, content: bytes, **facts: object):
    path.write_bytes(content)
    columns = NumberColumn("column 1", (0, 100)), CategoryColumn("column 2", ("x", "y"), unknown="x")
    schema = Schema(3, columns, Target("column 3", classes=("no", "yes")), file=FileFormat(header=False, **facts))
    return eq.open_table(path, schema=schema)


def rows(table) -> list[tuple[object, ...]]:
    return [row for batch in table.batches(table.names) for row in zip(*map(list, batch.values()), strict=True)]


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["no mark", "a byte-order mark"])
@pytest.mark.parametrize("content", [b"31,x,no\n7,y,yes\n", b"31,x,no\n7,y,yes", b"31,x,no\r\n7,y,yes\r\n\r\n"])
def test_without_a_header_the_first_line_is_a_row_and_columns_are_named_by_position(tmp_path, mark, content):
    table = opened(tmp_path / "rows.csv", mark + content)
    assert table.names == ("column 1", "column 2", "column 3")
    assert rows(table) == [("31", "x", "no"), ("7", "y", "yes")]


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "cp1252", "utf-16"])
@pytest.mark.parametrize("mark", ["", "UTF-8", "UTF-16"])
def test_a_mark_at_the_beginning_of_a_file_without_a_header_belongs_to_no_value(tmp_path, encoding, mark):
    text = "31,x,no\n7,ö,yes\n"
    if mark == "UTF-16":
        content, wrong = text.encode("utf-16"), encoding != "utf-16"
    else:
        content = (b"\xef\xbb\xbf" if mark else b"") + text.encode("utf-16-le" if encoding == "utf-16" else encoding)
        wrong = encoding == "utf-16" and bool(mark)
    found = rows(opened(tmp_path / "rows.csv", content, encoding=encoding))
    # Rows in another encoding than the declared one are unreadable, and end no fit: schema check counts them.
    assert (found == [("31", "x", "no"), ("7", "ö", "yes")]) is not wrong
    if wrong:
        assert {value for row in found for value in row} == {None}


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_text_in_utf_8_that_is_declared_as_utf_16_is_refused_and_no_row_is_told(tmp_path, mark):
    columns = (NumberColumn("age", (0, 100)),)
    schema = Schema(2, columns, Target("ill", classes=("no", "yes")), file=FileFormat(encoding="utf-16"))
    (tmp_path / "rows.csv").write_bytes(mark + b"age,ill\n31,no\n7,yes\n")
    with pytest.raises(InvalidData, match='encoding = "utf-8"') as refusal:
        eq.open_table(tmp_path / "rows.csv", schema=schema)
    assert str(refusal.value).isascii()


def test_new_rows_with_the_mark_of_utf_8_are_read_as_it_tells(tmp_path):
    (tmp_path / "rows.csv").write_bytes(b"\xef\xbb\xbfage,town\n31,x\n")
    for encoding in ("cp1252", "utf-16"):
        table = files.open_table(tmp_path / "rows.csv", file=FileFormat(encoding=encoding).for_new_rows())
        assert rows(table) == [("31", "x")]


@pytest.mark.parametrize("first", [b"1", b"", b'"1', b"1,2,3,4", b"\0", b"\xff,\xff,\xff"])
def test_the_first_row_does_not_decide_how_a_file_without_a_header_is_read(tmp_path, first):
    table = opened(tmp_path / "rows.csv", first + b"\n31,x,no\n")
    assert table.names == ("column 1", "column 2", "column 3")
    assert rows(table)[1:] == [("31", "x", "no")]


@pytest.mark.parametrize("content", [b"", b"1", b"1\n", b"\n", b"\xef\xbb\xbf"])
def test_a_tiny_file_without_a_header_is_read(tmp_path, content):
    (tmp_path / "rows.csv").write_bytes(content)
    schema = Schema(1, (NumberColumn("column 1", (0, 1)),), Target("column 2", bounds=(0, 1)))
    found = rows(eq.open_table(tmp_path / "rows.csv", schema=schema_without_header(schema)))
    assert found in ([], [(None, None)])


def schema_without_header(schema: Schema) -> Schema:
    return replace(schema, file=FileFormat(header=False), vouched_by="A. Officer", vouched_on="2026-11-16")


def test_a_schema_of_names_that_a_file_without_a_header_lacks_is_refused(tmp_path):
    (tmp_path / "rows.csv").write_bytes(b"31,no\n")
    schema = schema_without_header(Schema(1, (NumberColumn("31", (0, 100)),), Target("no", classes=("no", "yes"))))
    with pytest.raises(InvalidData, match="no column 31"):
        eq.LogisticRegression(epsilon=1.0, domain=schema).fit(eq.open_table(tmp_path / "rows.csv", schema=schema))


@pytest.mark.parametrize("line", [b"sep=;\n", b"sep=;\r\n", b"SEP=,\n", b"sep=\t\n", b"\xef\xbb\xbfsep=;\n"])
def test_a_line_that_tells_spreadsheets_the_delimiter_is_no_header(tmp_path, line):
    (tmp_path / "rows.csv").write_bytes(line + b"age;ill\n31;no\n")
    with pytest.raises(InvalidData, match="delete this first line"):
        eq.open_table(tmp_path / "rows.csv")


def test_a_name_may_begin_with_those_letters(tmp_path):
    (tmp_path / "rows.csv").write_bytes(b"sep=,b\n1,2\n")
    assert eq.open_table(tmp_path / "rows.csv").names == ("sep=", "b")


def test_identifiers_and_unused_columns_count_among_those_of_a_file_without_a_header(tmp_path):
    (tmp_path / "rows.csv").write_bytes(b"31,no,P-1,x\n7,yes,P-2,y\n")
    schema = Schema(
        2,
        (NumberColumn("column 1", (0, 100)),),
        Target("column 2", classes=("no", "yes")),
        unused=("column 4",),
        identifiers=("column 3",),
        file=FileFormat(header=False),
    )
    assert rows(eq.open_table(tmp_path / "rows.csv", schema=schema)) == [
        ("31", "no", "P-1", "x"),
        ("7", "yes", "P-2", "y"),
    ]
