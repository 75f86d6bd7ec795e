"""Schemas as text: everything reads back as it was written, and nothing that can be read gives a traceback."""

from datetime import date, datetime, time

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from equipoise.data.schema import CategoryColumn, NumberColumn, Schema, Target
from equipoise.data.schema.text import number_of, place, text_of, written
from equipoise.errors import EquipoiseError, SchemaInvalid
from sample_schemas import EXAMPLE

names = st.text(min_size=1, max_size=12)
numbers = st.floats(allow_nan=False, allow_infinity=False)
stripped = st.text(max_size=8).map(str.strip)
levels = st.lists(stripped.filter(bool), min_size=1, max_size=5, unique=True).map(tuple)
bounds = st.none() | st.lists(numbers, min_size=2, max_size=2, unique=True).map(lambda ends: tuple(sorted(ends)))


@st.composite
def number_columns(draw):
    ends = draw(bounds)
    low, high = ends or (None, None)
    fill = draw(st.none() | st.floats(low, high, allow_nan=False, allow_infinity=False))
    return lambda name: NumberColumn(name, ends, fill, indicator=draw(st.booleans()))


@st.composite
def category_columns(draw):
    found = draw(levels)
    chosen = st.none() | st.sampled_from(found)
    unknown, fill = draw(chosen), draw(chosen)
    return lambda name: CategoryColumn(name, draw(st.sampled_from([found, ()])), unknown, fill)


label_sets = st.sampled_from([(), (False, True)]) | st.one_of(
    st.lists(stripped.filter(bool), min_size=2, max_size=4, unique=True),
    st.lists(
        st.integers(-(2**62), 2**62) | st.floats(-1e15, 1e15),
        min_size=2,
        max_size=4,
        unique_by=lambda label: text_of(label),
    ),
).map(tuple)


@st.composite
def schemas(draw):
    used = draw(st.lists(names, min_size=2, max_size=6, unique=True))
    split = draw(st.integers(2, len(used)))
    kinds = number_columns() | category_columns()
    if draw(st.booleans()):
        target = Target(draw(st.sampled_from(["", used[0]])), classes=draw(label_sets))
    else:
        target = Target(used[0], bounds=draw(bounds))
    return Schema(
        n_samples=draw(st.none() | st.integers(1, 10**15)),
        columns=tuple(draw(kinds)(name) for name in used[1:split]),
        target=target,
        unused=tuple(used[split:]),
        vouched_by=draw(st.text(max_size=8)),
        vouched_on=draw(st.just("") | st.dates().map(str)),
        missing=tuple(draw(st.lists(stripped, max_size=4, unique=True))),
        row_norm=draw(st.none() | st.floats(1e-100, 1e100)),
    )


@given(schemas())
def test_every_schema_reads_back_from_its_text(schema):
    text = schema.to_toml()
    read = Schema.from_text(text)
    assert read == schema
    assert read.to_toml() == text
    assert read.blanks() == schema.blanks()


@pytest.mark.parametrize(
    "name", ["hours.per week", 'a "quoted" name', "a\nb", "\t", "]", "größe", "'", "\\u0041", "\x7f\x01"]
)
def test_odd_names_read_back(name):
    schema = Schema(
        10, (NumberColumn(name, (0, 1)), CategoryColumn("c", ("a",), "a")), Target(name + "!", ()), (name + "?",)
    )
    assert Schema.from_text(schema.to_toml()) == schema


def read_or_refuse(read, content):
    """Read what may be anything: a schema comes back whole, or an error of ours."""
    try:
        schema = read(content)
    except EquipoiseError:
        return
    assert Schema.from_text(schema.to_toml()) == schema


@given(st.text(st.characters(), max_size=200))
def test_no_text_gives_a_traceback(text):
    read_or_refuse(Schema.from_text, text)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(max_size=200))
def test_no_bytes_give_a_traceback(content, tmp_path):
    path = tmp_path / "schema.toml"
    path.write_bytes(content)
    read_or_refuse(Schema.from_toml, path)


@given(st.data())
def test_no_damage_to_a_schema_gives_a_traceback(data):
    text = EXAMPLE
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        stop = data.draw(st.integers(start, min(len(text), start + 8)))
        text = text[:start] + data.draw(st.text(st.sampled_from("[]{}\"'=.,#\n-1e9naN_ "), max_size=5)) + text[stop:]
    read_or_refuse(Schema.from_text, text)


def as_toml(value) -> str:
    """Write any value that TOML knows."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{place(key)} = {as_toml(entry)}" for key, entry in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(as_toml, value))}]"
    return value.isoformat() if isinstance(value, date | time) else written(value)


KEYS = "schema_version n vouched_by vouched_on missing row_norm target columns name classes bounds kind levels unknown"
keys = st.sampled_from([*KEYS.split(), "fill", "indicator", "age"]) | st.text(max_size=3)
scalars = st.one_of(
    st.sampled_from(["number", "category", "unused", "", "a", 1]),
    st.text(max_size=3),
    st.integers(),
    st.integers(-(10**400), 10**400),
    st.floats(),
    st.booleans(),
    st.dates(),
    st.datetimes(min_value=datetime(1000, 1, 1)),
    st.times(),
)
anything = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4), max_leaves=8
)
column_tables = st.fixed_dictionaries(
    {"kind": st.sampled_from(["number", "category", "unused"]) | anything},
    optional=dict.fromkeys(("bounds", "levels", "unknown", "fill", "indicator"), anything),
)
documents = st.fixed_dictionaries(
    {"schema_version": st.just(1) | anything, "target": st.dictionaries(keys, anything, max_size=3) | anything},
    optional={
        "columns": st.dictionaries(keys, column_tables | anything, max_size=3) | anything,
        **dict.fromkeys(("n", "vouched_by", "vouched_on", "missing", "row_norm", "other"), anything),
    },
)


@given(documents)
def test_no_document_gives_a_traceback(document):
    text = "\n".join(f"{place(key)} = {as_toml(value)}" for key, value in document.items())
    read_or_refuse(Schema.from_text, text)


class Odd:
    """An object that refuses everything."""

    def __eq__(self, other):
        raise RuntimeError

    __hash__ = None

    def __str__(self):
        raise RuntimeError

    def __float__(self):
        raise RuntimeError


@pytest.mark.parametrize(
    "value", [Odd(), np.array([1, 2]), np.array([]), 10**5000, float("nan"), None], ids=["odd", *"abcde"]
)
def test_no_value_without_a_text_raises(value):
    assert text_of(value) is None


@pytest.mark.parametrize("value", [Odd(), 10**5000, "seven", None, 3j, [], object()], ids=["odd", "huge", *"abcde"])
def test_no_value_that_is_no_number_raises(value):
    assert np.isnan(number_of(value))


@pytest.mark.parametrize("read", [Schema.from_text, Schema.from_toml])
@pytest.mark.parametrize("content", [None, 3, b"n = 1", ["n = 1"]], ids=repr)
def test_what_is_neither_text_nor_a_path_is_refused(read, content):
    with pytest.raises(SchemaInvalid):
        read(content)
