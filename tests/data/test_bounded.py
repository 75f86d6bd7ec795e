"""Domains by bounds of columns: one public rule for every container, in training and in prediction."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import equipoise as eq
from equipoise.certify.certificate import Certificate
from equipoise.data.schema import NumberColumn, Target
from equipoise.errors import EquipoiseError, InvalidData, InvalidParameter

BOUNDS = [(17, 90), (0, 1), (-5, 5)]
DOMAIN = eq.Domain(bounds=BOUNDS, classes=(0, 1))


def rows(count: int = 400, seed: int = 0) -> np.ndarray:
    """Return rows within the bounds, a few of them beyond or missing."""
    stream = np.random.default_rng(seed)
    found = np.column_stack([stream.uniform(low, high, count) for low, high in BOUNDS])
    found[::50, 0], found[1::50, 1], found[2::50, 2] = 1e30, np.nan, -np.inf
    return found


def by_hand(table: np.ndarray) -> np.ndarray:
    """Return the same rows as the docstring of `Domain` says that they are scaled."""
    low, high = np.array(BOUNDS, dtype=float).T
    scaled = (table - (low + high) / 2) / ((high - low) / 2)
    return np.clip(np.where(np.isfinite(table), scaled, 0.0), -1.0, 1.0)


def labels(table: np.ndarray) -> np.ndarray:
    """Return a class a row."""
    return (np.nan_to_num(table[:, 0]) > 53).astype(int)


def model(domain: eq.Domain = DOMAIN, **settings: object) -> eq.LogisticRegression:
    """Return a seeded model."""
    return eq.LogisticRegression(epsilon=1.0, domain=domain, random_state=0, **settings)


def test_a_model_of_bounds_is_that_of_rows_scaled_by_hand():
    plain = eq.Domain(row_norm=DOMAIN.row_norm, classes=(0, 1))
    table, new = rows(), rows(50, seed=1)
    bounded, known = model().fit(table, labels(table)), model(plain).fit(by_hand(table), labels(table))
    assert bounded.coef_ == pytest.approx(known.coef_, rel=1e-9)
    assert bounded.decision_function(new) == pytest.approx(known.decision_function(by_hand(new)), rel=1e-9)


def test_a_model_of_bounds_predicts_as_that_of_a_schema_with_the_same_bounds():
    columns = tuple(NumberColumn(name, bounds) for name, bounds in zip("abc", BOUNDS, strict=True))
    schema = eq.Schema(400, columns, Target("y", classes=(0, 1)), vouched_by="a test", vouched_on="2026-11-18")
    table = rows()
    frame = pd.DataFrame(table, columns=list("abc"))
    described = eq.LogisticRegression(epsilon=1.0, domain=schema, random_state=0).fit(frame, labels(table))
    longest = eq.Domain(row_norm=np.sqrt(3), bounds=BOUNDS, classes=(0, 1))
    bounded = model(longest).fit(table, labels(table))
    assert bounded.predict_proba(table) == pytest.approx(described.predict_proba(frame), rel=1e-4)


@pytest.mark.parametrize(
    "held",
    [
        pd.DataFrame,
        np.asfortranarray,
        lambda table: table.tolist(),
        lambda table: pd.DataFrame(table).convert_dtypes(),
        lambda table: table.astype(np.longdouble),
    ],
)
def test_every_container_is_scaled_alike(held):
    table = rows()
    frame = held(table)
    if isinstance(frame, pd.DataFrame):
        frame.columns = list("abc")
    fitted, same = model().fit(table, labels(table)), model().fit(frame, labels(table))
    assert same.coef_ == pytest.approx(fitted.coef_, rel=1e-9)
    assert same.predict_proba(frame) == pytest.approx(fitted.predict_proba(table), rel=1e-9)


def test_single_precision_stays_single_precision():
    table = rows().astype(np.float32)
    fitted = model().fit(table, labels(table))
    assert fitted.coef_ == pytest.approx(model().fit(table.astype(float), labels(table)).coef_, rel=1e-4)


def test_sparse_rows_stay_sparse_around_zero_and_are_refused_elsewhere():
    domain = eq.Domain(bounds=[(-2, 2), (-1, 1), (-5, 5)], classes=(0, 1))
    table = rows()
    table[::3] = 0
    dense, thin = model(domain).fit(table, labels(table)), model(domain).fit(sparse.csc_array(table), labels(table))
    assert thin.coef_ == pytest.approx(dense.coef_, rel=1e-6)
    assert thin.predict_proba(sparse.coo_array(table)) == pytest.approx(dense.predict_proba(table), rel=1e-6)
    with pytest.raises(InvalidData, match="bounds whose middle is 0"):
        model().fit(sparse.csr_array(table), labels(table))


def test_persons_rows_are_scaled_alike():
    domain = eq.Domain(bounds=BOUNDS, classes=(0, 1), rows_a_person=2)
    plain = eq.Domain(row_norm=DOMAIN.row_norm, classes=(0, 1), rows_a_person=2)
    table, ids = rows(), np.arange(400) // 2
    bounded, known = model(domain), model(plain)
    bounded.plan(n_samples=200)
    known.plan(n_samples=200, n_features=3)
    bounded.fit(table, labels(table), groups=ids)
    known.fit(by_hand(table), labels(table), groups=ids)
    assert bounded.coef_ == pytest.approx(known.coef_, rel=1e-9)


def test_one_pair_is_for_all_columns_where_a_row_norm_is_declared():
    table = np.random.default_rng(0).uniform(0, 16, size=(300, 5))
    one = eq.Domain(row_norm=2.0, bounds=(0, 16), classes=(0, 1))
    each = eq.Domain(row_norm=2.0, bounds=[(0, 16)] * 5, classes=(0, 1))
    target = (table[:, 0] > 8).astype(int)
    assert np.array_equal(model(one).fit(table, target).coef_, model(each).fit(table, target).coef_)
    with pytest.raises(InvalidParameter, match="bounds of every column"):
        eq.Domain(bounds=(0, 16), classes=(0, 1))


def test_bounds_travel_with_certificates_and_saved_models(tmp_path):
    table = rows()
    fitted = model().fit(table, labels(table))
    for domain in (DOMAIN, eq.Domain(row_norm=2.0, bounds=(0, 16), classes=(0, 1))):
        certificate = model(domain).plan(n_samples=400, n_features=3)
        again = Certificate.from_json(certificate.to_json())
        assert (again, again.verify()) == (certificate, ())
    assert "scaled to [-1, 1] by their declared bounds" in fitted.certificate_.explain()
    eq.save(fitted, tmp_path / "folder")
    opened = eq.load(tmp_path / "folder")
    assert np.array_equal(opened.predict_proba(table), fitted.predict_proba(table))
    assert opened.domain.bounds == DOMAIN.bounds


def test_a_certificate_without_bounds_has_the_digest_that_it_had():
    certificate = model(eq.Domain(row_norm=1.0, classes=(0, 1))).plan(400, 3)
    older = json.loads(certificate.to_json())
    older["claim"]["problem"]["domain"].pop("bounds")
    assert Certificate.from_json(json.dumps(older)).verify() == ()


@pytest.mark.parametrize(("norm", "summed"), [(0.5, None), (1.0, None), (np.sqrt(3), None), (1.0, 0.8)])
def test_plain_scikit_learn_scales_and_clips_by_the_same_bounds(norm, summed):
    table = rows()
    finite = np.where(np.isinf(table), np.nan, table)
    domain = eq.Domain(row_norm=norm, bounds=BOUNDS, classes=(0, 1), row_sum=summed)
    fitted = model(domain).fit(finite, labels(table))
    plain = pickle.loads(pickle.dumps(fitted.to_sklearn()))  # noqa: S301 - its own bytes
    assert plain.predict_proba(finite) == pytest.approx(fitted.predict_proba(finite), rel=1e-9)
    new = np.full((2, 3), np.nan)
    assert plain.decision_function(new) == pytest.approx(fitted.decision_function(new), rel=1e-9)


def test_pipelines_and_clones_keep_bounds():
    table = rows()
    steps = clone(make_pipeline(FunctionTransformer(), model())).fit(table, labels(table))
    assert np.array_equal(steps.predict_proba(table), model().fit(table, labels(table)).predict_proba(table))


def test_an_evaluation_scores_rows_as_predictions_do():
    table = rows(3000)
    fitted = model().fit(table, labels(table))
    found = eq.evaluate(fitted, table, labels(table), epsilon=1000.0, random_state=0)
    assert found.accuracy.value == pytest.approx(fitted.score(table, labels(table)), abs=0.01)


def test_the_diagnosis_counts_rows_after_scaling():
    found = eq.check_rows(rows(), labels(rows()), eq.Domain(row_norm=np.sqrt(3), bounds=BOUNDS, classes=(0, 1)))
    assert (found.rows, found.filled, found.clipped) == (400, 16, 0)
    short = eq.Domain(row_norm=0.5, bounds=BOUNDS, classes=(0, 1))
    assert eq.check_rows(rows(), labels(rows()), short).clipped > 300


@pytest.mark.parametrize(
    ("bounds", "found"),
    [
        ([(0, 1), (5, 5)], "low < high"),
        ([(0, 1), (5, 4)], "low < high"),
        ([(0, 1), (0, np.inf)], "finite column bound"),
        ([(0, 1), (np.nan, 1)], "finite column bound"),
        ([(0, 1, 2)], r"column bounds \(low, high\)"),
        ([(0, 1), 3], r"column bounds \(low, high\)"),
        ([], r"column bounds \(low, high\)"),
        (3, r"column bounds \(low, high\)"),
        ("ab", r"column bounds \(low, high\)"),
        ([("0", "1")], "column bound"),
    ],
)
def test_what_are_no_bounds_is_refused(bounds, found):
    with pytest.raises(InvalidParameter, match=found):
        eq.Domain(bounds=bounds, classes=(0, 1))


@pytest.mark.parametrize("columns", [1, 2, 30, 1000])
def test_few_rows_that_are_spread_evenly_over_bounds_are_clipped(columns):
    found = eq.Domain(bounds=[(0, 1)] * columns, classes=(0, 1)).row_norm
    lengths = np.linalg.norm(np.random.default_rng(0).uniform(-1, 1, size=(4000, columns)), axis=1)
    assert 0.01 < np.mean(lengths > found) < 0.05
    assert found < np.sqrt(columns)


def test_bounds_of_arrays_are_taken_and_no_facts_at_all_are_refused():
    assert eq.Domain(bounds=np.array(BOUNDS), classes=(0, 1)) == DOMAIN
    assert eq.Domain(bounds=zip([17, 0, -5], [90, 1, 5], strict=True), classes=(0, 1)) == DOMAIN
    with pytest.raises(EquipoiseError, match="bounds of every column"):
        eq.Domain(classes=(0, 1))


def test_what_is_refused_is_what_was_written():
    with pytest.raises(
        InvalidParameter, match="asked: a row_norm beside one pair of bounds for all columns; found: none; to do"
    ):
        eq.Domain(bounds=(0, 1), classes=(0, 1))
    with pytest.raises(InvalidParameter, match="asked: a finite column bound; found: column bound='0' of type str"):
        eq.Domain(bounds=[("0", "1")], classes=(0, 1))


def test_bounds_of_another_number_of_columns_are_refused_before_anything_is_spent():
    with pytest.raises(InvalidParameter, match="bounds of all 4 columns; found: those of 3"):
        model().plan(n_samples=400, n_features=4)
    with pytest.raises(InvalidParameter, match="bounds of all 2 columns; found: those of 3"):
        model().fit(rows()[:, :2], labels(rows()))


def test_a_plan_says_when_the_row_norm_is_above_what_bounds_allow():
    loose = eq.Domain(row_norm=10.0, bounds=BOUNDS, classes=(0, 1))
    (told, *_) = model(loose).plan(n_samples=400).caveats
    assert told.startswith("wasteful: row_norm = 10 is declared")
    assert "declare 1.73205 or less" in told
    for fine in (DOMAIN, eq.Domain(row_norm=1.73205, bounds=BOUNDS, classes=(0, 1)), eq.Domain(10.0, classes=(0, 1))):
        assert not any("wasteful" in line for line in model(fine).plan(400, 3).caveats)
