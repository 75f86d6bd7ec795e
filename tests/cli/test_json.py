"""Every command that prints facts prints them as JSON as well, for programs."""

import importlib
import json
from pathlib import Path

import pytest
import typer

from equipoise.cli.application import build, commands
from program import run_program

# Commands without --json, and why.
WITHOUT = {"ledger export": "what it prints is JSON, and nothing else"}


def names_of_all() -> list[str]:
    """Return the words that begin every command, those of groups too."""
    found = []
    for name in commands():
        group = getattr(importlib.import_module(f"equipoise.cli.{name}"), "group", None)
        inner = [] if group is None else [command.callback.__name__ for command in group.registered_commands]
        found += [f"{name} {word}" for word in inner] or [name]
    return found


def options_of(name: str) -> set[str]:
    """Return the options that a command takes."""
    first, *rest = name.split()
    command = typer.main.get_command(build([first])).commands[first]
    for word in rest:
        command = command.commands[word]
    return {option for parameter in command.params for option in parameter.opts}


def test_commands_of_groups_are_looked_at_as_well():
    assert {"train", "schema draft", "ledger export", "example"} <= set(names_of_all())
    assert set(names_of_all()) >= WITHOUT.keys()


@pytest.mark.parametrize("name", names_of_all())
def test_a_command_prints_json_or_a_reason_is_given(name):
    assert ("--json" in options_of(name)) != (name in WITHOUT)


def test_an_example_as_json_names_its_files(tmp_path):
    done = run_program("example", "--json", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    facts = json.loads(done.stdout)
    assert sorted(facts["files"]) == sorted(path.name for path in Path(tmp_path).iterdir())
    assert facts["n"] == len((tmp_path / "people.csv").read_text().splitlines()) - 1
