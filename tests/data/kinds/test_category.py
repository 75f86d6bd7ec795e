"""Categories with a level for all others."""

import numpy as np
import pandas as pd
import pytest

import equipoise as eq
from equipoise.data.encoder import Encoder
from equipoise.data.schema import CategoryColumn, Schema, Target
from equipoise.errors import SchemaInvalid
from sample_kinds import objects

TOWN = CategoryColumn("town", ("Graz", "Wien"), other=True)


def schema(column: CategoryColumn) -> Schema:
    return Schema(4, (column,), Target("y", classes=(0, 1)), vouched_by="A. Officer", vouched_on="2026-11-16")


def test_other_values_have_a_level_of_their_own_and_so_have_missing_ones():
    assert schema(TOWN).blanks() == ()
    assert Encoder(schema(TOWN)).read("town", objects(["Wien", "Linz", None, ""])).tolist() == [1, 2, 2, 2]
    filled = CategoryColumn("town", ("Graz", "Wien"), fill="Graz", other=True)
    assert Encoder(schema(filled)).read("town", objects(["Wien", "Linz", None])).tolist() == [1, 2, 0]


def test_a_level_called_other_is_another_one():
    column = CategoryColumn("town", ("other",), other=True)
    assert Encoder(schema(column)).read("town", objects(["other", "Linz"])).tolist() == [0, 1]
    assert len(set(column.encoded_names())) == 2


def test_unknown_and_other_contradict_each_other():
    with pytest.raises(SchemaInvalid, match=r"columns\.town\.unknown: no such line where other = true"):
        CategoryColumn("town", ("Graz", "Wien"), unknown="Graz", other=True)


def test_a_category_without_other_is_written_as_ever():
    lines = list(CategoryColumn("a", ("x",), unknown="x").lines())
    assert lines == ['kind = "category"', 'levels = ["x"]', 'unknown = "x"']


@pytest.mark.parametrize("fill", [None, "Wien"])
def test_plain_scikit_learn_predicts_the_same(fill):
    column = CategoryColumn("town", ("Graz", "other"), fill="other" if fill else None, other=True)
    frame = pd.DataFrame({"town": ["Graz", "other", "Linz", None], "y": [0, 1, 1, 0]})
    model = eq.LogisticRegression(epsilon=5.0, domain=schema(column), alpha=0.5, random_state=0).fit(frame)
    plain = model.to_sklearn().predict_proba(frame[["town"]])
    np.testing.assert_allclose(plain, model.predict_proba(frame[["town"]]), rtol=1e-9)
