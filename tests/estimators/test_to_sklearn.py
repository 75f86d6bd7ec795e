"""`to_sklearn`: the same predictions from plain scikit-learn objects, where this library is not installed."""

import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import equipoise as eq
from equipoise.data.schema import CategoryColumn, NumberColumn, Target
from equipoise.estimators import models
from equipoise.estimators.classifier import PrivateClassifier

MODELS = models()
N = 240
VOUCHED = {"vouched_by": "A. Officer", "vouched_on": "2026-11-16", "missing": ("", "NA", "?")}
COLUMNS = (
    NumberColumn("age", (0, 100), fill=30, indicator=True),
    CategoryColumn("job", ("none", "nurse", "clerk"), unknown="none"),
    NumberColumn("height", (100, 220)),
    CategoryColumn("town", ("A", "B", "unknown"), unknown="A", fill="unknown"),
)
UNUSED = ("ill", "dose", "grade")
TARGETS = {
    "ill": Target("ill", classes=("no", "yes")),
    "grade": Target("grade", classes=(1, 2, 3)),
    "dose": Target("dose", bounds=(-1000, 1000)),
}


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    """Raw rows with missing, unknown and out-of-range values."""
    generator = np.random.default_rng(2)
    age = generator.uniform(-20, 130, N)
    table = pd.DataFrame(
        {
            "age": age,
            "job": generator.choice(["none", "nurse", "clerk", "pilot", "NA"], N),
            "height": generator.normal(170, 40, N),
            "town": generator.choice(["A", "B", "C", "?"], N),
        }
    )
    table["ill"], table["dose"], table["grade"] = np.where(age > 60, "yes", "no"), 3 * age, 1 + (age > 30) + (age > 70)
    table.loc[::7, "age"] = np.nan
    table["town"] = table["town"].astype(object)
    table.loc[::5, "town"] = None
    table.loc[1::5, "town"] = np.nan
    return table


def fitted(kind, frame, target):
    schema = eq.Schema(N, COLUMNS, TARGETS[target], tuple(name for name in UNUSED if name != target), **VOUCHED)
    # One classifier leaves alpha to public facts, which takes a search; the others have one if they can.
    given = {"alpha": 0.05} if "alpha" in kind().get_params() and kind is not eq.LogisticRegression else {}
    return kind(epsilon=20.0, domain=schema, random_state=0, **given).fit(frame)


CASES = [(name, "ill" if issubclass(kind, PrivateClassifier) else "dose") for name, kind in MODELS.items()]


@pytest.mark.parametrize(("name", "target"), [*CASES, ("logistic", "grade"), ("elastic-net-classifier", "grade")])
def test_predictions_are_the_same(name, target, frame):
    model = fitted(MODELS[name], frame, target)
    plain = model.to_sklearn()
    rows = frame[[column.name for column in COLUMNS]]
    if target == "dose":
        np.testing.assert_allclose(plain.predict(rows), model.predict(rows), rtol=1e-9)
        return
    np.testing.assert_allclose(plain.decision_function(rows), model.decision_function(rows), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(plain.predict(rows), model.predict(rows))
    if hasattr(model, "predict_proba"):
        np.testing.assert_allclose(plain.predict_proba(rows), model.predict_proba(rows), rtol=1e-9)


def test_it_works_where_this_library_cannot_be_imported(frame, tmp_path):
    model = fitted(eq.LogisticRegression, frame, "ill")
    rows = frame[[column.name for column in COLUMNS]]
    (tmp_path / "model").write_bytes(pickle.dumps((model.to_sklearn(), rows, model.predict(rows))))
    program = (
        "import pickle, sys; sys.modules['equipoise'] = None\n"
        "plain, rows, expected = pickle.load(open(sys.argv[1], 'rb'))\n"
        "assert (plain.predict(rows) == expected).all()"
    )
    subprocess.run([sys.executable, "-c", program, tmp_path / "model"], check=True)


def test_plain_rows_give_a_bare_linear_model():
    X = np.random.default_rng(0).uniform(-0.5, 0.5, (60, 3))
    model = eq.Ridge(domain=eq.Domain(1.0, labels=(-1.0, 1.0)), random_state=0).fit(X, X[:, 0])
    plain = model.to_sklearn()
    assert type(plain).__module__.startswith("sklearn.")
    inside = np.abs(plain.predict(X)) <= 1
    np.testing.assert_allclose(plain.predict(X)[inside], model.predict(X)[inside])


@pytest.mark.parametrize("row_norm", [None, 1.0])
@pytest.mark.parametrize(("target", "epsilon"), [("ill", 0.05), ("dose", 0.05), ("grade", 20.0)])
def test_rows_are_clipped_as_they_were_and_in_their_few_directions_again(target, epsilon, row_norm, frame, monkeypatch):
    # These rows have too few columns for eight directions, which are the fewest that a plan takes.
    monkeypatch.setattr("equipoise.planning.kinds.objective.FEWEST_DIRECTIONS", 1)
    monkeypatch.setattr("equipoise.planning.kinds.objective.FEWEST_SHARE", 1_000)
    unused = tuple(name for name in UNUSED if name != target)
    schema = eq.Schema(N, COLUMNS, TARGETS[target], unused, **VOUCHED, row_norm=row_norm)
    kind = eq.HuberRegressor if target == "dose" else eq.LogisticRegression
    model = kind(epsilon=epsilon, domain=schema, random_state=0).fit(frame)
    facts = model._facts
    assert (facts.directions is not None) == (epsilon < 1)
    plain, rows = pickle.loads(pickle.dumps(model.to_sklearn())), frame[[column.name for column in COLUMNS]]  # noqa: S301
    if target == "dose":
        found = plain.predict(rows)
        inside = np.abs(found) < 1000
        assert inside.any()
        np.testing.assert_allclose(found[inside], model.predict(rows)[inside], rtol=1e-9)
    else:
        np.testing.assert_allclose(plain.decision_function(rows), model.decision_function(rows), rtol=1e-9, atol=1e-12)
    # What would be said of rows that are not clipped is something else, so that the clipping is what is compared.
    clipping = [name for name, _ in plain.steps if name.startswith("longest")]
    assert len(clipping) == (row_norm is not None) + (epsilon < 1)


def test_private_bounds_are_part_of_it(frame):
    columns = (NumberColumn("age", None), *COLUMNS[1:])
    schema = eq.Schema(N, columns, TARGETS["ill"], ("dose", "grade"), **VOUCHED).with_private_bounds(5.0)
    model = eq.LogisticRegression(epsilon=20.0, domain=schema, random_state=0).fit(frame)
    np.testing.assert_array_equal(model.to_sklearn().predict(frame), model.predict(frame))


def test_an_unfitted_model_has_nothing_to_give():
    with pytest.raises(ValueError, match="not fitted"):
        eq.LogisticRegression().to_sklearn()
