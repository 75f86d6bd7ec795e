"""Sparse tables: the same rows, the same model, and never a dense copy."""

import itertools
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse

import equipoise as eq
from equipoise.data import rows as rows_module
from equipoise.data.rows import Rows, SparseRows
from equipoise.data.sparse_tables import merged
from equipoise.data.tables import feature_table

Array = NDArray[np.float64]

TWO = eq.Domain(row_norm=1.0, classes=(0, 1))
THREE = eq.Domain(row_norm=1.0, classes=(0, 1, 2))
LABELS = eq.Domain(row_norm=1.0, labels=(-3.0, 5.0))
# An epsilon so large that the noise is below every tolerance used here, but the door is the same.
OPEN = 1e13

hunted = settings(derandomize=True, deadline=None, max_examples=200, suppress_health_check=[HealthCheck.too_slow])

FORMS = {
    "csr_array": sparse.csr_array,
    "csr_matrix": sparse.csr_matrix,
    "csc_array": sparse.csc_array,
    "csc_matrix": sparse.csc_matrix,
    "coo_array": sparse.coo_array,
    "coo_matrix": sparse.coo_matrix,
}
MODELS = {
    "logistic of two classes": (eq.LogisticRegression(domain=TWO), "two"),
    "logistic of three classes": (eq.LogisticRegression(domain=THREE), "three"),
    "ridge": (eq.Ridge(domain=LABELS), "number"),
    "support vectors": (eq.LinearSVC(domain=TWO), "two"),
    "huber": (eq.HuberRegressor(domain=LABELS), "number"),
    "elastic net": (eq.ElasticNet(domain=LABELS, l1_ratio=0.2), "number"),
}


@pytest.fixture(scope="module")
def table() -> tuple[Array, dict[str, Array]]:
    generator = np.random.default_rng(5)
    X = generator.normal(size=(150, 8)) * (generator.uniform(size=(150, 8)) < 0.3)
    # A row without an entry, a row that is clipped, and values that the public rule fills.
    X[3], X[4, 0], X[5, 1], X[6, 2] = 0.0, 50.0, np.nan, -np.inf
    finite = np.nan_to_num(X, posinf=0.0, neginf=0.0)
    scores = finite @ generator.normal(size=(8, 3)) + 0.3 * generator.gumbel(size=(150, 3))
    targets = {"two": scores[:, 0] > 0, "three": scores.argmax(axis=1), "number": 1 + scores[:, 0]}
    return X, {name: np.asarray(target, dtype=float) for name, target in targets.items()}


def weights_of(model) -> Array:
    return np.column_stack([np.atleast_2d(model.coef_), np.atleast_1d(model.intercept_)])


@pytest.mark.parametrize("name", MODELS)
def test_every_sparse_form_gives_the_dense_model(table, name):
    X, targets = table
    template, kind = MODELS[name]
    template.set_params(epsilon=OPEN, alpha=0.1, random_state=0)
    dense = eq_fit(template, X, targets[kind])
    # Both are proved within tolerance / mu of the one minimiser (A4); the noise is far below.
    claim = dense.certificate_.claim
    # A ridge is solved from sums, without a tolerance.
    tolerance = 0.0 if dense.certificate_.kind == "sufficient-statistics" else claim.tolerance
    allowed = 2 * tolerance / claim.constants.strong_convexity + 1e-11
    assert name == "support vectors" or allowed < 1e-6
    assert np.linalg.norm(dense.coef_) > 10 * allowed
    for form in FORMS.values():
        model = eq_fit(template, form(X), targets[kind])
        # Only the release's own name and time tell the two apart.
        assert replace(model.certificate_, release=dense.certificate_.release) == dense.certificate_
        np.testing.assert_allclose(weights_of(model), weights_of(dense), rtol=0, atol=allowed)
        # One model, two forms of the rows: nothing of the solver is left in the difference.
        np.testing.assert_allclose(dense.predict(form(X)), dense.predict(X), rtol=0, atol=1e-13)
        if hasattr(model, "classes_"):
            # Rows whose score is inside the solver's tolerance may fall on either side.
            scores = np.atleast_2d(dense.decision_function(X).T)
            clear = np.abs(scores[0]) if len(scores) == 1 else np.diff(np.sort(scores, axis=0), axis=0)[-1]
            sure = clear > 4 * allowed
            assert sure.sum() >= 140
            np.testing.assert_array_equal(model.predict(form(X))[sure], dense.predict(X)[sure])
        else:
            np.testing.assert_allclose(model.predict(form(X)), dense.predict(X), rtol=0, atol=2 * allowed)


def eq_fit(template, X, y):
    return type(template)(**template.get_params()).fit(X, y)


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.uint8, np.bool_])
def test_every_number_type_gives_the_dense_model(table, dtype):
    X = np.abs(np.nan_to_num(table[0], posinf=0.0, neginf=0.0)).round().astype(dtype)
    model = eq.LogisticRegression(epsilon=OPEN, alpha=0.1, domain=TWO, random_state=0)
    dense = weights_of(model.fit(X, table[1]["two"]))
    np.testing.assert_allclose(weights_of(model.fit(sparse.csr_array(X), table[1]["two"])), dense, atol=1e-8)


# Ordinary numbers and those that break naive norms: squares that overflow or vanish, sums that overflow.
HOSTILE = [0.0, -0.0, np.nan, np.inf, -np.inf, 1e308, -1e308, 1.7e308, 1e160, 1e-200, 5e-324, 3.0, -4.0]
values = st.sampled_from(HOSTILE) | st.floats(-3.0, 3.0)
entries = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3), values), max_size=24)


@hunted
@given(entries=entries, row_norm=st.sampled_from([1e-3, 1.0, 7.0]), fill=st.sampled_from([0.0, 0.5, -2.0]))
@pytest.mark.parametrize("intercept", [0.0, 0.2])
def test_sparse_rows_are_clipped_as_dense_rows(intercept, entries, row_norm, fill):
    # Entries may repeat, may be stored zeros, and a row may have none; `toarray` adds repeated ones up.
    places = np.array([entry[:2] for entry in entries], dtype=int).reshape(-1, 2)
    numbers = np.array([entry[2] for entry in entries])
    domain = eq.Domain(row_norm=row_norm, classes=(0, 1), fill=fill)
    with np.errstate(all="ignore"):
        stored = sparse.coo_array((numbers, places.T), shape=(6, 4))
        # The order of a sum decides where it overflows, so both sides get the sums of one order.
        table = sparse.csr_array(stored)
        dense = np.vstack([block.copy() for block, _ in Rows(table.toarray(), domain, intercept).blocks()])
        found = sparse.vstack([block for block, _ in SparseRows(stored, domain, intercept).blocks()]).toarray()
    # Below the normal range of doubles a factor may round the other way.
    np.testing.assert_allclose(found, dense, rtol=1e-14, atol=1e-320)
    features = found[:, :4]
    assert np.isfinite(found).all()
    assert (np.linalg.norm(features, axis=1) <= row_norm * (1 + 1e-14)).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("writable", [True, False])
def test_a_table_with_repeated_and_unsorted_entries_is_left_as_it_was(dtype, writable):
    # Row 0 holds its columns out of order, row 1 holds column 1 twice: the canonical form must be made in a copy.
    numbers, columns, pointers = (
        np.array([0.125, 0.25, 0.375, 0.5], dtype=dtype),
        np.array([2, 0, 1, 1]),
        np.array([0, 2, 4]),
    )
    table = sparse.csr_array((numbers.copy(), columns.copy(), pointers.copy()), shape=(2, 3))
    before = table.toarray()
    for array in (table.data, table.indices, table.indptr):
        array.flags.writeable = writable
    model = eq.LogisticRegression(epsilon=OPEN, alpha=0.1, domain=TWO, random_state=0).fit(table, [0, 1])
    reference = eq.LogisticRegression(epsilon=OPEN, alpha=0.1, domain=TWO, random_state=0).fit(before, [0, 1])
    np.testing.assert_allclose(weights_of(model), weights_of(reference), rtol=0, atol=1e-8)
    np.testing.assert_allclose(model.decision_function(table), reference.decision_function(before), atol=1e-8)
    for array, expected in ((table.data, numbers), (table.indices, columns), (table.indptr, pointers)):
        np.testing.assert_array_equal(array, expected)


@pytest.mark.parametrize("block", [1, 7, 149, 150, 151])
@pytest.mark.parametrize("name", ["logistic of two classes", "logistic of three classes"])
def test_blocks_join_without_a_seam(table, monkeypatch, block, name):
    X, targets = table
    template, kind = MODELS[name]
    template.set_params(epsilon=OPEN, alpha=0.1, random_state=0)
    whole = eq_fit(template, sparse.csr_array(X), targets[kind])
    expected = whole.predict_proba(sparse.csr_array(X))
    monkeypatch.setattr(rows_module, "BLOCK_ROWS", block)
    source = SparseRows(sparse.csr_array(X), whole.certificate_.claim.problem.domain, 0.0)
    assert len(list(source.blocks())) == -(-len(X) // block)
    # A direct product checks every row's place: predictions of rows that were swapped would differ.
    np.testing.assert_allclose(whole.predict_proba(sparse.csr_array(X)), expected, rtol=1e-13)
    np.testing.assert_allclose(
        weights_of(eq_fit(template, sparse.csr_array(X), targets[kind])), weights_of(whole), atol=1e-8
    )


def test_rows_without_entries_are_rows(table):
    empty = sparse.csr_array((40, 3))
    labels = np.arange(40) % 4 == 0
    model = eq.LogisticRegression(epsilon=OPEN, alpha=1e-3, domain=TWO, random_state=0)
    dense = weights_of(model.fit(np.zeros((40, 3)), labels.astype(int)))
    sparse_weights = weights_of(model.fit(empty, labels.astype(int)))
    np.testing.assert_allclose(sparse_weights, dense, rtol=0, atol=1e-6)
    # Only the constant column can tell the quarter of ones: the intercept must, and does not vanish.
    assert sparse_weights[0, -1] < -0.1


@pytest.mark.parametrize("labels", [2, 3])
def test_a_wide_table_is_never_made_dense(labels):
    # Dense it would be 1.6 GB; the largest arrays allowed are vectors of the columns, 1.6 MB a class each.
    generator = np.random.default_rng(2)
    shape = (1000, 200_000)
    columns = generator.integers(0, shape[1], size=5 * shape[0])
    numbers = generator.normal(size=5 * shape[0])
    X = sparse.csr_array((numbers, columns, np.arange(0, 5 * shape[0] + 1, 5)), shape=shape)
    y = generator.integers(0, labels, size=shape[0])
    model = eq.LogisticRegression(
        epsilon=1.0, alpha=0.1, domain=eq.Domain(1.0, classes=tuple(range(labels))), random_state=0
    )
    tracemalloc.start()
    try:
        model.fit(X, y)
        predicted = model.predict(X)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 200e6
    assert predicted.shape == (1000,)
    assert model.certificate_.claim.noise.dimension == (labels - 1) * (shape[1] + 1)


def test_another_number_of_columns_is_refused_as_for_dense_rows(table):
    X, targets = table
    model = eq.LogisticRegression(domain=TWO, alpha=0.1, random_state=0).fit(sparse.csr_array(X), targets["two"])
    with pytest.raises(eq.errors.InvalidData, match="8 columns"):
        model.predict(sparse.csr_array(X[:, :7]))
    with pytest.raises(eq.errors.InvalidData):
        eq.LogisticRegression(domain=TWO).fit(sparse.csr_array((0, 4)), [])


ARRAYS = {form: getattr(sparse, f"{form}_array") for form in ("csr", "csc", "coo", "bsr", "dia", "lil", "dok")}


def with_an_entry_outside(form, X, index):
    """Return a table in which one entry lies at an index that its table does not have, and how it is without it."""
    table, kept = ARRAYS[form](X), X.copy()
    if form == "coo":
        columns = table.coords[1].copy()
        kept[table.coords[0][3], columns[3]] = 0.0
        columns[3] = index
        table.coords = (table.coords[0], columns)
    elif form == "dia":
        kept = np.where(np.subtract.outer(np.arange(len(X)), np.arange(X.shape[1])) == 0, X, 0.0)
        table = sparse.dia_array((len(X), X.shape[1]))
        table.data = np.stack([np.diagonal(X), np.ones(X.shape[1])])
        # One before the first row is a diagonal like others.
        table.offsets = np.array([0, index if index != -1 else -8])
    elif form == "lil":
        kept[0, table.rows[0][1]] = 0.0
        table.rows[0][1] = index
    elif form == "dok":
        table._dict[0, index] = 9.0
    else:
        whole, indices = table.indptr, table.indices.copy()
        indices[3] = index
        before = table.copy()
        before.data[3] = 0.0
        kept = before.toarray()
        table = type(table)((table.data, table.indices, whole), shape=table.shape)
        table.indices = indices
    return table, kept


@pytest.mark.parametrize("index", [8, -1, 150, 10**8, -(10**8)])
@pytest.mark.parametrize("form", ARRAYS)
def test_an_entry_outside_the_table_counts_as_not_stored(form, index):
    X = np.random.default_rng(1).normal(size=(8, 8))
    table, kept = with_an_entry_outside(form, X, index)
    read = feature_table(table).read()
    np.testing.assert_array_equal(read.toarray(), kept)
    # The table is the user's, and is left as it is.
    assert read is not table


def test_a_table_by_rows_whose_entries_are_all_within_and_in_order_is_not_copied(table):
    whole = ARRAYS["csr"](table[0][:20])
    whole.sum_duplicates()
    read = feature_table(whole).read()
    assert np.shares_memory(read.data, whole.data)
    assert np.shares_memory(read.indices, whole.indices)


def test_lists_and_keys_that_are_no_entries_count_as_not_stored():
    lists = sparse.lil_array((4, 3))
    lists.rows[:] = [["a", 1], None, [0, 1, 2], [2]]
    lists.data[:] = [[1.0, 2.0], [1.0], [3.0], ["a text"]]
    np.testing.assert_array_equal(
        feature_table(lists).read().toarray(), [[0, 2, 0], [0, 0, 0], [3, 0, 0], [0, 0, np.nan]]
    )
    keys = sparse.dok_array((2, 3))
    keys._dict.update({(1, 2): 5.0, "a text": 1.0, (0,): 1.0, (0, 0.5): 1.0, (9, 0): 1.0})
    np.testing.assert_array_equal(feature_table(keys).read().toarray(), [[0, 0, 0], [0, 0, 5]])


def broken(form, **parts):
    table = ARRAYS[form](np.ones((4, 2)))
    for name, part in parts.items():
        setattr(table, name, part)
    return table


BROKEN = {
    "too few limits": broken("csr", indptr=np.array([0, 2, 4, 6], dtype=np.int32)),
    "falling limits": broken("csr", indptr=np.array([0, 6, 4, 6, 8], dtype=np.int32)),
    "limits from elsewhere": broken("csr", indptr=np.array([1, 2, 4, 6, 8], dtype=np.int32)),
    "limits beyond the entries": broken("csc", indptr=np.array([0, 4, 9], dtype=np.int32)),
    "limits of fractions": broken("csr", indptr=np.array([0.0, 2, 4, 6, 8])),
    "fewer values": broken("csr", data=np.ones(7)),
    "indices of fractions": broken("csr", indices=np.ones(8)),
    "fewer coordinates": broken("coo", data=np.ones(7)),
    "limits of blocks": broken("bsr", indptr=np.array([0, 9], dtype=np.int32)),
    "offsets twice": broken("dia", offsets=np.zeros(5, dtype=np.int32)),
    "fewer lists": broken("lil", rows=np.array([[0], [0], [0], [0, 1]], dtype=object)[:3]),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_structure_is_refused_before_the_spend(name):
    with pytest.raises(eq.errors.InvalidData, match=r"found: one with .*; to do: make it again from its entries"):
        eq.LogisticRegression(domain=TWO).fit(BROKEN[name], [0, 1, 0, 1])


def test_the_order_of_one_rows_entries_moves_no_other_row():
    """SciPy sorts every row where one is not in order, and adds its duplicates in another order."""
    coins = np.random.default_rng(0)
    counts = coins.integers(0, 40, 50)
    columns = [np.sort(coins.integers(0, 6, count)) for count in counts]
    values = coins.normal(size=counts.sum()) * 10.0 ** coins.integers(-8, 8, counts.sum())
    limits = np.append(0, np.cumsum(counts))
    in_order = np.concatenate(columns)
    columns[20] = columns[20][::-1]
    tables = [sparse.csr_array((values, found, limits), shape=(50, 6)) for found in (in_order, np.concatenate(columns))]
    first, second = (merged(table).toarray() for table in tables)
    others = np.delete(np.arange(50), 20)
    assert counts[20] > 3
    assert np.array_equal(first[others], second[others])
    assert np.allclose(first, tables[0].toarray(), rtol=1e-12)


@pytest.mark.parametrize("form", ["csr", "coo", "lil"])
def test_the_order_of_one_rows_entries_moves_no_other_row_in_any_form(form):
    """Numbers whose sum depends on the order in which they are added, in all rows but the last."""
    values, columns = np.tile([1e16, 1.0, -1e16], 20), np.repeat(np.arange(20), 3)

    def read(last):
        rows = np.append(np.repeat(np.arange(9), 60), [9, 9])
        entries = np.append(np.tile(values, 9), [1.0, 2.0]), (rows, np.append(np.tile(columns, 9), last))
        table = sparse.coo_array(entries, shape=(10, 40))
        limits = np.append(np.arange(10) * 60, 542)
        if form == "csr":
            table = sparse.csr_array((entries[0], entries[1][1], limits), shape=(10, 40))
        elif form == "lil":
            table = sparse.lil_array((10, 40))
            for row, (start, end) in enumerate(itertools.pairwise(limits)):
                table.rows[row], table.data[row] = entries[1][1][start:end].tolist(), entries[0][start:end].tolist()
        return feature_table(table).read().toarray()

    assert np.array_equal(read([3, 5])[:9], read([5, 3])[:9])


@pytest.mark.parametrize("kind", ["f2", ">f8", ">f4", ">i4"])
@pytest.mark.parametrize("form", ["csr", "coo", "dia", "csc"])
def test_halves_and_foreign_orders_of_bytes_are_read_in_every_form(kind, form):
    table = sparse.coo_array(np.eye(3)).asformat(form)
    table.data = table.data.astype(kind)
    rows = SparseRows(feature_table(table).read(), eq.Domain(1.0, classes=(0, 1)), intercept=0.0)
    assert [block.toarray().tolist() for block, _ in rows.blocks()] == [np.eye(3).tolist()]
