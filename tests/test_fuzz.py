"""A small, deterministic share of `make fuzz`, and that the fuzzer finds what was planted for it."""

import json
import random
import types

import pytest

from equipoise.errors import EquipoiseError
from fuzz import engine, mutation, run
from fuzz.readers import members

READERS = members()
# A line of commands takes 20 ms, the figures of an evaluation more, most other inputs less than one.
FEWER = {"command_line": 60, "certificate": 200, "evaluation": 40}


@pytest.mark.parametrize(
    "line", [["verify", "/nowhere"], ["schema", "draft", "/nowhere.csv"], ["ledger", "show", "?#?"]]
)
def test_lines_run_the_commands_themselves(line):
    with pytest.raises(EquipoiseError):
        READERS["command_line"].read(json.dumps(line).encode())


@pytest.mark.parametrize("name", READERS)
def test_a_share_of_hostile_inputs_is_answered_or_refused(name):
    tally = engine.unguided(READERS[name], name, FEWER.get(name, 300), seed=18)
    assert (tally.inputs, tally.escapes, tally.hangs) == (FEWER.get(name, 300), {}, 0)
    # Alterations that leave nothing valid would test a reader's first line only, and no alteration at all nothing.
    assert tally.answered > 0


def test_every_example_is_altered_and_the_same_seed_gives_the_same_inputs():
    for reader in READERS.values():
        data = reader.examples()[0]
        first, second = (
            [engine.altered(reader, data, random.Random(seed)) for seed in range(20)]  # noqa: S311
            for _ in range(2)
        )
        assert first == second
        assert len({data, *first}) > 10


def planted(read):
    """Return a reader of JSON with a fault."""
    return types.SimpleNamespace(examples=lambda: [b'{"a": [1, 2], "b": "x"}'], mutate=mutation.json_values, read=read)


def test_a_planted_escape_is_found_and_kept(tmp_path):
    def read(data):
        if b'"a"' in data:
            return len(json.loads(data)["a"])
        return None

    tally = engine.unguided(planted(read), "planted", 400, seed=1, keep=tmp_path)
    assert "TypeError" in {place.split()[0] for place in tally.escapes}
    kept = [path.read_bytes() for path in tmp_path.iterdir()]
    assert kept
    for data in kept:
        with pytest.raises((TypeError, ValueError)):
            read(data)


def test_a_planted_hang_is_found_even_where_every_exception_is_caught(monkeypatch):
    monkeypatch.setattr(engine, "SECONDS", 0.05)

    def read(data):
        while b"true" in data:
            try:
                sum(range(1000))
            except Exception:
                return

    assert engine.unguided(planted(read), "planted", 300, seed=1).hangs > 0


def test_a_planted_hunger_for_memory_is_found(monkeypatch):
    monkeypatch.setattr(engine, "BYTES", 2**25)
    tally = engine.unguided(planted(lambda data: len(b"x" * 2**27) if b"20" not in data else 0), "planted", 3, seed=1)
    if tally.memory == 0:
        pytest.skip("this system does not tell a process's largest size")
    assert tally.escapes == {"more memory than the ceiling": 3}


def test_the_table_names_every_reader_and_every_escape():
    text = engine.table([engine.Tally("one", 5, 3), engine.Tally("two", 7, 1, 1, escapes={"KeyError x.py:1": 2})])
    assert [line.split()[:2] for line in text.splitlines()[1:4]] == [["one", "5"], ["two", "7"], ["all", "12"]]
    assert "two: KeyError x.py:1 (2)" in text


@pytest.mark.statistics
@pytest.mark.parametrize("name", READERS)
def test_every_reader_starts_guided_and_tries_its_inputs(name, tmp_path):
    pytest.importorskip("atheris", reason="the fuzzer is installed by make .fuzzer/.ready, on Linux and x86-64 only")
    tally = run.guided(name, 200, tmp_path, seed=1)
    assert (tally.inputs, tally.escapes, tally.hangs) == (200, {}, 0)


def test_a_process_that_does_not_start_is_an_escape(tmp_path, monkeypatch):
    monkeypatch.setattr(run.sys, "executable", "false")
    assert run.guided("schema", 50, tmp_path, seed=1).escapes == {"no process started (1): schema.log": 1}
