"""The encoder: every row by itself, of norm at most 1, and no value raises; and its scikit-learn face."""

import math
import pickle
from dataclasses import replace
from datetime import date
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import equipoise as eq
from equipoise.errors import DomainMissing, InvalidData, InvalidParameter, SchemaInvalid
from equipoise.learn.encoder import Encoder
from equipoise.learn.raw import RawTable
from equipoise.learn.schema import CategoryColumn, NumberColumn, Schema, Target

AGE = NumberColumn("age", (20, 60), fill=30, indicator=True)
HEIGHT = NumberColumn("height", (100, 200))
JOB = CategoryColumn("job", ("none", "nurse", "3", "2.5", "true", "?"), unknown="none", fill="nurse")
SCHEMA = Schema(
    None, (AGE, HEIGHT, JOB), Target("ill", classes=("no", "yes")), missing=("", "NA", "?", "-999"), row_norm=2.0
)
ENCODER = Encoder(SCHEMA)
DOSES = Encoder(replace(SCHEMA, target=Target("dose", bounds=(0, 400))))


def objects(*values: object) -> np.ndarray:
    array = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):
        array[place] = value
    return array


def encoded(value: object, column: NumberColumn | CategoryColumn) -> list[float]:
    """Return what one value becomes in a schema of one column, before rows are scaled."""
    encoder = Encoder(replace(SCHEMA, columns=(column,), row_norm=10.0))
    return (10.0 * encoder.encode({column.name: objects(value)}, 1)[0]).tolist()


class Odd:
    """An object that refuses everything."""

    def __eq__(self, other):
        raise RuntimeError

    __hash__ = None
    __str__ = __float__ = __bool__ = __len__ = __eq__


class Number(float):
    def __float__(self):
        raise OverflowError


ODD = [
    Odd(),
    Number(3),
    object(),
    [],
    (1,),
    {},
    np.array([1.0, 2.0]),
    np.array([3]),
    3j,
    b"nurse",
    b"\xff",
    pd.NA,
    pd.NaT,
]
PLAIN = [
    "nurse",
    " nurse ",
    "3",
    "3.0",
    "2.5",
    "true",
    "True",
    "?",
    "",
    "NA",
    "-999",
    "-999.0",
    "1e400",
    "nan",
    "1_0",
    "x",
]
values = st.one_of(
    st.sampled_from(
        [*ODD, *PLAIN, np.int8(3), np.float32(2.5), np.str_("nurse"), np.datetime64("2026-01-01"), 10**5000]
    ),
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.floats(0, 300),
    st.text(max_size=5),
    st.decimals(),
    st.fractions(),
    st.dates(),
    st.complex_numbers(),
)
rows = st.lists(st.tuples(values, values, values), max_size=8)


def columns_of(batch: list[tuple]) -> dict[str, np.ndarray]:
    return {name: objects(*(row[place] for row in batch)) for place, name in enumerate(("age", "height", "job"))}


@given(rows)
def test_a_row_of_any_values_is_encoded_as_if_it_were_alone(batch):
    together = ENCODER.encode(columns_of(batch), len(batch))
    assert together.dtype == np.float64
    assert together.shape == (len(batch), ENCODER.width)
    assert np.isfinite(together).all()
    alone = [ENCODER.encode(columns_of([row]), 1)[0] for row in batch]
    assert together.tolist() == [row.tolist() for row in alone]


@given(st.lists(values, max_size=8), st.sampled_from([ENCODER, DOSES]))
def test_a_target_of_any_values_is_encoded_as_if_it_were_alone(targets, encoder):
    together = encoder.encode_target(objects(*targets)).tolist()
    assert together == [encoder.encode_target(objects(value))[0] for value in targets]
    assert all(found in ("no", "yes") if encoder is ENCODER else -1 <= found <= 1 for found in together)


@pytest.mark.parametrize("kind", ["f8", "f4", "i8", "i1", "u2", "?"])
def test_arrays_of_numbers_are_encoded_like_their_values_one_by_one(kind):
    drawn = np.random.default_rng(0).choice([0, 1, 3, 25, 61, 127], (3, 1000)).astype(kind)
    if kind.startswith("f"):
        drawn[:, :5] = np.array([np.nan, np.inf, -np.inf, -0.0, 2.5])
    columns = dict(zip(("age", "height", "job"), drawn, strict=True))
    together = ENCODER.encode(columns, 1000)
    alone = {name: objects(*array.tolist()) for name, array in columns.items()}
    assert np.array_equal(together, ENCODER.encode(alone, 1000))
    for place in range(50):
        assert np.array_equal(
            together[[place]], ENCODER.encode({name: array[[place]] for name, array in columns.items()}, 1)
        )


finite = st.floats(allow_nan=False, allow_infinity=False)
bounds = st.lists(finite, min_size=2, max_size=2, unique=True).map(lambda ends: tuple(sorted(ends)))


@st.composite
def encoders(draw):
    """Draw an encoder of some number and category columns, with any bounds and any row norm."""
    columns = []
    for place in range(draw(st.integers(1, 6))):
        if draw(st.booleans()):
            low, high = draw(bounds)
            fill = draw(st.none() | st.floats(low, high))
            columns.append(NumberColumn(f"c{place}", (low, high), fill, indicator=draw(st.booleans())))
        else:
            columns.append(CategoryColumn(f"c{place}", ("a", "b", "c")[: draw(st.integers(1, 3))], unknown="a"))
    row_norm = draw(st.none() | st.floats(1e-100, 1e100) | st.floats(0.5, 3))
    return Encoder(Schema(None, tuple(columns), Target("y", bounds=draw(bounds)), row_norm=row_norm))


@given(encoders(), st.data())
def test_no_row_is_longer_than_1(encoder, data):
    names = [column.name for column in encoder.schema.columns]
    batch = {name: objects(*data.draw(st.lists(values, min_size=3, max_size=3))) for name in names}
    found = encoder.encode(batch, 3)
    assert found.shape == (3, encoder.schema.n_features) == (3, len(encoder.names))
    # Exact sums, so that the test's own rounding does not decide.
    assert all(math.sqrt(math.fsum(entry * entry for entry in row)) <= 1 + 1e-12 for row in found)


def test_the_natural_norm_is_attained_and_so_clips_nothing():
    encoder = Encoder(replace(SCHEMA, row_norm=None))
    natural = encoder.encode({"age": objects(None), "height": objects(200), "job": objects("?")}, 1)[0]
    filled = -0.5  # an age of 30 between 20 and 60
    assert natural * math.sqrt(4) == pytest.approx([filled, 1, 1, 0, 0, 0, 0, 0, 1])
    fixed = Encoder(replace(SCHEMA, columns=(HEIGHT, JOB), row_norm=None))
    assert np.linalg.norm(fixed.encode({"height": objects(900), "job": objects("?")}, 1)) == pytest.approx(1, abs=1e-15)


def test_a_smaller_norm_clips_long_rows_and_leaves_short_ones():
    encoder = Encoder(replace(SCHEMA, columns=(NumberColumn("a", (-1, 1)), NumberColumn("b", (-1, 1))), row_norm=0.5))
    found = encoder.encode({"a": np.array([0.3, 0.1, 0.0]), "b": np.array([0.4, 0.0, 1.0])}, 3)
    assert found == pytest.approx(np.array([[0.6, 0.8], [0.2, 0.0], [0.0, 1.0]]))


def test_encoded_columns_are_named():
    jobs = ("job=none", "job=nurse", "job=3", "job=2.5", "job=true", "job=?")
    assert ENCODER.names == ("age", "age missing", "height", *jobs)
    assert ENCODER.width == SCHEMA.n_features == 9


NUMBERS = {
    "inside": (40, 0.0, 0),
    "below": (19, -1.0, 0),
    "above": (1e300, 1.0, 0),
    "text": (" 50 ", 0.5, 0),
    "true": (True, -1.0, 0),
    "a fraction": (Fraction(50), 0.5, 0),
    "empty": ("", -0.5, 1),
    "missing": (None, -0.5, 1),
    "a missing text": ("NA", -0.5, 1),
    "a missing number": (-999, -0.5, 1),
    "a missing number as text": ("-999.0", -0.5, 1),
    "no number": ("12 kg", -0.5, 1),
    "a decimal comma": ("3,5", -0.5, 1),
    "infinite": (math.inf, -0.5, 1),
    "infinite text": ("-inf", -0.5, 1),
    "not a number": (math.nan, -0.5, 1),
    "a day": (date(2026, 1, 1), -0.5, 1),
    "pandas' nothing": (pd.NA, -0.5, 1),
    "a refusal": (Odd(), -0.5, 1),
}


@pytest.mark.parametrize("case", NUMBERS)
def test_a_number_is_clipped_scaled_and_filled(case):
    value, scaled, indicator = NUMBERS[case]
    assert encoded(value, AGE) == pytest.approx([scaled, indicator])


def test_without_a_fill_a_missing_number_is_the_midpoint():
    assert encoded(None, HEIGHT) == [0.0] == encoded(150, HEIGHT)


LEVELS = {
    "a level": ("nurse", "nurse"),
    "blanks around it": ("\tnurse ", "nurse"),
    "other letters": ("Nurse", "none"),
    "unknown": ("pilot", "none"),
    "missing": (None, "nurse"),
    "not a number": (math.nan, "nurse"),
    "a missing text": ("NA", "nurse"),
    "a missing number": (-999.0, "nurse"),
    "a missing text that is a level": ("?", "?"),
    "a whole number": (3, "3"),
    "a float without fraction": (3.0, "3"),
    "a float as text": ("3.0", "none"),
    "a fraction": (2.5, "2.5"),
    "a truth value": (True, "true"),
    "one is not true": (1, "none"),
    "True is not true": ("True", "none"),
    "bytes": (b"nurse", "nurse"),
    "NumPy's text": (np.str_("nurse"), "nurse"),
    "a refusal": (Odd(), "nurse"),
}


@pytest.mark.parametrize("case", LEVELS)
def test_a_level_is_found_by_its_text(case):
    value, level = LEVELS[case]
    assert encoded(value, JOB) == [float(level == other) for other in JOB.levels]


def test_without_a_fill_a_missing_level_is_the_unknown_one():
    assert encoded(None, replace(JOB, fill=None)) == [1.0, 0, 0, 0, 0, 0]


@given(st.floats(0, 1e3) | finite)
def test_a_number_and_its_text_are_encoded_alike(number):
    forms = [number, repr(number), f" {number!r}\n", np.float64(number), Decimal(repr(number))]
    assert all(encoded(form, AGE) == encoded(number, AGE) for form in forms)


@given(st.floats(-(2.0**62), 2.0**62))
def test_a_number_is_found_among_levels_by_its_text(number):
    levels = CategoryColumn("c", ("other", number), unknown="other")
    forms = [number, np.float64(number), levels.levels[1], f"{levels.levels[1]} "]
    assert all(encoded(form, levels) == [0.0, 1.0] for form in forms)


@given(st.integers(-(2**53), 2**53))
def test_a_whole_number_is_encoded_alike_in_every_form(number):
    forms = [number, float(number), str(number), f" {number} ", np.int64(number), Decimal(number), Fraction(number)]
    levels = CategoryColumn("c", ("other", number), unknown="other")
    assert all(encoded(form, AGE) == encoded(number, AGE) for form in forms)
    assert all(encoded(form, levels) == [0.0, 1.0] for form in forms)


@pytest.mark.parametrize(
    ("classes", "forms"),
    [
        ((1, 0), [0, 0.0, "0", "0 ", np.int8(0), Decimal(0)]),
        ((True, False), [False, "false", np.bool_(False)]),
        (("1", "0"), [0, 0.0, "0", " 0"]),
        ((1.5, 2.5), [2.5, "2.5", np.float32(2.5)]),
    ],
    ids=["numbers", "truth values", "texts", "fractions"],
)
def test_classes_keep_their_type_and_are_found_by_their_text(classes, forms):
    encoder = Encoder(replace(SCHEMA, target=Target("y", classes=classes)))
    found = encoder.encode_target(objects(*forms)).tolist()
    assert found == [classes[1]] * len(forms)
    assert {type(label) for label in found} == {type(classes[1])}
    others = encoder.encode_target(objects("x", None, math.nan, "", "?", Odd(), "False")).tolist()
    assert others == [classes[0]] * 7


@given(bounds, st.lists(st.floats(0, 1), max_size=5))
def test_decoding_inverts_the_encoding_of_a_target(ends, shares):
    low, high = ends
    targets = np.clip([low * (1 - share) + high * share for share in shares], low, high)
    encoder = Encoder(replace(SCHEMA, target=Target("y", bounds=ends)))
    scores = encoder.encode_target(targets)
    assert (np.abs(scores) <= 1).all()
    largest = max(abs(low), abs(high))
    # Numbers near the end of the range round on the way; the smallest that floats can show are steps of 5e-324.
    assert np.abs(encoder.decode_target(scores) / 2 - targets / 2).max(initial=0.0) <= 1e-15 * largest + 1e-322


@given(bounds, st.lists(st.floats(allow_nan=False), max_size=5))
def test_decoded_scores_stay_inside_the_bounds(ends, scores):
    found = Encoder(replace(SCHEMA, target=Target("y", bounds=ends))).decode_target(np.array(scores))
    assert ((ends[0] <= found) & (found <= ends[1])).all()


def test_a_missing_target_is_the_midpoint_and_a_far_one_the_nearer_end():
    assert DOSES.encode_target(objects(None, "x", 1e9, -5, "300")).tolist() == [0.0, 0.0, 1.0, -1.0, 0.5]


def test_scores_of_classes_are_not_decoded():
    with pytest.raises(InvalidParameter, match="regression"):
        ENCODER.decode_target(np.zeros(2))


BLANKS = {
    "columns.age.bounds": {"columns": (NumberColumn("age", None),)},
    "columns.job.levels": {"columns": (CategoryColumn("job", (), None),)},
    "target.classes": {"target": Target("ill", classes=())},
    "target.bounds": {"target": Target("dose", bounds=None)},
}


@pytest.mark.parametrize("place", BLANKS)
def test_an_encoder_needs_a_complete_schema_also_where_bounds_will_be_paid_for(place):
    schema = replace(SCHEMA, **BLANKS[place])
    with pytest.raises(SchemaInvalid, match=place.replace(".", r"\.")):
        Encoder(schema)
    if schema.unbounded:
        with pytest.raises(SchemaInvalid, match=place.replace(".", r"\.")):
            Encoder(schema.with_private_bounds(0.1))


def test_columns_of_another_name_or_length_are_refused():
    columns = {"age": np.zeros(2), "height": np.zeros(2)}
    with pytest.raises(InvalidData, match="'job'"):
        ENCODER.encode(columns, 2)
    with pytest.raises(InvalidData, match="'job' of 2 values"):
        ENCODER.encode({**columns, "job": np.zeros(3)}, 2)


# The transformer.


class Unreadable(RawTable):
    """A table whose rows nobody may read."""

    names = ("age", "height", "job")
    n_samples = 4
    kinds = dict.fromkeys(names, "unknown")
    source = "the test"

    def batches(self, names):
        raise AssertionError("a row was read")
        yield {}


@pytest.fixture
def frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "job": ["nurse", "pilot", None, "none"] * 10,
            "age": [25.0, np.nan, 99.0, 40.0] * 10,
            "height": [150, 180, 170, 90] * 10,
            "note": ["a", "b", "c", "d"] * 10,
        }
    )


def test_the_transformer_gives_what_the_encoder_gives_for_every_kind_of_frame(frame):
    columns = {name: objects(*frame[name]) for name in ("age", "height", "job")}
    expected = ENCODER.encode(columns, len(frame))
    for table in (frame, pl.from_pandas(frame), pyarrow.Table.from_pandas(frame)):
        found = eq.SchemaEncoder(SCHEMA).fit(table).transform(table)
        assert found.dtype == np.float64
        assert np.array_equal(found, expected)


def test_a_frame_without_rows_gives_none(frame):
    for table in (frame[:0], pyarrow.Table.from_pandas(frame[:0])):
        assert eq.SchemaEncoder(SCHEMA).fit(frame).transform(table).shape == (0, ENCODER.width)


def test_fitting_reads_no_row_and_learns_nothing(frame):
    fitted = eq.SchemaEncoder(SCHEMA).fit(Unreadable())
    assert vars(fitted).keys() == {"schema", "feature_names_in_", "n_features_in_"}
    assert fitted.feature_names_in_.tolist() == ["age", "height", "job"]
    assert np.array_equal(fitted.transform(frame), eq.SchemaEncoder(SCHEMA).fit(frame[:1]).transform(frame))


def test_the_transformer_names_its_columns_also_in_a_frame(frame):
    transformer = eq.SchemaEncoder(SCHEMA)
    assert tuple(transformer.get_feature_names_out()) == ENCODER.names
    found = transformer.set_output(transform="pandas").fit_transform(frame)
    assert tuple(found.columns) == ENCODER.names


def test_the_transformer_is_cloned_pickled_and_set(frame):
    transformer = eq.SchemaEncoder(schema=SCHEMA)
    assert transformer.get_params() == {"schema": SCHEMA}
    assert clone(transformer).schema == SCHEMA
    fitted = pickle.loads(pickle.dumps(transformer.fit(frame)))  # noqa: S301 - our own bytes
    assert np.array_equal(fitted.transform(frame), transformer.transform(frame))
    assert eq.SchemaEncoder().set_params(schema=SCHEMA).fit(frame).n_features_in_ == 3


def test_the_transformer_is_a_step_of_a_pipeline(frame):
    target = np.where(frame["job"] == "nurse", "yes", "no")
    model = clone(make_pipeline(eq.SchemaEncoder(SCHEMA), LogisticRegression(C=100.0))).fit(frame, target)
    assert model.predict(frame).tolist() == target.tolist()
    assert tuple(model[:-1].get_feature_names_out()) == ENCODER.names
    private = make_pipeline(eq.SchemaEncoder(SCHEMA), eq.LogisticRegression(epsilon=1.0, domain=SCHEMA.domain))
    assert private.fit(frame, target)[-1].certificate_.n_features == ENCODER.width
    assert set(private.predict(frame)) <= {"no", "yes"}


REFUSED = {
    "no schema": (None, DomainMissing),
    "a path": ("schema.toml", InvalidParameter),
    "a domain": (eq.Domain(row_norm=1.0, classes=(0, 1)), InvalidParameter),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_schema_is_refused_with_the_line_to_write(case, frame):
    schema, error = REFUSED[case]
    with pytest.raises(error, match="SchemaEncoder"):
        eq.SchemaEncoder(schema).fit(frame)
    with pytest.raises(error) as caught:
        eq.SchemaEncoder(schema).get_feature_names_out()
    assert 'write SchemaEncoder(schema=Schema.from_toml("schema.toml"))' in caught.value.remedy


def test_a_schema_with_blanks_is_refused_with_all_of_them(frame):
    blank = replace(SCHEMA, columns=(NumberColumn("age", None), HEIGHT, CategoryColumn("job", (), None)))
    with pytest.raises(SchemaInvalid, match=r"columns\.age\.bounds, columns\.job\.levels, columns\.job\.unknown"):
        eq.SchemaEncoder(blank).fit(frame)


def test_frames_that_do_not_fit_the_schema_are_refused(frame):
    with pytest.raises(InvalidData, match="no column age, height"):
        eq.SchemaEncoder(SCHEMA).fit(frame[["job"]])
    fitted = eq.SchemaEncoder(SCHEMA).fit(frame)
    with pytest.raises(InvalidData, match="no column job"):
        fitted.transform(frame[["age", "height"]])
    with pytest.raises(InvalidData, match="columns of text: age"):
        fitted.transform(pl.from_pandas(frame).with_columns(age=pl.lit("old")))
    with pytest.raises(InvalidData, match="data frame"):
        fitted.transform(frame.to_numpy())


def test_a_transformer_that_was_not_fitted_says_so(frame):
    with pytest.raises(NotFittedError):
        eq.SchemaEncoder(SCHEMA).transform(frame)
