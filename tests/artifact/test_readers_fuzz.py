"""Whatever a file holds, its reader answers or refuses: no traceback, no hang, nothing touched outside the folder."""

import json
import signal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import equipoise as eq
from equipoise.artifact import folder as released
from equipoise.artifact import model_file, version_1
from equipoise.artifact.findings import LARGEST, inspect
from equipoise.certify import record as records
from equipoise.certify.claims.simplex import MOST_ONES, CountCurve
from equipoise.certify.folder import CERTIFICATE, MANIFEST, MODEL, manifest_faults, manifest_of
from equipoise.data.schema import CategoryColumn, NumberColumn, Target
from equipoise.errors import CertificateUnreadable, EquipoiseError, ReleaseUnreadable
from equipoise.vocabulary.facts import Label
from released_folders import sealed
from stored_certificates import FOLDER, STORED, name_of, numbers, put

COLUMNS = (NumberColumn("age", (0, 100)), CategoryColumn("job", ("none", "nurse"), unknown="none"))
SCHEMA = eq.Schema(50, COLUMNS, Target("ill", classes=(0, 1)), vouched_by="A. Officer", vouched_on="2026-11-16")
ROWS = {"age": np.linspace(0, 100, 50), "job": ["none", "nurse"] * 25, "ill": [0, 1] * 25}

any_numbers = st.one_of(
    st.integers(), st.floats(), st.sampled_from([0, -1, 10**18, 10**400, 1e308, 5e-324, -0.0, 2**63])
)
leaves = st.one_of(st.none(), st.booleans(), any_numbers, st.text(max_size=20))
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
    for read in (eq.Schema.from_text, eq.Certificate.from_json, model_file.read):
        answers_or_refuses(read, text)


@quick
@given(st.binary(), st.dictionaries(st.sampled_from(sorted(LARGEST)), st.binary(max_size=5), max_size=3))
def test_a_manifest_of_any_bytes_is_judged(data, listed):
    listed.pop(MANIFEST, None)
    for text in (data, manifest_of(listed).encode(), manifest_of(listed).encode() + data):
        faults = tuple(manifest_faults({**listed, MANIFEST: text}))
        assert (faults == ()) == (text == manifest_of(listed).encode())


@quick
@given(values)
def test_readers_of_json_take_any_json(value):
    text = json.dumps(value)
    answers_or_refuses(eq.Certificate.from_json, text)
    answers_or_refuses(model_file.read, text)


@quick
@given(position=st.integers(0, 10**4), value=values)
def test_any_value_in_any_place_of_a_model_is_answered_or_refused(position, value, files):
    record = json.loads(files[MODEL])
    found = list(places(record))
    answers_or_refuses(model_file.read, json.dumps(put(record, found[position % len(found)], value)))


@pytest.mark.parametrize("part", ["terms", "claim", "notes"])
@quick
@given(position=st.integers(0, 10**4), value=values)
def test_any_value_in_any_place_of_a_certificate_is_answered_or_refused(part, position, value, files):
    record = json.loads(files[CERTIFICATE])
    found = list(places(record[part], (part,)))
    text = json.dumps(put(record, found[position % len(found)], value))
    answers_or_refuses(eq.Certificate.from_json, text)
    answers_or_refuses(lambda: eq.Certificate.from_json(text).verify())
    answers_or_refuses(lambda: eq.Certificate.from_json(text).explain())


OLD = Path(__file__).parents[1] / "released" / "0.1.0"


@pytest.mark.parametrize("file", [MODEL, CERTIFICATE])
@pytest.mark.parametrize("name", ["regression-with-dropout", "three-classes"])
@quick
@given(position=st.integers(0, 10**4), value=values)
def test_any_value_in_any_place_of_a_folder_of_0_1_0_is_answered_or_refused(name, file, position, value):
    texts = {each: (OLD / name / each).read_text() for each in (MODEL, CERTIFICATE)}
    record = json.loads(texts[file])
    found = list(places(record))
    texts[file] = json.dumps(put(record, found[position % len(found)], value))
    answers_or_refuses(version_1.opened, texts[MODEL], texts[CERTIFICATE], None)


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
    if again and name != MANIFEST:
        sealed(folder)
    before = snapshot(around)
    answers_or_refuses(inspect, folder)
    answers_or_refuses(eq.load, folder)
    assert snapshot(around) == before


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


# Sizes that a certificate may claim and nobody can work through.
HOSTILE = {
    "rows": (("terms", "n_samples"), 10**15),
    "rows of the claim": (("claim", "n_samples"), 10**15),
    "rows beyond all": (("claim", "n_samples"), 10**400),
    "columns": (("claim", "n_features"), 10**9),
    "columns beyond all": (("claim", "n_features"), 10**400),
    "numbers with noise": (("claim", "noise", "dimension"), 10**15),
    "a tiny epsilon": (("claim", "budget", "epsilon"), 1e-90),
    "a huge epsilon": (("claim", "budget", "epsilon"), 1e300),
    "a tiny delta": (("claim", "budget", "delta"), 1e-300),
    "a tiny alpha": (("claim", "problem", "penalty", "alpha"), 1e-90),
    "a huge alpha": (("claim", "problem", "penalty", "alpha"), 1e90),
    "a huge row norm": (("claim", "problem", "domain", "row_norm"), 1e90),
    "many classes": (("claim", "problem", "loss"), "multinomial:1000000000"),
    "a loss's number": (("claim", "problem", "loss"), "clipped-logistic:1e-300"),
    "a long name": (("claim", "problem", "loss"), "x" * 10**6),
    "a long kind": (("claim", "kind"), "x" * 10**6),
    "a long theorem": (("claim", "theorem"), "x" * 10**6),
    "no noise": (("claim", "noise", "scale"), 0.0),
}
# Whatever ends, ends within this many seconds of the processor's time: a busy machine changes nothing.
SOON = 20


@pytest.fixture
def soon():
    """Fail what takes longer than anyone waits for an answer."""

    def late(*_):
        raise TimeoutError(f"no answer within {SOON} s")

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, SOON)
    yield
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.signal(signal.SIGPROF, before)


@pytest.mark.parametrize("read", ["verify", "explain"])
@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.usefixtures("soon")
def test_hostile_sizes_end_soon(name, read, files):
    path, value = HOSTILE[name]
    text = json.dumps(put(json.loads(files["certificate.json"]), path, value))
    answers_or_refuses(lambda: getattr(eq.Certificate.from_json(text), read)())


EXTREMES = (0, -1, 10**9, 10**15, 10**400, 0.0, -1.0, 5e-324, 1e-90, 1e300, -1e300)
ORDINARY = [path for path in STORED if path.stem.endswith("-ordinary") or path.stem.startswith("method-")]


@pytest.mark.parametrize("path", ORDINARY, ids=name_of)
@pytest.mark.usefixtures("soon")
def test_any_number_of_any_kind_may_be_hostile(path):
    record = json.loads(path.read_text())
    for place, value in numbers(record):
        for other in EXTREMES:
            if isinstance(other, type(value)) or isinstance(value, float):
                text = json.dumps(put(record, place, other))
                answers_or_refuses(lambda text=text: eq.Certificate.from_json(text).verify())


@pytest.mark.usefixtures("soon")
def test_a_million_passes_with_skips_are_checked_soon():
    record = json.loads((FOLDER / "0.2.0" / "sgd-skipped.json").read_text())
    record["claim"]["recipe"] |= {"passes": 1e6, "decay": 0.01}
    assert eq.Certificate.from_json(json.dumps(record)).verify()


@pytest.mark.usefixtures("soon")
def test_more_ones_than_can_be_counted_are_not_counted():
    # Found by `make fuzz`: a claim of 10**18 ones was said not to be countable, and then counted.
    most = CountCurve(3, MOST_ONES).delta(1e-5)
    assert 0 < most < 1
    assert CountCurve(3, 10**18).delta(1e-5) == most


def test_more_passes_or_claims_than_anyone_checks_are_refused():
    record = json.loads((FOLDER / "0.2.0" / "sgd-skipped.json").read_text())
    passes = put(record, ("claim", "recipe", "passes"), 1e7)
    searched = json.loads((FOLDER / "0.2.0" / "choice-ordinary.json").read_text())
    claims = put(searched, ("claim", "of"), searched["claim"]["of"][:1] * 1000)
    for hostile in (passes, claims):
        with pytest.raises(CertificateUnreadable, match=r"at most 1000 claims with 1e\+06 passes"):
            eq.Certificate.from_json(json.dumps(hostile))
    part = put(record, ("claim", "recipe", "passes"), 3e5)["claim"]
    several = put(searched, ("claim", "of"), [part] * 4)
    with pytest.raises(CertificateUnreadable, match=r"5 claims with 1\.2e\+06 passes"):
        eq.Certificate.from_json(json.dumps(several))


@pytest.mark.parametrize("entry", ["0,", "[],", "{},", r'"\ud83d\ude00",'])
def test_notes_and_weights_with_too_many_entries_are_refused_unread(entry):
    record = json.loads((FOLDER / "0.2.0" / "output-ordinary.json").read_text())
    with pytest.raises(CertificateUnreadable, match="more than 1048576 entries"):
        eq.Certificate.from_json(json.dumps({**record, "notes": {"x": "X"}}).replace('"X"', f"[{entry * 2**20}0]"))
    with pytest.raises(ReleaseUnreadable, match="more than 4194304 entries"):
        model_file.read(f'{{"format_version": 2, "coefficients": [[{entry * 2**22}0]]}}')


@pytest.mark.parametrize(
    ("kind", "entries"),
    [
        (tuple[float, ...], [1] + [0.5] * 1000),
        (tuple[float, ...], [0.5] * 1000 + [1]),
        (tuple[str, ...], ["a"] * 1000),
        (tuple[Label, ...], [1, "a", True, 0.5] * 1000),
    ],
    ids=["a whole number first", "a whole number last", "names", "labels"],
)
def test_plain_entries_are_not_read_one_by_one(kind, entries, monkeypatch):
    """Millions of them would take minutes."""
    calls = []
    monkeypatch.setattr(records, "read", lambda *given, read=records.read: calls.append(given) or read(*given))
    found = records.read(kind, entries, "list")
    assert len(calls) == 1
    assert found == tuple(entries)
    assert kind != tuple[float, ...] or {type(entry) for entry in found} == {float}


def test_a_number_is_no_list_of_numbers():
    with pytest.raises(CertificateUnreadable):
        records.read(tuple[tuple[float, ...], ...], [0.5], "rows")


def test_a_text_that_is_none_is_refused():
    for value in (None, 3, b"{}"):
        with pytest.raises(CertificateUnreadable):
            eq.Certificate.from_json(value)


def test_deep_nesting_is_refused():
    for text in ("[" * 100_000, '{"a":' * 100_000, "[" * 100_000 + "]" * 100_000):
        for read in (eq.Certificate.from_json, model_file.read):
            with pytest.raises(EquipoiseError):
                read(text)
    with pytest.raises(EquipoiseError):
        eq.Schema.from_text("a = " + "[" * 100_000)
