"""Moments and times of day as classes and levels: the same text whatever the unit of the type that holds them."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from equipoise.data.diagnosis import check_table
from equipoise.data.encoded import encoded_table
from equipoise.data.encoder import Encoder
from equipoise.data.frames import FrameTable
from equipoise.data.schema import CategoryColumn, NumberColumn, OrderedColumn, Schema, Target

MOMENTS = [datetime.datetime(2020, 1, 1), datetime.datetime(2020, 2, 29, 14, 30)]
HALVES = [moment.replace(microsecond=500_000) for moment in MOMENTS]
TIMES = [datetime.time(0, 0), datetime.time(14, 30)]
DAYS = [moment.date() for moment in MOMENTS]
UNITS = ("ms", "us", "ns")


def holding(values) -> dict[str, object]:
    """Return moments in every type that holds their fractions."""
    return {
        **{f"Arrow {unit}": pa.array(values, pa.timestamp(unit)) for unit in UNITS},
        **{f"Arrow {unit} with a zone": pa.array(values, pa.timestamp(unit, "UTC")) for unit in UNITS},
        **{f"pandas {unit}": pd.Series(values, dtype=f"datetime64[{unit}]") for unit in UNITS},
        **{f"Polars {unit}": pl.Series(values, dtype=pl.Datetime(unit)) for unit in UNITS},
        "codes of Arrow": pa.array(values, pa.timestamp("us")).dictionary_encode(),
        "pandas categories": pd.Series(values, dtype="datetime64[us]").astype("category"),
    }


CASES = {
    **{f"moments: {name}": (values, "2020-02-29T14:30:00") for name, values in holding(MOMENTS).items()},
    "moments: Arrow s": (pa.array(MOMENTS, pa.timestamp("s")), "2020-02-29T14:30:00"),
    **{f"fractions: {name}": (values, "2020-02-29T14:30:00.5") for name, values in holding(HALVES).items()},
    **{f"times: Arrow {unit}": (pa.array(TIMES, pa.time64(unit)), "14:30:00") for unit in ("us", "ns")},
    **{f"times: Arrow {unit}": (pa.array(TIMES, pa.time32(unit)), "14:30:00") for unit in ("s", "ms")},
    "times: Polars": (pl.Series(TIMES), "14:30:00"),
    "times with a fraction: Polars": (pl.Series([time.replace(microsecond=500_000) for time in TIMES]), "14:30:00.5"),
    "days: Arrow 32": (pa.array(DAYS, pa.date32()), "2020-02-29"),
    "days: Arrow 64": (pa.array(DAYS, pa.date64()), "2020-02-29"),
    "days: Polars": (pl.Series(DAYS), "2020-02-29"),
}


def table_of(values) -> FrameTable:
    ages = {"age": [1, 2]}
    if isinstance(values, pa.Array):
        return FrameTable(pa.table({**ages, "y": values}))
    return FrameTable((pd if isinstance(values, pd.Series) else pl).DataFrame({**ages, "y": values}))


def spelled(text: str) -> list[str]:
    """Return how one may declare it."""
    if "." in text:
        return [text, f"{text}00000", f"{text}00", text.replace("T", " ")]
    return [text, f"{text}.000000", f"{text}.000", text.replace("T", " ")] if ":" in text else [text]


@pytest.mark.parametrize("case", CASES)
def test_a_declared_moment_is_the_same_in_every_unit(case):
    values, text = CASES[case]
    table = table_of(values)
    for written in spelled(text):
        schema = Schema(2, (NumberColumn("age", (0, 9)),), Target("y", classes=("other", written)))
        assert encoded_table(schema, table, 2).target.read().tolist() == ["other", written]
        assert check_table(schema, table).target.unknown_levels == 1
        for column, places in (
            (CategoryColumn("y", (written,), other=True), [1, 0]),
            (OrderedColumn("y", ("other", written)), [2, 1]),
        ):
            encoder = Encoder(Schema(2, (column,), Target("age", classes=(1, 2))))
            assert [encoder.read("y", batch["y"]).tolist() for batch in table.batches(["y"])] == [places]


def test_a_text_is_the_level_that_is_written_so_before_any_other():
    schema = Schema(
        3,
        (CategoryColumn("y", ("12:00:00.0", "12:00:00", "2020-01-01", "2020-01-01T00:00:00"), other=True),),
        Target("age", classes=(1, 2)),
    )
    texts = np.array(["12:00:00.0", "12:00:00", "2020-01-01", "2020-01-01T00:00:00", "12:00:00.000"], dtype=object)
    assert Encoder(schema).read("y", texts).tolist() == [0, 1, 2, 3, 4]
