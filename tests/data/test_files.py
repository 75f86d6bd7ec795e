"""Raw tables from files and frames: what is refused before a row is read, and that a row is its line's alone."""

import contextlib
import csv
import datetime
import decimal
import gzip
import os
import tempfile
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from equipoise.data import csv_table
from equipoise.data.files import open_table
from equipoise.data.frames import FrameTable
from equipoise.data.raw import BATCH_ROWS
from equipoise.errors import EquipoiseError, InvalidData, InvalidParameter, TableUnreadable

# What tempts a parser to look beyond a line, to raise, or to see line ends where there are none.
TROUBLE = [b'"', b'""', b",", b",,", b"\r", b"\0", b"\xff", b"\xe2\x82", b"\xc3", b"\x85", b"\x0b", b"\x0c", b"\x1c"]
TROUBLE += [
    b"\xc2\x85",
    "\u2028".encode(),
    "\u2029".encode(),
    b"\xef\xbb\xbf",
    b"\\",
    b"'",
    b" ",
    b"a",
    b"1",
    b"-1e400",
]
lines = st.one_of(
    st.lists(st.sampled_from(TROUBLE), max_size=12).map(b"".join),
    st.binary(max_size=40).map(lambda content: content.replace(b"\n", b"")),
    st.sampled_from([b"1,2", b'"1","2"', b"1,2\r", b"", b"\r", b'"1', b'1"', b"1,2,3"]),
)


BLANK = (b"", b"\r")


def rows_of(content: bytes, name: str = "table.csv", delimiter: str = ",") -> list[tuple[str | None, ...]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(content)
        table = open_table(path, delimiter)
        columns = [[batch[name].tolist() for name in table.names] for batch in table.batches(table.names)]
        return [row for batch in columns for row in zip(*batch, strict=True)]


def table_of(tmp_path: Path, content: bytes, name: str = "table.csv", delimiter: str = ","):
    (tmp_path / name).write_bytes(content)
    return open_table(tmp_path / name, delimiter)


# A line is a row


@given(st.lists(lines, max_size=8), st.booleans())
@example([b'"a', b'b"', b"1,2"], True)
@example([b'1,"a', b'b",2', b"1,2"], False)
@example([b"", b"", b""], True)
@settings(max_examples=300, deadline=None)
def test_any_bytes_after_the_header_are_read_and_every_line_is_one_row(body, ended):
    found = rows_of(b"a,b\n" + b"\n".join(body) + (b"\n" if ended and body else b""))
    count = len(body) if ended or not body or body[-1] else len(body) - 1
    assert len(found) == (count - 1 if count and body[count - 1] in BLANK else count)
    assert all(type(value) is str or value is None for row in found for value in row)
    assert all(None not in row or set(row) == {None} for row in found)


@given(st.lists(lines, min_size=1, max_size=6), lines, st.data())
@settings(max_examples=300, deadline=None)
def test_changing_the_bytes_of_one_line_changes_at_most_that_row(body, other, data):
    spot = data.draw(st.integers(0, len(body) - 1))
    changed = [*body[:spot], other, *body[spot + 1 :]]
    # A usable line at the end, so that no line is a blank one at the very end.
    one, two = (rows_of(b"a,b\n" + b"\n".join([*version, b"3,4"])) for version in (body, changed))
    assert len(one) == len(two) == len(body) + 1
    assert [row for place, row in enumerate(one) if place != spot] == [
        row for place, row in enumerate(two) if place != spot
    ]


limits = st.fixed_dictionaries(
    {
        "LONGEST_LINE": st.integers(9, 40),
        "LONGEST_FIELD": st.integers(4, 40),
        "BATCH_VALUES": st.integers(1, 8),
        "BLOCK_BYTES": st.integers(1, 60),
    }
).filter(lambda found: found["LONGEST_FIELD"] <= found["LONGEST_LINE"])


@given(st.lists(lines, min_size=1, max_size=6), limits)
@settings(max_examples=200, deadline=None)
def test_a_row_is_the_same_alone_and_among_others_for_any_limits_and_batches(body, limits):
    with mock.patch.multiple(csv_table, **limits):
        header = b"a,b"
        together = rows_of(header + b"\n" + b"\n".join([*body, b"x"]))[:-1]
        alone = [rows_of(header + b"\n" + line + b"\nx")[0] for line in body]
    assert together == alone


def specified(line: bytes, delimiter: str, width: int, longest: int, field: int) -> tuple[str | None, ...]:
    """Return the row of a line as the rule is written down, by Python alone; the line ends by a line feed."""
    text = line.removesuffix(b"\r").decode("utf-8", errors="replace")
    unusable = (None,) * width
    if len(line) + 1 > longest or not text or "\0" in text:
        return unusable
    try:
        fields = next(csv.reader([text], delimiter=delimiter), [])
    except csv.Error:
        return unusable
    return tuple(fields) if len(fields) == width and max(map(len, fields)) <= field else unusable


@given(
    st.lists(lines, max_size=12), st.integers(1, 3), st.sampled_from([",", "1", " ", "\\", "\u00e9", "\ufffd"]), limits
)
@example([b'"1","2"', b'"1,","2"\r', b'"1""","2"', b'"1"x,2', b'"1"', b'1,"', b'"1","2"'], 2, ",", {})
@example([b"\xe2\x82,\xff", b"\xc3", b"\xf0\x9f,\x98\x80"], 2, ",", {})
@settings(max_examples=500, deadline=None)
def test_every_line_becomes_what_the_rule_says_of_it_alone(body, width, delimiter, limits):
    header = delimiter.join("abc"[:width]).encode()
    assume(len(header) < limits.get("LONGEST_LINE", 10**6))
    with mock.patch.multiple(csv_table, **({"LONGEST_LINE": 10**6, "LONGEST_FIELD": 10**6} | limits)):
        found = rows_of(header + b"\n" + b"".join(line + b"\n" for line in [*body, b"end"]), delimiter=delimiter)
        longest, field = csv_table.LONGEST_LINE, csv_table.LONGEST_FIELD
    assert found[:-1] == [specified(line, delimiter, width, longest, field) for line in body]


LINES = {
    "plain": (b"1,2", ("1", "2")),
    "windows": (b"1,2\r", ("1", "2")),
    "quoted": (b'"1,5","say ""no"""', ("1,5", 'say "no"')),
    "blanks are kept": (b" 1 , 2", (" 1 ", " 2")),
    "empty values": (b",", ("", "")),
    "a stray quote": (b'"1,2', (None, None)),
    "a quote inside a value": (b'1",2', ('1"', "2")),
    "too few fields": (b"1", (None, None)),
    "too many fields": (b"1,2,3", (None, None)),
    "nothing": (b"", (None, None)),
    "a zero byte": (b"1,\0", (None, None)),
    "a quoted zero byte": (b'"1","\0"', (None, None)),
    "a lone carriage return": (b"1\r3,2", (None, None)),
    "a quoted carriage return": (b'"1\r3",2', ("1\r3", "2")),
    "a Unicode line separator": ("1\u2028,2".encode(), ("1\u2028", "2")),
    "no UTF-8": (b"\xff1,\xe2\x82", ("\ufffd1", "\ufffd")),
}


@pytest.mark.parametrize("case", LINES)
def test_a_line_becomes_this_row(case):
    line, row = LINES[case]
    assert rows_of(b"a,b\n" + line + b"\n3,4\n") == [row, ("3", "4")]


@given(st.lists(st.text(alphabet='ab",; \t|\u00e9', max_size=6), min_size=2, max_size=4), st.sampled_from(",;|\t"))
@settings(max_examples=200, deadline=None)
def test_lines_read_as_the_csv_module_reads_them(fields, delimiter):
    line = delimiter.join(fields)
    (expected,) = csv.reader([line], delimiter=delimiter)
    header = delimiter.join(f"c{place}" for place in range(len(expected)))
    assert rows_of(f"{header}\n{line}\nend".encode(), delimiter=delimiter)[0] == tuple(expected)


def test_the_bytes_of_a_line_beyond_the_limit_are_passed_over_in_pieces(tmp_path):
    content = b"a,b\n1,2\n" + b"x" * (3 * csv_table.LONGEST_LINE) + b"\n3,4\n"
    table = table_of(tmp_path, content)
    assert np.concatenate([batch["a"] for batch in table.batches(["a"])]).tolist() == ["1", None, "3"]


def test_a_field_longer_than_the_csv_module_takes_is_an_unusable_row():
    longest = b"x" * csv_table.LONGEST_FIELD
    found = rows_of(b"a,b\n" + longest + b",1\n" + longest + b'x,2\n"' + longest + b'x",3\n4,4\n')
    assert [row[1] for row in found] == ["1", None, None, "4"]


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n", b"\n\n", b"\r\n\r\n", b"\n\r"])
def test_the_blank_end_of_a_file_is_no_row(end):
    assert rows_of(b"a,b\n1,2" + end) == [("1", "2")]


def test_a_header_alone_is_a_table_without_rows():
    assert rows_of(b"a,b") == rows_of(b"a,b\r\n") == []


def test_a_table_of_many_lines_comes_in_batches_that_end_by_their_number_of_rows(tmp_path):
    table = table_of(tmp_path, b"a\n" + b"\n".join(b"%d" % place for place in range(3 * BATCH_ROWS)))
    with mock.patch.multiple(csv_table, BATCH_VALUES=10**9, BLOCK_BYTES=10**9):
        batches = [batch["a"] for batch in table.batches(["a"])]
    assert [len(batch) for batch in batches] == [BATCH_ROWS] * 3
    assert np.concatenate(batches).astype(int).tolist() == list(range(3 * BATCH_ROWS))


def test_only_the_columns_asked_for_come_in_the_order_asked_for(tmp_path):
    table = table_of(tmp_path, b"a,b,c\n1,2,3\n")
    assert [(name, *column) for name, column in next(table.batches(["c", "a"])).items()] == [("c", "3"), ("a", "1")]


@pytest.mark.parametrize(
    ("name", "content", "delimiter"),
    [
        ("table.csv", b"\xef\xbb\xbfa,b\n1,2\n", ","),
        ("TABLE.CSV", b'"a", b \r\n1,2\r\n', ","),
        ("table.csv", b"a;b\n1;2\n", ";"),
        ("table.tsv", b"a\tb\n1\t2\n", ","),
        ("table.csv.gz", gzip.compress(b"a,b\n1,2\n"), ","),
        ("table.tsv.gz", gzip.compress(b"a\tb\n1\t2\n"), "\t"),
    ],
    ids=["byte order mark", "capital suffix, quotes and blanks", "semicolon", "tabs", "packed", "packed tabs"],
)
def test_a_csv_file_is_opened_by_its_suffix(tmp_path, name, content, delimiter):
    table = table_of(tmp_path, content, name, delimiter)
    assert (table.names, table.n_samples, table.source) == (("a", "b"), None, name)
    assert dict(table.kinds) == {"a": "unknown", "b": "unknown"}
    assert [batch["b"].tolist() for batch in table.batches(["b"])] == [["2"]]


# What is refused before a row is read


REFUSED = {
    "empty": ("t.csv", b"", "an empty file"),
    "an empty first line": ("t.csv", b"\na,b\n", "no columns"),
    "repeated names": ("t.csv", b"a,b,a\n", "one name several times, at positions 1, 3"),
    "an empty name": ("t.csv", b"a,,b\n", "no name at position 2"),
    "a semicolon": ("t.csv", b"a;b\n1;2\n", "--delimiter ';'"),
    "tabs": ("t.csv", b"a\tb\n1\t2\n", r"--delimiter '\t'"),
    "bars": ("t.csv", b"a|b\n1|2\n", "--delimiter '|'"),
    "UTF-16": ("t.csv", "a,b\n1,2\n".encode("utf-16"), "UTF-16"),
    "UTF-16 without its mark": ("t.csv", "a,b\n1,2\n".encode("utf-16-be"), "UTF-16"),
    "UTF-32": ("t.csv", "a,b\n1,2\n".encode("utf-32"), "UTF-32"),
    "Latin-1": ("t.csv", "größe,b\n".encode("latin-1"), "no UTF-8"),
    "a header over two lines": ("t.csv", b'a,"b\nc"\n1,2\n', "unbalanced quote"),
    "lines that end in carriage returns": ("t.csv", b"a,b\r1,2\r", "carriage return"),
    "a spreadsheet": ("t.xlsx", b"PK\x03\x04", "CSV UTF-8"),
    "no suffix": ("table", b"a,b\n", "known by its suffix"),
    "packed Parquet": ("t.parquet.gz", gzip.compress(b""), "known by its suffix"),
    "not packed": ("t.csv.gz", b"a,b\n1,2\n", "gzip"),
    "packed and cut": ("t.csv.gz", gzip.compress(b"a,b\n" * 9)[:14], "damaged"),
    "empty Parquet": ("t.parquet", b"", "damaged"),
    "text as Parquet": ("t.parquet", b"a,b\n1,2\n", "damaged"),
    "empty Arrow": ("t.arrow", b"", "damaged"),
    "text as Arrow": ("t.feather", b"a,b\n1,2\n", "damaged"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_file_that_is_no_table_is_refused_with_a_remedy(tmp_path, case):
    name, content, says = REFUSED[case]
    with pytest.raises(InvalidData) as refusal:
        table_of(tmp_path, content, name)
    assert says in str(refusal.value)
    assert refusal.value.remedy
    assert refusal.value.__cause__ is None


def test_a_header_line_without_an_end_is_refused(tmp_path):
    with mock.patch.object(csv_table, "LONGEST_LINE", 100), pytest.raises(InvalidData, match="first line of more than"):
        table_of(tmp_path, b"a" * 101)


def test_a_header_of_one_plain_column_is_taken(tmp_path):
    assert table_of(tmp_path, b"a\n1\n").names == ("a",)


def test_a_path_that_leads_nowhere_or_to_a_folder_is_refused(tmp_path):
    with pytest.raises(InvalidData, match="no file"):
        open_table(tmp_path / "absent.csv")
    (tmp_path / "parts.parquet").mkdir()
    with pytest.raises(InvalidData, match="a folder"):
        open_table(tmp_path / "parts.parquet")
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(InvalidData, match="cannot be opened"):
        open_table(tmp_path / "file" / "table.csv")
    with pytest.raises(InvalidData, match="cannot be opened"):
        open_table("a\0b.csv")
    with pytest.raises(InvalidParameter, match="of type int"):
        open_table(3)


def test_a_pipe_is_refused_instead_of_waited_for(tmp_path):
    os.mkfifo(tmp_path / "rows.csv")
    with pytest.raises(InvalidData, match="a pipe or device"):
        open_table(tmp_path / "rows.csv")


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet", "t.arrow"])
def test_a_file_without_permission_is_refused(tmp_path, name):
    (tmp_path / name).write_bytes(b"a,b\n")
    denied = PermissionError(13, "Permission denied")
    # The tests may run as root, who may read everything.
    with (
        mock.patch("builtins.open", side_effect=denied),
        mock.patch("gzip.open", side_effect=denied),
        mock.patch("pyarrow.parquet.ParquetFile", side_effect=denied),
        pytest.raises(InvalidData, match="Permission denied"),
    ):
        open_table(tmp_path / name)


@pytest.mark.parametrize("delimiter", ["", ",,", '"', "\n", "\r", "\0", 7])
def test_a_delimiter_is_one_character_and_neither_a_quote_nor_a_line_end(tmp_path, delimiter):
    (tmp_path / "t.csv").write_bytes(b"a,b\n")
    with pytest.raises(InvalidParameter, match="delimiter"):
        open_table(tmp_path / "t.csv", delimiter)


# Parquet and Arrow


def everything() -> pa.Table:
    """Return a table with a column of every kind of type that is read, the last value of each missing."""
    day, noon = datetime.date(2020, 2, 29), datetime.time(12, 30)
    moment = datetime.datetime(2020, 2, 29, 12, 30)
    return pa.table(
        {
            "whole": pa.array([1, 2**53 + 1, None], pa.int64()),
            "unsigned": pa.array([1, 255, None], pa.uint8()),
            "half": pa.array([np.float16(0.5), np.float16(2), None], pa.float16()),
            "real": pa.array([0.5, float("inf"), None], pa.float32()),
            "decimal": pa.array([decimal.Decimal("1.5"), decimal.Decimal("-2"), None], pa.decimal128(20, 2)),
            "truth": pa.array([True, False, None]),
            "text": pa.array(["a", "", None]),
            "large text": pa.array(["a", "é", None], pa.large_string()),
            "bytes": pa.array([b"a", b"\xff", None]),
            "coded text": pa.array(["a", "b", None]).dictionary_encode(),
            "coded number": pa.array([7, 8, None]).dictionary_encode(),
            "day": pa.array([day, day, None]),
            "moment": pa.array([moment, moment, None], pa.timestamp("ms", "UTC")),
            "time": pa.array([noon, noon, None], pa.time32("ms")),
            "span": pa.array([datetime.timedelta(seconds=5), datetime.timedelta(0), None], pa.duration("s")),
            "nothing": pa.nulls(3),
        }
    )


EXPECTED = {
    "whole": [1.0, 2.0**53, None],
    "unsigned": [1.0, 255.0, None],
    "half": [0.5, 2.0, None],
    "real": [0.5, float("inf"), None],
    "decimal": [1.5, -2.0, None],
    "truth": [True, False, None],
    "text": ["a", "", None],
    "large text": ["a", "é", None],
    "bytes": ["a", "\ufffd", None],
    "coded text": ["a", "b", None],
    "coded number": [7.0, 8.0, None],
    "day": ["2020-02-29", "2020-02-29", None],
    "moment": ["2020-02-29T12:30:00", "2020-02-29T12:30:00", None],
    "time": ["12:30:00", "12:30:00", None],
    "span": ["5", "0", None],
    "nothing": [None, None, None],
}
NUMBERS = {"whole", "unsigned", "half", "real", "decimal", "coded number"}


def write_stream(table: pa.Table, path: Path) -> None:
    with pa.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table)


def write_arrow(table: pa.Table, path: Path) -> None:
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)


WRITERS = {
    "t.parquet": pa.parquet.write_table,
    "t.pq": pa.parquet.write_table,
    "t.arrow": write_arrow,
    "t.ipc": write_stream,
    "t.feather": lambda table, path: pa.feather.write_feather(table, str(path), compression="zstd"),
}


def plain(values: np.ndarray) -> list[object]:
    return [None if value is None or value != value else value for value in values.tolist()]


@pytest.mark.parametrize("name", WRITERS)
def test_every_type_is_read_and_its_kind_is_told_by_the_type(tmp_path, name):
    WRITERS[name](everything(), tmp_path / name)
    table = open_table(tmp_path / name)
    assert table.names == tuple(EXPECTED)
    assert table.n_samples == (None if WRITERS[name] is write_stream else 3)
    expected = EXPECTED
    if WRITERS[name] is pa.parquet.write_table:
        # Parquet has no type for a span: it is a whole number there, and a note tells the type.
        expected = {**EXPECTED, "span": [5.0, 0.0, None]}
    assert {name for name, kind in table.kinds.items() if kind == "number"} == NUMBERS
    others = {name: kind for name, kind in table.kinds.items() if kind not in ("number", "text")}
    assert others == {
        "truth": "truth",
        "day": "day",
        "moment": "date",
        "time": "time",
        "span": "duration",
        "nothing": "nothing",
    }
    (batch,) = table.batches(table.names)
    assert {column: plain(values) for column, values in batch.items()} == expected


@pytest.mark.parametrize("name", WRITERS)
def test_the_type_of_an_array_does_not_depend_on_whether_a_value_is_missing(tmp_path, name):
    types = []
    for rows in (slice(0, 2), slice(1, 3), slice(2, 3)):
        WRITERS[name](everything().slice(rows.start, rows.stop - rows.start), tmp_path / name)
        (batch,) = open_table(tmp_path / name).batches(tuple(EXPECTED))
        types.append({column: values.dtype for column, values in batch.items()})
    assert types[0] == types[1] == types[2]


@pytest.mark.parametrize("name", WRITERS)
def test_large_tables_come_in_batches_and_in_order(tmp_path, name):
    count = 2 * BATCH_ROWS + 3
    WRITERS[name](pa.table({"a": range(count), "b": ["x"] * count}), tmp_path / name)
    batches = [batch["a"] for batch in open_table(tmp_path / name).batches(["a"])]
    assert max(map(len, batches)) <= BATCH_ROWS
    assert np.array_equal(np.concatenate(batches), np.arange(count))


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("wrong", ["repeated", "nested", "a map"])
def test_names_and_types_of_arrow_columns_are_refused_like_those_of_csv(tmp_path, name, wrong):
    table = {
        "repeated": pa.table([[1], [2]], names=["a", "a"]),
        "nested": pa.table({"a": [1], "b": [[1, 2]]}),
        "a map": pa.table({"a": pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int8()))}),
    }[wrong]
    if wrong == "repeated" and name == "t.feather":
        write_arrow(table, tmp_path / name)  # Feather's own writer refuses it
    else:
        WRITERS[name](table, tmp_path / name)
    with pytest.raises(InvalidData, match="at positions 1, 2" if wrong == "repeated" else "other types: "):
        open_table(tmp_path / name)


def bad_text() -> pa.Array:
    offsets = pa.py_buffer(np.array([0, 1, 3], np.int32).tobytes())
    return pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(b"a\xff\xfe")])


@pytest.mark.parametrize("name", WRITERS)
def test_text_that_is_no_utf8_is_a_value_and_does_not_raise(tmp_path, name):
    coded = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), bad_text())
    columns = {"a": bad_text(), "b": coded}
    WRITERS[name](pa.table(columns), tmp_path / name)
    (batch,) = open_table(tmp_path / name).batches(["a", "b"])
    assert batch["a"].tolist() == batch["b"].tolist() == ["a", "\ufffd\ufffd"]


def test_text_of_pandas_that_is_no_utf8_is_a_value_and_does_not_raise():
    frame = pa.table({"a": bad_text()}).to_pandas(types_mapper={pa.string(): pd.StringDtype("pyarrow")}.get)
    (batch,) = FrameTable(frame).batches(["a"])
    assert batch["a"].tolist() == ["a", "\ufffd\ufffd"]


@pytest.mark.parametrize("name", ["t.arrow", "t.ipc"])
def test_times_that_no_clock_shows_are_values_and_do_not_raise(tmp_path, name):
    far = pa.py_buffer(np.array([2**63 - 1, -(2**62), 5], np.int64).tobytes())
    types = [pa.time64("ns"), pa.timestamp("s"), pa.timestamp("us", "Nowhere/Land"), pa.date64(), pa.duration("ms")]
    columns = {str(kind): pa.Array.from_buffers(kind, 3, [None, far]) for kind in types}
    WRITERS[name](pa.table(columns), tmp_path / name)
    (batch,) = open_table(tmp_path / name).batches(list(columns))
    assert all(type(value) is str for values in batch.values() for value in values)


def test_run_ends_views_and_extensions_are_read_as_what_they_hold(tmp_path):
    runs = pa.compute.run_end_encode(pa.array(["a", "a", None]))
    names = {"runs": runs, "view": pa.array(["a", "a", None], pa.string_view()), "json": pa.array(["a", "a", None])}
    names["json"] = pa.ExtensionArray.from_storage(pa.json_(), names["json"])
    write_arrow(pa.table(names), tmp_path / "t.arrow")
    table = open_table(tmp_path / "t.arrow")
    assert set(table.kinds.values()) == {"text"}
    (batch,) = table.batches(table.names)
    assert all(values.tolist() == ["a", "a", None] for values in batch.values())


def test_opening_a_parquet_file_reads_its_footer_and_damage_elsewhere_shows_only_with_the_rows(tmp_path):
    path = tmp_path / "t.parquet"
    pa.parquet.write_table(pa.table({"a": range(1000)}), path)
    content = bytearray(path.read_bytes())
    content[4:200] = bytes(196)
    path.write_bytes(content)
    table = open_table(path)
    assert (table.n_samples, table.kinds["a"]) == (1000, "number")
    with pytest.raises(TableUnreadable) as failure:
        list(table.batches(["a"]))
    assert str(failure.value) == str(TableUnreadable())
    assert isinstance(failure.value, EquipoiseError)
    assert isinstance(failure.value, OSError)
    assert failure.value.__suppress_context__


def test_a_packed_file_that_is_cut_fails_with_a_constant_text(tmp_path):
    numbers = np.random.default_rng(1).integers(10**9, size=50_000).tolist()
    packed = gzip.compress(b"a,b\n" + b"".join(b"%d,1\n" % number for number in numbers))
    table = table_of(tmp_path, packed[:-5000], "t.csv.gz")
    with pytest.raises(TableUnreadable):
        list(table.batches(["a"]))


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.arrow"])
def test_a_file_that_vanishes_after_opening_fails_with_a_constant_text(tmp_path, name):
    table = pa.table({"a": [1], "b": [2]})
    WRITERS.get(name, lambda table, path: path.write_bytes(b"a,b\n1,2\n"))(table, tmp_path / name)
    opened = open_table(tmp_path / name)
    (tmp_path / name).unlink()
    with pytest.raises(TableUnreadable) as failure:
        list(opened.batches(["a"]))
    assert str(tmp_path) not in str(failure.value)


@pytest.mark.parametrize("name", WRITERS)
def test_a_damaged_file_is_refused_or_read_but_never_ends_the_process(tmp_path, name):
    rng = np.random.default_rng(7)
    texts = rng.choice(["a", "bcd", "é"], size=50).tolist()
    columns = {"a": pa.array(range(50)), "b": pa.array(texts), "c": pa.array(texts).dictionary_encode()}
    WRITERS[name](pa.table(columns), tmp_path / name)
    content = (tmp_path / name).read_bytes()
    for _ in range(60):
        damaged = bytearray(content)
        for spot in rng.integers(len(damaged), size=rng.choice([1, 1, 3])):
            damaged[spot] = rng.integers(256)
        (tmp_path / name).write_bytes(damaged)
        with contextlib.suppress(InvalidData, TableUnreadable):
            table = open_table(tmp_path / name)
            for _ in table.batches(table.names):
                pass


def test_an_arrow_file_whose_offsets_leave_their_buffer_is_unreadable(tmp_path):
    write_arrow(pa.table({"b": ["some text", "more"]}), tmp_path / "t.arrow")
    content = (tmp_path / "t.arrow").read_bytes()
    offsets = np.array([0, 9, 13], np.int32).tobytes()
    assert content.count(offsets) == 1
    (tmp_path / "t.arrow").write_bytes(content.replace(offsets, np.array([0, 9, 2**31 - 1], np.int32).tobytes()))
    table = open_table(tmp_path / "t.arrow")
    with pytest.raises(TableUnreadable):
        list(table.batches(["b"]))


# Frames


PANDAS = {
    "objects": (pd.Series([1, "a", None], dtype=object), "unknown", [1, "a", None]),
    "text": (pd.Series(["a", "b", None]), "text", ["a", "b", None]),
    "text with its own missing value": (pd.Series(["a", "b", None], dtype="string"), "text", ["a", "b", None]),
    "many missing values": (pd.Series([pd.NA, pd.NaT, float("nan")], dtype=object), "unknown", [None] * 3),
    "whole numbers": (pd.Series([1, 2, None], dtype="Int64"), "number", [1.0, 2.0, None]),
    "real numbers": (pd.Series([0.5, 2, None], dtype="Float64"), "number", [0.5, 2.0, None]),
    "truth values": (pd.Series([True, False, None], dtype="boolean"), "truth", [True, False, None]),
    "texts as categories": (pd.Series(["a", "b", None], dtype="category"), "text", ["a", "b", None]),
    "numbers as categories": (pd.Series([1, 2, None], dtype="category"), "number", [1, 2, None]),
    "moments": (pd.to_datetime(pd.Series(["2020-02-29", "2021-01-01", None])).astype("M8[s]"), "date", None),
    "Arrow's decimals": (
        pd.Series([decimal.Decimal("1.5"), None, None], dtype=pd.ArrowDtype(pa.decimal128(5, 2))),
        "number",
        [1.5, None, None],
    ),
    "Arrow's codes": (
        pd.Series(["a", "b", None], dtype=pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string()))),
        "text",
        ["a", "b", None],
    ),
}
POLARS = {
    "text": (pl.Series(["a", "b", None]), "text", ["a", "b", None]),
    "categories": (pl.Series(["a", "b", None], dtype=pl.Categorical), "text", ["a", "b", None]),
    "an enumeration": (pl.Series(["a", "b", None], dtype=pl.Enum(["a", "b"])), "text", ["a", "b", None]),
    "whole numbers": (pl.Series([1, 2, None]), "number", [1.0, 2.0, None]),
    "huge whole numbers": (pl.Series([1, 2, None], dtype=pl.Int128), "number", [1.0, 2.0, None]),
    "decimals": (pl.Series([decimal.Decimal("1.5"), None]), "number", [1.5, None]),
    "truth values": (pl.Series([True, False, None]), "truth", [True, False, None]),
    "days": (pl.Series([datetime.date(2020, 2, 29), None]), "day", ["2020-02-29", None]),
    "times": (pl.Series([datetime.time(12, 30), None]), "time", ["12:30:00", None]),
    "durations": (pl.Series([datetime.timedelta(microseconds=5), None]), "duration", ["5", None]),
    "bytes": (pl.Series([b"a", b"\xff", None]), "text", ["a", "\ufffd", None]),
    "nothing": (pl.Series([None, None]), "nothing", [None, None]),
}


@pytest.mark.parametrize(
    ("series", "kind", "values"),
    [*PANDAS.values(), *POLARS.values()],
    ids=[*(f"pandas {case}" for case in PANDAS), *(f"Polars {case}" for case in POLARS)],
)
def test_a_frame_is_read_by_the_types_of_its_columns(series, kind, values):
    frame = pl.DataFrame({"a": series}) if isinstance(series, pl.Series) else pd.DataFrame({"a": series})
    table = FrameTable(frame)
    assert (table.names, table.n_samples, table.kinds["a"]) == (("a",), len(series), kind)
    (batch,) = table.batches(["a"])
    assert plain(batch["a"]) == (values or ["2020-02-29T00:00:00", "2021-01-01T00:00:00", None])
    # The array's type is the column's, whether or not a value is missing.
    (first,) = FrameTable(frame[:1]).batches(["a"])
    assert first["a"].dtype == batch["a"].dtype


def test_an_arrow_table_is_read_as_its_file_is():
    table = FrameTable(everything())
    assert (table.names, table.n_samples, table.source) == (tuple(EXPECTED), 3, "the data frame")
    (batch,) = table.batches(table.names)
    assert {column: plain(values) for column, values in batch.items()} == EXPECTED


class Secret:
    """An object that nobody may look at."""

    def __repr__(self) -> str:
        raise AssertionError("a value was looked at")

    __eq__ = __str__ = __hash__ = __bool__ = __repr__


def test_the_kind_of_a_pandas_column_of_objects_is_not_read_from_its_values():
    assert FrameTable(pd.DataFrame({"a": pd.Series([Secret()], dtype=object)})).kinds["a"] == "unknown"
    # Narwhals would call these text.
    for values in (["a", "b"], [None], []):
        assert FrameTable(pd.DataFrame({"a": pd.Series(values, dtype=object)})).kinds["a"] == "unknown"


def test_large_frames_come_in_batches_and_in_order():
    numbers = np.arange(2 * BATCH_ROWS + 3)
    for frame in (pd.DataFrame({"a": numbers}), pl.DataFrame({"a": numbers}), pa.table({"a": numbers})):
        batches = [batch["a"] for batch in FrameTable(frame).batches(["a"])]
        assert max(map(len, batches)) <= BATCH_ROWS
        assert np.array_equal(np.concatenate(batches), numbers)


FRAMES = {
    "a lazy frame": (lambda: pl.LazyFrame({"a": [1]}), "collect()"),
    "a name that is a number": (lambda: pd.DataFrame([[1]], columns=[1]), "of type int at position 1;"),
    "names of two levels": (
        lambda: pd.DataFrame([[1]], columns=pd.MultiIndex.from_tuples([("a", "b")])),
        "of type tuple",
    ),
    "repeated names in pandas": (
        lambda: pd.DataFrame([[1, 2]], columns=["a", "a"]),
        "several times, at positions 1, 2",
    ),
    "repeated names in Arrow": (lambda: pa.table([[1], [2]], names=["a", "a"]), "several times, at positions 1, 2"),
    "an empty name": (lambda: pd.DataFrame({" ": [1]}), "no name for column 1"),
    "no columns": (pd.DataFrame, "no columns"),
    "lists in Polars": (lambda: pl.DataFrame({"a": [[1]]}), "a (List(Int64))"),
    "structures in Arrow": (lambda: pa.table({"a": [{"b": 1}]}), "a (struct<b: int64>)"),
    "complex numbers": (lambda: pd.DataFrame({"a": [1j]}), "a (complex128)"),
    "periods": (lambda: pd.DataFrame({"a": pd.period_range("2020", "2021", freq="Y")}), "a (period"),
    "a series": (lambda: pd.Series([1]), "of type Series"),
    "an array": (lambda: np.zeros((2, 2)), "of type ndarray"),
    "nothing": (lambda: None, "of type NoneType"),
}


@pytest.mark.parametrize("case", FRAMES)
def test_a_frame_that_is_no_table_of_columns_is_refused_with_a_remedy(case):
    make, says = FRAMES[case]
    with pytest.raises(InvalidData) as refusal:
        FrameTable(make())
    assert says in str(refusal.value)


@pytest.mark.parametrize("person", [31, 8010.5, pd.Timestamp("1970-05-05"), ("Anna", "Muster"), "Anna Muster"], ids=str)
def test_errors_of_names_tell_the_position_of_what_may_be_a_person(person):
    frame = pd.DataFrame([[1, 2, 3]], columns=pd.Index(["buy", person, person], dtype=object, tupleize_cols=False))
    with pytest.raises(InvalidData, match="position") as refusal:
        FrameTable(frame)
    assert not [part for part in ("31", "8010", "1970", "Anna", "Muster") if part in str(refusal.value)]
