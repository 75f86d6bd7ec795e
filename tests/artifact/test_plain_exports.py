"""Exports of models without a schema predict what the released ones do, also of rows whose squares overflow."""

import csv
import io
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import equipoise as eq
from equipoise.artifact.exported import exported
from equipoise.artifact.exports import members
from equipoise.errors import InvalidParameter
from equipoise.estimators.scoring import PredictionFacts
from exported_models import agree, expected, in_database, in_sqlite, types_of

pytest_plugins = ["postgres_server"]
pytestmark = pytest.mark.usefixtures("plain_page")

TWO, RANGE = {"classes": (0, 1)}, {"labels": (-1.0, 1.0)}
PLAIN = {
    "two": lambda: eq.LogisticRegression(8.0, domain=eq.Domain(1.0, **TWO), random_state=1),
    "filled two": lambda: eq.LinearSVC(8.0, domain=eq.Domain(1.0, fill=0.25, row_sum=1.2, **TWO), random_state=1),
    "bounded two": lambda: eq.LogisticRegression(
        8.0, domain=eq.Domain(bounds=[(-1, 3), (0, 1), (-2, 2)], fill=0.5, row_norm=1.2, **TWO), random_state=1
    ),
    "widely bounded two": lambda: eq.LogisticRegression(
        8.0, domain=eq.Domain(bounds=(-10, 10), row_norm=1.2, **TWO), random_state=1
    ),
    "two by a tiny norm": lambda: eq.LogisticRegression(8.0, domain=eq.Domain(1e-16, **TWO), random_state=1),
    "three": lambda: eq.LogisticRegression(8.0, domain=eq.Domain(1.0, classes=("a", "b", "c")), random_state=1),
    "number": lambda: eq.Ridge(8.0, domain=eq.Domain(1.0, **RANGE), random_state=1),
    "reduced number": lambda: eq.Ridge(0.05, domain=eq.Domain(1.0, row_sum=1.2, **RANGE), random_state=1),
    "reduced number by the least norm": lambda: eq.Ridge(0.05, domain=eq.Domain(1e-100, **RANGE), random_state=1),
}
# Numbers whose squares overflow and vanish, those that are none, and rows on both sides of the row norm.
ODD = (
    [1e200, -1e308, 1e300], [1e-200, 1e-300, 0.0], [1e200, 1e-200, 0.5], [1.7e308, 1.7e308, 1.7e308],
    [np.nan, 0.1, np.inf], [-np.inf, 3.0, -0.2], [0.0, 0.0, 0.0], [0.6, 0.8, 0.0], [5e-324, 1e-160, 1e-150],
    [np.nan, np.nan, np.nan], [1.0, 0.6, -1.0], [1.7e308, 0.0, 1.0], [3e-17, -4e-17, 0.0], [3e-101, -4e-101, 1e-200],
    [1.7976931348623e308] * 3, [1e-170, -1e-310, 5e-324],
)  # fmt: skip


@pytest.fixture(scope="module", params=PLAIN)
def plain(request, tmp_path_factory):
    """Return the export of a model without a schema, rows to predict, and what it says of them."""
    coins, reduced = np.random.default_rng(0), request.param.startswith("reduced")
    rows = pd.DataFrame(coins.normal(size=(60, 3)), columns=["age", 'a "b"', "x0"])
    if reduced:
        rows = rows.join(pd.DataFrame(coins.normal(size=(60, 17)) / 4).add_prefix("more "))
    target = coins.choice(["a", "b", "c"], 60) if request.param == "three" else np.sign(rows["age"])
    model = PLAIN[request.param]().fit(rows, np.where(target == -1, 0, 1) if "two" in request.param else target)
    assert bool(PredictionFacts.of(model.certificate_).projection) == reduced
    if reduced:
        # Else most predictions of so noisy a model lie outside of the target's range.
        norm = PredictionFacts.of(model.certificate_).domain.row_norm
        model.coef_, model.intercept_ = model.coef_ / np.abs(model.coef_).max() / norm, 0.0
    folder = tmp_path_factory.mktemp("plain") / "release"
    eq.save(model, folder)
    odd = np.zeros((len(ODD), rows.shape[1]))
    odd[:, :3] = ODD
    asked = pd.concat([rows, pd.DataFrame(odd, columns=rows.columns)], ignore_index=True)
    wanted = expected(eq.load(folder), asked)
    # Answers differ: not all of them are an end of the range.
    assert len(set(wanted[-1].tolist())) > (20 if wanted[-1].dtype.kind == "f" else 1)
    return exported(folder), asked, wanted


def test_a_model_without_a_schema_predicts_the_same_in_onnxruntime(plain):
    onnxruntime = pytest.importorskip("onnxruntime")
    model, rows, wanted = plain
    session = onnxruntime.InferenceSession(members()["onnx"]().written(model))
    prediction, *probabilities = session.run(None, {"rows": rows.to_numpy()})
    agree([prediction, *(probabilities[0].T if probabilities else ())], wanted)


def test_a_model_without_a_schema_predicts_the_same_in_databases(plain, postgres):
    model, rows, wanted = plain
    text = members()["sql"]().written(model).decode()
    agree(in_sqlite(text, rows), wanted)
    with postgres.connect(postgres.new_database()) as connection:
        agree(in_database(connection, "%s", text, rows, types_of(rows)), wanted)


def test_a_table_of_weights_without_a_schema_says_what_rows_are(plain):
    model, rows, wanted = plain
    weights: dict[str, dict[str, float]] = {}
    told: dict[str, str] = {}
    for line in csv.DictReader(io.StringIO(members()["csv"]().written(model).decode())):
        weights.setdefault(line["output"], {})[line["column"]] = float(line["weight"])
        told[line["column"]] = line["meaning"]
    found = np.column_stack([_told(told[name], rows[name].to_numpy()) for name in rows])
    limits = re.search(r"longer than (\S+?)(, or whose absolute values add up to more than (\S+),)? is", told["age"])
    norm, most = float(limits[1]), float(limits[3] or np.inf)
    found = _shortened(found, norm, most)
    products = found @ np.array([[each[name] for name in rows] for each in weights.values()]).T
    intercepts = np.array([each["(intercept)"] for each in weights.values() if "(intercept)" in each])
    scores, reduced = products[:, : len(intercepts)], products[:, len(intercepts) :]
    # What is shortened in the few directions shrinks by as much everywhere.
    ratio = np.divide(_shortened(reduced, norm, most), reduced, out=np.ones_like(reduced), where=reduced != 0)
    scores = scores * ratio.min(axis=1, initial=1.0)[:, None] + intercepts
    if not model.classes:
        agree([np.clip(scores[:, 0], -1, 1)], wanted)
    else:
        best = scores.argmax(axis=1) if scores.shape[1] > 1 else (scores[:, 0] > 0).astype(int)
        agree([np.array(model.classes)[best]], wanted[:1])


def _shortened(rows: np.ndarray, norm: float, most: float) -> np.ndarray:
    """Return rows no longer than a norm, whose absolute values add up to no more; no square of theirs overflows."""
    largest = np.maximum(np.abs(rows).max(axis=1, keepdims=True, initial=0.0), 1.0)
    parts = rows / largest
    size = np.maximum(np.linalg.norm(parts, axis=1), np.abs(parts).sum(axis=1) * norm / most)[:, None]
    return parts * np.minimum(largest, norm / np.where(size > 0, size, 1e-300))


def _told(meaning: str, values: np.ndarray) -> np.ndarray:
    """Return the entries of a column as a table of weights tells them."""
    filled = float(re.search(r"; (\S+) if missing", meaning)[1])
    known, found = np.isfinite(values), values
    if ends := re.match(r"-1 at (\S+) and below, 1 at (\S+) and above, a line between", meaning):
        low, high = map(float, ends.groups())
        found = np.clip(2 * (np.clip(values, low, high) - low) / (high - low) - 1, -1, 1)
    return np.where(known, found, filled)


def test_sql_refuses_two_columns_of_one_name(plain):
    model = replace(plain[0], features=("age", "age", "b"))
    with pytest.raises(InvalidParameter, match=r"age twice.*export --to onnx"):
        members()["sql"]().written(model)
