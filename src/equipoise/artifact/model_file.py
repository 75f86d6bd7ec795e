"""model.json: the released weights, and what is needed to predict with them (docs/release.md)."""

import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from equipoise.errors import CertificateUnreadable, EquipoiseError, ReleaseUnreadable
from equipoise.estimators.base import PrivateLinearModel
from equipoise.estimators.catalogue import model_named, name_of
from equipoise.learn.schema import Schema
from equipoise.proof.certificate import Certificate
from equipoise.proof.document import build, to_plain
from equipoise.vocabulary.facts import Domain, Label

FORMAT_VERSION = 1

# What a constructor takes besides these is in the certificate, in the schema, or of no use to whoever predicts.
_KEPT_ELSEWHERE = {
    *("epsilon", "delta", "domain", "alpha", "mechanism", "fit_intercept", "random_state", "public_seed", "ledger")
}


@dataclass(frozen=True, slots=True)
class Setting:
    """One parameter of a constructor that the certificate does not carry by that name."""

    name: str
    value: float | int | str | None


@dataclass(frozen=True, slots=True)
class ModelRecord:
    """The contents of model.json: everything is public or was released through the door."""

    format_version: int
    model: str
    settings: tuple[Setting, ...]
    certificate: str
    features: tuple[str, ...]
    classes: tuple[Label, ...]
    coefficients: tuple[tuple[float, ...], ...]
    intercepts: tuple[float, ...]

    def to_json(self) -> str:
        """Return the record as JSON text; numbers are written so that they are read back exactly."""
        return json.dumps(to_plain(self), indent=1, allow_nan=False) + "\n"


def record_of(model: PrivateLinearModel, features: tuple[str, ...]) -> ModelRecord:
    """Return the record of a fitted model."""
    own = {name: value for name, value in model.get_params(deep=False).items() if name not in _KEPT_ELSEWHERE}
    return ModelRecord(
        format_version=FORMAT_VERSION,
        model=name_of(model),
        settings=tuple(Setting(name, value) for name, value in sorted(own.items())),
        certificate=model.certificate_.digest,
        features=features,
        classes=tuple(getattr(model, "classes_", np.array([])).tolist()),
        coefficients=tuple(tuple(row) for row in np.atleast_2d(model.coef_).tolist()),
        intercepts=tuple(np.atleast_1d(model.intercept_).tolist()),
    )


def read_record(text: str) -> ModelRecord:
    """Return the record in a model.json; refuse anything else by name.

    Examples
    --------
    >>> read_record("[]")
    Traceback (most recent call last):
    equipoise.errors.ReleaseUnreadable: asked: model with fields ['certificate', ...
    """
    try:
        record = build(ModelRecord, json.loads(text), "model")
    except CertificateUnreadable as error:
        raise ReleaseUnreadable(error.asked, error.found, "ask for the released folder again") from None
    except (ValueError, RecursionError) as error:
        found = f"text that does not parse ({type(error).__name__})"
        raise ReleaseUnreadable("a model in JSON", found, "ask for the released folder again") from None
    if record.format_version != FORMAT_VERSION:
        raise ReleaseUnreadable(
            f"format version {FORMAT_VERSION}", f"{record.format_version}", "install another version of Equipoise"
        )
    if not all(math.isfinite(number) for row in (*record.coefficients, record.intercepts) for number in row):
        raise ReleaseUnreadable("finite weights", "others", "ask for the released folder again")
    return record


def restored(record: ModelRecord, certificate: Certificate, schema: Schema | None) -> PrivateLinearModel:
    """Return the fitted estimator that a record, a certificate and a schema describe.

    Raises where they do not belong together: that is all there is to check about a model without its rows.
    """
    request = certificate.request
    model = _unfitted(record, certificate, schema or request.domain)
    outputs = request.problem(certificate.alpha).loss.outputs
    shapes = {len(row) for row in record.coefficients}
    if (
        record.certificate != certificate.digest
        or shapes != {request.n_features}
        or not len(record.coefficients) == len(record.intercepts) == outputs
        or len(record.features) not in (0, request.n_features)
    ):
        raise _strangers("weights of another shape, or for another certificate")
    declared = request.domain.classes
    if declared != "observed" and record.classes != (declared or ()):
        raise _strangers("other classes")
    model._restore(certificate, record.classes, np.array(record.coefficients), np.array(record.intercepts))
    names = [] if schema is None else [column.name for column in schema.columns]
    model.n_features_in_ = len(names) or request.n_features
    if names or record.features:
        model.feature_names_in_ = np.array(names or record.features, dtype=object)
    return model


def _unfitted(record: ModelRecord, certificate: Certificate, facts: Domain | Schema) -> PrivateLinearModel:
    """Return the estimator that would ask for this very certificate."""
    request = certificate.request
    settings: dict[str, Any] = {setting.name: setting.value for setting in record.settings}
    kind = model_named(record.model)
    if not settings.keys() <= set(kind._get_param_names()) - _KEPT_ELSEWHERE:
        raise _strangers("settings that the model does not have")
    known = {
        "epsilon": request.budget.epsilon,
        "delta": request.budget.delta,
        "domain": facts,
        "alpha": request.alpha,
        "mechanism": request.mechanism,
        "fit_intercept": request.intercept > 0,
        "public_seed": request.public_seed,
        **settings,
    }
    # Descents of some kinds choose neither a ridge nor a mechanism.
    model = kind(**{name: value for name, value in known.items() if name in kind._get_param_names()})
    try:
        asked = model._request(request.n_samples, request.n_features)
    except EquipoiseError as error:
        raise _strangers(f"settings that ask for no certificate ({error.found})") from None
    named = ("loss", "penalty", "intercept", "domain", "recipe", "dropout")
    if any(getattr(asked, name) != getattr(request, name) for name in named):
        raise _strangers("a model that asks for another certificate")
    return model


def _strangers(found: str) -> ReleaseUnreadable:
    return ReleaseUnreadable(
        "a model, a certificate and a schema that belong together", found, "ask for the released folder again"
    )
