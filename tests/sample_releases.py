"""Releases of every kind with made-up weights, searches and selections, and one whose every name is hostile."""

from dataclasses import replace
from decimal import Decimal
from functools import cache
from typing import Any

import numpy as np

import equipoise as eq
from equipoise.artifact.page import Shown, page_of
from equipoise.certify.certificate import Certificate, Release
from equipoise.certify.claims import Claim
from equipoise.certify.claims.choice import Choice, Stopping
from equipoise.certify.claims.chosen_bounds import ChosenBounds
from equipoise.certify.claims.private_bounds import ReleasedBounds
from equipoise.certify.claims.simplex import Simplex
from equipoise.ledger import Balance
from equipoise.planning.issue import asked_for, issue
from equipoise.planning.request import Bounds
from equipoise.vocabulary.facts import Budget

TWO = eq.Domain(row_norm=1.0, classes=("<=50K", ">50K"))
THREE = eq.Domain(row_norm=1.0, classes=("setosa", "versicolor", "virginica"))
RANGE = eq.Domain(row_norm=1.0, labels=(0.0, 400.0))
NAMES = ("age", "height", "income=low & high", "hours")

HOSTILE = {
    "script": "</script><img src=x onerror=alert(1)><script>alert(1)</script>",
    "comment": "<!--<script>alert(1)",
    "attribute": '" onmouseover="intruder()" x="',
    "address": "<link rel=stylesheet href=https://leak.example/x.css>",
    "expression": "datum['value'] + intrude",
    "path": "a.b[0]['c']",
    "template": "${intruder()}{{7*7}}",
    "body": "</body></html>",
    "style": "</style><style>body{display:none}",
    "long": "wide" * 60,
}


# Models of every kind, by name; what they plan is planned when somebody asks. Two of them leave alpha to public facts,
# for which it is searched again at every point of a chart.
MODELS = {
    "output": eq.LogisticRegression(epsilon=1.0, domain=TWO, mechanism="output"),
    "objective": eq.LogisticRegression(epsilon=1.0, domain=TWO),
    "noisy-gradient": eq.LogisticRegression(
        epsilon=1.0, delta=1e-6, domain=TWO, alpha=0.01, mechanism="noisy-gradient"
    ),
    "sufficient-statistics": eq.Ridge(epsilon=1.0, domain=RANGE, alpha=0.1, mechanism="sufficient-statistics"),
    "functional": eq.Ridge(epsilon=1.0, domain=RANGE, alpha=0.1, mechanism="functional"),
    "several classes": eq.LogisticRegression(epsilon=1.0, domain=THREE, alpha=0.05, mechanism="output"),
}

# A search among candidates of one model, in both ways, and what selects columns: by weights, or without any.
ALPHAS = {"alpha": [0.1, 1.0]}
SEARCHES = {
    "search by chunks": eq.PrivateGridSearch(eq.Ridge(domain=RANGE, mechanism="output"), ALPHAS, epsilon=1.0),
    "search by stopping": eq.PrivateGridSearch(
        eq.Ridge(domain=RANGE, mechanism="output"), ALPHAS, epsilon=1.0, method="random-stopping"
    ),
}
SELECTIONS = {
    "feature selection": eq.FeatureSelector(epsilon=1.0, domain=TWO, alpha=0.05, threshold="deviations:3"),
    "simplex selection": eq.SimplexSelector(epsilon=1.0, delta=1e-6),
}
# The columns that were selected, and what claims release on the way: the place of a candidate, or that a test passed.
SELECTED = {"feature selection": (0, 3), "simplex selection": (2,)}
FOUND = {"search by chunks": (Choice, 1), "search by stopping": (Stopping, 0), "simplex selection": (Simplex, True)}


@cache
def release(name: str) -> Certificate:
    """Return the plan of a model, or the release of a search or a selection, by its name."""
    plan = {**MODELS, **SEARCHES, **SELECTIONS}[name].plan(5000, 4)
    return carried_out(plan, *FOUND[name]) if name in FOUND else plan


def carried_out(certificate: Certificate, kind: type[Claim], found: Any) -> Certificate:
    """Return the certificate of a release in which claims of this kind released something on the way."""

    def within(claim: Claim) -> Claim:
        parts = getattr(claim, "of", ())
        claim = replace(claim, of=tuple(within(part) for part in parts)) if parts else claim
        return replace(claim, released=found) if isinstance(claim, kind) else claim

    made = Release("0" * 32, "2026-11-16T09:30:00+00:00", ())
    return certificate.with_release(within(certificate.claim), made)


def made_up(certificate: Certificate, feature_names: tuple[str, ...] = ()) -> Shown:
    """Return weights of the right shape, some within the noise and some not; none where none are released."""
    problem = getattr(certificate.claim.trained, "problem", None)
    if problem is None:
        return Shown(feature_names=feature_names)
    outputs = problem.loss.outputs
    pattern = np.resize([1.5, -0.8, 0.001, 0.25], (outputs, certificate.n_features))
    return Shown(pattern, np.full(outputs, problem.domain.label_centre + 0.125), feature_names)


@cache
def page_of_sample(name: str) -> str:
    """Return the page of a release, by its name."""
    certificate = release(name)
    return page_of(certificate, replace(made_up(certificate, NAMES), selected=SELECTED.get(name)))


@cache
def hostile_page() -> str:
    """Return a page all of whose names, classes and other words try to be something else."""
    names = tuple(HOSTILE.values())
    domain = eq.Domain(row_norm=1.0, classes=(HOSTILE["script"], HOSTILE["attribute"], HOSTILE["expression"]))
    plan = eq.LogisticRegression(epsilon=1.0, domain=domain, mechanism="output").plan(5000, len(names))
    asked = replace(asked_for(plan), vouched=HOSTILE["script"], schema=HOSTILE["comment"], ledger=HOSTILE["address"])
    certificate = issue(replace(asked, private_bounds=Bounds((HOSTILE["script"],), 0.1)))
    certificate = carried_out(certificate, ChosenBounds, (ReleasedBounds(HOSTILE["script"], 1.0, 7.0),))
    balance = Balance(Budget(3.0, 1e-5), Decimal("1.9"), Decimal("0.00001"))
    return page_of(certificate, made_up(certificate, names), balance, balance_at=HOSTILE["script"])
