"""Saving, opening and checking a released folder. Nothing in it is code, and nothing in it is run."""

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from equipoise import estimators
from equipoise.artifact import model_file, page_file, version_1
from equipoise.artifact.page import Shown, page_of
from equipoise.artifact.reading import OldRelease, ReadRelease, read_release
from equipoise.artifact.staging import Staging
from equipoise.certify import folder as checked
from equipoise.certify.certificate import Certificate
from equipoise.certify.claims import Trained
from equipoise.certify.folder import CERTIFICATE, MANIFEST, MODEL, PAGE, REPORT, SCHEMA
from equipoise.data.schema import Schema
from equipoise.errors import InvalidParameter, PageNotDrawn
from equipoise.estimators.base import PrivateEstimator
from equipoise.vocabulary.discovery import look_up

if TYPE_CHECKING:
    from equipoise.artifact.attack import Membership
    from equipoise.ledger import Balance

NO_PAGE = 'no page was drawn, and everything else is there; with one: pip install "equipoise[report]"'


@dataclass(frozen=True, slots=True)
class Spends:
    """What a ledger said, when, and where its history ended then ("<number>:<digest>")."""

    balance: "Balance"
    at: str
    head: str


def files_of(
    model: PrivateEstimator, spends: Spends | None = None, attack: page_file.Attack | None = None
) -> dict[str, str]:
    """Return the files of a release by name: functions of the certificate, the schema and what was released.

    What an attack reached is one of the certificate alone (`equipoise.artifact.attack`).
    """
    certificate = _certificate_of(model)
    made_by = dict(certificate.release.software if certificate.release else ()).get("equipoise", "")
    renderer = page_file.renderer()
    if made_by != dict(renderer)["equipoise"]:
        # Nobody who has that version could draw its page again.
        remedy = f"copy its folder as it is, or save it with equipoise=={made_by:.40}"
        raise InvalidParameter("a release of this version, to save it", f"one of version {made_by:.40}", remedy)
    saved = model._saved()
    model_file.room_of(len(saved.coefficients), len(next(iter(saved.coefficients), ())), saved.features)
    record = model_file.written(saved, certificate.digest)
    facts = page_file.PageFacts(renderer, _said(spends), attack)
    files = {MODEL: record, CERTIFICATE: certificate.to_json(), PAGE: page_file.written(facts)}
    if facts.drawn:
        files[REPORT] = report_of(model, spends, attack)
    if (schema := _schema_of(model, certificate)) is not None:
        # The schema as it was declared: bounds that were paid for are in the certificate.
        files[SCHEMA] = schema.to_toml()
    contents = {name: text.encode() for name, text in files.items()}
    if faults := (*checked.schema_faults(contents, certificate), *checked.pair_faults(contents, certificate)):
        remedy = "save it as it was fitted: weights, settings and schema, and a copy for whatever is changed"
        raise InvalidParameter("a model as it was released", f"{'; '.join(faults)}", remedy)
    files[MANIFEST] = checked.manifest_of(contents)
    return files


def _said(spends: Spends | None) -> page_file.LedgerSaid | None:
    """Return what page.json keeps of what a ledger said."""
    if spends is None:
        return None
    limit, left = spends.balance.limit, (str(spends.balance.epsilon_left), str(spends.balance.delta_left))
    return page_file.LedgerSaid(limit.epsilon, limit.delta, *left, spends.head, spends.at)


def _certificate_of(model: PrivateEstimator) -> Certificate:
    if not isinstance(model, PrivateEstimator):
        remedy = "pass a fitted estimator of this library"
        raise InvalidParameter("a fitted private model, which can be released", f"a {type(model).__name__}", remedy)
    check_is_fitted(model, "certificate_")
    certificate: object = getattr(model, "certificate_", None)
    if not isinstance(certificate, Certificate):
        raise InvalidParameter(
            "a model with a certificate of this version", "one of an older version", "keep its folder as it is"
        )
    return certificate


def _schema_of(model: PrivateEstimator, certificate: Certificate) -> Schema | None:
    facts = model._public_facts
    return facts.as_certified(certificate.terms.schema) if isinstance(facts, Schema) else None


def report_of(model: PrivateEstimator, spends: Spends | None = None, attack: page_file.Attack | None = None) -> str:
    """Return the page of a fitted model, with what its ledger said when the spend was recorded, and an attack."""
    certificate, saved = _certificate_of(model), model._saved()
    schema = _schema_of(model, certificate)
    shown = Shown(saved.coefficients, saved.intercepts, saved.features, saved.classes, support_of(model), schema)
    balance, at = (None, "") if spends is None else (spends.balance, spends.at)
    return page_of(certificate, shown, balance, at, attack)


def support_of(model: PrivateEstimator) -> list[int] | None:
    """Return the places of the columns that a selector selected; None for a model that selects none."""
    return list(model.get_support(indices=True).tolist()) if isinstance(model, SelectorMixin) else None


def rehearse(plan: Certificate, names: Sequence[str] = (), schema: Schema | None = None) -> int:
    """Draw the page of a plan with weights of 0: what a page lacks, or no reader takes, is noticed before the spend.

    Returns how many bytes the model may take.
    """
    claim = plan.claim.trained
    outputs = claim.problem.loss.outputs if isinstance(claim, Trained) else 0
    room = model_file.room_of(outputs, plan.n_features, names)
    if page_file.draws():
        page_of(plan, Shown(np.zeros((outputs, plan.n_features)), np.zeros(outputs), schema=schema))
    return room


def staging(folder: str | os.PathLike[str], force: bool = False, room: int = 0) -> Staging:
    """Return the place where a release is written before it gets its name, with room for a large model."""
    return Staging(Path(folder), (MANIFEST, MODEL), force=force, room=room)


def staging_of_evaluation(folder: str | os.PathLike[str], force: bool = False) -> Staging:
    """Return the place where an evaluation is written before it gets its name; it never replaces a release."""
    return Staging(Path(folder), (MANIFEST, CERTIFICATE), force=force, kind="evaluation", never=MODEL)


def save(
    model: PrivateEstimator, folder: str | os.PathLike[str], force: bool = False, attack: "Membership | None" = None
) -> None:
    """Write a fitted estimator as a released folder, whole or not at all.

    `equipoise.save` says what each parameter means; `attack` is the laboratory's attack, where one is to be shown.
    Without the extra `report` the folder has no page, page.json says so, and so does a warning.
    """
    with staging(folder, force) as place:
        place.publish(files := files_of(model, attack=None if attack is None else _reached(model, attack)))
    if REPORT not in files:
        warnings.warn(NO_PAGE, PageNotDrawn, stacklevel=3)


def _reached(model: PrivateEstimator, attack: "Membership") -> page_file.Attack:
    # What trains is loaded only where it is asked for.
    from equipoise.artifact.attack import AttackedPlan

    page_file.require_drawing("a page, to show an attack on it")
    return AttackedPlan(_certificate_of(model)).reached(attack)


def load(folder: str | os.PathLike[str]) -> Any:
    """Return the estimator in a released folder: with a schema it predicts from raw rows.

    Manifest, model and certificate must agree; whether the certificate's claim follows is for `equipoise verify` to
    say. Folders of version 0.1.0 open and predict; their certificates are not checkable by this version.
    """
    return opened(read_release(folder))


def opened(found: ReadRelease | OldRelease) -> Any:
    """Return the estimator of what was read."""
    if isinstance(found, OldRelease):
        return version_1.opened(found.model, found.certificate, found.schema)
    kind = look_up(estimators.members(), found.saved.model.name, "model")
    return kind._opened(found.saved, found.certificate, found.schema)
