import math
import struct
import zipfile

import numpy as np
import pytest
from typer.testing import CliRunner

from equipoise.cli.schema import group as schema_commands
from equipoise.data import excel_table
from equipoise.data import workbook as workbooks
from equipoise.data.diagnosis import check_table
from equipoise.data.encoded import encoded_table
from equipoise.data.engines import open_table
from equipoise.data.excel_table import ExcelTable
from equipoise.data.schema import Schema
from equipoise.data.schema.draft import draft
from equipoise.errors import InvalidData, InvalidParameter, SchemaInvalid, TableUnreadable
from sample_workbooks import MAIN, parts_of, workbook, zipped

HEADER = ("age", "job")
LONG = "9" * 17

SCHEMA = """schema_version = 1
n = 3
vouched_by = "A. Officer"
vouched_on = 2026-11-16
[target]
name = "ill"
classes = ["no", "yes"]
[columns.age]
kind = "number"
bounds = [0, 100]
[columns.born]
kind = "date"
parts = ["year", "hour"]
years = [1900, 2030]
[columns.smoker]
kind = "yes-no"
[columns.stage]
kind = "category"
levels = ["1", "2"]
unknown = "1"
"""


def opened(folder, data, **options):
    path = folder / "people.xlsx"
    path.write_bytes(data)
    return open_table(path, **options)


def column(table, name="age"):
    return [value for batch in table.batches([name]) for value in batch[name].tolist()]


VALUES = {
    "a number": ("<c><v>31.5</v></c>", 31.5),
    "a number in blanks": ("<c><v> 12 </v></c>", 12.0),
    "a long whole number": (f"<c><v>{LONG}</v></c>", int(LONG)),
    "no number": ('<c t="n"><v>many</v></c>', math.nan),
    "NaN": ("<c><v>NaN</v></c>", math.nan),
    "a number that no float holds": ("<c><v>1e999</v></c>", math.inf),
    "a text in its place": ('<c t="inlineStr"><is><t xml:space="preserve"> a &amp; b </t></is></c>', " a & b "),
    "a text in two fonts": ('<c t="inlineStr"><is><r><t>nu</t></r><r><t>rse</t></r></is></c>', "nurse"),
    "a shared text": ('<c t="s"><v>1</v></c>', "nurse"),
    "a shared text with its pronunciation": ('<c t="s"><v>2</v></c>', "看護師"),
    "a shared text that is not there": ('<c t="s"><v>3</v></c>', None),
    "a shared text before the first": ('<c t="s"><v>-1</v></c>', None),
    "a shared text of no number": ('<c t="s"><v>²</v></c>', None),
    "the text of a formula": ('<c t="str"><f>A2&amp;"x"</f><v>31x</v></c>', "31x"),
    "a formula without a result": ("<c><f>1+1</f></c>", None),
    "true": ('<c t="b"><v>1</v></c>', True),
    "neither true nor false": ('<c t="b"><v>2</v></c>', None),
    "an error": ('<c t="e"><v>#N/A</v></c>', None),
    "an error of a later Excel": ('<c t="e"><v>#SPILL!</v></c>', None),
    "an unknown type": ('<c t="new"><v>1</v></c>', None),
    "a date": ('<c s="1"><v>43890</v></c>', "2020-02-29"),
    "a date and a time": ('<c s="1"><v>43890.75</v></c>', "2020-02-29 18:00:00"),
    "the second before midnight, nearly": ('<c s="1"><v>43890.9999999</v></c>', "2020-03-01"),
    "a date as text": ('<c t="d"><v>2020-02-29</v></c>', "2020-02-29"),
    "the first day": ('<c s="1"><v>1</v></c>', "1900-01-01"),
    "the last day": ('<c s="1"><v>2958465</v></c>', "9999-12-31"),
    "the end of the last day": ('<c s="1"><v>2958465.9999999</v></c>', None),
    "a day before all": ('<c s="1"><v>-1</v></c>', None),
    "a day after all": ('<c s="1"><v>1e300</v></c>', None),
    "a date that is none": ('<c s="1"><v>soon</v></c>', None),
    "a time of day": ('<c s="3"><v>0.5</v></c>', "12:00:00"),
    "midnight, nearly": ('<c s="3"><v>0.9999999</v></c>', "23:59:59"),
    "a duration": ('<c s="2"><v>1.5</v></c>', 1.5),
    "a very long duration": ('<c s="2"><v>-1e300</v></c>', -1e300),
    "a number with a unit": ('<c s="4"><v>1.5</v></c>', 1.5),
    "an unknown style": ('<c s="99"><v>1</v></c>', 1.0),
    "nothing": ("<c/>", None),
    "a place in no sheet": ('<c r="ABCD2"><v>1</v></c>', None),
    "twice": ('<c r="A2"><v>1</v></c><c r="A2"><v>2</v></c>', 2.0),
    "cells in another order": ('<c r="B2"><v>1</v></c><c r="A2"><v>2</v></c>', 2.0),
    "a cell inside a cell": ("<c><v>1</v><c><v>2</v></c></c>", None),
}
TEXTS = (
    "<si><t>none</t></si>",
    "<si><r><t>nu</t></r><r><t>rse</t></r></si>",
    '<si><t>看護師</t><rPh sb="0" eb="3"><t>カンゴシ</t></rPh></si>',
)


@pytest.mark.parametrize("case", VALUES)
def test_a_cell_is_read_by_its_own_rule_and_moves_no_other_row(tmp_path, case):
    cells, expected = VALUES[case]
    table = opened(tmp_path, workbook(HEADER, f"<row>{cells}</row>", (52, "clerk"), texts=TEXTS))
    assert (table.names, table.n_samples, set(table.kinds.values())) == (HEADER, None, {"unknown"})
    first, second = column(table)
    np.testing.assert_equal(first, expected)
    assert type(first) is type(expected)
    assert second == 52.0
    assert column(table, "job")[1] == "clerk"


def test_a_text_that_is_too_long_is_missing(tmp_path, monkeypatch):
    monkeypatch.setattr(workbooks, "LONGEST_TEXT", 9)
    shared = '<c t="s"><v>0</v></c>'
    rows = (("a" * 9,), ("a" * 10,), (shared,), (1,))
    assert column(opened(tmp_path, workbook(("age",), *rows, texts=[f"<si><t>{'b' * 10}</t></si>"]))) == [
        "a" * 9,
        None,
        None,
        1.0,
    ]


def test_a_format_of_any_length_is_looked_at_in_no_time(tmp_path):
    parts = parts_of(("age",), ('<c s="2"><v>1</v></c>',))
    parts["xl/styles.xml"] = parts["xl/styles.xml"].replace("[h]:mm:ss", "yyyy" + "[" * 300_000)
    assert column(opened(tmp_path, zipped(parts))) == [1.0]


def test_days_may_be_counted_from_1904(tmp_path):
    data = workbook(("age",), ('<c s="1"><v>42428</v></c>',), book='<workbookPr date1904="1"/>')
    assert column(opened(tmp_path, data)) == ["2020-02-29"]


def test_prefixes_of_names_in_the_xml_are_read_over(tmp_path):
    parts = parts_of()
    parts["xl/worksheets/sheet1.xml"] = (
        f'<x:worksheet xmlns:x="{MAIN}"><x:sheetData><x:row r="1"><x:c r="A1" t="str"><x:v>age</x:v></x:c></x:row>'
        '<x:row r="2"><x:c r="A2"><x:v>7</x:v></x:c></x:row></x:sheetData></x:worksheet>'
    )
    assert column(opened(tmp_path, zipped(parts))) == [7.0]


def test_a_row_keeps_its_place_and_empty_ones_at_the_end_are_none(tmp_path):
    rows = (
        '<row r="3"><c r="A3"><v>3</v></c></row>',
        '<row r="4"><c r="A4" t="e"><v>#N/A</v></c></row>',
        '<row r="6"><c r="B6"><v>6</v></c></row>',
        '<row r="7"><c r="A7" s="1"/></row>',
        # Beside the named columns stands no value of the table, however far.
        '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>',
    )
    table = opened(tmp_path, workbook(HEADER, *rows))
    assert column(table) == [None, 3.0, None, None, None]
    assert column(table, "job") == [None, None, None, None, 6.0]


@pytest.mark.parametrize("values", [2, 3, 100])
def test_what_a_batch_holds_changes_no_row(tmp_path, monkeypatch, values):
    table = opened(tmp_path, workbook(HEADER, *((place, "x") for place in range(7))))
    monkeypatch.setattr(excel_table, "BATCH_VALUES", values)
    batches = list(table.batches(HEADER))
    assert max(len(batch["age"]) for batch in batches) == max(1, min(7, values // 2))
    assert column(table) == list(map(float, range(7)))


NO_NAMES = {
    "a number": (("age", 31), "position 2"),
    "a number as text": (("31", "job"), "position 1"),
    "a date": (("age", '<c s="1"><v>43890</v></c>'), "position 2"),
    "a date as text": (("age", "29.02.2020"), "position 2"),
    "a truth value": ((True, "job"), "position 1"),
    "nothing between": (("age", None, "job"), "position 2"),
    "twice": (("age", "job", "age"), "positions 1, 3"),
    "twice but for blanks": (("age", " age "), "positions 1, 2"),
    "nothing": ((), "an empty first row"),
}


@pytest.mark.parametrize("case", NO_NAMES)
def test_a_first_row_that_may_be_a_person_is_refused_by_position_alone(tmp_path, case):
    row, found = NO_NAMES[case]
    with pytest.raises(InvalidData) as refusal:
        opened(tmp_path, workbook(row, (52, "clerk")))
    assert found in refusal.value.found
    assert "first row of the sheet" in refusal.value.remedy
    assert not [word for word in ("31", "2020", "age", "True") if word in str(refusal.value)]


def test_names_below_the_first_row_are_refused(tmp_path):
    with pytest.raises(InvalidData, match="an empty first row"):
        opened(tmp_path, workbook('<row r="3"><c t="str"><v>age</v></c></row>', (1,)))
    with pytest.raises(InvalidData, match="an empty first row"):
        opened(tmp_path, workbook())


def test_columns_beyond_the_last_name_are_left_out(tmp_path):
    assert opened(tmp_path, workbook(("age", None, None), (1, 2, 3))).names == ("age",)


def test_the_only_sheet_with_rows_counts_or_the_one_that_the_schema_names(tmp_path):
    facts = SCHEMA.replace("[target]", '[file]\nsheet = "Second"\n[target]')
    schema = Schema.from_text(facts)
    assert '\n[file]\nsheet = "Second"\n' in schema.to_toml()
    assert Schema.from_text(schema.to_toml()) == schema
    assert "[file]" not in Schema.from_text(SCHEMA).to_toml()
    data = workbook(("age",), (1,), other_sheets=[("Second", (("years",), (2,)))])
    assert column(opened(tmp_path, data, schema=schema), "years") == [2.0]
    alone = workbook(("age",), (1,), other_sheets=[("Second", ()), ("Third", ())])
    assert column(opened(tmp_path, alone)) == [1.0]
    with pytest.raises(InvalidData, match="or another sheet"):
        encoded_table(schema, opened(tmp_path, alone), 3)
    with pytest.raises(InvalidData, match=r"chosen by its name; found: several: Table, Second; to do: .*--sheet NAME"):
        opened(tmp_path, data)
    with pytest.raises(InvalidData, match="the sheets Table"):
        opened(tmp_path, workbook(("age",)), schema=schema)


def test_a_schema_of_a_file_without_a_header_is_refused(tmp_path):
    facts = SCHEMA.replace("[target]", "[file]\nheader = false\n[target]")
    with pytest.raises(InvalidData, match="header = false"):
        opened(tmp_path, workbook(("age",), (1,)), schema=Schema.from_text(facts))


def test_a_workbook_without_a_sheet_of_cells_is_refused(tmp_path):
    parts = parts_of()
    parts["xl/_rels/workbook.xml.rels"] = parts["xl/_rels/workbook.xml.rels"].replace("/worksheet", "/chartsheet")
    with pytest.raises(InvalidData, match="no sheet with cells"):
        opened(tmp_path, zipped(parts))


def altered(name, change):
    parts = parts_of(HEADER, (31, "nurse"), texts=TEXTS)
    parts[name] = change(parts[name])
    return zipped(parts)


def with_tail(data, place, value):
    """Return a zip with another number in its tail."""
    return data[: place - 22] + struct.pack("<L", value) + data[place - 22 + 4 :]


def with_directory(data, offset, value):
    """Return a zip with another number in the list's entry of its last member."""
    place = data.rindex(b"PK\1\2") + offset
    return data[:place] + struct.pack("<L", value) + data[place + 4 :]


SHEET = "xl/worksheets/sheet1.xml"
TABLE = '<sheet name="Table" sheetId="2" r:id="rId1"/>'
GOOD = workbook(HEADER, (31, "nurse"))
LAUGHS = '<!DOCTYPE x [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;">]>'
HOSTILE = {
    "empty": b"",
    "no zip": b"PK\3\4",
    "a file with a password": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600),
    "cut": GOOD[:-1],
    "a tail alone": GOOD[-22:],
    "a comment": GOOD[:-2] + b"\1\0x",
    "a list of members of another size": with_tail(GOOD, 12, 2**32 - 1),
    "a list of very many members": with_tail(GOOD, 12, workbooks.LARGEST_DIRECTORY + 1),
    "the list of a larger zip": GOOD[:-22] + b"PK\6\7" + bytes(16) + GOOD[-22:],
    "a member that is larger than it says": with_directory(GOOD, 24, 10),
    "a member that claims to be huge": with_directory(GOOD, 24, 2**31),
    "a member of another packing": zipped(parts_of(HEADER), zipfile.ZIP_BZIP2),
    "an encrypted member": with_directory(GOOD, 8, 1),
    "much of nothing": altered(SHEET, lambda text: text.replace("<row>", " " * 2**22 + "<row>")),
    "no workbook": zipped({"a.txt": "x"}),
    "no part of that name": altered("_rels/.rels", lambda text: text.replace("workbook.xml", "book.xml")),
    "broken XML": altered(SHEET, lambda text: text.replace("</row>", "")),
    "no XML": altered("xl/sharedStrings.xml", lambda text: "texts"),
    "broken styles": altered("xl/styles.xml", lambda text: text[:-5]),
    "entities": altered(SHEET, lambda text: LAUGHS + text),
    "entities in texts": altered("xl/sharedStrings.xml", lambda text: LAUGHS + text),
    "tags in tags": altered(SHEET, lambda text: text.replace("<row>", "<row>" + "<a>" * 200 + "</a>" * 200)),
    "an unknown entity": altered(SHEET, lambda text: text.replace("nurse", "&b;")),
    "rows that fall": altered(SHEET, lambda text: text.replace("<row>", '<row r="2">')),
    "a row beyond every sheet": altered(SHEET, lambda text: text.replace("<row>", '<row r="1048577">')),
    "a row of no number": altered(SHEET, lambda text: text.replace("<row>", '<row r="²">')),
    "a sheet twice": altered("xl/workbook.xml", lambda text: text.replace("</sheets>", f"{TABLE}</sheets>")),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_file_that_is_no_workbook_is_refused_in_one_constant_text(tmp_path, case):
    with pytest.raises(InvalidData) as refusal:
        opened(tmp_path, HOSTILE[case])
    assert refusal.value.asked == "a workbook of Excel"
    assert "damaged" in refusal.value.found
    assert refusal.value.__cause__ is None


def test_two_members_of_one_name_are_refused(tmp_path):
    parts = parts_of(HEADER)
    twice = zipped(parts | {SHEET.replace("sheet1", "sheet2"): "<worksheet/>"}).replace(b"/sheet2.xml", b"/sheet1.xml")
    with pytest.raises(InvalidData, match="damaged"):
        opened(tmp_path, twice)


@pytest.mark.parametrize(
    ("limit", "value"), [("LARGEST_BOOK", 1000), ("LARGEST_TEXTS", 50), ("LARGEST_PART", 50), ("LARGEST_DIRECTORY", 99)]
)
def test_what_is_beyond_a_limit_is_refused_before_it_is_read(tmp_path, monkeypatch, limit, value):
    assert opened(tmp_path, GOOD).names == HEADER
    monkeypatch.setattr(workbooks, limit, value)
    with pytest.raises(InvalidData, match="far too large once unpacked"):
        opened(tmp_path, GOOD)


def test_a_tag_without_an_end_is_not_held(tmp_path, monkeypatch):
    monkeypatch.setattr(workbooks, "PIECE", 64)
    monkeypatch.setattr(workbooks, "LONGEST_TAG", 256)
    data = workbook(HEADER, f'<row r="2" spans="{"1" * 999}"><c><v>1</v></c></row>')
    with pytest.raises(TableUnreadable):
        column(opened(tmp_path, data))
    assert column(opened(tmp_path, workbook(HEADER, ("a" * 999, None)))) == ["a" * 999]


DAMAGED = {
    "broken XML": lambda text: text.replace("</sheetData>", ""),
    "rows that fall": lambda text: text.replace("</sheetData>", '<row r="1"/></sheetData>'),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_damage_behind_the_first_row_is_a_constant_failure(tmp_path, monkeypatch, case):
    monkeypatch.setattr(workbooks, "PIECE", 64)
    parts = parts_of(HEADER, *((place, "x") for place in range(50)))
    parts[SHEET] = DAMAGED[case](parts[SHEET])
    table = opened(tmp_path, zipped(parts))
    with pytest.raises(TableUnreadable) as failure:
        column(table)
    assert str(failure.value) == str(TableUnreadable())
    assert failure.value.__cause__ is None


def test_a_workbook_that_vanishes_is_a_constant_failure(tmp_path):
    table = opened(tmp_path, GOOD)
    (tmp_path / "people.xlsx").unlink()
    with pytest.raises(TableUnreadable):
        column(table)


@pytest.mark.parametrize("engine", ["stream", "dask", "spark"])
def test_engines_that_read_again_and_again_refuse_workbooks(tmp_path, engine):
    with pytest.raises(InvalidData, match="Parquet"):
        opened(tmp_path, GOOD, engine=engine)


@pytest.mark.parametrize("suffix", [".xls", ".xlsb", ".ods"])
def test_other_spreadsheets_are_refused_with_a_remedy(tmp_path, suffix):
    path = tmp_path / f"people{suffix}"
    path.write_bytes(GOOD)
    with pytest.raises(InvalidData, match=r"save it as \.xlsx"):
        open_table(path)


PEOPLE = (
    ("age", "born", "smoker", "stage", "ill"),
    (31, '<c s="1"><v>32874.25</v></c>', True, 2, "yes"),
    ("52.5", "1973-05-06 18:00", "nein", "2", "no"),
    (None, '<c t="e"><v>#REF!</v></c>', "?", 7, None),
)
AS_TEXT = "age,born,smoker,stage,ill\n31,1990-01-01 06:00,true,2,yes\n52.5,1973-05-06 18:00,nein,2,no\n,,?,7,\n"


def test_a_workbook_is_encoded_as_the_same_table_in_csv(tmp_path):
    schema = Schema.from_text(SCHEMA)
    (tmp_path / "people.csv").write_text(AS_TEXT)
    tables = opened(tmp_path, workbook(*PEOPLE)), open_table(tmp_path / "people.csv")
    assert isinstance(tables[0], ExcelTable)
    sheet, text = (encoded_table(schema, table, 3) for table in tables)
    np.testing.assert_array_equal(sheet.features.read(), text.features.read())
    assert sheet.target.read().tolist() == text.target.read().tolist()


def test_a_draft_guesses_kinds_from_cells(tmp_path):
    text = draft(opened(tmp_path, workbook(*PEOPLE)))
    kinds = {column: text.partition(f"[columns.{column}]\nkind = ")[2].split()[0] for column in ("age", "born", "ill")}
    assert kinds == {"age": '"number"', "born": '"date"', "ill": '"yes-no"'}


def test_a_column_of_true_and_false_is_drafted_as_answers(tmp_path):
    text = draft(opened(tmp_path, workbook(("age", "smoker"), (31, True), (52, False), (40, True))))
    assert '[columns.smoker]\nkind = "yes-no"' in text


GERMAN = SCHEMA.replace("[target]", '[file]\ndecimal = ","\nthousands = "."\n[target]').replace("[0, 100]", "[0, 2000]")


def test_numbers_in_texts_are_read_as_the_file_table_says_and_as_in_csv(tmp_path):
    texts = ("1,53", "1.234,5", "12.5", "x", "-999")
    rows = [(text, "1,5", "ja", "1,5", "no") for text in (*texts, 2.5, None, True)]
    facts = GERMAN.replace('levels = ["1", "2"]\nunknown = "1"', 'levels = ["1,5", "2.5"]\nunknown = "2.5"')
    schema = Schema.from_text(facts.replace("n = 3", "n = 8"))
    table = opened(tmp_path, workbook(PEOPLE[0], *rows), schema=schema)
    (tmp_path / "people.csv").write_text(
        "\n".join([",".join(PEOPLE[0]), *(f'"{text}","1,5",ja,"1,5",no' for text in (*texts, "2,5", "", "1"))])
    )
    read = [
        encoded_table(schema, found, 8).features.read()
        for found in (table, open_table(tmp_path / "people.csv", schema=schema))
    ]
    np.testing.assert_array_equal(*read)
    assert len(set(read[0][:, 0].tolist())) == 6
    # A level is compared by its text, whatever numbers are.
    assert column(table, "stage") == ["1,5"] * 8


def test_a_unit_beside_a_number_in_a_text_changes_nothing_about_it(tmp_path):
    schema = Schema.from_text(GERMAN.replace("[columns.born]", 'unit = "kg"\n[columns.born]'))
    table = opened(tmp_path, workbook(PEOPLE[0], ("1.053,5 kg",), ("1,5",), (1.5,)), schema=schema)
    read = encoded_table(schema, table, 3).features.read()[:, 0]
    np.testing.assert_allclose(read * schema.longest_row, [1053.5 / 1000 - 1, 1.5 / 1000 - 1, 1.5 / 1000 - 1])


def test_a_check_of_texts_with_decimal_commas_says_what_to_write_and_that_mends_it(tmp_path):
    data = workbook(
        PEOPLE[0],
        *(
            (text, "1990-01-01", "ja", "1", label)
            for text, label in zip(("1,53", "2,5", "3,7"), ("yes", "no", "yes"), strict=True)
        ),
    )
    plain, told = (
        Schema.from_text(text) for text in (SCHEMA, SCHEMA.replace("[target]", '[file]\ndecimal = ","\n[target]'))
    )
    assert check_table(plain, opened(tmp_path, data, schema=plain)).mismatches == (
        'age: most values are no numbers; they are with decimal = "," in the schema\'s [file]',
    )
    assert not check_table(told, opened(tmp_path, data, schema=told)).mismatches


def drafted(tmp_path, data, *options):
    path = tmp_path / "people.xlsx"
    path.write_bytes(data)
    return CliRunner().invoke(schema_commands, ["draft", str(path), *options])


BESIDE = {
    "a title": (("Patients 2023",), ("age", "ill"), (31, "yes")),
    "a title and a word": (("Patients", "draft"), ("age", "job", "ill"), (31, "clerk", "yes")),
    "a column without a name": (("age", "ill"), (31, "yes", 7)),
}


@pytest.mark.parametrize("case", BESIDE)
def test_a_draft_refuses_columns_that_the_first_row_does_not_name(tmp_path, case):
    found = drafted(tmp_path, workbook(*BESIDE[case]))
    assert isinstance(found.exception, InvalidData)
    assert "values in columns without a name, at position" in found.exception.found
    assert "not below a title" in found.exception.remedy


def test_a_draft_says_aloud_how_texts_in_cells_seem_to_be_written(tmp_path):
    data = workbook(("size", "ill"), ("1,53", "yes"), ("2,5", "no"), (3.5, "no"))
    found = drafted(tmp_path, data)
    assert found.exit_code == 0
    assert '\n[file]\ndecimal = ","  # of the first texts in cells' in found.stdout
    assert '[columns.size]\nkind = "number"' in found.stdout
    assert "proposed for [file]" in found.stderr
    plain = drafted(tmp_path, workbook(("size", "ill"), (1.53, "yes"), (2.5, "no")))
    assert "[file]" not in plain.output
    two_ways = drafted(tmp_path, workbook(("size", "ill"), ("1,234", "yes"), ("5,678", "no")))
    assert '\ndecimal = ""  # ambiguous' in two_ways.stdout


def test_a_draft_is_of_the_sheet_that_is_named(tmp_path):
    data = workbook(("age", "ill"), (31, "yes"), other_sheets=[("Second", (("years", "ill"), (2, "no")))])
    assert isinstance(drafted(tmp_path, data).exception, InvalidData)
    found = drafted(tmp_path, data, "--sheet", "Second")
    assert '\n[file]\nsheet = "Second"' in found.stdout
    assert "[columns.years]" in found.stdout
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n")
    assert isinstance(
        CliRunner().invoke(schema_commands, ["draft", str(tmp_path / "rows.csv"), "--sheet", "x"]).exception,
        InvalidParameter,
    )


def test_a_blank_mark_of_decimals_is_told_before_a_row_is_read(tmp_path):
    blank = Schema.from_text(SCHEMA.replace("[target]", '[file]\ndecimal = ""\n[target]'))
    with pytest.raises(SchemaInvalid, match=r"file\.decimal"):
        opened(tmp_path, workbook(*PEOPLE), schema=blank)
