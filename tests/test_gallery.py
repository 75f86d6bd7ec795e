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


def said(text: str) -> list[str]:
    """Return the numbers of a text, a share as the percentage that a caption would give it."""
    return re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?: ?%)?", text)


def is_printed(number: str, printed: str) -> bool:
    """Whether a number of a caption is one that was printed, in the caption's digits."""
    unit, digits = number.endswith("%"), len(number.rstrip(" %").partition(".")[2])
    return any(
        found.endswith("%") == unit and f"{float(found.rstrip(' %')):.{digits}f}" == number.rstrip(" %")
        for found in said(printed)
    )


def same_picture(first: str, second: str) -> bool:
    """Whether two pictures are the same, but for what another machine rounds to another place: half a pixel."""
    numbers = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")
    pairs = zip(numbers.findall(first), numbers.findall(second), strict=False)
    alike = numbers.sub("0", first) == numbers.sub("0", second)
    return alike and all(abs(float(one) - float(other)) <= 0.5 for one, other in pairs)


def test_a_stale_number_and_a_stale_picture_would_be_seen():
    assert is_printed("79 %", "epsilon 1: 79.4% within 20 %")
    assert not is_printed("79 %", "epsilon 0.1: 80.0% within 20 %; 79 rows")
    assert is_printed("0.84", "accuracy 0.839")
    assert same_picture('<path d="M0,1.25L3e-7,4"/>', '<path d="M0,1.3L0,4"/>')
    assert not same_picture('<path d="M0,1L3,4"/>', '<path d="M0,1L3,5"/>')
    assert not same_picture('<path d="M0,1L3,4"/>', '<path d="M0,1L3,4L5,6"/>')


# The others take a minute together.
FAST = ("dosing", "repeated_visits", "postgresql_ledger", "own_solver")


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=() if path.stem in FAST else pytest.mark.statistics) for path in PROGRAMS],
    ids=lambda path: path.stem,
)
def test_the_picture_and_the_numbers_of_its_caption_are_those_of_today(path, run, tmp_path, capsys):
    name = path.stem.replace("_", "-")
    run(path, picture=str(tmp_path / "picture.svg"))
    printed = capsys.readouterr().out
    caption = re.search(rf"!\[(.+?)\]\(gallery/{name}\.svg\)", PAGE)[1]
    # What the program is given stands in its text; what it finds must be printed.
    given = set(said(path.read_text(encoding="utf-8")))
    stale = [number for number in said(caption) if number not in given and not is_printed(number, printed)]
    assert stale == []
    stored = (ROOT / "docs" / "gallery" / f"{name}.svg").read_text(encoding="utf-8")
    assert same_picture((tmp_path / "picture.svg").read_text(encoding="utf-8"), stored)


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
