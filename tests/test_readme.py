"""The README's first minute: every block of Python, and every command of the program, runs as it stands."""

import re
import runpy
import shlex
from pathlib import Path

import pytest

from program import run_program

TEXT = (Path(__file__).parents[1] / "README.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
COMMANDS = [line for block in re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL) for line in block.splitlines()]


def test_the_readme_begins_with_a_program():
    assert BLOCKS
    assert TEXT.index("```python") < TEXT.index("## ")


@pytest.mark.parametrize("block", BLOCKS)
def test_the_block_runs_as_it_stands_and_once_more(block, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("block.py").write_text(block)
    for _ in range(2):
        runpy.run_path("block.py", run_name="__main__")
        # The claim holds, as the block says beside it.
        assert "\n()\n" in capsys.readouterr().out


def test_the_commands_run_one_after_the_other_in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("EQUIPOISE_HOME", str(tmp_path / "home"))
    (tmp_path / "empty").mkdir()
    words = [shlex.split(line, comments=True) for line in COMMANDS]
    ours = [rest for name, *rest in words if name == "equipoise"]
    # The others make something of the repository, and are run by whoever changes it.
    assert {name for name, *_ in words} == {"equipoise", "make"}
    assert len(ours) == 5
    for command in ours:
        done = run_program(*command, folder=tmp_path / "empty")
        assert done.returncode == 0, (command, done.stderr)
    assert len((tmp_path / "empty" / "predictions.csv").read_text().splitlines()) == 501
