"""docs/tutorial.md, run as it is written, on made-up rows with the columns of Adult."""

import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

import equipoise as eq
from program import run_program

DOCS = Path(__file__).parents[1] / "docs"
TEXT = (DOCS / "tutorial.md").read_text()
COMMANDS = [line for block in re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL) for line in block.splitlines()]
HEADER = re.search(r"^    (age,.*)$", TEXT, re.MULTILINE).group(1).split(",")


def made_up_rows(count: int, generator: np.random.Generator, target: bool) -> str:
    """Return lines of a CSV file: numbers in their bounds, levels of the schema, and a target that depends on two."""
    facts = tomllib.loads((DOCS / "tutorial" / "adult.toml").read_text())
    age, schooling = generator.integers(17, 91, count), generator.integers(1, 17, count)
    columns = {"age": age, "education_num": schooling}
    for name, column in facts["columns"].items():
        if column["kind"] == "category":
            columns[name] = generator.choice([*column["levels"], "?"], count)
        elif name not in columns:
            columns[name] = generator.integers(0, 100, count)
    rich = 0.05 * (age - 50) + 0.5 * (schooling - 8) + generator.logistic(size=count) > 0
    columns["income"] = np.where(rich, ">50K", "<=50K")
    names = HEADER if target else HEADER[:-1]
    lines = [
        ",".join(names),
        *(",".join(map(str, row)) for row in zip(*(columns[name] for name in names), strict=True)),
    ]
    return "\n".join(lines) + "\n"


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    path = tmp_path
    monkeypatch.setenv("EQUIPOISE_DOCS", str(DOCS))
    monkeypatch.setenv("EQUIPOISE_HOME", str(path / "home"))
    generator = np.random.default_rng(0)
    (path / "adult.csv").write_text(made_up_rows(32_561, generator, target=True))
    (path / "new.csv").write_text(made_up_rows(500, generator, target=False))
    return path


def test_the_tutorial_is_ten_commands():
    assert len(COMMANDS) == 10


def in_a_shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{program}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "120"}
    return subprocess.run(command, shell=True, cwd=folder, env=environment, capture_output=True, text=True)  # noqa: S602


def in_this_process(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command of the program without loading it once more; what is not one goes to the shell."""
    words = shlex.split(command)
    return run_program(*words[1:], folder=folder) if words[0] == "equipoise" else in_a_shell(command, folder)


@pytest.mark.parametrize("run", [in_this_process, pytest.param(in_a_shell, marks=pytest.mark.statistics)])
def test_the_page_runs_from_a_table_to_a_verified_release(folder, run):
    said = {}
    for command in COMMANDS:
        done = run(command, folder)
        assert done.returncode == 0, (command, done.stderr)
        assert "Traceback" not in done.stderr
        said[" ".join(command.split()[1:3])] = done.stdout
    assert "not for release" in said["schema check"]
    assert "consistent; origin unproved" in said["verify release"]
    assert "Claim (proved): (1, 0)" in said["explain release"]
    assert re.search(r"\b2(\.0)?\b", said["ledger show"])
    assert "dry run" not in (folder / "release" / "report.html").read_text()
    predictions = (folder / "predictions.csv").read_text().splitlines()
    assert predictions[0] == "prediction"
    assert len(predictions) == 501
    assert set(predictions[1:]) == {"<=50K", ">50K"}
    assert eq.load(folder / "release").certificate_.verify() == ()
