"""Certified dropout (G1, G3, G4): closed forms, witnesses on neighbours, the released curvature, refusals, an audit."""

import itertools
import json
import math
import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import equipoise as eq
from equipoise.artifact.findings import inspect
from equipoise.certify.certificate import Certificate
from equipoise.certify.claims.dropout import ReleasedCurvature
from equipoise.data.rows import Rows
from equipoise.data.tables import feature_table, target_column
from equipoise.errors import BudgetImpossible, CertificateUnreadable, InvalidParameter, NoTheoremApplies
from equipoise.lab.auditing import lower_bound
from equipoise.noise import SeededSource
from equipoise.release import release
from equipoise.release.carriers import dropout as carrier
from equipoise.release.job import Job, Task

LABELS = eq.Domain(row_norm=1.0, labels=(-1.0, 1.0))
CLASSES = eq.Domain(row_norm=1.0, classes=(0, 1))

# The audits of this file that may not fail share this rate of false alarms.
FAILURE = 1e-6


def table(n_samples=3000, columns=3, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n_samples, columns))
    X /= np.maximum(1.0, np.linalg.norm(X, axis=1, keepdims=True))
    y = np.clip(X @ generator.normal(size=columns) + 0.2 * generator.normal(size=n_samples), -1, 1)
    return X, y


def regressor(**parameters):
    return eq.DropoutRegressor(**{"domain": LABELS, "delta": 1e-6, "alpha": 0.1, "random_state": 0, **parameters})


def classifier(**parameters):
    return eq.DropoutClassifier(**{"domain": CLASSES, "delta": 1e-6, "alpha": 0.1, "random_state": 0, **parameters})


def task_of(certificate, X, y):
    """Return what the carrier sees."""
    claim = certificate.claim
    problem = claim.problem
    rows = Rows(np.asarray(X, dtype=float), problem.domain, problem.intercept)
    codes = y if problem.loss.task == "regression" else np.where(np.asarray(y) > 0, 1.0, -1.0)
    job = Job(certificate.terms, feature_table(X), target_column(y, len(y)), (), SeededSource(0))
    return Task(claim, rows, codes, job)


def clean(certificate, X, y):
    """Return the dropout weights before noise."""
    task = task_of(certificate, X, y)
    noise = replace(task.claim.noise, law="laplace", scale=1e-300)
    return (
        carrier.DropoutCarrier().weights(replace(task, claim=replace(task.claim, noise=noise, released=None))).ravel()
    )


def sealed(certificate: Certificate, released: ReleasedCurvature) -> Certificate:
    """Return the certificate of a fit that has released this."""
    return certificate.with_release(replace(certificate.claim, released=released), certificate.release)


# --- the objective ------------------------------------------------------------------------------------------------


def test_the_expected_loss_is_the_mean_over_all_masks():
    X, y = table(40, 3)
    certificate = regressor(keep_probability=0.7, radius=1.5).plan(*X.shape)
    weights = clean(certificate, X, y)
    intercept = certificate.claim.problem.intercept

    def objective(w):
        total = 0.0
        for mask in itertools.product((0, 1), repeat=3):
            chance = math.prod(0.7 if kept else 0.3 for kept in mask)
            predictions = (X * mask / 0.7) @ w[:3] + intercept * w[3]
            total += chance * float(np.square(predictions - y).mean())
        return total + certificate.alpha / 2 * float(w @ w)

    generator = np.random.default_rng(1)
    here = objective(weights)
    for _ in range(50):
        step = 1e-3 * generator.normal(size=4)
        assert objective(weights + step) > here - 1e-9


def test_the_masked_loss_is_the_mean_over_the_public_masks():
    X, y = table(50, 3)
    certificate = classifier(keep_probability=0.6, masks=3, radius=4.0).plan(*X.shape)
    task = task_of(certificate, X, y)
    masked = carrier.MaskedRows(task.rows, True, 0.6, 3, 0)
    blocks = [(block.copy(), where) for block, where in masked.blocks()]
    rows = np.vstack([block for block, _ in blocks])
    assert rows.shape == (150, 4)
    np.testing.assert_array_equal(rows[:, 3], certificate.claim.problem.intercept)
    kept = rows[:, :3] != 0
    np.testing.assert_allclose(rows[:, :3][kept], np.tile(X, (3, 1))[kept] / 0.6)
    assert 0.5 < kept.mean() < 0.7
    np.testing.assert_array_equal(masked.repeated(task.targets), np.tile(task.targets, 3))
    weights = clean(certificate, X, y)
    slopes = -masked.repeated(task.targets) / (1 + np.exp(masked.repeated(task.targets) * (rows @ weights)))
    gradient = slopes @ rows / 150 + certificate.alpha * weights
    assert np.linalg.norm(gradient) <= certificate.claim.tolerance


def test_masks_belong_to_places_and_to_the_public_seed():
    X, _ = table(20, 6)
    rows = Rows(X, LABELS, 0.0)
    first, other, moved = (
        np.vstack([block.copy() for block, _ in carrier.MaskedRows(source, False, 0.5, 2, seed).blocks()]) != 0
        for source, seed in ((rows, 0), (rows, 1), (Rows(X[::-1].copy(), LABELS, 0.0), 0))
    )
    np.testing.assert_array_equal(first, moved)
    assert (first != other).any()


@pytest.mark.parametrize("kind", [regressor, classifier])
def test_dense_and_sparse_rows_give_the_same_model(kind):
    X, y = table(500, 4)
    X[X < 0.1] = 0.0
    y = y if kind is regressor else (y > 0).astype(int)
    dense, thin = (kind(epsilon=5.0).fit(form, y) for form in (X, sparse.csr_array(X)))
    np.testing.assert_allclose(dense.coef_, thin.coef_, rtol=1e-6)


def test_with_many_rows_a_model_is_right():
    X, y = table(30_000, 3)
    assert regressor(epsilon=2.0, radius=2.0).fit(X, y).score(X, y) > 0.85
    assert classifier(epsilon=2.0).fit(X, (y > 0).astype(int)).score(X, (y > 0).astype(int)) > 0.88


# --- witnesses ----------------------------------------------------------------------------------------------------


def neighbours(X, y, count, seed):
    """Yield tables with one row replaced by a long one: along an axis, a diagonal, the weights, or nothing at all."""
    generator = np.random.default_rng(seed)
    columns = X.shape[1]
    for number in range(count):
        other, targets = X.copy(), y.copy()
        row = generator.normal(size=columns) if number % 3 else np.eye(columns)[number % columns]
        other[number % len(X)] = 0.0 if number % 7 == 6 else row / np.linalg.norm(row)
        targets[number % len(X)] = generator.choice([-1.0, 1.0])
        yield other, targets


CASES = [
    (regressor, {"keep_probability": 0.5, "radius": 0.5, "alpha": 0.05}),
    (regressor, {"keep_probability": 0.9, "radius": 1.0, "alpha": 0.01, "fit_intercept": False}),
    (classifier, {"keep_probability": 0.7, "radius": 1.0, "alpha": 0.01, "masks": 2}),
    (classifier, {"keep_probability": 0.9, "radius": 0.5, "alpha": 0.05, "masks": 5, "fit_intercept": False}),
]


@pytest.mark.parametrize(("kind", "parameters"), CASES)
@pytest.mark.parametrize("columns", [1, 3])
def test_no_neighbour_moves_the_weights_further_than_the_actual_curvature_allows(kind, parameters, columns):
    for seed in range(3):
        X, y = table(24, columns, seed)
        if kind is classifier:
            # Labels without a pattern keep the minimiser off the sphere of the constraint.
            y = np.resize([1.0, -1.0, -1.0, 1.0], 24)
        if seed == 2:
            # Next to no curvature: a column that is almost never used.
            X[:, 0] *= 1e-3
        certificate = kind(**parameters).plan(*X.shape)
        allowed = certificate.claim.distance(carrier.curvature(task_of(certificate, X, y)))
        start = clean(certificate, X, y)
        moved = [np.linalg.norm(clean(certificate, *pair) - start) for pair in neighbours(X, y, 40, seed)]
        assert max(moved) <= allowed
        # The bound is none of the worst case, and no idle one.
        assert allowed < certificate.sensitivity or seed == 2
        assert max(moved) > 0.1 * allowed or seed == 2


def test_the_curvature_bound_is_nearly_attained_in_one_column():
    n_samples, X, y = 20, np.ones((20, 1)), np.resize([1.0, -1.0], 20)
    certificate = regressor(alpha=0.05, fit_intercept=False, radius=0.2, keep_probability=0.8).plan(n_samples, 1)
    turned = X.copy()
    turned[0] = -1.0
    moved = float(np.abs(clean(certificate, X, y) - clean(certificate, turned, y))[0])
    allowed = certificate.claim.distance(carrier.curvature(task_of(certificate, X, y)))
    assert 0.95 * allowed < moved <= allowed
    # A curvature of twice the true one would claim less than is seen: the planted fault shows.
    assert moved > certificate.claim.distance(2 * carrier.curvature(task_of(certificate, X, y)))


@pytest.mark.parametrize(("kind", "parameters"), CASES)
def test_no_neighbour_moves_the_curvature_further_than_its_sensitivity(kind, parameters):
    largest = 0.0
    for columns in (1, 2, 4):
        X, y = table(12, columns)
        certificate = kind(**parameters).plan(*X.shape)
        sensitivity = certificate.claim.curvature_sensitivity
        for table_of in (X, np.vstack([np.eye(columns)] * 12)[:12], np.zeros_like(X)):
            start = carrier.curvature(task_of(certificate, table_of, y))
            for other, targets in neighbours(table_of, y, 30, columns):
                moved = abs(carrier.curvature(task_of(certificate, other, targets)) - start)
                assert moved <= sensitivity
                largest = max(largest, moved / sensitivity)
            assert -1e-12 <= start <= certificate.claim.most() * (1 + 1e-9)
    assert largest > 0.25


def test_the_gradients_of_two_rows_are_never_further_apart_than_the_diameter():
    generator = np.random.default_rng(5)
    certificate = regressor(keep_probability=0.4, radius=0.7, fit_intercept=False).plan(100, 3)
    facts, keep = certificate.claim.constants, 0.4
    rows = generator.normal(size=(4000, 3))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    weights = generator.normal(size=(40, 3))
    weights *= 0.7 / np.linalg.norm(weights, axis=1, keepdims=True)
    seen = 0.0
    for w in weights:
        gradients = [
            2 * (rows @ w - label)[:, None] * rows + 2 * (1 - keep) / keep * rows**2 * w for label in (-1.0, 1.0)
        ]
        assert max(np.linalg.norm(each, axis=1).max() for each in gradients) <= facts.lipschitz
        seen = max(seen, np.linalg.norm(gradients[0] - gradients[1][::-1], axis=1).max())
    assert 0.5 * facts.gradient_diameter < seen <= facts.gradient_diameter


# --- the certificate ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [regressor, classifier])
def test_the_released_curvature_is_appended_and_checked(kind):
    X, y = table()
    y = y if kind is regressor else (y > 0).astype(int)
    model = kind(epsilon=2.0)
    plan = model.plan(*X.shape)
    certificate = model.fit(X, y).certificate_
    released = certificate.released
    assert plan.released is None
    assert certificate.verify() == plan.verify() == ()
    assert certificate.planned_digest == plan.digest != certificate.digest
    assert 0 < released.low <= carrier.curvature(task_of(certificate, X, y))
    assert certificate.noise_scale == released.noise_scale < plan.noise_scale
    assert certificate.sensitivity == released.sensitivity < plan.sensitivity
    assert Certificate.from_json(certificate.to_json()) == certificate
    text = certificate.explain()
    assert "Released on the way, and paid for" in text
    assert f'"low":{released.low!r}' in text
    assert "Released on the way" not in plan.explain()


def test_the_split_is_in_the_certificate_and_adds_up():
    for proposal in (None, 0.05):
        plan = regressor(epsilon=2.0, delta=1e-5, proposal=proposal, curvature_share=0.3).plan(3000, 3)
        rule = plan.claim
        assert rule.statistic.epsilon == pytest.approx(0.6)
        assert rule.statistic.epsilon + rule.weights.epsilon <= 2.0
        deltas = rule.statistic.delta, rule.weights.delta
        assert (sum(deltas) if proposal is None else max(deltas)) <= 1e-5
        assert plan.curve().delta(2.0) <= 1e-5
        assert f"({rule.statistic.epsilon:.6g}, {rule.statistic.delta:.6g}) pays" in plan.explain()


def test_tampering_with_the_curvature_is_found():
    X, y = table()
    certificate = regressor(epsilon=2.0).fit(X, y).certificate_
    released = certificate.released
    wrongs = {
        "the noise is as much as the distance asks for": replace(released, noise_scale=released.noise_scale / 2),
        "G3 bounds the weights' change": replace(released, sensitivity=released.sensitivity / 2),
        "rows can be so curved": replace(released, low=5.0),
        "a lower bound is never refused": replace(released, passed=False),
        "after a refusal nothing else is released": replace(released, passed=False),
    }
    assert sealed(certificate, released).verify() == ()
    for words, wrong in wrongs.items():
        assert any(words in fault for fault in sealed(certificate, wrong).verify()), words
    unsealed = replace(certificate, claim=replace(certificate.claim, released=None))
    assert any("digest" in fault for fault in unsealed.verify())


def test_a_claim_that_pays_for_no_curvature_cannot_carry_one():
    record = json.loads(eq.Ridge(domain=LABELS, mechanism="output").plan(100, 2).to_json())
    record["claim"]["released"] = {"low": 0.1, "passed": True, "sensitivity": 0.1, "noise_scale": 0.1}
    with pytest.raises(CertificateUnreadable, match=r"unknown \['released'\]"):
        Certificate.from_json(json.dumps(record))


def test_a_proposal_that_differs_from_what_was_used_is_found():
    plan = regressor(proposal=0.05, epsilon=3.0).plan(3000, 3)
    assert sealed(plan, carrier.settled(plan.claim, 0.05)).verify() == ()
    for used in (0.2, 0.01):
        faults = sealed(plan, carrier.settled(plan.claim, used)).verify()
        assert any("a test is of the proposal" in fault for fault in faults)


def test_more_curvature_means_less_noise_and_the_plan_covers_it():
    plan = regressor().plan(3000, 3)
    settled = [carrier.settled(plan.claim, low) for low in np.linspace(0, plan.claim.most(), 8)]
    scales = [entry.noise_scale for entry in settled]
    assert scales == sorted(scales, reverse=True)
    assert scales[0] >= plan.noise_scale
    for entry in settled:
        assert entry.sensitivity / entry.noise_scale <= plan.sensitivity / plan.noise_scale


def test_a_proposal_that_is_not_confirmed_is_refused_and_says_so():
    X, y = table()
    flat = X.copy()
    flat[:, 0] = 0.0
    for kind, labels, expected in (
        (regressor, y + 3, 3.0),
        (classifier, np.where(y > 0, "yes", "no"), "no"),
    ):
        domain = eq.Domain(1.0, labels=(2.0, 4.0)) if kind is regressor else eq.Domain(1.0, classes=("no", "yes"))
        model = kind(epsilon=4.0, proposal=0.08, domain=domain)
        refused = clone(model).fit(flat, labels)
        assert refused.refused_
        assert refused.certificate_.released == ReleasedCurvature(0.08, False, 0.0, 0.0)
        assert refused.certificate_.verify() == ()
        assert not np.any(refused.coef_)
        assert set(refused.predict(X).tolist()) == {expected}
        assert '"passed":false' in refused.certificate_.explain()
        passed = clone(model).fit(X, labels)
        assert not passed.refused_
        assert passed.certificate_.released.low == 0.08
        assert passed.certificate_.verify() == ()
        assert np.any(passed.coef_)


def test_a_release_draws_exact_noise():
    X, y = table(2000, 2)
    model = regressor(random_state=None, epsilon=2.0).fit(X, y)
    assert model.certificate_.grade == "proved"
    assert model.certificate_.verify() == ()


def test_values_never_raise():
    X, y = table(200, 3)
    X[0], X[1, 1], y[2] = np.nan, np.inf, np.nan
    X[3] = 1e200
    assert np.isfinite(regressor(epsilon=5.0).fit(X, y).coef_).all()
    assert np.isfinite(classifier(epsilon=5.0).fit(X, ["strange"] * 200).coef_).all()


@pytest.mark.parametrize("kind", [regressor, classifier])
def test_a_fitted_model_holds_no_row_and_nothing_private_but_weights_and_curvature(kind):
    X, y = table(400, 3)
    marked = 0.123456789012345
    X[7, 1] = marked
    model = kind(epsilon=5.0).fit(X, y if kind is regressor else (y > 0).astype(int))
    assert set(model.__dict__) - set(model.get_params()) <= {
        *("mechanism", "n_features_in_", "coef_", "intercept_", "classes_", "certificate_", "_facts")
    }
    certificate = model.certificate_
    private = {float(carrier.curvature(task_of(certificate, X, y))), *clean(certificate, X, y).tolist()}
    text, pickled = certificate.to_json(), pickle.dumps(model)
    for number in (*private, marked):
        assert repr(number) not in text
        assert np.float64(number).tobytes() not in pickled
    assert pickle.loads(pickled).certificate_ == certificate  # noqa: S301 - our own bytes


@pytest.mark.usefixtures("plain_page")
def test_a_saved_release_is_loaded_with_its_curvature(tmp_path):
    X, y = table(400, 3)
    for number, model in enumerate((regressor(epsilon=5.0, radius=1.0), classifier(epsilon=5.0, masks=2))):
        model.fit(X, y if number == 0 else (y > 0).astype(int))
        eq.save(model, tmp_path / str(number))
        loaded = eq.load(tmp_path / str(number))
        assert loaded.certificate_ == model.certificate_
        assert inspect(tmp_path / str(number)).faults == ()
        np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


# --- bad inputs ---------------------------------------------------------------------------------------------------

BAD = [
    ({"delta": 0.0}, BudgetImpossible, "delta > 0"),
    ({"radius": None}, InvalidParameter, "radius"),
    ({"radius": -1.0}, InvalidParameter, "radius"),
    ({"radius": "wide"}, InvalidParameter, "radius"),
    ({"keep_probability": 0.0}, InvalidParameter, "keep_probability"),
    ({"keep_probability": 1.0}, InvalidParameter, "keep_probability"),
    ({"keep_probability": -0.5}, InvalidParameter, "keep_probability"),
    ({"keep_probability": "half"}, InvalidParameter, "keep_probability"),
    ({"curvature_share": 0.0}, InvalidParameter, "curvature_share"),
    ({"curvature_share": 1.0}, InvalidParameter, "curvature_share"),
    ({"curvature_share": "much"}, InvalidParameter, "curvature_share"),
    ({"proposal": 0.0}, InvalidParameter, "proposal"),
    ({"proposal": 1e3}, InvalidParameter, "propose less"),
    ({"alpha": 0.0}, InvalidParameter, "alpha"),
    ({"alpha": 1e-30}, NoTheoremApplies, "raise alpha"),
    ({"epsilon": 0.0}, InvalidParameter, "epsilon"),
]


@pytest.mark.parametrize("kind", [regressor, classifier])
@pytest.mark.parametrize(("parameters", "error", "words"), BAD, ids=str)
def test_bad_parameters_are_refused_before_any_row_is_read(kind, parameters, error, words):
    with pytest.raises(error, match=words):
        kind(**parameters).plan(1000, 3)


def test_masks_must_be_a_count():
    for wrong in (0, -1, 2.5, "many"):
        with pytest.raises(InvalidParameter, match="mask"):
            classifier(masks=wrong).plan(1000, 3)


def test_more_than_two_classes_are_refused():
    with pytest.raises(InvalidParameter, match="two classes"):
        classifier(domain=eq.Domain(1.0, classes=(0, 1, 2))).plan(1000, 3)


@pytest.mark.parametrize(
    "parameters", [{"curvature_share": 0.1}, {"proposal": 0.1}, {"proposal": 0.1, "curvature_share": 0.2}]
)
def test_too_few_rows_for_a_curvature_are_refused_with_the_number_that_it_takes(parameters):
    with pytest.raises(InvalidParameter, match="rows or more") as refusal:
        regressor(alpha="public", **parameters).plan(50, 5)
    needed = int(refusal.value.remedy.split()[2].replace(",", ""))
    assert regressor(alpha="public", **parameters).plan(needed, 5).verify() == ()


def test_left_to_public_facts_few_rows_get_the_smallest_share():
    few, many = (regressor(alpha="public").plan(count, 5) for count in (50, 20_000))
    assert few.claim.statistic.epsilon == pytest.approx(0.02)
    assert many.claim.statistic.epsilon > 0.02


def test_the_domain_can_carry_the_radius():
    assert regressor(radius=None, domain=replace(LABELS, radius=0.5)).plan(100, 2).claim.constants.radius == 0.5


def test_a_descent_cannot_ask_for_dropout_by_name():
    with pytest.raises(InvalidParameter, match="estimators of their own"):
        eq.SGDRegressor(domain=LABELS, mechanism="dropout").plan(100, 2)


# --- an audit of whole releases -----------------------------------------------------------------------------------

AUDITED = {
    "epsilon": 1.0,
    "delta": 0.02,
    "alpha": 0.05,
    "fit_intercept": False,
    "radius": 0.2,
    "keep_probability": 0.8,
    "curvature_share": 0.2,
}
X_AUDITED, Y_AUDITED = np.ones((200, 1)), np.resize([1.0, -1.0], 200)
X_TURNED = np.where(np.arange(200)[:, None] == 0, -1.0, X_AUDITED)


def observed(runs, source=SeededSource, start=0):
    """Return the audit's lower bound on epsilon, on the pair that nearly attains the bound."""
    certificate = regressor(**AUDITED).plan(200, 1)
    target = target_column(Y_AUDITED, 200)
    sides = feature_table(X_AUDITED), feature_table(X_TURNED)
    first, second = (
        np.array(
            [release(certificate, side, target, source(2 * run + place + start)).weights[0, 0] for run in range(runs)]
        )
        for place, side in enumerate(sides)
    )
    # The clean weights are 0 and about -0.008, so that these lie around both; they are fixed before any run.
    thresholds = np.linspace(-0.016, 0.008, 7)
    return lower_bound(first, second, AUDITED["delta"], thresholds, FAILURE).epsilon


class QuarteredNoise(SeededSource):
    """A planted fault: a quarter of the noise, on weights and curvature."""

    def add(self, law, weights, scale):
        return super().add(law, weights, scale / 4)


def test_whole_releases_stay_below_their_claim():
    assert observed(500) <= AUDITED["epsilon"]


def test_a_quarter_of_the_noise_is_caught():
    assert observed(500, QuarteredNoise) > AUDITED["epsilon"]


def test_an_inflated_curvature_is_caught(monkeypatch):
    settled = carrier.settled
    monkeypatch.setattr(carrier, "settled", lambda claim, low: settled(claim, 6 * low))
    assert observed(500) > AUDITED["epsilon"]
