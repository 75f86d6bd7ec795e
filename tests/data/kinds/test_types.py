"""A type that cannot hold what was declared is refused before a row is read."""

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from equipoise.data.encoded import check_columns, encoded_rows
from equipoise.data.raw import FrameTable
from equipoise.data.schema import (
    CategoryColumn,
    DateColumn,
    HashedColumn,
    NumberColumn,
    OrderedColumn,
    Schema,
    Target,
    YesNoColumn,
)
from equipoise.errors import InvalidData

COLUMNS = {
    "number": NumberColumn("a", (0, 1)),
    "category": CategoryColumn("a", ("low", "high"), other=True),
    "ordered": OrderedColumn("a", ("low", "high")),
    "yes-no": YesNoColumn("a", yes=("has",), no=("has not",)),
    "date": DateColumn("a", ("month",)),
    "hashed": HashedColumn("a"),
}
FRAMES = {
    "number": pa.table({"a": [1, 2]}),
    "text": pa.table({"a": ["x", "y"]}),
    "date": pa.table({"a": pa.array([1, 2], pa.date32())}),
    "unknown": pd.DataFrame({"a": pd.Series(["x", 2], dtype=object)}),
}
REFUSED = {
    ("number", "text"),
    ("number", "date"),
    ("category", "number"),
    ("ordered", "number"),
    ("ordered", "date"),
    ("yes-no", "number"),
    ("yes-no", "date"),
    ("date", "number"),
}


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("found", FRAMES)
def test_types_are_compared_with_kinds(kind, found):
    schema = Schema(2, (COLUMNS[kind],), Target("y", classes=(0, 1)))
    raw = FrameTable(FRAMES[found])
    assert raw.kinds["a"] == found
    if (kind, found) in REFUSED:
        with pytest.raises(InvalidData, match=f"where the schema says {kind}"):
            encoded_rows(schema, raw)
    else:
        encoded_rows(schema, raw)


def refused(classes: tuple, values) -> bool:
    schema = Schema(2, (NumberColumn("a", (0, 1)),), Target("y", classes=classes))
    try:
        check_columns(schema, FrameTable(values))
    except InvalidData as error:
        return "one of the declared classes" in error.asked
    return False


def test_classes_that_no_value_of_the_type_can_be_are_refused():
    texts, numbers = pa.table({"a": [1, 2], "y": ["No", "Yes"]}), pa.table({"a": [1, 2], "y": [0, 1]})
    dates = pa.table({"a": [1, 2], "y": pa.array([1, 2], pa.date32())})
    truths = pl.DataFrame({"a": [1, 2], "y": [True, False]})
    assert refused((0, 1), texts)
    assert refused((False, True), texts)
    assert refused((0, 1), dates)
    assert refused(("no", "yes"), numbers)
    assert refused(("no", "yes"), truths)
    assert not refused(("No", "Yes"), texts)
    assert not refused(("0", "1"), numbers)
    assert not refused(("false", "true"), truths)
    assert not refused((0, 1), pd.DataFrame({"a": [1, 2], "y": pd.Series([0, "1"], dtype=object)}))
