"""Dates: the chosen parts of what the clock on the wall showed."""

import datetime
import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from equipoise.data.date_parts import Calendar
from equipoise.data.encoder import Encoder
from equipoise.data.frames import FrameTable
from equipoise.data.schema import DateColumn, Schema, Target
from equipoise.errors import SchemaInvalid
from sample_kinds import objects

MOMENT = datetime.datetime(2024, 2, 29, 13, 45)


def entries(column: DateColumn, values) -> np.ndarray:
    schema = Schema(None, (column,), Target("y", classes=(0, 1)))
    return Encoder(schema).encode({column.name: values}, len(values)) * schema.longest_row


def test_parts_are_those_of_python_s_calendar():
    generator = np.random.default_rng(0)
    days, seconds = generator.integers(1, datetime.date.max.toordinal(), 300), generator.integers(0, 86_400, 300)
    moments = [datetime.datetime.min, datetime.datetime.max.replace(microsecond=0), MOMENT]
    moments += [
        datetime.datetime.fromordinal(int(day)) + datetime.timedelta(seconds=int(second))
        for day, second in zip(days, seconds, strict=True)
    ]
    read = np.array([DateColumn("a").second(moment.isoformat(sep=" ")) for moment in moments])
    expected = {
        "year": [moment.year for moment in moments],
        "month": [moment.month for moment in moments],
        "day": [moment.day for moment in moments],
        "weekday": [moment.weekday() for moment in moments],
        "day of year": [moment.timetuple().tm_yday for moment in moments],
        "hour": [moment.hour for moment in moments],
    }
    assert {part: Calendar("").part(part, read).tolist() for part in expected} == expected
    years = [(datetime.datetime(2026, 1, 1) - moment).total_seconds() / (365.2425 * 86_400) for moment in moments]
    assert Calendar("2026-01-01").part("age", read) == pytest.approx(years, abs=1e-9)


def test_parts_are_scaled_by_public_bounds():
    column = DateColumn("a", ("year", "age"), years=(2000, 2048), ages=(0, 100), reference="2074-02-28")
    year, age = entries(column, objects(["2024-02-29"]))[0]
    assert year == pytest.approx(0.0)
    assert age == pytest.approx(0.0, abs=1e-4)
    assert entries(column, objects(["1900-01-01"]))[0].tolist() == pytest.approx([-1.0, 1.0])


def test_a_circle_s_ends_are_neighbours_and_its_pair_has_length_one():
    column = DateColumn("a", ("cyclic month",))
    found = entries(column, objects([f"2024-{month:02d}-01" for month in range(1, 13)]))
    assert np.linalg.norm(found, axis=1) == pytest.approx(np.ones(12))
    steps = np.linalg.norm(found - np.roll(found, 1, axis=0), axis=1)
    assert steps == pytest.approx(np.full(12, 2 * math.sin(math.pi / 12)))


def test_what_is_missing_or_no_date_is_nothing_and_marked_where_that_is_asked_for():
    column = DateColumn("a", ("month", "cyclic weekday"), indicator=True)
    for value in (None, "NA", "soon", "2024-02-30", "13.1.2024"):
        assert entries(column, objects([value])).tolist() == [[0.0, 0.0, 0.0, 1.0]], value


def test_declared_formats_are_tried_in_order_and_iso_is_always_read():
    column = DateColumn("a", ("month",), formats=("%d/%m/%Y", "%m/%d/%Y"))
    months = [Calendar("").part("month", np.array([column.second(text)]))[0] for text in ("2/3/2024", "2/13/2024")]
    assert months == [3, 2]
    assert column.second("2024-02-29") == column.second("29/02/2024")


def test_times_of_day_are_read_where_nothing_else_was_chosen():
    assert DateColumn("a", ("hour", "cyclic hour")).second("13:45") == 13 * 3600 + 45 * 60
    assert math.isnan(DateColumn("a", ("hour", "month")).second("13:45"))


FRAMES = {
    "Arrow days": pa.table({"a": pa.array([MOMENT.date(), None])}),
    "Arrow seconds": pa.table({"a": pa.array([MOMENT, None], pa.timestamp("s"))}),
    "Arrow nanoseconds": pa.table({"a": pa.array([MOMENT, None], pa.timestamp("ns"))}),
    "Arrow texts": pa.table({"a": [MOMENT.isoformat(), None]}),
    "pandas": pd.DataFrame({"a": pd.Series([MOMENT, None], dtype="datetime64[us]")}),
    "pandas objects": pd.DataFrame({"a": pd.Series([MOMENT, None], dtype=object)}),
    "Polars": pl.DataFrame({"a": [MOMENT, None]}),
    "Polars days": pl.DataFrame({"a": [MOMENT.date(), None]}),
}


@pytest.mark.parametrize("name", FRAMES)
def test_dates_of_a_type_are_read_like_their_texts(name):
    column = DateColumn("a", ("day of year", "cyclic month", "weekday"), formats=("%d.%m.%Y",))
    table = FrameTable(FRAMES[name])
    assert table.kinds["a"] in (
        ("unknown",) if "objects" in name else ("text",) if "texts" in name else ("date", "day")
    )
    (batch,) = table.batches(["a"])
    assert np.array_equal(entries(column, batch["a"]), entries(column, objects(["2024-02-29", None])))


def test_numbers_are_dates_only_where_formats_say_how():
    assert not DateColumn("a", ("month",)).fits("number")
    column = DateColumn("a", ("month",), formats=("%Y%m%d",))
    assert column.fits("number")
    assert np.array_equal(entries(column, np.array([20240229.0])), entries(column, objects(["2024-02-29"])))


def test_blanks_are_those_of_the_chosen_parts():
    def blanks(*parts):
        return Schema(None, (DateColumn("a", parts),), Target("y", classes=(0, 1))).blanks()[3:]

    assert blanks() == ("columns.a.parts",)
    assert blanks("month") == ()
    assert blanks("year", "age") == ("columns.a.years", "columns.a.ages", "columns.a.reference")


@pytest.mark.parametrize(
    "facts",
    [
        {"parts": ("moon",)},
        {"parts": ("month", "month")},
        {"formats": ("%d %B %Y",)},
        {"formats": ("date",)},
        {"years": (2000, 2030)},
        {"reference": "2026-01-01"},
        {"parts": ("age",), "reference": "soon"},
        {"parts": ("year",), "years": (2030, 2000)},
    ],
    ids=str,
)
def test_facts_that_cannot_be_so_are_refused(facts):
    with pytest.raises(SchemaInvalid, match=r"columns\.a"):
        DateColumn("a", **{"parts": ("month",), **facts})
