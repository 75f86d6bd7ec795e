"""Which members ship with a released version: what else a check had to trust is named.

Every version adds what it brings (CONTRIBUTING.md); nothing is ever taken away. This file ships with equipoise-verify,
too, which knows no other members; that is why it imports relatively.
"""

# ruff: noqa: TID252

from collections.abc import Iterator

from ..certify import claims, laws, theorems
from ..certify.certificate import Certificate
from ..vocabulary import losses, penalties

SHIPPED = {
    "kind": """
        choice chosen-bounds disjoint dropout evaluation functional held-out looked method noisy-gradient noisy-sgd
        objective output phased post-processing private-bounds sequence sgd simplex stopping sufficient-statistics""",
    # Those that kinds name themselves come with their kinds; these are members of their own.
    "theorem": """
        A1 A2 B1 B3 B4 B5 B6 B9.heavy-ball B9.nesterov C1 C1.random E2 E2a E2d E2e E3a E3b E3c N1 bagging.clipped
        bagging.minimisers ball ball.descent bootstrap graph-convolution multi-task ranking""",
    "law": "gaussian laplace spherical-laplace",
    "loss": """
        absolute clipped-logistic clipped-squared hinge huber logistic multinomial smooth-absolute smooth-hinge
        squared""",
    "penalty": "bridge elastic-net l2 none",
}


def strangers(certificate: Certificate) -> Iterator[str]:
    """Yield the members that a claim rests on and no released version ships: they were trusted because they are here.

    Examples
    --------
    >>> import equipoise as eq
    >>> list(strangers(eq.Ridge(domain=eq.Domain(1.0, labels=(0.0, 1.0))).plan(100, 2)))
    []
    """
    known = members()
    for family, name in certificate.rests_on():
        if name in known[family] and name not in SHIPPED[family].split():
            yield f"{family} {name}"


def members() -> dict[str, set[str]]:
    """Return the members of every family of the trusted base, as they are installed here."""
    return {
        "kind": set(claims.members()),
        "theorem": {*theorems.members(), *theorems.perturbations()},
        "law": set(laws.members()),
        "loss": set(losses.members()),
        "penalty": set(penalties.members()),
    }
