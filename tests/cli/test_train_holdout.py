"""`equipoise train --holdout`: one spend, a release and the evaluation of it, each in a folder that verifies."""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import equipoise as eq
from equipoise.cli import main, train
from equipoise.errors import OutputRefused, ReleaseUnreadable
from equipoise.evaluation.held_out import plan_held_out
from equipoise.planning.held_out import known_within

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
def run(tmp_path, monkeypatch, capsys):
    """Return what runs a command in a folder with a table, a schema and a ledger of 3 units of epsilon."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EQUIPOISE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "200")
    draw = np.random.default_rng(0)
    age, job = draw.integers(20, 90, 300), draw.choice(["none", "nurse"], 300)
    table = pd.DataFrame({"age": age, "job": job, "ill": np.where(age > 50, "yes", "no")})
    table.to_parquet("rows.parquet", index=False)
    Path("schema.toml").write_text(SCHEMA)
    eq.Ledger("trial").create(eq.Budget(3.0, 1e-5), "basic")

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["equipoise", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        return end.value.code or 0, said.out, said.err

    return call


TRAIN = ("train", "rows.parquet", "--schema", "schema.toml", "--epsilon", 2, "--ledger", "trial", "--holdout", 0.25)


def left() -> float:
    return float(eq.Ledger("trial").balance().epsilon_left)


def test_a_table_becomes_a_release_and_its_evaluation_for_one_spend(run):
    assert run("key", "new", "owner.key")[0] == 0
    code, said, _ = run(*TRAIN, "--holdout-by", "job", "--sign", "owner.key", "--by", "Data office")
    assert code == 0
    for words in (
        "how many of 75 rows that were held out",
        "accuracy ",
        "equipoise verify evaluation",
        "released to release",
    ):
        assert words in said
    assert len(said.splitlines()) <= 15
    assert left() == 1.0
    model, found = eq.load("release"), eq.Evaluation.load("evaluation")
    assert found.claim.release == model.certificate_.release.id
    assert found.claim.cells.groups == ("none", "nurse")
    # One entry paid for both, and neither folder is a second one.
    code, said, _ = run("verify", "release", "--key", "owner.key.pub", "--ledger", "trial")
    assert (code, said.startswith("consistent; signed by owner.key.pub; paid for by entry 2: ")) == (0, True)
    code, said, _ = run("verify", "evaluation", "--ledger", "trial")
    assert (code, said.startswith("consistent; origin unproved; paid for by entry 2: ")) == (0, True)
    assert "\n  part: evaluation, 75 rows\n" in said
    assert not [path for path in Path().iterdir() if path.name.startswith(".")]
    # An evaluation of these rows afterwards is another spend.
    assert run("evaluate", "release", "rows.parquet", "--rows", 300, "--epsilon", 2, "--ledger", "trial")[0] != 0


def test_json_has_both_and_a_dry_run_the_plan_of_both(run):
    code, said, _ = run(*TRAIN, "--dry-run", "--json")
    plan = json.loads(said)["plan"]
    assert (code, plan["claim"]["kind"], plan["terms"]["n_samples"], left()) == (0, "held-out", 300, 3.0)
    assert sorted(path.name for path in Path().iterdir()) == ["home", "rows.parquet", "schema.toml"]
    told = json.loads(run(*TRAIN, "--json")[1])
    found = eq.Evaluation.load("evaluation")
    assert (told["release"], told["evaluation"], told["rows"]) == ("release", "evaluation", 75)
    assert told["id"] == found.claim.release
    assert told["counts"] == found.counts.counts.tolist()
    assert told["certificate"] == found.certificate.digest


@pytest.mark.parametrize(
    ("more", "word"),
    [
        (("--holdout", 1.5), "below 1"),
        (("--holdout", 0.0001), "which is none"),
        (("--holdout", 0.01), "hold out "),
        (("--engine", "stream"), "a table in memory"),
        (("--evaluation", "release"), "another for its evaluation"),
        (("--holdout-by", "age"), "choose from job"),
        (("--evaluation", "schema.toml"), "choose another name"),
    ],
)
def test_what_cannot_be_is_refused_before_the_spend_and_leaves_nothing(run, more, word):
    before = sorted(Path().iterdir())
    code, _, said = run(*TRAIN, *more)
    assert (code, word in said, left()) == (2, True, 3.0), said
    assert sorted(Path().iterdir()) == before


def test_a_dry_run_says_how_well_accuracy_will_be_known(run):
    said = run(*TRAIN, "--dry-run")[1]
    model = eq.LogisticRegression(2.0, domain=eq.Schema.from_toml("schema.toml"))
    within = known_within(plan_held_out(model, 0.25).claim.of[0])
    assert f"of 75 held-out rows, accuracy will be known to within about {within:.2g}" in said


def test_the_release_of_held_out_rows_is_not_taken_for_their_evaluation(run):
    assert run(*TRAIN)[0] == 0
    for words in (
        ("predict", "release", "rows.parquet", "--sets", "release"),
        ("card", "release", "--evaluation", "release"),
    ):
        code, _, said = run(*words)
        assert code != 0
        assert "the folder of an evaluation" in said
        assert "the folder of a release, with model.json" in said
        assert "pass that of its evaluation" in said
    with pytest.raises(ReleaseUnreadable, match="the folder of a release, with model"):
        eq.Evaluation.load("release")
    assert eq.Evaluation.load("evaluation").accuracy.told


def test_a_column_to_count_by_needs_rows_that_are_held_out(run):
    code, _, said = run(*TRAIN[:-2], "--holdout-by", "job")
    assert (code, "--holdout-by job alone" in said, left()) == (2, True, 3.0)


def test_an_evaluation_that_cannot_be_written_loses_no_release(run, monkeypatch):
    usual, calls = train.publish, []

    def failing(place, files, out):
        calls.append(out.name)
        if out.name == "evaluation":
            raise OutputRefused("to write evaluation", "no space left", "make some")
        usual(place, files, out)

    monkeypatch.setattr(train, "publish", failing)
    assert run(*TRAIN)[0] != 0
    assert calls == ["evaluation", "release"], "the evaluation comes first"
    assert run("verify", "release", "--ledger", "trial")[0] == 0


def test_what_is_checked_of_both_folders_is_said_and_the_card_knows_that_rows_were_held_out(run):
    assert run(*TRAIN)[0] == 0
    for folder in ("release", "evaluation"):
        code, said, _ = run("verify", folder, "--ledger", "trial")
        assert code == 0
        assert "certificate.json, its notes included, " in said
        assert "that the ledger's entry names" in said
        assert ("model.json are those" in said) == (folder == "release")
    code, said, _ = run("verify", "evaluation", "--release", "release")
    assert (code, "it is about release" in said) == (0, True)
    assert "held out from the training by their places" in run("card", "release", "--evaluation", "evaluation")[1]
    code, _, said = run("verify", "nowhere")
    assert (code, "nothing at nowhere" in said) == (2, True)


def test_force_replaces_an_earlier_evaluation_and_never_a_release(run):
    alone = ("train", "rows.parquet", "--schema", "schema.toml", "--epsilon", 2, "--out", "kept")
    assert run(*alone)[0] == 0
    before = {path.name: path.read_bytes() for path in Path("kept").iterdir()}
    code, _, said = run(*TRAIN, "--evaluation", "kept", "--force")
    assert (code, "only an earlier evaluation is replaced" in said, left()) == (2, True, 3.0), said
    assert {path.name: path.read_bytes() for path in Path("kept").iterdir()} == before
    assert not Path("release").exists()


def test_a_folder_for_an_evaluation_needs_rows_that_are_held_out(run):
    code, _, said = run(*TRAIN[:-2], "--evaluation", "evaluation")
    assert (code, "--evaluation evaluation alone" in said, left()) == (2, True, 3.0)


def test_of_a_file_that_does_not_tell_its_rows_it_is_said_what_rows_that_lack_are(run):
    words = "rows that the file lacks count as rows without values"
    code, said, _ = run(*TRAIN)
    assert (code, words in said) == (0, False)
    # Whether any lack is private: the same is said of a file with all of them and of one with fewer.
    for place, rows in enumerate((300, 120)):
        pd.read_parquet("rows.parquet").head(rows).to_csv("rows.csv", index=False)
        out = ("--out", f"release{place}", "--evaluation", f"evaluation{place}", "--epsilon", 0.5)
        code, said, _ = run("train", "rows.csv", *TRAIN[2:], *out)
        assert (code, said.count(words)) == (0, 1)


def test_who_signs_can_be_named_as_for_an_evaluation(run):
    assert run("key", "new", "owner.key")[0] == 0
    assert run(*TRAIN, "--sign", "owner.key", "--signer", "Data office")[0] == 0
    assert "Data office" in run("verify", "release", "--key", "owner.key.pub")[1]


def test_another_number_of_rows_than_a_file_tells_names_the_option_and_not_the_schema(run):
    assert run(*TRAIN)[0] == 0
    code, _, said = run("evaluate", "release", "rows.parquet", "--rows", 299, "--epsilon", 1, "--out", "other")
    assert code != 0
    assert "--rows 300" in said
    assert "schema" not in said
    assert not Path("other").exists()


def test_a_delta_of_one_row_in_n_or_more_says_so(run):
    plan = ("train", "rows.parquet", "--schema", "schema.toml", "--epsilon", 1, "--dry-run", "--delta")
    words = "a large delta: delta = 0.01 alone allows to publish 3 of 300 rows as they are, on average"
    assert words in run(*plan, 0.01)[1]
    assert "large delta" not in run(*plan, 0.003)[1]


def test_an_epsilon_that_protects_nothing_says_so_before_and_after_the_spend(run):
    words = "next to no protection: epsilon = 1e+09"
    plan = ("train", "rows.parquet", "--schema", "schema.toml", "--epsilon", "1e9")
    assert words in run(*plan, "--dry-run")[1]
    assert "next to no protection" not in run(*plan[:-1], 10, "--dry-run")[1]
    assert words in run(*plan)[1]
    assert words in run("explain", "release")[1]
    assert words in run("evaluate", "release", "rows.parquet", "--epsilon", "1e9")[1]
