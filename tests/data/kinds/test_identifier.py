"""Identifiers: declared, and no feature."""

import pyarrow as pa
import pytest

from equipoise.data.encoded import check_columns
from equipoise.data.frames import FrameTable
from equipoise.data.schema import NumberColumn, Schema, Target
from equipoise.data.schema.kinds.identifier import names_identifiers
from equipoise.errors import SchemaInvalid

TEXT = """
schema_version = 1
n = 2
[target]
name = "y"
classes = [0, 1]
[columns.patient]
kind = "identifier"
{}
[columns.age]
kind = "number"
bounds = [0, 100]
"""


def test_an_identifier_takes_part_in_nothing_and_is_known():
    schema = Schema.from_text(TEXT.format(""))
    assert schema.identifiers == ("patient",)
    assert schema.encoded_names() == ("age",)
    assert Schema.from_text(schema.to_toml()) == schema
    check_columns(schema, FrameTable(pa.table({"age": [1, 2], "y": [0, 1], "patient": ["a", "b"]})))
    check_columns(schema, FrameTable(pa.table({"age": [1, 2], "y": [0, 1]})))


def test_it_is_refused_as_a_feature_and_told_why():
    with pytest.raises(SchemaInvalid, match=r"columns.patient: .*since it is no feature.*\[person\]"):
        Schema.from_text(TEXT.format('levels = ["a", "b"]\nunknown = "a"'))


def test_a_schema_without_identifiers_is_written_as_ever():
    schema = Schema(2, (NumberColumn("age", (0, 1)),), Target("y", classes=(0, 1)), unused=("note",))
    assert schema.to_toml().endswith('[columns.note]\nkind = "unused"\n')
    assert Schema(2, schema.columns, schema.target, identifiers=("a",)).to_toml().endswith('kind = "identifier"\n')


def test_one_name_is_one_column():
    with pytest.raises(SchemaInvalid, match=r"columns\.age: each name once"):
        Schema(2, (NumberColumn("age", (0, 1)),), Target("y", classes=(0, 1)), identifiers=("age",))


YES = (
    "id ID Id patient_id PatientID patientId customerid user-id row.id uuid GUID ssn email E-Mail Name first_name IBAN"
)
NO = "age paid covid valid idea width identity_theft hours job_title town product_name status fluid ideal"


@pytest.mark.parametrize(
    ("name", "expected"), [*((name, True) for name in YES.split()), *((name, False) for name in NO.split())]
)
def test_names_tell_identifiers(name, expected):
    assert names_identifiers(name) is expected
