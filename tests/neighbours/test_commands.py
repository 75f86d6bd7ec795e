"""Neighbours look alike to whoever sees a command: its exit code, what it prints and the files that it leaves."""

import shutil
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import feather, parquet

import equipoise as eq
from neighbour_tables import N_SAMPLES, PLACE, VALUES, made, spelled, with_value
from observing import Observation, differences, observed
from program import run_program

pytestmark = pytest.mark.usefixtures("plain_page")

SCHEMA = f"""
schema_version = 1
n = {N_SAMPLES}
vouched_by = "A. Officer"
vouched_on = 2026-11-16

[target]
name = "target"
%s

[columns.age]
kind = "number"
bounds = [0, 1]
indicator = true

[columns.job]
kind = "category"
levels = ["0", "1"]
unknown = "0"
"""
TARGETS = {"logistic": 'classes = ["0", "1"]', "ridge": "bounds = [0, 1]"}
# One field of one line, as bytes in a file.
FIELDS = {
    "plain": b"1",
    "missing": b"",
    "blank": b"  ",
    "NaN": b"nan",
    "infinite": b"-inf",
    "subnormal": b"5e-324",
    "1e308": b"1e308",
    "beyond every float": b"9" * 400,
    "beyond what Python prints": b"9" * 5000,
    "wrong text": b"a text of some length",
    "nested": b'"[1, 2]"',
    "quoted": b'"1,""2"""',
    "no UTF-8": b"\xff\xfe",
    "unknown label": b"7",
}
COLUMNS = ("age", "job", "target")
ARROW = {"float64": pa.float64(), "int64": pa.int64(), "bool": pa.bool_(), "text": pa.string()}
# One index into a dictionary of two entries.
INDICES = {"plain": 1, "missing": None, "after the last": 2, "far": 127, "before the first": -1, "first of all": -128}
# One view of a text, of which there is one of 32 bytes: its length, four of its bytes, which text, and where.
VIEWS = {"plain": (1, b"1", 0, 0), "beyond its text": (20, b"1111", 0, 20), "no text": (20, b"1111", 7, 0)}
VIEWS |= {"before its text": (20, b"1111", 0, -9), "no length": (-1, b"1111", 0, 0), "odd": (20, b"0000", 0, 0)}
WRITERS: dict[str, Callable[[Any, Path], None]] = {
    "parquet": parquet.write_table,
    "arrow": lambda table, path: feather.write_feather(table, path, compression="uncompressed"),
}


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("EQUIPOISE_HOME", str(tmp_path / "home"))
    return tmp_path


def trained(folder: Path, table: str, model: str) -> Observation:
    """Return what is seen of a training with the command in an empty folder, which is given back as it was."""
    (folder / "schema.toml").write_text(SCHEMA % TARGETS[model])
    words = ("train", table, "--schema", "schema.toml", "--epsilon", 1, "--model", model, "--alpha", 0.1)

    def act() -> int:
        done = run_program(*words, "--mechanism", "output", "--ledger", "people", folder=folder)
        sys.stdout.write(done.stdout)
        sys.stderr.write(done.stderr)
        return done.returncode

    shutil.rmtree(folder / "home", ignore_errors=True)
    eq.Ledger("people").create(eq.Budget(100.0, 0.0))
    seen = observed(act, folder)
    shutil.rmtree(folder / "release", ignore_errors=True)
    return seen


def lines(column: str, field: bytes) -> bytes:
    rows = [[b"%d" % (place % 2)] * len(COLUMNS) for place in range(N_SAMPLES)]
    rows[PLACE][COLUMNS.index(column)] = field
    return b"\n".join([",".join(COLUMNS).encode(), *(b",".join(row) for row in rows), b""])


@pytest.mark.parametrize("model", TARGETS)
@pytest.mark.parametrize("column", COLUMNS)
def test_a_field_of_a_line_changes_nothing_that_is_seen(folder, model, column):
    seen = {}
    for name, field in FIELDS.items():
        (folder / "rows.csv").write_bytes(lines(column, field))
        seen[name] = trained(folder, "rows.csv", model)
    assert seen["plain"].exit_code == 0
    assert not {name: found for name, one in seen.items() if (found := differences(seen["plain"], one))}


# The fast lane: numbers and texts of features in one form of files, targets in the other.
FAST = ("parquet", "logistic", "age"), ("parquet", "logistic", "job"), ("arrow", "logistic", "target")


@pytest.mark.parametrize(
    ("form", "model", "column"),
    [
        pytest.param(form, *case, marks=() if (form, *case) in FAST else pytest.mark.statistics)
        for form in WRITERS
        for case in [("logistic", "age"), ("logistic", "job"), ("logistic", "target"), ("ridge", "target")]
    ],
)
def test_a_value_in_a_file_changes_nothing_that_is_seen(folder, form, model, column):
    compared = 0
    for kind, written in ARROW.items():
        seen = {}
        for name, value in VALUES.items():
            entries = with_value([place % 2 for place in range(N_SAMPLES)], value)
            odd = made(lambda given, written=written: pa.array(given, written), spelled(entries, kind))
            if odd is not None:
                others = {other: pa.array([place % 2 for place in range(N_SAMPLES)]) for other in COLUMNS}
                WRITERS[form](pa.table({**others, column: odd}), folder / f"rows.{form}")
                seen[name] = trained(folder, f"rows.{form}", model)
        compared += len(seen)
        assert not {name: found for name, one in seen.items() if (found := differences(seen["plain"], one))}
    assert compared >= 15


def coded(index: int | None, column: str, model: str) -> Any:
    codes: list[int | None] = [place % 2 for place in range(N_SAMPLES)]
    codes[PLACE] = index
    words = pa.array([0.0, 1.0] if "age" in column or model == "ridge" else ["0", "1"])
    return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int8()), words, safe=False)


def viewed(view: tuple[int, bytes, int, int]) -> Any:
    views = [struct.pack("<i4sii", 1, b"%d" % (place % 2), 0, 0) for place in range(N_SAMPLES)]
    views[PLACE] = struct.pack("<i4sii", *view)
    buffers = [None, pa.py_buffer(b"".join(views)), pa.py_buffer(b"1" * 32)]
    return pa.Array.from_buffers(pa.string_view(), N_SAMPLES, buffers)


@pytest.mark.parametrize(
    ("model", "column"), [("logistic", "age"), ("logistic", "job"), ("logistic", "target"), ("ridge", "target")]
)
def test_a_place_that_a_row_of_a_file_names_changes_nothing_that_is_seen(folder, model, column):
    others = {other: pa.array([place % 2 for place in range(N_SAMPLES)]) for other in COLUMNS}
    forms = [{name: coded(index, column, model) for name, index in INDICES.items()}]
    if column != "age" and model != "ridge":
        forms.append({name: viewed(view) for name, view in VIEWS.items()})
    for form in forms:
        seen = {}
        for name, odd in form.items():
            WRITERS["arrow"](pa.table({**others, column: odd}), folder / "rows.arrow")
            seen[name] = trained(folder, "rows.arrow", model)
        assert seen["plain"].exit_code == 0
        assert not {name: found for name, one in seen.items() if (found := differences(seen["plain"], one))}
