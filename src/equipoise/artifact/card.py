"""What a released folder says about itself, as one plain record: the model card, and what disclosure control asks for.

Everything in it is in the folder, or follows from its certificate (docs/card.md). Nothing here sees a row.
"""

import dataclasses
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from equipoise.artifact.domain_check import domain_compared
from equipoise.artifact.findings import NOT_SEEN, NOTES, contents_of, findings_of
from equipoise.artifact.page_check import require_page
from equipoise.artifact.reading import OldRelease, ReadRelease, release_in, trained_on
from equipoise.artifact.trust import Trusted, signer_of
from equipoise.certify.certificate import Certificate
from equipoise.certify.claims import Trained
from equipoise.certify.record import to_plain
from equipoise.data.schema import Schema
from equipoise.data.schema.kinds.base import Column
from equipoise.errors import NotCheckable, ReleaseRefused

CARD_VERSION = 1


def card_of(
    folder: str | os.PathLike[str],
    evaluation: Mapping[str, Any] | None = None,
    trusted: Mapping[bytes, Trusted] | None = None,
) -> dict[str, Any]:
    """Return the record of a released folder; refuse one that `equipoise verify` would refuse.

    Parameters
    ----------
    folder : path
        What `equipoise train` or `equipoise.save` wrote.
    evaluation : mapping, optional
        The record of a paid evaluation of it (`equipoise.evaluation.card.evaluation_of`).
    trusted : mapping, optional
        The keys that count: one of them must have signed the folder. Without them its origin stays unproved.
    """
    contents = contents_of(Path(folder))
    holds = findings_of(dict(contents))
    if holds.faults:
        remedy = "ask whoever made it; equipoise verify says more"
        raise ReleaseRefused(holds.verdict[0], "a release that holds", f"{'; '.join(holds.faults):.300}", remedy)
    domain = domain_compared(contents, holds.certificate)
    if domain.faults:
        remedy = "ask whoever made it; equipoise verify says more"
        raise ReleaseRefused(domain.code, "a release that holds", f"{'; '.join(domain.faults):.300}", remedy)
    found = release_in(dict(contents))
    if isinstance(found, OldRelease):
        remedy = "release again with this version, whose releases have cards"
        raise NotCheckable("a release of this version", "one of version 0.1.0", remedy)
    # What no check of the folder can tell, less what was looked at here: the page, and the signature by a trusted key.
    unseen = (*(NOT_SEEN if trusted is None else NOT_SEEN[1:]), NOTES, *require_page(contents).unchecked)
    return {
        "card_version": CARD_VERSION,
        "release": {**_release(found.certificate), **signer_of(contents, found.certificate, trusted)},
        "model": _model(found),
        "training": _training(found.certificate, found.schema),
        "privacy": {**_privacy(found.certificate), "not_checked": list(unseen)},
        "disclosure": _disclosure(found),
        # A paid evaluation is a folder of its own.
        "evaluation": None if evaluation is None else dict(evaluation),
    }


def _release(certificate: Certificate) -> dict[str, Any]:
    made = certificate.release
    return {
        "id": made.id if made else None,
        "made": made.made if made else None,
        "software": dict(made.software) if made else {},
        "entry": made.entry if made else None,
        "certificate": certificate.digest,
        "schema": certificate.terms.schema or None,
    }


def _model(found: ReadRelease) -> dict[str, Any]:
    claim, saved, schema = found.certificate.claim.trained, found.saved, found.schema
    record: dict[str, Any] = {
        "name": saved.model.name,
        "settings": {setting.name: setting.value for setting in saved.model.settings},
        "task": "selection",
        "target": None if schema is None else schema.target.name,
        "classes": list(saved.classes),
        "range": None,
        "columns": [] if schema is None else [_column(column) for column in schema.columns],
        "encoded_columns": list(saved.features),
        "selected": list(saved.selected),
    }
    if isinstance(claim, Trained):
        labels = claim.problem.domain.labels
        penalty = claim.problem.penalty
        record |= {
            "task": claim.problem.loss.task,
            "loss": claim.problem.loss.name,
            "penalty": {"name": penalty.name, "alpha": penalty.alpha},
            # A schema's target is scaled to [-1, 1] for the claim; its own bounds are what it is about.
            "range": _plain(labels if schema is None else schema.target.bounds),
        }
    return record


def _column(column: Column) -> dict[str, Any]:
    facts = {key: _plain(getattr(column, key)) for key in column.keys}
    stated = {key: value for key, value in facts.items() if value not in (None, "", [], False)}
    return {"name": column.name, "kind": column.kind, **stated}


def _plain(value: Any) -> Any:
    """Return a value as JSON has it."""
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(entry) for entry in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _training(certificate: Certificate, schema: Schema | None) -> dict[str, Any]:
    terms, person = certificate.terms, None if schema is None else schema.person
    return {
        "unit": certificate.claim.unit,
        "n": trained_on(certificate),
        "vouched": terms.vouched or None,
        "ledger": terms.ledger,
        "person": None if person is None else _plain(dataclasses.asdict(person)),
        "seeded": terms.seeded,
    }


def _privacy(certificate: Certificate) -> dict[str, Any]:
    return {
        "epsilon": certificate.epsilon,
        "delta": certificate.delta,
        "adjacency": certificate.adjacency,
        "grade": certificate.grade,
        "assumptions": list(certificate.assumptions),
        "theorem": certificate.theorem,
        "kind": certificate.kind,
        "law": certificate.mechanism,
        "gains": to_plain(certificate.gains()),
        "caveats": list(certificate.caveats),
        "withdrawn": list(certificate.withdrawn()),
    }


def _disclosure(found: ReadRelease) -> dict[str, Any]:
    """Return what checks of disclosure control ask for, as far as it is public; None is private, and stays so."""
    saved, n = found.saved, trained_on(found.certificate)
    numbers = sum(map(len, saved.coefficients)) + len(saved.intercepts)
    return {
        "model_type": f"linear model, {saved.model.name}" if saved.coefficients else saved.model.name,
        "instance_based": False,
        "stores_training_records": False,
        "differentially_private": True,
        "parameters": numbers,
        "records": n,
        "residual_degrees_of_freedom": n - numbers,
        "largest_membership_advantage": found.certificate.gains().advantage,
        "smallest_group": None,
        "class_frequencies": None,
        "training_score": None,
        "generalisation_gap": None,
        # By the names of a risk-appetite file, and of the checks that hold a model against one.
        "risk_appetite": {
            "safe_dof_threshold": n - numbers,
            "safe_threshold": None,
            "unnecessary_risk": False,
            "k_anonymity_risk": None,
            "class_disclosure_risk": None,
        },
    }
