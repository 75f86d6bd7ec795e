"""Compiled products of large tables: right to the roundings that page A4 counts, and a row's own affair (P1)."""

import math
import sys
from fractions import Fraction

import numpy as np
import pytest

import equipoise as eq
from equipoise.data import views
from equipoise.data.rows import Rows
from equipoise.data.views import ClippedView, CompiledView, Repaired
from equipoise.vocabulary.constants import BLOCK_ROWS

DOMAIN = eq.Domain(row_norm=1.0, classes=(0, 1, 2))
PLACE = 4
SHAPES = [(1, 3, 2), (7, 5, 3), (64, 17, 10), (130, 9, 7)]


@pytest.fixture
def large(monkeypatch):
    """Count every table as a large one."""
    monkeypatch.setattr("equipoise.data.rows.COMPILED", 0)


def drawn(count, columns, outputs):
    """Return a table, the factors of its rows, weights and slopes."""
    generator = np.random.default_rng(count + columns)
    table, factors = generator.normal(size=(count, columns)), generator.uniform(0.5, 1.0, count)
    return table, factors, generator.normal(size=(columns + 1, outputs)), generator.normal(size=(outputs, count))


def exact(first, second):
    """Return the matrix product of two arrays as fractions, and the sums of the sizes of what is added."""
    columns = [[Fraction(float(entry)) for entry in column] for column in second.T]
    rows = [[Fraction(float(entry)) for entry in row] for row in first]
    pairs = [[[a * b for a, b in zip(row, column, strict=True)] for column in columns] for row in rows]
    return [[sum(terms) for terms in row] for row in pairs], [[sum(map(abs, terms)) for terms in row] for row in pairs]


def worst(found, first, second, roundings):
    """Return the largest error of a product over what so many roundings may add up to."""
    products, sizes = exact(first, second)
    unit = Fraction(roundings, 2**53)
    return max(
        abs(Fraction(float(found[i, j])) - products[i][j]) / (unit * sizes[i][j])
        for i in range(len(products))
        for j in range(len(products[0]))
    )


@pytest.mark.parametrize("shape", SHAPES)
def test_compiled_products_are_right_to_the_roundings_of_a_sum(shape):
    table, _, weights, slopes = drawn(*shape)
    view = CompiledView(table, np.ones(shape[0]), 0.0)
    assert worst(view @ weights[: shape[1]], table, weights[: shape[1]], shape[1]) <= 1
    assert worst(slopes @ view, slopes, table, shape[0]) <= 1


@pytest.mark.parametrize("shape", SHAPES)
def test_compiled_products_clip_and_mend_as_others_do(shape):
    table, factors, weights, slopes = drawn(*shape)
    repaired = None
    if shape[0] > PLACE:
        table[PLACE, 0] = np.nan
        repaired = Repaired(np.array([PLACE]), np.full((1, shape[1]), 0.25))
    sides = [kind(table, factors, 0.5, repaired) for kind in (ClippedView, CompiledView)]
    np.testing.assert_allclose(*(view @ weights for view in sides), rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(*(slopes @ view for view in sides), rtol=1e-13, atol=1e-13)
    np.testing.assert_array_equal(*(view @ weights[:, 0] for view in sides))
    np.testing.assert_array_equal(*(slopes[0] @ view for view in sides))


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e308, 0.0])
@pytest.mark.parametrize("outputs", [2, 3, 10])
def test_what_a_row_holds_moves_no_other_compiled_product(value, outputs, large):
    generator = np.random.default_rng(0)
    table, weights = generator.normal(size=(BLOCK_ROWS + 7, 4)), generator.normal(size=(4, outputs))
    neighbour = table.copy()
    neighbour[PLACE, 3] = value
    with np.errstate(all="ignore"):
        first, second = (
            np.vstack([view @ weights for view, _ in Rows(side, DOMAIN, 0.0).views()]) for side in (table, neighbour)
        )
    moved = [place for place, (a, b) in enumerate(zip(first, second, strict=True)) if a.tobytes() != b.tobytes()]
    assert moved == [PLACE]


def test_large_tables_whose_rows_lie_in_one_piece_have_compiled_products(monkeypatch):
    monkeypatch.setattr("equipoise.data.rows.COMPILED", 12)
    table = np.ones((4, 3))
    kinds = {
        "rows": table,
        "single precision": table.astype(np.float32),
        "small": table[:3],
        "columns": np.asfortranarray(table),
        "unaligned": np.frombuffer(b"\0" * (1 + table.nbytes), np.uint8)[1:].view(np.float64).reshape(table.shape),
    }
    found = {name: type(next(iter(Rows(rows, DOMAIN, 0.0).views()))[0]) for name, rows in kinds.items()}
    plain = dict.fromkeys(("small", "columns", "unaligned"), ClippedView)
    assert found == {"rows": CompiledView, "single precision": CompiledView, **plain}


def test_predictions_are_those_of_new_rows_however_large_the_table(large):
    table, _, weights, _ = drawn(300, 20, 3)
    rows = Rows(table, DOMAIN, 0.0)
    plain = np.vstack([ClippedView(table, np.ones(300), 0.0) @ weights[:20]]) * rows.arrays().factors[:, None]
    np.testing.assert_array_equal(rows.predictions(weights[:20]), plain)


def test_without_numba_blas_multiplies(monkeypatch):
    table, factors, weights, slopes = drawn(64, 17, 10)
    monkeypatch.setitem(sys.modules, "equipoise.data.compiled_products", None)
    monkeypatch.delattr("equipoise.data.compiled_products", raising=False)
    views.compiled_products.cache_clear()
    try:
        sides = [kind(table, factors, 0.5) for kind in (ClippedView, CompiledView)]
        np.testing.assert_array_equal(*(view @ weights for view in sides))
        np.testing.assert_array_equal(*(slopes @ view for view in sides))
    finally:
        views.compiled_products.cache_clear()


@pytest.mark.parametrize("loop", ["multiply", "add_up"])
@pytest.mark.parametrize("error", [OSError("no space left on device"), EOFError("a cache that was cut off")])
def test_loops_that_cannot_be_compiled_or_kept_leave_the_work_to_blas(monkeypatch, loop, error):
    def fails(*_):
        raise error

    table, factors, weights, slopes = drawn(64, 17, 10)
    monkeypatch.setattr(f"equipoise.data.compiled_products.{loop}", fails)
    views.compiled_products.cache_clear()
    try:
        sides = [kind(table, factors, 0.5) for kind in (ClippedView, CompiledView)]
        np.testing.assert_array_equal(*(view @ weights for view in sides))
        np.testing.assert_array_equal(*(slopes @ view for view in sides))
    finally:
        views.compiled_products.cache_clear()


def test_a_fit_on_compiled_products_is_the_same_but_for_roundings(monkeypatch):
    generator = np.random.default_rng(0)
    X, y = generator.normal(size=(600, 8)), generator.integers(3, size=600)
    model = eq.LogisticRegression(delta=1e-6, domain=DOMAIN, mechanism="noisy-gradient", random_state=0)
    plain = model.fit(X, y).coef_
    monkeypatch.setattr("equipoise.data.rows.COMPILED", 0)
    compiled = model.fit(X, y).coef_
    assert 0 < np.linalg.norm(plain - compiled) <= 1e-9 * np.linalg.norm(plain)
    assert math.isfinite(np.linalg.norm(plain))
