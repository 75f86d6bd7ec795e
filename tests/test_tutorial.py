"""docs/tutorial.md, run as it is written: every command of it, and the lines that it tells to fill in."""

import csv
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import equipoise as eq
from equipoise.example import NAMES, NEW_PEOPLE, PEOPLE, SEED, people
from program import run_program

TEXT = (Path(__file__).parents[1] / "docs" / "tutorial.md").read_text()
BLOCKS = re.findall(r"```(sh|toml)\n(.*?)```", TEXT, re.DOTALL)
COMMANDS = [line for language, block in BLOCKS if language == "sh" for line in block.splitlines()]


def in_a_shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{program}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "120"}
    return subprocess.run(command, shell=True, cwd=folder, env=environment, capture_output=True, text=True)  # noqa: S602


def in_this_process(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command of the program without loading it once more."""
    name, *words = shlex.split(command)
    assert name == "equipoise"
    return run_program(*words, folder=folder)


def tables_of(text: str) -> dict[str, list[str]]:
    """Return the lines of a schema below each of its headings; the empty one stands before all."""
    found: dict[str, list[str]] = {"": []}
    for line in text.splitlines():
        if line.startswith("["):
            found[line] = []
        else:
            list(found.values())[-1].append(line)
    return found


def fill_in(draft: Path, text: str) -> None:
    """Write lines in the place of the blanks of a draft, as somebody with an editor does."""
    written, drafted = tables_of(text), tables_of(draft.read_text())
    for heading, lines in written.items():
        keys = tuple(f"{line.split(' = ')[0]} = " for line in lines if line)
        blanks = [line for line in drafted[heading] if line.startswith(keys)]
        assert blanks
        assert all(re.search(r' = (""|\[\])', line) for line in blanks)
        drafted[heading] = [*lines, *(line for line in drafted[heading] if line not in blanks)]
    draft.write_text("\n".join(line for heading, lines in drafted.items() for line in (heading, *lines)))


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("EQUIPOISE_HOME", str(tmp_path / "home"))
    (tmp_path / "empty").mkdir()
    return tmp_path / "empty"


def test_the_tutorial_is_ten_commands():
    assert len(COMMANDS) == 10


def test_the_page_shows_the_table_that_its_first_command_makes(folder):
    assert f"\n    {','.join(NAMES)}\n" in TEXT
    assert in_this_process(COMMANDS[0], folder).returncode == 0
    with (folder / "people.csv").open() as file:
        names, *rows = csv.reader(file)
    assert (tuple(names), len(rows)) == (NAMES, PEOPLE)
    # Another run keeps what is there, and whoever makes the table elsewhere has the same one.
    assert in_this_process(COMMANDS[0], folder).returncode == 2
    assert run_program("example", "--out", "other", folder=folder).returncode == 0
    for path in folder.glob("*.csv"):
        assert path.read_bytes() == (folder / "other" / path.name).read_bytes()


@pytest.mark.parametrize("run", [in_this_process, pytest.param(in_a_shell, marks=pytest.mark.statistics)])
def test_the_page_runs_from_an_empty_folder_to_a_verified_release(folder, run):
    said = {}
    for language, block in BLOCKS:
        if language == "toml":
            fill_in(folder / "schema.toml", block)
            continue
        for command in block.splitlines():
            done = run(command, folder)
            assert done.returncode == 0, (command, done.stderr)
            assert "Traceback" not in done.stderr
            said[" ".join(command.split()[1:3] + command.split()[-1:])] = done.stdout
    assert "fill in its 4 blanks" in said["schema draft schema.toml"]
    assert "not for release" in said["schema check schema.toml"]
    assert "ledger: admits it; epsilon 3.0" in said["train people.csv --dry-run"]
    assert "released to release" in said["train people.csv release"]
    assert "consistent; origin unproved" in said["verify release release"]
    assert "Claim (proved): (1, 0)" in said["explain release release"]
    assert re.search(r"\b2(\.0)?\b", said["ledger show people"])
    with (folder / "predictions.csv").open() as file:
        names, *predictions = csv.reader(file)
    assert names == ["person_id", "prediction"]
    truth = {person[0]: person[-1] for person in people(PEOPLE + 1, NEW_PEOPLE, SEED + 1)}
    assert [row[0] for row in predictions] == list(truth)
    right = sum(truth[name] == prediction for name, prediction in predictions)
    # About five in six: 415 to 426 of 500 in 30 trials of the noise, and less than 300 by one answer for all.
    assert right > 375
    assert eq.load(folder / "release").certificate_.verify() == ()
