"""When "auto" takes noisy SGD: long tables whose rows are at hand, by modelled cost and work."""

from dataclasses import replace

import numpy as np
import pytest

import equipoise as eq
from equipoise.errors import BudgetImpossible
from equipoise.planning import accounting, long_tables
from equipoise.planning.issue import forget
from equipoise.planning.menu import choose
from equipoise.planning.request import Request
from equipoise.vocabulary.facts import Budget, Domain

SEVEN = eq.Domain(row_norm=1.0, classes=tuple(range(7)))
FIVE = eq.Domain(row_norm=1.0, classes=tuple(range(5)))


@pytest.fixture(autouse=True)
def forgotten():
    forget()
    yield
    forget()


@pytest.fixture
def short(monkeypatch):
    """Every table counts as long, and any work as less."""
    monkeypatch.setattr(long_tables, "LONG", 0.0)
    monkeypatch.setattr(long_tables, "FASTER", np.inf)


def request(n_samples: int, n_features: int, classes: int, epsilon: float = 1.0, **others: object) -> Request:
    domain = Domain(1.0, classes=tuple(range(classes)))
    loss = "logistic" if classes == 2 else f"multinomial:{classes}"
    budget = Budget(epsilon, n_samples**-2.0)
    return Request(loss, "l2", "public", domain, 0.2, n_samples, n_features, budget, "auto", **others)


def line(menu, kind="noisy-sgd"):
    return next((choice for choice in menu if choice.kind == kind), None)


def test_a_long_table_is_descended_as_noisy_sgd_would():
    certificate = eq.LogisticRegression(delta=464_809**-2.0, domain=SEVEN).plan(464_809, 54)
    alpha = certificate.claim.alpha
    other = eq.NoisySGDClassifier(delta=464_809**-2.0, domain=SEVEN, alpha=alpha).plan(464_809, 54)
    assert certificate.kind == "noisy-sgd"
    assert certificate.claim == other.claim
    assert certificate.verify() == ()
    taken, second = certificate.notes["menu"][:2]
    assert taken["verdict"].startswith("taken: no dearer")
    assert second["kind"] == "noisy-gradient"


def test_rows_that_a_schema_encodes_keep_full_gradients_and_the_menu_names_the_estimator():
    plan, menu = choose(request(464_809, 54, 7, schema="0" * 64))
    assert plan.claim.kind == "noisy-gradient"
    assert "NoisySGDClassifier" in line(menu).verdict


def test_where_the_model_tells_a_loss_nothing_is_composed(monkeypatch):
    def composed(*run):
        raise AssertionError(run)

    monkeypatch.setattr(accounting, "smallest_multiplier", composed)
    plan, menu = choose(request(60_000, 784, 10))
    assert plan.claim.kind == "noisy-gradient"
    assert plan.share < line(menu).cost < np.inf
    assert "times as much" in line(menu).verdict


def test_a_short_table_is_not_considered():
    plan, menu = choose(request(32_561, 108, 2))
    assert plan.claim.kind == "noisy-gradient"
    assert line(menu) is None


@pytest.mark.usefixtures("short")
def test_a_refusal_of_batches_leaves_the_noisy_gradient(monkeypatch):
    def refused(*run):
        raise BudgetImpossible("batches", "none", "change the budget")

    monkeypatch.setattr(accounting, "smallest_multiplier", refused)
    assert choose(request(20_000, 20, 5))[0].claim.kind == "noisy-gradient"


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("persons", [False, True])
def test_a_fit_by_batches_is_released_saved_and_opened(persons, tmp_path):
    generator = np.random.default_rng(0)
    X = generator.normal(size=(20_000, 12)) / 6
    y = np.argmax(X[:, :5], axis=1)
    domain = replace(FIVE, rows_a_person=1) if persons else FIVE
    model = eq.LogisticRegression(delta=1e-8, domain=domain, random_state=0)
    model.plan(20_000, 12)
    model.fit(X, y, groups=np.arange(20_000) if persons else None)
    assert model.certificate_.kind == "noisy-sgd"
    assert model.certificate_.verify() == ()
    assert model.score(X, y) > 0.9
    eq.save(model, tmp_path / "release")
    assert np.array_equal(eq.load(tmp_path / "release").predict_proba(X[:9]), model.predict_proba(X[:9]))
