"""Predictions on the command line: without the estimator they are the same, and what is passed through or asked for."""

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow
import pytest
from pyarrow import feather, parquet

import equipoise as eq
from equipoise.artifact.page import page_of
from equipoise.artifact.predictions import predictor
from equipoise.cli import main
from equipoise.data import compiling
from equipoise.estimators import members
from equipoise.estimators.base import PrivateLinearModel
from equipoise.estimators.classifier import PrivateClassifier
from sample_workbooks import workbook

pytestmark = pytest.mark.usefixtures("plain_page")

SCHEMA = """
schema_version = 1
n = 40
vouched_by = "A. Officer"
vouched_on = 2026-11-16

[target]
{target}

[columns.age]
kind = "number"
bounds = [0, 100]
indicator = true

[columns.job]
kind = "category"
levels = ["none", "nurse"]
unknown = "none"

[columns.id]
kind = "unused"

[columns.{other}]
kind = "unused"
"""
VALUES = [(31, "nurse", "yes", 3), ("x", '" none "', "no", 1e3), ("", "bäcker", "no", 2.5), (1e2, "nurse", "yes", "?")]
TEXT = "id,age,job,ill,pay\n" + "".join(
    f"p{place},{','.join(map(str, values))}\n" for place, values in enumerate(VALUES * 10)
)
LINEAR = sorted(name for name, member in members().items() if issubclass(member, PrivateLinearModel))


@pytest.fixture
def rows(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    Path("rows.csv").write_text(TEXT, encoding="utf-8")
    return tmp_path


@pytest.fixture
def run(rows, monkeypatch, capsys):
    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["equipoise", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        said = capsys.readouterr()
        return end.value.code or 0, said.out, said.err

    return call


def released(name: str, classes=("no", "yes"), **settings):
    """Return a model that was fitted on the rows and saved."""
    kind = members()[name]
    if issubclass(kind, PrivateClassifier):
        text = SCHEMA.format(target=f'name = "ill"\nclasses = {list(classes)}', other="pay")
    else:
        text = SCHEMA.format(target='name = "pay"\nbounds = [0, 5]', other="ill")
    domain = eq.Schema.from_text(text)
    if "batch_size" in kind._get_param_names():
        settings |= {"batch_size": 20, "passes": 1}
    model = kind(epsilon=100.0, delta=1e-3, domain=domain, random_state=0, **settings).fit(eq.open_table("rows.csv"))
    eq.save(model, "release")
    return model


@pytest.mark.parametrize("name", LINEAR)
def test_without_its_estimator_a_release_says_the_same_of_every_row(rows, name):
    released(name)
    light = predictor("release")
    assert light is not None
    with compiling.left_as_they_are():
        found = light.predict(eq.open_table("rows.csv"))
    said = eq.load("release").predict(eq.open_table("rows.csv"))
    assert found.dtype == said.dtype
    assert found.tobytes() == said.tobytes()


def test_several_classes_are_told_apart_without_the_estimator(rows):
    released("logistic", classes=("no", "yes", "perhaps"))
    table = eq.open_table("rows.csv")
    assert np.array_equal(predictor("release").predict(table), eq.load("release").predict(table))


LIGHT = """
import sys
from equipoise.cli import main
sys.argv = ["equipoise", *sys.argv[1:]]
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
heavy = {"sklearn", "scipy.stats", "pandas", "numba", "sqlalchemy", "opendp", "altair"} & sys.modules.keys()
assert not heavy, heavy
"""
OFTEN = [("--help",), ("verify", "release"), ("predict", "release", "rows.csv", "--id", "id")]


@pytest.mark.parametrize("words", OFTEN, ids=lambda words: words[0])
def test_what_starts_often_loads_no_library_that_it_does_not_need(rows, words, monkeypatch):
    # With its charts: `verify` draws them again.
    monkeypatch.setattr("equipoise.artifact.folder.page_of", page_of)
    released("logistic")
    subprocess.run([sys.executable, "-c", LIGHT, *words], check=True, capture_output=True, timeout=120)


LOOPS = """
import sys
from equipoise.data import compiling
from equipoise.data.files import open_table
from equipoise.data.texts import Words
with compiling.left_as_they_are():
    batch = next(open_table("rows.csv").batches(["age", "job"]))
    words = Words({"nurse": 5, "none": 7, "a profession of more than sixteen letters": 9})
    seen = batch["age"].numbers().tobytes(), batch["job"].found(words, 0, 1, len).tolist()
assert "numba" not in sys.modules
compiling.compile_all()
assert "numba" in sys.modules
batch = next(open_table("rows.csv").batches(["age", "job"]))
assert seen == (batch["age"].numbers().tobytes(), batch["job"].found(words, 0, 1, len).tolist())
assert seen[1][:3] == [5, 7, 6], seen[1]
"""


def test_loops_that_python_reads_say_what_compiled_ones_say(rows):
    subprocess.run([sys.executable, "-c", LOOPS], check=True, timeout=120)


def lines(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


def test_a_column_is_passed_through_beside_every_prediction(run):
    model = released("logistic")
    code, said, _ = run("predict", "release", "rows.csv", "--id", "id")
    said_of = dict(lines(said)[1:])
    assert (code, lines(said)[0]) == (0, ["id", "prediction"])
    assert list(said_of) == [f"p{place}" for place in range(40)]
    assert list(said_of.values()) == model.predict(eq.open_table("rows.csv")).tolist()


def test_predictions_as_json_are_those_of_the_file(run):
    released("logistic")
    words = ("predict", "release", "rows.csv", "--id", "id", "--probabilities")
    code, said, _ = run(*words, "--json")
    records = json.loads(said)
    assert (code, len(records)) == (0, 40)
    code, facts, errors = run(*words, "--out", "predictions.csv", "--json")
    assert (code, json.loads(facts), errors) == (
        0,
        {"out": "predictions.csv", "rows": 40, "unread": {"age": 10, "job": 10}},
        "",
    )
    written = lines(Path("predictions.csv").read_text())
    assert written[0] == ["id", "prediction", "probability of no", "probability of yes"]
    for record, (own, prediction, no, yes) in zip(records, written[1:], strict=True):
        probabilities = {"no": float(no), "yes": float(yes)}
        assert record == {"id": own, "prediction": prediction, "probabilities": probabilities}


def test_ids_of_whole_numbers_keep_every_digit(run):
    released("logistic")
    new = pyarrow.table({"id": [2**60 + 1, None], "age": [1.0, 2.0], "job": ["none", "x"]})
    parquet.write_table(new, "new.parquet")
    said = lines(run("predict", "release", "new.parquet", "--id", "id")[1])
    assert [line[0] for line in said] == ["id", str(2**60 + 1), ""]


def test_ids_of_whole_numbers_in_a_workbook_are_written_as_it_shows_them(run):
    released("logistic")
    Path("new.xlsx").write_bytes(workbook(("id", "age", "job"), (7, 31, "nurse"), (8.5, 70, "none"), ("p9", 1, "x")))
    said = lines(run("predict", "release", "new.xlsx", "--id", "id")[1])
    assert [line[0] for line in said] == ["id", "7", "8.5", "p9"]


def test_an_id_that_is_no_column_is_refused_with_those_there_are(run):
    released("logistic")
    code, said, error = run("predict", "release", "rows.csv", "--id", "name")
    assert (code, said) == (2, "")
    assert "id, age, job" in error


EXTRA = {"rs7412": "x", "2020": 7, "31": 1}


@pytest.mark.parametrize("file", ["new.csv", "new.parquet", "new.feather", "new.xlsx"])
def test_names_of_new_rows_that_no_feature_has_may_be_anything(run, file):
    released("logistic")
    table = pyarrow.table(
        {"age": [31.0, 70.0], "job": ["nurse", "none"], **{name: [EXTRA[name]] * 2 for name in EXTRA}}
    )
    if file == "new.csv":
        Path(file).write_text("age,job,rs7412,2020,31\n31,nurse,x,7,1\n70,none,x,7,1\n")
    elif file == "new.parquet":
        parquet.write_table(table, file)
    elif file == "new.feather":
        feather.write_feather(table, file)
    else:
        Path(file).write_bytes(
            workbook(("age", "job", "rs7412", 2020, 31), (31, "nurse", "x", 7, 1), (70, "none", "x", 7, 1))
        )
    for more in ((), ("--probabilities",)):
        code, said, error = run("predict", "release", file, *more)
        assert (code, error) == (0, "")
        assert len(lines(said)) == 3
    assert len(eq.load("release").predict(table.to_pandas())) == 2


def test_an_id_of_the_name_of_predictions_is_refused(run):
    code, _, error = run("predict", "release", "new.csv", "--id", "prediction")
    assert code == 2
    assert "rename the column of identifiers" in error


def test_a_threshold_moves_decisions_and_no_probability(run):
    released("logistic")
    plain = lines(run("predict", "release", "rows.csv", "--probabilities")[1])[1:]
    # Between the smallest and the largest: some rows are on either side.
    shares = sorted({float(line[2]) for line in plain})
    threshold = shares[-1]
    moved = lines(run("predict", "release", "rows.csv", "--probabilities", "--threshold", threshold)[1])[1:]
    assert [line[1:] for line in moved] == [line[1:] for line in plain]
    assert [line[0] for line in moved] == ["yes" if float(line[2]) >= threshold else "no" for line in plain]
    assert {line[0] for line in moved} == {"no", "yes"}


REFUSED = [
    ("svm", ("no", "yes"), 0.3, "leave --threshold out"),
    ("ridge", (), 0.3, "leave --threshold out"),
    ("logistic", ("no", "yes", "perhaps"), 0.3, "3 classes"),
    ("logistic", ("no", "yes"), 1.5, "between 0 and 1"),
]


@pytest.mark.parametrize(("name", "classes", "threshold", "word"), REFUSED)
def test_a_threshold_that_means_nothing_is_refused(run, name, classes, threshold, word):
    released(name, classes)
    code, said, error = run("predict", "release", "rows.csv", "--threshold", threshold)
    assert (code, said) == (2, "")
    assert word in error


def test_values_that_cannot_be_read_are_counted_for_those_who_predict(run):
    released("logistic")
    said = [
        "age: 10 of 40 values could not be read as a number and were taken as missing",
        "job: 10 of 40 values are none of the declared levels or spellings and were taken as the schema says",
    ]
    for options in ([], ["--json"], ["--probabilities"], ["--id", "id"]):
        code, out, error = run("predict", "release", "rows.csv", *options)
        assert (code, error.splitlines()) == (0, said)
        assert len(json.loads(out) if options == ["--json"] else out.splitlines()[1:]) == 40
    assert run("predict", "release", "rows.csv", "--quiet")[2] == ""
    _, out, error = run("predict", "release", "rows.csv", "--json", "--out", "said.csv")
    assert (json.loads(out)["unread"], error.splitlines()) == ({"age": 10, "job": 10}, [])


def test_classes_that_are_truth_values_are_written_as_the_schema_writes_them(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text("age,ill\n" + "30,true\n50,false\n" * 50)
    facts = 'schema_version = 1\nn = 100\nvouched_by = "A. O."\nvouched_on = 2026-11-16\n'
    facts += '[target]\nname = "ill"\nclasses = [false, true]\n[columns.age]\nkind = "number"\nbounds = [18, 90]\n'
    model = eq.LogisticRegression(epsilon=100.0, domain=eq.Schema.from_text(facts), random_state=0)
    eq.save(model.fit(eq.open_table("rows.csv")), "release")
    code, said, _ = run("predict", "release", "rows.csv", "--probabilities")
    written = lines(said)
    assert (code, written[0]) == (0, ["prediction", "probability of false", "probability of true"])
    assert {line[0] for line in written[1:]} == {"false", "true"}
    code, said, _ = run("predict", "release", "rows.csv", "--probabilities", "--json")
    first = json.loads(said)[0]
    assert (first["prediction"], first["probabilities"].keys()) == (written[1][0] == "true", {"false", "true"})
    code, said, _ = run("export", "release", "--to", "sql")
    assert 'AS "probability of true"' in said
