"""The gallery: every program runs on fewer rows and draws; the page shows each, with words for who does not see it."""

import re
import runpy
import sys
from pathlib import Path

import pytest

from program import run_program

pytest_plugins = ["postgres_server"]

ROOT = Path(__file__).parents[1]
GALLERY = ROOT / "examples" / "gallery"
PROGRAMS = sorted(path for path in GALLERY.glob("*.py") if path.stem != "drawing")
PAGE = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
MOST_LINES, LARGEST = 60, 60_000
# Fewer rows than the pictures of the page were drawn from.
ROWS = {"digits": 120, "auditing": 400}
# What each prints is its point.
SAID = {
    "postgresql_ledger": "fit 4 was refused before a row was read",
    "auditing": "the claim is refuted",
    "streaming_parquet": "largest difference of a weight: 0.0e+00",
    "own_solver": "conditions that do not hold: []",
    "repeated_visits": "replace-one-person",
}
every_program = pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)


@pytest.fixture
def run(monkeypatch):
    """What runs a program's `main`, with `drawing` beside it as when it is called by its name."""
    monkeypatch.syspath_prepend(str(GALLERY))
    yield lambda path, **given: runpy.run_path(str(path))["main"](**given)
    sys.modules.pop("drawing", None)


def test_there_are_twelve():
    assert len(PROGRAMS) == 12


@every_program
def test_the_program_runs_and_draws(path, run, tmp_path, capsys):
    picture = tmp_path / "picture.svg"
    run(path, rows=ROWS.get(path.stem, 1_500), picture=str(picture))
    assert picture.read_text(encoding="utf-8").startswith("<svg ")
    printed = capsys.readouterr().out
    assert 1 <= len(printed.splitlines()) <= 10
    assert SAID.get(path.stem, "") in printed


def test_the_ledger_is_one_of_postgresql_where_there_is_a_server(run, tmp_path, capsys, postgres):
    database = postgres.address(postgres.new_database())
    run(GALLERY / "postgresql_ledger.py", rows=500, picture=str(tmp_path / "picture.svg"), database=database)
    assert SAID["postgresql_ledger"] in capsys.readouterr().out
    assert (tmp_path / "picture.svg").exists()


def test_a_program_comes_out_of_the_package_with_what_draws(tmp_path, monkeypatch):
    lines = PAGE.split("### From an installed package")[1].split("```")[1].splitlines()
    written = [re.fullmatch(r"equipoise docs (\w+\.py) > \1", line) for line in lines]
    names = [found[1] for found in written if found]
    assert (names, lines[-1]) == (["drawing.py", "income.py"], "python income.py")
    for name in names:
        (tmp_path / name).write_text(run_program("docs", name).stdout)
    monkeypatch.syspath_prepend(str(tmp_path))
    sys.modules.pop("drawing", None)
    runpy.run_path(str(tmp_path / "income.py"))["main"](rows=500, picture=str(tmp_path / "income.svg"))
    assert sys.modules.pop("drawing").__file__ == str(tmp_path / "drawing.py")
    assert (tmp_path / "income.svg").exists()


@every_program
def test_the_program_is_short_and_public_names_are_enough(path):
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) < MOST_LINES
    assert f"python examples/gallery/{path.name}" in text
    assert re.findall(r"^(?:from|import) equipoise.*$", text, re.M) == ["import equipoise as eq"]


@every_program
def test_the_page_shows_the_picture_with_words_and_names_the_program(path):
    name = path.stem.replace("_", "-")
    found = re.search(rf"!\[(.+?)\]\(gallery/{name}\.svg\)", PAGE)
    assert found is not None
    assert len(found[1]) > 40
    assert f"(../examples/gallery/{path.name})" in PAGE
    drawn = ROOT / "docs" / "gallery" / f"{name}.svg"
    assert drawn.read_text(encoding="utf-8").startswith("<svg ")
    assert drawn.stat().st_size < LARGEST
