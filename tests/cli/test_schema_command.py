"""`equipoise schema`: a draft to fill in, and a check for the owner's eyes."""

import functools
import json
import subprocess
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from equipoise.data.schema import Schema
from program import run_program
from sample_workbooks import workbook

CSV = "age,job,income\n31,nurse,low\n200,pilot,high\n,clerk,?\n"

FILLED = """
schema_version = 1
n = 3
vouched_by = "A. Officer"
vouched_on = 2026-11-16
[target]
name = "income"
classes = ["low", "high"]
[columns.age]
kind = "number"
bounds = [0, 100]
[columns.job]
kind = "category"
levels = ["nurse", "clerk"]
unknown = "clerk"
"""


schema = functools.partial(run_program, "schema")


@pytest.fixture
def folder(tmp_path) -> Path:
    (tmp_path / "people.csv").write_text(CSV)
    (tmp_path / "schema.toml").write_text(FILLED)
    return tmp_path


def assert_refused(done: subprocess.CompletedProcess[str], *words: str) -> None:
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert [line.split()[0] for line in done.stderr.splitlines() if not line.startswith(" ")] == [
        "asked",
        "found",
        "to",
    ]
    for word in words:
        assert word in done.stderr


def test_a_draft_is_printed_and_lists_its_blanks(folder):
    done = schema("draft", "people.csv", folder=folder)
    assert done.returncode == 0, done.stderr
    drafted = Schema.from_text(done.stdout)
    assert [column.name for column in drafted.columns] == ["age", "job", "income"]
    assert drafted.blanks() == (
        "n",
        "vouched_by",
        "vouched_on",
        "target.name",
        "target.classes",
        "columns.age.bounds",
        "columns.job.levels",
        "columns.job.unknown",
        "columns.income.levels",
        "columns.income.unknown",
    )
    # Neither a value nor a count of the rows is in it.
    assert not [word for word in ("nurse", "pilot", "31", "200", "n = 3") if word in done.stdout]
    assert done.stdout.count("a guess from the first 1,000 rows") == 3


@pytest.mark.parametrize(
    ("book", "target", "blanks"),
    [
        ("column,level\nincome,low\nincome,high\n", 'classes = ["low", "high"]', 0),
        ("column,low,high\nincome,0,9\n", "bounds = [0, 9]", 0),
        ("column,level\njob,nurse\n", "classes = []", 1),
    ],
    ids=["classes", "range", "blank"],
)
def test_a_draft_moves_the_target_to_its_place_with_what_the_code_book_says(folder, book, target, blanks):
    (folder / "codes.csv").write_text(book)
    done = schema("draft", "people.csv", "--codebook", "codes.csv", "--target", "income", folder=folder)
    assert done.returncode == 0, done.stderr
    assert '[target]\nname = "income"\n' in done.stdout
    assert f"\n{target}" in done.stdout
    drafted = Schema.from_text(done.stdout)
    assert [column.name for column in drafted.columns] == ["age", "job"]
    assert sum(blank.startswith("target") for blank in drafted.blanks()) == blanks


def test_a_draft_for_a_target_that_is_no_column_is_refused_with_those_there_are(folder):
    assert_refused(schema("draft", "people.csv", "--target", "wage", folder=folder), "wage", "age, job, income")
    assert_refused(schema("draft", "people.csv", "--target", "incom", folder=folder), "did you mean 'income'?")


def test_a_draft_as_json_has_the_schema_the_reasons_and_the_blanks(folder):
    done = schema("draft", "people.csv", "--out", "draft.toml", "--json", folder=folder)
    assert (done.returncode, done.stderr) == (0, "")
    facts = json.loads(done.stdout)
    assert facts["blanks"] == list(Schema.from_toml(folder / facts["out"]).blanks())
    assert facts["schema"]["columns"]["age"] == {"kind": "number", "bounds": []}
    assert facts["file_reasons"].keys() == facts["schema"]["file"].keys()


def test_the_kinds_of_a_typed_file_are_no_guess_and_its_rows_are_not_counted(folder):
    table = pyarrow.table(
        {"age": [31, None], "size": pyarrow.array([None, None], pyarrow.float32()), "job": ["a", "b"]}
    )
    pyarrow.parquet.write_table(table, folder / "people.parquet")
    text = schema("draft", "people.parquet", folder=folder).stdout
    assert "a guess" not in text
    assert [type(column).__name__ for column in Schema.from_text(text).columns] == [
        "NumberColumn",
        "NumberColumn",
        "CategoryColumn",
    ]
    assert Schema.from_text(text).n_samples is None


def test_a_draft_is_written_once_and_never_overwrites(folder):
    printed = schema("draft", "people.csv", folder=folder).stdout
    done = schema("draft", "people.csv", "--out", "draft.toml", folder=folder)
    assert done.returncode == 0, done.stderr
    assert "fill in its 10 blanks" in done.stdout
    assert "equipoise schema check people.csv draft.toml\n" in done.stdout
    assert (folder / "draft.toml").read_text(encoding="utf-8") == printed
    (folder / "draft.toml").write_text("mine")
    assert_refused(schema("draft", "people.csv", "--out", "draft.toml", folder=folder), "draft.toml", "one that exists")
    assert (folder / "draft.toml").read_text() == "mine"
    assert {path.name for path in folder.iterdir()} == {"people.csv", "schema.toml", "draft.toml"}


def test_the_next_command_can_be_copied_whatever_the_names(folder):
    (folder / "our people.csv").write_text("age;größe\n1;2\n", encoding="utf-8")
    done = schema("draft", "our people.csv", "--delimiter", ";", "--out", "a draft.toml", folder=folder)
    assert done.stdout.endswith("equipoise schema check 'our people.csv' 'a draft.toml'\n")
    # The draft itself says what separates values.
    assert Schema.from_toml(folder / "a draft.toml").file.delimiter == ";"
    assert 'columns."größe".bounds' in Schema.from_toml(folder / "a draft.toml").blanks()


@pytest.mark.parametrize("out", ["no/such/folder/draft.toml", "."], ids=["no folder", "a folder"])
def test_a_draft_that_cannot_be_written_is_refused(out, folder):
    assert_refused(schema("draft", "people.csv", "--out", out, folder=folder))


def test_a_check_counts_under_its_stamp(folder):
    done = schema("check", "people.csv", "schema.toml", folder=folder)
    assert (done.returncode, done.stderr) == (0, "")
    lines = [line.split() for line in done.stdout.splitlines()]
    assert done.stdout.startswith("computed on raw rows: not for release\n")
    assert ["age", "1", "0", "1", "-"] in lines
    assert ["job", "0", "-", "-", "1"] in lines
    assert ["income", "(target)", "0", "-", "-", "1"] in lines


BREAKS = {
    "a note with line breaks": ('31,"a\nb\nc",yes\n', True),
    "a note with a quote and a line break": ('31,"say ""a""\nb",yes\n', True),
    "a note in quotes": ('31,"say ""a"", b",yes\n', False),
    "an inch": ("31,5'11\",yes\n", False),
}


@pytest.mark.parametrize("packed", [False, True], ids=["one file", "a folder"])
@pytest.mark.parametrize("case", BREAKS)
def test_a_check_fails_where_lines_end_inside_quotes(tmp_path, case, packed):
    line, fails = BREAKS[case]
    data = tmp_path / "people.csv"
    data.write_text("age,note,ill\n" + "31,x,no\n40,y,yes\n" * 50 + line)
    if packed:
        (tmp_path / "people").mkdir()
        data = data.rename(tmp_path / "people" / "part.csv").parent
    (tmp_path / "schema.toml").write_text(
        'schema_version = 1\nn = 100\nvouched_by = "A"\nvouched_on = 2026-11-16\n[target]\nname = "ill"\n'
        'classes = ["no", "yes"]\n[columns.age]\nkind = "number"\nbounds = [0, 100]\n[columns.note]\nkind = "unused"\n'
    )
    done = run_program("schema", "check", data, tmp_path / "schema.toml")
    assert done.returncode == (1 if fails else 0), done.stderr
    assert ("lines end inside quotes" in done.stdout) == fails
    assert not fails or "Parquet" in done.stdout


def test_a_check_as_json_carries_the_stamp(folder):
    found = json.loads(schema("check", "people.csv", "schema.toml", "--json", folder=folder).stdout)
    assert found["stamp"] == "computed on raw rows: not for release"
    assert (found["rows"], found["declared_rows"]) == (3, 3)
    assert found["columns"][0] == {
        "name": "age",
        "missing": 1,
        "unreadable": 0,
        "outside_bounds": 1,
        "unknown_levels": None,
    }
    assert found["target"]["unknown_levels"] == 1


TITLES = {
    "one value.csv": f"People of Graz\n{CSV}",
    "commas.csv": f"People of Graz,,\n{CSV}",
    "one cell.xlsx": (("People of Graz",), ("age", "job", "income"), (31, "nurse", "low")),
    "blanks.xlsx": (("People", None, "of Graz"), ("age", "job", "income"), (31, "nurse", "low")),
}


@pytest.mark.parametrize("name", TITLES)
def test_a_title_above_the_names_is_told_by_a_check_as_by_a_draft(name, tmp_path):
    rows = TITLES[name]
    (tmp_path / name).write_bytes(rows.encode() if isinstance(rows, str) else workbook(*rows))
    (tmp_path / "schema.toml").write_text(FILLED)
    done = schema("check", tmp_path / name, tmp_path / "schema.toml")
    assert_refused(done, "a title")
    assert "Graz" not in done.stderr


def test_a_draft_that_nobody_filled_in_is_refused_with_all_its_blanks(folder):
    schema("draft", "people.csv", "--out", "draft.toml", folder=folder)
    blanks = Schema.from_toml(folder / "draft.toml").blanks()
    done = schema("check", "people.csv", "draft.toml", folder=folder)
    assert_refused(done, "10 blanks", *blanks, "--private-bounds 0.2", "schema.with_private_bounds(0.2)")


BAD = {
    "a table in the schema's place": (("check", "schema.toml", "people.csv"), None, "a table, by its name"),
    "no table": (("draft", "nobody.csv"), None, "nobody.csv"),
    "a table of another format": (("draft", "people.xlsx"), None, "people.xlsx"),
    "no schema": (("check", "people.csv", "nothing.toml"), None, "No such file"),
    "no TOML": (("check", "people.csv", "schema.toml"), "bounds = [0, 100", "no TOML"),
    "faults": (
        ("check", "people.csv", "schema.toml"),
        FILLED.replace("[0, 100]", "[100, 0]").replace('unknown = "clerk"', 'unknown = "x"'),
        "columns.age.bounds: two numbers, the lower one first; found [100, 0]\n"
        "       columns.job.unknown: one of the levels; found 'x'",
    ),
    "a schema of another table": (
        ("check", "people.csv", "schema.toml"),
        FILLED.replace("columns.job", "columns.jobs"),
        "is 'job' what the schema calls 'jobs'?",
    ),
    "a column that is not mentioned": (
        ("check", "people.csv", "schema.toml"),
        FILLED[: FILLED.index("[columns.job]")],
        '[columns.job] with kind = "unused"',
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_read_is_refused_with_a_remedy(case, folder):
    arguments, text, words = BAD[case]
    (folder / "people.xlsx").write_bytes(b"PK\x03\x04")
    if text is not None:
        (folder / "schema.toml").write_text(text)
    assert_refused(schema(*arguments, folder=folder), words)


def test_the_group_alone_shows_its_commands(folder):
    done = schema(folder=folder)
    assert "draft" in done.stdout
    assert "check" in done.stdout
