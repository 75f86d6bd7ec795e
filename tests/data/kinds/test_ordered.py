"""Levels in order: one number, where they stand."""

import pytest

from equipoise.data.encoder import Encoder
from equipoise.data.schema import OrderedColumn, Schema, Target
from equipoise.errors import SchemaInvalid
from sample_kinds import objects

SCHOOL = ("none", "primary", "secondary")


def rows(column: OrderedColumn, *values: object) -> list[list[float]]:
    schema = Schema(None, (column,), Target("y", classes=(0, 1)), row_norm=column.squared_length**0.5)
    found = Encoder(schema).encode({column.name: objects(values)}, len(values)) * column.squared_length**0.5
    return found.round(12).tolist()


def test_levels_are_equally_spaced_or_at_their_positions():
    assert rows(OrderedColumn("a", SCHOOL), *SCHOOL) == [[-1.0], [0.0], [1.0]]
    assert rows(OrderedColumn("a", SCHOOL, positions=(-2, 0, 6)), *SCHOOL) == [[-1.0], [-0.5], [1.0]]


def test_other_and_missing_values_stand_half_way_or_at_a_level():
    assert rows(OrderedColumn("a", SCHOOL), "college", None) == [[0.0], [0.0]]
    assert rows(OrderedColumn("a", SCHOOL, unknown="none"), "college", None) == [[-1.0], [-1.0]]
    assert rows(OrderedColumn("a", SCHOOL, fill="secondary"), "college", None) == [[0.0], [1.0]]
    marked = OrderedColumn("a", SCHOOL, unknown="none", indicator=True)
    assert rows(marked, "college", None, "secondary") == [[-1.0, 0.0], [-1.0, 1.0], [1.0, 0.0]]


def test_positions_of_any_size_are_bounded():
    assert OrderedColumn("a", SCHOOL, positions=(-1.7e308, 0, 1.7e308)).shares() == (-1.0, 0.0, 1.0)
    assert OrderedColumn("a", SCHOOL, positions=(0, 5e-324, 1e-323)).shares() == (-1.0, 0.0, 1.0)


@pytest.mark.parametrize(
    "facts",
    [
        {"levels": ("one",)},
        {"positions": (0, 1)},
        {"positions": (0, 2, 1)},
        {"positions": (0, 1, float("inf"))},
        {"positions": 3},
        {"unknown": "college"},
        {"fill": "college"},
    ],
    ids=str,
)
def test_facts_that_cannot_be_so_are_refused(facts):
    with pytest.raises(SchemaInvalid, match=r"columns\.a"):
        OrderedColumn("a", **{"levels": SCHOOL, **facts})


def test_levels_are_a_blank_and_nothing_else_is():
    schema = Schema(None, (OrderedColumn("a"),), Target("y", classes=(0, 1)))
    assert schema.blanks()[3:] == ("columns.a.levels",)
