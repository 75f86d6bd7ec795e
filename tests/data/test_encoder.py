"""The encoder: every row by itself, of norm at most 1, and no value raises; and its scikit-learn face."""

import datetime
import decimal
import fractions
import math
import pickle
import uuid
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

import equipoise as eq
from equipoise.data.encoder import Encoder
from equipoise.data.raw import RawTable
from equipoise.data.schema import CategoryColumn, NumberColumn, Schema, Target
from equipoise.data.schema.text import text_of
from equipoise.errors import DomainMissing, InvalidData, InvalidParameter, SchemaInvalid
from equipoise.estimators.schema_encoder import SchemaEncoder

LEVELS = ("Private", "State-gov", "3", "true")
SCHEMA = Schema(
    n_samples=None,
    columns=(
        NumberColumn("age", (20, 60), fill=30, indicator=True),
        CategoryColumn("work", LEVELS, unknown="Private", fill="3"),
        NumberColumn("gain", (-1e6, 2e6)),
    ),
    target=Target("income", classes=("<=50K", ">50K")),
    missing=("", "NA", "?", "-999"),
)
REGRESSION = Schema(None, (NumberColumn("age", (20, 60)),), Target("dose", bounds=(0, 400)))


class Odd:
    """An object that refuses everything."""

    def __eq__(self, other):
        raise RuntimeError

    __hash__ = None

    def __str__(self):
        raise RuntimeError

    def __float__(self):
        raise RuntimeError


class Loud:
    """An object that warns and then answers."""

    def __float__(self):
        warnings.warn("private", stacklevel=2)
        return 40.0


def objects(values) -> np.ndarray:
    """Return any values as an array of objects, which NumPy does not look into."""
    kept = list(values)
    array = np.empty(len(kept), dtype=object)
    for position, value in enumerate(kept):
        array[position] = value
    return array


def encoded(name: str, values: np.ndarray, schema: Schema = SCHEMA) -> np.ndarray:
    """Encode values of one column, with every other one missing."""
    nothing = objects([None] * len(values))
    columns = {column.name: nothing for column in schema.columns} | {name: values}
    return Encoder(schema).encode(columns, len(values))


def test_names_and_width_follow_the_columns():
    names = ("age", "age missing", *(f"work={level}" for level in LEVELS), "gain")
    assert Encoder(SCHEMA).names == names
    assert Encoder(SCHEMA).width == SCHEMA.n_features == len(names)


def test_a_row_is_what_the_rules_say():
    columns = {"age": objects(["50", None]), "work": objects(["State-gov ", "?"]), "gain": np.array([5e5, 1e9])}
    expected = np.array([[0.5, 0, 0, 1, 0, 0, 0.0], [-0.5, 1, 0, 0, 1, 0, 1.0]]) / 2
    np.testing.assert_allclose(Encoder(SCHEMA).encode(columns, 2), expected, atol=1e-15)


NUMBERS = {
    "the lower bound": (20, -1.0),
    "the upper bound": (60, 1.0),
    "the midpoint": (40.0, 0.0),
    "text with blanks": (" 50 ", 0.5),
    "text with an exponent": ("5e1", 0.5),
    "beyond the upper bound": (1000, 1.0),
    "far below": (-1e308, -1.0),
    "true": (True, -1.0),
    "a decimal": (decimal.Decimal("50"), 0.5),
    "a fraction": (fractions.Fraction(101, 2), 0.525),
    "a NumPy number": (np.int8(50), 0.5),
    "an object that warns": (Loud(), 0.0),
    "beyond any float": (10**5000, None),
    "text beyond any float": ("1" + "0" * 400, None),
    "a missing text": ("NA", None),
    "a missing number as text": ("-999", None),
    "a missing number with a point": ("-999.0", None),
    "a missing number": (-999, None),
    "NaN": (math.nan, None),
    "infinity": (math.inf, None),
    "infinity as text": ("inf", None),
    "a word": ("fifty", None),
    "a decimal comma": ("50,5", None),
    "None": (None, None),
    "pandas' NA": (pd.NA, None),
    "pandas' NaT": (pd.NaT, None),
    "a complex number": (1 + 2j, None),
    "an array": (np.array([50.0]), None),
    "a list": ([50], None),
    "a date": (np.datetime64("2020-01-01"), None),
    "an object that refuses": (Odd(), None),
}


@pytest.mark.parametrize("case", NUMBERS)
def test_a_number_is_read_clipped_and_scaled_and_anything_else_is_missing(case):
    value, number = NUMBERS[case]
    [row] = encoded("age", objects([value])) * 2
    assert row[0] == pytest.approx(-0.5 if number is None else number, abs=1e-15)
    assert row[1] == (number is None)


LEVEL_CASES = {
    "its text": ("State-gov", "State-gov"),
    "its text with blanks": ("\tState-gov \n", "State-gov"),
    "its text of NumPy": (np.str_("State-gov"), "State-gov"),
    "its bytes": (b"State-gov", "State-gov"),
    "a whole number": (3, "3"),
    "a float without fraction": (3.0, "3"),
    "a narrow float": (np.float32(3), "3"),
    "a decimal": (decimal.Decimal("3.0"), "3"),
    "a number as text": ("3", "3"),
    "a number as another text": ("3.0", "Private"),
    "a fraction": (3.5, "Private"),
    "true": (True, "true"),
    "NumPy's true": (np.bool_(True), "true"),
    "true as text": ("true", "true"),
    "true as another text": ("True", "Private"),
    "one": (1, "Private"),
    "one as a float": (1.0, "Private"),
    "other letters": ("state-gov", "Private"),
    "infinity": (math.inf, "Private"),
    "an identifier": (uuid.UUID(int=7), "Private"),
    "a date": (datetime.date(2026, 1, 1), "Private"),
    "a list": (["State-gov"], "Private"),
    "a missing text": ("NA", "3"),
    "blanks": ("  ", "3"),
    "None": (None, "3"),
    "NaN": (math.nan, "3"),
    "pandas' NA": (pd.NA, "3"),
    "pandas' NaT": (pd.NaT, "3"),
    "a number without a text": (10**5000, "3"),
    "an object that refuses": (Odd(), "3"),
}


@pytest.mark.parametrize("case", LEVEL_CASES)
def test_a_level_is_found_by_its_text(case):
    value, level = LEVEL_CASES[case]
    [row] = encoded("work", objects([value]))
    assert Encoder(SCHEMA).names[2 + int(np.argmax(row[2:6]))] == f"work={level}"
    assert np.count_nonzero(row[2:6]) == 1


def test_a_declared_level_is_never_missing():
    # Namibia's country code.
    column = CategoryColumn("country", ("ZA", "NA"), unknown="ZA")
    schema = Schema(None, (column,), Target("y", classes=("no", "NA")))
    assert encoded("country", objects(["NA", None]), schema).tolist() == [[0.0, 1.0], [1.0, 0.0]]
    assert Encoder(schema).encode_target(objects(["NA", None])).tolist() == ["NA", "no"]


def test_equal_keys_of_different_text_are_kept_apart():
    # 1, 1.0 and True are one key of a dictionary; what came first in a batch must not decide for the others.
    schema = Schema(None, (CategoryColumn("a", ("1", "true", "other"), unknown="other"),), Target("y", classes=(0, 1)))
    for values in ([1, True, 1.0, "1"], [True, 1, "1", 1.0]):
        levels = [schema.columns[0].levels[code] for code in encoded("a", objects(values), schema).argmax(axis=1)]
        assert levels == [text_of(value) for value in values]


def test_one_odd_value_changes_no_other_row():
    # NumPy reads a datetime64 among objects as a number, and float() does not: no shortcut may show.
    for odd in ("x", None, Odd(), [1], np.array([1, 2]), 10**5000):
        alone = encoded("age", objects([np.datetime64("2020-01-01"), np.timedelta64(50), "50"]))
        together = encoded("age", objects([np.datetime64("2020-01-01"), np.timedelta64(50), "50", odd]))
        np.testing.assert_array_equal(alone, together[:3])


@pytest.mark.parametrize(
    ("classes", "values", "found"),
    [
        ((0, 1), ["1", 1, 1.0, "1 ", True, "1.0", None, 2], [1, 1, 1, 1, 0, 0, 0, 0]),
        ((False, True), [True, "true", "True", 1, False], [True, True, False, False, False]),
        (("no", "yes"), ["yes", " yes", "Yes", math.nan], ["yes", "yes", "no", "no"]),
        ((1.5, 2, 7), [1.5, "1.5", 2.0, "2", 7], [1.5, 1.5, 2, 2, 7]),
    ],
    ids=str,
)
def test_a_target_becomes_the_schemas_own_label(classes, values, found):
    schema = Schema(None, (NumberColumn("x", (0, 1)),), Target("y", classes=classes))
    labels = Encoder(schema).encode_target(objects(values))
    assert labels.dtype == object
    assert labels.tolist() == found
    assert {type(label) for label in labels} <= {type(label) for label in classes}


def test_numeric_arrays_and_texts_encode_the_same():
    numbers = np.array([3.0, 50.0, -999.0, math.nan, 1e9, -0.0])
    texts = objects(["3", "50", "-999", "NA", "1000000000", "0"])
    for name in ("age", "work"):
        np.testing.assert_array_equal(encoded(name, numbers), encoded(name, texts))
    whole = np.array([3, 50, -999, 0])
    for dtype in (np.int16, np.int64, np.float32, np.longdouble):
        np.testing.assert_array_equal(encoded("work", whole.astype(dtype)), encoded("work", objects(map(str, whole))))
    truth = np.array([True, False])
    np.testing.assert_array_equal(encoded("work", truth), encoded("work", objects([True, False])))
    np.testing.assert_array_equal(encoded("work", np.array(["3", "NA"])), encoded("work", objects(["3", "NA"])))


def test_a_target_comes_back_in_its_units_inside_its_bounds():
    encoder = Encoder(REGRESSION)
    scores = encoder.encode_target(objects([0, "100", 400, 1e9, None]))
    np.testing.assert_allclose(scores, [-1.0, -0.5, 1.0, 1.0, 0.0], atol=1e-15)
    np.testing.assert_allclose(encoder.decode_target(scores), [0.0, 100.0, 400.0, 400.0, 200.0])
    assert encoder.decode_target(np.array([-7.0, 7.0])).tolist() == [0.0, 400.0]
    with pytest.raises(InvalidParameter, match="regression"):
        Encoder(SCHEMA).decode_target(scores)


finite = st.floats(allow_nan=False, allow_infinity=False)
wide_bounds = st.lists(finite, min_size=2, max_size=2, unique=True).map(lambda ends: tuple(sorted(ends)))


@given(wide_bounds, st.lists(finite, min_size=1, max_size=5))
def test_scaling_never_overflows_and_decoding_inverts_it(ends, values):
    low, high = ends
    encoder = Encoder(Schema(None, (NumberColumn("x", ends),), Target("y", bounds=ends)))
    scores = encoder.encode_target(np.array([low, high, *values]))
    assert np.all(np.abs(scores) <= 1)
    assert scores[:2].tolist() == [-1.0, 1.0]
    back = encoder.decode_target(scores)
    assert np.all((back >= low) & (back <= high))
    assert back[:2].tolist() == [low, high]
    inside = np.clip(values, low, high)
    reach = max(abs(low), abs(high))
    np.testing.assert_allclose(back[2:] / 4, inside / 4, rtol=0, atol=max(reach * 1e-15, 1e-322))


anything = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(15, 65),
    st.floats(),
    st.complex_numbers(),
    st.text(max_size=6),
    st.floats(15, 65).map(str),
    st.sampled_from([*LEVELS, *SCHEMA.missing, " 3 ", "nan", "-inf", "1_0", "١٢"]),
    st.binary(max_size=4),
    st.decimals(),
    st.decimals(0, 10, places=0),
    st.fractions(),
    st.dates(),
    st.datetimes(),
    st.timedeltas(),
    st.sampled_from([decimal.Decimal("1e1000000"), decimal.Decimal("sNaN"), pd.NA, pd.NaT, Odd(), Loud(), object, len]),
    st.sampled_from(
        [np.float32(40.5), np.int64(3), np.bool_(True), np.datetime64("NaT"), np.longdouble(3), np.array(3)]
    ),
    st.lists(st.integers(), max_size=2),
    st.lists(st.integers(), max_size=2).map(np.array),
    st.dictionaries(st.text(max_size=1), st.none(), max_size=1),
)
raw_rows = st.lists(st.tuples(anything, anything, anything), min_size=1, max_size=8)
norms = st.none() | st.floats(1e-100, 1e100) | st.floats(0.1, 3.0)


@given(raw_rows, norms)
def test_any_object_is_encoded_and_a_row_depends_on_itself_alone(rows, row_norm):
    encoder = Encoder(Schema(None, SCHEMA.columns, SCHEMA.target, missing=SCHEMA.missing, row_norm=row_norm))
    regression = Encoder(REGRESSION)
    columns = {name: objects(row[place] for row in rows) for place, name in enumerate(("age", "work", "gain"))}
    together = encoder.encode(columns, len(rows))
    assert np.all(np.isfinite(together))
    assert np.all(np.linalg.norm(together, axis=1) <= 1 + 1e-12)
    targets = encoder.encode_target(columns["work"])
    doses = regression.encode_target(columns["age"])
    for place in range(len(rows)):
        one = {name: values[place : place + 1] for name, values in columns.items()}
        np.testing.assert_array_equal(encoder.encode(one, 1), together[place : place + 1])
        assert encoder.encode_target(one["work"])[0] is targets[place]
        assert regression.encode_target(one["age"])[0] == doses[place]


@given(
    st.lists(st.floats() | st.floats(15, 65) | st.integers(-3, 70).map(float), min_size=1, max_size=8),
    st.sampled_from(["float64", "float32", "float16", "int64", "uint8", "bool", "longdouble"]),
    norms,
)
def test_numeric_arrays_are_encoded_row_by_row_too(values, dtype, row_norm):
    schema = Schema(None, SCHEMA.columns, SCHEMA.target, missing=SCHEMA.missing, row_norm=row_norm)
    encoder = Encoder(schema)
    with np.errstate(all="ignore"):
        column = np.nan_to_num(np.array(values), posinf=100, neginf=-100).clip(-100, 100).astype(dtype)
        column = np.array(values).astype(dtype) if column.dtype.kind == "f" else column
    together = encoder.encode(dict.fromkeys(("age", "work", "gain"), column), len(column))
    assert np.all(np.linalg.norm(together, axis=1) <= 1 + 1e-12)
    for place in range(len(column)):
        alone = dict.fromkeys(("age", "work", "gain"), column[place : place + 1])
        np.testing.assert_array_equal(encoder.encode(alone, 1), together[place : place + 1])
        boxed = dict.fromkeys(("age", "work", "gain"), objects([column[place]]))
        np.testing.assert_array_equal(encoder.encode(boxed, 1), together[place : place + 1])


@st.composite
def encoders(draw):
    """Draw an encoder of number and category columns with any bounds and any row norm."""
    columns = []
    for place in range(draw(st.integers(1, 6))):
        if draw(st.booleans()):
            low, high = draw(wide_bounds)
            fill = draw(st.none() | st.floats(low, high))
            columns.append(NumberColumn(f"c{place}", (low, high), fill, indicator=draw(st.booleans())))
        else:
            columns.append(CategoryColumn(f"c{place}", ("a", "b", "c")[: draw(st.integers(1, 3))], unknown="a"))
    return Encoder(Schema(None, tuple(columns), Target("y", classes=(0, 1)), row_norm=draw(norms)))


@given(encoders(), st.data())
def test_no_row_is_longer_than_1_whatever_the_schema(encoder, data):
    names = [column.name for column in encoder.schema.columns]
    batch = {name: objects(data.draw(st.lists(anything | finite, min_size=3, max_size=3))) for name in names}
    found = encoder.encode(batch, 3)
    assert found.shape == (3, encoder.schema.n_features)
    # Exact sums, so that the test's own rounding does not decide.
    assert all(math.sqrt(math.fsum(entry * entry for entry in row)) <= 1 + 1e-12 for row in found)


def test_the_natural_norm_is_attained():
    columns = {"age": objects([None, 60]), "work": objects(["3", "3"]), "gain": np.array([2e6, 1e9])}
    schema = Schema(None, (NumberColumn("age", (20, 60), fill=60, indicator=True), *SCHEMA.columns[1:]), SCHEMA.target)
    assert np.linalg.norm(Encoder(schema).encode(columns, 2), axis=1) == pytest.approx([1.0, math.sqrt(3 / 4)])


@given(st.integers(-(2**53), 2**53))
def test_a_whole_number_encodes_the_same_in_every_form(number):
    schema = Schema(None, (NumberColumn("x", (0, 1e6)), CategoryColumn("c", ("other", number), "other")), SCHEMA.target)
    forms = [number, float(number), str(number), f" {number} ", np.int64(number), decimal.Decimal(number)]
    forms.append(fractions.Fraction(number))
    rows = Encoder(schema).encode({"x": objects(forms), "c": objects(forms)}, len(forms))
    assert (rows == rows[0]).all()
    assert (rows[:, 2] > 0).all()


@given(st.floats(allow_nan=False) | st.integers(-(10**6), 10**6))
def test_a_number_and_its_text_encode_the_same(value):
    for name in ("age", "gain", "work"):
        number, text = encoded(name, objects([value])), encoded(name, objects([text_of(value)]))
        np.testing.assert_array_equal(number, text)


def test_rows_are_divided_by_the_row_norm_and_clipped():
    schema = Schema(None, SCHEMA.columns, SCHEMA.target, missing=SCHEMA.missing, row_norm=1.5)
    columns = {"age": np.array([60.0, 40.0]), "work": objects(["3", "3"]), "gain": np.array([2e6, 5e5])}
    rows = Encoder(schema).encode(columns, 2)
    # Lengths before: sqrt(3), which is clipped, and 1.
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), [1.0, 1 / 1.5])
    np.testing.assert_allclose(rows[0, [0, 4, 6]], [1 / math.sqrt(3)] * 3)


def test_many_columns_do_not_round_a_row_beyond_1():
    columns = tuple(NumberColumn(f"c{place}", (0.1, 0.7), indicator=True) for place in range(5000))
    encoder = Encoder(Schema(None, columns, Target("y", classes=(0, 1)), row_norm=3.0))
    values = np.random.default_rng(0).uniform(0.0, 0.8, (5000, 2))
    rows = encoder.encode({f"c{place}": values[place] for place in range(5000)}, 2)
    assert np.all(np.linalg.norm(rows, axis=1) <= 1 + 1e-12)


def test_the_encoder_refuses_a_schema_with_blanks_but_needs_no_voucher():
    blank = Schema(None, (NumberColumn("age", None), CategoryColumn("c", (), None)), Target("y", classes=()))
    with pytest.raises(SchemaInvalid, match=r"4 blanks: target\.classes, columns\.age\.bounds, columns\.c\.levels"):
        Encoder(blank)
    with pytest.raises(SchemaInvalid, match=r"columns\.age\.bounds"):
        Encoder(blank.with_private_bounds(0.1))


@pytest.mark.parametrize(
    "columns", [{}, {"age": np.zeros(3)}, {"age": np.zeros((2, 1))}], ids=["absent", "too long", "a table"]
)
def test_a_column_that_is_not_there_is_refused_by_its_name(columns):
    with pytest.raises(InvalidData, match="'age'"):
        Encoder(REGRESSION).encode(columns, 2)


def test_an_encoder_keeps_nothing_of_the_rows():
    encoder = Encoder(SCHEMA)
    before = pickle.dumps(encoder)
    columns = {"age": objects(["secret"]), "work": objects(["secret"]), "gain": objects(["secret"])}
    encoder.encode(columns, 1)
    encoder.encode_target(columns["work"])
    assert pickle.dumps(encoder) == before


# The transformer.

FRAME = {"age": [50.0, None], "work": ["State-gov", None], "gain": [5e5, 1e9], "name": ["Ann", "Ben"]}


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pyarrow.table], ids=["pandas", "polars", "pyarrow"])
def test_the_transformer_encodes_every_frame_alike(library):
    frame = library(FRAME)
    rows = SchemaEncoder(SCHEMA).fit(frame).transform(frame)
    np.testing.assert_allclose(rows * 2, [[0.5, 0, 0, 1, 0, 0, 0.0], [-0.5, 1, 0, 0, 1, 0, 1.0]], atol=1e-15)


def test_the_transformer_is_cloned_and_named_and_learns_nothing():
    frame = pd.DataFrame(FRAME)
    encoder = clone(SchemaEncoder(SCHEMA)).fit(frame)
    assert encoder.get_params() == {"schema": SCHEMA}
    assert encoder.get_feature_names_out().tolist() == list(Encoder(SCHEMA).names)
    assert encoder.feature_names_in_.tolist() == ["age", "work", "gain"]
    other = clone(encoder).fit(frame.iloc[:1])
    assert other.__dict__.keys() == encoder.__dict__.keys() == {"schema", "feature_names_in_", "n_features_in_"}
    np.testing.assert_array_equal(other.transform(frame), encoder.transform(frame))
    named = encoder.set_output(transform="pandas").transform(frame)
    assert list(named.columns) == list(Encoder(SCHEMA).names)
    assert encoder.set_output(transform="default").transform(frame.iloc[:0]).shape == (0, 7)


def test_the_transformer_is_a_step_before_a_private_model():
    generator = np.random.default_rng(0)
    age = generator.uniform(20, 60, 500)
    frame = pd.DataFrame({"age": age, "work": "Private", "gain": 0.0})
    model = make_pipeline(
        SchemaEncoder(SCHEMA), eq.LogisticRegression(epsilon=50.0, domain=SCHEMA.domain, random_state=0)
    )
    labels = np.where(age > 40, ">50K", "<=50K")
    assert clone(model).fit(frame, labels).score(frame, labels) > 0.8
    assert model.fit(frame, labels)[-1].certificate_.verify() == ()


def test_the_transformer_says_what_it_lacks():
    frame = pd.DataFrame(FRAME)
    with pytest.raises(DomainMissing, match=r'SchemaEncoder\(schema=Schema\.from_toml\("schema\.toml"\)\)'):
        SchemaEncoder().fit(frame)
    with pytest.raises(InvalidParameter, match="type str"):
        SchemaEncoder("schema.toml").fit(frame)
    blank = Schema(None, (NumberColumn("age", None),), Target("y", classes=(0, 1)))
    with pytest.raises(SchemaInvalid, match=r"columns\.age\.bounds"):
        SchemaEncoder(blank).fit(frame)
    with pytest.raises(InvalidData, match="gain"):
        SchemaEncoder(SCHEMA).fit(frame.drop(columns="gain"))
    with pytest.raises(InvalidData, match="text: age"):
        SchemaEncoder(SCHEMA).fit(pl.DataFrame(FRAME).with_columns(age=pl.lit("50")))
    with pytest.raises(InvalidData, match="ndarray"):
        SchemaEncoder(SCHEMA).fit(np.zeros((2, 3)))
    with pytest.raises(NotFittedError):
        SchemaEncoder(SCHEMA).transform(frame)


class Unreadable(RawTable):
    """A table whose rows nobody may read."""

    names = ("age", "work", "gain")
    n_samples = 2
    kinds = dict.fromkeys(names, "unknown")
    source = "the test"

    def batches(self, names):
        raise AssertionError("a row was read")
        yield {}


def test_fitting_reads_no_row_and_a_fitted_transformer_is_pickled():
    frame = pd.DataFrame(FRAME)
    fitted = pickle.loads(pickle.dumps(SchemaEncoder(SCHEMA).fit(Unreadable())))  # noqa: S301 - our own bytes
    np.testing.assert_array_equal(fitted.transform(frame), SchemaEncoder(SCHEMA).fit_transform(frame))
    assert eq.SchemaEncoder is SchemaEncoder


def test_real_numbers_are_found_among_few_levels_as_each_by_itself(monkeypatch):
    levels = ("0", "1", "2.5", "-3", "1e16", "9007199254740993", "inf", "x")
    column = CategoryColumn("size", levels, unknown="x")
    encoder = Encoder(Schema(None, (column,), Target("ill", classes=(0, 1)), missing=("", "7")))
    values = np.array([0.0, -0.0, 1.0, 2.5, -3.0, 1e16, 2.0**53, np.inf, -np.inf, np.nan, 7.0, 8.0, 5e-324])
    found = encoder.read("size", values)
    assert found.tolist() == [encoder.read("size", objects([value]))[0] for value in values]
    monkeypatch.setattr("equipoise.data.readings.FEW_NUMBERS", 0)
    assert encoder.read("size", values).tolist() == found.tolist()
