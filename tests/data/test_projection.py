"""A few public directions (P1): neighbours stay neighbours, the release is spread back, and an audit can fail."""

from dataclasses import replace

import numpy as np
import pytest

import equipoise as eq
from auditing import FAILURE, FEW_RUNS, FifthOfTheNoise, HalvedNoise, audit
from equipoise.data.projection import directions, projected_rows, shortening
from equipoise.data.tables import feature_table, target_column
from equipoise.noise import SeededSource
from equipoise.planning.notes import Notes
from equipoise.planning.reference import lost_by_projection
from equipoise.release import release

CLASSES = eq.Domain(row_norm=1.0, classes=(0, 1))
SEED = 3


def planned(n_samples=60, n_features=40, **parameters):
    given = {"epsilon": 0.3, "domain": CLASSES, "public_seed": SEED, "random_state": 0, **parameters}
    model = eq.LogisticRegression(**given)
    return model, model.plan(n_samples, n_features)


def reduced_to(certificate):
    """Return how many directions the claim is about; 0 where it is about the table's own columns."""
    claim = certificate.claim.trained
    count = getattr(claim, "projection", 0)
    assert claim.n_features == (count or certificate.n_features)
    return count


def test_few_noisy_rows_with_many_columns_are_reduced_to_a_few_directions():
    _, certificate = planned()
    count = reduced_to(certificate)
    assert 16 <= count < 40
    assert certificate.claim.noise.dimension == count + 1
    assert certificate.verify() == ()
    assert f"reduced to {count} random direction(s)" in certificate.explain()
    menu = Notes.of(certificate).menu
    assert any(choice.projection == count and choice.verdict.startswith("taken") for choice in menu)


@pytest.mark.parametrize(
    "change",
    [
        {"mechanism": "objective"},
        {"mechanism": "output"},
        {"epsilon": 100.0},
        {"n_samples": 10**6},
        {"n_features": 1},
        {"domain": eq.Domain(1.0, classes=(0, 1), radius=5.0)},
    ],
    ids=lambda change: " ".join(change),
)
def test_otherwise_rows_stay_as_they_are(change):
    assert reduced_to(planned(**change)[1]) == 0


def test_a_penalty_on_single_columns_is_not_asked_of_directions():
    model = eq.ElasticNetClassifier(epsilon=0.3, domain=CLASSES, l1_ratio=0.5)
    assert reduced_to(model.plan(60, 40)) == 0


def test_directions_are_orthogonal_of_one_length_and_a_function_of_the_public_seed():
    columns = directions(30, 4, SEED)
    np.testing.assert_allclose(columns.T @ columns, 30 / 4 * np.eye(4), atol=1e-12)
    np.testing.assert_array_equal(columns, directions(30, 4, SEED))
    assert not np.allclose(columns, directions(30, 4, SEED + 1))
    # The stream of this generator is frozen, so these digits are those of every NumPy.
    assert np.abs(directions(3, 1, 0)).ravel() == pytest.approx((1.72361196, 0.16692448, 0.03602808), abs=1e-8)


def reduced(X):
    rows = projected_rows(X, CLASSES, 0.2, directions(X.shape[1], 3, SEED))
    return np.vstack([block.copy() for block, _ in rows.blocks()])


def test_each_row_is_mapped_by_itself_and_stays_in_the_ball():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(500, 20))
    X[::50] = np.nan
    X[1::50] = 1e300
    changed = X.copy()
    changed[7] = generator.normal(size=20)
    first, second = reduced(X), reduced(changed)
    assert np.linalg.norm(first[:, :3], axis=1).max() <= 1 + 1e-12
    np.testing.assert_array_equal(np.delete(first, 7, axis=0), np.delete(second, 7, axis=0))
    assert not np.array_equal(first[7], second[7])


def test_released_weights_lie_in_the_directions_and_predictions_are_those_of_training():
    generator = np.random.default_rng(1)
    X = generator.normal(size=(60, 40))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = (X[:, 0] > 0).astype(int)
    model, certificate = planned()
    model.fit(X, y)
    count = reduced_to(certificate)
    columns = directions(40, count, SEED)
    inside = np.linalg.lstsq(columns, model.coef_[0], rcond=None)[0]
    np.testing.assert_allclose(columns @ inside, model.coef_[0], atol=1e-9)
    products = X @ columns
    scores = shortening(products, CLASSES) * (products @ inside) + model.intercept_
    np.testing.assert_allclose(model.decision_function(X), scores, rtol=1e-9)


def test_several_classes_and_sparse_rows_are_reduced_too():
    from scipy import sparse

    X = sparse.random_array((90, 80), density=0.3, rng=np.random.default_rng(0), format="csr")
    domain = eq.Domain(row_norm=1.0, classes=(0, 1, 2))
    parameters = {"epsilon": 0.5, "domain": domain, "public_seed": SEED, "random_state": 0}
    sparse_fit = eq.LogisticRegression(**parameters).fit(X, np.arange(90) % 3)
    dense_fit = eq.LogisticRegression(**parameters).fit(X.toarray(), np.arange(90) % 3)
    assert reduced_to(sparse_fit.certificate_) > 0
    np.testing.assert_allclose(sparse_fit.coef_, dense_fit.coef_, atol=1e-6)


@pytest.mark.usefixtures("plain_page")
@pytest.mark.parametrize(("row_sum", "epsilon"), [(None, 0.3), (4.0, 0.3)])
def test_a_saved_model_predicts_the_same_and_so_does_plain_scikit_learn(row_sum, epsilon, tmp_path):
    X = np.random.default_rng(2).normal(size=(60, 40))
    model, _ = planned(epsilon=epsilon, domain=replace(CLASSES, row_sum=row_sum))
    model.fit(X, np.arange(60) % 2)
    assert reduced_to(model.certificate_) > 0
    eq.save(model, tmp_path / "release")
    np.testing.assert_array_equal(eq.load(tmp_path / "release").predict(X), model.predict(X))
    # Rows are clipped, then reduced and clipped again: long and short ones, of many entries and of few.
    new = np.vstack([X, X / 100, np.eye(40) * 3])
    np.testing.assert_allclose(model.to_sklearn().decision_function(new), model.decision_function(new), rtol=1e-9)


def test_what_a_projection_loses_falls_with_the_number_of_directions():
    losses = [lost_by_projection(64, count) for count in (1, 2, 4, 8, 16, 32, 64)]
    assert losses == sorted(losses, reverse=True)
    assert losses[0] < 1
    assert losses[-1] == 0


def test_the_modelled_loss_is_that_of_random_projections_of_such_rows():
    # Rows of the reference spectrum, weights equally long in every direction: what the best model on k keeps.
    columns, count, generator = 40, 6, np.random.default_rng(0)
    others = 1 / np.arange(1, columns)
    spectrum = np.concatenate([[0.5], 0.5 * others / others.sum()])
    kept = []
    for _ in range(200):
        P = np.linalg.qr(generator.normal(size=(columns, count)))[0]
        moment = P.T @ spectrum
        kept.append(moment @ np.linalg.solve(P.T @ (spectrum[:, None] * P), moment))
    assert 1 - np.mean(kept) == pytest.approx(lost_by_projection(columns, count), abs=0.08)


ALL_RUNS = 2800


@pytest.fixture
def one_direction(monkeypatch):
    """Let a plan have one direction, along which noise hides least: what eight hide, seven more do not tell apart."""
    monkeypatch.setattr("equipoise.planning.kinds.objective.FEWEST_DIRECTIONS", 1)
    monkeypatch.setattr("equipoise.planning.kinds.objective.FEWEST_SHARE", 1_000)


def observed(source, runs):
    """Return the audit's bound for a row along the directions, turned round beside three rows of zeros."""
    model = eq.LogisticRegression(epsilon=1.0, domain=CLASSES, fit_intercept=False, public_seed=SEED, random_state=0)
    certificate = model.plan(4, 30)
    count = reduced_to(certificate)
    assert count > 0
    along = directions(30, count, SEED)[:, 0]
    X = np.zeros((4, 30))
    X[0] = along / np.linalg.norm(along)
    target = target_column(np.array([1, 0, 1, 0]), 4)
    pilots = min(runs // 5, 200)
    sides = [feature_table(X), feature_table(-X)]
    found = np.array(
        [
            [
                float((release(certificate, side, target, source(2 * run + place)).weights @ along)[0])
                for place, side in enumerate(sides)
            ]
            for run in range(runs + pilots)
        ]
    )
    drawn, first, second = found[:pilots].ravel(), found[pilots:, 0], found[pilots:, 1]
    thresholds = np.quantile(drawn, (0.05, 0.15, 0.3, 0.5, 0.7, 0.85, 0.95))
    return audit(first, second, 0.0, thresholds, FAILURE).epsilon


@pytest.mark.usefixtures("one_direction")
@pytest.mark.parametrize("runs", [FEW_RUNS, pytest.param(ALL_RUNS, marks=pytest.mark.statistics)])
def test_an_audit_of_a_projected_release_stays_below_its_claim(runs):
    assert observed(SeededSource, runs) <= 1.0


@pytest.mark.usefixtures("one_direction")
@pytest.mark.parametrize(
    ("source", "runs"),
    [(FifthOfTheNoise, FEW_RUNS), pytest.param(HalvedNoise, ALL_RUNS, marks=pytest.mark.statistics)],
)
def test_the_audit_catches_too_little_noise(source, runs):
    assert observed(source, runs) > 1.0
