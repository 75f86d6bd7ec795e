import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.linear_model import LogisticRegression as PlainLogisticRegression
from sklearn.linear_model import Ridge as PlainRidge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

import equipoise as eq
from checking import expected_failures, run_check
from equipoise.errors import (
    BudgetImpossible,
    DomainMissing,
    EquipoiseError,
    InvalidData,
    InvalidParameter,
    NoTheoremApplies,
    PlanMismatch,
    UnknownName,
)
from equipoise.estimators.base import INTERCEPT_SHARE
from equipoise.estimators.regressor import REGRESSION_INTERCEPT_SHARE
from equipoise.planning.notes import Notes
from equipoise.planning.work import VARIABLE

CLASSES = eq.Domain(row_norm=1.0, classes=(0, 1))
LABELS = eq.Domain(row_norm=1.0, labels=(-3.0, 5.0))
# An epsilon so large that the noise is below every tolerance used here, but the door is the same.
OPEN = 1e13


# In a ball of 10 the checks' tables are separated as well as in one of 100, and the kinked solvers need a fifth of the
# steps. Every table has its own shape and is planned anew, so most models name where their noise goes: the default
# ranks a menu of kinds for each shape, which is not what these checks look at. Ridge keeps noise in the objective.
CHECKED_CLASSES = {"epsilon": 1e8, "domain": eq.Domain(10.0, classes="observed"), "alpha": 1e-2, "random_state": 0}
CHECKED_LABELS = {"epsilon": 1e8, "domain": eq.Domain(20.0, labels=(-200.0, 200.0)), "alpha": 1e-6, "random_state": 0}


@parametrize_with_checks(
    [
        eq.LogisticRegression(**{**CHECKED_CLASSES, "alpha": 1e-6}, mechanism="output"),
        eq.LinearSVC(**CHECKED_CLASSES),
        eq.LinearSVC(**CHECKED_CLASSES, loss="smooth-hinge", mechanism="output"),
        eq.ElasticNetClassifier(**CHECKED_CLASSES, l1_ratio=0.1),
        eq.BridgeClassifier(**CHECKED_CLASSES, power=1.9),
        eq.Ridge(**CHECKED_LABELS, mechanism="objective"),
        eq.HuberRegressor(**CHECKED_LABELS, mechanism="output"),
        eq.ElasticNet(**{**CHECKED_LABELS, "alpha": 1e-3}, l1_ratio=0.1),
        eq.BridgeRegressor(**{**CHECKED_LABELS, "alpha": 1e-2}, power=1.9),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_checks(estimator, check, request, monkeypatch):
    # A bridge of tables as wide as these has a worst case of minutes beyond the limit.
    monkeypatch.setenv(VARIABLE, "3e12")
    run_check(estimator, check, request)


WIDE_CLASSES = {**CHECKED_CLASSES, "domain": eq.Domain(100.0, classes="observed"), "alpha": 1e-3}


@pytest.mark.statistics
@parametrize_with_checks(
    [
        eq.LogisticRegression(**{**WIDE_CLASSES, "alpha": 1e-6}),
        eq.LinearSVC(**WIDE_CLASSES),
        eq.LinearSVC(**WIDE_CLASSES, loss="smooth-hinge"),
        eq.ElasticNetClassifier(**WIDE_CLASSES, l1_ratio=0.1),
        eq.BridgeClassifier(**{**WIDE_CLASSES, "alpha": 0.1}, power=1.9),
        eq.Ridge(**CHECKED_LABELS),
        eq.HuberRegressor(**CHECKED_LABELS),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_checks_of_the_default_mechanism_and_of_slow_solutions(estimator, check, request):
    run_check(estimator, check, request)


@pytest.fixture(scope="module")
def table() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(400, 5))
    X /= np.maximum(1, np.linalg.norm(X, axis=1, keepdims=True))
    scores = X @ [2.0, -1.0, 0.5, 0.0, 0.3] + 0.4
    labels = (scores + generator.logistic(size=400) / 3 > 0).astype(int)
    return X, labels, np.clip(1.0 + scores + 0.2 * generator.normal(size=400), -3, 5)


def with_column(X: np.ndarray, share: float) -> np.ndarray:
    return np.hstack([X, np.full((len(X), 1), share)])


@pytest.mark.parametrize("mechanism", ["auto", "output", "objective:1"])
@pytest.mark.parametrize("alpha", [1.0, 1e-2, 1e-4])
def test_without_noise_logistic_regression_is_scikit_learns(table, alpha, mechanism):
    X, labels, _ = table
    model = eq.LogisticRegression(epsilon=OPEN, domain=CLASSES, alpha=alpha, mechanism=mechanism, random_state=0)
    ours = model.fit(X, labels)
    plain = PlainLogisticRegression(C=1 / (alpha * len(X)), fit_intercept=False, solver="newton-cholesky", tol=1e-12)
    plain.fit(with_column(X, INTERCEPT_SHARE), labels)
    np.testing.assert_allclose(ours.coef_[0], plain.coef_[0, :-1], atol=1e-6)
    np.testing.assert_allclose(ours.intercept_[0], INTERCEPT_SHARE * plain.coef_[0, -1], atol=1e-6)


@pytest.mark.parametrize("mechanism", ["auto", "output", "objective:100", "sufficient-statistics", "functional"])
@pytest.mark.parametrize("alpha", [1.0, 1e-2, 1e-4])
def test_without_noise_ridge_is_scikit_learns(table, alpha, mechanism):
    X, _, target = table
    ours = eq.Ridge(epsilon=OPEN, domain=LABELS, alpha=alpha, mechanism=mechanism, random_state=0).fit(X, target)
    plain = PlainRidge(alpha=alpha * len(X) / 2, fit_intercept=False, tol=1e-12)
    plain.fit(with_column(X, REGRESSION_INTERCEPT_SHARE), target - 1.0)
    np.testing.assert_allclose(ours.coef_, plain.coef_[:-1], atol=1e-6)
    np.testing.assert_allclose(ours.intercept_, 1.0 + REGRESSION_INTERCEPT_SHARE * plain.coef_[-1], atol=1e-6)
    np.testing.assert_allclose(ours.predict(X), np.clip(X @ ours.coef_ + ours.intercept_, -3, 5), atol=1e-9)


def test_a_weight_radius_is_kept_and_solved_to_the_minimum(table):
    X, labels, _ = table
    domain = eq.Domain(1.0, classes=(0, 1), radius=0.5)
    model = eq.LogisticRegression(epsilon=OPEN, domain=domain, alpha=1e-3, fit_intercept=False, random_state=0)
    weights = model.fit(X, labels).coef_[0]
    assert np.linalg.norm(weights) == pytest.approx(0.5, abs=1e-6)
    # On the sphere the gradient of the loss must point along the weights, or a rotation would lower it.
    slopes = -(2 * labels - 1) / (1 + np.exp((2 * labels - 1) * (X @ weights)))
    gradient = slopes @ X / len(X) + 1e-3 * weights
    assert gradient @ weights == pytest.approx(-np.linalg.norm(gradient) * np.linalg.norm(weights), rel=1e-6)


def test_private_models_learn(table):
    X, labels, target = table
    X, labels, target = np.tile(X, (25, 1)), np.tile(labels, 25), np.tile(target, 25)
    assert eq.LogisticRegression(epsilon=1.0, domain=CLASSES, random_state=0).fit(X, labels).score(X, labels) > 0.8
    assert eq.Ridge(epsilon=3.0, domain=LABELS, random_state=0).fit(X, target).score(X, target) > 0.5


@pytest.mark.parametrize("classes", [(0, 1), ("no", "yes"), (False, True), (-1.0, 1.0), (3, 1)])
def test_declared_classes_are_kept_in_their_order(table, classes):
    X, labels, _ = table
    model = eq.LogisticRegression(epsilon=OPEN, domain=eq.Domain(1.0, classes=classes), random_state=0)
    model.fit(X, np.array(classes)[labels])
    assert model.classes_.tolist() == list(classes)
    assert set(model.predict(X)) <= set(classes)
    assert model.score(X, np.array(classes)[labels]) > 0.8
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), probabilities)
    np.testing.assert_array_equal(model.predict(X) == classes[1], model.decision_function(X) > 0)


def test_declared_classes_need_not_occur(table):
    X, labels, _ = table
    model = eq.LogisticRegression(domain=eq.Domain(1.0, classes=(0, 7)), random_state=0).fit(X, labels)
    assert model.classes_.tolist() == [0, 7]


def test_observed_classes_make_the_claim_conditional(table):
    X, labels, _ = table
    model = eq.LogisticRegression(domain=eq.Domain(1.0, classes="observed")).fit(X, labels)
    assert model.certificate_.grade == "conditional"
    assert "label set" in model.certificate_.assumptions[0]


FORMS = {
    "float64": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "Fortran order": np.asfortranarray,
    "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "list": lambda X: X.tolist(),
    "pandas": lambda X: pd.DataFrame(X, columns=list("abcde")),
    "pandas float32": lambda X: pd.DataFrame(X.astype(np.float32), columns=list("abcde")),
    "pandas with integer names": pd.DataFrame,
    "polars": lambda X: pl.DataFrame(X, schema=list("abcde")),
    "polars float32": lambda X: pl.DataFrame(X.astype(np.float32), schema=list("abcde")),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_table_gives_the_same_model(table, form):
    X, labels, _ = table
    X = X.astype(np.float32).astype(np.float64)
    reference = eq.LogisticRegression(domain=CLASSES, random_state=0).fit(X, labels)
    model = eq.LogisticRegression(domain=CLASSES, random_state=0).fit(FORMS[form](X), labels)
    np.testing.assert_allclose(model.coef_, reference.coef_, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(model.predict(FORMS[form](X)), reference.predict(X))


@pytest.mark.parametrize("form", [pd.Series, pl.Series, list, np.array])
def test_every_form_of_a_target_gives_the_same_model(table, form):
    X, _, target = table
    reference = eq.Ridge(domain=LABELS, random_state=0).fit(X, target)
    np.testing.assert_array_equal(eq.Ridge(domain=LABELS, random_state=0).fit(X, form(target)).coef_, reference.coef_)


def test_new_rows_are_mapped_like_training_rows(table):
    X, _, target = table
    model = eq.Ridge(epsilon=OPEN, domain=LABELS, random_state=0).fit(X, target)
    long = np.array([[30.0, 40.0, 0.0, 0.0, 0.0], [np.nan, 0.5, np.inf, 0.0, 0.0]])
    mapped = np.array([[0.6, 0.8, 0.0, 0.0, 0.0], [0.0, 0.5, 0.0, 0.0, 0.0]])
    np.testing.assert_allclose(model.predict(long), model.predict(mapped), rtol=1e-14)


def test_clone_pipeline_and_pickle(table):
    X, labels, _ = table
    model = eq.LogisticRegression(epsilon=2.0, domain=CLASSES, random_state=0, ledger=None)
    assert clone(model).get_params() == model.get_params()
    pipeline = make_pipeline(FunctionTransformer(lambda rows: rows / 2), model).fit(X, labels)
    assert pipeline[-1].certificate_.verify() == ()
    fitted = clone(model).fit(X, labels)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict(X), fitted.predict(X))  # noqa: S301


def test_a_clone_forgets_the_plan(table):
    X, labels, _ = table
    model = eq.LogisticRegression(domain=CLASSES, random_state=0)
    model.plan(7, 5)
    clone(model).fit(X, labels)


def test_the_fitted_certificate_is_the_planned_one(table):
    X, labels, _ = table
    model = eq.LogisticRegression(domain=CLASSES)
    planned = model.plan(n_samples=400, n_features=5)
    certificate = model.fit(X, labels).certificate_
    assert replace(certificate, release=None) == planned
    assert certificate.release is not None
    assert planned.grade == "proved"


BAD_DATA = {
    "empty": (np.zeros((0, 5)), [], "0 sample"),
    "no columns": (np.zeros((5, 0)), np.zeros(5), "0 feature"),
    "one dimension": (np.zeros(5), np.zeros(5), "Reshape your data"),
    "three dimensions": (np.zeros((5, 2, 2)), np.zeros(5), "dim 3"),
    "text": (np.array([["a", "b"]] * 4), np.zeros(4), "non-numeric"),
    "objects": (np.array([[1, "b"]] * 4, dtype=object), np.zeros(4), "non-numeric"),
    "complex": (np.zeros((4, 2), dtype=complex), np.zeros(4), "Complex data not supported"),
    "dates": (np.zeros((4, 2), dtype="datetime64[D]"), np.zeros(4), "non-numeric"),
    "ragged": ([[1.0, 2.0], [1.0]], [0, 1], "different lengths"),
    "sparse text": (sparse.csr_array(np.eye(4, dtype=complex)), np.zeros(4), "Complex data not supported"),
    "text column": (pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}), [0, 1], "non-numeric columns b"),
    "polars text column": (pl.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}), [0, 1], "non-numeric columns b"),
    "no target": (np.zeros((4, 2)), None, "y"),
    "short target": (np.zeros((4, 2)), np.zeros(3), "inconsistent"),
    "wide target": (np.zeros((4, 2)), np.zeros((4, 2)), "1d array"),
}


@pytest.mark.parametrize("name", BAD_DATA)
def test_bad_data_is_refused_in_full_words_and_leaves_no_model(name):
    X, y, words = BAD_DATA[name]
    model = eq.LogisticRegression(domain=CLASSES)
    with pytest.raises(InvalidData, match=words) as caught:
        model.fit(X, y)
    assert caught.value.remedy
    assert vars(model) == vars(eq.LogisticRegression(domain=CLASSES))


BAD_PARAMETERS = [
    ({"epsilon": 0}, InvalidParameter),
    ({"epsilon": -1.0}, InvalidParameter),
    ({"epsilon": float("inf")}, InvalidParameter),
    ({"epsilon": float("nan")}, InvalidParameter),
    ({"epsilon": "1"}, InvalidParameter),
    ({"epsilon": True}, InvalidParameter),
    ({"epsilon": 1e30}, InvalidParameter),
    ({"epsilon": 1e-200}, InvalidParameter),
    ({"delta": -1e-9}, InvalidParameter),
    ({"delta": 1.0}, InvalidParameter),
    ({"delta": float("nan")}, InvalidParameter),
    ({"alpha": 0.0}, InvalidParameter),
    ({"alpha": -1.0}, InvalidParameter),
    ({"alpha": float("inf")}, InvalidParameter),
    ({"alpha": "private"}, InvalidParameter),
    ({"alpha": None}, InvalidParameter),
    ({"domain": None}, DomainMissing),
    ({"domain": 1.0}, InvalidParameter),
    ({"domain": eq.Domain(row_norm=1.0)}, InvalidParameter),
    ({"domain": LABELS}, InvalidParameter),
    ({"mechanism": "magic"}, UnknownName),
    ({"mechanism": 3}, InvalidParameter),
    ({"mechanism": ["output"]}, InvalidParameter),
    ({"mechanism": "objective:much"}, UnknownName),
    ({"mechanism": "objective:nan"}, InvalidParameter),
    ({"mechanism": "objective:-1"}, InvalidParameter),
    ({"mechanism": "output:2"}, InvalidParameter),
    ({"mechanism": "auto:2"}, EquipoiseError),
    ({"mechanism": "gaussian:2"}, EquipoiseError),
    ({"mechanism": "noisy-gradient"}, BudgetImpossible),
    ({"mechanism": "noisy-gradient:2.5", "delta": 1e-6}, InvalidParameter),
    ({"mechanism": "noisy-gradient:nan", "delta": 1e-6}, InvalidParameter),
    ({"mechanism": "noisy-gradient:inf", "delta": 1e-6}, InvalidParameter),
    ({"mechanism": "noisy-gradient:1000", "delta": 1e-6}, InvalidParameter),
    ({"mechanism": "sufficient-statistics"}, NoTheoremApplies),
    ({"mechanism": "functional"}, NoTheoremApplies),
    ({"mechanism": "gaussian"}, BudgetImpossible),
    ({"fit_intercept": "yes"}, InvalidParameter),
    ({"random_state": -1}, InvalidParameter),
    ({"random_state": "seed"}, InvalidParameter),
    ({"public_seed": -1}, InvalidParameter),
    ({"public_seed": 0.5}, InvalidParameter),
    ({"ledger": 3}, InvalidParameter),
]


@pytest.mark.parametrize(("parameters", "error"), BAD_PARAMETERS, ids=str)
def test_bad_parameters_are_refused_by_plan_and_by_fit(parameters, error):
    model = eq.LogisticRegression(**{"domain": CLASSES, **parameters})
    before = dict(vars(model))
    for call in (lambda: model.plan(4, 2), lambda: model.fit(np.zeros((4, 2)), np.zeros(4))):
        with pytest.raises(error) as caught:
            call()
        assert isinstance(caught.value, EquipoiseError)
        assert caught.value.asked
        assert caught.value.found
        assert caught.value.remedy
    assert vars(model) == before


@pytest.mark.parametrize("wrong", [0, -3, 2.5, True, "many", None])
def test_a_plan_needs_whole_numbers(wrong):
    for shape in ((wrong, 2), (4, wrong)):
        with pytest.raises(InvalidParameter):
            eq.LogisticRegression(domain=CLASSES).plan(*shape)


def test_the_missing_domain_comes_with_the_line_to_write():
    with pytest.raises(
        DomainMissing, match=r"write LogisticRegression\(domain=Domain\(row_norm=1.0, classes=\(0, 1\)\)\)"
    ):
        eq.LogisticRegression().fit(np.zeros((4, 2)), np.zeros(4))


@pytest.mark.parametrize(
    "wrong",
    [
        {"row_norm": 0.0},
        {"row_norm": float("nan")},
        {"row_norm": "1"},
        {"row_norm": 1e-170},
        {"row_norm": 1e170},
        {"row_norm": 1.0, "classes": (0,)},
        {"row_norm": 1.0, "classes": (0, 0)},
        {"row_norm": 1.0, "classes": "abc"},
        {"row_norm": 1.0, "classes": 3},
        {"row_norm": 1.0, "classes": (0, None)},
        {"row_norm": 1.0, "classes": (0, 1), "labels": (0, 1)},
        {"row_norm": 1.0, "labels": (1, 0)},
        {"row_norm": 1.0, "labels": (0, float("inf"))},
        {"row_norm": 1.0, "labels": (0,)},
        {"row_norm": 1.0, "labels": 5},
        {"row_norm": 1.0, "labels": (0, 1), "radius": 0.0},
        {"row_norm": 1.0, "labels": (0, 1), "fill": float("nan")},
    ],
    ids=str,
)
def test_facts_that_cannot_be_true_are_refused(wrong):
    with pytest.raises(InvalidParameter):
        eq.Domain(**wrong)


def test_another_n_than_planned_is_refused(table):
    X, labels, _ = table
    model = eq.LogisticRegression(domain=CLASSES)
    model.plan(n_samples=401, n_features=5)
    with pytest.raises(PlanMismatch, match="401"):
        model.fit(X, labels)
    model.plan(n_samples=400, n_features=4)
    with pytest.raises(PlanMismatch):
        model.fit(X, labels)


def test_parameters_changed_since_the_plan_are_refused(table):
    X, labels, _ = table
    model = eq.LogisticRegression(domain=CLASSES)
    model.plan(400, 5)
    with pytest.raises(PlanMismatch, match="plan"):
        model.set_params(epsilon=9.0).fit(X, labels)


def test_predicting_needs_a_fit_and_the_same_columns(table):
    X, labels, _ = table
    with pytest.raises(NotFittedError):
        eq.LogisticRegression(domain=CLASSES).predict(X)
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = eq.LogisticRegression(domain=CLASSES, random_state=0).fit(frame, labels)
    with pytest.raises(InvalidData, match="is expecting 5 features"):
        model.predict(frame[["a", "b"]])
    with pytest.raises(InvalidData, match="feature names"):
        model.predict(frame[list("abced")])


def test_a_column_of_targets_is_taken_with_a_warning(table):
    X, labels, _ = table
    with pytest.warns(DataConversionWarning):
        eq.LogisticRegression(domain=CLASSES, random_state=0).fit(X, labels[:, None])


def test_public_alpha_shrinks_with_data_and_budget():
    def alpha(n_samples, epsilon):
        return eq.LogisticRegression(epsilon=epsilon, domain=CLASSES).plan(n_samples, 10).alpha

    assert alpha(10**3, 1.0) > alpha(10**4, 1.0) > alpha(10**5, 1.0)
    assert alpha(10**4, 0.1) > alpha(10**4, 1.0) > alpha(10**4, 10.0)


@pytest.mark.parametrize("mechanism", ["auto", "output", "objective"])
def test_a_ridge_below_the_rounding_of_the_data_is_refused_with_the_remedy(mechanism):
    with pytest.raises(NoTheoremApplies, match="raise alpha"):
        eq.LogisticRegression(domain=CLASSES, alpha=1e-13, mechanism=mechanism).plan(1000, 3)


def test_the_comparator_of_the_risk_bound_stays_inside_a_declared_radius():
    domain = eq.Domain(1.0, classes=(0, 1), radius=0.01)
    assert Notes.of(eq.LogisticRegression(domain=domain).plan(1000, 3)).comparator_norm == 0.01


@pytest.mark.parametrize(
    ("n_samples", "epsilon"),
    [
        (1, 1e-6),
        (10**9, 1e3),
        *(
            pytest.param(*more, marks=pytest.mark.statistics)
            for more in [(1, 1e6), (2, 1e-6), (2, 1e6), (10**9, 1e-6), (10**9, 1e6)]
        ),
    ],
)
def test_extreme_plans_still_follow(n_samples, epsilon, monkeypatch):
    # A billion rows are beyond an hour.
    monkeypatch.setenv("EQUIPOISE_WORK_LIMIT", "1e30")
    for model in (eq.LogisticRegression(epsilon=epsilon, domain=CLASSES), eq.Ridge(epsilon=epsilon, domain=LABELS)):
        certificate = model.plan(n_samples, 3)
        assert certificate.verify() == ()
        assert np.isfinite(certificate.noise_scale)
