"""Folders of version 0.1.0: they open and predict. Their certificates (schema 1) cannot be checked by this version."""

from dataclasses import dataclass
from typing import Any, NoReturn

from equipoise.certify.certificate import Certificate
from equipoise.certify.claims.dropout import ReleasedCurvature
from equipoise.certify.claims.private_bounds import ReleasedBounds
from equipoise.certify.record import parse, read
from equipoise.data.schema import Schema
from equipoise.errors import CertificateUnreadable, EquipoiseError, ReleaseUnreadable
from equipoise.estimators import model_named
from equipoise.estimators.base import PrivateLinearModel
from equipoise.estimators.saved import Named, Saved, Setting
from equipoise.estimators.scoring import PredictionFacts
from equipoise.vocabulary.facts import Budget, Domain, Label, is_label

AGAIN = "ask for the released folder again"


@dataclass(frozen=True, slots=True)
class OldCertificate:
    """A certificate of schema 1 as it is: it states a claim, which this version cannot check."""

    text: str
    budget: Budget
    digest: str
    released: ReleasedCurvature | None = None
    schema_version: int = 1

    def verify(self) -> NoReturn:
        """Say that it is not checkable by this version, and what to do."""
        Certificate.from_json(self.text)
        raise AssertionError("schema 1 is never read")

    def to_json(self) -> str:
        """Return the text as it was."""
        return self.text


def opened(model: str, certificate: str, schema: Schema | None) -> PrivateLinearModel:
    """Return the estimator that a folder of version 0.1.0 holds, from the text of its model and of its certificate."""
    try:
        return _opened(parse(model), parse(certificate), certificate, schema)
    except (KeyError, TypeError, AttributeError, CertificateUnreadable) as error:
        found = error.found if isinstance(error, EquipoiseError) else "a field that is missing, or of another type"
        raise ReleaseUnreadable("a release of version 0.1.0", found, AGAIN) from None


def _opened(record: Any, claim: Any, text: str, schema: Schema | None) -> PrivateLinearModel:
    request = claim["request"]
    facts = PredictionFacts(
        domain=read(Domain, request["domain"], "request.domain"),
        n_features=read(int, request["n_features"], "request.n_features"),
        projection=read(int, claim["argument"]["procedure"]["projection"], "argument.procedure.projection"),
        public_seed=read(int, request["public_seed"], "request.public_seed"),
    )
    budget = read(Budget, request["budget"], "request.budget")
    saved = Saved(
        model=Named(record["model"], read(tuple[Setting, ...], record["settings"], "settings")),
        features=read(tuple[str, ...], record["features"], "features"),
        classes=read(tuple[Label, ...], record["classes"], "classes"),
        coefficients=read(tuple[tuple[float, ...], ...], record["coefficients"], "coefficients"),
        intercepts=read(tuple[float, ...], record["intercepts"], "intercepts"),
    )
    shapes = {len(row) for row in saved.coefficients}
    together = record["certificate"] == claim["digest"] and request["schema"] == (
        "" if schema is None else schema.digest
    )
    named = len(saved.features) in (0, facts.n_features)
    shaped = shapes == {facts.n_features} and len(saved.coefficients) == len(saved.intercepts)
    labels = len(saved.classes) <= max(2, len(saved.coefficients)) and all(map(is_label, saved.classes))
    if not (together and named and shaped and labels):
        found = "others: weights of another shape, for another certificate, or another schema"
        raise ReleaseUnreadable("a model, a certificate and a schema that belong together", found, AGAIN)
    paid = read(tuple[ReleasedBounds, ...], claim.get("released_bounds", []), "released_bounds")
    kind, bounds = model_named(saved.model.name), {entry.column: (entry.low, entry.high) for entry in paid}
    asked = {
        "epsilon": budget.epsilon,
        "delta": budget.delta,
        "domain": facts.domain if schema is None else schema.with_bounds(bounds, bool(paid and request["seeded"])),
        "alpha": request["alpha"],
        "mechanism": request["mechanism"],
        "fit_intercept": request["intercept"] > 0,
        "public_seed": facts.public_seed,
        **saved.model.parameters(kind),
    }
    known = kind._get_param_names()
    model = kind(**{name: value for name, value in asked.items() if name in known})
    shape = request["n_samples"], facts.n_features
    model._recognise(shape, request["loss"], request["penalty"], request["intercept"])
    curvature = read(ReleasedCurvature | None, claim.get("released_curvature"), "released_curvature")
    # It states a claim, no more.
    model.certificate_ = OldCertificate(text, budget, claim["digest"], curvature)  # type: ignore[assignment]
    model._reopen(saved, facts, ())
    return model
