"""Neighbours look alike: container x type x value x estimator x kind, fitted on both, and nothing seen that differs.

What is compared is all that an observer has (tests/observing.py); what a fit is handed is in tests/neighbour_tables.py.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import equipoise as eq
from equipoise.data.schema import (
    CategoryColumn,
    Column,
    DateColumn,
    HashedColumn,
    NumberColumn,
    OrderedColumn,
    Schema,
    Target,
    YesNoColumn,
)
from equipoise.estimators import members
from neighbour_tables import N_SAMPLES, TABLES, TARGETS, VALUES, entries, made, with_value
from observing import differences, observed

CLASSES = {"domain": eq.Domain(1.0, classes=(0, 1)), "alpha": 0.1, "random_state": 0}
TEXTS = {**CLASSES, "domain": eq.Domain(1.0, classes=("no", "yes"))}
THREE = {**CLASSES, "domain": eq.Domain(1.0, classes=(0, 1, 2))}
OBSERVED = {**CLASSES, "domain": eq.Domain(1.0, classes="observed")}
LABELS = {"domain": eq.Domain(1.0, labels=(-1.0, 1.0)), "alpha": 0.1, "random_state": 0}
DESCENT = {"delta": 1e-3, "batch_size": 2, "passes": 1}
VOUCHED = {"vouched_by": "A. Officer", "vouched_on": "2026-11-16"}


COLUMNS = (
    NumberColumn("column 0", (0.0, 1.0)),
    NumberColumn("column 1", (0.0, 1.0), indicator=True),
    CategoryColumn("column 2", ("0", "1"), unknown="0"),
)
OTHERS = (
    (YesNoColumn("column 0", indicator=True), OrderedColumn("column 1", ("0", "1")), HashedColumn("column 2", 3)),
    (
        NumberColumn("column 0", (0.0, 1.0), unit="kg"),
        DateColumn("column 1", ("month", "cyclic weekday"), formats=("%m",), indicator=True),
        CategoryColumn("column 2", ("0",), other=True),
    ),
)


def schema(target: Target, columns: tuple[Column, ...] = COLUMNS) -> Schema:
    return Schema(N_SAMPLES, columns, target, **VOUCHED)


ILL, DOSE = (schema(target) for target in (Target("target", classes=(0, 1)), Target("target", bounds=(0.0, 1.0))))

ANSWERS, DATES = (schema(Target("target", classes=(0, 1)), columns) for columns in OTHERS)

ESTIMATORS = {
    "logistic output": eq.LogisticRegression(**CLASSES, mechanism="output"),
    "logistic objective": eq.LogisticRegression(**CLASSES, mechanism="objective"),
    "logistic projected": eq.LogisticRegression(**CLASSES, mechanism="objective:1"),
    "logistic gradient": eq.LogisticRegression(**CLASSES, mechanism="noisy-gradient", delta=1e-3),
    "logistic text": eq.LogisticRegression(**TEXTS, mechanism="output"),
    "logistic observed": eq.LogisticRegression(**OBSERVED, mechanism="output"),
    "logistic schema": eq.LogisticRegression(**{**CLASSES, "domain": ILL}, mechanism="output"),
    "answers, levels and buckets in a schema": eq.LogisticRegression(**{**CLASSES, "domain": ANSWERS}),
    "units, dates and others in a schema": eq.LogisticRegression(**{**CLASSES, "domain": DATES}),
    "curves in a schema": eq.AdditiveClassifier(**{**CLASSES, "domain": ILL}, cells=4),
    "curves of a regression": eq.AdditiveRegressor(**{**LABELS, "domain": DOSE}, cells=4),
    "multinomial": eq.LogisticRegression(**THREE, mechanism="output"),
    "hinge": eq.LinearSVC(**CLASSES, loss="hinge", mechanism="output"),
    "elastic net classifier": eq.ElasticNetClassifier(**CLASSES, mechanism="output"),
    "bridge classifier": eq.BridgeClassifier(**CLASSES, mechanism="output"),
    "ridge output": eq.Ridge(**LABELS, mechanism="output"),
    "ridge objective": eq.Ridge(**LABELS, mechanism="objective"),
    "ridge sums": eq.Ridge(**LABELS, mechanism="sufficient-statistics"),
    "ridge functional": eq.Ridge(**LABELS, mechanism="functional"),
    "ridge gradient": eq.Ridge(**LABELS, mechanism="noisy-gradient", delta=1e-3),
    "ridge schema": eq.Ridge(**{**LABELS, "domain": DOSE}, mechanism="output"),
    "huber": eq.HuberRegressor(**LABELS, mechanism="output"),
    "elastic net": eq.ElasticNet(**LABELS, mechanism="output"),
    "bridge": eq.BridgeRegressor(**{**LABELS, "alpha": 3.0}, mechanism="output"),
    "sgd": eq.SGDClassifier(**CLASSES, batch_size=2),
    "sgd regressor": eq.SGDRegressor(**LABELS, batch_size=2),
    "noisy sgd": eq.NoisySGDClassifier(domain=CLASSES["domain"], random_state=0, **DESCENT),
    "noisy sgd regressor": eq.NoisySGDRegressor(domain=LABELS["domain"], random_state=0, **DESCENT),
    "phased": eq.PhasedClassifier(domain=CLASSES["domain"], random_state=0),
    "phased regressor": eq.PhasedRegressor(domain=LABELS["domain"], random_state=0),
    "dropout": eq.DropoutRegressor(**LABELS, delta=1e-3),
    "dropout classifier": eq.DropoutClassifier(**CLASSES, delta=1e-3),
    "simplex": eq.SimplexSelector(epsilon=1e4, delta=1e-3, random_state=0),
    "selector": eq.FeatureSelector(eq.LogisticRegression(**CLASSES, mechanism="output")),
    "search": eq.PrivateGridSearch(
        eq.Ridge(domain=LABELS["domain"], mechanism="output"), {"alpha": [0.1, 1.0]}, random_state=0
    ),
}

# The fast lane, one minute: every cell for these two, and for each of the others every second of the containers below,
# in turn, so that every container meets many of them. The slow lane has all cells.
EVERYWHERE = ("logistic output", "ridge output")
QUICK_TABLES = (
    "list",
    "list of object arrays",
    "NumPy float64",
    "NumPy float32",
    "NumPy longdouble",
    "NumPy object",
    "pandas boolean",
    "pandas Int64",
    "Polars Int128",
    "Arrow batch",
    "sparse csr float64",
    "sparse coo float64",
    "sparse csr indices",
)
QUICK_TARGETS = (
    "list",
    "list of lists",
    "NumPy float64",
    "NumPy object",
    "pandas Arrow bool",
    "pandas frame",
    "Polars Int128",
    "Arrow bool",
    "Arrow dictionary",
)

# Where the user calls the labels found in the data public, tables with other labels are no neighbours; and in a type
# of text or bytes whatever is held is a label.
NO_LABELS = (
    "missing",
    "pandas missing",
    "NaN",
    "infinite",
    "minus infinite",
    "1e308",
    "-1e308",
    "beyond every float",
    "beyond what Python prints",
    "long text",
    "half a letter",
    "complex",
    "bytes",
    "nested",
    "nested array",
    "object",
)
ALL_LABELS = ("text", "str", "string", "bytes", "binary")


def fitted(name: str, X: Any, y: Any) -> Callable[[], Any]:
    return lambda: clone(ESTIMATORS[name]).fit(X, y)


def cells(name: str, tables: Iterable[str], targets: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield every cell of one estimator, by its name, with what tells its neighbours apart."""
    rows, labels = entries("text" if "text" in name else "numbers")
    plain = TABLES["pandas float64"](rows) if "schema" in name else np.array(rows, dtype=np.float64)
    values = tuple(VALUES)
    if "observed" in name:
        values, targets = NO_LABELS, [target for target in targets if not target.lower().endswith(ALL_LABELS)]
    for table in tables:
        yield from _column_of_cells(
            f"{name}, X as {table}", TABLES[table], rows, VALUES, lambda X: fitted(name, X, np.array(labels))
        )
    for target in targets if name != "simplex" else ():
        yield from _column_of_cells(
            f"{name}, y as {target}", TARGETS[target], labels, values, lambda y: fitted(name, plain, y)
        )


def _column_of_cells(
    what: str, make: Callable[[Any], Any], given: Any, values: Iterable[str], fit: Callable[[Any], Callable[[], Any]]
) -> Iterator[tuple[str, list[str]]]:
    first = made(make, given)
    if first is None:
        return
    before = observed(fit(first))
    for value in values:
        second = made(make, with_value(given, VALUES[value]))
        if second is not None:
            yield f"{what}, {value}", differences(before, observed(fit(second)))


def told_apart(name: str, tables: Iterable[str], targets: Iterable[str], at_least: int) -> list[str]:
    """Return the cells of an estimator whose neighbours can be told apart; there must be enough of them to mean it."""
    found = list(cells(name, tables, targets))
    assert len(found) >= at_least
    return [f"{cell}: {'; '.join(faults)}" for cell, faults in found if faults]


def test_every_container_holds_plain_entries():
    rows, labels = entries()
    assert not [name for name, make in TABLES.items() if made(make, rows) is None]
    assert not [name for name, make in TARGETS.items() if made(make, labels) is None]


def test_every_estimator_is_in_the_matrix():
    assert {type(estimator) for estimator in ESTIMATORS.values()} >= set(members().values())


@pytest.mark.parametrize("name", ESTIMATORS)
def test_neighbours_look_alike(name):
    if name in EVERYWHERE:
        assert not told_apart(name, TABLES, TARGETS, at_least=900)
    else:
        turn = list(ESTIMATORS).index(name) % 2
        assert not told_apart(name, QUICK_TABLES[turn::2], QUICK_TARGETS[turn::2], at_least=50)


@pytest.mark.statistics
@pytest.mark.parametrize("name", [name for name in ESTIMATORS if name not in EVERYWHERE])
def test_neighbours_look_alike_in_every_container(name):
    assert not told_apart(name, TABLES, TARGETS, at_least=500)
