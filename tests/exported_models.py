"""Models of every kind of task with columns of every kind, and raw rows for them, which exports are compared on."""

import sqlite3
from functools import partial

import numpy as np
import pandas as pd

import equipoise as eq
from equipoise.data.schema import (
    CategoryColumn,
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
from equipoise.estimators.scoring import PredictionFacts

ROWS = 120
MISSING = ("", "NA", "-9", "1970-01-01")
NUMBERS = (
    NumberColumn("age", (20, 60), fill=30, indicator=True),
    NumberColumn('the "weight"', (-1e-3, 2e-3)),
    CurveColumn("dose", (0, 300), fill=100, cells=4, indicator=True),
    CurveColumn("grams", (0, 300), fill=100, cells=8, indicator=True, root=True),
    NumberColumn("income", (0, 4500), fill=1000, indicator=True, root=True),
    NumberColumn("rent", (-5, 900), root=True),
)
TEXTS = (
    CategoryColumn("name", ("O'Brien", "a -- b", 'say "no"', "\\n", "Größe"), unknown="a -- b", fill="\\n"),
    CategoryColumn("rooms", ("1", "2", "3"), other=True),
    YesNoColumn("smoker"),
    YesNoColumn("insured", yes=("has", "1"), no=("has not", "0"), unknown="no", fill="yes", indicator=True),
    OrderedColumn("school", ("none", "primary", "secondary")),
    OrderedColumn("stage", ("1", "2", "3"), positions=(0, 1, 10), unknown="2", fill="1", indicator=True),
)
DATES = (
    DateColumn("born", parts=PARTS, years=(1900, 2030), ages=(0, 110), reference="2026-01-01", indicator=True),
    DateColumn("seen", parts=("hour", "cyclic hour")),
)
# Those that no other export has.
OTHERS = (
    NumberColumn("mass", (0, 300), fill=80, unit="kg", units={"g": 0.001, "t": 1000}, indicator=True),
    CurveColumn("drug", (0, 300), fill=100, unit="mg", units={"g": 1000}, cells=4),
    HashedColumn("street", 3),
    DateColumn("left", parts=("day", "cyclic weekday"), formats=("%d.%m.%Y %H:%M", "%Y%m%d"), indicator=True),
)
TARGETS = {
    "two": Target("ill", classes=("it's not", "ill")),
    "three": Target("ill", classes=(0, 1, 2)),
    "number": Target("ill", bounds=(-50, 400)),
}
VALUES = {
    **dict.fromkeys((column.name for column in NUMBERS), (31.0, 25.5, -9.0, np.nan, 1e4, -1e4, 1e-3, 0.0, 299.0)),
    "name": ("O'Brien", "a -- b", ' say "no"\t', "\\n", "Größe", "GRÖßE", "NA", None, "nobody", "O''Brien", "-9"),
    "rooms": ("1", "2", "3", "4", None, " 2\u00a0", "1.0", ""),
    "smoker": ("yes", "YES", "s\u00cd", "ye\u017f", "o\ufb00", "nein", "perhaps", None, "NA", "-9", "NEIN"),
    "insured": ("has", "HAS not", "1", "0", None, "x", "-9", "na"),
    "school": ("none", "primary", "secondary", "Primary", None, "NA"),
    "stage": ("1", "2", "3", "4", None, "-9"),
    "born": (
        "2024-02-29", "2023-02-29", "1900-02-29", "2000-02-29 23:59:59", "1999-12-31T07:30", "1970-01-01", "1969-12-31",
        "0001-01-01", "9999-12-31", "0000-05-05", "2020-13-01", "2020-04-31", "2020-04-30 24:00", "2020-04-30 05:60",
        "2020-04-30 05:06:07.25Z", "2020-04-30 05:06:07,5 +02:00", "2020-04-30T05:06-0330", "2020-04-30 05:06:60",
        "2020-04-30 05:06:07.", "2020-04-30X05:06", "20-04-30", "2020-4-30", "30.4.2020", "2020-04-30 ", None, "NA",
        "2020-04-30 05:06:07 Q", "2020-04-30 05", "2a20-04-30", "2020-04-30 05:06:7", "1935-08-09", "2100-03-01",
    ),
    "mass": ("72 kg", "72000g", "0.08t", "72", "-9", "-9 kg", "kg 60", "72 lb", None, "", "1e400", "g"),
    "drug": ("100 mg", "0.2g", "mg150", "299", "400mg", None, "NA"),
    "street": ("Graz", " Graz ", "Größe", "NA", None, "-9", "1", "x"),
    "left": (
        "1.2.2026 14:30",
        "20260102",
        "2026-11-16",
        "2026-13-16",
        None,
        "NA",
        "31.02.2026 10:00",
        "29.2.2024 00:00",
    ),
    "seen": ("14:30", "23:59:59.9", "24:00", "2024-02-29 07:00", "2024-02-29", None, "noon", "1:30", "05:30+01:00"),
}  # fmt: skip
MODELS = {
    "two": eq.LogisticRegression,
    "three": eq.LogisticRegression,
    "number": eq.Ridge,
    "additive two": eq.AdditiveClassifier,
    "additive number": eq.AdditiveRegressor,
    "svm two": eq.LinearSVC,
    # With so small a budget rows are reduced to a few random directions (P1), and to one where a number is told.
    "reduced two": eq.LogisticRegression,
    "reduced number": eq.Ridge,
    # So much noise that most predictions lie outside of the target's range.
    "noisy number": partial(eq.Ridge, mechanism="output"),
}


def raw_rows(seed: int, columns, target: Target | None = None) -> pd.DataFrame:
    """Return rows in which every value of every column stands once at least, next to others by chance."""
    coins, table = np.random.default_rng(seed), {}
    for column in columns:
        values = VALUES[column.name]
        assert len(values) <= ROWS
        chosen = [*values, *(values[place] for place in coins.integers(len(values), size=ROWS - len(values)))]
        chosen = [chosen[place] for place in coins.permutation(ROWS)]
        table[column.name] = pd.Series(
            chosen, dtype=float if column.kind in ("number", "curve") and column.unit is None else object
        )
    if target is not None:
        found = coins.choice(target.classes, ROWS) if target.classes else coins.uniform(-50, 400, ROWS)
        table[target.name] = pd.Series(found.tolist())
    return pd.DataFrame(table)


def release(folder, kind: str, columns, row_norm: float | None = None):
    """Return a model and the folder in which it is released; little data makes noisy weights, so that each counts."""
    target = TARGETS[kind.split()[-1]]
    if kind.startswith("additive"):
        columns = tuple(column for column in columns if not isinstance(column, CurveColumn))
    schema = Schema(ROWS, columns, target, (), "A. Officer", "2026-11-18", MISSING, row_norm)
    options = {"cells": 4} if kind.startswith("additive") else {}
    # Which budgets ask for few directions depends on the number of columns.
    budgets = {"reduced": (0.05, 0.1, 0.2, 0.3), "noisy": (0.1,)}.get(kind.split()[0], (20.0,))
    asked = [MODELS[kind](epsilon=epsilon, domain=schema, random_state=1, **options) for epsilon in budgets]
    few = [each for each in asked if PredictionFacts.of(each.plan()).projection]
    model = (few or asked)[0].fit(raw_rows(0, columns, target))
    assert bool(PredictionFacts.of(model.certificate_).projection) == kind.startswith("reduced")
    eq.save(model, folder)
    return model


def expected(model, rows: pd.DataFrame) -> list[np.ndarray]:
    """Return what the released model says: predictions, and probabilities if it has any."""
    return [model.predict(rows), *(model.predict_proba(rows).T if hasattr(model, "predict_proba") else ())]


def agree(found, wanted: list[np.ndarray]) -> None:
    """Check that answers are the same: classes exactly, numbers to 1e-6."""
    assert len(found) == len(wanted)
    for mine, theirs in zip(found, wanted, strict=True):
        if theirs.dtype.kind == "f":
            np.testing.assert_allclose(np.asarray(mine, dtype=float), theirs, rtol=1e-6, atol=1e-6)
        else:
            assert list(mine) == theirs.tolist()


def in_database(connection, mark: str, text: str, rows: pd.DataFrame, types: dict[str, str]) -> list[tuple]:
    """Return the columns that a SELECT list gives for raw rows in a table, in their order."""
    names = ", ".join('"' + name.replace('"', '""') + '"' for name in rows)
    declared = ", ".join(f"{name} {types[column]}" for name, column in zip(names.split(", "), rows, strict=True))
    cursor = connection.cursor()
    cursor.execute(f"CREATE TABLE people (place INTEGER, {declared})")
    for place, row in enumerate(rows.astype(object).itertuples(index=False)):
        given = [None if value is None or value != value else value for value in row]
        marks = ", ".join([mark] * (len(given) + 1))
        cursor.execute(f"INSERT INTO people VALUES ({marks})", [place, *given])  # noqa: S608
    cursor.execute(f"SELECT {text} FROM people ORDER BY place")  # noqa: S608
    return list(zip(*cursor.fetchall(), strict=True))


def types_of(rows: pd.DataFrame) -> dict[str, str]:
    return {name: "TEXT" if rows[name].dtype == object else "DOUBLE PRECISION" for name in rows}


def in_sqlite(text: str, rows: pd.DataFrame) -> list[tuple]:
    with sqlite3.connect(":memory:") as connection:
        return in_database(connection, "?", text, rows, types_of(rows))
