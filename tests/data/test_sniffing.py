"""What is proposed of a CSV file's writing, from its first lines, and what is not."""

import gzip

import pyarrow as pa
import pyarrow.parquet
import pytest

from equipoise.data import sniffing
from equipoise.data.files import open_table
from equipoise.data.schema import Schema
from equipoise.data.schema.draft import draft
from equipoise.data.sniffing import propose
from equipoise.errors import InvalidData, SchemaInvalid

FILES = {
    "common": ("age,town\n31,Graz\n3.5,Linz\n", {}),
    "semicolons": ("age;town\n31;Graz\n", {"delimiter": ";"}),
    "semicolons and commas in the header": ("age, years;town, city;x\n31;Graz;1\n", {"delimiter": ";"}),
    "semicolons and decimal commas": ("age;size\n31;1,75\n7;1,2\n", {"delimiter": ";", "decimal": ","}),
    "decimal commas in every value": ("a;b\n3,5;1,75\n2,5;1,25\n", {"delimiter": ";", "decimal": ","}),
    "tabs": ("age\ttown\n31\tGraz, Austria\n", {"delimiter": "\t"}),
    "bars": ("age|town\n31|Graz\n", {"delimiter": "|"}),
    "a bar in a name of a comma file": ("sum|EUR,town\n31,Graz\n7,Linz\n", {}),
    "a semicolon in values": ("age,text\n31,a;b\n7,c;d\n", {}),
    "a header alone": ("age;size;town, city\n", {"delimiter": ";"}),
    "one column": ("age\n31\n", {}),
    "thousands as in English": ('a,b\n"1,234.5",x\n"2,000",y\n', {"thousands": ","}),
    "thousands as in German": ("a;b\n1.234,5;x\n2.000,25;y\n", {"delimiter": ";", "decimal": ",", "thousands": "."}),
    "thousands as in French": ("a;b\n1 234,5;x\n2 000,25;y\n", {"delimiter": ";", "decimal": ",", "thousands": " "}),
    "thousands as in Switzerland": ("a;b\n1'234.5;x\n2'000;y\n", {"delimiter": ";", "thousands": "'"}),
    "dates are no numbers": ("a;b\n31.12.2020;x\n30.11.2020;y\n", {"delimiter": ";"}),
    "single quotes": ("'a','b'\n'1','Graz, Austria'\n", {"quote": "'"}),
    "an apostrophe": ("a,b's\n1,x\n", {}),
    "an unbalanced quote in a row": ('a,b\n"1,2\n3,4\n', {}),
    "only blank lines behind": ("a;b\n\n\r\n", {"delimiter": ";"}),
}


def facts_of(proposal) -> dict[str, object]:
    file = proposal.file
    common = type(file)()
    return {key: getattr(file, key) for key in proposal.reasons if getattr(file, key) != getattr(common, key)}


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "packed"])
@pytest.mark.parametrize("case", FILES)
def test_a_file_is_proposed_as_it_is_written(tmp_path, case, packed):
    content, expected = FILES[case]
    path = tmp_path / ("rows.csv.gz" if packed else "rows.csv")
    path.write_bytes(gzip.compress(content.encode()) if packed else content.encode())
    proposal = propose(path)
    assert facts_of(proposal) == expected
    # What is drafted reads back as what was proposed, and names no value of a row.
    text = draft(open_table(path, file=proposal.file), file_lines=proposal.lines())
    assert Schema.from_text(text).file == proposal.file
    assert "Graz" not in text


# Values of a column in a file of semicolons, and the two ways in which its owner may mean them.
TWO_WAYS = {
    "points": (["999", "1.234", "5.678"], (".", ""), (",", ".")),
    "commas": (["1,234", "5,678"], (",", ""), (".", ",")),
    "a single value": (["7", "1.234"], (".", ""), (",", ".")),
    "one row among many": (["1.234"] * 20 + ["1.5"], (".", ""), (",", ".")),
}
ONE_WAY = {
    "fractions of all lengths": ["1.234", "1.5", "2.25"],
    "fractions of less than one": ["0.123", "0.456"],
    "points and commas": ["1.234,5", "1.234"],
    "more digits": ["1234.567", "2.345"],
    "no marks": ["1", "1234"],
}


@pytest.mark.parametrize("case", TWO_WAYS)
def test_numbers_that_can_be_read_in_two_ways_are_left_to_their_owner(tmp_path, case):
    values, *ways = TWO_WAYS[case]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["a;b", *(f"{value};x" for value in values)]), encoding="utf-8")
    proposal = propose(path)
    text = draft(open_table(path, file=proposal.file), file_lines=proposal.lines())
    schema = Schema.from_text(text)
    assert "file.decimal" in schema.blanks()
    assert "ambiguous" in text
    assert [line for line in proposal.said() if "ambiguous" in line]
    assert 'kind = "number"' in text
    for act in (lambda: open_table(path, file=schema.file), schema.require_complete):
        with pytest.raises(SchemaInvalid, match=r"file\.decimal"):
            act()
    for decimal, thousands in ways:
        filled = text.replace('decimal = ""', f'decimal = "{decimal}"').replace(
            'thousands = ""', f'thousands = "{thousands}"'
        )
        assert "file.decimal" not in Schema.from_text(filled).blanks()


@pytest.mark.parametrize("case", ONE_WAY)
def test_numbers_that_one_way_explains_are_proposed_so(tmp_path, case):
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["a;b", *(f"{value};x" for value in ONE_WAY[case])]), encoding="utf-8")
    proposal = propose(path)
    assert not proposal.blank
    assert Schema.from_text("\n".join(["schema_version = 1", *draft_lines(proposal)])).file == proposal.file


def draft_lines(proposal) -> list[str]:
    columns = ["[columns.a]", 'kind = "unused"', "[columns.b]", 'kind = "hashed"']
    return ['[target]\nname = ""\nclasses = []', *columns, *proposal.lines()]


def test_a_comma_in_quotes_can_be_read_in_two_ways(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text('a,b\n"1,534",ja\n"2,250",nein\n999,ja\n', encoding="utf-8")
    assert propose(path).blank == ("decimal", "thousands")
    # A text with a comma is no number: of these the point is a decimal one.
    path.write_text('a,b\n1.534,"Graz, Linz"\n2.250,nein\n', encoding="utf-8")
    assert propose(path).blank == ()


def test_a_point_in_a_file_of_commas_is_a_decimal_point(tmp_path):
    (tmp_path / "rows.csv").write_text("a,b\n1.234,x\n5.678,y\n")
    assert not propose(tmp_path / "rows.csv").blank


def test_the_draft_says_that_one_row_can_have_decided(tmp_path):
    for name in ("Muller", "Müller"):
        (tmp_path / "rows.csv").write_bytes(f"a;b\n1,5;{name}\n".encode("cp1252"))
        assert "a single row of the first ones can have decided" in "\n".join(propose(tmp_path / "rows.csv").lines())


@pytest.mark.parametrize(
    ("encoding", "expected"),
    [
        ("utf-8", "utf-8"),
        ("utf-8-sig", "utf-8"),
        ("latin-1", "cp1252"),
        ("cp1252", "cp1252"),
        ("utf-16", "utf-16"),
        ("utf-16-le", "utf-16"),
    ],
)
def test_an_encoding_is_proposed_and_its_names_are_read(tmp_path, encoding, expected):
    (tmp_path / "rows.csv").write_bytes("größe;ort\n1,75;Köln\n".encode(encoding))
    proposal = propose(tmp_path / "rows.csv")
    assert proposal.file.encoding == expected
    assert open_table(tmp_path / "rows.csv", file=proposal.file).names == ("größe", "ort")
    assert ("byte-order mark says so" in proposal.reasons["encoding"]) == (encoding in ("utf-8-sig", "utf-16"))


def test_a_character_that_the_first_bytes_cut_is_no_other_encoding(tmp_path, monkeypatch):
    monkeypatch.setattr(sniffing, "HEAD_BYTES", 8)
    (tmp_path / "rows.csv").write_bytes("a;b\nxyz\u00e4;1\n".encode())
    assert propose(tmp_path / "rows.csv").file.encoding == "utf-8"


def test_what_the_owner_says_is_not_proposed_otherwise(tmp_path):
    (tmp_path / "rows.csv").write_text("31;x,y\n7;z,z\n")
    proposal = propose(tmp_path / "rows.csv", ",", header=False)
    assert (proposal.file.delimiter, proposal.file.header) == (",", False)
    assert proposal.reasons["delimiter"] == proposal.reasons["header"] == "as you say"
    assert propose(tmp_path / "rows.csv", header=False).file.delimiter == ";"


def test_a_file_of_another_format_knows_how_it_is_written(tmp_path):
    pyarrow.parquet.write_table(pa.table({"a": [1]}), tmp_path / "rows.parquet")
    assert propose(tmp_path / "rows.parquet") is None


def test_a_file_that_is_not_packed_as_its_name_says_is_refused(tmp_path):
    (tmp_path / "rows.csv.gz").write_bytes(b"a,b\n")
    with pytest.raises(InvalidData, match="gzip"):
        propose(tmp_path / "rows.csv.gz")


@pytest.mark.parametrize("content", [b"", b"\n", b"\0", b"\xff\xfe", b"\r", b'"', b"\xef\xbb\xbf"])
def test_hostile_bytes_end_in_a_refusal(tmp_path, content):
    (tmp_path / "rows.csv").write_bytes(content)
    with pytest.raises(InvalidData):
        open_table(tmp_path / "rows.csv", file=propose(tmp_path / "rows.csv").file)


TABLE = "age;size;town\n31;1,75;Graz\n7;1,25;Linz\n"
# Contents of a file that is called CSV, what is found there, and what to do. The first line is a header or a row.
NO_TABLES = {
    "lines that carriage returns end": (TABLE.replace("\n", "\r").encode(), "carriage returns alone", "end each line"),
    "a workbook": (b'PK\x03\x04\x14\0\x06\0\x08\0\n\0!\0a\rb,"c\n\r;', "archive", "rename a workbook to .xlsx"),
    "an old workbook": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0\n\r", "old workbook", "save it as .xlsx"),
    "a packed file": (gzip.compress(TABLE.encode()), "gzip", "rename it to .csv.gz"),
    **{
        f"{encoding}, {case}": (text.encode(encoding), "UTF-32", "save the file as UTF-8")
        for encoding in ("utf-32", "utf-32-le", "utf-32-be")
        for case, text in (("\\n", TABLE), ("\\r\\n", TABLE.replace("\n", "\r\n")))
    },
    "a carriage return in the first line": (b"a;b\rc;d\n1;2;3\n4;5;6\n", "carriage return inside", "on one line"),
    "a very long text": (b"a;" + b"b" * 200_000 + b";c\n1;2;3\n4;5;6\n", "more than 131,072 char", "shorter"),
    "an open quote": (b'a;"b;c\n1;2;3\n4;5;6\n', "unbalanced quote", "in a pair of quotes or in none"),
    "a zero in the first line": (b"a;b\0b;c\n1;2;3\n4;5;6\n", "a zero byte", "delete the zero bytes"),
}


@pytest.mark.parametrize("header", [True, False], ids=["names", "a row"])
@pytest.mark.parametrize("case", NO_TABLES)
def test_what_is_no_table_is_refused_by_what_it_is(tmp_path, case, header):
    content, found, remedy = NO_TABLES[case]
    (tmp_path / "rows.csv").write_bytes(content)
    with pytest.raises(InvalidData, match=found) as refusal:
        propose(tmp_path / "rows.csv", header=header)
    assert remedy in refusal.value.remedy
    assert "utf-16" not in str(refusal.value)


def test_a_row_that_is_none_takes_no_part_in_a_proposal(tmp_path):
    (tmp_path / "rows.csv").write_bytes(b'a\n1,5\n"\r2\n')
    assert propose(tmp_path / "rows.csv", ";").file.decimal == ","


@pytest.mark.parametrize("rows", ["31;1,75;Graz\n7;1,25;Linz\n", "31;2;Graz\n7;3;Linz\n"], ids=["commas", "none"])
def test_a_delimiter_that_the_file_has_not_is_refused_with_the_one_that_it_has(tmp_path, rows):
    (tmp_path / "rows.csv").write_text(f"age;size;town\n{rows}")
    with pytest.raises(InvalidData, match="pass --delimiter ';'"):
        propose(tmp_path / "rows.csv", ",")


OTHER_WIDTHS = {
    "a title": "People of Graz\nage;town\n31;Graz\n7;Linz\n",
    "a title with a comma": "People, of Graz\nage;town;x\n31;Graz;1\n7;Linz;2\n8;Wels;3\n",
    "row numbers without a name": "age,town\n1,31,Graz\n2,7,Linz\n",
    "delimiters at the end of rows": "age,town\n31,Graz,\n7,Linz,\n",
    "decimal commas between commas": "age,size\n31,1,75\n7,1,25\n",
}


@pytest.mark.parametrize("told", [False, True], ids=["nobody says the delimiter", "somebody says it"])
@pytest.mark.parametrize("case", OTHER_WIDTHS)
def test_a_first_line_of_another_width_than_most_others_is_refused_and_no_value_is_told(tmp_path, case, told):
    path = tmp_path / "rows.csv"
    path.write_text(OTHER_WIDTHS[case], encoding="utf-8")
    delimiter = ";" if "title" in case else ","
    with pytest.raises(InvalidData, match="another number of values") as refusal:
        propose(path, delimiter if told else None)
    assert "Graz" not in str(refusal.value)


def test_some_lines_of_another_width_are_no_reason_to_refuse(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("age,town\n31,Graz\n7,Linz,Austria\n", encoding="utf-8")
    assert propose(path).file.delimiter == ","
