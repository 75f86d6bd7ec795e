"""One column of every kind with every key, and raw values that each of them must bear."""

import datetime
import decimal
import math

import numpy as np
import pandas as pd

from equipoise.data.schema import (
    CategoryColumn,
    Column,
    CurveColumn,
    DateColumn,
    HashedColumn,
    NumberColumn,
    OrderedColumn,
    Schema,
    Target,
    YesNoColumn,
)
from equipoise.data.schema.kinds.date import PARTS

COLUMNS: tuple[Column, ...] = (
    NumberColumn("age", (20, 60), fill=30, indicator=True),
    NumberColumn("weight", (0, 300), unit="kg", units={"g": 0.001, "t": 1000}),
    CurveColumn("dose", (0, 300), fill=100, unit="mg", units={"g": 1000}, cells=4),
    NumberColumn("income", (0, 4500), fill=0, indicator=True, unit="EUR", root=True),
    CategoryColumn("work", ("State-gov", "3", "true"), unknown="3"),
    CategoryColumn("town", ("Graz", "Wien"), fill="Wien", other=True),
    YesNoColumn("smoker"),
    YesNoColumn("insured", yes=("has", 1), no=("has not", 0), unknown="no", fill="yes", indicator=True),
    OrderedColumn("school", ("none", "primary", "secondary")),
    OrderedColumn("stage", (1, 2, 3), positions=(0, 1, 10), unknown=2, fill=1, indicator=True),
    DateColumn("born", parts=PARTS, years=(1900, 2030), ages=(0, 110), reference="2026-01-01", indicator=True),
    DateColumn("seen", parts=("hour", "cyclic hour"), formats=("%d.%m.%Y %H:%M", "%Y%m%d")),
    HashedColumn("street", buckets=5),
)
SCHEMA = Schema(
    6, COLUMNS, Target("ill", classes=("no", "yes")), ("note",), "A. Officer", "2026-11-16", identifiers=("id",)
)


class Odd:
    """An object that refuses everything."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        raise RuntimeError

    def __str__(self) -> str:
        raise RuntimeError

    def __float__(self) -> float:
        raise RuntimeError


TEXTS = (
    "", " ", "NA", "nan", "inf", "-1e308", "1e308", "5e-324", "31", " 72 kg ", "72000g", "g", "kg", "\ufffd", "has NOT",
    "State-gov", "3", "3.0", "TRUE", "yes", "YeS", "Nein", "S\u00cd", "perhaps", "Graz", "graz", "primary", "none",
    "2", "2.5", "1", "0",
    "2026-11-16", "2026-11-16T23:59:59.999", "2026-02-30", "0001-01-01", "9999-12-31", "10000-01-01", "1.2.2026 14:30",
    "20260102", "14:30", "2024-02-29 00:00:00+02:00", "2020-12-31", "\u0661\u0662", "x" * 3000, "Gr\u00e4z",
    "a\0b", "-999",
)  # fmt: skip
VALUES = (
    *TEXTS, None, math.nan, math.inf, -math.inf, True, False, 1, 0, 3, 2.5, 10**400, 10**5000, -0.0, 20260102, 1j,
    decimal.Decimal("sNaN"), decimal.Decimal("1.5"), datetime.date(2026, 1, 1), datetime.datetime(2026, 1, 1, 12),
    pd.Timestamp("2026-01-01", tz="UTC"), pd.NaT, pd.NA, np.datetime64("2026-01-01"), b"yes", b"\xff", "\ud800",
    [1], np.zeros(2), {}, Odd(),
)  # fmt: skip


def objects(values) -> np.ndarray:
    """Return any values as an array of objects, which NumPy does not look into."""
    array = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):
        array[place] = value
    return array
