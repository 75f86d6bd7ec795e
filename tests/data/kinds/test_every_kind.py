"""What every kind of column must hold to: bounded entries, each value by itself, none that raises, one text."""

import itertools
from dataclasses import fields

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

import equipoise as eq
from equipoise.data.diagnosis import check_table
from equipoise.data.encoded import encoded_table
from equipoise.data.encoder import Encoder
from equipoise.data.frames import FrameTable
from equipoise.data.schema import Schema, Target
from equipoise.data.schema.kinds import members
from equipoise.data.texts import Texts, padded
from equipoise.vocabulary.facts import Problem
from equipoise.vocabulary.losses import named
from equipoise.vocabulary.penalties.l2 import L2
from sample_kinds import COLUMNS, SCHEMA, TEXTS, VALUES, objects

NAMES = [column.name for column in COLUMNS]


def encoder_of(column) -> Encoder:
    return Encoder(Schema(None, (column,), Target("y", classes=("no", "yes")), missing=("", "NA", "-999")))


def texts_of(texts: list[str]) -> Texts:
    contents = [text.encode() for text in texts]
    ends = np.cumsum([len(content) for content in contents], dtype=np.int64)
    return Texts(padded(*contents), ends - [len(content) for content in contents], ends)


def test_every_kind_is_among_the_samples_with_all_its_keys_as_fields():
    assert {type(column) for column in COLUMNS} == set(members().values())
    for kind in members().values():
        assert ("name", *kind.keys) == tuple(field.name for field in fields(kind))


@pytest.mark.parametrize("column", COLUMNS, ids=NAMES)
def test_the_canonical_text_reads_back(column):
    schema = Schema(None, (column,), Target("y", classes=("no", "yes")))
    again = Schema.from_text(schema.to_toml())
    assert again.columns == (column,)
    assert again.digest == schema.digest


@pytest.mark.parametrize("column", COLUMNS, ids=NAMES)
def test_entries_are_bounded_and_every_value_is_encoded_by_itself(column):
    encoder = encoder_of(column)
    rows = encoder.encode({column.name: objects(VALUES)}, len(VALUES))
    assert rows.shape[1] == column.width == len(set(column.encoded_names())) == len(column.encoded_names())
    assert np.isfinite(rows).all()
    assert np.linalg.norm(rows, axis=1).max() <= 1 + 1e-15
    # Before it is divided by the longest that a row can be.
    raw = rows * np.sqrt(column.squared_length)
    assert np.abs(raw).max() <= 1 + 1e-15
    # Attained, but by a number whose fill is not one of its bounds.
    expected = 1.25 if column.name == "age" else column.squared_length
    assert (raw**2).sum(axis=1).max() == pytest.approx(expected)
    alone = [encoder.encode({column.name: objects([value])}, 1)[0] for value in VALUES]
    assert np.array_equal(rows, alone)
    assert len(np.unique(rows, axis=0)) > 1


@pytest.mark.parametrize("column", COLUMNS, ids=NAMES)
def test_texts_in_bytes_are_read_as_texts_in_objects(column):
    encoder = encoder_of(column)
    found, expected = encoder.read(column.name, texts_of(TEXTS)), encoder.read(column.name, objects(TEXTS))
    assert found.dtype == expected.dtype
    assert np.array_equal(found, expected, equal_nan=found.dtype.kind == "f")
    dictionary = pa.array([*TEXTS, None]).dictionary_encode()
    (batch,) = FrameTable(pa.table({"x": dictionary})).batches(["x"])
    found, expected = encoder.read(column.name, batch["x"]), encoder.read(column.name, objects([*TEXTS, None]))
    assert np.array_equal(found, expected, equal_nan=found.dtype.kind == "f")


@pytest.mark.parametrize("column", COLUMNS, ids=NAMES)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "bool"])
def test_numbers_of_a_type_are_read_as_each_by_itself(column, dtype):
    given = [0, 1, 2, 3, 20260102, -999, *([np.nan, np.inf, -np.inf, 2.5, 1e300] if dtype[0] == "f" else [])]
    with np.errstate(over="ignore"):
        values = np.array(given).astype(dtype)
    encoder = encoder_of(column)
    found = encoder.encode({column.name: values}, len(values))
    alone = [encoder.encode({column.name: objects([value])}, 1)[0] for value in values.tolist()]
    assert np.array_equal(found, alone)


def people(count: int) -> pa.Table:
    values = itertools.cycle(text for text in TEXTS if "\0" not in text)
    columns = {name: [next(values) for _ in range(count)] for name in NAMES}
    return pa.table(columns | {"ill": ["yes", "no"] * (count // 2), "note": ["-"] * count, "id": ["7"] * count})


def test_every_kind_gives_the_same_bits_in_memory_from_a_file_and_part_by_part(tmp_path):
    count = 200
    schema = Schema(count, COLUMNS, SCHEMA.target, ("note",), "A. Officer", "2026-11-16", identifiers=("id",))
    frame = people(count)
    # Types that do not fit are refused: the number without a unit comes as numbers, and is compared as such.
    frame = frame.set_column(0, "age", pa.array(np.arange(count) % 70 + 0.5))
    csv.write_csv(frame, tmp_path / "people.csv")
    parquet.write_table(frame, tmp_path / "people.parquet", row_group_size=60)
    expected = encoded_table(schema, FrameTable(frame), count).features.read()
    assert expected.shape == (count, len(schema.encoded_names()))
    problem = Problem(named("logistic"), L2(0.1), schema.domain)
    for name in ("people.csv", "people.parquet"):
        held = encoded_table(schema, eq.open_table(tmp_path / name), count)
        assert np.array_equal(held.features.read(), expected), name
        streamed = encoded_table(schema, eq.open_table(tmp_path / name, engine="stream"), count).features.parts
        pieces = streamed.pieces(problem, ("no", "yes"), None)

        def rows(batches, first, pieces=pieces):
            return np.concatenate([piece.block.copy() for piece in pieces.pieces(batches, first)])

        answers = [answer for _, answer in streamed.table.answers(rows, pieces.names, count)]
        assert np.array_equal(np.concatenate(answers)[:, : expected.shape[1]], expected), name


def test_every_kind_is_counted_for_the_owner():
    found = check_table(SCHEMA, FrameTable(people(6).set_column(0, "age", pa.array([1.0, 20, 30, None, 60, 61]))))
    counts = {entry.name: (entry.unreadable, entry.outside_bounds, entry.unknown_levels) for entry in found.columns}
    assert counts["age"] == (0, 2, None)
    assert {name for name, (unreadable, _, _) in counts.items() if unreadable is not None} == {
        "age", "weight", "dose", "income", "born", "seen"
    }  # fmt: skip
    assert {name for name, (_, _, unknown) in counts.items() if unknown is not None} == {
        "work", "town", "smoker", "insured", "school", "stage"
    }  # fmt: skip
    assert counts["street"] == (None, None, None)
