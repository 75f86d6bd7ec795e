"""Numbers with units."""

import math

import numpy as np
import pyarrow as pa
import pytest

import equipoise as eq
from equipoise.data.encoded import encoded_table
from equipoise.data.encoder import Encoder
from equipoise.data.frames import FrameTable
from equipoise.data.schema import NumberColumn, Schema, Target
from equipoise.errors import InvalidData, InvalidParameter, SchemaInvalid
from sample_kinds import objects

WEIGHT = NumberColumn("weight", (0, 100), unit="kg", units={"g": 0.001, "t": 1000.0})


def schema(column: NumberColumn = WEIGHT) -> Schema:
    facts = {"missing": ("", "NA", "-9"), "vouched_by": "A. Officer", "vouched_on": "2026-11-16"}
    return Schema(2, (column,), Target("y", classes=(0, 1)), **facts)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("72 kg", 72.0), ("72kg", 72.0), (" 72  kg ", 72.0), ("kg 72", 72.0), ("72", 72.0), (72, 72.0),
        ("7.2e1 kg", 72.0),
        ("72000g", 72.0), ("0.072 t", 72.0), ("72 KG", math.nan), ("72 lb", math.nan), ("kg", math.nan),
        ("NA", math.nan),
        ("-9", math.nan), ("inf kg", math.nan), ("1e308 t", math.nan), ("72 kg kg", math.nan), (b"72 kg", 72.0),
    ],
    ids=str,
)  # fmt: skip
def test_units_are_read_behind_and_before_a_number(value, expected):
    found = Encoder(schema()).read("weight", objects([value]))[0]
    assert found == pytest.approx(expected, nan_ok=True)


def test_text_of_a_type_is_taken_only_where_a_unit_is_declared():
    frame = FrameTable(pa.table({"weight": ["72 kg", "50000 g"], "y": [0, 1]}))
    assert encoded_table(schema(), frame, 2).features.read()[:, 0] == pytest.approx([0.44, 0.0])
    with pytest.raises(InvalidData, match="declare unit"):
        encoded_table(schema(NumberColumn("weight", (0, 100))), frame, 2)


@pytest.mark.parametrize(
    "facts",
    [
        {"unit": "0"}, {"unit": "e5"}, {"unit": ""}, {"unit": " kg"}, {"unit": 3}, {"units": {"g": 1.0}},
        {"unit": "kg", "units": {"g": 0}}, {"unit": "kg", "units": {"g": "few"}}, {"unit": "kg", "units": {"kg": 2}},
        {"unit": "kg", "units": ["g"]}, {"unit": "kg", "units": {"g": -1}},
        {"unit": "0kg"}, {"unit": "-"}, {"unit": "E"},
    ],
    ids=str,
)  # fmt: skip
def test_units_that_cannot_be_so_are_refused(facts):
    with pytest.raises(SchemaInvalid, match=r"columns\.a\.unit"):
        NumberColumn("a", (0, 1), **facts)


def test_a_column_without_a_unit_is_written_as_ever():
    assert list(NumberColumn("a", (0, 1)).lines()) == ['kind = "number"', "bounds = [0, 1]"]


def test_blank_bounds_of_a_column_with_a_unit_can_be_filled_in():
    blank = schema(NumberColumn("weight", None, unit="kg"))
    assert blank.with_bounds({"weight": (0, 9)}).columns == (NumberColumn("weight", (0, 9), unit="kg"),)


def test_plain_scikit_learn_cannot_read_units():
    frame = pa.table({"weight": ["72 kg", "50000 g"], "y": [0, 1]})
    model = eq.LogisticRegression(epsilon=1.0, domain=schema(), alpha=0.5, random_state=0).fit(frame)
    assert np.isfinite(model.coef_).all()
    with pytest.raises(InvalidParameter, match="weight, of kind number"):
        model.to_sklearn()
