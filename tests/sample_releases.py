"""Releases of every route with made-up weights, and one whose every name is hostile."""

from dataclasses import replace
from decimal import Decimal
from functools import cache

import numpy as np
from equipoise.release_report import page_of

import equipoise as eq
from equipoise.certify.certificate import Certificate
from equipoise.certify.claims.private_bounds import PrivateBounds, ReleasedBounds
from equipoise.ledger import Balance
from equipoise.vocabulary import losses
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


# Models of every route, by name; what they plan is planned when somebody asks. Two of them leave alpha to public facts,
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


@cache
def release(name: str) -> Certificate:
    """Return the plan of a model, by its name."""
    return MODELS[name].plan(5000, 4)


def made_up(certificate: Certificate) -> tuple[np.ndarray, np.ndarray]:
    """Return weights of the right shape, some within the noise and some not."""
    outputs = losses.named(certificate.request.loss).outputs
    pattern = np.resize([1.5, -0.8, 0.001, 0.25], (outputs, certificate.n_features))
    return pattern, np.full(outputs, certificate.request.domain.label_centre + 0.125)


@cache
def page_of_sample(name: str) -> str:
    certificate = release(name)
    return page_of(certificate, *made_up(certificate), feature_names=NAMES)


@cache
def hostile_page() -> str:
    names = tuple(HOSTILE.values())
    domain = eq.Domain(row_norm=1.0, classes=(HOSTILE["script"], HOSTILE["attribute"], HOSTILE["expression"]))
    plan = eq.LogisticRegression(epsilon=1.0, domain=domain, mechanism="output").plan(5000, len(names))
    request = replace(plan.request, vouched=HOSTILE["script"], schema=HOSTILE["comment"], ledger=HOSTILE["address"])
    paid = PrivateBounds((HOSTILE["script"],), 0.1)
    certificate = Certificate.issue(replace(request, private_bounds=paid))
    certificate = certificate.with_bounds((ReleasedBounds(HOSTILE["script"], 1.0, 2.0),))
    balance = Balance(Budget(3.0, 1e-5), Decimal("1.9"), Decimal("0.00001"))
    state = {"balance": balance, "balance_at": HOSTILE["script"]}
    return page_of(certificate, *made_up(certificate), feature_names=names, **state)
