"""Curves: a line and hats whose squares add up to 1 at every knot, and to no more anywhere."""

import math
from dataclasses import replace

import numpy as np
import pytest

from equipoise.data.encoder import Encoder
from equipoise.data.schema import CategoryColumn, CurveColumn, NumberColumn, Schema, Target
from equipoise.data.schema.kinds.curve import MOST_CELLS, curved, entries_at_knots
from equipoise.errors import SchemaInvalid

TARGET = Target("ill", classes=("no", "yes"))
AGE = CurveColumn("age", (0, 100), cells=4)
HOSTILE = [0.0, -0.0, 100.0, 25.0, np.nextafter(25, 0), 33.0, -1e308, 1e308, np.inf, -np.inf, np.nan, 5e-324, 99.999]


def entries_of(column: CurveColumn, values) -> np.ndarray:
    encoder = Encoder(Schema(None, (column,), TARGET))
    return encoder.encode({column.name: np.array(values)}, len(values)) * math.sqrt(column.squared_length)


def test_entries_are_those_computed_by_hand():
    found = entries_of(AGE, [0.0, 25.0, 30.0, 87.5, 100.0])
    half = math.sqrt(0.5)
    expected = [
        [-1, 0, 0, 0],
        [-0.5, 0.5, half, 0],
        [-0.4, 0.6, 0.8 * half, 0],
        [0.75, 0.25, 0, 0.5 * half],
        [1, 0, 0, 0],
    ]
    assert found == pytest.approx(np.array(expected), abs=1e-15)


def test_what_is_missing_or_outside_is_filled_or_clipped_and_never_raises():
    column = replace(AGE, fill=75, indicator=True)
    found = entries_of(column, [np.nan, np.inf, -1e308, 1e308])
    assert found[0] == pytest.approx([0.5, 0.5, 0, math.sqrt(0.5), 1])
    assert np.array_equal(found[0], found[1])
    assert found[2:] == pytest.approx(np.array([[-1, 0, 0, 0, 0], [1, 0, 0, 0, 0]]))
    assert entries_of(AGE, [np.nan])[0] == pytest.approx([0, 1, 0, 0])


def test_a_root_moves_a_number_before_it_bends():
    """At a share s of the way the hats stand over (s + sqrt(s))/2, whose line is s + sqrt(s) - 1."""
    shares = np.random.default_rng(0).uniform(size=50)
    found = entries_of(replace(AGE, root=True), 100 * shares)
    assert found == pytest.approx(entries_of(AGE, 50 * (shares + np.sqrt(shares))), abs=1e-12)
    line = entries_of(NumberColumn("age", (0, 100), root=True), 100 * shares)
    assert np.array_equal(found[:, :1], line)


@pytest.mark.parametrize("cells", [2, 4, 8, 16, MOST_CELLS])
@pytest.mark.parametrize("bounds", [(0, 100), (-1e300, 1e300), (0.1, 0.3), (0, 5e-320)])
def test_the_bounds_on_norm_and_sum_hold_for_every_value(cells, bounds):
    column = CurveColumn("age", bounds, cells=cells, indicator=True)
    columns = (column, CategoryColumn("town", ("Graz", "Wien"), other=True))
    coins = np.random.default_rng(0)
    values = np.concatenate([HOSTILE, bounds, coins.uniform(0, 1, 200) * bounds[1], coins.uniform(-200, 200, 200)])
    towns = np.array(["Graz"] * len(values), dtype=object)
    for row_norm in (None, 0.5):
        schema = Schema(None, columns, TARGET, row_norm=row_norm)
        rows = Encoder(schema).encode({"age": values, "town": towns}, len(values))
        assert np.isfinite(rows).all()
        assert (np.count_nonzero(rows, axis=1) <= column.entries + 1).all()
        assert np.linalg.norm(rows, axis=1).max() <= 1 + 1e-15
        assert schema.domain.row_sum is not None
        assert np.abs(rows).sum(axis=1).max() <= schema.domain.row_sum


@pytest.mark.parametrize("cells", [2, 4, 8, 16, MOST_CELLS])
def test_the_bounds_on_norm_and_sum_are_attained(cells):
    """At every knot a row is as long as it can be, and at one of them its sum is as large; in between it is shorter."""
    column = replace(AGE, bounds=(0, 1), cells=cells)
    knots = entries_of(column, np.arange(cells + 1) / cells)
    assert np.array(entries_at_knots(cells)) == pytest.approx(knots, abs=1e-15)
    assert np.linalg.norm(knots, axis=1) == pytest.approx(math.sqrt(column.squared_length), rel=1e-14)
    assert np.abs(knots).sum(axis=1).max() == pytest.approx(column.summed_length, rel=1e-14)
    # Between two knots the squares are those that docs/additive.md says, and the sum a line.
    place = np.random.default_rng(1).uniform(size=300)
    rows, way = entries_of(column, place), place * cells % 1
    assert (rows**2).sum(axis=1) == pytest.approx(1 - 4 / cells * way * (1 - way), rel=1e-12)
    assert np.abs(rows).sum(axis=1).max() <= column.summed_length


def test_the_sum_of_a_row_is_that_of_its_columns():
    column = replace(AGE, cells=2)
    schema = Schema(None, (column, replace(column, name="other")), TARGET)
    rows = Encoder(schema).encode({"age": np.array([100.0]), "other": np.array([50.0])}, 1)
    assert schema.domain.row_sum is None
    counted = replace(schema, columns=(*schema.columns, CategoryColumn("town", ("Graz", "Wien"), other=True)))
    assert counted.domain.row_sum == pytest.approx(3 / math.sqrt(3), rel=1e-8)
    assert np.abs(rows).sum() == pytest.approx(2 / math.sqrt(2), rel=1e-8)
    # Shorter rows have larger sums, and no more than two entries a column make.
    assert replace(counted, row_norm=1.0).domain.row_sum == pytest.approx(math.sqrt(5), rel=1e-8)


def test_a_row_of_curves_is_as_long_as_one_of_numbers():
    numbers = NumberColumn("age", (0, 100)), NumberColumn("dose", (0, 1), indicator=True)
    curves = tuple(curved(column, 16) for column in numbers)
    assert Schema(None, curves, TARGET).longest_row == Schema(None, numbers, TARGET).longest_row


def test_curves_of_any_number_of_cells_are_those_that_are_straight_within_each():
    """With a constant, entries at the knots can be any numbers: a model can say whatever it likes there."""
    for cells in (2, 4, 8, 16):
        knots = np.array(entries_at_knots(cells))
        assert np.linalg.matrix_rank(np.column_stack([knots, np.ones(cells + 1)])) == cells + 1


def test_every_row_is_encoded_by_itself():
    encoder = Encoder(Schema(None, (AGE,), TARGET))
    values = np.array(HOSTILE)
    before = encoder.encode({"age": values}, len(values))
    for place in range(len(values)):
        changed = values.copy()
        changed[place] = 62.0
        after = encoder.encode({"age": changed}, len(values))
        others = np.arange(len(values)) != place
        assert np.array_equal(before[others], after[others])


def test_a_curve_is_a_number_column_in_all_other_facts():
    number = NumberColumn("weight", None, fill=3, indicator=True, unit="kg", units={"g": 0.001}, root=True)
    column = curved(number, 8)
    assert column.root
    assert column.number_with_unit("72 kg") == 72.0
    assert column.blanks() == {"bounds": None}
    filled = column.with_bounds((0, 2))
    assert isinstance(filled, CurveColumn)
    assert (filled.bounds, filled.fill, filled.cells) == ((0.0, 2.0), 2.0, 8)
    assert column.encoded_names()[-1] == "weight missing"


def test_many_knots_count_as_levels():
    columns = tuple(CurveColumn(f"c{place}", (0, 1), cells=MOST_CELLS) for place in range(400))
    with pytest.raises(SchemaInvalid, match="at most 100000 levels"):
        Schema(None, columns, TARGET)


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"cells": 1}, "cells"),
        ({"cells": 12}, "cells"),
        ({"cells": MOST_CELLS + 1}, "cells"),
        ({"cells": 2.5}, "cells"),
        ({"cells": "16"}, "cells"),
        ({"cells": None}, "cells"),
        ({"fill": 101}, "fill"),
    ],
)
def test_facts_that_cannot_be_so_are_refused(facts, said):
    with pytest.raises(SchemaInvalid, match=rf"columns\.age\.{said}"):
        replace(AGE, **facts)
