"""Saving, opening and checking a released folder. Nothing in it is code, and nothing in it is run."""

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.utils.validation import check_is_fitted

from equipoise.artifact import manifest
from equipoise.artifact.model_file import read_record, record_of, restored
from equipoise.artifact.staging import Staging
from equipoise.errors import EquipoiseError, InvalidParameter, ReleaseUnreadable
from equipoise.estimators.base import PrivateLinearModel
from equipoise.learn.encoder import Encoder
from equipoise.learn.schema import Schema
from equipoise.proof.certificate import Certificate
from equipoise.proof.ledger import Balance
from equipoise.release_report import page_of

MODEL, CERTIFICATE, SCHEMA, REPORT = "model.json", "certificate.json", "schema.toml", "report.html"

# No file of an honest release is longer; a longer one is not read.
LARGEST = {MODEL: 2**28, CERTIFICATE: 2**24, SCHEMA: 2**22, REPORT: 2**26, manifest.NAME: 2**12}


@dataclass(frozen=True, slots=True)
class Spends:
    """What a ledger said, and when."""

    balance: Balance
    at: str


def files_of(model: PrivateLinearModel, spends: Spends | None = None) -> dict[str, str]:
    """Return the files of a release by name: functions of the certificate, the schema and the released weights."""
    if not isinstance(model, PrivateLinearModel):
        # The page and the files of a release tell of one training; a search's claim is about several.
        raise InvalidParameter(
            "a fitted private model, for whose certificate there are pages",
            f"a {type(model).__name__}",
            "keep certificate_.to_json(), coef_ and intercept_ of a search, or to_sklearn(), by hand",
        )
    check_is_fitted(model, "certificate_")
    record = record_of(model, _encoded_names(model))
    files = {MODEL: record.to_json(), CERTIFICATE: model.certificate_.to_json(), REPORT: report_of(model, spends)}
    if isinstance(model.domain, Schema):
        # The schema as it was declared: bounds that were paid for are in the certificate.
        files[SCHEMA] = model.domain.to_toml()
    files[manifest.NAME] = manifest.render({name: text.encode() for name, text in files.items()})
    return files


def report_of(model: PrivateLinearModel, spends: Spends | None = None) -> str:
    """Return the page of a fitted model, with what its ledger said when the spend was recorded."""
    return page_of(
        model.certificate_,
        model.coef_,
        model.intercept_,
        feature_names=_encoded_names(model),
        classes=tuple(getattr(model, "classes_", np.array([])).tolist()),
        balance=None if spends is None else spends.balance,
        balance_at="" if spends is None else spends.at,
    )


def rehearse(plan: Certificate) -> None:
    """Draw the page of a plan with weights of 0: what a page lacks is noticed while nothing is spent."""
    outputs = plan.request.problem(plan.alpha).loss.outputs
    page_of(plan, np.zeros((outputs, plan.n_features)), np.zeros(outputs))


def _encoded_names(model: PrivateLinearModel) -> tuple[str, ...]:
    schema: Schema | None = getattr(model, "schema_", None)
    return tuple(getattr(model, "feature_names_in_", ())) if schema is None else Encoder(schema).names


def staging(folder: str | os.PathLike[str], force: bool = False) -> Staging:
    """Return the place where a release is written before it gets its name."""
    return Staging(Path(folder), marker=manifest.NAME, force=force)


def save(model: PrivateLinearModel, folder: str | os.PathLike[str], force: bool = False) -> None:
    """Write a fitted model as a released folder, whole or not at all."""
    with staging(folder, force) as place:
        place.publish(files_of(model))


def load(folder: str | os.PathLike[str]) -> PrivateLinearModel:
    """Return the estimator in a released folder: with a schema it predicts from raw rows.

    Manifest, model and certificate must agree; whether the certificate's claim follows is for `inspect` to say.
    """
    contents = _contents(Path(folder))
    altered = manifest.faults(contents[manifest.NAME], _listed(contents))
    if altered:
        raise ReleaseUnreadable(
            "a release as it was made", "; ".join(altered), "ask for the folder again; equipoise verify says more"
        )
    return _restored(contents)


def inspect(folder: str | os.PathLike[str]) -> tuple[str, ...]:
    """Return one line for everything in a released folder that is altered, or does not follow.

    Covers every byte of every file; without a key it cannot tell who made the folder.
    """
    contents = _contents(Path(folder))
    faults = list(manifest.faults(contents[manifest.NAME], _listed(contents)))
    try:
        model = _restored(contents)
    except EquipoiseError as error:
        return (*faults, f"{error.asked}: {error.found}")
    return (*faults, *(f"{CERTIFICATE}: {fault}" for fault in model.certificate_.verify()))


def certificate_in(folder: Path) -> Certificate:
    """Return the certificate of a released folder."""
    return Certificate.from_json(_text(_contents(folder), CERTIFICATE))


def _listed(contents: dict[str, bytes]) -> dict[str, bytes]:
    return {name: data for name, data in contents.items() if name != manifest.NAME}


def _contents(folder: Path) -> dict[str, bytes]:
    """Return the bytes of every file; anything but the files of a release is refused unread."""
    try:
        entries = {entry.name: entry for entry in os.scandir(folder)}
    except OSError as error:
        found = error.strerror or "it cannot be opened"
        raise ReleaseUnreadable(f"a released folder {folder}", found, "pass the folder that train wrote") from None
    needed = LARGEST.keys() - {SCHEMA}
    strange = sorted(entries.keys() - LARGEST.keys())
    if strange or not needed <= entries.keys():
        missing = ", ".join(sorted(needed - entries.keys())) or "nothing"
        extra = ", ".join(f"{name!r:.80}" for name in strange[:8]) or "nothing"
        raise ReleaseUnreadable(
            f"a folder of {', '.join(LARGEST)}", f"missing: {missing}; besides: {extra}", "ask for the folder again"
        )
    contents = {}
    for name, entry in entries.items():
        if not entry.is_file(follow_symlinks=False):
            raise ReleaseUnreadable(f"a plain file {name}", "something else", "ask for the folder again")
        if entry.stat(follow_symlinks=False).st_size > LARGEST[name]:
            raise ReleaseUnreadable(
                f"{name} of at most {LARGEST[name]} bytes", "a longer one", "ask for the folder again"
            )
        try:
            contents[name] = Path(entry.path).read_bytes()
        except OSError as error:
            raise ReleaseUnreadable(name, error.strerror or "it cannot be read", "check its permissions") from None
    return contents


def _text(contents: dict[str, bytes], name: str) -> str:
    try:
        return contents[name].decode("utf-8")
    except UnicodeDecodeError:
        raise ReleaseUnreadable(f"{name} as UTF-8 text", "other bytes", "ask for the folder again") from None


def _restored(contents: dict[str, bytes]) -> PrivateLinearModel:
    certificate = Certificate.from_json(_text(contents, CERTIFICATE))
    schema = Schema.from_text(_text(contents, SCHEMA)) if SCHEMA in contents else None
    if certificate.request.schema != ("" if schema is None else schema.digest):
        raise ReleaseUnreadable(
            "the schema that the certificate names", "another one", "ask for the released folder again"
        )
    if schema is not None and certificate.request.private_bounds is not None:
        schema = schema.with_private_bounds(certificate.request.private_bounds.epsilon)
    return restored(read_record(_text(contents, MODEL)), certificate, schema)
