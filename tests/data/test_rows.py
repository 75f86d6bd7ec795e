"""What a row becomes does not depend on what the other rows hold, to the last bit (P1)."""

import numpy as np
import pytest

import equipoise as eq
from equipoise.data.products import products
from equipoise.data.projection import directions, projected_rows
from equipoise.data.rows import BLOCK_ROWS, Rows, row_source
from equipoise.data.tables import Columns

DOMAIN = eq.Domain(row_norm=1.0, classes=(0, 1))
PLACE = 4
ODD = {"missing": np.nan, "infinite": np.inf, "too long to square": 1e308}
FORMS = {
    "rows": np.ascontiguousarray,
    "columns": np.asfortranarray,
    "single precision": lambda table: table.astype(np.float32),
    "columns of a frame": lambda table: Columns(list(table.T)),
}


def neighbours(value, others=(), shape=(300, 40)):
    """Return two tables that differ in one row, which holds an odd value in the second; so do other rows of both."""
    table = np.random.default_rng(0).normal(size=shape)
    for place in others:
        table[place, 1] = np.nan
    neighbour = table.copy()
    neighbour[PLACE, 3] = value
    return table, neighbour


def moved(first, second):
    """Return the places where two arrays of rows differ in any bit."""
    return [place for place, (one, two) in enumerate(zip(first, second, strict=True)) if one.tobytes() != two.tobytes()]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("value", ODD)
@pytest.mark.parametrize("others", [(), (9, 200)], ids=["alone", "among others"])
@pytest.mark.parametrize("count", [1, 5])
def test_an_odd_value_moves_no_other_row_in_public_directions(form, value, others, count):
    columns = directions(40, count, public_seed=3)
    with np.errstate(all="ignore"):
        first, second = (
            projected_rows(FORMS[form](table), DOMAIN, 0.0, columns) for table in neighbours(ODD[value], others)
        )
        rows = [np.vstack([block.copy() for block, _ in side.blocks()]) for side in (first, second)]
    assert moved(*rows) == [PLACE]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("value", ODD)
def test_an_odd_value_moves_no_other_product_with_a_vector(form, value):
    weights = np.random.default_rng(1).normal(size=41)
    with np.errstate(all="ignore"):
        first, second = (
            row_source(FORMS[form](table), DOMAIN, 0.5).predictions(weights)
            for table in neighbours(ODD[value], (9, 200))
        )
    assert moved(first, second) == [PLACE]


def test_a_row_of_another_block_is_not_moved_either():
    weights = np.random.default_rng(1).normal(size=(4, 2))
    with np.errstate(all="ignore"):
        first, second = (
            Rows(table, DOMAIN, 0.0).predictions(weights) for table in neighbours(np.nan, shape=(BLOCK_ROWS + 7, 4))
        )
    assert moved(first, second) == [PLACE]


def about_the_row_norm(row_norm):
    """Return rows whose lengths are the row norm but for a few roundings, among shorter, longer and odd ones."""
    table = np.random.default_rng(2).normal(size=(2 * BLOCK_ROWS + 100, 6))
    table[:400] /= np.linalg.norm(table[:400], axis=1, keepdims=True)
    table[400:500] /= 9.0
    # A block of rows that are hardly shorter or longer, and one in which all are a little shorter: no root is taken.
    table[BLOCK_ROWS:] /= np.linalg.norm(table[BLOCK_ROWS:], axis=1, keepdims=True)
    table[BLOCK_ROWS:] *= np.linspace(1 + 2e-16, 1 - 4e-15, BLOCK_ROWS + 100)[:, None]
    table *= row_norm
    table[[3, 900], [1, 2]] = np.nan, -np.inf
    return table


@pytest.mark.parametrize("form", [*FORMS, "every second column"])
@pytest.mark.parametrize("row_norm", [1e-99, 0.7, 1.0, 3.0, 1e99])
def test_a_prediction_has_the_bits_of_the_rows_as_training_sees_them(form, row_norm):
    table = about_the_row_norm(row_norm)
    domain = eq.Domain(row_norm=row_norm, classes=(0, 1))
    with np.errstate(all="ignore"):
        table = table[:, ::2] if form == "every second column" else FORMS[form](table)
        weights = np.random.default_rng(1).normal(size=(table.shape[1], 2))
        found = products(table, domain, weights)
        expected = Rows(table, domain, 0.0).predictions(weights)
    assert moved(found, expected) == []


@pytest.mark.parametrize("row_norm", [1e-99, 0.7, 1.0, 3.0, 1e99])
def test_a_row_is_shortened_by_the_root_of_its_square_and_by_nothing_else(row_norm):
    table = about_the_row_norm(row_norm)
    table[[3, 900]] = 0.0
    lengths = np.concatenate(
        [
            np.sqrt(np.einsum("ij,ij->i", block, block))
            for block in (table[start : start + BLOCK_ROWS] for start in range(0, len(table), BLOCK_ROWS))
        ]
    )
    factors = Rows(table, eq.Domain(row_norm=row_norm, classes=(0, 1)), 0.0).arrays().factors
    assert moved(factors, np.where(lengths > row_norm, row_norm / np.where(lengths > 0, lengths, 1.0), 1.0)) == []


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.longdouble])
@pytest.mark.parametrize("row_norm", [1e-60, 1.0, 1e60])
def test_compiled_loops_get_the_type_that_the_table_declares_and_rows_inside_the_domain(kind, row_norm):
    domain = eq.Domain(row_norm=row_norm, classes=(0, 1))
    with np.errstate(all="ignore"):
        plain, odd = (
            Rows(table.astype(kind), domain, 0.0).arrays() for table in neighbours(np.nan, (9, 200), shape=(300, 4))
        )
    assert plain.matrix.dtype == odd.matrix.dtype
    assert moved(plain.matrix, odd.matrix) == [PLACE]
    rows = odd.matrix.astype(np.float64) * odd.factors[:, None]
    assert np.isfinite(rows).all()
    assert (np.linalg.norm(rows / row_norm, axis=1) <= 1 + 1e-14).all()
