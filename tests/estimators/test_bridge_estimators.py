"""Models with a bridge penalty: what they minimise, the strength that public facts pick, and what is refused."""

import numpy as np
import pytest
from scipy.optimize import minimize

import equipoise as eq
from equipoise.planning.notes import Notes

CLASSES = eq.Domain(1.0, classes=(0, 1))
# Targets are centred at the middle of their range, 1, which the intercept gives back.
LABELS, MIDDLE = eq.Domain(1.0, labels=(-3.0, 5.0)), 1.0
MODELS = {
    "regressor": (eq.BridgeRegressor, LABELS, lambda margins, y: (margins - (y - MIDDLE)) ** 2),
    "classifier": (eq.BridgeClassifier, CLASSES, lambda margins, y: np.logaddexp(0, -(2 * y - 1) * margins)),
}


@pytest.fixture(scope="module")
def table():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(400, 5))
    X /= np.maximum(1, np.linalg.norm(X, axis=1, keepdims=True))
    scores = X @ [2.0, -1.0, 0.5, 0.0, 0.3]
    return X, {"classifier": (scores > 0).astype(int), "regressor": np.clip(1.0 + scores, -3, 5)}


@pytest.mark.parametrize("power", [1.2, 1.5, 2.0])
@pytest.mark.parametrize("name", MODELS)
def test_a_bridge_minimises_its_own_objective(table, name, power):
    X, targets = table
    y, (kind, domain, loss) = targets[name], MODELS[name]
    model = kind(epsilon=1e8, domain=domain, alpha=0.05, power=power, random_state=0, fit_intercept=False).fit(X, y)
    weights = model.coef_.ravel()
    best = minimize(
        lambda w: loss(X @ w, y).mean() + 0.05 * (np.abs(w) ** power).sum(),
        weights,
        method="BFGS",
        options={"gtol": 1e-9},
    )
    np.testing.assert_allclose(weights, best.x, atol=1e-4)
    assert model.certificate_.claim.trained.problem.penalty.name == f"bridge:{power}"
    assert model.certificate_.verify() == ()


@pytest.mark.parametrize("name", MODELS)
def test_the_public_strength_is_the_best_at_which_a_theorem_applies(table, name):
    X, targets = table
    kind, domain, _ = MODELS[name]
    model = kind(epsilon=2.0, domain=domain, random_state=0).fit(X, targets[name])
    certificate = model.certificate_
    assert certificate.verify() == ()
    for share in (0.7, 1.5):
        other = kind(epsilon=2.0, domain=domain, alpha=certificate.alpha * share).plan(*X.shape)
        assert Notes.of(certificate).excess_risk <= Notes.of(other).excess_risk
    assert np.isfinite(model.predict(X)).all()


@pytest.mark.parametrize("power", [1.0, 2.5, "p"])
def test_a_power_that_is_no_bridge_is_refused(power):
    with pytest.raises(eq.errors.EquipoiseError, match=r"bridge|power"):
        eq.BridgeRegressor(domain=LABELS, power=power).plan(100, 2)


def test_a_radius_is_refused_with_a_remedy():
    domain = eq.Domain(1.0, labels=(-3.0, 5.0), radius=1.0)
    with pytest.raises(eq.errors.EquipoiseError, match=r"to do: .+"):
        eq.BridgeRegressor(domain=domain, alpha=0.1).plan(100, 2)


@pytest.mark.usefixtures("plain_page")
def test_a_saved_bridge_comes_back(table, tmp_path):
    X, targets = table
    model = eq.BridgeClassifier(epsilon=2.0, domain=CLASSES, power=1.75, random_state=0).fit(X, targets["classifier"])
    eq.save(model, tmp_path / "model")
    loaded = eq.load(tmp_path / "model")
    assert loaded.power == 1.75
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    np.testing.assert_array_equal(model.to_sklearn().predict(X), model.predict(X))
