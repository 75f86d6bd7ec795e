"""Code books: what they fill in, and one clear error for each fault."""

import pyarrow as pa
import pytest

from equipoise.data.frames import FrameTable
from equipoise.data.schema import CategoryColumn, DateColumn, NumberColumn, Schema, YesNoColumn
from equipoise.data.schema.code_book import read_code_books
from equipoise.data.schema.draft import draft
from equipoise.errors import InvalidData
from program import run_program

NAMES = ("age", "sex", "work class", "dose", "born", "smoker", "patient_id")
TABLE = FrameTable(
    pa.table(
        {
            "age": [31.0],
            "sex": [1],
            "work class": ["x"],
            "dose": [1.5],
            "born": pa.array([0], pa.date32()),
            "smoker": ["yes"],
            "patient_id": [7],
        }
    )
)
LEVELS = 'column,level,label\nsex,1,female\nsex,2,"male, or\nnot stated"\nwork class,Private,\n\n'
BOUNDS = "column,low,high\nage,0,110\ndose,-1.5,1e3\n"


def written(folder, *texts: str, encoding: str = "utf-8") -> list:
    paths = []
    for place, text in enumerate(texts):
        paths.append(folder / f"codes{place}.csv")
        paths[-1].write_text(text, encoding=encoding)
    return paths


@pytest.mark.parametrize(
    "texts",
    [
        (LEVELS, BOUNDS),
        (
            "Column; Level ;label;low;high;note\nsex;1;female\nsex;2;\nwork class;Private\n"
            "age;;;0;110;a\ndose;;;-1.5;1000;b",
        ),
        (LEVELS.replace(",", "\t").replace("male\t or", "male"), BOUNDS),
    ],
    ids=["two files", "one file", "tabs"],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_levels_and_bounds_are_filled_in(tmp_path, texts, encoding):
    book = read_code_books(written(tmp_path, *texts, encoding=encoding), NAMES)
    schema = Schema.from_text(draft(TABLE, book))
    assert schema.columns == (
        NumberColumn("age", (0, 110)),
        CategoryColumn("sex", ("1", "2"), other=True),
        CategoryColumn("work class", ("Private",), other=True),
        NumberColumn("dose", (-1.5, 1000)),
        DateColumn("born"),
        CategoryColumn("smoker"),
    )
    assert schema.identifiers == ("patient_id",)
    assert schema.blanks()[5:] == ("columns.born.parts", "columns.smoker.levels", "columns.smoker.unknown")


def test_labels_are_comments_on_one_line(tmp_path):
    text = draft(TABLE, read_code_books(written(tmp_path, LEVELS), NAMES))
    assert '# "1": female\n# "2": \'male, or\\nnot stated\'\nlevels = ["1", "2"]' in text


FAULTS = {
    "an unknown column": ("column,level\nsex,1\nsexx,2", "line 3: 'sexx'; to do: is it 'sex'"),
    "a level twice": ("column,level\nsex,1\nsex,2\nsex, 1", "line 4: '1' again for 'sex'"),
    "bounds twice": ("column,low,high\nage,0,1\nage,0,1", "line 3: more for 'age'"),
    "levels and bounds": ("column,level,low,high\nsex,1,,\nsex,,0,1", "line 3: more for 'sex'"),
    "bounds and levels": ("column,level,low,high\nsex,,0,1\nsex,1,,", "line 3: more for 'sex'"),
    "both in one line": ("column,level,low,high\nsex,1,0,1", "line 2: both for 'sex'"),
    "nothing in a line": ("column,level,low,high\nsex,,,", "line 2: neither for 'sex'"),
    "no numbers": ("column,low,high\nage,young,old", "line 2: 'young' and 'old' for 'age'"),
    "one bound": ("column,low,high\nage,0", "line 2: '0' and '' for 'age'"),
    "infinite bounds": ("column,low,high\nage,0,inf", "line 2: '0' and 'inf' for 'age'"),
    "low above high": ("column,low,high\nage,90,17", "line 2: '90' and '17' for 'age'"),
    "low at high": ("column,low,high\nage,17,17", "line 2"),
    "no header": ("sex,1,female", "line 1: sex, 1, female"),
    "a name twice": ("column,level,level\nsex,1,2", "line 1"),
    "half of the names": ("column,low\nage,1", "line 1: column, low"),
    "an empty file": ("", "line 1: nothing"),
    "a stray quote": ('column,level\nsex,1\nsex,"2', "line 3"),
}


@pytest.mark.parametrize("case", FAULTS)
def test_a_fault_is_one_error_that_names_the_line(case, tmp_path):
    text, found = FAULTS[case]
    with pytest.raises(InvalidData) as caught:
        read_code_books(written(tmp_path, text), NAMES)
    assert found in str(caught.value).replace("\n", " ")


@pytest.mark.parametrize(
    "content", [None, b"\xff\xfe", b"column,level\n" + b"x" * 2**23], ids=["absent", "bytes", "huge"]
)
def test_files_that_are_no_code_book_are_refused(content, tmp_path):
    path = tmp_path / "codes.csv"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InvalidData, match="a code book"):
        read_code_books([path], NAMES)
    with pytest.raises(InvalidData, match="no plain file"):
        read_code_books([tmp_path], NAMES)


def test_a_code_book_with_one_class_is_refused_with_its_line(tmp_path):
    (tmp_path / "people.csv").write_text("age,sex\n31,1\n")
    written(tmp_path, "column,level,label\n\nsex,1,female\n")
    done = run_program("schema", "draft", "people.csv", "--codebook", "codes0.csv", "--target", "sex", folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    first, second, _ = done.stderr.splitlines()
    assert "two classes" in first
    assert second.endswith("codes0.csv, line 3: the only level of 'sex'")


def test_kinds_of_a_file_without_types_are_guessed_from_texts(tmp_path):
    from equipoise.data.files import open_table

    (tmp_path / "a.csv").write_text("when,smokes,size,town,user_id\n2026-01-02,Ja,1,Graz,1\n2026-01-03,nein,2,Wien,2\n")
    schema = Schema.from_text(draft(open_table(tmp_path / "a.csv")))
    assert [type(column) for column in schema.columns] == [DateColumn, YesNoColumn, NumberColumn, CategoryColumn]
    assert schema.identifiers == ("user_id",)


def test_the_command_takes_code_books_and_refuses_faults_in_three_lines(tmp_path):
    (tmp_path / "people.csv").write_text("age,sex\n31,1\n")
    written(tmp_path, "column,level\nsex,1", "column,low,high\nage,0,110", "column,low,high\nage,1,0")
    books = ("--codebook", "codes0.csv", "--codebook", "codes1.csv")
    done = run_program("schema", "draft", "people.csv", *books, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert not [blank for blank in Schema.from_text(done.stdout).blanks() if blank.startswith("columns")]
    done = run_program("schema", "draft", "people.csv", "--codebook", "codes2.csv", folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 3
    assert "codes2.csv, line 2" in done.stderr
