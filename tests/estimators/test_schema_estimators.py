"""Estimators whose domain is a schema: raw rows in, the same certificate, nothing inferred, bounds paid for."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone

import equipoise as eq
from equipoise.certify.claims.chosen_bounds import ChosenBounds
from equipoise.data.frames import FrameTable
from equipoise.data.raw import RawTable
from equipoise.data.schema import CategoryColumn, NumberColumn, Target
from equipoise.errors import InvalidData, InvalidParameter, Overdraft, PrivateFailure

N = 600
COLUMNS = (
    NumberColumn("age", (0, 100), indicator=True),
    NumberColumn("height", (100, 220), fill=170),
    CategoryColumn("job", ("none", "nurse", "clerk"), unknown="none"),
)
VOUCHED = {"vouched_by": "A. Officer", "vouched_on": "2026-11-16"}
CLASSES = eq.Schema(N, COLUMNS, Target("ill", classes=("no", "yes")), **VOUCHED)
NUMBERS = eq.Schema(N, COLUMNS, Target("dose", bounds=(0, 400)), **VOUCHED)
BLANK = eq.Schema(
    N, (NumberColumn("age", None), NumberColumn("height", None), COLUMNS[2]), Target("dose", bounds=None), **VOUCHED
)


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    generator = np.random.default_rng(3)
    age = generator.uniform(20, 90, N)
    job = generator.choice(["none", "nurse", "clerk", "pilot"], N)
    table = pd.DataFrame({"age": age, "height": generator.normal(170, 10, N), "job": job})
    table["dose"] = 100 + 2 * age + 30 * (job == "nurse")
    table["ill"] = np.where(table["dose"] > 220, "yes", "no")
    table.loc[::50, "age"] = np.nan
    return table


def features(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[["age", "height", "job"]]


def test_a_classifier_learns_from_raw_rows_and_predicts_raw_rows(frame):
    model = eq.LogisticRegression(epsilon=50.0, domain=CLASSES, random_state=0)
    model.fit(features(frame), frame["ill"])
    assert (model.predict(features(frame)) == frame["ill"]).mean() > 0.9
    assert model.coef_.shape == (1, CLASSES.n_features) == (1, 6)
    assert list(model.feature_names_in_) == ["age", "height", "job"]
    assert model.n_features_in_ == 3
    assert model.certificate_.terms.schema == CLASSES.digest
    assert model.certificate_.verify() == ()
    assert "A. Officer (2026-11-16)" in str(model.certificate_)


def test_a_regressor_predicts_in_units_of_the_target(frame):
    model = eq.Ridge(epsilon=100.0, domain=NUMBERS, random_state=0).fit(features(frame), frame["dose"])
    predicted = model.predict(features(frame))
    assert np.abs(predicted - frame["dose"]).mean() < 25
    assert predicted.min() >= 0
    assert predicted.max() <= 400


def test_the_target_may_be_a_column_of_the_table(frame):
    apart = eq.LogisticRegression(domain=CLASSES, random_state=1).fit(features(frame), frame["ill"])
    within = eq.LogisticRegression(domain=CLASSES, random_state=1).fit(frame.drop(columns="dose"))
    np.testing.assert_array_equal(apart.coef_, within.coef_)


@pytest.mark.parametrize("convert", [pl.from_pandas, lambda table: FrameTable(table)], ids=["polars", "raw table"])
def test_other_tables_give_the_same_model(frame, convert):
    table = frame.drop(columns="dose")
    expected = eq.LogisticRegression(domain=CLASSES, random_state=1).fit(table)
    model = eq.LogisticRegression(domain=CLASSES, random_state=1).fit(convert(table))
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    np.testing.assert_array_equal(model.predict(convert(table)), expected.predict(table))


def test_a_file_gives_the_same_model(frame, tmp_path):
    table = frame.drop(columns="dose")
    table.to_csv(tmp_path / "rows.csv", index=False)
    table.to_parquet(tmp_path / "rows.parquet")
    expected = eq.LogisticRegression(domain=CLASSES, random_state=1).fit(table)
    for name in ("rows.csv", "rows.parquet"):
        model = eq.LogisticRegression(domain=CLASSES, random_state=1).fit(eq.open_table(tmp_path / name))
        np.testing.assert_array_equal(model.coef_, expected.coef_)


def test_the_plan_needs_no_numbers_and_takes_no_others(frame):
    model = eq.LogisticRegression(domain=CLASSES, random_state=0)
    certificate = model.plan()
    assert (certificate.n_samples, certificate.n_features) == (N, 6)
    assert model.plan(N, 6) == certificate
    with pytest.raises(InvalidParameter, match="the schema declares"):
        model.plan(N + 1)
    carried = model.fit(features(frame), frame["ill"]).certificate_
    assert (carried.terms, carried.claim, carried.digest) == (certificate.terms, certificate.claim, certificate.digest)


def test_another_number_of_rows_than_declared_is_refused_before_any_is_read(frame):
    with pytest.raises(InvalidData, match="declared 600 rows"):
        eq.LogisticRegression(domain=CLASSES).fit(features(frame)[:-1], frame["ill"][:-1])


def test_a_schema_with_blanks_is_refused_with_all_of_them(frame):
    blank = eq.Schema(None, (NumberColumn("age", None), CategoryColumn("job", (), None)), Target("ill", classes=()))
    with pytest.raises(InvalidParameter) as refusal:
        eq.LogisticRegression(domain=blank).fit(features(frame), frame["ill"])
    for place in (
        "n",
        "vouched_by",
        "columns.age.bounds",
        "columns.job.levels",
        "columns.job.unknown",
        "target.classes",
    ):
        assert place in refusal.value.found


def test_a_schema_of_the_wrong_task_is_refused(frame):
    with pytest.raises(InvalidParameter, match="classes"):
        eq.LogisticRegression(domain=NUMBERS).plan()
    with pytest.raises(InvalidParameter, match="label"):
        eq.Ridge(domain=CLASSES).plan()


class Unreadable(RawTable):
    """A table that may be asked for public facts only."""

    names = ("age", "height", "job", "ill")
    n_samples = N
    kinds = dict.fromkeys(names, "unknown")
    source = "a test"

    def batches(self, names):
        raise ValueError("a private value")


def test_a_ledger_admits_before_a_row_is_read_and_needs_no_plan(tmp_path):
    reference = f"sqlite:///{tmp_path}/ledger.db#trial"
    eq.Ledger(reference).create(eq.Budget(1.0))
    with pytest.raises(Overdraft):
        eq.LogisticRegression(epsilon=2.0, domain=CLASSES, ledger=reference).fit(Unreadable())
    with pytest.raises(PrivateFailure) as failure:
        eq.LogisticRegression(epsilon=0.75, domain=CLASSES, ledger=reference).fit(Unreadable())
    assert "private value" not in str(failure.value)
    assert failure.value.__cause__ is None
    assert float(eq.Ledger(reference).balance().epsilon_left) == 0.25


def test_private_bounds_are_released_certified_and_used(frame):
    model = eq.Ridge(epsilon=40.0, domain=BLANK.with_private_bounds(10.0), random_state=0)
    planned = model.plan()
    model.fit(features(frame), frame["dose"])
    certificate = model.certificate_
    assert certificate.verify() == ()
    assert certificate.planned_digest == planned.digest
    (paid,) = (node for node in certificate.claim.nodes() if isinstance(node, ChosenBounds))
    assert [bounds.column for bounds in paid.released] == ["age", "height", "dose"]
    for bounds, name in zip(paid.released, ["age", "height", "dose"], strict=True):
        low, high = frame[name].quantile(0.05), frame[name].quantile(0.95)
        assert bounds.low < low
        assert high < bounds.high
        assert bounds.high - bounds.low < 4 * (high - low)
    assert model.schema_.target.bounds == (paid.released[2].low, paid.released[2].high)
    assert model.schema_.private_bounds is None
    assert np.abs(model.predict(features(frame)) - frame["dose"]).mean() < 60
    assert "Private bounds" in certificate.explain()


def test_bounds_that_cost_all_of_epsilon_are_refused():
    with pytest.raises(InvalidParameter, match="whole epsilon"):
        eq.Ridge(epsilon=1.0, domain=BLANK.with_private_bounds(1.0)).plan()


def test_a_clone_keeps_the_schema_and_a_pickle_holds_no_row(frame):
    model = eq.LogisticRegression(domain=CLASSES, random_state=0).fit(features(frame), frame["ill"])
    assert clone(model).domain == CLASSES
    kept = pickle.dumps(model)
    for value in (frame["age"].iloc[1], frame["height"].iloc[2]):
        assert np.float64(value).tobytes() not in kept
    assert b"pilot" not in kept


def test_a_fit_without_a_schema_forgets_the_schema_of_an_earlier_one(frame):
    model = eq.LogisticRegression(domain=CLASSES, random_state=0).fit(features(frame), frame["ill"])
    X = np.array([[0.5, 0.1], [-0.5, 0.2]] * 20)
    model.set_params(domain=eq.Domain(1.0, classes=(0, 1))).fit(X, [1, 0] * 20)
    assert not hasattr(model, "schema_")
    assert set(model.predict(X)) <= {0, 1}


def test_missing_columns_of_new_rows_are_named(frame):
    model = eq.LogisticRegression(domain=CLASSES, random_state=0).fit(features(frame), frame["ill"])
    with pytest.raises(InvalidData, match="no column height"):
        model.predict(features(frame).drop(columns="height"))


def test_more_classes_than_two_are_fitted_jointly(frame):
    schema = eq.Schema(N, COLUMNS[:2], Target("job", classes=("none", "nurse", "clerk")), ("dose", "ill"), **VOUCHED)
    model = eq.LogisticRegression(epsilon=5.0, domain=schema, random_state=0).fit(frame)
    assert model.predict_proba(features(frame)).shape == (N, 3)
    assert set(model.predict(features(frame))) <= {"none", "nurse", "clerk"}
