"""Exported models predict what the released ones do: in onnxruntime, SQLite and PostgreSQL, from raw rows."""

import csv
import io
import math
import re
import sqlite3
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import equipoise as eq
from equipoise.artifact.column_rules import ways_to_write
from equipoise.artifact.exported import exported
from equipoise.artifact.exports import members
from equipoise.data.joined import raw_table
from equipoise.data.schema import (
    CategoryColumn,
    CurveColumn,
    DateColumn,
    HashedColumn,
    NumberColumn,
    Schema,
    YesNoColumn,
)
from equipoise.data.schema.kinds.date import PARTS
from equipoise.data.schema.text import number_of
from equipoise.errors import InvalidParameter
from equipoise.estimators.scoring import encoded_products, within_range
from exported_models import (
    DATES,
    MODELS,
    NUMBERS,
    TARGETS,
    TEXTS,
    agree,
    expected,
    in_database,
    in_sqlite,
    raw_rows,
    release,
    types_of,
)
from program import run_program

pytest_plugins = ["postgres_server"]
pytestmark = pytest.mark.usefixtures("plain_page")


PAGE = Path(__file__).parents[2] / "docs" / "export.md"


CASES = (
    *MODELS,
    "two, clipped",
    "three, clipped",
    "number, clipped",
    "reduced two, clipped",
    "reduced number, clipped",
)


@pytest.fixture(scope="module")
def releases(tmp_path_factory):
    """Return what gives a model, its export, and rows to predict, for a case; with dates or without."""

    @cache
    def made(case: str, dates: bool):
        kind, *clipped = case.split(", ")
        columns = (*NUMBERS, *TEXTS, *(DATES if dates else ()))
        folder = tmp_path_factory.mktemp("releases") / "release"
        model = release(folder, kind, columns, 1.5 if clipped else None)
        rows = raw_rows(1, model.schema_.columns)
        return exported(folder), rows, expected(model, rows)

    return made


@pytest.mark.parametrize("case", CASES)
def test_sqlite_predicts_what_the_release_does(case, releases):
    found, rows, wanted = releases(case, dates=True)
    agree(in_sqlite(members()["sql"]().written(found).decode(), rows), wanted)


@pytest.mark.parametrize("case", CASES)
def test_postgresql_predicts_what_the_release_does(case, releases, postgres):
    found, rows, wanted = releases(case, dates=True)
    text = members()["sql"]().written(found).decode()
    with postgres.connect(postgres.new_database()) as connection:
        agree(in_database(connection, "%s", text, rows, types_of(rows)), wanted)


@pytest.mark.parametrize("case", CASES)
def test_onnxruntime_predicts_what_the_release_does(case, releases):
    pytest.importorskip("onnxruntime")
    found, rows, wanted = releases(case, dates=False)
    agree(in_onnxruntime(members()["onnx"]().written(found), rows), wanted)


def in_onnxruntime(model: bytes, rows: pd.DataFrame) -> list[np.ndarray]:
    """Return predictions, and the probabilities of each class."""
    given = {}
    for name in rows:
        values = rows[name].tolist()
        if rows[name].dtype == object:
            # A text that is missing is one that counts so, and there are no blanks around the others.
            values = np.array(["NA" if value is None else value.strip() for value in values], dtype=object)
        given[name] = np.array(values).reshape(-1, 1)
    prediction, *probabilities = pytest.importorskip("onnxruntime").InferenceSession(model).run(None, given)
    return [prediction, *(probabilities[0].T if probabilities else ())]


@pytest.mark.parametrize("to", ["sql", "onnx"])
def test_in_few_directions_a_bounded_sum_of_entries_counts_too(to, releases):
    found, rows, before = releases("reduced number, clipped", dates=False)
    facts = replace(found.facts, domain=replace(found.facts.domain, row_sum=0.1))
    table = raw_table(rows)
    scores = encoded_products(found.schema, table, found.weights.T)
    facts.shortened(scores, lambda columns: encoded_products(found.schema, table, columns))
    wanted = within_range(scores + found.intercepts, facts.domain, found.schema)
    assert np.abs(wanted - before[0]).max() > 1
    if to == "onnx":
        pytest.importorskip("onnx")
    written = members()[to]().written(replace(found, facts=facts))
    agree(in_sqlite(written.decode(), rows) if to == "sql" else in_onnxruntime(written, rows), [wanted])


def test_typed_columns_of_postgresql_are_read_as_they_are(tmp_path, postgres):
    columns = (
        NumberColumn("age", (20, 60), indicator=True),
        NumberColumn("smokes", (0, 1), indicator=True),
        CategoryColumn("rooms", ("1", "2"), other=True),
        YesNoColumn("insured"),
        DateColumn("born", parts=PARTS, years=(1900, 2030), ages=(0, 110), reference="2026-01-01", indicator=True),
        DateColumn("visit", parts=("hour", "weekday"), indicator=True),
    )
    target = TARGETS["number"]
    schema = Schema(4, columns, target, (), "A. Officer", "2026-11-18")
    rows = pd.DataFrame(
        {
            "age": [31.5, np.inf, np.nan, 40.0],
            "smokes": pd.array([True, False, None, True], dtype="boolean"),
            "rooms": pd.array([1, 2, None, 3], dtype="Int64"),
            "insured": pd.array([True, False, None, True], dtype="boolean"),
            "born": pd.to_datetime(["1950-02-28", "2000-12-31", None, "1969-07-20"]),
            "visit": pd.to_datetime(["2024-02-29 23:30:10", "2020-01-01", None, "2020-01-01 12:00"], format="ISO8601"),
        }
    )
    model = eq.Ridge(epsilon=20.0, domain=schema, random_state=1).fit(rows.assign(ill=[1.0, 100.0, 50.0, 3.0]))
    eq.save(model, tmp_path / "release")
    text = members()["sql"]().written(exported(tmp_path / "release")).decode()
    given = """
        ('31.5'::numeric, true, 1, true, '1950-02-28'::date, '2024-02-29 23:30:10'::timestamp),
        ('Infinity', false, 2, false, '2000-12-31', '2020-01-01'), (NULL, NULL, NULL, NULL, NULL, NULL),
        (40, true, 3, true, '1969-07-20', '2020-01-01 12:00')
    """
    with postgres.connect(postgres.new_database()) as connection:
        sql = f"SELECT {text} FROM (VALUES {given}) AS people (age, smokes, rooms, insured, born, visit)"  # noqa: S608
        found = connection.execute(sql).fetchall()
    assert len(set(found)) == 4
    agree(list(zip(*found, strict=True)), expected(model, rows))


def test_text_in_a_column_of_numbers_of_sqlite_is_missing_and_a_collation_does_not_count(tmp_path):
    columns = (NumberColumn("age", (20, 60), indicator=True), CategoryColumn("name", ("Ann", "Bob"), other=True))
    model = release_of(tmp_path / "release", columns)
    rows = pd.DataFrame({"age": [np.nan, np.nan, 31.0, np.nan], "name": ["ann", "Ann", "Bob", "BOB "]})
    text = members()["sql"]().written(exported(tmp_path / "release")).decode()
    with sqlite3.connect(":memory:") as connection:
        connection.execute("CREATE TABLE people (age REAL, name TEXT COLLATE NOCASE)")
        given = zip(["NA", "thirty", "31", "e"], rows["name"], strict=True)
        connection.executemany("INSERT INTO people VALUES (?, ?)", given)
        found = connection.execute(f"SELECT {text} FROM people").fetchall()  # noqa: S608
    agree(list(zip(*found, strict=True)), expected(model, rows))


# Texts that some reader of numbers takes and another does not; what each is by the one rule, None for missing.
NUMERALS = {
    "7": 7.0, " 7 ": 7.0, "\t7\u00a0": 7.0, "+7": 7.0, "-7": -7.0, "007": 7.0, ".5": 0.5, "7.": 7.0, "-.5": -0.5,
    "1e1": 10.0, "1E+1": 10.0, "100e-01": 10.0, "7.e0": 7.0, "1e0001": 10.0, "0e99999": 0.0, "-0": 0.0,
    "12345678901234567890": 1e19, "1e308": 1e308, "1e-400": 0.0, "1e-99999": 0.0, "4e-324": 0.0,
    "1e400": None, "-1e400": None, "1e99999": None, "inf": None, "Infinity": None, "-infinity": None, "nan": None,
    "NaN": None, "1_0": None, "1_000": None, "0x10": None, "0b1": None, "\uff17": None, "\u0667": None, "1,5": None,
    "1.000,5": None, "1'000": None, "7 7": None, "1-2": None, "2020-01-02": None, "1.2.3": None, "e5": None, "1e": None,
    "1e+": None, "1e1.5": None, "--7": None, "+-7": None, "+": None, ".": None, "+.": None, "": None, "seven": None,
    "7 kg": None, "7f": None, "1d1": None, "\u00b2": None, "\u2212\u0037": None, "1/2": None, "50%": None, "-9": None,
}  # fmt: skip


@pytest.fixture(scope="module")
def numerals(tmp_path_factory):
    """Return a model's folder, its rows as texts, and what it predicts for the numbers that these are."""
    folder = tmp_path_factory.mktemp("numerals") / "release"
    model = release_of(folder, (NumberColumn("age", (-8, 20), fill=3, indicator=True),), missing=("", "-9"))
    numbers = pd.DataFrame({"age": [np.nan if number is None else number for number in NUMERALS.values()]})
    return folder, pd.DataFrame({"age": pd.Series(list(NUMERALS), dtype=object)}), expected(model, numbers)


def test_a_text_is_one_number_in_frames_files_and_programs(numerals, tmp_path):
    folder, rows, wanted = numerals
    model = eq.load(folder)
    agree(expected(model, rows), wanted)
    # Another column keeps an empty text from being an empty line.
    rows.assign(mark="x").to_csv(tmp_path / "rows.csv", index=False)
    agree(expected(model, eq.open_table(tmp_path / "rows.csv")), wanted)
    read = pd.DataFrame({"age": [number_of(text) for text in rows["age"]]})
    agree(in_onnxruntime(members()["onnx"]().written(exported(folder)), read), wanted)


@pytest.mark.parametrize("declared", ["TEXT", "REAL", "NUMERIC", ""])
def test_a_text_is_the_same_number_in_sqlite(numerals, declared):
    folder, rows, wanted = numerals
    text = members()["sql"]().written(exported(folder)).decode()
    with sqlite3.connect(":memory:") as connection:
        agree(in_database(connection, "?", text, rows, {"age": declared}), wanted)


def test_a_text_is_the_same_number_in_postgresql_and_stops_no_query(numerals, postgres):
    folder, rows, wanted = numerals
    text = members()["sql"]().written(exported(folder)).decode()
    with postgres.connect(postgres.new_database()) as connection:
        agree(in_database(connection, "%s", text.replace("%", "%%"), rows, {"age": "TEXT"}), wanted)
        # Of a type that holds more than doubles do.
        exact = [("1e400", np.nan), ("-1e-400", 0.0), ("7.25", 7.25), ("NaN", np.nan)]
        given = ", ".join(f"(CAST('{number}' AS NUMERIC))" for number, _ in exact)
        found = connection.execute(f"SELECT {text} FROM (VALUES {given}) AS people (age)").fetchall()  # noqa: S608
    numbers = pd.DataFrame({"age": [number for _, number in exact]})
    agree(list(zip(*found, strict=True)), expected(eq.load(folder), numbers))


@pytest.mark.parametrize("row_norm", [None, 1.0])
def test_numbers_whose_products_vanish_stop_no_query(tmp_path, postgres, row_norm):
    columns = (
        NumberColumn("age", (-1, 1)),
        NumberColumn("dose", (-10, 10), fill=1e-300),
        CurveColumn("curve", (-10, 10), cells=4),
        NumberColumn("rent", (-10, 10), root=True),
    )
    model = release_of(tmp_path / "release", columns, row_norm=row_norm)
    faint = [0.3, np.nan, 5e-324, -5e-324, 1e-310, 1e-170, 1e-150, -1e-101, 1e-99]
    rows = pd.DataFrame({column.name: np.roll(faint, place) for place, column in enumerate(columns)})
    rows = pd.concat([rows, pd.DataFrame(dict.fromkeys(rows, faint))], ignore_index=True)
    text = members()["sql"]().written(exported(tmp_path / "release")).decode()
    agree(in_sqlite(text, rows), expected(model, rows))
    with postgres.connect(postgres.new_database()) as connection:
        agree(in_database(connection, "%s", text, rows, types_of(rows)), expected(model, rows))


def release_of(folder, columns, **facts):
    """Return a model of two classes that is released in a folder, trained on rows of nothing."""
    schema = Schema(40, columns, TARGETS["two"], (), "A. Officer", "2026-11-18", **facts)
    rows = pd.DataFrame({column.name: pd.Series([None] * 40, dtype=object) for column in columns})
    rows["ill"] = ["ill", "it's not"] * 20
    model = eq.LogisticRegression(epsilon=1.0, domain=schema, random_state=1).fit(rows)
    eq.save(model, folder)
    return model


def test_the_table_of_weights_is_what_was_released(tmp_path):
    columns = (*NUMBERS, *TEXTS, *DATES, HashedColumn("street", 3))
    for name, kind in (("two", "two"), ("three", "three")):
        model = release(tmp_path / name, kind, (*NUMBERS, *TEXTS, *DATES))
        table = list(csv.DictReader(io.StringIO(members()["csv"]().written(exported(tmp_path / name)).decode())))
        weights = np.array([float(line["weight"]) for line in table]).reshape(len(model.coef_), -1)
        np.testing.assert_array_equal(weights, np.column_stack([model.intercept_, model.coef_]))
        names = [line["column"] for line in table][: weights.shape[1]]
        assert names == ["(intercept)", *model.schema_.encoded_names()]
        outputs = list(dict.fromkeys(line["output"] for line in table))
        assert outputs == (["ill"] if kind == "two" else ["0", "1", "2"])
        assert {line["certificate"] for line in table} == {model.certificate_.digest}
        assert {float(line["divided by"]) for line in table[1 : weights.shape[1]]} == {model.schema_.longest_row}
    told = {line["column"]: line["meaning"] for line in table}
    line = "-1 at 20.0 and below, 1 at 60.0 and above, a line between; -0.5 if missing"
    assert told["age"] == f"{line}. Missing is what is no finite number, and -9.0"
    assert told["dose"].startswith("-1 at 0.0 and below, 1 at 300.0 and above, a line between; -0.333")
    top = "where the entry of dose is -0.5, 0 at -1.0 and 0.0 and beyond, a line between"
    assert told["dose bent at 1/4"] == f"{math.sqrt(0.5)!r} {top}"
    assert (
        told["rooms other"]
        == "1 for ''; 1 for 'NA'; 1 for '-9'; 1 for '1970-01-01'; 1 if missing; 0 for '1', '2', '3'; "
        "1 for any other text; else 0"
    )
    assert "0.8" in told["stage"] or "-0.8" in told["stage"]
    # Kinds that are exported in no other way have weights too.
    release_of(tmp_path / "hashed", columns[-1:])
    assert b"street bucket 2" in members()["csv"]().written(exported(tmp_path / "hashed"))


def test_weights_of_a_model_with_bounds_say_what_they_weigh(tmp_path):
    X, y = np.random.default_rng(0).uniform((10, -3), (70, 5), size=(200, 2)), np.arange(200) % 2
    domain = eq.Domain(bounds=[(20, 60), (0, 1)], row_norm=1.2, classes=(False, True))
    model = eq.LogisticRegression(epsilon=1.0, domain=domain, random_state=0).fit(X, y == 1)
    eq.save(model, tmp_path / "release")
    table = members()["csv"]().written(exported(tmp_path / "release")).decode()
    lines = list(csv.DictReader(io.StringIO(table)))
    assert [line["output"] for line in lines] == ["true"] * 3
    said = re.compile(
        r"-1 at (\S+) and below, 1 at (\S+) and above, a line between; 0.0 if missing; "
        r"a row of these that is longer than (\S+) is multiplied by what makes it no more"
    )
    ends = np.array([said.fullmatch(line["meaning"]).groups() for line in lines[1:]], dtype=float)
    low, high, norm = ends.T
    # A score as the file tells it is the model's.
    scaled = np.clip((X - low) / (high - low) * 2 - 1, -1, 1)
    scaled *= np.minimum(1, norm[0] / np.linalg.norm(scaled, axis=1))[:, None]
    intercept, *weights = [float(line["weight"]) for line in lines]
    np.testing.assert_allclose(scaled @ weights + intercept, model.decision_function(X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("column", "to", "kind"),
    [
        (HashedColumn("street", 3), "sql", "street, of kind hashed"),
        (NumberColumn("weight", (0, 9), unit="kg"), "sql", "number with units"),
        (DateColumn("seen", parts=("hour",), formats=("%H h",)), "sql", "date with formats"),
        (DateColumn("seen", parts=("hour",)), "onnx", "columns that ONNX can read.*seen, of kind date"),
        (YesNoColumn("agrees", yes=("voluntarily, I do",)), "sql", "more than 10000 ways"),
    ],
)
def test_a_column_that_another_program_cannot_read_is_refused_by_its_kind(tmp_path, column, to, kind):
    if to == "onnx":
        pytest.importorskip("onnx")
    release_of(tmp_path / "release", (column,))
    with pytest.raises(InvalidParameter, match=f"{kind}.*predict with equipoise predict"):
        members()[to]().written(exported(tmp_path / "release"))


def test_a_refusal_names_the_format_that_takes_the_same_model(tmp_path):
    pytest.importorskip("onnx")
    release_of(
        tmp_path / "release", (DateColumn("born", parts=("year",), years=(1900, 2030)), NumberColumn("age", (18, 90)))
    )
    model = exported(tmp_path / "release")
    with pytest.raises(InvalidParameter, match=r"born, of kind date.*export --to sql, which reads it"):
        members()["onnx"]().written(model)
    assert b"probability of" in members()["sql"]().written(model)


def test_spellings_are_those_that_casefold_makes_the_same():
    found = ways_to_write("stoff")
    assert {way.casefold() for way in found} == {"stoff"}
    assert len(found) == len(set(found))
    # s has three forms, of which two letters at once have one more each.
    assert len(found) == (3 * 2 + 2) * 2 * (2 * 2 + 1)


def test_the_command_writes_a_file_that_names_the_release(tmp_path):
    model = release_of(tmp_path / "release", NUMBERS[:1])
    for to in ("sql", "csv"):
        printed = run_program("export", "release", "--to", to, folder=tmp_path)
        written = run_program("export", "release", "--to", to, "--out", f"model.{to}", folder=tmp_path)
        assert (printed.returncode, written.returncode) == (0, 0), written.stderr
        text = (tmp_path / f"model.{to}").read_text()
        assert printed.stdout == text
        assert model.certificate_.digest in text
        assert model.certificate_.release.id in text
        again = run_program("export", "release", "--to", to, "--out", f"model.{to}", folder=tmp_path)
        assert (again.returncode, "one that exists" in again.stderr) == (2, True)
    assert "spends no privacy" in (tmp_path / "model.sql").read_text()
    told = run_program("export", "release", "--to", "sql", "--out", "other", "--json", folder=tmp_path)
    assert re.search(rf'"certificate": "{model.certificate_.digest}"', told.stdout)
    refused = run_program("export", "release", "--to", "onnx", folder=tmp_path)
    assert (refused.returncode, "pass --out model.onnx" in refused.stderr) == (2, True)
    unknown = run_program("export", "release", "--to", "pmml", folder=tmp_path)
    assert (unknown.returncode, "choose one of csv, onnx, sql" in unknown.stderr) == (2, True)


def test_an_onnx_file_names_the_release(tmp_path):
    onnx = pytest.importorskip("onnx")
    model = release_of(tmp_path / "release", (NumberColumn("step 1", (0, 1)), CategoryColumn("x", ("a",), other=True)))
    done = run_program("export", "release", "--to", "onnx", "--out", "model.onnx", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    found = onnx.load(tmp_path / "model.onnx")
    facts = {entry.key: entry.value for entry in found.metadata_props}
    assert facts["certificate"] == model.certificate_.digest
    assert facts["release"] == model.certificate_.release.id
    assert [entry.name for entry in found.graph.input] == ["step 1", "x"]


def of_the_page(language: str) -> str:
    """Return the block of docs/export.md in a language; there is one."""
    (block,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    return block


PEOPLE = (NumberColumn("age", (18, 90)), CategoryColumn("job", ("none", "nurse"), unknown="none"))


def test_the_selection_of_the_page_predicts(tmp_path):
    model = release_of(tmp_path / "release", PEOPLE)
    text = members()["sql"]().written(exported(tmp_path / "release")).decode()
    people = pd.DataFrame({"age": [34.5, np.nan], "job": ["nurse", None]})
    with sqlite3.connect(":memory:") as connection:
        people.assign(id=[7, 8]).to_sql("patients", connection, index=False)
        selection = of_the_page("sql").replace("<the text of the file>", text)
        ids, *found = zip(*connection.execute(selection).fetchall(), strict=True)
    assert ids == (7, 8)
    agree(found, expected(model, people))


def test_the_session_of_the_page_predicts(tmp_path, monkeypatch):
    pytest.importorskip("onnxruntime")
    monkeypatch.chdir(tmp_path)
    model = release_of(tmp_path / "release", PEOPLE)
    (tmp_path / "model.onnx").write_bytes(members()["onnx"]().written(exported(tmp_path / "release")))
    names: dict = {}
    exec(of_the_page("python"), names)  # noqa: S102 # our own page
    people = pd.DataFrame({"age": names["ages"][:, 0], "job": names["jobs"][:, 0].astype(object)})
    agree([names["prediction"], *names["probabilities"].T], expected(model, people))


def test_an_altered_release_is_not_exported(tmp_path):
    release_of(tmp_path / "release", NUMBERS[:1])
    model = tmp_path / "release" / "model.json"
    model.write_text(model.read_text().replace('"intercepts": [', '"intercepts": [ '))
    done = run_program("export", "release", "--to", "csv", folder=tmp_path)
    assert (done.returncode, done.stdout) != (0, "")
    assert "a release as it was made" in done.stderr
