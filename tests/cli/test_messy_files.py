"""Files as people have them: each ends in a useful draft, a check that tells, or a refusal with nothing spent."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import equipoise as eq
from equipoise.data.schema import Schema
from program import run_program

pytestmark = pytest.mark.usefixtures("plain_page")

FACTS = """
schema_version = 1
n = 200
vouched_by = "A. Officer"
vouched_on = 2026-11-16
{file}
[target]
name = "{ill}"
classes = {classes}

[columns."{size}"]
kind = "number"
bounds = [0, 10]
"""
NAMED = {"size": "größe", "ill": "krank"}
SEMICOLONS = '[file]\ndelimiter = ";"\ndecimal = ","\nencoding = "cp1252"\n'


def people(labels=("nein", "ja"), header="größe;krank\n") -> bytes:
    sizes = np.random.default_rng(0).uniform(0, 10, 200)
    lines = [f"{size:.2f}".replace(".", ",") + f";{labels[int(size > 5)]}\n" for size in sizes]
    return (header + "".join(lines)).encode("cp1252")


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("EQUIPOISE_HOME", str(tmp_path / "home"))
    (tmp_path / "people.csv").write_bytes(people())
    return tmp_path


def write_schema(folder: Path, file: str = SEMICOLONS, classes: str = '["nein", "ja"]', **names: str) -> None:
    text = FACTS.format(file=file, classes=classes, **(NAMED | names))
    (folder / "schema.toml").write_text(text, encoding="utf-8")


def test_a_draft_says_what_it_proposes_and_why_and_writes_it_down(folder):
    done = run_program("schema", "draft", "people.csv", folder=folder)
    assert done.returncode == 0, done.stderr
    drafted = Schema.from_text(done.stdout)
    assert [column.name for column in drafted.columns] == ["größe", "krank"]
    assert type(drafted.columns[0]).__name__ == "NumberColumn"
    assert list(drafted.file.lines()) == ['delimiter = ";"', 'decimal = ","', 'encoding = "cp1252"']
    assert [line.split()[0] for line in done.stderr.splitlines()[1:]] == [
        "delimiter", "decimal", "thousands", "quote", "encoding", "header",
    ]  # fmt: skip
    assert "the first line has 2 values so" in done.stderr
    assert "some bytes are no UTF-8" in done.stderr


def test_a_draft_of_a_file_without_a_header_is_refused_and_tells_no_value(folder):
    (folder / "people.csv").write_bytes(people(header="Mustermann;7,35\n"))
    done = run_program("schema", "draft", "people.csv", "--out", "draft.toml", folder=folder)
    assert done.returncode == 2
    assert "position 2" in done.stderr
    assert "--no-header" in done.stderr
    assert not [word for word in ("Mustermann", "7,35", "7.35") if word in done.stderr + done.stdout]
    assert not (folder / "draft.toml").exists()
    done = run_program("schema", "draft", "people.csv", "--no-header", folder=folder)
    assert done.returncode == 0, done.stderr
    drafted = Schema.from_text(done.stdout)
    assert [column.name for column in drafted.columns] == ["column 1", "column 2"]
    assert not drafted.file.header
    assert "Mustermann" not in done.stderr + done.stdout


@pytest.mark.parametrize("option", [("--no-header",), ("--delimiter", ";")])
def test_what_is_said_about_a_text_file_is_refused_for_one_that_names_its_columns_itself(folder, option):
    pq.write_table(pa.table({"size": [1.5, 2.5]}), folder / "people.parquet")
    done = run_program("schema", "draft", "people.parquet", *option, folder=folder)
    assert done.returncode == 2
    assert "people.parquet, which names its columns itself" in done.stderr
    assert run_program("schema", "draft", "people.parquet", folder=folder).returncode == 0


@pytest.mark.parametrize("options", [(), ("--dry-run",)])
def test_a_file_whose_first_person_are_the_names_of_a_schema_is_never_trained_on(folder, options):
    (folder / "people.csv").write_bytes(people(header="7,35;nein\n"))
    write_schema(folder, size="7,35", ill="nein")
    eq.Ledger("trial").create(eq.Budget(3.0, 1e-5), "basic")
    arguments = ("train", "people.csv", "--schema", "schema.toml", "--epsilon", 1, "--ledger", "trial", *options)
    done = run_program(*arguments, folder=folder)
    assert done.returncode == 2
    assert "position 1" in done.stderr
    assert eq.Ledger("trial").balance().epsilon_left == 3.0
    assert not (folder / "release").exists()


def test_a_check_of_a_decimal_comma_file_that_the_schema_does_not_describe_fails_with_the_remedy(folder):
    write_schema(folder, SEMICOLONS.replace('decimal = ","\n', ""))
    done = run_program("schema", "check", "people.csv", "schema.toml", folder=folder)
    assert done.returncode == 1
    assert 'größe: most values are no numbers; they are with decimal = "," in the schema\'s [file]' in done.stdout
    assert "correct it before anything is spent" in done.stderr
    done = run_program("schema", "check", "people.csv", "schema.toml", "--json", folder=folder)
    assert done.returncode == 1
    assert len(json.loads(done.stdout)["mismatches"]) == 1


def test_a_check_of_labels_that_are_no_class_fails(folder):
    write_schema(folder, classes="[0, 1]")
    done = run_program("schema", "check", "people.csv", "schema.toml", folder=folder)
    assert done.returncode == 1
    assert "krank: nearly all labels are none of the declared classes" in done.stdout


def test_a_check_of_lines_that_another_quote_cuts_fails(folder):
    (folder / "people.csv").write_text("größe;krank\n" + "'1;5';ja\n" * 200, encoding="cp1252")
    write_schema(folder)
    done = run_program("schema", "check", "people.csv", "schema.toml", folder=folder)
    assert done.returncode == 1
    assert "many rows are without any value" in done.stdout


def test_a_check_that_fits_is_quiet(folder):
    write_schema(folder)
    done = run_program("schema", "check", "people.csv", "schema.toml", folder=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert "another table" not in done.stdout


def test_a_delimiter_that_nobody_declared_is_refused_at_training(folder):
    write_schema(folder, SEMICOLONS.replace('delimiter = ";"\n', ""))
    done = run_program("train", "people.csv", "--schema", "schema.toml", "--epsilon", 1, folder=folder)
    assert done.returncode == 2
    assert "--delimiter ';'" in done.stderr
    assert 'delimiter = ";"' in done.stderr


def test_a_release_reads_new_files_as_the_schema_says_or_as_options_say(folder):
    write_schema(folder)
    done = run_program("train", "people.csv", "--schema", "schema.toml", "--epsilon", 50, "--quiet", folder=folder)
    assert done.returncode == 0, done.stderr
    released = Schema.from_toml(folder / "release" / "schema.toml")
    assert list(released.file.lines()) == ['delimiter = ";"', 'decimal = ","', 'encoding = "cp1252"']
    (folder / "new.csv").write_bytes("größe\n0,5\n9,5\n".encode("cp1252"))
    (folder / "other.csv").write_bytes("größe\n0.5\n9.5\n".encode())
    as_released = run_program("predict", "release", "new.csv", folder=folder)
    facts = ("--file", "decimal=.", "--file", "encoding=utf-8")
    as_told = run_program("predict", "release", "other.csv", *facts, folder=folder)
    assert as_released.stdout == as_told.stdout == "prediction\nnein\nja\n"
    wrong = run_program("predict", "release", "new.csv", "--file", "decimal=.", folder=folder)
    assert "2 of 2 values could not be read" in wrong.stderr
    assert "read with decimal=.: does --file decimal=, fit this file?" in wrong.stderr
    done = run_program("predict", "release", "new.csv", "--file", "decimals=.", folder=folder)
    assert done.returncode == 2
    assert "delimiter, decimal, thousands, quote, encoding, header" in done.stderr


def test_a_file_without_a_header_is_trained_on_and_predicted_by_positions(folder):
    (folder / "people.csv").write_bytes(people(header=""))
    write_schema(folder, f"{SEMICOLONS}header = false\n", size="column 1", ill="column 2")
    done = run_program("train", "people.csv", "--schema", "schema.toml", "--epsilon", 50, "--quiet", folder=folder)
    assert done.returncode == 0, done.stderr
    (folder / "new.csv").write_bytes(b"0,5\n9,5\n")
    assert run_program("predict", "release", "new.csv", folder=folder).stdout == "prediction\nnein\nja\n"


def test_rows_whose_targets_are_no_class_show_it():
    rows = np.zeros((10, 1))
    said = str(eq.check_rows(rows, ["Yes"] * 10, eq.Domain(row_norm=1.0, classes=("no", "yes"))))
    assert "nearly all targets are missing, no declared class" in said
    said = str(eq.check_rows(rows, ["yes"] + ["No"] * 9, eq.Domain(row_norm=1.0, classes=("no", "yes"))))
    assert "nearly all" not in said
