"""From a table on disk to a release and back, by the commands alone; and every way in which that is refused."""

import errno
import json
import os
import shlex
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import equipoise as eq
from equipoise.artifact import staging
from equipoise.artifact.page import page_of
from equipoise.certify.claims.chosen_bounds import ChosenBounds
from equipoise.certify.withdrawn import Withdrawal
from equipoise.cli import main
from equipoise.errors import MissingExtra

# One of them draws its charts.
pytestmark = pytest.mark.usefixtures("plain_page")

SCHEMA = """
schema_version = 1
n = 300
vouched_by = "A. Officer"
vouched_on = 2026-11-16

[target]
name = "ill"
classes = ["no", "yes"]

[columns.age]
kind = "number"
bounds = [0, 100]

[columns.job]
kind = "category"
levels = ["none", "nurse"]
unknown = "none"
"""


@pytest.fixture
def table() -> pd.DataFrame:
    generator = np.random.default_rng(0)
    age = generator.integers(20, 90, 300)
    job = generator.choice(["none", "nurse"], 300)
    return pd.DataFrame({"age": age, "job": job, "ill": np.where(age > 50, "yes", "no")})


@pytest.fixture
def place(tmp_path, monkeypatch, table) -> Path:
    """A folder with a table, a schema and a ledger of 3 units of epsilon."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EQUIPOISE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "200")
    table.to_csv("rows.csv", index=False)
    Path("schema.toml").write_text(SCHEMA)
    eq.Ledger("trial").create(eq.Budget(3.0, 1e-5), "basic")
    return tmp_path


@pytest.fixture
def run(place, monkeypatch, capsys):
    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["equipoise", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        return end.value.code or 0, said.out, said.err

    return call


TRAIN = ("train", "rows.csv", "--schema", "schema.toml", "--epsilon", 2, "--ledger", "trial")


def left() -> float:
    return float(eq.Ledger("trial").balance().epsilon_left)


def test_a_table_becomes_a_release_that_verifies_explains_predicts_and_reports(run, table, monkeypatch):
    for place_of_pages in ("folder", "page_check"):
        monkeypatch.setattr(f"equipoise.artifact.{place_of_pages}.page_of", page_of)
    code, said, _ = run(*TRAIN, "--out", "release")
    assert code == 0
    assert "Claim (proved): (2, 0)" in said
    assert "equipoise verify release" in said
    assert sorted(path.name for path in Path("release").iterdir()) == [
        *("MANIFEST.sha256", "certificate.json", "model.json", "page.json", "report.html", "schema.toml")
    ]
    assert left() == 1.0
    code, said, _ = run("verify", "release")
    assert code == 0
    assert said.startswith("consistent; origin unproved: (2, 0)-differential privacy, replace-one\n  proved, by ")
    assert "\n  checked: manifest, claim, schema digest, model shape\n" in said
    assert "\n  checked: the page: drawn again from the other files, it is the same\n" in said
    assert "A. Officer (2026-11-16)" in run("explain", "release")[1]
    assert run("predict", "release", "rows.csv", "--out", "predictions.csv")[0] == 0
    predictions = pd.read_csv("predictions.csv")["prediction"]
    assert (predictions == eq.load("release").predict(table)).all()
    assert run("report", "release", "--ledger", "trial", "--out", "page.html")[0] == 0
    assert "A. Officer" in Path("page.html").read_text()
    assert not [path for path in Path().iterdir() if path.name.startswith(".")]


def test_a_release_is_signed_by_a_key_that_is_checked_before_the_spend(run):
    refused = run(*TRAIN, "--sign", "owner.key")
    assert (refused[0], left()) == (2, 3.0)
    assert run("key", "new", "owner.key")[0] == 0
    refused = [
        run(*TRAIN, "--by", "Data office"),
        run(*TRAIN, "--sign", "owner.key", "--by", "two\nlines"),
        run(*TRAIN, "--sign", "owner.key.pub"),
        run(*TRAIN, "--sign", "owner.key.pub", "--dry-run"),
    ]
    assert [code for code, _, _ in refused] == [2, 2, 2, 2]
    assert not Path("release").exists()
    Path("owner.key").chmod(0o644)
    assert run(*TRAIN, "--sign", "owner.key", "--dry-run")[0] == 2
    Path("owner.key").chmod(0o600)
    assert run(*TRAIN, "--sign", "owner.key", "--dry-run")[0] == 0
    assert left() == 3.0
    assert run(*TRAIN, "--sign", "owner.key", "--by", "Data office")[0] == 0
    code, said, _ = run("verify", "release", "--key", "owner.key.pub", "--ledger", "trial")
    assert code == 0
    assert said.startswith("consistent; signed by owner.key.pub; paid for by entry 2: ")
    assert ", who says to be 'Data office', on " in said


def test_probabilities_and_standard_output(run):
    run(*TRAIN, "--quiet")
    code, said, _ = run("predict", "release", "rows.csv", "--probabilities")
    assert code == 0
    header, first, *_ = said.splitlines()
    assert header == "prediction,probability of no,probability of yes"
    assert sum(map(float, first.split(",")[1:])) == pytest.approx(1.0)


def test_quiet_says_nothing_and_json_is_json(run):
    assert run(*TRAIN, "--quiet")[1] == ""
    assert run("verify", "release", "--quiet")[1] == ""
    said = json.loads(run("verify", "release", "--json")[1])
    assert (said["consistent"], said["faults"], said["withdrawn"], said["trusted"]) == (True, [], [], [])
    code, said, _ = run(*TRAIN[:-4], "--epsilon", 0.5, "--out", "second", "--json")
    assert code == 0
    assert json.loads(said)["certificate"] == eq.load("second").certificate_.digest


def test_a_dry_run_shows_the_plan_and_leaves_everything_as_it_was(run):
    Path("rows.csv").write_text("age,job,ill\n")  # no row could be read
    before = sorted(Path().rglob("*"))
    code, said, _ = run(*TRAIN, "--dry-run")
    assert code == 0
    assert "Claim (proved): (2, 0)" in said
    assert "nothing was spent" in said
    assert left() == 3.0
    assert sorted(Path().rglob("*")) == before
    # Not even folders on the way to a release.
    assert run(*TRAIN, "--dry-run", "--out", "in/a/folder/release")[0] == 0
    assert sorted(Path().rglob("*")) == before


def test_a_plan_for_a_schema_is_that_of_a_dry_run_and_needs_no_table(run):
    dry = run(*TRAIN[:6], "--dry-run")[1].splitlines()
    as_json = json.loads(run(*TRAIN[:6], "--dry-run", "--json")[1])["plan"]
    Path("rows.csv").unlink()
    code, said, _ = run("plan", *TRAIN[2:6])
    assert code == 0
    *told, last = said.splitlines()
    assert told == dry[: len(told)]
    assert told[-1].startswith("  buys: ")
    # What was asked for here is named again, so that the line can be run as it stands.
    assert last.endswith("equipoise train TABLE --schema schema.toml --epsilon 2.0 --ledger DATASET")
    assert json.loads(run("plan", *TRAIN[2:6], "--json")[1]) == as_json
    # A number of rows that the file leaves blank may be named beside it, and bounds be paid for.
    Path("schema.toml").write_text(SCHEMA.replace("n = 300", 'n = ""'))
    assert json.loads(run("plan", *TRAIN[2:6], "--rows", 300, "--json")[1]) == as_json
    Path("schema.toml").write_text(SCHEMA.replace("[0, 100]", "[]"))
    assert "bounds: epsilon 0.8 for 1 blank" in run("plan", *TRAIN[2:6], "--private-bounds", 0.8)[1]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--schema", "schema.toml", "--rows", 299), "the 300 rows that the schema declares"),
        (("--schema", "schema.toml", "-d", 2, "--row-norm", 1), "--schema and -d, --row-norm"),
        (("--schema", "schema.toml", "--model", "ridge"), "which predicts numbers"),
        (("--schema", "nowhere.toml"), "a schema at nowhere.toml"),
        (("-n", 300), "-n ROWS and -d COLUMNS"),
        (("-n", 300, "-d", 2, "--private-bounds", 0.2), "--private-bounds without a schema"),
    ],
)
def test_a_plan_takes_public_facts_from_one_place(run, options, said):
    code, _, refused = run("plan", "--epsilon", 1, *options)
    assert (code, said in refused) == (2, True), refused


def test_a_dry_run_as_json_has_the_plan_what_it_buys_and_what_is_left(run):
    facts = json.loads(run(*TRAIN, "--dry-run", "--json")[1])
    assert facts["plan"]["terms"]["n_samples"] == 300
    assert 0 < facts["buys"] < 1
    assert facts["bounds"] is None
    in_currency = {"currency": "basic", "cost": "2.0", "left": "3.0"}
    assert facts["ledger"] == {"ledger": "trial", "epsilon": "3.0", "delta": "0.00001", **in_currency}
    assert facts["check"] == "equipoise schema check rows.csv schema.toml"
    Path("schema.toml").write_text(SCHEMA.replace("[0, 100]", "[]"))
    alone = json.loads(run(*TRAIN[:6], "--private-bounds", 0.8, "--dry-run", "--json")[1])
    bounds = alone["bounds"]
    assert (bounds["epsilon"], bounds["columns"], bounds["n_samples"], alone["ledger"]) == (0.8, 1, 300, None)
    assert (round(bounds["scale"], 6), bounds["narrowest"]) == (2.5, 6 / 512)
    said = run(*TRAIN[:6], "--private-bounds", 0.8, "--dry-run")[1]
    (line,) = (line for line in said.splitlines() if line.startswith("  bounds: "))
    assert len(line) <= 200
    assert (
        f"noise of scale 2.5 rows, which in 95 % of runs costs no range more than {bounds['rows_at_stake']} of 300"
        in said
    )
    assert "none is shorter than 1.2 % of its farther end" in said


@pytest.mark.parametrize("case", ["blank bounds", "a folder", "a delimiter"])
def test_the_line_of_a_dry_run_that_checks_the_rows_can_be_run(run, case):
    table, options = "rows.csv", []
    if case == "blank bounds":
        Path("schema.toml").write_text(SCHEMA.replace("[0, 100]", "[]"))
        options = ["--private-bounds", 0.8]
    elif case == "a folder":
        Path("parts").mkdir()
        table = str(Path("rows.csv").rename("parts/rows.csv").parent)
    else:
        Path("rows.csv").write_text(Path("rows.csv").read_text().replace(",", ";"))
        options = ["--delimiter", ";"]
    facts = json.loads(run("train", table, *TRAIN[2:6], *options, "--dry-run", "--json")[1])
    code, said, error = run(*shlex.split(facts["check"])[1:])
    assert (code, error) == (0, ""), said
    assert "rows in the table                   300" in said


def test_a_model_for_another_task_than_the_schemas_is_refused_in_words_of_the_command_line(run):
    code, said, error = run(*TRAIN, "--model", "ridge")
    assert (code, said) == (2, "")
    assert "--model ridge, which predicts numbers" in error
    assert "Domain(" not in error
    assert left() == 3.0


def test_a_plan_whose_noise_hides_nearly_everything_says_so(run):
    assert "noise would hide" not in run(*TRAIN, "--dry-run")[1]
    said = run(*TRAIN[:4], "--epsilon", 0.01, "--dry-run")[1]
    assert "mind      noise would hide 9" in said


def test_a_report_as_json_names_the_page_and_the_certificate(run):
    assert run(*TRAIN)[0] == 0
    code, said, errors = run("report", "release", "--out", "page.html", "--json")
    assert (code, errors) == (0, "")
    digest = eq.load("release").certificate_.digest
    assert json.loads(said) == {"page": "page.html", "release": "release", "certificate": digest}
    assert Path("page.html").is_file()


def test_a_dry_run_says_what_the_spend_would_buy_and_how_to_check_the_rows(run):
    said = run(*TRAIN, "--dry-run")[1]
    assert "buys: " in said
    assert "ledger: admits it; epsilon 3.0" in said
    assert "equipoise schema check rows.csv schema.toml" in said


def test_a_dry_run_is_refused_where_the_ledger_would_refuse(run):
    code, said, error = run(*TRAIN[:4], "--epsilon", 4, "--ledger", "trial", "--dry-run")
    assert (code, said) == (3, "")
    assert "remaining of 3" in error
    assert left() == 3.0


@pytest.mark.parametrize("more", [(), ("--dry-run",)])
def test_a_folder_that_exists_is_told_before_the_plan(run, more):
    Path("taken").mkdir()
    Path("taken/file").write_text("")
    code, said, error = run(*TRAIN, "--out", "taken", *more)
    assert (code, said) == (2, "")
    assert "one that exists" in error


def test_a_page_that_cannot_be_made_ends_a_dry_run(run, monkeypatch):
    def missing(*_, **__):
        raise MissingExtra("a chart", "nothing that draws", "install it")

    monkeypatch.setattr("equipoise.artifact.folder.page_of", missing)
    assert run(*TRAIN, "--dry-run")[:2] == (2, "")


def test_private_bounds_are_paid_from_epsilon(run):
    Path("schema.toml").write_text(SCHEMA.replace("[0, 100]", "[]"))
    code, _, said = run(*TRAIN)
    assert code == 2
    assert "columns.age.bounds" in said
    assert "--private-bounds" in said
    assert left() == 3.0
    assert run(*TRAIN, "--private-bounds", 0.8)[0] == 0
    assert left() == 1.0
    certificate = eq.load("release").certificate_
    (paid,) = (node for node in certificate.claim.nodes() if isinstance(node, ChosenBounds))
    assert (paid.budget.epsilon, certificate.epsilon) == (0.8, 2.0)
    assert [bounds.column for bounds in paid.released] == ["age"]
    assert run("verify", "release")[0] == 0
    assert run("predict", "release", "rows.csv", "--out", "predictions.csv")[0] == 0


def test_a_changed_byte_is_noticed(run):
    run(*TRAIN, "--quiet")
    path = Path("release/model.json")
    path.write_text(path.read_text().replace("1", "2", 1))
    code, said, _ = run("verify", "release")
    assert code == 1
    assert "model.json" in said
    code, _, said = run("predict", "release", "rows.csv")
    assert code == 2
    assert "model.json" in said


@pytest.mark.parametrize(
    ("family", "name", "versions", "code"),
    [
        ("sampler", "opendp", (), 5),
        ("sampler", "opendp", ("0.0.1",), 0),
        ("sampler", "numpy", (), 0),
        ("kind", "objective", (eq.__version__,), 5),
        ("kind", "objective", ("0.0.1",), 0),
    ],
)
def test_a_release_that_rests_on_what_was_withdrawn_answers_so(run, monkeypatch, family, name, versions, code):
    run(*TRAIN, "--quiet")
    found = Withdrawal("2026-11-16", family, name, "false", versions)
    monkeypatch.setattr("equipoise.certify.withdrawn.WITHDRAWN", (found,))
    ended, said, _ = run("verify", "release")
    assert ended == code
    assert (str(found) in said) is (code == 5)
    listed = run("ledger", "withdrawn", "trial")
    assert listed[0] == code
    spent = eq.Certificate.from_json(Path("release/certificate.json").read_text()).planned_digest
    assert (f"entry 2, certificate {spent}" in listed[1]) is (code == 5)


# What is wrong, how it is made, a word of the answer.
REFUSED = {
    "wrong delimiter": (lambda: write("rows.csv", "age;job;ill\n1;none;no\n"), "--delimiter"),
    "wrong encoding": (lambda: Path("rows.csv").write_bytes("age,job,ill\n".encode("utf-16")), "UTF-8"),
    "an empty file": (lambda: write("rows.csv", ""), "empty"),
    "no such file": (lambda: Path("rows.csv").unlink(), "rows.csv"),
    "a column that the schema does not know": (lambda: write("rows.csv", "age,job,ill,id\n"), "unused"),
    "a column that the file lacks": (lambda: write("rows.csv", "age,ill\n"), "job"),
    "a schema with an unknown key": (lambda: write("schema.toml", SCHEMA + "\nbound = [1, 2]\n"), "bound"),
    "a schema that is no TOML": (lambda: write("schema.toml", "n = ["), "schema.toml"),
    "a schema with blanks": (lambda: write("schema.toml", SCHEMA.replace("n = 300", 'n = ""')), "blank"),
    "bounds whose width overflows": (
        lambda: write("schema.toml", SCHEMA.replace("[0, 100]", "[-1e308, 1e308]")),
        "farther apart than 1e+100: age",
    ),
    "bounds that scale everything away": (
        lambda: write("schema.toml", SCHEMA.replace("[0, 100]", "[0, 1e101]")),
        "farther apart than 1e+100: age",
    ),
    "no schema": (lambda: Path("schema.toml").unlink(), "schema.toml"),
    "an existing folder": (lambda: Path("release/papers").mkdir(parents=True), "--force"),
    "an existing file": (lambda: write("release", ""), "--force"),
}


def write(name: str, text: str) -> None:
    Path(name).write_text(text)


@pytest.mark.parametrize("name", REFUSED)
def test_bad_input_is_refused_before_anything_is_spent(name, run):
    make, word = REFUSED[name]
    make()
    code, _, said = run(*TRAIN)
    assert code == 2
    assert word in said
    assert len(said.splitlines()) == 3
    assert left() == 3.0
    assert not (Path("release") / "model.json").exists()


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        (("--epsilon", -1), "epsilon"),
        (("--epsilon", "nan"), "epsilon"),
        (("--delta", 2), "delta"),
        (("--model", "forest"), "logistic"),
        (("--model", "ridge"), "predicts numbers"),
        (("--alpha", "small"), "--alpha"),
        (("--mechanism", "magic"), "magic"),
        (("--private-bounds", 0.1), "blank"),
        (("--delimiter", "::"), "delimiter"),
        (("--out", "rows.csv/release"), "rows.csv"),
        (("--public-seed", -1), "public_seed"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, tuple) else "",
)
def test_bad_options_are_refused_before_anything_is_spent(run, wrong, word):
    code, _, said = run(*TRAIN, *wrong)
    assert code == 2
    assert word in said
    assert left() == 3.0


def test_a_parquet_file_with_another_number_of_rows_is_refused_before_the_spend(run, table):
    table[:-1].to_parquet("rows.parquet")
    code, _, said = run("train", "rows.parquet", *TRAIN[2:])
    assert code == 2
    assert "300" in said
    assert "299" in said
    assert left() == 3.0


@pytest.mark.parametrize("lines", [250, 350], ids=["too few", "too many"])
def test_a_csv_file_with_another_number_of_rows_is_handled_by_a_public_rule(run, table, lines):
    pd.concat([table, table])[:lines].to_csv("rows.csv", index=False)
    assert run(*TRAIN)[0] == 0
    assert eq.load("release").certificate_.n_samples == 300


def test_ragged_rows_and_odd_values_train_all_the_same(run):
    with Path("rows.csv").open("ab") as file:
        file.seek(0)
        file.truncate()
        file.write(b"age,job,ill\n" + b'1,2\n\xff\xfe,",\n,,,,,,\nforty,pilot,perhaps\n"""\n\x00,\x00,\x00\n' * 43)
    code, _, said = run(*TRAIN)
    assert (code, said) == (0, "")


def test_an_overdraft_and_an_unreachable_ledger_have_their_own_code_and_nothing_is_read(run):
    Path("rows.csv").write_text("age,job,ill\n")
    # Nothing that sounds like a release is told before there is one.
    assert run(*TRAIN, "--epsilon", 5)[:2] == (3, "")
    assert run(*TRAIN, "--ledger", "unknown")[:2] == (3, "")
    code, _, said = run(*TRAIN, "--ledger", "sqlite:////no/such/place/ledger.db#trial")
    assert code == 3
    assert "ledger create" in said
    assert run(*TRAIN, "--ledger", "postgresql://nobody@127.0.0.1:9/none#trial")[0] == 3
    assert left() == 3.0
    assert not Path("release").exists()


def test_a_failure_after_the_spend_says_nothing_about_rows(run, monkeypatch):
    def fail(*_):
        raise ValueError("a private value")

    monkeypatch.setattr("equipoise.data.encoder.Encoder.encode", fail)
    code, told, said = run(*TRAIN)
    assert (code, told) == (4, "")
    assert "private value" not in said
    assert "is spent" in said
    assert left() == 1.0
    assert not Path("release").exists()


def test_force_replaces_a_release_and_nothing_else(run):
    run(*TRAIN, "--quiet")
    before = Path("release/model.json").read_text()
    assert run(*TRAIN, "--epsilon", 0.5, "--force")[0] == 0
    assert Path("release/model.json").read_text() != before
    Path("papers").mkdir()
    Path("papers/thesis.txt").write_text("precious")
    code, _, said = run(*TRAIN, "--epsilon", 0.25, "--out", "papers", "--force")
    assert code == 2
    assert "only an earlier release is replaced" in said
    assert Path("papers/thesis.txt").read_text() == "precious"
    assert left() == 0.5


def test_an_empty_folder_is_a_fine_place_and_stays_one_if_nothing_is_released(run, monkeypatch):
    Path("release").mkdir()
    with monkeypatch.context() as patch:
        patch.setattr("equipoise.release.carriers.carry_out", lambda *_: 1 / 0)
        assert run(*TRAIN, "--epsilon", 0.5)[0] == 4
    assert list(Path("release").iterdir()) == []
    assert run(*TRAIN)[0] == 0
    assert eq.load("release").certificate_.verify() == ()


def test_a_disk_that_fills_up_after_the_spend_leaves_no_half_release_and_loses_nothing(run, monkeypatch, tmp_path):
    written = staging._write

    def full(path, text):
        if path.parent.parent == tmp_path and path.name == "report.html":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written(path, text)

    monkeypatch.setattr(staging, "_write", full)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "elsewhere"))
    Path("elsewhere").mkdir()
    monkeypatch.setattr("tempfile.tempdir", None)
    code, _, said = run(*TRAIN)
    assert code == 4
    assert "No space left" in said
    assert not Path("release").exists()
    (kept,) = Path("elsewhere").glob("*/release")
    assert str(kept) in said
    assert eq.load(kept).certificate_.verify() == ()


def test_a_disk_without_room_is_noticed_before_the_spend(run, monkeypatch):
    def full(path, text):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(staging, "_write", full)
    code, _, said = run(*TRAIN)
    assert code == 2
    assert "No space left" in said
    assert left() == 3.0
    assert not [path for path in Path().iterdir() if path.name.startswith(".")]


def test_predict_refuses_what_it_cannot_do(run, table):
    run(*TRAIN, "--quiet")
    table.drop(columns="age").to_csv("other.csv", index=False)
    assert "age" in run("predict", "release", "other.csv")[2]
    assert run("predict", "nowhere", "rows.csv")[0] == 2
    assert run("predict", "release", "nowhere.csv")[0] == 2
    Path("taken.csv").write_text("precious")
    assert run("predict", "release", "rows.csv", "--out", "taken.csv")[0] == 2
    assert Path("taken.csv").read_text() == "precious"
    assert run("predict", "release", "rows.csv", "--out", "taken.csv", "--force")[0] == 0


def test_a_fault_of_the_program_shows_its_type_and_no_text(run, monkeypatch):
    def fail(*_, **__):
        raise KeyError("a value from some file")

    monkeypatch.setattr("equipoise.artifact.predictions.read_release", fail)
    code, _, said = run("predict", "release", "rows.csv")
    assert code == 70
    assert "KeyError" in said
    assert "some file" not in said


def test_a_page_that_cannot_be_drawn_is_noticed_before_the_spend(run, monkeypatch):
    def fail():
        raise eq.errors.MissingExtra("a chart", "Altair is not installed", 'pip install "equipoise[report]"')

    monkeypatch.setattr("equipoise.artifact.folder.page_of", lambda *_, **__: fail())
    code, _, said = run(*TRAIN)
    assert code == 2
    assert "equipoise[report]" in said
    assert left() == 3.0


def test_a_model_that_no_reader_would_take_is_refused_before_the_spend(run):
    # 1,400 levels of a column with a long name: each encoded column is named by both.
    levels = ", ".join(f'"{number}"' for number in range(1400))
    text = SCHEMA.replace("columns.job", f"columns.{'j' * 10**5}").replace('["none", "nurse"]', f'["none", {levels}]')
    Path("schema.toml").write_text(text)
    Path("rows.csv").write_text(f"age,{'j' * 10**5},ill\n40,none,no\n")
    code, _, said = run(*TRAIN)
    assert code == 2
    assert "a model that can be released" in said
    assert left() == 3.0


@pytest.mark.parametrize("engine", ["memory", "stream", "dask"])
def test_a_folder_of_parts_is_trained_on_by_every_engine(run, table, engine):
    if engine == "dask":
        pytest.importorskip("distributed")
    Path("parts").mkdir()
    table[:120].to_parquet("parts/a.parquet", index=False)
    table[120:].to_parquet("parts/b.parquet", index=False)
    arguments = ("train", "parts", *TRAIN[2:], "--engine", engine, "--out", "release")
    assert run(*arguments)[0] == 0
    assert left() == 1.0
    assert run("verify", "release")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--engine", "steam"), "choose one of dask, memory"),
        (("--engine", "stream", "--scheduler", "tcp://127.0.0.1:9"), "no scheduler for the engine 'stream'"),
        (("--engine", "dask", "--scheduler", "tcp://127.0.0.1:9"), "no answer from 'tcp://127.0.0.1:9'"),
    ],
)
def test_engines_and_schedulers_that_are_not_there_are_refused_before_the_spend(run, monkeypatch, arguments, told):
    monkeypatch.setattr("equipoise.data.engines.dask_cluster.ANSWER_SECONDS", 0.5)
    code, _, said = run(*TRAIN, *arguments)
    assert code == 2
    assert told in said
    assert left() == 3.0
    assert not Path("release").exists()
