"""Weights beside an honest certificate that hold more than its noise covers, with the manifest made again."""

import json
from dataclasses import replace

import numpy as np
import pytest

import equipoise as eq
from equipoise.artifact.findings import inspect
from equipoise.artifact.folder import save
from equipoise.certify.certificate import Certificate
from equipoise.certify.folder import CHECK_FAILED, DONE, MANIFEST, MODEL, manifest_of, model_faults
from equipoise.data.unread import Unread
from equipoise.errors import CertificateUnreadable, InvalidParameter, ReleaseUnreadable
from equipoise.noise.source import ExactSource
from equipoise.release.door import release
from stored_certificates import FOLDER

pytestmark = pytest.mark.usefixtures("plain_page")

GENERATOR = np.random.default_rng(0)
X = GENERATOR.normal(size=(400, 3)) / 3
TWO, THREE = (X[:, 0] > 0).astype(int), (np.abs(X[:, 0]) * 9).astype(int) % 3


def plain(classes, **settings):
    return eq.LogisticRegression(domain=eq.Domain(1.0, classes=classes), alpha=0.1, mechanism="output", **settings)


def rewritten(folder, edit):
    """Return what a check finds after an edit of the model, with the manifest made again."""
    model = json.loads((folder / MODEL).read_text())
    edit(model)
    (folder / MODEL).write_text(json.dumps(model))
    (folder / MANIFEST).write_text(manifest_of({path.name: path.read_bytes() for path in folder.iterdir()}))
    return inspect(folder)


def test_the_certificate_of_an_evaluation_is_none_of_a_model():
    text = (FOLDER / "0.2.0" / "evaluation-released.json").read_text()
    certificate = Certificate.from_json(text)
    named = {"name": "logistic", "settings": []}
    empty = {name: [] for name in ("coefficients", "intercepts", "features", "classes")}
    model = empty | {
        "format_version": 2,
        "certificate": certificate.digest,
        "model": named,
        "estimator": None,
        "selected": [0],
    }
    assert "model.json: beside an evaluation, which has none" in tuple(model_faults(model, certificate))


@pytest.mark.parametrize("classes", [[], [0, 1, 2], [0, None], ["a", "b" * 1001], 3], ids=lambda value: str(value)[:9])
def test_observed_classes_are_one_or_two_labels(classes, tmp_path):
    save(plain("observed").fit(X, TWO), tmp_path / "release")
    findings = rewritten(tmp_path / "release", lambda model: model.update(classes=classes))
    assert any("other classes" in fault for fault in findings.faults)
    with pytest.raises(ReleaseUnreadable):
        eq.load(tmp_path / "release")


def uncentred(model):
    model["coefficients"] = [
        [entry + 100 * value for entry, value in zip(row, X[0], strict=True)] for row in model["coefficients"]
    ]


EDITS = {
    "a constant without noise": lambda model: model.update(intercepts=[float(TWO.mean())]),
    "rows as selected columns": lambda model: model.update(selected=X[0].tolist()),
    "rows as a name": lambda model: model.update(features=[X[0].tolist()] * 3),
    "rows as settings": lambda model: model.update(estimator={"rows": X[:3].tolist()}),
    "rows as a setting": lambda model: model["model"]["settings"].append({"name": "rows", "value": X[0].tolist()}),
}


@pytest.mark.parametrize("name", EDITS)
def test_numbers_that_no_noise_covers_are_noticed(name, tmp_path):
    save(plain((0, 1), fit_intercept=False).fit(X, TWO), tmp_path / "release")
    assert inspect(tmp_path / "release").verdict[0] == DONE
    assert rewritten(tmp_path / "release", EDITS[name]).verdict[0] == CHECK_FAILED
    with pytest.raises(ReleaseUnreadable):
        eq.load(tmp_path / "release")


def test_sums_over_classes_are_not_released(tmp_path):
    save(plain((0, 1, 2)).fit(X, THREE), tmp_path / "release")
    assert inspect(tmp_path / "release").verdict[0] == DONE
    assert rewritten(tmp_path / "release", uncentred).verdict[0] == CHECK_FAILED


def test_a_plan_is_no_release(tmp_path):
    model = plain((0, 1)).fit(X, TWO)
    save(model, tmp_path / "release")
    document = json.loads((tmp_path / "release" / MODEL).read_text())
    planned = plain((0, 1)).plan(*X.shape)
    document["certificate"] = planned.digest
    assert list(model_faults(document, planned)) == ["certificate.json: a plan, beside weights"]


def test_after_a_refusal_nothing_else_is_in_the_model():
    settings = {"domain": eq.Domain(1.0, labels=(-1.0, 1.0)), "radius": 1.0, "alpha": 0.1, "delta": 1e-3}
    model = eq.DropoutRegressor(epsilon=20.0, proposal=0.05, random_state=0, **settings).fit(X * 1e-3, X[:, 0])
    claim = model.certificate_.claim
    assert not claim.released.passed
    document = {
        "format_version": 2,
        "certificate": model.certificate_.digest,
        "model": None,
        "features": [],
        "classes": [],
        "coefficients": model.coef_.reshape(1, -1).tolist(),
        "intercepts": [float(model.intercept_)],
        "selected": [],
        "estimator": None,
    }
    assert not list(model_faults(document, model.certificate_))
    assert list(model_faults({**document, "coefficients": [[1.0, 0.0, 0.0]]}, model.certificate_))
    assert list(model_faults({**document, "intercepts": [9.9]}, model.certificate_))


def test_what_no_reader_takes_is_not_paid_for(monkeypatch):
    monkeypatch.setattr("equipoise.certify.certificate.MOST_CLAIMS", 0)
    read = []
    table = Unread(X.shape, True, lambda: read.append(1) or X)
    plan = plain((0, 1), public_seed=77).plan(*X.shape)
    with pytest.raises(CertificateUnreadable, match="at most 0 claims"):
        release(plan, table, Unread(TWO.shape, True, lambda: TWO), ExactSource())
    assert not read


def test_the_door_carries_out_no_plan_whose_claim_does_not_hold():
    plan = plain((0, 1)).plan(*X.shape)
    silent = replace(plan.claim, noise=replace(plan.claim.noise, scale=1e-30))
    read = []
    table = Unread(X.shape, True, lambda: read.append(1) or X)
    for false in (Certificate.seal(plan.terms, silent, {}), replace(plan, digest="0" * 64)):
        with pytest.raises(InvalidParameter, match="a plan whose claim holds"):
            release(false, table, Unread(TWO.shape, True, lambda: TWO), ExactSource())
    assert not read
