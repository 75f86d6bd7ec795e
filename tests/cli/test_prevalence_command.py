"""`equipoise prevalence`: from a table to a line of the schema and a certificate that verifies."""

import json
from pathlib import Path

import pytest

import equipoise as eq
from program import run_program

SCHEMA = """
schema_version = 1
n = 1000
vouched_by = "A. Officer"
vouched_on = 2026-11-16

[target]
name = "ill"
classes = ["no", "yes"]

[columns.age]
kind = "number"
bounds = [0, 100]
"""
WORDS = ("prevalence", "people.csv", "--schema", "schema.toml")


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("EQUIPOISE_HOME", str(tmp_path / "home"))
    (tmp_path / "schema.toml").write_text(SCHEMA)
    rows = [f"{place % 100},{'yes' if place % 10 == 0 else 'no'}" for place in range(1000)]
    (tmp_path / "people.csv").write_text("\n".join(["age,ill", *rows, ""]))
    return tmp_path


def test_a_prevalence_is_recorded_written_verified_and_trained_with(folder):
    assert run_program("ledger", "create", "people", "--epsilon", "61", folder=folder).returncode == 0
    done = run_program(*WORDS, "--epsilon", "60", "--ledger", "people", folder=folder)
    assert (done.returncode, done.stderr) == (0, "")
    line = "prevalence = [0.9, 0.1]"
    assert line in done.stdout
    assert run_program("verify", "prevalence.json", folder=folder).returncode == 0
    (folder / "schema.toml").write_text(SCHEMA.replace("[columns.age]", f"{line}\n\n[columns.age]"))
    trained = run_program(
        *("train", "people.csv", "--schema", "schema.toml", "--epsilon", "1", "--ledger", "people"), folder=folder
    )
    assert trained.returncode == 0, trained.stderr
    over = run_program(*WORDS, "--epsilon", "1", "--ledger", "people", "--out", "again.json", folder=folder)
    assert over.returncode != 0
    assert not (folder / "again.json").exists()


def test_it_prints_json_and_keeps_an_earlier_file(folder):
    done = run_program(*WORDS, "--epsilon", "60", "--json", folder=folder)
    told = json.loads(done.stdout)
    assert (told["classes"], told["counts"], told["prevalence"]) == (["no", "yes"], [900, 100], [0.9, 0.1])
    written = (folder / "prevalence.json").read_text()
    assert eq.Certificate.from_json(written).digest == told["certificate"]
    again = run_program(*WORDS, "--epsilon", "60", folder=folder)
    assert again.returncode == 2
    assert (folder / "prevalence.json").read_text() == written


def test_blank_bounds_have_no_part_in_what_is_counted_and_other_blanks_are_told_before_the_spend(folder):
    (folder / "schema.toml").write_text(SCHEMA.replace("bounds = [0, 100]", "bounds = []"))
    done = run_program(*WORDS, "--epsilon", "60", folder=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert "prevalence = [0.9, 0.1]" in done.stdout
    (folder / "schema.toml").write_text(SCHEMA.replace("A. Officer", ""))
    refused = run_program(*WORDS, "--epsilon", "60", "--out", "again.json", folder=folder)
    assert refused.returncode == 2
    assert "vouched_by" in refused.stderr
    assert not (folder / "again.json").exists()
