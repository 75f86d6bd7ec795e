"""Folders of version 0.1.0: they open and predict exactly as they did; their certificates are not checkable here."""

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import equipoise as eq
from equipoise.artifact.findings import inspect
from equipoise.certify.folder import CERTIFICATE, MANIFEST, MODEL, REPORT, SCHEMA
from equipoise.errors import CertificateUnreadable, InvalidParameter, NotCheckable, ReleaseUnreadable
from released_folders import sealed

STORED = Path(__file__).parents[1] / "released" / "0.1.0"
NAMES = sorted(path.name for path in STORED.iterdir() if path.is_dir())
every_folder = pytest.mark.parametrize("name", NAMES)
REMEDY = "check it with version 0.1.0, whose source CHANGELOG.md names, or release again"


def opened_copy(name: str, place: Path) -> Path:
    """Return a copy of a stored folder with what the repository left out: a page, and the manifest."""
    folder = place / "release"
    folder.mkdir(parents=True)
    for file in (MODEL, CERTIFICATE, SCHEMA):
        if (STORED / name / file).exists():
            shutil.copy(STORED / name / file, folder / file)
    (folder / REPORT).write_text("<p>the page was left out of the repository</p>")
    sealed(folder)
    return folder


@pytest.fixture
def folder(name, tmp_path) -> Path:
    return opened_copy(name, tmp_path)


def expected(name: str) -> tuple[object, dict]:
    """Return the stored rows, and what version 0.1.0 predicted for them."""
    stored = json.loads((STORED / name / "predictions.json").read_text())
    rows = stored.pop("rows")
    return (pd.DataFrame(rows) if isinstance(rows, dict) else np.array(rows)), stored


def test_every_kind_of_stored_folder_is_looked_at():
    assert NAMES == ["few-directions", "regression-with-dropout", "schema-with-private-bounds", "three-classes"]


@every_folder
def test_a_folder_opens_and_predicts_exactly_what_it_did(name, folder):
    model = eq.load(folder)
    rows, stored = expected(name)
    assert model.predict(rows).tolist() == stored["predictions"]
    assert ("probabilities" in stored) is hasattr(model, "predict_proba")
    if "probabilities" in stored:
        assert model.predict_proba(rows).tolist() == stored["probabilities"]


@every_folder
def test_what_was_asked_for_is_known_again(name, folder):
    model, asked = eq.load(folder), json.loads((folder / CERTIFICATE).read_text())["request"]
    record = json.loads((folder / MODEL).read_text())
    kinds = {"logistic": eq.LogisticRegression, "dropout-regressor": eq.DropoutRegressor}
    assert type(model) is kinds[record["model"]]
    assert (model.epsilon, model.delta) == (asked["budget"]["epsilon"], asked["budget"]["delta"])
    assert model.alpha == asked["alpha"]
    assert model.fit_intercept is (asked["intercept"] > 0)
    assert model.public_seed == asked["public_seed"]
    assert np.atleast_2d(model.coef_).tolist() == record["coefficients"]
    assert np.atleast_1d(model.intercept_).tolist() == record["intercepts"]
    assert getattr(model, "classes_", np.array([])).tolist() == record["classes"]


def test_bounds_that_were_paid_for_encode_raw_rows(tmp_path):
    model = eq.load(opened_copy("schema-with-private-bounds", tmp_path))
    assert [column.bounds for column in model.schema_.columns[:2]] == [(18.0, 90.0), (0.5, 500000.0)]
    assert list(model.feature_names_in_) == ["age", "weight", "ward"]
    assert model.n_features_in_ == 3


def test_a_dropout_model_still_says_that_its_proposal_was_not_refused(tmp_path):
    # None was made: a lower bound on the curvature was released, which never fails.
    assert eq.load(opened_copy("regression-with-dropout", tmp_path)).refused_ is False


@pytest.mark.parametrize("name", ["schema-with-private-bounds", "three-classes"])
def test_an_opened_folder_becomes_plain_scikit_learn(name, folder):
    rows, stored = expected(name)
    assert eq.load(folder).to_sklearn().predict(rows).tolist() == stored["predictions"]


@every_folder
def test_a_check_says_that_it_is_not_checkable_and_what_to_do(name, folder):
    model = eq.load(folder)
    text = (folder / CERTIFICATE).read_text()
    for check in (
        lambda: inspect(folder),
        lambda: inspect(folder / CERTIFICATE),
        lambda: eq.Certificate.from_json(text),
        model.certificate_.verify,
    ):
        with pytest.raises(NotCheckable) as caught:
            check()
        assert caught.value.found == "schema 1: not checkable by this version"
        assert caught.value.remedy == REMEDY


@every_folder
def test_the_certificate_is_kept_as_it_was(name, folder):
    model, text = eq.load(folder), (folder / CERTIFICATE).read_text()
    stated = json.loads(text)
    assert model.certificate_.to_json() == text
    assert model.certificate_.digest == stated["digest"]
    assert model.certificate_.schema_version == 1
    assert model.certificate_.budget == eq.Budget(**stated["request"]["budget"])


@every_folder
def test_it_is_not_saved_again_as_if_this_version_had_made_it(name, folder, tmp_path):
    with pytest.raises(InvalidParameter, match="keep its folder as it is"):
        eq.save(eq.load(folder), tmp_path / "again")
    assert not (tmp_path / "again").exists()


@every_folder
@pytest.mark.parametrize("file", [MODEL, CERTIFICATE, REPORT, MANIFEST])
def test_an_altered_byte_keeps_a_folder_closed(name, file, folder):
    data = bytearray((folder / file).read_bytes())
    for position in np.linspace(0, len(data) - 1, 20).astype(int).tolist():
        data[position] ^= 1
        (folder / file).write_bytes(bytes(data))
        with pytest.raises(ReleaseUnreadable):
            eq.load(folder)
        data[position] ^= 1


def altered(folder: Path, file: str, change) -> None:
    record = json.loads((folder / file).read_text())
    change(record)
    (folder / file).write_text(json.dumps(record))
    sealed(folder)


FOREIGN = {
    "weights for another certificate": (MODEL, lambda record: record.update(certificate="0" * 64)),
    "one weight too few": (MODEL, lambda record: record["coefficients"][0].pop()),
    "no weights": (MODEL, lambda record: record.update(coefficients=[])),
    "one intercept too many": (MODEL, lambda record: record["intercepts"].append(0.0)),
    "no model's name": (MODEL, lambda record: record.pop("model")),
    "a setting of nobody": (MODEL, lambda record: record["settings"].append({"name": "no_such", "value": 1.0})),
    "text for numbers": (MODEL, lambda record: record.update(intercepts=["0.0"] * len(record["intercepts"]))),
    "names of other columns": (MODEL, lambda record: record.update(features=["age"])),
    "a model of another task": (
        MODEL,
        lambda record: record.update(model="ridge" if record["classes"] else "logistic", settings=[]),
    ),
    "no request": (CERTIFICATE, lambda record: record.pop("request")),
    "no domain": (CERTIFICATE, lambda record: record["request"].pop("domain")),
    "a domain of nothing": (CERTIFICATE, lambda record: record["request"]["domain"].update(row_norm=-1.0)),
    "a schema of somebody else": (CERTIFICATE, lambda record: record["request"].update(schema="ab" * 32)),
    "another number of columns": (CERTIFICATE, lambda record: record["request"].update(n_features=7)),
    "no projection": (CERTIFICATE, lambda record: record["argument"]["procedure"].pop("projection")),
}


@pytest.mark.parametrize("change", FOREIGN)
@every_folder
def test_files_that_do_not_belong_together_are_refused_under_a_fresh_manifest(name, change, folder):
    altered(folder, *FOREIGN[change])
    with pytest.raises(ReleaseUnreadable) as caught:
        eq.load(folder)
    assert caught.value.remedy == "ask for the released folder again"


def test_a_newer_certificate_beside_old_weights_is_refused(tmp_path):
    folder = opened_copy("three-classes", tmp_path)
    altered(folder, CERTIFICATE, lambda record: record.update(schema_version=3))
    for read in (eq.load, inspect):
        with pytest.raises((CertificateUnreadable, NotCheckable), match="newer"):
            read(folder)
