"""`[file]`: how a text file is written, as a public fact, and that every value is read by it alone."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import equipoise as eq
from equipoise.data.encoded import encoded_table
from equipoise.data.encoder import Encoder
from equipoise.data.files import open_table
from equipoise.data.schema import FileFormat, NumberColumn, Schema, Target
from equipoise.data.schema.numerals import KNOWN, Numerals
from equipoise.data.texts import Texts, padded
from equipoise.errors import InvalidData, SchemaInvalid
from sample_schemas import EXAMPLE

COMMON = '[file]\ndelimiter = ","\ndecimal = "."\nthousands = ""\nquote = "\\""\nencoding = "utf-8"\nheader = true\n'


def test_what_most_files_have_is_not_written_so_that_older_digests_stay():
    plain = Schema.from_text(EXAMPLE)
    assert "[file]" not in plain.to_toml()
    assert Schema.from_text(COMMON.join(EXAMPLE.split("[target]", 1)).replace(COMMON, f"{COMMON}[target]")) == plain
    # Fixed when schemas had no table [file].
    assert plain.digest == "fb0c4f14861861791899abbf0022a0482db812e7037dd3d021c85753632b40e3"


def test_what_a_file_has_of_its_own_is_part_of_the_canonical_text():
    text = (
        '[file]\ndelimiter = ";"\ndecimal = ","\nthousands = "."\nquote = "\'"\nencoding = "latin-1"\nheader = false\n'
    )
    schema = Schema.from_text(EXAMPLE.replace("[target]", f"{text}[target]"))
    assert text in schema.to_toml()
    assert Schema.from_text(schema.to_toml()) == schema
    assert schema.digest != Schema.from_text(EXAMPLE).digest
    # A line has as many values as the schema has columns: three, and the target.
    assert schema.file == FileFormat(";", ",", ".", "'", "latin-1", False, 4)


FAULTS = {
    'delimiter = ";;"': "file.delimiter",
    'delimiter = "\\n"': "file.delimiter",
    "delimiter = 7": "file.delimiter",
    'decimal = ";"': "file.decimal",
    "decimal = []": "file.decimal",
    'thousands = "x"': "file.thousands",
    'thousands = "."': "another mark than decimal, or none: .*--file thousands=",
    'quote = "x"': "file.quote",
    'quote = "\'"\ndelimiter = "\'"': "another character than delimiter",
    'encoding = "utf-32"': "file.encoding",
    'encoding = "no such"': "file.encoding",
    'encoding = "hex"': "file.encoding",
    "encoding = 8": "file.encoding",
    'header = "no"': "file.header",
    "columns = 3": "file.columns: no such key",
}


@pytest.mark.parametrize("lines", FAULTS)
def test_a_fault_is_told_with_its_place(lines):
    with pytest.raises(SchemaInvalid, match=FAULTS[lines]):
        Schema.from_text(EXAMPLE.replace("[target]", f"[file]\n{lines}\n[target]"))


def test_encodings_go_by_their_usual_names():
    names = ["UTF-8", "utf8", "utf-8-sig", "latin1", "iso-8859-1", "windows-1252", "UTF16"]
    found = [FileFormat(encoding=name).encoding for name in names]
    assert found == ["utf-8"] * 3 + ["latin-1"] * 2 + ["cp1252", "utf-16"]


# Numbers

NUMBERS = {
    Numerals(",", ""): {"3,5": 3.5, "-0,25": -0.25, "1e3": 1000.0, "3.5": None, "1.234": None, " 7 ": 7.0, "1_0": None},
    Numerals(",", "."): {"1.234.567,5": 1234567.5, "1.5": None, "12.34": None, "0.125": None, "1234,5": 1234.5},
    Numerals(".", ","): {"1,234.5": 1234.5, "1,5": None, ",5": None, "1,2345": None, "-1,000": -1000.0, "12,34": None},
    Numerals(",", " "): {"1 234,5": 1234.5, "1\u00a0234": 1234.0, "1\u202f234": 1234.0, " 5 ": 5.0, "5 kg": None},
    Numerals(".", "'"): {"1'234.5": 1234.5, "1\u2019234": 1234.0, "'5'": None},
}


@pytest.mark.parametrize("way", NUMBERS, ids=str)
def test_a_number_is_read_as_the_file_says_that_it_is_written(way):
    found = {text: way.number_of(text) for text in NUMBERS[way]}
    assert {text: None if np.isnan(number) else number for text, number in found.items()} == NUMBERS[way]


pieces = st.sampled_from(
    ["1", "0", "23", "456", ".", ",", "'", " ", "_", "-", "+", "e", "!", "x", "\u00a0", "\u2019", "\x1c"]
)


@given(st.lists(st.none() | st.lists(pieces, max_size=9).map("".join), max_size=12), st.sampled_from(KNOWN))
@example(["1.456,23", " 1,5 ", "1_000", "!", None, "", " "], Numerals(",", "."))
@settings(max_examples=300, deadline=None)
def test_the_compiled_loop_reads_what_the_rule_reads_in_each_text_alone(texts, way):
    contents = [(text or "").encode() for text in texts]
    ends = np.cumsum([len(content) for content in contents], dtype=np.int64)
    starts = ends - np.array([len(content) for content in contents], dtype=np.int64)
    starts[[text is None for text in texts]] = -1
    found = Texts(padded(*contents), starts, ends, way)
    expected = np.array([way.number_of(text) for text in texts], dtype=np.float64)
    np.testing.assert_array_equal(found.numbers(), expected)
    # Some of them, and some of them more than once, are read in the same way.
    np.testing.assert_array_equal(found[::-1].numbers(), expected[::-1])
    places = np.arange(len(texts) + 1)
    np.testing.assert_array_equal(found.taken(places).numbers(), [*expected, np.nan])


SCHEMA = Schema(
    3,
    (NumberColumn("größe", (0, 10)),),
    Target("ort", classes=("Graz; Süd", "Wien")),
    file=FileFormat(";", ",", ".", encoding="cp1252"),
)
LINES = 'größe;ort\n1,75;"Graz; Süd"\n1.000,5;Wien\n3.5;Wien\n'


@pytest.mark.parametrize("engine", ["memory", "stream"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "cp1252", "utf-16", "utf-16-le"])
@pytest.mark.parametrize("quote", ['"', "'"])
def test_every_engine_and_encoding_gives_the_same_rows(tmp_path, engine, encoding, quote):
    (tmp_path / "rows.csv").write_bytes(LINES.replace('"', quote).encode(encoding))
    known = "utf-16" if encoding == "utf-16-le" else encoding
    schema = Schema(3, SCHEMA.columns, SCHEMA.target, file=FileFormat(";", ",", ".", quote, known))
    table = eq.open_table(tmp_path / "rows.csv", engine=engine, schema=schema)
    encoder, found = Encoder(schema), {}
    # Workers get a table by pickle.
    for kept in (table, pickle.loads(pickle.dumps(table))):  # noqa: S301 - our own bytes
        (batch,) = kept.batches(table.names)
        found = {name: encoder.read(name, values).tolist() for name, values in batch.items()}
        assert str(found) == "{'größe': [1.75, 1000.5, nan], 'ort': [0, 1, 1]}"


def test_a_file_that_quotes_nothing_keeps_its_quotes(tmp_path):
    (tmp_path / "rows.csv").write_text('a,b\n5" pipe,"x\n')
    (batch,) = open_table(tmp_path / "rows.csv", file=FileFormat(quote="")).batches(["a", "b"])
    assert [values.tolist() for values in batch.values()] == [['5" pipe'], ['"x']]


@given(st.lists(st.binary(max_size=12).map(lambda line: line.replace(b"\n", b"")), min_size=1, max_size=5), st.data())
@settings(max_examples=100, deadline=None)
@pytest.mark.parametrize("encoding", ["latin-1", "cp1252"])
def test_the_bytes_of_a_line_change_no_other_row_in_other_encodings(tmp_path_factory, encoding, body, data):
    path = tmp_path_factory.mktemp("rows") / "rows.csv"
    spot = data.draw(st.integers(0, len(body) - 1))
    found = []
    for lines in (body, [*body[:spot], b"1,2", *body[spot + 1 :]]):
        path.write_bytes(b"\n".join([b"a,b", *lines, b"3,4"]))
        batches = open_table(path, file=FileFormat(encoding=encoding)).batches(["a", "b"])
        found.append([row for batch in batches for row in zip(*map(list, batch.values()), strict=True)])
    assert len(found[0]) == len(found[1]) == len(body) + 1
    assert [row for place, row in enumerate(found[0]) if place != spot] == [
        row for place, row in enumerate(found[1]) if place != spot
    ]


def test_half_a_character_of_utf_16_swallows_no_line_end(tmp_path):
    (tmp_path / "rows.csv").write_bytes(
        "a\n".encode("utf-16") + b"\x00\xd8" + "\nx\n".encode("utf-16-le") + b"\x00\xdc"
    )
    (batch,) = open_table(tmp_path / "rows.csv", file=FileFormat(encoding="utf-16")).batches(["a"])
    assert batch["a"].tolist() == ["\ufffd", "x", "\ufffd"]


def test_a_table_that_was_opened_otherwise_than_the_schema_says_is_refused(tmp_path):
    (tmp_path / "rows.csv").write_text("größe;ort\n1,75;Wien\n", encoding="utf-8")
    schema = Schema(1, SCHEMA.columns, SCHEMA.target, file=FileFormat(";", ","))
    with pytest.raises(InvalidData, match="schema=schema"):
        encoded_table(schema, eq.open_table(tmp_path / "rows.csv", ";"), 1)
    encoded_table(schema, eq.open_table(tmp_path / "rows.csv", schema=schema), 1)
    # A file of the same numbers may have another delimiter.
    (tmp_path / "rows.csv").write_text("größe|ort\n1,75|Wien\n", encoding="utf-8")
    encoded_table(schema, eq.open_table(tmp_path / "rows.csv", "|", schema=schema), 1)


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252"])
def test_a_file_that_is_marked_as_utf_8_is_not_read_as_the_schema_says(tmp_path, encoding):
    (tmp_path / "rows.csv").write_text("Größe;Ort\n1,75;Köln\n", encoding="utf-8-sig")
    file = FileFormat(";", ",", encoding=encoding)
    with pytest.raises(InvalidData, match="the mark at its beginning") as refusal:
        open_table(tmp_path / "rows.csv", file=file)
    assert 'encoding = "utf-8"' in refusal.value.remedy
    # Of new rows a released schema says so, which nobody can correct any more.
    table = open_table(tmp_path / "rows.csv", file=replace(file, published=False))
    assert table.names == ("Größe", "Ort")
    (batch,) = table.batches(["Ort"])
    assert batch["Ort"].tolist() == ["Köln"]


@pytest.mark.parametrize("classes", [(0.5, 1.5), (1, 1.5)])
def test_classes_with_fractions_are_the_texts_of_a_file_with_decimal_commas(tmp_path, classes):
    (tmp_path / "rows.csv").write_text("x;y\n1,5;0,5\n2,5;1,5\n", encoding="utf-8")
    columns = (NumberColumn("x", (0, 5)),)
    facts = {"vouched_by": "A", "vouched_on": "2026-11-16", "file": FileFormat(";", ",")}
    schema = Schema(2, columns, Target("y", classes=classes), **facts)
    raw = open_table(tmp_path / "rows.csv", file=schema.file)
    with pytest.raises(InvalidData, match=r"in quotes: .*1,5") as refusal:
        encoded_table(schema, raw, 2)
    assert "1.5" in refusal.value.found
    for others in ((0, 1), ("0,5", "1,5")):
        encoded_table(Schema(2, columns, Target("y", classes=others), **facts), raw, 2)
