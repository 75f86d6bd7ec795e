"""In a table of several files no row's place hangs on what the last row of an earlier file holds."""

import numpy as np
import pytest

import equipoise as eq
from equipoise.data.many_files import open_files
from equipoise.errors import InvalidData
from sample_workbooks import workbook


def rows_of(folder) -> list[str | None]:
    """Return the ages in all rows, None where a line is no row of two values."""
    texts = []
    for batch in open_files(folder).batches(["age"]):
        texts += batch["age"].tolist()
    return texts


@pytest.mark.parametrize("line", ["", "\r", ",", "1,2,3", '"', "x" * 100, " "])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_line_in_place_of_another_changes_one_row(tmp_path, line, place):
    lines = ["31,no", "47,yes", "52,no"]
    for name, replaced in (("before", lines[place]), ("after", line)):
        (tmp_path / name).mkdir()
        first = [*lines[:place], replaced, *lines[place + 1 :]]
        (tmp_path / name / "1.csv").write_text("age,ill\n" + "".join(f"{each}\n" for each in first))
        (tmp_path / name / "2.csv").write_text("age,ill\n61,no\n62,yes\n")
    before, after = rows_of(tmp_path / "before"), rows_of(tmp_path / "after")
    assert len(before) == len(after) == 5
    assert [one for one in range(5) if before[one] != after[one]] == [place]


def test_a_blank_line_at_the_end_of_the_last_file_is_no_row(tmp_path):
    (tmp_path / "1.csv").write_text("age,ill\n31,no\n")
    (tmp_path / "2.csv").write_text("age,ill\n61,no\n\n")
    assert rows_of(tmp_path) == ["31", "61"]


def test_several_workbooks_are_refused_since_their_last_rows_cannot_be_told(tmp_path):
    for name in ("1.xlsx", "2.xlsx"):
        (tmp_path / name).write_bytes(workbook(("age", "ill"), (31, "no"), (47, "yes")))
    with pytest.raises(InvalidData, match="one workbook, with all rows"):
        eq.open_table(tmp_path)


def test_a_blank_last_line_of_an_earlier_file_moves_one_row_of_one_part(tmp_path):
    # The witness that found it: every later row moved up, so that a row dealt by its place lay in both parts.
    draw = np.random.default_rng(0)
    ages = draw.integers(20, 90, 40).tolist()
    for name, last in (("before", "50,no"), ("after", "")):
        (tmp_path / name).mkdir()
        first = "".join(f"{age},no\n" for age in ages[:20]) + f"{last}\n"
        (tmp_path / name / "1.csv").write_text("age,ill\n" + first)
        (tmp_path / name / "2.csv").write_text("age,ill\n" + "".join(f"{age},no\n" for age in ages[20:]))
    before, after = rows_of(tmp_path / "before"), rows_of(tmp_path / "after")
    assert sum(one != other for one, other in zip(before, after, strict=True)) == 1
