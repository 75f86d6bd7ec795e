"""Schemas of persons: their text, their tables in every format, and a release from a file to a folder."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import ipc, parquet

import equipoise as eq
from equipoise.data.diagnosis import check_table
from equipoise.data.encoded import encoded_table
from equipoise.data.files import open_table
from equipoise.data.frames import FrameTable
from equipoise.data.schema import Person, Schema
from equipoise.data.schema.draft import draft
from equipoise.errors import InvalidData, InvalidParameter, SchemaInvalid
from observing import differences, observed
from program import run_program

SCHEMA = """\
schema_version = 1
n = 60
vouched_by = "A. Officer"
vouched_on = 2026-11-16
missing = ["", "NA"]

[target]
name = "ill"
classes = ["no", "yes"]

[person]
column = "patient"
rows_at_most = 5

[columns.age]
kind = "number"
bounds = [0, 100]
"""
# Ids that no double can tell apart.
FIRST = 2**53


def frame(rows: int = 200, seed: int = 0) -> pd.DataFrame:
    coins = np.random.default_rng(seed)
    age = coins.integers(20, 90, rows)
    patient = FIRST + coins.integers(0, 55, rows)
    return pd.DataFrame({"age": age, "patient": patient, "ill": np.where(age > 50, "yes", "no")})


def test_the_text_reads_back_and_a_schema_without_persons_is_what_it_was():
    schema = Schema.from_text(SCHEMA)
    assert schema.person == Person("patient", 5)
    assert schema.to_toml() == SCHEMA
    assert schema.domain.rows_a_person == 5
    assert schema.blanks() == ()
    without = SCHEMA.replace('[person]\ncolumn = "patient"\nrows_at_most = 5\n\n', "")
    assert Schema.from_text(without).to_toml() == without
    assert Schema.from_text(without).domain == eq.Domain(1.0, classes=("no", "yes"))
    assert Schema.from_text(SCHEMA.replace("rows_at_most = 5\n", "")).person == Person("patient", 100)
    assert Schema.from_text(SCHEMA.replace('"patient"', '""')).blanks() == ("person.column",)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("rows_at_most = 5", "rows_at_most = 0", "person.rows_at_most"),
        ("rows_at_most = 5", 'rows_at_most = ""', "person.rows_at_most"),
        ("rows_at_most = 5", "rows_at_most = true", "person.rows_at_most"),
        ("rows_at_most = 5", "most_rows = 5", "no such key"),
        ('column = "patient"', "column = 3", "person.column"),
        ('column = "patient"', 'column = "age"', "each name once"),
        ('column = "patient"', 'column = "ill"', "each name once"),
        ('[person]\ncolumn = "patient"\nrows_at_most = 5\n\n[columns.age]', "person = 3\n[columns.age]", "no such key"),
    ],
)
def test_a_fault_is_named_with_its_place(old, new, words):
    assert old in SCHEMA
    with pytest.raises(SchemaInvalid, match=words):
        Schema.from_text(SCHEMA.replace(old, new))


def test_a_draft_says_how_to_name_the_column_of_ids():
    text = draft(FrameTable(frame()))
    assert "# [person]" in text
    assert Schema.from_text(text).person is None
    chosen = text.replace("# [person]\n", "[person]\n").replace('# column = ""\n', 'column = "patient"\n')
    table = chosen[chosen.index("[columns.patient]") : chosen.index("[columns.ill]")]
    assert Schema.from_text(chosen.replace(table, "")).person == Person("patient", 100)


@pytest.fixture
def files(tmp_path) -> dict[str, Path]:
    """The same rows in every format."""
    rows = frame()
    table = pa.Table.from_pandas(rows, preserve_index=False)
    found = {name: tmp_path / f"rows.{name}" for name in ("csv", "parquet", "arrow")}
    rows.to_csv(found["csv"], index=False)
    parquet.write_table(table, found["parquet"])
    with pa.OSFile(str(found["arrow"]), "wb") as sink, ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return found


def test_every_format_has_the_same_persons_with_all_digits_of_their_ids(files):
    schema, rows = Schema.from_text(SCHEMA), frame()
    expected = rows[rows.groupby("patient").cumcount() < 5]
    tables = [open_table(path) for path in files.values()]
    categories = rows.assign(patient=rows["patient"].astype("category"))
    texts = rows.assign(patient=rows["patient"].astype(str))
    frames = [rows, categories, texts, rows.assign(patient=rows["patient"].astype("Int64")), pa.Table.from_pandas(rows)]
    for raw in (*tables, *(FrameTable(each) for each in frames)):
        found = encoded_table(schema, raw, 60)
        assert found.features.shape == (60, 1)
        assert len(found.features.read()) == len(expected)
        assert found.persons.read().tolist() == pd.factorize(expected["patient"])[0].tolist()
        assert found.features.read()[:, 0] == pytest.approx(expected["age"] / 50 - 1)
        assert found.target.read().tolist() == expected["ill"].tolist()


def test_parts_of_a_folder_in_memory_keep_all_digits_and_persons_across_files(tmp_path):
    schema, rows = Schema.from_text(SCHEMA), frame()
    for number, part in enumerate((rows[:70], rows[70:])):
        parquet.write_table(pa.Table.from_pandas(part, preserve_index=False), tmp_path / f"{number}.parquet")
    found, whole = encoded_table(schema, eq.open_table(tmp_path), 60), encoded_table(schema, FrameTable(rows), 60)
    assert found.persons.read().tolist() == whole.persons.read().tolist()
    assert found.features.read().tolist() == whole.features.read().tolist()


def test_persons_of_a_table_that_is_never_held_are_those_of_the_memory(files):
    schema = Schema.from_text(SCHEMA)
    for path in files.values():
        held, streamed = (
            eq.LogisticRegression(1.0, domain=schema, random_state=0).fit(eq.open_table(path, engine=engine))
            for engine in ("memory", "stream")
        )
        assert streamed.coef_ == pytest.approx(held.coef_, rel=1e-9)


def test_a_table_without_the_column_is_refused_and_one_with_any_number_of_rows_is_not():
    schema = Schema.from_text(SCHEMA)
    with pytest.raises(InvalidData, match="patient"):
        encoded_table(schema, FrameTable(frame().drop(columns="patient")), 60)
    for rows in (0, 1, 1000):
        encoded_table(schema, FrameTable(frame(rows)), 60).features.read()
    with pytest.raises(InvalidParameter, match="person"):
        eq.LogisticRegression(domain=schema).fit(frame(), groups=frame()["patient"])


def test_a_check_counts_persons_for_the_owner():
    rows = frame()
    rows.loc[:2, "patient"] = 0
    rows["patient"] = rows["patient"].astype(str).replace("0", "NA")
    found = check_table(Schema.from_text(SCHEMA), FrameTable(rows)).persons
    known = rows[rows["patient"] != "NA"]
    assert found.persons == known["patient"].nunique()
    assert found.rows_without_id == 3
    assert found.persons_with_more == int((known.groupby("patient").size() > 5).sum())
    assert check_table(Schema.from_text(SCHEMA), FrameTable(rows)).to_plain()["persons"]["declared_persons"] == 60
    few = Schema.from_text(SCHEMA.replace("n = 60", "n = 10"))
    assert "left out: correct n" in str(check_table(few, FrameTable(rows)))


@pytest.mark.usefixtures("plain_page")
@pytest.mark.parametrize("kind", ["csv", "parquet", "arrow"])
def test_a_release_on_persons_goes_from_a_file_to_a_folder_that_verifies(files, kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("schema.toml").write_text(SCHEMA)
    trained = run_program("train", files[kind], "--schema", "schema.toml", "--epsilon", 5, "--out", "release")
    assert trained.returncode == 0
    assert "for each of 60 persons, replace-one-person" in trained.stdout
    verified = run_program("verify", "release")
    assert verified.returncode == 0
    assert "replace-one-person" in verified.stdout
    model = eq.load("release")
    assert model.certificate_.n_samples == 60
    assert model.certificate_.adjacency == "replace-one-person"
    # Predictions need no id.
    assert len(model.predict(frame()[["age"]])) == 200


def test_tables_that_differ_in_one_person_look_alike():
    schema = Schema.from_text(SCHEMA)
    rows = frame()
    one = rows["patient"] == rows["patient"].iloc[0]
    others = {
        "nobody": rows[~one],
        "unreadable": rows.assign(age=rows["age"].astype(object).where(~one, "old"), ill=rows["ill"].where(~one, None)),
        "another": rows.assign(patient=rows["patient"].where(~one, 7)),
        "many rows": pd.concat([rows, *[rows[one]] * 50]),
        "no ids": rows.assign(patient=rows["patient"].astype("Int64").where(~one, pd.NA)),
    }

    def seen(table: pd.DataFrame) -> object:
        # One type a column, whatever its values: types decide.
        settled = table.assign(
            age=table["age"].astype(object), patient=table["patient"].astype("Int64"), ill=table["ill"].astype(object)
        )
        model = eq.LogisticRegression(1.0, 1e-4, schema, random_state=0)
        return observed(lambda: model.fit(settled))

    for neighbour in others.values():
        assert not differences(seen(rows), seen(neighbour))
