"""`equipoise evaluate`: from a release and a table to a folder that verifies, and what is refused before the spend."""

import json
from pathlib import Path

import numpy as np
import pytest

import equipoise as eq
from equipoise.cli.evaluate import DECLARED
from equipoise.errors import OutputRefused
from program import run_program

pytestmark = pytest.mark.usefixtures("plain_page")

SCHEMA = """
schema_version = 1
n = 400
vouched_by = "A. Officer"
vouched_on = 2026-11-16

[target]
name = "ill"
classes = ["no", "yes"]

[columns.age]
kind = "number"
bounds = [0, 100]
"""


def text_of(count: int, seed: int) -> str:
    """Return a table in which the old are mostly ill."""
    draw = np.random.default_rng(seed)
    ages = draw.uniform(0, 100, count)
    ill = np.where(ages + draw.normal(0, 25, count) > 50, "yes", "no")
    return "age,ill\n" + "".join(f"{age:.1f},{label}\n" for age, label in zip(ages, ill, strict=True))


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """Return a folder with a release, whose model is known to no ledger, and rows that had no part in it."""
    monkeypatch.setenv("EQUIPOISE_HOME", str(tmp_path / "home"))
    (tmp_path / "trained.csv").write_text(text_of(400, 0))
    (tmp_path / "held.csv").write_text(text_of(300, 1))
    schema = eq.Schema.from_text(SCHEMA)
    model = eq.LogisticRegression(epsilon=8.0, domain=schema).fit(eq.open_table(tmp_path / "trained.csv"))
    eq.save(model, tmp_path / "release")
    return tmp_path


WORDS = ("evaluate", "release", "held.csv", "--epsilon", "2", "--rows", "300")


def test_an_evaluation_is_recorded_written_and_verified(folder):
    assert run_program("ledger", "create", "held", "--epsilon", "3", folder=folder).returncode == 0
    done = run_program(*WORDS, "--ledger", "held", "--json", folder=folder)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    found = eq.Evaluation.load(folder / "evaluation")
    assert told["certificate"] == found.certificate.digest
    assert told["counts"] == found.counts.counts.tolist()
    assert told["release"] == eq.load(folder / "release").certificate_.release.id == found.claim.release
    assert 0.6 < told["accuracy"]["value"] == found.accuracy.value
    assert eq.Ledger("held").balance().epsilon_left == 1
    paid = run_program("verify", "evaluation", "--ledger", "held", folder=folder).stdout
    assert "checked: certificate.json, its notes included, is the one that the ledger's entry names" in paid
    assert "model.json are those" not in paid
    assert "sentences and figures of the certificate's notes" not in paid
    verified = run_program("verify", "evaluation", folder=folder)
    assert verified.returncode == 0
    assert "by N4, evaluation and laplace" in verified.stdout
    assert "not checked: the release that it is about, which lies apart" in verified.stdout
    # There is no budget for another one, nor room under its name.
    assert run_program(*WORDS, "--ledger", "held", "--out", "other", folder=folder).returncode == 3
    assert run_program(*WORDS, "--ledger", "held", folder=folder).returncode == 2


NUMBERS = SCHEMA.replace('name = "ill"\nclasses = ["no", "yes"]', 'name = "dose"\nbounds = [0, 100]')


def test_of_a_regression_people_and_programs_are_told_its_error_and_r2(folder):
    draw = np.random.default_rng(2)
    for name, count in (("trained.csv", 400), ("held.csv", 300)):
        ages = draw.uniform(0, 100, count)
        doses = np.clip(0.8 * ages + draw.normal(10, 3, count), 0, 100)
        lines = "".join(f"{age:.1f},{dose:.2f}\n" for age, dose in zip(ages, doses, strict=True))
        (folder / name).write_text("age,dose\n" + lines)
    model = eq.Ridge(epsilon=8.0, domain=eq.Schema.from_text(NUMBERS)).fit(eq.open_table(folder / "trained.csv"))
    eq.save(model, folder / "numbers")
    words = ("evaluate", "numbers", "held.csv", "--epsilon", "8", "--rows", "300", "--force")
    read = run_program(*words, folder=folder)
    assert read.returncode == 0, read.stderr
    assert "mean absolute error " in read.stdout
    assert "R2 0." in read.stdout or "R2 1 [" in read.stdout or "R2 cannot be told" in read.stdout
    told = json.loads(run_program(*words, "--json", folder=folder).stdout)
    figures = eq.Evaluation.load(folder / "evaluation").figures()
    assert told["r2"] == {part: getattr(figures.r2, part) for part in ("value", "low", "high", "bins")}
    assert told["mean_absolute_error"]["value"] == figures.mean_absolute_error.value


def test_a_stored_evaluation_tells_all_its_figures_and_those_at_every_threshold(folder):
    told = json.loads(run_program(*WORDS, "--json", folder=folder).stdout)
    again = run_program("figures", "evaluation", "--json", folder=folder)
    assert again.returncode == 0, again.stderr
    stored, figures = json.loads(again.stdout), eq.Evaluation.load(folder / "evaluation").figures()
    assert stored["at_thresholds"] == told["at_thresholds"]
    assert stored["at_thresholds"]["threshold"] == told["edges"]
    for name, curve in figures.at_thresholds.items():
        assert stored["at_thresholds"][name.replace(" ", "_")]["low"] == curve.low.tolist()
    area = next(one for one in stored["figures"] if one["name"] == "AUC")
    assert area["low"] == figures.auc.low == told["auc"]["low"]
    read = run_program("figures", "evaluation", folder=folder).stdout
    for words in ("300 rows, (2, 0)-differential privacy", "threshold  recall", "balanced accuracy", "log loss"):
        assert words in read
    assert f"{told['edges'][0]:.6g}  " in read


def test_figures_of_a_release_are_refused(folder):
    done = run_program("figures", "release", folder=folder)
    assert (done.returncode, "evaluation" in done.stderr) == (2, True)


def test_what_people_read_says_what_was_bought(folder):
    done = run_program(*WORDS, folder=folder)
    assert done.returncode == 0, done.stderr
    for words in ("300 rows, (2, 0)-differential privacy", DECLARED, "accuracy 0.", "equipoise verify evaluation"):
        assert words in done.stdout


@pytest.mark.parametrize(
    "words",
    [
        ("evaluate", "release", "held.csv", "--epsilon", "2"),
        ("evaluate", "release", "held.csv", "--epsilon", "2", "--ledger", "held"),
        ("evaluate", "release", "nothing.csv", "--epsilon", "2", "--rows", "300"),
        ("evaluate", "nothing", "held.csv", "--epsilon", "2", "--rows", "300"),
        ("evaluate", "release", "held.csv", "--epsilon", "-2", "--rows", "300"),
        # Nothing could be told at all.
        ("evaluate", "release", "held.csv", "--epsilon", "0.00001", "--rows", "300"),
        ("evaluate", "release", "release/schema.toml", "--epsilon", "2", "--rows", "300"),
    ],
)
def test_a_refusal_leaves_nothing_behind(words, folder, monkeypatch):
    monkeypatch.setattr("equipoise.release.door._admit", lambda *_: pytest.fail("the spend was recorded"))
    before = sorted(folder.iterdir())
    done = run_program(*words, folder=folder)
    assert done.returncode == 2
    assert done.stderr.startswith("asked")
    assert sorted(folder.iterdir()) == before


def files_in(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("out", ["release", "release/evaluation", "other", "."])
def test_force_replaces_an_earlier_evaluation_and_never_a_release(folder, out):
    eq.save(eq.load(folder / "release"), folder / "other")
    assert run_program("ledger", "create", "held", "--epsilon", "3", folder=folder).returncode == 0
    before = files_in(folder / "release"), files_in(folder / "other")
    done = run_program(*WORDS, "--ledger", "held", "--out", out, "--force", folder=folder)
    assert (done.returncode, done.stderr.startswith("asked")) == (2, True), done.stderr
    assert (files_in(folder / "release"), files_in(folder / "other")) == before
    assert eq.Ledger("held").balance().epsilon_left == 3


def test_an_evaluation_is_replaced_by_another_and_by_no_release(folder):
    assert run_program(*WORDS, folder=folder).returncode == 0
    earlier = files_in(folder / "evaluation")
    with pytest.raises(OutputRefused, match=r"no model\.json"):
        eq.save(eq.load(folder / "release"), folder / "evaluation", force=True)
    assert files_in(folder / "evaluation") == earlier
    assert run_program(*WORDS, "--force", folder=folder).returncode == 0
    assert files_in(folder / "evaluation") != earlier
    with pytest.raises(OutputRefused, match=r"there is model\.json in it"):
        eq.Evaluation.load(folder / "evaluation").save(folder / "release", force=True)


GROUPED = (
    SCHEMA
    + """
[columns.job]
kind = "category"
levels = ["none", "nurse"]
unknown = "none"
"""
)


def test_by_group_people_and_programs_are_told_the_accuracy_of_each(folder):
    for name, seed in (("trained.csv", 0), ("held.csv", 1)):
        head, *lines = text_of(400 if seed == 0 else 300, seed).splitlines()
        jobs = [f"{line},{('none', 'nurse')[place % 2]}" for place, line in enumerate(lines)]
        (folder / name).write_text("\n".join([f"{head},job", *jobs]) + "\n")
    model = eq.LogisticRegression(8.0, domain=eq.Schema.from_text(GROUPED)).fit(eq.open_table(folder / "trained.csv"))
    eq.save(model, folder / "grouped")
    words = ("evaluate", "grouped", "held.csv", "--epsilon", "2", "--rows", "300", "--by", "job", "--force")
    read = run_program(*words, folder=folder)
    assert read.returncode == 0, read.stderr
    found = eq.Evaluation.load(folder / "evaluation")
    for place, group in enumerate(("none", "nurse")):
        assert f"job {group}: accuracy {found.figures([place]).accuracy}" in read.stdout
    told = json.loads(run_program(*words, "--json", folder=folder).stdout)
    again = eq.Evaluation.load(folder / "evaluation")
    assert told["by_group"]["nurse"]["accuracy"]["low"] == again.figures([1]).accuracy.low
    # Of a stored one recall and calibration of each, too.
    nurse = json.loads(run_program("figures", "evaluation", "--json", folder=folder).stdout)["by_group"]["nurse"]
    assert nurse["accuracy"] == told["by_group"]["nurse"]["accuracy"]
    assert nurse["recall"]["high"] == again.figures([1]).decided[0].high
    assert nurse["calibration"]["bins"] == again.figures([1]).calibration_in_the_large.bins > 0
