"""Every loss with every penalty: certified and fitted, or refused before data with a remedy."""

import itertools

import numpy as np
import pytest

import equipoise as eq
from equipoise.certify.certificate import Certificate
from equipoise.planning.issue import issue
from equipoise.planning.request import Request
from neighbouring_pairs import Bare

LOSSES = (
    "logistic",
    "multinomial:3",
    "squared",
    "huber:0.5",
    "hinge",
    "smooth-hinge:0.5",
    "absolute",
    "smooth-absolute:0.1",
)
PENALTIES = ("l2", "elastic-net:0.3", "bridge:1.5", "none")
CLASSES = {"multinomial:3": (0, 1, 2)}
KINKED = ("hinge", "absolute")


def domain_of(loss: str, radius: float | None = None) -> eq.Domain:
    if eq.losses.named(loss).task == "regression":
        return eq.Domain(1.0, labels=(-1.0, 1.0), radius=radius)
    return eq.Domain(1.0, classes=CLASSES.get(loss, (0, 1)), radius=radius)


def request_of(loss: str, penalty: str, alpha: float | str, radius: float | None = None) -> Request:
    return Request(loss, penalty, alpha, domain_of(loss, radius), 0.2, 2000, 4, eq.Budget(1.0))


@pytest.mark.parametrize(("loss", "penalty"), list(itertools.product(LOSSES, PENALTIES)))
def test_a_combination_is_certified_or_refused_with_a_remedy(loss, penalty):
    alpha = 0.0 if penalty == "none" else 0.1
    if penalty == "none" or (loss in KINKED and penalty != "l2"):
        with pytest.raises(eq.errors.NoTheoremApplies, match=r"add a ridge|at a time"):
            issue(request_of(loss, penalty, alpha))
        return
    certificate = issue(request_of(loss, penalty, alpha))
    assert certificate.verify() == ()
    assert Certificate.from_json(certificate.to_json()) == certificate
    assert "How far can the weights move?" in certificate.explain()
    assert str(eq.risk(certificate))


@pytest.mark.parametrize("loss", LOSSES)
def test_public_alpha_works_for_every_loss(loss):
    certificate = issue(request_of(loss, "l2", "public"))
    assert 1e-6 < certificate.alpha < 10
    assert certificate.verify() == ()


@pytest.mark.parametrize(
    ("loss", "penalty"), [("squared", "elastic-net:0.5"), ("hinge", "l2"), ("logistic", "bridge:1.5")]
)
def test_one_corner_at_a_time_and_no_radius_beside_it(loss, penalty):
    with pytest.raises(eq.errors.NoTheoremApplies, match="at a time"):
        issue(request_of(loss, penalty, 0.1, radius=1.0))


@pytest.mark.parametrize(
    ("loss", "penalty"),
    [
        pair
        for pair in itertools.product(LOSSES, PENALTIES[:3])
        if eq.losses.named(pair[0]).task == "regression" and not (pair[0] in KINKED and pair[1] != "l2")
    ],
)
def test_every_certified_regression_is_fitted_for_hostile_rows_too(loss, penalty):
    generator = np.random.default_rng(0)
    X = generator.normal(size=(200, 3))
    X[5] = np.nan
    X[6] = 1e300
    model = Bare(epsilon=1e6, domain=domain_of(loss), alpha=0.01, loss=loss, penalty=penalty, random_state=0)
    target = np.clip(0.5 * np.nan_to_num(X[:, 0]), -1, 1)
    target[7] = np.inf
    assert np.isfinite(model.fit(X, target).coef_).all()
    assert model.coef_[0] > 0.05


def test_parameters_that_members_do_not_take_are_refused():
    for call in (
        lambda: eq.losses.named("hinge:3"),
        lambda: eq.losses.named("huber:wide"),
        lambda: eq.losses.named("huber:-1"),
        lambda: eq.penalties.named("l2:0.5", 1.0),
        lambda: eq.penalties.named("elastic-net:1.0", 1.0),
        lambda: eq.penalties.named("bridge:3", 1.0),
        lambda: eq.penalties.named("none", 1.0),
    ):
        with pytest.raises(eq.errors.EquipoiseError):
            call()
