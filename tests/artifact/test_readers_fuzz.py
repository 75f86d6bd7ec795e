"""Whatever a file holds, its reader answers or refuses: no traceback, no hang, nothing touched outside the folder."""

import copy as copying
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import equipoise as eq
from equipoise.artifact import folder as released
from equipoise.artifact import manifest
from equipoise.artifact.model_file import read_record
from equipoise.data.schema import CategoryColumn, NumberColumn, Target
from equipoise.errors import EquipoiseError

COLUMNS = (NumberColumn("age", (0, 100)), CategoryColumn("job", ("none", "nurse"), unknown="none"))
SCHEMA = eq.Schema(50, COLUMNS, Target("ill", classes=(0, 1)), vouched_by="A. Officer", vouched_on="2026-11-16")
ROWS = {"age": np.linspace(0, 100, 50), "job": ["none", "nurse"] * 25, "ill": [0, 1] * 25}

numbers = st.one_of(st.integers(), st.floats(), st.sampled_from([0, -1, 10**18, 10**400, 1e308, 5e-324, -0.0, 2**63]))
leaves = st.one_of(st.none(), st.booleans(), numbers, st.text(max_size=20))
values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
)
quick = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def files() -> dict[str, str]:
    import pandas as pd

    model = eq.LogisticRegression(domain=SCHEMA, random_state=0).fit(pd.DataFrame(ROWS))
    with pytest.MonkeyPatch.context() as patch:
        # No reader looks at the page, and its charts take seconds to plan.
        patch.setattr(released, "page_of", lambda certificate, *_, **__: f"<p>{certificate.digest}</p>")
        return released.files_of(model)


def places(record, path=()):
    """Yield the place of every value inside a JSON record."""
    entries = record.items() if isinstance(record, dict) else enumerate(record) if isinstance(record, list) else ()
    for key, value in entries:
        yield (*path, key)
        yield from places(value, (*path, key))


def replaced(record, path, value):
    changed = copying.deepcopy(record)
    inner = changed
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return changed


def answers_or_refuses(read, *arguments) -> None:
    refusal = None
    try:
        read(*arguments)
    except EquipoiseError as error:
        refusal = error
    assert refusal is None or (refusal.asked and refusal.remedy and len(str(refusal)) < 5000)


@quick
@given(st.text() | st.binary().map(lambda data: data.decode("latin-1")))
def test_readers_of_text_take_any_text(text):
    for read in (eq.Schema.from_text, eq.Certificate.from_json, read_record):
        answers_or_refuses(read, text)


@quick
@given(st.binary(), st.dictionaries(st.sampled_from(sorted(released.LARGEST)), st.binary(max_size=5), max_size=3))
def test_a_manifest_of_any_bytes_is_judged(data, listed):
    found = manifest.faults(data, listed)
    assert (found == ()) == (data == manifest.render(listed).encode())


@quick
@given(values)
def test_readers_of_json_take_any_json(value):
    text = json.dumps(value)
    answers_or_refuses(eq.Certificate.from_json, text)
    answers_or_refuses(read_record, text)


@pytest.mark.parametrize("name", ["certificate.json", "model.json"])
@quick
@given(position=st.integers(0, 10**4), value=values)
def test_any_value_in_any_place_is_answered_or_refused(name, position, value, files):
    record = json.loads(files[name])
    found = list(places(record))
    text = json.dumps(replaced(record, found[position % len(found)], value))
    if name == "model.json":
        answers_or_refuses(read_record, text)
        return
    answers_or_refuses(eq.Certificate.from_json, text)
    answers_or_refuses(lambda: eq.Certificate.from_json(text).verify())
    answers_or_refuses(lambda: eq.Certificate.from_json(text).explain())


@pytest.mark.parametrize("name", ["certificate.json", "model.json", "schema.toml", "MANIFEST.sha256", "report.html"])
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), again=st.booleans())
def test_a_damaged_folder_is_refused_and_nothing_beside_it_changes(name, data, again, files, tmp_path_factory):
    around = tmp_path_factory.mktemp("around")
    folder = around / "release"
    folder.mkdir()
    (around / "beside").write_text("precious")
    for file, text in files.items():
        (folder / file).write_text(text)
    content = bytearray(files[name].encode())
    start = data.draw(st.integers(0, len(content)))
    content[start : start + data.draw(st.integers(0, 20))] = data.draw(st.binary(max_size=20))
    (folder / name).write_bytes(bytes(content))
    if again and name != manifest.NAME:
        listed = {file: (folder / file).read_bytes() for file in files if file != manifest.NAME}
        (folder / manifest.NAME).write_text(manifest.render(listed))
    before = snapshot(around)
    answers_or_refuses(released.inspect, folder)
    answers_or_refuses(eq.load, folder)
    assert snapshot(around) == before


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


# Sizes that a certificate may claim and nobody can work through.
HOSTILE = {
    "rows": (("request", "n_samples"), 10**15),
    "rows beyond all": (("request", "n_samples"), 10**400),
    "columns": (("request", "n_features"), 10**9),
    "columns beyond all": (("request", "n_features"), 10**400),
    "a tiny epsilon": (("request", "budget", "epsilon"), 1e-90),
    "a huge epsilon": (("request", "budget", "epsilon"), 1e300),
    "a tiny delta": (("request", "budget", "delta"), 1e-300),
    "a tiny alpha": (("request", "alpha"), 1e-90),
    "a huge alpha": (("request", "alpha"), 1e90),
    "a huge row norm": (("request", "domain", "row_norm"), 1e90),
    "many classes": (("request", "loss"), "multinomial:1000000000"),
    "a mechanism's number": (("request", "mechanism"), "objective:1e-300"),
    "a batch": (("request", "mechanism"), "noisy-gradient:999999999999"),
    "a long name": (("request", "mechanism"), "x" * 10**6),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_sizes_end_soon(name, files):
    path, value = HOSTILE[name]
    record = replaced(json.loads(files["certificate.json"]), path, value)
    text = json.dumps(record)
    answers_or_refuses(lambda: eq.Certificate.from_json(text).verify())


def test_deep_nesting_is_refused():
    for text in ("[" * 100_000, '{"a":' * 100_000, "[" * 100_000 + "]" * 100_000):
        for read in (eq.Certificate.from_json, read_record):
            with pytest.raises(EquipoiseError):
                read(text)
    with pytest.raises(EquipoiseError):
        eq.Schema.from_text("a = " + "[" * 100_000)
