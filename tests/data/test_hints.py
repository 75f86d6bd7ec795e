"""Hints of a drafted schema: units and dates, by the names of columns alone."""

import pytest

from equipoise.data.files import open_table
from equipoise.data.schema import Schema
from equipoise.data.schema.code_book import CodeBook
from equipoise.data.schema.draft import draft
from equipoise.data.schema.hints import names_dates, unit_in

HEADER = "height_cm,weight (kg),dob,admitted_on,town,visit_date"
ROWS = ("170,72 kg,01.02.1990,2026-01-02,Graz,3", "Linz,x,7,y,8,2020-01-01", ",,,,,")


def hints(text: str) -> list[str]:
    """Return what the tables of columns say in comments that would be keys."""
    body = text[text.index("[columns") :]
    return [line for line in body.splitlines() if line.startswith("#") and (" = " in line)]


def drafted(path, rows: str, book: CodeBook | None = None) -> str:
    path.write_text(f"{HEADER}\n{rows}\n")
    return draft(open_table(path), book)


def test_a_draft_hints_at_units_and_dates_in_comments_that_change_nothing(tmp_path):
    text = drafted(tmp_path / "people.csv", ROWS[0])
    found = hints(text)
    assert found[0].startswith('# unit = "cm"  # by its name')
    assert found[1].endswith('kind = "number", bounds = [] and unit = "kg"')
    assert sum('kind = "date"' in line for line in found) == 2
    assert sum("formats = " in line for line in found) == 3
    # Taken out of its comment, a hint is what a schema understands.
    for line in (found[0], next(line for line in found if line.startswith("# formats"))):
        key = line.removeprefix("# ").partition("  #")[0]
        kind = "number" if key.startswith("unit") else "date"
        lines = f'[target]\nname = "t"\nclasses = ["a", "b"]\n[columns.x]\nkind = "{kind}"\n{key}\n'
        assert key in Schema.from_text(f"schema_version = 1\n{lines}").to_toml()


@pytest.mark.parametrize("rows", ROWS[1:])
def test_units_and_dates_are_hinted_at_whatever_the_rows_hold(tmp_path, rows):
    text = drafted(tmp_path / "people.csv", rows)
    assert all(word in text for word in ('unit = "cm"', 'unit = "kg"', "# formats = "))


def test_a_column_with_bounds_from_a_code_book_is_hinted_at_too(tmp_path):
    text = drafted(tmp_path / "people.csv", ROWS[0], CodeBook(bounds={"height_cm": (0.0, 250.0)}))
    assert 'bounds = [0, 250]\n# unit = "cm"' in text


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("height_cm", "cm"),
        ("weight (kg)", "kg"),
        ("Weight [KG]", "kg"),
        ("pressure (mmHg)", "mmHg"),
        ("length (m)", "m"),
        ("income EUR", "EUR"),
        ("group_m", None),
        ("cm", None),
        ("answer (yes/no)", None),
        ("admin", None),
    ],
)
def test_a_unit_stands_at_the_end_of_a_name(name, unit):
    assert unit_in(name) == unit


@pytest.mark.parametrize("name", ["dob", "admitted_on", "created_at", "visit_date", "visitDate", "Date of visit"])
def test_names_of_dates(name):
    assert names_dates(name)


@pytest.mark.parametrize("name", ["candidate", "update", "at", "on", "format", "carton", "dated_by", "that"])
def test_names_of_other_things(name):
    assert not names_dates(name)
