"""The released folder: what is saved is what is loaded, and whatever is changed is noticed."""

import hashlib
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import equipoise as eq
from equipoise.artifact import folder as released
from equipoise.artifact import model_file
from equipoise.artifact.findings import inspect
from equipoise.artifact.reading import release_in
from equipoise.certify.certificate import Certificate, _digest
from equipoise.certify.folder import MANIFEST
from equipoise.data.schema import CategoryColumn, NumberColumn, Target
from equipoise.errors import InvalidParameter, OutputRefused, ReleaseUnreadable, UnknownName
from equipoise.estimators import models
from equipoise.estimators.classifier import PrivateClassifier
from released_folders import changed, every_changed_byte_is_noticed, found, same_predictions, sealed

MODELS = models()
N = 200
VOUCHED = {"vouched_by": "A. Officer", "vouched_on": "2026-11-16"}
COLUMNS = (NumberColumn("age", (0, 100), indicator=True), CategoryColumn("job", ("none", "nurse"), unknown="none"))
BLANK = (NumberColumn("age", None), COLUMNS[1])
TARGETS = {"yes or no": Target("ill", classes=("no", "yes")), "dose": Target("dose", bounds=(0, 400))}


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    generator = np.random.default_rng(1)
    age = generator.uniform(10, 110, N)
    table = pd.DataFrame({"age": age, "job": generator.choice(["none", "nurse", "pilot"], N)})
    table.loc[::7, "age"] = np.nan
    table["ill"], table["dose"] = np.where(age > 60, "yes", "no"), 3 * age
    return table


def schema_for(kind: type, columns=COLUMNS) -> eq.Schema:
    classification = issubclass(kind, PrivateClassifier)
    unused = ("dose",) if classification else ("ill",)
    return eq.Schema(N, columns, TARGETS["yes or no" if classification else "dose"], unused, **VOUCHED)


def fitted(kind: type, frame: pd.DataFrame, columns=COLUMNS):
    schema = schema_for(kind, columns)
    schema = schema if columns is COLUMNS else schema.with_private_bounds(1.5)
    # One classifier leaves alpha to public facts, which takes a search; the others have one if they can.
    given = {"alpha": 0.05} if "alpha" in kind().get_params() and kind is not eq.LogisticRegression else {}
    return kind(epsilon=2.0, delta=1e-4, domain=schema, random_state=0, **given).fit(frame)


@pytest.fixture(scope="module")
def release(frame, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("made") / "release"
    with pytest.MonkeyPatch.context() as patch:
        # As in `plain_page`; a release with its charts is made, verified and read in tests/cli/test_train.py.
        patch.setattr(released, "page_of", lambda certificate, *_, **__: f"<p>{certificate.digest}</p>")
        eq.save(fitted(eq.LogisticRegression, frame), path)
    return path


@pytest.fixture
def copy(release, tmp_path) -> Path:
    return Path(shutil.copytree(release, tmp_path / "release"))


# Bounds are bought by the schema's own code, whatever the model: one classifier and one regressor show it.
@pytest.mark.parametrize(
    ("name", "columns"),
    [
        *(pytest.param(name, COLUMNS, id=f"declared bounds-{name}") for name in MODELS),
        *(
            pytest.param(
                name,
                BLANK,
                id=f"private bounds-{name}",
                marks=() if name in ("logistic", "ridge") else pytest.mark.statistics,
            )
            for name in MODELS
        ),
    ],
)
@pytest.mark.usefixtures("plain_page")
def test_what_is_loaded_is_what_was_saved(name, columns, frame, tmp_path):
    model = fitted(MODELS[name], frame, columns)
    eq.save(model, tmp_path / "release")
    loaded = eq.load(tmp_path / "release")
    assert type(loaded) is type(model)
    assert loaded.certificate_ == model.certificate_
    assert inspect(tmp_path / "release").faults == ()
    same_predictions(model, loaded, frame)
    # Once more round gives the same bytes.
    eq.save(loaded, tmp_path / "again")
    for path in (tmp_path / "release").iterdir():
        assert path.read_bytes() == (tmp_path / "again" / path.name).read_bytes()


@pytest.mark.parametrize(
    "model",
    [
        eq.LogisticRegression(domain=eq.Domain(1.0, classes=(0, 1)), random_state=0),
        eq.LogisticRegression(domain=eq.Domain(1.0, classes=("a", "b", "c")), random_state=0),
        eq.LogisticRegression(domain=eq.Domain(1.0, classes="observed"), random_state=0),
        eq.LogisticRegression(domain=eq.Domain(1.0, classes=(1, 1.5, 2)), random_state=0),
        eq.LogisticRegression(domain=eq.Domain(1.0, classes=(0, 1.0)), random_state=0),
        eq.LinearSVC(domain=eq.Domain(1.0, classes=(False, 2)), random_state=0),
        eq.LinearSVC(domain=eq.Domain(1.0, classes=(False, True)), loss="smooth-hinge:0.5", random_state=0),
        eq.Ridge(domain=eq.Domain(1.0, labels=(-1.0, 3.0)), fit_intercept=False, random_state=0),
        eq.HuberRegressor(domain=eq.Domain(1.0, labels=(-1.0, 3.0)), cap=0.25, random_state=0),
        eq.ElasticNet(domain=eq.Domain(1.0, labels=(-1.0, 3.0)), l1_ratio=0.75, alpha=0.1, random_state=0),
    ],
    ids=[
        "two classes",
        "three classes",
        "observed",
        "whole and fractional classes",
        "a whole class written as a fraction",
        "truth and number",
        "smooth hinge",
        "no intercept",
        "huber",
        "elastic net",
    ],
)
@pytest.mark.usefixtures("plain_page")
def test_a_model_of_plain_rows_is_saved_without_a_schema(model, tmp_path):
    X = np.random.default_rng(0).uniform(-0.5, 0.5, (60, 3))
    classes = getattr(model.domain, "classes", None)
    y = X[:, 0] if classes is None else np.array(classes if classes != "observed" else (0, 1))[np.arange(60) % 2]
    model.fit(X, y)
    eq.save(model, tmp_path / "release")
    assert not (tmp_path / "release" / "schema.toml").exists()
    assert inspect(tmp_path / "release").faults == ()
    same_predictions(model, eq.load(tmp_path / "release"), X)


@pytest.mark.usefixtures("plain_page")
def test_a_frame_of_plain_rows_keeps_its_names(tmp_path):
    X = pd.DataFrame(np.random.default_rng(0).uniform(-0.5, 0.5, (60, 2)), columns=["age", "height"])
    model = eq.Ridge(domain=eq.Domain(1.0, labels=(-1.0, 1.0)), random_state=0).fit(X, X["age"])
    eq.save(model, tmp_path / "release")
    loaded = eq.load(tmp_path / "release")
    assert list(loaded.feature_names_in_) == ["age", "height"]
    same_predictions(model, loaded, X)


@pytest.mark.parametrize("name", ["MANIFEST.sha256", "schema.toml", "model.json", "certificate.json", "report.html"])
def test_any_changed_byte_is_noticed(copy, name):
    every_changed_byte_is_noticed(copy, name)


CHANGES = {
    "one more line": lambda data: data + b"\n",
    "one byte less": lambda data: data[:-1],
    "nothing": lambda data: b"",
    "a blank line first": lambda data: b"\n" + data,
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", ["MANIFEST.sha256", "model.json"])
def test_longer_and_shorter_files_are_noticed(copy, name, change):
    (copy / name).write_bytes(CHANGES[change]((copy / name).read_bytes()))
    found(copy)


def called(name: str, **settings) -> dict:
    """Return how model.json names an estimator."""
    return {"name": name, "settings": [{"name": key, "value": value} for key, value in settings.items()]}


FOREIGN = [
    {"certificate": "0" * 64},
    {"classes": ["yes", "no"]},
    {"classes": []},
    {"coefficients": [[1.0]]},
    {"coefficients": []},
    {"coefficients": [[1e999] * 4]},
    {"coefficients": [[1, 2, 3, 4]]},
    {"intercepts": [0.0, 0.0]},
    {"features": ["age"]},
    {"format_version": 1},
    {"format_version": 3},
    {"surprise": 1},
]
# Names of estimators and their settings, on which no claim rests: opening looks at them.
NAMED = [
    {"model": called("ridge")},
    {"model": called("os.system")},
    {"model": called("simplex-selector")},
    {"model": called("feature-selector")},
    {"model": called("grid-search")},
    {"model": called("logistic", ledger="x")},
    {"model": called("logistic", no_such=1.0)},
    {"model": called("svm", loss="smooth-hinge:0.5")},
    {"model": "logistic"},
]


def written(fields: dict) -> str:
    return json.dumps(fields)[:60]


@pytest.mark.parametrize("fields", FOREIGN, ids=written)
def test_a_model_that_does_not_belong_to_its_certificate_is_found_under_a_fresh_manifest(copy, fields):
    changed(copy, "model.json", **fields)
    found(copy)


@pytest.mark.parametrize("fields", [*FOREIGN, *NAMED], ids=written)
def test_a_model_that_does_not_belong_to_its_certificate_is_refused_under_a_fresh_manifest(copy, fields):
    changed(copy, "model.json", **fields)
    with pytest.raises((ReleaseUnreadable, UnknownName)):
        eq.load(copy)


@pytest.mark.usefixtures("plain_page")
def test_a_foreign_schema_and_a_foreign_certificate_are_refused(copy, frame, tmp_path):
    other = tmp_path / "other"
    eq.save(fitted(eq.LinearSVC, frame), other)
    schema = (copy / "schema.toml").read_text()
    for name, text in (
        ("schema.toml", schema.replace("100", "101")),
        ("certificate.json", (other / "certificate.json").read_text()),
    ):
        kept = (copy / name).read_text()
        (copy / name).write_text(text)
        sealed(copy)
        assert inspect(copy).faults
        (copy / name).write_text(kept)
    (copy / "schema.toml").unlink()
    sealed(copy)
    assert inspect(copy).faults


def test_a_forged_claim_is_named(copy):
    certificate = Certificate.from_json((copy / "certificate.json").read_text())
    noise = certificate.claim.noise
    claim = replace(certificate.claim, noise=replace(noise, scale=noise.scale / 2))
    forged = replace(certificate, claim=claim, digest=_digest(certificate.terms, claim))
    (copy / "certificate.json").write_text(forged.to_json())
    changed(copy, "model.json", certificate=forged.digest)
    assert any(fault.startswith("certificate.json: objective: delta(2) = ") for fault in inspect(copy).faults)


@pytest.mark.parametrize("name", ["MANIFEST.sha256", "model.json", "certificate.json", "report.html"])
def test_a_missing_file_is_named(copy, name):
    (copy / name).unlink()
    with pytest.raises(ReleaseUnreadable, match=re.escape(name)):
        inspect(copy)


def test_other_things_in_the_folder_are_named_and_not_opened(copy, tmp_path):
    (copy / "notes.txt").write_text("")
    with pytest.raises(ReleaseUnreadable, match=r"notes\.txt"):
        eq.load(copy)
    (copy / "notes.txt").unlink()
    (tmp_path / "secret").write_bytes((copy / "model.json").read_bytes())
    (copy / "model.json").unlink()
    (copy / "model.json").symlink_to(tmp_path / "secret")
    with pytest.raises(ReleaseUnreadable, match="plain file"):
        eq.load(copy)


def test_files_of_hostile_sizes_are_not_read(copy):
    with (copy / "model.json").open("r+b") as file:
        file.truncate(2**31)
    with pytest.raises(ReleaseUnreadable, match="of at most 134217728 bytes"):
        eq.load(copy)


def test_what_readers_would_refuse_is_not_written(tmp_path, monkeypatch):
    model = eq.LogisticRegression(epsilon=1.0, domain=eq.Domain(1.0, classes=(0, 1)), random_state=0)
    model.fit(np.eye(40)[:, :20], np.arange(40) % 2)
    monkeypatch.setattr(model_file, "MOST_ENTRIES", model_file.SPARE + 20)
    with pytest.raises(InvalidParameter, match="a model that can be released"):
        eq.save(model, tmp_path / "release")
    assert list(tmp_path.iterdir()) == []


def test_a_model_in_wide_letters_is_refused(copy):
    text = (copy / "model.json").read_text()
    (copy / "model.json").write_text(text.replace('"features": [', '"features": ["\U0001f600", '), encoding="utf-8")
    sealed(copy)
    for read in (eq.load, inspect):
        with pytest.raises(ReleaseUnreadable, match="ASCII"):
            read(copy)


@pytest.mark.parametrize("where", ["nowhere", "a file"])
def test_what_is_no_folder_is_refused(tmp_path, where):
    (tmp_path / "a file").write_text("")
    with pytest.raises(ReleaseUnreadable):
        eq.load(tmp_path / where)


@pytest.mark.usefixtures("plain_page")
def test_an_existing_folder_is_kept(copy, frame):
    before = {path.name: path.read_bytes() for path in copy.iterdir()}
    with pytest.raises(OutputRefused, match=r"pass --force \(in Python force=True\)"):
        eq.save(fitted(eq.LinearSVC, frame), copy)
    assert {path.name: path.read_bytes() for path in copy.iterdir()} == before
    eq.save(fitted(eq.LinearSVC, frame), copy, force=True)
    assert type(eq.load(copy)) is eq.LinearSVC


def test_an_evaluation_in_place_of_a_release_is_met_with_the_command_that_reads_it():
    with pytest.raises(ReleaseUnreadable, match="read it with equipoise figures FOLDER"):
        release_in({})


def test_an_unfitted_model_cannot_be_saved(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        eq.save(eq.Ridge(domain=eq.Domain(1.0, labels=(0.0, 1.0))), tmp_path / "release")
    assert list(tmp_path.iterdir()) == []


def test_the_manifest_is_what_sha256sum_reads(release):
    for line in (release / MANIFEST).read_text().splitlines():
        digest, name = line.split("  ")
        assert hashlib.sha256((release / name).read_bytes()).hexdigest() == digest


def test_nothing_in_the_package_loads_pickles_or_runs_text():
    source = Path(eq.__file__).parent
    words = re.compile(r"\b(pickle|import joblib|joblib\.load|marshal|eval\(|exec\(|yaml)\b")
    found = [path for path in source.rglob("*.py") if words.search(path.read_text())]
    # Parts travel to Spark's workers and answers come back: no file of others, and whoever can write these bytes runs
    # code on the workers already.
    assert sorted(path.relative_to(source / "data" / "engines").name for path in found) == [
        "spark.py",
        "spark_persons.py",
        "spark_work.py",
    ]


def test_model_json_is_plain_and_exact(release, frame):
    record = json.loads((release / "model.json").read_text())
    model = eq.load(release)
    assert record["format_version"] == 2
    assert record["model"]["name"] == "logistic"
    assert {entry["name"]: entry["value"] for entry in record["model"]["settings"]} == {
        "alpha": "public",
        "delta": 1e-4,
        "epsilon": 2.0,
        "fit_intercept": True,
        "mechanism": "auto",
        "public_seed": 0,
    }
    assert record["classes"] == ["no", "yes"]
    assert record["features"] == ["age", "age missing", "job=none", "job=nurse"]
    # A stranger predicts by hand: the encoded row times the coefficients, plus the intercept.
    rows = eq.SchemaEncoder(model.schema_).fit(frame).transform(frame)
    scores = rows @ np.array(record["coefficients"][0]) + record["intercepts"][0]
    np.testing.assert_allclose(scores, model.decision_function(frame), rtol=1e-12)
