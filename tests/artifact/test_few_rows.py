"""Small tables are saved like large ones, with their page: every estimator and every kind, at a few rows."""

import numpy as np
import pytest
from sklearn.base import ClassifierMixin

import equipoise as eq
from equipoise.artifact.findings import inspect
from equipoise.artifact.folder import rehearse
from equipoise.errors import EquipoiseError
from equipoise.estimators import models

TWO, RANGE = eq.Domain(1.0, classes=(0, 1)), eq.Domain(1.0, labels=(-1.0, 1.0))
KINDS = ("auto", "output", "objective", "noisy-gradient", "sufficient-statistics", "functional", "gaussian")


def planned(kind: type, n_samples: int, **given):
    """Return the plan of an estimator for so many rows, None where it is refused with a remedy."""
    known = kind().get_params()
    wanted = {"domain": TWO if issubclass(kind, ClassifierMixin) else RANGE, "alpha": 3.0, "batch_size": 2, **given}
    try:
        return kind(**{name: value for name, value in wanted.items() if name in known}).plan(n_samples, 3)
    except EquipoiseError:
        return None


@pytest.mark.parametrize("name", sorted(models()))
def test_whatever_is_planned_for_few_rows_has_a_page(name):
    plan = planned(models()[name], 20, delta=1e-3)
    assert plan is not None
    rehearse(plan)


@pytest.mark.parametrize("mechanism", KINDS)
def test_every_kind_is_saved_with_its_page(mechanism, tmp_path):
    X = np.random.default_rng(0).normal(size=(50, 3))
    for kind, y in ((eq.LogisticRegression, np.arange(50) % 2), (eq.Ridge, X[:, 0])):
        settings = {"delta": 1e-6, "mechanism": mechanism}
        if planned(kind, 50, **settings) is None:
            assert kind is eq.LogisticRegression
            assert mechanism in ("sufficient-statistics", "functional")
            continue
        domain = TWO if kind is eq.LogisticRegression else RANGE
        model = kind(domain=domain, alpha=0.1, random_state=0, **settings).fit(X, y)
        eq.save(model, tmp_path / kind.__name__)
        assert inspect(tmp_path / kind.__name__).faults == ()


def test_a_release_whose_kind_another_epsilon_would_not_choose_is_saved(tmp_path):
    """The page draws bounds at other epsilons, where "auto" would take noise in the objective."""
    X = np.random.default_rng(0).normal(size=(50, 3))
    model = eq.LogisticRegression(epsilon=1.0, domain=TWO, alpha=0.1, random_state=0).fit(X, np.arange(50) % 2)
    assert model.certificate_.kind == "output"
    assert model.set_params(epsilon=10.0).plan(50, 3).kind == "objective"
    eq.save(model, tmp_path / "release")
    assert inspect(tmp_path / "release").faults == ()
