"""Weights from another solver: used where they are good, polished where not, certified as those of fit."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy import sparse
from sklearn.linear_model import ElasticNet as PlainElasticNet
from sklearn.linear_model import LogisticRegression as PlainLogisticRegression
from sklearn.linear_model import Ridge as PlainRidge
from sklearn.svm import LinearSVC as PlainLinearSVC

import equipoise as eq
from equipoise.errors import InvalidData, InvalidParameter
from equipoise.estimators.base import INTERCEPT_SHARE
from equipoise.estimators.regressor import REGRESSION_INTERCEPT_SHARE
from equipoise.solve.objective import Objective

Array = NDArray[np.float64]

TWO = eq.Domain(row_norm=1.0, classes=(0, 1))
THREE = eq.Domain(row_norm=1.0, classes=(0, 1, 2))
LABELS = eq.Domain(row_norm=1.0, labels=(-3.0, 5.0))
MIDPOINT = 1.0
OPEN = 1e13
ALPHA = 0.05

# The entry of the constant column.
SHARES = {"ridge": REGRESSION_INTERCEPT_SHARE, "elastic net": REGRESSION_INTERCEPT_SHARE}

MODELS = {
    "logistic": (eq.LogisticRegression, TWO, {}),
    "multinomial": (eq.LogisticRegression, THREE, {}),
    "ridge": (eq.Ridge, LABELS, {}),
    "support vectors": (eq.LinearSVC, TWO, {"loss": "hinge"}),
    "elastic net": (eq.ElasticNet, LABELS, {"l1_ratio": 0.2}),
}


def make(name: str, **changes):
    kind, domain, parameters = MODELS[name]
    usual = {"epsilon": OPEN, "alpha": ALPHA, "domain": domain, "mechanism": "output", "random_state": 0}
    return kind(**{**usual, **parameters, **changes})


@pytest.fixture(scope="module")
def table() -> tuple[Array, dict[str, Array]]:
    generator = np.random.default_rng(9)
    X = generator.normal(size=(200, 4))
    X /= np.maximum(1, np.linalg.norm(X, axis=1, keepdims=True))
    scores = 3 * X @ generator.normal(size=(4, 3)) + generator.gumbel(size=(200, 3))
    two, number = (scores[:, 0] > 0.5).astype(int), np.clip(MIDPOINT + scores[:, 0], -3, 5)
    targets = {"logistic": two, "multinomial": scores.argmax(axis=1), "ridge": number}
    return X, {**targets, "support vectors": two, "elastic net": number}


def with_column(X: Array, share: float) -> Array:
    return np.hstack([X, np.full((len(X), 1), share)])


def theirs(name: str, X: Array, y: Array) -> Array:
    """Return scikit-learn's minimiser of the same objective, one row an output, without an intercept of its own."""
    n_samples = len(X)
    if name in ("logistic", "multinomial"):
        model = PlainLogisticRegression(
            C=1 / (ALPHA * n_samples), fit_intercept=False, solver="newton-cg", tol=1e-10, max_iter=1000
        )
        coefficients = model.fit(X, y).coef_
        return coefficients if name == "logistic" else coefficients - coefficients.mean(axis=0)
    if name == "ridge":
        return PlainRidge(alpha=ALPHA * n_samples / 2, fit_intercept=False, tol=1e-12).fit(X, y - MIDPOINT).coef_[None]
    if name == "support vectors":
        return (
            PlainLinearSVC(C=1 / (ALPHA * n_samples), loss="hinge", fit_intercept=False, tol=1e-10, max_iter=10**6)
            .fit(X, y)
            .coef_
        )
    # Their loss is 1 / (2 n), ours 1 / n.
    plain = PlainElasticNet(alpha=ALPHA / 2, l1_ratio=0.2, fit_intercept=False, tol=1e-14, max_iter=10**6)
    return plain.fit(X, y - MIDPOINT).coef_[None]


def allowed(model) -> float:
    """Return how far the solver may end from the minimiser: tolerance / mu (A4), and a trace of noise."""
    claim = model.certificate_.claim.trained
    return claim.tolerance / claim.constants.strong_convexity + 1e-11


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("name", MODELS)
def test_the_weights_of_scikit_learn_are_released_with_the_certificate_of_fit(table, name, fit_intercept):
    X, y = table[0], table[1][name]
    share = SHARES.get(name, INTERCEPT_SHARE)
    solution = theirs(name, with_column(X, share) if fit_intercept else X, y)
    centre = MIDPOINT if name in ("ridge", "elastic net") else 0.0
    coefficients, intercepts = solution, np.full(len(solution), 0.0)
    if fit_intercept:
        coefficients, intercepts = solution[:, :-1], centre + share * solution[:, -1]
    released = eq.release_solution(coefficients, make(name, fit_intercept=fit_intercept), X, y, intercepts)
    # Two solvers, each within its tolerance; only the hinge's is worth mentioning.
    room = 1e-6 if name != "support vectors" else 1e-6 + allowed(released)
    np.testing.assert_allclose(np.atleast_2d(released.coef_), coefficients, rtol=0, atol=room)
    if fit_intercept:
        np.testing.assert_allclose(np.atleast_1d(released.intercept_), intercepts, rtol=0, atol=room)
    model = make(name, fit_intercept=fit_intercept)
    planned, fitted = model.plan(*X.shape), model.fit(X, y).certificate_
    assert released.certificate_.terms == planned.terms == fitted.terms
    assert released.certificate_.claim == planned.claim == fitted.claim
    assert released.certificate_.digest == planned.digest == fitted.digest
    assert released.certificate_.notes == planned.notes == fitted.notes


@pytest.mark.parametrize("name", MODELS)
def test_wherever_it_starts_it_ends_at_the_minimiser_and_no_value_raises(table, name):
    X, y = table[0], table[1][name]
    fitted = make(name).fit(X, y)
    shape = np.atleast_2d(fitted.coef_).shape
    generator = np.random.default_rng(1)
    starts = [generator.normal(size=shape), 30 * generator.normal(size=shape), np.zeros(shape)]
    starts += [np.full(shape, value) for value in (np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324)]
    mixed = generator.normal(size=shape)
    mixed.flat[:3] = np.nan, 1e308, -np.inf
    for start in [*starts, mixed]:
        for intercept in (0.0, np.nan, np.inf, -1e300):
            released = eq.release_solution(start, make(name), X, y, intercept)
            room = 2 * allowed(fitted)
            np.testing.assert_allclose(released.coef_, fitted.coef_, rtol=0, atol=room)
            np.testing.assert_allclose(released.intercept_, fitted.intercept_, rtol=0, atol=room)


def test_the_largest_intercept_neither_raises_nor_warns(table):
    # Divided by the constant column it overflows, which a warning would tell of a private number.
    X, y = table[0], table[1]["logistic"]
    fitted = make("logistic").fit(X, y)
    released = eq.release_solution(np.zeros((1, 4)), make("logistic"), X, y, 1e308)
    np.testing.assert_allclose(released.coef_, fitted.coef_, rtol=0, atol=2 * allowed(fitted))


# The same type, and any value: what one of them does, all do.
VALUES = {
    "long doubles": [np.full((1, 4), np.longdouble(value)) for value in ("1", "1e4000", "nan")],
    "lists": [[[value, 1, 1, 1]] for value in (1, 10**3, 10**30, 10**400, 0.5, np.nan, None, "1", [2], 1j)],
    "lists of numbers": [[value, 1, 1, 1] for value in (1, 10**30, 0.5, None)],
    "nullable columns": [pd.DataFrame({name: [value] for name in "abcd"}, dtype="Float64") for value in (1.0, None)],
    "whole numbers": [np.full((1, 4), value, dtype=np.uint64) for value in (1, 2**64 - 1)],
}


@pytest.mark.parametrize("intercept", [1, 10**30, 10**400, np.longdouble("1e4000"), [0.5], [None], np.float32(2)])
@pytest.mark.parametrize("kind", VALUES)
def test_the_type_of_weights_decides_and_no_value_raises_or_warns(table, kind, intercept):
    X, y = table[0], table[1]["logistic"]
    fitted = make("logistic").fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for start in VALUES[kind]:
            released = eq.release_solution(start, make("logistic"), X, y, intercept)
            np.testing.assert_allclose(released.coef_, fitted.coef_, rtol=0, atol=2 * allowed(fitted))


def test_columns_and_series_are_taken_as_arrays_are(table):
    X, y = table[0], table[1]["logistic"]
    solution = make("logistic").fit(X, y)
    plain = eq.release_solution(solution.coef_, make("logistic"), X, y, solution.intercept_)
    for given in (
        pd.Series(solution.coef_[0]),
        pd.DataFrame(solution.coef_),
        solution.coef_.tolist(),
        solution.coef_[0].tolist(),
    ):
        for constant in (solution.intercept_, solution.intercept_[0], float(solution.intercept_[0])):
            released = eq.release_solution(given, make("logistic"), X, y, constant)
            np.testing.assert_array_equal(released.coef_, plain.coef_)


@pytest.mark.parametrize(
    "given",
    [
        np.array([[1, 2, 3, "x"]], dtype=object),
        np.full((1, 4), "1"),
        pd.DataFrame({"a": ["x"], "b": ["y"]}),
        np.ma.masked_invalid(np.zeros((1, 4))),
        np.zeros((1, 4), dtype="timedelta64[s]"),
        "weights",
        None,
    ],
)
def test_a_type_that_holds_no_numbers_is_refused_for_weights_and_intercept(table, given):
    X, y = table[0], table[1]["logistic"]
    for weights, intercept in ((given, 0.0), (np.zeros((1, 4)), given)):
        with pytest.raises(InvalidData):
            eq.release_solution(weights, make("logistic"), X, y, intercept)


def test_no_weight_is_looked_at_before_the_account_pays(table, monkeypatch):
    X, y = table[0], table[1]["logistic"]
    seen = []
    monkeypatch.setattr("equipoise.data.weights.listed_table", lambda *given: seen.append(given))
    model = make("logistic", epsilon=1.0, random_state=None)
    with eq.account(epsilon=0.5, currency="basic"), pytest.raises(eq.errors.Overdraft):
        eq.release_solution([[1.0] * 4], model, X, y)
    assert not seen
    with pytest.raises(eq.errors.PrivateFailure):
        eq.release_solution([[1.0] * 4], model, X, y)
    assert len(seen) == 1


def test_a_start_outside_the_declared_radius_ends_inside_at_the_minimiser(table):
    X, y = table[0], table[1]["logistic"]
    domain = eq.Domain(row_norm=1.0, classes=(0, 1), radius=0.5)
    fitted = make("logistic", domain=domain, fit_intercept=False).fit(X, y)
    for start in (np.full((1, 4), 9.0), np.full((1, 4), -0.25), fitted.coef_):
        released = eq.release_solution(start, make("logistic", domain=domain, fit_intercept=False), X, y)
        np.testing.assert_allclose(released.coef_, fitted.coef_, rtol=0, atol=2 * allowed(fitted))
        assert np.linalg.norm(released.coef_) <= 0.5 + 1e-10


WRONG = {
    "one column too few": (np.zeros((1, 3)), 0.0),
    "one column too many": (np.zeros((1, 5)), 0.0),
    "a constant column's weight among the columns": (np.zeros(5), 0.0),
    "two outputs for one": (np.zeros((2, 4)), 0.0),
    "a table a weight": (np.zeros((1, 4, 1)), 0.0),
    "nothing": (np.zeros((1, 0)), 0.0),
    "a single number": (1.0, 0.0),
    "two intercepts for one": (np.zeros((1, 4)), np.zeros(2)),
    "a table of intercepts": (np.zeros((1, 4)), np.zeros((1, 1))),
    "rows of different lengths": ([[1.0, 2.0], [3.0]], 0.0),
}


@pytest.mark.parametrize("mechanism", ["auto", "objective", "noisy-gradient", "noisy-gradient:50"])
def test_noise_that_does_not_go_to_finished_weights_is_refused_before_the_ledger_is_touched(table, tmp_path, mechanism):
    X, y = table[0], table[1]["logistic"]
    reference = f"sqlite:///{tmp_path}/ledger.db"
    eq.Ledger(reference).create(eq.Budget(1.0, 1e-5), "basic")
    model = make("logistic", epsilon=0.25, delta=1e-6, mechanism=mechanism, random_state=None, ledger=reference)
    assert model.plan(*X.shape).kind != "output"
    with pytest.raises(InvalidParameter, match='mechanism="output"'):
        eq.release_solution(np.zeros((1, 4)), model, X, y)
    assert not hasattr(model, "coef_")
    assert str(eq.Ledger(reference).balance().epsilon_left) in ("1", "1.0")


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_shape_is_refused_before_the_ledger_is_touched(table, tmp_path, wrong):
    X, y = table[0], table[1]["logistic"]
    reference = f"sqlite:///{tmp_path}/ledger.db"
    eq.Ledger(reference).create(eq.Budget(1.0))
    weights, intercept = WRONG[wrong]
    model = make("logistic", epsilon=0.25, random_state=None, ledger=reference)
    model.plan(*X.shape)
    with pytest.raises(InvalidData) as caught:
        eq.release_solution(weights, model, X, y, intercept)
    assert caught.value.remedy
    assert not hasattr(model, "coef_")
    assert str(eq.Ledger(reference).balance().epsilon_left) in ("1", "1.0")
    # The right shape is admitted and paid for: the ledger was there to be touched.
    eq.release_solution(np.zeros((1, 4)), model, X, y)
    assert str(eq.Ledger(reference).balance().epsilon_left) == "0.75"


def test_weights_for_another_number_of_classes_are_refused(table):
    for shape in ((1, 4), (2, 4), (4, 4)):
        with pytest.raises(InvalidData, match="3, 4"):
            eq.release_solution(np.zeros(shape), make("multinomial"), table[0], table[1]["multinomial"])
    with pytest.raises(InvalidData):
        eq.release_solution(np.zeros((3, 4)), make("multinomial"), table[0], table[1]["multinomial"], np.zeros(2))


@pytest.mark.parametrize(
    ("name", "step", "form"),
    [
        ("logistic", "expansion", np.asarray),
        ("ridge", "expansion", np.asarray),
        ("multinomial", "predictions_and_gradient", np.asarray),
        ("logistic", "expansion", sparse.csr_array),
    ],
)
def test_a_start_at_the_solution_needs_one_look_at_the_rows(table, monkeypatch, name, step, form):
    X, y = form(table[0]), table[1][name]
    # Epsilon 1 has a tolerance that a solution computed elsewhere meets with room.
    solution = make(name).fit(X, y)
    looks = []
    original = getattr(Objective, step)

    def counted(objective: Objective, weights: Array):
        looks.append(weights)
        return original(objective, weights)

    monkeypatch.setattr(Objective, step, counted)
    eq.release_solution(solution.coef_, make(name, epsilon=1.0), X, y, solution.intercept_)
    assert len(looks) == 1
    looks.clear()
    eq.release_solution(
        np.zeros_like(solution.coef_), make(name, epsilon=1.0), X, y, np.zeros_like(solution.intercept_)
    )
    assert len(looks) > 1


def test_two_starts_leave_with_the_same_noise(table):
    # What is released depends on the start by no more than the tolerance, or the start would be read off the noise.
    X, y = table[0], table[1]["logistic"]
    fitted = make("logistic", epsilon=1.0).fit(X, y)
    released = eq.release_solution(np.full((1, 4), 2.0), make("logistic", epsilon=1.0), X, y)
    np.testing.assert_allclose(released.coef_, fitted.coef_, rtol=0, atol=2 * allowed(fitted))
    assert np.abs(fitted.coef_ - make("logistic").fit(X, y).coef_).max() > 100 * allowed(fitted)
