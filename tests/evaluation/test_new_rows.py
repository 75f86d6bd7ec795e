"""Sets and intervals for new rows, from the folders of a release and of its evaluation."""

import numpy as np
import pandas as pd
import pytest

import equipoise as eq
from equipoise.data.joined import raw_table
from equipoise.data.schema import CategoryColumn, NumberColumn, Target
from equipoise.errors import InvalidParameter, ReleaseUnreadable
from equipoise.evaluation.new_rows import NewRows
from program import run_program

pytestmark = pytest.mark.usefixtures("plain_page")

N = 6_000
DRAW = np.random.default_rng(0)
AGE = DRAW.uniform(0, 100, N)
TARGETS = {
    "ill": np.where(AGE + DRAW.normal(0, 30, N) > 50, "yes", "no"),
    "stage": np.array(["one", "two", "three"])[np.digitize(AGE + DRAW.normal(0, 15, N), (33, 66))],
    "dose": np.clip(3 * AGE + DRAW.normal(0, 30, N), 0, 300),
}
TRAINED, HELD, NEW = slice(0, 2_000), slice(2_000, 4_000), slice(4_000, N)
COLUMNS = (NumberColumn("age", (0, 100)), CategoryColumn("job", ("none", "nurse"), unknown="none"))


def rows(name: str, which: slice) -> pd.DataFrame:
    return pd.DataFrame({"age": AGE[which], "job": "nurse", name: TARGETS[name][which]})


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return what writes a release and its evaluation, and gives their folders."""
    place = tmp_path_factory.mktemp("made")

    def folders(name: str):
        release, evaluation = place / name, place / f"{name}-evaluation"
        if not release.exists():
            target = Target(name, bounds=(0, 300)) if name == "dose" else Target(name, tuple(np.unique(TARGETS[name])))
            schema = eq.Schema(2_000, COLUMNS, target, vouched_by="A. Officer", vouched_on="2026-11-16")
            kind = eq.Ridge if name == "dose" else eq.LogisticRegression
            model = kind(epsilon=8.0, domain=schema, random_state=0).fit(rows(name, TRAINED))
            eq.save(model, release)
            eq.evaluate(release, rows(name, HELD), epsilon=1.0, random_state=0).save(evaluation)
        return release, evaluation

    return folders


@pytest.mark.parametrize("name", TARGETS)
def test_the_truth_of_new_rows_is_held_about_as_often_as_asked_for(made, name):
    known = NewRows(*made(name), coverage=0.9)
    found = np.array(known.of(raw_table(rows(name, NEW)[["age", "job"]], name, None)))
    truth = TARGETS[name][NEW]
    if name == "dose":
        held = (found[:, 0] <= truth) & (truth <= found[:, 1])
        assert known.columns == ("low", "high")
        assert known.sentences() == ()
        assert found.min() >= 0
        assert found.max() <= 300
    else:
        held = found[np.arange(len(truth)), [known.labels.index(label) for label in truth]] == 1
        assert known.columns == tuple(f"set holds {label}" for label in known.labels)
        # The same call gives the same sets, another seed tosses other coins.
        other = NewRows(*made(name), coverage=0.9, public_seed=1)
        assert (*known.sentences(), *other.sentences()) == tuple(
            f"a label at the boundary of a set was let in by a coin, of the public seed {seed} and the row's place"
            for seed in (0, 1)
        )
        again, tossed = (
            np.array(each.of(raw_table(rows(name, NEW)[["age", "job"]], name, None))) for each in (known, other)
        )
        assert (again == found).all()
        assert 0 < (tossed != found).mean() < 0.2
    # Of 2,000 rows and as many that it was calibrated on; three deviations of both are 2.9 %.
    assert held.mean() > 0.9 - 0.029
    assert found.mean() < 290 if name == "dose" else found.sum(axis=1).mean() < len(known.labels)


def test_intervals_are_written_beside_predicted_numbers(made, tmp_path):
    release, evaluation = made("dose")
    (tmp_path / "new.csv").write_text("age,job\n10,nurse\n90,none\n")
    done = run_program("predict", release, tmp_path / "new.csv", "--sets", evaluation, "--coverage", "0.8")
    assert done.returncode == 0, done.stderr
    header, *lines = done.stdout.splitlines()
    assert header == "prediction,low,high"
    low, high = eq.Evaluation.load(evaluation).prediction_intervals(0.8)
    for line in lines:
        said, *ends = map(float, line.split(","))
        assert ends == pytest.approx([max(said + low, 0), min(said + high, 300)])


def test_sets_are_of_classes_and_intervals_of_numbers(made):
    numbers, classes = (eq.Evaluation.load(made(name)[1]) for name in ("dose", "ill"))
    with pytest.raises(InvalidParameter, match="prediction_intervals"):
        numbers.prediction_sets(0.9)
    with pytest.raises(InvalidParameter, match="prediction_sets"):
        classes.prediction_intervals(0.9)


def test_an_evaluation_of_another_release_says_nothing_of_this_one(made):
    with pytest.raises(ReleaseUnreadable, match="about the release"):
        NewRows(made("ill")[0], made("stage")[1])
