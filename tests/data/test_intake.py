"""Types and shapes decide how a table is taken, before anything is read; no value in it does."""

import itertools
import math
import warnings
from collections import UserList, deque

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

import equipoise as eq
from equipoise.data.arrow_values import arrow_values
from equipoise.data.frames import FrameTable
from equipoise.data.observed_labels import observed_classes
from equipoise.data.rows import centred_targets, class_codes
from equipoise.data.tables import feature_table, require_labels, target_column
from equipoise.errors import InvalidData, InvalidParameter
from observing import differences, observed

CLASSES = eq.Domain(row_norm=1.0, classes=(0, 1))
LABELS = eq.Domain(row_norm=1.0, labels=(-1.0, 1.0))
X = np.linspace(-0.5, 0.5, 12).reshape(6, 2)
ENTRIES = {
    "text": "a text of some length",
    "none": None,
    "huge": 10**30,
    "beyond every float": 10**400,
    "nested": [1, 2],
    "array": np.zeros(3),
    "complex": 1j,
    "date": np.datetime64("2020-01-01"),
    "duration": np.timedelta64(3, "s"),
    "bytes": b"1",
    "object": object(),
}


def whole(table):
    """Return all rows of an unread table as numbers."""
    return np.asarray(table.read()[: table.shape[0]], dtype=np.float64)


@pytest.mark.parametrize("kind", [list, tuple, deque, UserList])
@pytest.mark.parametrize("entry", ENTRIES)
def test_an_entry_of_a_list_changes_no_other(kind, entry):
    rows = X.tolist()
    rows[2][1] = ENTRIES[entry]
    found = whole(feature_table(kind(kind(row) for row in rows)))
    expected = X.copy()
    expected[2, 1] = 1e30 if entry == "huge" else np.nan
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("entry", ENTRIES)
def test_an_entry_of_a_list_of_targets_changes_no_other(entry):
    y = [0, 1, 1, 0, ENTRIES[entry], 1]
    target = target_column(y, 6)
    assert target.shape == (6,)
    np.testing.assert_array_equal(class_codes(target.read(), (0, 1)), [-1, 1, 1, -1, -1, 1])
    expected = 1.0 if entry == "huge" else 0.0
    np.testing.assert_array_equal(centred_targets(target.read(), LABELS), [0, 1, 1, 0, expected, 1])


def test_a_column_may_come_as_a_list_of_rows():
    np.testing.assert_array_equal(centred_targets(target_column([[0.5], (1,), 0], 3).read(), LABELS), [0.5, 1, 0])


@pytest.mark.parametrize("row", [[0.1], [0.1, 0.2, 0.3], ()], ids=repr)
def test_rows_of_different_lengths_are_refused_in_constant_words(row):
    rows = X.tolist()
    rows[2] = row
    with pytest.raises(InvalidData) as refused:
        eq.Ridge(domain=LABELS).fit(rows, np.zeros(6))
    assert str(refused.value) == (
        "asked: a table of numbers; found: rows of different lengths; to do: pass rows of one length"
    )


NO_ROWS = {
    "none": None,
    "text": "ab",
    "number": 0.1,
    "bytes": b"ab",
    "mapping": {0: 1, 1: 2},
    "set": {1, 2},
    "generator": iter([1, 2]),
    "array of no dimension": np.array(3.0),
    "array of two dimensions": np.ones((1, 2)),
    "Arrow array": pa.array([1.0, 2.0]),
    "sparse row": sparse.coo_array([1.0, 2.0]),
}


@pytest.mark.parametrize("place", [0, 3])
@pytest.mark.parametrize("name", NO_ROWS)
def test_an_entry_that_is_no_row_is_a_row_of_missing_values(name, place):
    rows, expected = X.tolist(), X.copy()
    rows[place], expected[place] = NO_ROWS[name], np.nan
    np.testing.assert_array_equal(whole(feature_table(rows)), expected)
    model = eq.Ridge(domain=LABELS, alpha=1.0, mechanism="output", random_state=0)
    assert not differences(
        *(observed(lambda given=given: model.fit(given, np.zeros(6))) for given in (X.tolist(), rows))
    )


def test_a_list_without_a_row_is_no_table():
    for rows in ([None, None], [1, 2], ["ab", "cd"]):
        with pytest.raises(InvalidData, match="Expected 2D array"):
            feature_table(rows)


MISSING_TRUTH = {
    "pandas": lambda values: pd.Series(values, dtype="boolean"),
    "pandas frame": lambda values: pd.DataFrame({"y": pd.array(values, dtype="boolean")}),
    "pandas array": lambda values: pd.array(values, dtype="boolean"),
    "pandas index": lambda values: pd.Index(values, dtype="boolean"),
    "pandas, Arrow": lambda values: pd.Series(values, dtype="bool[pyarrow]"),
    "Polars": lambda values: pl.Series(values, dtype=pl.Boolean),
    "Arrow": lambda values: pa.array(values, pa.bool_()),
    "Arrow in chunks": lambda values: pa.chunked_array([values[:2], values[2:]], pa.bool_()),
}


@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
@pytest.mark.parametrize("form", MISSING_TRUTH)
def test_a_missing_truth_value_is_a_missing_target(form):
    values = [True, False, True, None, False, True]
    target = target_column(MISSING_TRUTH[form](values), 6)
    assert target.numeric
    np.testing.assert_array_equal(centred_targets(target.read(), LABELS), [1, 0, 1, 0, 0, 1])
    np.testing.assert_array_equal(class_codes(target.read(), (False, True)), [1, -1, 1, -1, -1, 1])
    eq.Ridge(domain=LABELS, alpha=0.1, mechanism="output", random_state=0).fit(X, MISSING_TRUTH[form](values))


@pytest.mark.parametrize("form", ["pandas", "pandas, Arrow", "Polars"])
def test_a_missing_truth_value_among_features_is_filled(form):
    column = MISSING_TRUTH[form]([True, None, False])
    frame = pl.DataFrame({"a": column}) if form == "Polars" else pd.DataFrame({"a": column})
    np.testing.assert_array_equal(whole(feature_table(frame)), [[1.0], [np.nan], [0.0]])


def test_batches_of_arrow_are_tables():
    batch = pa.record_batch({"a": pa.array([True, None]), "b": [1, 2]})
    np.testing.assert_array_equal(whole(feature_table(batch)), [[1.0, 1.0], [np.nan, 2.0]])
    model = eq.Ridge(domain=LABELS, alpha=0.1, mechanism="output", random_state=0).fit(batch, [0.1, 0.2])
    assert model.feature_names_in_.tolist() == ["a", "b"]


@pytest.mark.parametrize("kind", [pl.Int128, pl.UInt128, pl.Decimal(20, 2)], ids=str)
def test_wide_whole_numbers_of_polars_are_numbers(kind):
    column = pl.Series("a", [1, None, 7], dtype=kind)
    np.testing.assert_array_equal(whole(feature_table(pl.DataFrame([column]))), [[1.0], [np.nan], [7.0]])
    np.testing.assert_array_equal(target_column(column, 3).read(), [1.0, np.nan, 7.0])


def test_an_index_outside_an_arrow_dictionary_is_missing():
    for words, expected in (
        (["a", "b"], ["b", None, None, None, "a"]),
        ([0.5, 1.5], [1.5, np.nan, np.nan, np.nan, 0.5]),
    ):
        indices = pa.array([1, 7, None, -1, 0], pa.int8())
        column = pa.DictionaryArray.from_arrays(indices, pa.array(words), safe=False)
        assert arrow_values(column).tolist() == pytest.approx(expected, nan_ok=True)
        (batch,) = FrameTable(pa.table({"town": column})).batches(["town"])
        assert batch["town"].tolist() == pytest.approx(expected, nan_ok=True)


def test_a_missing_whole_number_does_not_change_how_another_label_is_read():
    for kind in ("pandas", "Polars"):
        full, holed = (
            pd.Series([2**53 + 1, last], dtype="Int64") if kind == "pandas" else pl.Series([2**53 + 1, last])
            for last in (1, None)
        )
        codes = [class_codes(target_column(side, 2).read(), (0, 2**53))[0] for side in (full, holed)]
        assert codes[0] == codes[1]


@pytest.mark.parametrize(
    "given", [pd.Series([1, 2], dtype="Int64"), pd.array([1, None], dtype="Int64"), pa.array([1, None])]
)
def test_a_single_column_is_no_table_whatever_it_holds(given):
    with pytest.raises(InvalidData, match="Reshape your data"):
        feature_table(given)


TYPES = {
    "object": np.array([[1, "a"]] * 3, dtype=object),
    "structured": np.zeros((3, 2), dtype=[("a", float)]),
    "bytes": np.array([[b"1", b"2"]] * 3),
    "text": np.array([["1", "2"]] * 3),
    "dates": np.zeros((3, 2), dtype="datetime64[s]"),
    "durations": np.zeros((3, 2), dtype="timedelta64[s]"),
    "complex": np.zeros((3, 2), dtype=complex),
    "objects in a frame": pd.DataFrame({"a": pd.Series([1, 2, 3], dtype=object)}),
    "categories in a frame": pd.DataFrame({"a": pd.Categorical([1, 2, 1])}),
    "complex and sparse": sparse.coo_array(np.ones((3, 2), dtype=complex)),
}


@pytest.mark.parametrize("name", TYPES)
def test_a_type_that_holds_no_numbers_is_refused(name):
    with pytest.raises(InvalidData):
        feature_table(TYPES[name])


NO_LABELS = {
    "none": None,
    "nan": np.nan,
    "infinity": np.inf,
    "nested": [1],
    "bytes": b"x",
    "object": object(),
    "beyond every float": int("7391" * 100),
    "beyond what Python prints": 42 * 10**5000,
    "long text": "secret" * 1000,
    "half a letter": "\ud800",
}


@pytest.mark.parametrize("entry", NO_LABELS.values(), ids=NO_LABELS)
def test_what_is_no_label_is_not_among_the_observed_ones(entry):
    target = np.empty(4, dtype=object)
    target[:3], target[3] = [1, 0, 1], entry
    assert observed_classes(target) == (0, 1)


def test_a_refusal_of_observed_classes_names_no_label():
    for y in ([b"secret", b"other", b"third"], [None, float("nan"), [3, 4]], ["secret", 7, 8], [7 * 10**400] * 3):
        with pytest.raises(InvalidData) as refused:
            eq.LogisticRegression(domain=eq.Domain(1.0, classes="observed")).fit(X[:3], y)
        assert "secret" not in str(refused.value)
        assert "7" not in str(refused.value)


class Raising(list):
    """A row whose own methods fail, with what it holds in their words."""

    def __len__(self):
        raise RuntimeError(f"secret {list.__repr__(self)}")

    __iter__ = __getitem__ = __len__


class Lying(list):
    """A row that yields less than it holds."""

    def __iter__(self):
        return iter([1.0])


class RaisingTuple(tuple):
    """The same in a tuple."""

    def __len__(self):
        raise RuntimeError("secret")

    __iter__ = __getitem__ = __len__


@pytest.mark.parametrize("place", [0, 3])
@pytest.mark.parametrize("kind", [Raising, Lying, RaisingTuple])
def test_a_row_that_is_a_list_is_read_as_that_list(kind, place):
    rows = X.tolist()
    rows[place] = kind(rows[place])
    np.testing.assert_array_equal(whole(feature_table(rows)), X)
    settings = {"domain": eq.Domain(1.0, classes=(0, 1)), "alpha": 0.1, "random_state": 0}
    fits = [eq.LogisticRegression(**settings).fit(table, [0, 1] * 3) for table in (rows, X.tolist())]
    np.testing.assert_array_equal(fits[0].coef_, fits[1].coef_)
    np.testing.assert_array_equal(fits[0].predict(rows), fits[1].predict(X))


class Sequence:
    """A row that is no list, with so many entries by its own word."""

    def __init__(self, length, entries):
        self.length, self.entries = length, entries

    def __len__(self):
        if self.length is None:
            raise RuntimeError("secret")
        return self.length

    def __iter__(self):
        if self.entries is None:
            raise RuntimeError("secret")
        return iter(self.entries)

    def __getitem__(self, place):
        return self.entries[place]


@pytest.mark.parametrize(
    "row",
    [Sequence(None, [1, 2]), Sequence(2, None), Sequence(2, [1]), Sequence(2, itertools.count())],
    ids=["no length", "no entries", "fewer", "endless"],
)
def test_a_row_whose_own_code_fails_is_missing(row):
    rows = X.tolist()
    rows[2] = row
    expected = X.copy()
    expected[2] = np.nan
    np.testing.assert_array_equal(whole(feature_table(rows)), expected)


@pytest.mark.parametrize("width", [5, 21])
def test_a_refused_type_does_not_tell_how_long_the_longest_text_is(width):
    texts = np.array([["a", "b" * width]] * 3)
    with pytest.raises(InvalidData) as features:
        feature_table(texts)
    with pytest.raises(InvalidData) as labels:
        observed_classes(texts[:, 1].astype(bytes))
    for refused in (features, labels):
        assert str(width) not in str(refused.value)
    assert "data type text" in str(features.value)


@pytest.mark.parametrize(
    "classes",
    [(0, math.nan), (0, math.inf), (0, 10**400), (0, 10**5000), ("a", "b" * 1001), ("a", "\ud800"), (0, None), (0, 0)],
    ids=["nan", "infinity", "beyond floats", "beyond print", "long", "half a letter", "none", "equal"],
)
def test_declared_classes_that_no_file_holds_are_refused_as_a_parameter(classes):
    with pytest.raises(InvalidParameter, match="public label set"):
        eq.Domain(1.0, classes=classes)


@pytest.mark.parametrize("size", [10**400, -(10**5000)], ids=["long", "beyond print"])
def test_public_numbers_that_no_double_holds_are_refused_as_a_parameter(size):
    for facts in ({"row_norm": size}, {"row_norm": 1.0, "fill": size}, {"row_norm": 1.0, "labels": (0, size)}):
        with pytest.raises(InvalidParameter):
            eq.Domain(**facts)


def test_equal_labels_are_one_whatever_the_order_of_rows():
    for order in ([1, True, 0], [True, 1, 0], [0, 1.0, True]):
        assert [type(label) for label in observed_classes(target_column(order, 3).read())] == [int, bool]


NUMBERS, TEXTS, BOTH = (0, 1), ("no", "yes"), ("no", 1)
# Targets by their declared types, and the classes that none of their entries can equal.
NEVER_EQUAL = {
    "NumPy complex": (np.zeros(6, dtype=complex), (NUMBERS, TEXTS, BOTH)),
    "NumPy dates": (np.zeros(6, dtype="datetime64[s]"), (NUMBERS, TEXTS, BOTH)),
    "NumPy durations": (np.zeros(6, dtype="timedelta64[s]"), (NUMBERS, TEXTS, BOTH)),
    "NumPy records": (np.zeros(6, dtype=[("a", "f8")]), (NUMBERS, TEXTS, BOTH)),
    "NumPy bytes": (np.zeros(6, dtype="S3"), (NUMBERS, TEXTS, BOTH)),
    "NumPy text": (np.zeros(6, dtype="U3"), (NUMBERS, BOTH)),
    "NumPy variable text": (np.array(["no"] * 6, dtype=np.dtypes.StringDType()), (NUMBERS, BOTH)),
    "NumPy numbers": (np.zeros(6), (TEXTS,)),
    "NumPy truth": (np.zeros(6, dtype=bool), (TEXTS,)),
    "NumPy column": (np.zeros((6, 1), dtype=complex), (NUMBERS, TEXTS, BOTH)),
    "NumPy objects": (np.zeros(6, dtype=object), ()),
    "list": (["no"] * 6, ()),
    "pandas dates": (pd.Series(pd.date_range("2020", periods=6)), (NUMBERS, TEXTS, BOTH)),
    "pandas dates of a zone": (pd.Series(pd.date_range("2020", periods=6, tz="UTC")), (NUMBERS, TEXTS, BOTH)),
    "pandas periods": (pd.Series(pd.period_range("2020", periods=6, freq="D")), (NUMBERS, TEXTS, BOTH)),
    "pandas complex": (pd.Series(np.zeros(6, dtype=complex)), (NUMBERS, TEXTS, BOTH)),
    "pandas text": (pd.Series(["no"] * 6, dtype="str"), (NUMBERS, BOTH)),
    "pandas whole": (pd.Series([0] * 6, dtype="Int64"), (TEXTS,)),
    "pandas categories": (pd.Series(["no"] * 6, dtype="category"), (NUMBERS, BOTH)),
    "pandas categories of numbers": (pd.Series([0] * 6, dtype="category"), (TEXTS,)),
    "pandas categories of truth values": (pd.Series([True] * 6, dtype="category"), (TEXTS,)),
    "pandas categories of objects": (pd.Series(pd.Categorical([0, "no"] * 3)), ()),
    "pandas objects": (pd.Series(["no"] * 6, dtype=object), ()),
    "pandas frame": (pd.DataFrame({"y": pd.date_range("2020", periods=6)}), (NUMBERS, TEXTS, BOTH)),
    "Polars dates": (pl.Series(np.zeros(6, dtype="datetime64[us]")), (NUMBERS, TEXTS, BOTH)),
    "Polars times": (pl.Series([0] * 6).cast(pl.Time), (NUMBERS, TEXTS, BOTH)),
    "Polars text": (pl.Series(["no"] * 6), (NUMBERS, BOTH)),
    "Polars truth": (pl.Series([True] * 6), (TEXTS,)),
    "Polars categories": (pl.Series(["no"] * 6, dtype=pl.Categorical), (NUMBERS, BOTH)),
    "Arrow dates": (pa.array([0] * 6, pa.date32()), (NUMBERS, TEXTS, BOTH)),
    "Arrow text": (pa.array(["no"] * 6), (NUMBERS, BOTH)),
    "Arrow bytes": (pa.array([b"no"] * 6), (NUMBERS, BOTH)),
    "Arrow numbers": (pa.array([0] * 6), (TEXTS,)),
    "Arrow dictionary": (pa.array(["no"] * 6).dictionary_encode(), (NUMBERS, BOTH)),
    "Arrow nothing": (pa.nulls(6), (NUMBERS, TEXTS, BOTH)),
}


@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
@pytest.mark.parametrize("name", NEVER_EQUAL)
def test_a_target_whose_type_can_equal_no_class_is_refused(name):
    y, wrong = NEVER_EQUAL[name]
    for classes in (NUMBERS, TEXTS, BOTH):
        model = eq.LogisticRegression(domain=eq.Domain(1.0, classes=classes), alpha=1.0, mechanism="output")
        if classes in wrong:
            with pytest.raises(InvalidData, match=r"asked: a target .*; to do: "):
                model.fit(X, y)
        else:
            model.fit(X, y)
    if len(wrong) == 3:
        with pytest.raises(InvalidData):
            eq.LogisticRegression(domain=eq.Domain(1.0, classes="observed")).fit(X, y)


@pytest.mark.parametrize("form", MISSING_TRUTH)
@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
def test_truth_values_are_the_numbers_that_python_calls_equal_to_them(form):
    values = [True, False, True, None, False, True]
    given = MISSING_TRUTH[form](values)
    target = target_column(given, 6)
    for classes in ((False, True), (0, 1), (0, 1.0), ("no", 1), (1, 0)):
        require_labels(target, classes)
    for classes in (("no", "yes"), (0, 2), (True, 7)):
        with pytest.raises(InvalidData, match=r"truth values, .*; to do: declare classes=\(False, True\)$"):
            require_labels(target, classes)
    require_labels(target_column(np.array([0, 1]), 2), (False, True))
    # What the fit takes is what is counted as known: all but the missing one.
    assert eq.check_rows(X, given, eq.Domain(1.0, classes=(0, 1))).targets_mapped == 1
    np.testing.assert_array_equal(class_codes(target.read(), (0, 1)), [1, -1, 1, -1, -1, 1])
    eq.LogisticRegression(domain=eq.Domain(1.0, classes=(0, 1)), alpha=1.0, mechanism="output").fit(X, given)


def test_an_index_of_several_levels_is_no_column():
    levels = pd.MultiIndex.from_tuples([(0, 1)] * 6)
    with pytest.raises(InvalidData, match="an index of 2 levels"):
        eq.LogisticRegression(domain=CLASSES).fit(X, levels)
    with pytest.raises(InvalidData, match="an index of 2 levels"):
        feature_table(levels)


@pytest.mark.parametrize("label", [2**63, 2**64, -(2**70), 10**150, 1e150], ids=str)
@pytest.mark.parametrize("kind", ["bool", "int8", "int64", "uint64", "float32", "float64", "object"])
def test_a_class_that_64_bits_do_not_hold_is_compared_with_every_type(kind, label):
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(class_codes(np.ones(3, dtype=kind), (0, label)), [-1, -1, -1])
    np.testing.assert_array_equal(class_codes(np.array([True, False]), (0, True)), [1, -1])


@pytest.mark.parametrize(
    "model",
    [
        eq.LogisticRegression(domain=CLASSES),
        eq.PrivateGridSearch(eq.LogisticRegression(domain=CLASSES), {"alpha": [0.1, 1.0]}),
        eq.SimplexSelector(epsilon=1e4, delta=1e-3),
    ],
    ids=lambda model: type(model).__name__,
)
def test_column_names_of_several_types_are_refused_with_a_remedy(model):
    frame = pd.DataFrame(np.tile(X, (10, 1)), columns=["a", 1])
    with pytest.raises(InvalidData, match=r"found: names of several types; to do: name every column by text"):
        model.fit(frame, [0, 1] * 30)


def test_column_names_of_several_types_are_refused_where_a_model_predicts():
    model = eq.LogisticRegression(domain=CLASSES, alpha=1.0).fit(X, [0, 1] * 3)
    with pytest.raises(InvalidData, match="column names of the fit"):
        model.predict(pd.DataFrame(X, columns=["a", 1]))


MASKED = {
    "features": lambda hidden, plain, y: (hidden, y, None),
    "targets": lambda hidden, plain, y: (plain, np.ma.masked_array(y, y == 1), None),
    "ids": lambda hidden, plain, y: (plain, y, np.ma.masked_array(y, y == 1)),
}


@pytest.mark.parametrize("where", MASKED)
def test_a_mask_that_would_be_forgotten_is_refused_by_its_type(where):
    plain, y = np.ones((4, 2)), np.array([0, 1, 0, 1])
    X, target, ids = MASKED[where](np.ma.masked_array(plain, plain > 2), plain, y)
    facts = eq.Domain(1.0, classes=(0, 1), rows_a_person=None if ids is None else 2)
    model = eq.LogisticRegression(epsilon=1.0, domain=facts, random_state=0)
    model.plan(4, 2)
    with pytest.raises(InvalidData, match="a masked array"):
        model.fit(X, target, **({} if ids is None else {"groups": ids}))


@pytest.mark.parametrize("entry", [1.0, np.float32(1.0), True])
def test_no_row_decides_the_type_of_an_observed_class(entry):
    X = np.ones((6, 2))

    def classes(last):
        facts = eq.Domain(1.0, classes="observed")
        return eq.LogisticRegression(epsilon=1.0, domain=facts, random_state=0).fit(X, [0, 1, 0, 1, 0, last]).classes_

    assert classes(entry).dtype == classes(1).dtype == classes(0).dtype


def test_long_doubles_are_labels_and_one_that_no_double_holds_is_none():
    longer = np.array([0, 1, np.longdouble("1e4000")], dtype=np.longdouble)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert observed_classes(longer) == observed_classes(longer[:2]) == (0.0, 1.0)


def of_persons(X, y, groups):
    model = eq.LogisticRegression(epsilon=1.0, domain=eq.Domain(1.0, classes=(0, 1), rows_a_person=3), random_state=0)
    model.plan(10, 3)
    return observed(lambda: model.fit(X, y, groups=groups))


def test_a_refusal_tells_nothing_of_ids_and_not_how_many_rows_persons_have():
    ids = [f"p{row // 2}" for row in range(20)]
    longer = [*ids[:-1], "x" * 100]
    X, y = np.ones((21, 3)), np.arange(21) % 2
    for both in (
        lambda given: np.array([given, given]).T,
        lambda given: np.rec.fromarrays([np.array(given)], names="a"),
    ):
        first, second = (of_persons(X[:20], y[:20], both(given)) for given in (ids, longer))
        assert first.ending != "answer"
        assert not differences(first, second)
    more = [*ids, "p3"]
    shapes = {
        "one column": lambda X, y: (X[:, 0], y),
        "a series": lambda X, y: (pd.Series(X[:, 0]), y),
        "three dimensions": lambda X, y: (X[None], y),
        "two targets": lambda X, y: (X, np.c_[y, y]),
        "a frame of targets": lambda X, y: (X, pd.DataFrame(np.c_[y, y])),
    }
    for name, shaped in shapes.items():
        first = of_persons(*shaped(X[:20], y[:20]), ids)
        assert first.ending != "answer", name
        assert not differences(first, of_persons(*shaped(X, y), more)), name
